//! `POST /api/oauth/token` (RFC 6749 §4.1.3 and §6, RFC 8628 §3.4): a code, a refresh token or a device's code becomes
//! an access token.
//!
//! A client proves itself as `client_auth` says, and that it is the one which asked with PKCE, or with the refresh token
//! or the device's code that it holds.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::base::id::Id;
use crate::base::secret::from_base64url;
use crate::identity::grants::{CodeUse, RefreshUse, TokenPair};
use crate::model::grant::scope_text;
use crate::model::org::Org;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::oauth::client_auth::authenticate;
use crate::surface::oauth::device;
use crate::surface::oauth::error::{OAuthError, answer};
use crate::surface::oauth::request::{form, or_wait};
use crate::surface::resource::Resource;
use crate::surface::web::{AuditEvent, Web};

/// Parameters that must not be repeated (C11).
const ONCE: [&str; 11] = [
    "grant_type", "code", "redirect_uri", "client_id", "client_secret", "client_assertion", "code_verifier",
    "refresh_token", "device_code", "scope", "resource",
];
/// The grant types, and how the record calls them.
const GRANTS: [(&str, &str); 3] =
    [("authorization_code", "authorization_code"), ("refresh_token", "refresh_token"), (device::GRANT, "device_code")];

pub async fn token(State(web): State<Web>, context: Context, request: Request) -> Response {
    let (headers, params) = match or_wait(&web, &context, form(request).await) {
        Ok(form) => form,
        Err(error) => return error.into_response(),
    };
    let outcome = or_wait(&web, &context, exchange(&web, &headers, &params).await);
    let said = params.get("grant_type");
    let grant = GRANTS.iter().find(|(name, _)| Some(*name) == said).map_or("other", |(_, short)| *short);
    let event = match &outcome {
        Ok((client, pair)) => {
            let (org, principal) = subject(pair.access.expose());
            AuditEvent::new(&context, "oauth.token", "ok").client(client).org(org).by(principal).target(grant)
        }
        // Whoever it was, it was not the person: they are whom it happened to.
        Err(OAuthError { reuse: Some(reuse), error, .. }) => AuditEvent::new(&context, "oauth.token", *error)
            .client(&reuse.client_id)
            .org(Some(reuse.org))
            .target(format!("{grant} used again, of user:{}", reuse.user)),
        Err(error) => AuditEvent::new(&context, "oauth.token", error.outcome()).target(grant),
    };
    match (web.record(event).await, outcome) {
        (Err(error), _) => OAuthError::from(error).into_response(),
        (Ok(()), Ok((_, pair))) => answer(StatusCode::OK, issued(&pair)),
        (Ok(()), Err(error)) => error.into_response(),
    }
}

fn issued(pair: &TokenPair) -> Value {
    json!({
        "access_token": pair.access.expose(),
        "token_type": "Bearer",
        "expires_in": pair.expires_in,
        "refresh_token": pair.refresh.expose(),
        "scope": scope_text(&pair.scopes),
    })
}

/// The client and its new tokens.
async fn exchange(web: &Web, headers: &HeaderMap, params: &Params) -> Result<(String, TokenPair), OAuthError> {
    if params.repeats(&ONCE) {
        return Err(OAuthError::bad("invalid_request", "A parameter was sent more than once."));
    }
    let grant = params.get("grant_type").ok_or_else(|| OAuthError::missing("grant_type"))?;
    if !GRANTS.iter().any(|(name, _)| *name == grant) {
        let text = format!("grant_type must be authorization_code, refresh_token or {}.", device::GRANT);
        return Err(OAuthError::bad("unsupported_grant_type", text));
    }
    let client_id = authenticate(web, headers, params).await?.id;
    if web.identity.is_blocked(&client_id, None).await? {
        return Err(OAuthError::blocked());
    }
    let resource = match params.get("resource") {
        None => None,
        Some(text) => {
            let target = Resource::parse(&web.config, text);
            let target = target.ok_or_else(|| OAuthError::bad("invalid_target", "The resource is not ours."))?;
            Some(target.url(&web.config))
        }
    };
    let pair = if grant == "authorization_code" {
        let code = CodeUse {
            code: params.get("code").ok_or_else(|| OAuthError::missing("code"))?,
            client_id: &client_id,
            redirect_uri: params.get("redirect_uri"),
            verifier: params.get("code_verifier").ok_or_else(|| OAuthError::missing("code_verifier"))?,
            resource: resource.as_deref(),
        };
        web.identity.redeem(code).await?
    } else if grant == device::GRANT {
        device::redeem(web, params, &client_id, resource.as_deref()).await?
    } else {
        let refresh = RefreshUse {
            token: params.get("refresh_token").ok_or_else(|| OAuthError::missing("refresh_token"))?,
            client_id: &client_id,
            scope: params.get("scope"),
            resource: resource.as_deref(),
        };
        web.identity.refresh(refresh).await?
    };
    Ok((client_id, pair))
}

/// Workspace and person of a token that we have just signed, for the record.
fn subject(access: &str) -> (Option<Id<Org>>, String) {
    let claims = access.split('.').nth(1).and_then(from_base64url);
    let claims: Value = claims.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let org = text("org").and_then(|org| org.parse().ok());
    (org, text("sub").map(|sub| format!("user:{sub}")).unwrap_or_default())
}
