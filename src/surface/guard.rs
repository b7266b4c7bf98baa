//! From a credential to a [`Caller`], before anything else of a request is looked at.
//!
//! Only the `Authorization` header counts: a token in a query, a form or a cookie is no credential (RFC 6750 §5.3,
//! I21). The body is not looked at, so that clients which probe with an empty request learn of the authorization server
//! (RFC 9728 §5.1); of a stranger's, a bounded part is thrown away as it comes (`drain.rs`).

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::base::counted::counted;
use crate::base::secret::Secret;
use crate::config::Config;
use crate::identity::Identity;
use crate::identity::proven::{Proven, Refusal};
use crate::model::access::{Rights, Scope};
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};
use crate::model::grant::{DEFAULT_SCOPES, scope_text};
use crate::surface::context::Context;
use crate::surface::error::problem;
use crate::surface::resource::Resource;
use crate::surface::web::{AuditEvent, Web};

/// Which endpoint is guarded: decides the audience that tokens need, and how a refusal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// `/mcp` and `/t/{workspace}/mcp`: the audience is the endpoint's own address; errors as in RFC 6750.
    Mcp,
    /// REST: the audience is that of `/mcp`; errors as everywhere on REST.
    Rest,
}

/// The state of [`guard`].
#[derive(Clone, Debug)]
pub struct GuardState {
    pub web: Web,
    pub guards: Guards,
}

/// Why there is no caller.
enum NoCaller {
    /// Nothing that claims to be a bearer token: the bare challenge (RFC 6750 §3.1).
    Missing,
    Bad(Error),
}

/// What a request was let in by, for whoever answers for longer than a moment: it can be asked again.
#[derive(Clone)]
pub struct Lease {
    identity: Identity,
    token: Secret,
    resource: String,
    is_open: bool,
}

impl Lease {
    /// Whether the credential still opens this endpoint: not revoked, not past its time, nobody and nothing behind it
    /// locked out. A failure is a no.
    pub async fn holds(&self) -> bool {
        self.rights().await.is_some()
    }

    /// Whether the workspace let external clients in when the request came.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// What the credential may do now; `None` when it no longer opens this endpoint.
    pub async fn rights(&self) -> Option<Rights> {
        self.identity.still_may(self.token.expose(), &self.resource).await
    }
}

/// The middleware (`axum::middleware::from_fn_with_state`). Needs the extensions of [`Context`]; adds a [`Caller`] and
/// a [`Lease`].
pub async fn guard(State(state): State<GuardState>, mut request: Request, next: Next) -> Response {
    let Some(context) = Context::of(request.extensions()) else {
        let error = Error::internal("the guard runs before the request id and client address layers");
        return problem(&error, "");
    };
    let resource = match state.guards {
        Guards::Rest => Some(Resource::Any),
        Guards::Mcp => {
            let path = request.uri().path();
            Resource::of_path(path.strip_suffix('/').unwrap_or(path))
        }
    };
    // No workspace can be named so: there is no audience that a token could have.
    let Some(resource) = resource else {
        return problem(&Error::new(Code::NotFound, "There is nothing at this address."), &context.request_id);
    };
    let web = &state.web;
    match prove(web, &context, &resource, request.headers()).await {
        Ok(proven) => {
            let is_open = proven.org.connectivity_enabled;
            request.extensions_mut().insert(caller(proven, context));
            if let Ok(token) = bearer(request.headers()) {
                let (token, resource) = (Secret::new(token), resource.url(&web.config));
                request.extensions_mut().insert(Lease { identity: web.identity.clone(), token, resource, is_open });
            }
            next.run(request).await
        }
        Err(reason) => refuse(&state, context, &resource, request.uri().path(), reason).await,
    }
}

