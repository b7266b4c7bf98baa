//! What the endpoints that programs call share: how a form is read, and how often an address may fail. A good request
//! is answered whatever others send from its address: hosted clients ask for all their people from a few.

use axum::extract::Request;
use axum::http::HeaderMap;

use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::oauth::error::OAuthError;
use crate::surface::web::Web;

/// The form of a request.
pub(super) async fn form(request: Request) -> Result<(HeaderMap, Params), OAuthError> {
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await?;
    Ok((parts.headers, params))
}

/// What came of a request. A failure counts for its address, and one too many is told to wait instead of why; but who
/// ended a grant, by what was used before, is told that.
pub(super) fn or_wait<T>(web: &Web, context: &Context, outcome: Result<T, OAuthError>) -> Result<T, OAuthError> {
    match outcome {
        Err(error) if error.is_failure() => match web.throttle.check_exchange(context.ip) {
            Err(wait) if error.reuse.is_none() => Err(OAuthError::too_many(wait)),
            _ => Err(error),
        },
        outcome => outcome,
    }
}
