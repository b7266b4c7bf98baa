//! `POST /api/oauth/device_authorization` (RFC 8628 §3.1), and the grant of a device at the token endpoint (§3.4).

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::identity::clients::OAuthClient;
use crate::identity::device::{DeviceError, Started};
use crate::identity::grants::TokenPair;
use crate::model::grant::parse_scopes;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::oauth::client_auth::authenticate;
use crate::surface::oauth::consent;
use crate::surface::oauth::error::{OAuthError, answer};
use crate::surface::oauth::request::form;
use crate::surface::resource::Resource;
use crate::surface::web::{AuditEvent, Web};

/// The endpoint's path.
pub const ENDPOINT: &str = "/api/oauth/device_authorization";
/// The grant type (RFC 8628 §3.4).
pub const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Parameters that must not be repeated (C11).
const ONCE: [&str; 5] = ["client_id", "client_secret", "client_assertion", "scope", "resource"];

pub async fn start(State(web): State<Web>, context: Context, request: Request) -> Response {
    // All of them count, before the body is read: each leaves a device that waits.
    if let Err(wait) = web.throttle.check_exchange(context.ip) {
        return OAuthError::too_many(wait).into_response();
    }
    let (headers, params) = match form(request).await {
        Ok(form) => form,
        Err(error) => return error.into_response(),
    };
    let outcome = begin(&web, &context, &headers, &params).await;
    let event = |outcome| AuditEvent::new(&context, "oauth.device_authorization", outcome);
    let event = match &outcome {
        Ok((client, _)) => event("ok").client(&client.id),
        Err(error) => event(error.error),
    };
    match (web.record(event).await, outcome) {
        (Err(error), _) => OAuthError::from(error).into_response(),
        (Ok(()), Ok((_, started))) => answer(StatusCode::OK, {
            let page = web.config.url(consent::device::PAGE);
            let user_code = started.user_code.expose();
            json!({
                "device_code": started.device_code.expose(),
                "user_code": user_code,
                "verification_uri": page,
                "verification_uri_complete": format!("{page}?user_code={user_code}"),
                "expires_in": started.expires_in,
                "interval": started.interval,
            })
        }),
        (Ok(()), Err(error)) => error.into_response(),
    }
}

async fn begin(
    web: &Web,
    context: &Context,
    headers: &HeaderMap,
    params: &Params,
) -> Result<(OAuthClient, Started), OAuthError> {
    if params.repeats(&ONCE) {
        return Err(OAuthError::bad("invalid_request", "A parameter was sent more than once."));
    }
    let id = authenticate(web, headers, params).await?.id;
    if web.identity.is_blocked(&id, None).await? {
        return Err(OAuthError::blocked());
    }
    // The person will see its name: of a document's client it is read now.
    let client = web.identity.client(&id).await?;
    let client = client.ok_or_else(|| OAuthError::invalid_client("This client is not known."))?;
    let scopes = parse_scopes(params.get("scope").unwrap_or(""))
        .map_err(|_| OAuthError::bad("invalid_scope", "The scope is not one of scopes_supported."))?;
    let resource = match params.get("resource") {
        None => Some(Resource::Any),
        Some(text) => Resource::parse(&web.config, text),
    };
    let resource = resource.ok_or_else(|| OAuthError::bad("invalid_target", "The resource is not ours."))?;
    let started = web.identity.start_device(&client, &scopes, resource.url(&web.config), context.ip).await?;
    Ok((client, started))
}

/// The tokens of a device that asks with its code, once a person has approved.
pub async fn redeem(
    web: &Web,
    params: &Params,
    client_id: &str,
    resource: Option<&str>,
) -> Result<TokenPair, OAuthError> {
    let code = params.get("device_code").ok_or_else(|| OAuthError::missing("device_code"))?;
    Ok(web.identity.poll_device(code, client_id, resource).await?)
}

impl From<DeviceError> for OAuthError {
    fn from(problem: DeviceError) -> Self {
        match problem {
            DeviceError::Pending => Self::bad("authorization_pending", "Nobody has answered yet. Ask again later."),
            DeviceError::SlowDown => {
                Self::bad("slow_down", "Nobody has answered yet. Wait five seconds longer between two questions.")
            }
            DeviceError::Denied => Self::bad("access_denied", "The person did not approve."),
            DeviceError::Expired => Self::bad("expired_token", "The code is too old. Start again."),
            DeviceError::Grant(problem) => problem.into(),
        }
    }
}
