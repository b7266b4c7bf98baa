//! What the endpoints that programs call begin with.

use axum::extract::Request;
use axum::http::HeaderMap;

use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::oauth::error::OAuthError;
use crate::surface::web::Web;

/// The form of a request, at the rate that an address may send them; one too many is refused before a body is read.
pub(super) async fn form(web: &Web, context: &Context, request: Request) -> Result<(HeaderMap, Params), OAuthError> {
    web.throttle.check_exchange(context.ip).map_err(OAuthError::too_many)?;
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await?;
    Ok((parts.headers, params))
}