async fn prove(web: &Web, context: &Context, resource: &Resource, headers: &HeaderMap) -> Result<Proven, NoCaller> {
    let token = bearer(headers)?;
    let verified = web.identity.verify(token, &resource.url(&web.config)).await;
    // A connectivity token has no audience, but a workspace: at the address of another it is worth nothing.
    let verified = verified.and_then(|proven| match resource {
        Resource::Workspace(slug) if *slug != proven.org.slug => Err(Refusal::Invalid),
        _ => Ok(proven),
    });
    match verified {
        Ok(proven) => Ok(proven),
        // A good credential is never refused for the bad ones of others behind its address. Expired and revoked ones are
        // not counted: they come from honest clients.
        Err(Refusal::Invalid) => Err(NoCaller::Bad(match web.throttle.bad_token(context.ip) {
            Ok(()) => Error::new(Code::AuthInvalid, "The credential is not valid here."),
            Err(wait) => {
                let text =
                    format!("Too many bad credentials from this address; try again in {}.", counted(wait, "second"));
                Error::new(Code::IpBlocked, text).retry_after(wait)
            }
        })),
        Err(Refusal::Expired) => Err(NoCaller::Bad(Error::new(Code::AuthExpired, "The credential has expired."))),
        Err(Refusal::Revoked) => Err(NoCaller::Bad(Error::new(Code::AuthRevoked, "The credential was revoked."))),
        Err(Refusal::Internal(error)) => Err(NoCaller::Bad(error)),
    }
}

/// The token of the one `Authorization: Bearer` header (RFC 6750 §2.1; the scheme's case does not matter).
fn bearer(headers: &HeaderMap) -> Result<&str, NoCaller> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Err(NoCaller::Missing) };
    let bad = || NoCaller::Bad(Error::new(Code::AuthInvalid, "The credential is not valid here."));
    if values.next().is_some() {
        return Err(bad());
    }
    let text = value.to_str().map_err(|_| bad())?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(NoCaller::Missing);
    }
    // RFC 6750 §2.1 `b64token`: no comma, no space, so that two tokens in one header are none.
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.is_empty() || token.len() > 8 << 10 || !token.bytes().all(fits) {
        return Err(bad());
    }
    Ok(token)
}

fn caller(proven: Proven, context: Context) -> Caller {
    Caller {
        org: proven.org.id,
        user: proven.user.map(|user| user.id),
        role: proven.role,
        rights: proven.rights,
        proof: proven.proof,
        client: proven.client,
        session: None,
        ip: context.ip,
        request_id: context.request_id,
    }
}

async fn refuse(
    state: &GuardState,
    context: Context,
    resource: &Resource,
    path: &str,
    mut reason: NoCaller,
) -> Response {
    // Who holds what was good once learns that it is over, whatever others send from there: they get another.
    let was_good = |error: &Error| matches!(error.code, Code::AuthExpired | Code::AuthRevoked);
    if !matches!(&reason, NoCaller::Bad(error) if was_good(error))
        && let Err(wait) = state.web.throttle.check_refused(context.ip)
    {
        let text = format!("Too many requests without a good credential from this address; try again in {wait} s.");
        reason = NoCaller::Bad(Error::new(Code::RateLimited, text).retry_after(wait));
    }
    let outcome = match &reason {
        NoCaller::Missing => "auth_missing",
        NoCaller::Bad(error) => error.code.info().name,
    };
    metrics::counter!("dragoman_auth_refused_total", "kind" => outcome).increment(1);
    if let Err(error) = state.web.record(AuditEvent::new(&context, "auth.refused", outcome).target(path)).await {
        return problem(&error, &context.request_id);
    }
    let request_id = context.request_id;
    let error = match &reason {
        NoCaller::Missing => &Error::new(Code::AuthInvalid, "Authorization is needed: send a bearer token."),
        NoCaller::Bad(error) => error,
    };
    if error.code.info().status != 401 {
        return problem(error, &request_id);
    }
    let challenge = match &reason {
        NoCaller::Missing => challenge(&state.web.config, resource, &DEFAULT_SCOPES, None),
        NoCaller::Bad(_) => {
            challenge(&state.web.config, resource, &DEFAULT_SCOPES, Some(("invalid_token", &error.message)))
        }
    };
    let mut response = match state.guards {
        // Some clients read the body for the error's name.
        Guards::Mcp => {
            let body = json!({ "error": "invalid_token", "error_description": error.message });
            (StatusCode::UNAUTHORIZED, Json(body)).into_response()
        }
        Guards::Rest => problem(error, &request_id),
    };
    set_challenge(&mut response, &challenge);
    response
}

