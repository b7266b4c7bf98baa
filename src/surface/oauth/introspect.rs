//! `POST /api/oauth/introspect` (RFC 7662): a resource server or a gateway asks whether a token lives, and a
//! confidential client asks about its own.
//!
//! Whatever is not alive, unknown, or not theirs to know is `{"active":false}` and nothing else (§2.2). The record says
//! who asked about whose token.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::identity::introspect::Living;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::oauth::client_auth::authenticate_confidential;
use crate::surface::oauth::error::{OAuthError, answer};
use crate::surface::oauth::request::{form, or_wait};
use crate::surface::web::{AuditEvent, Web};

/// Parameters that must not be repeated (C11). The hint is not read otherwise: a token's form says what it is.
const ONCE: [&str; 5] = ["token", "token_type_hint", "client_id", "client_secret", "client_assertion"];

pub async fn introspect(State(web): State<Web>, context: Context, request: Request) -> Response {
    let (headers, params) = match or_wait(&web, &context, form(request).await) {
        Ok(form) => form,
        Err(error) => return error.into_response(),
    };
    let outcome = or_wait(&web, &context, look(&web, &headers, &params).await);
    let event = match &outcome {
        Ok((client, living)) => {
            let event = AuditEvent::new(&context, "oauth.introspect", "ok").client(client);
            match living {
                Some(living) => event.org(Some(living.org)).by(format!("user:{}", living.user)).target(living.kind),
                None => event.target("nothing"),
            }
        }
        Err(error) => AuditEvent::new(&context, "oauth.introspect", error.outcome()),
    };
    match (web.record(event).await, outcome) {
        (Err(error), _) => OAuthError::from(error).into_response(),
        (Ok(()), Ok((_, Some(living)))) => answer(StatusCode::OK, living.claims),
        (Ok(()), Ok((_, None))) => answer(StatusCode::OK, json!({ "active": false })),
        (Ok(()), Err(error)) => error.into_response(),
    }
}

/// Who asks, and what they may know of the token.
async fn look(web: &Web, headers: &HeaderMap, params: &Params) -> Result<(String, Option<Living>), OAuthError> {
    if params.repeats(&ONCE) {
        return Err(OAuthError::bad("invalid_request", "A parameter was sent more than once."));
    }
    let client = authenticate_confidential(web, headers, params).await?;
    if web.identity.is_blocked(&client.id, None).await? {
        return Err(OAuthError::blocked());
    }
    let token = params.get("token").ok_or_else(|| OAuthError::missing("token"))?;
    web.throttle.check_client(&client.id).map_err(|wait| OAuthError::limited("of this client", wait))?;
    let living = web.identity.introspect(token, &client).await?;
    Ok((client.id, living))
}
