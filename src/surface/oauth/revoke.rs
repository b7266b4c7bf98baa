//! `POST /api/oauth/revoke` (RFC 7009): a client gives back what it holds, when a person disconnects it.
//!
//! The answer is an empty 200 whether the token was alive, unknown or another client's (§2.2): nobody learns from it
//! which tokens exist. What ends nothing counts as a failure all the same: everybody may ask, and each has a row. The
//! record says whether a grant has ended.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::store::grants::Ended;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::oauth::client_auth::authenticate;
use crate::surface::oauth::error::{OAuthError, UNCACHED};
use crate::surface::oauth::request::{form, or_wait};
use crate::surface::web::{AuditEvent, Web};

/// Parameters that must not be repeated (C11). The hint is not read otherwise: a token's form says what it is, and
/// RFC 7009 §2.1 lets a server ignore it.
const ONCE: [&str; 5] = ["token", "token_type_hint", "client_id", "client_secret", "client_assertion"];

pub async fn revoke(State(web): State<Web>, context: Context, request: Request) -> Response {
    let (headers, params) = match or_wait(&web, &context, form(request).await) {
        Ok(form) => form,
        Err(error) => return error.into_response(),
    };
    let outcome = or_wait(&web, &context, end(&web, &context, &headers, &params).await);
    let event = match &outcome {
        Ok((client, ended)) => {
            let event = AuditEvent::new(&context, "oauth.revoke", "ok").client(client);
            match ended {
                Some(ended) => event.org(Some(ended.org)).by(format!("user:{}", ended.user)).target("grant"),
                None => event.target("nothing"),
            }
        }
        Err(error) => AuditEvent::new(&context, "oauth.revoke", error.outcome()),
    };
    match (web.record(event).await, outcome) {
        (Err(error), _) => OAuthError::from(error).into_response(),
        (Ok(()), Ok(_)) => (StatusCode::OK, UNCACHED).into_response(),
        (Ok(()), Err(error)) => error.into_response(),
    }
}

/// The client, and the family that ended, if one did.
async fn end(
    web: &Web,
    context: &Context,
    headers: &HeaderMap,
    params: &Params,
) -> Result<(String, Option<Ended>), OAuthError> {
    if params.repeats(&ONCE) {
        return Err(OAuthError::bad("invalid_request", "A parameter was sent more than once."));
    }
    // A blocked client too may give back what it holds.
    let client = authenticate(web, headers, params).await?.id;
    let token = params.get("token").ok_or_else(|| OAuthError::missing("token"))?;
    let ended = web.identity.revoke(token, &client).await?;
    if ended.is_none() {
        web.throttle.check_exchange(context.ip).map_err(OAuthError::too_many)?;
    }
    Ok((client, ended))
}