/// 403 for a credential that lacks scopes: every scope that the operation needs, in one challenge (RFC 6750 §3.1, and
/// MCP's step-up). `path` is the request's, for the metadata address; `body` is written in the protocol of the endpoint.
pub fn insufficient_scope(config: &Config, path: &str, needed: &[Scope], body: Value) -> Response {
    let resource = Resource::of_path(path.strip_suffix('/').unwrap_or(path)).unwrap_or(Resource::Any);
    let text = "The client was not given the scopes that this needs.";
    let mut response = (StatusCode::FORBIDDEN, Json(body)).into_response();
    set_challenge(&mut response, &challenge(config, &resource, needed, Some(("insufficient_scope", text))));
    response
}

/// 401 for a person who proved themselves too long ago: how old a log-in may be (RFC 9470 §3). The client sends the
/// person through the authorization endpoint again with that `max_age`.
pub fn insufficient_authentication(config: &Config, path: &str, body: Value) -> Response {
    let resource = Resource::of_path(path).unwrap_or(Resource::Any);
    let max_age = config.limits.lifetimes.step_up.as_secs();
    let challenge = format!(
        "Bearer error=\"insufficient_user_authentication\", error_description=\"A more recent sign-in is required\", \
         max_age={max_age}, resource_metadata=\"{}\"",
        resource.metadata_url(config)
    );
    let mut response = (StatusCode::UNAUTHORIZED, Json(body)).into_response();
    set_challenge(&mut response, &challenge);
    response
}

/// `WWW-Authenticate` (RFC 6750 §3, RFC 9728 §5.1). All parts are ours, so that nothing needs to be escaped.
fn challenge(config: &Config, resource: &Resource, scopes: &[Scope], error: Option<(&str, &str)>) -> String {
    let metadata = resource.metadata_url(config);
    let mut text = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{}\"", scope_text(scopes));
    if let Some((error, description)) = error {
        text.push_str(&format!(", error=\"{error}\", error_description=\"{description}\""));
    }
    text
}

fn set_challenge(response: &mut Response, challenge: &str) {
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::try_from(challenge) {
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(values: &[&str]) -> &'static str {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::try_from(*value).unwrap());
        }
        match bearer(&headers) {
            Ok(_) => "token",
            Err(NoCaller::Missing) => "bare",
            Err(NoCaller::Bad(_)) => "invalid",
        }
    }

    #[test]
    fn i01_i02_i03_i22_only_one_well_formed_bearer_header_is_a_token() {
        for (values, expected) in [
            (vec![], "bare"),
            (vec!["Basic YTpi"], "bare"),
            (vec!["DPoP abc"], "bare"),
            (vec!["Bearer abc.def.ghi"], "token"),
            (vec!["bearer dgmcp_AAAAAAAA_00"], "token"),
            (vec!["Bearer"], "invalid"),
            (vec!["Bearer "], "invalid"),
            (vec!["Bearer a,b"], "invalid"),
            (vec!["Bearer a, Bearer b"], "invalid"),
            (vec!["Bearer a b"], "invalid"),
            (vec!["Bearer a", "Bearer b"], "invalid"),
            (vec!["Bearer a", "Basic b"], "invalid"),
        ] {
            assert_eq!(outcome(&values), expected, "{values:?}");
        }
        assert_eq!(outcome(&[&format!("Bearer {}", "a".repeat(8193))]), "invalid");
    }

    #[test]
    fn i19_one_challenge_names_every_scope_and_the_path_inserted_metadata() {
        let config = Config::read(|_| None).unwrap();
        let response = insufficient_scope(&config, "/t/acme/mcp", &[Scope::DataRead, Scope::DataWrite], json!({}));
        assert_eq!(response.status(), 403);
        let header = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(header.starts_with(
            "Bearer resource_metadata=\"http://127.0.0.1:8787/.well-known/oauth-protected-resource/t/acme/mcp\", \
             scope=\"data_agent:read data_agent:write\", error=\"insufficient_scope\""
        ));
    }
}
