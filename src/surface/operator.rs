//! The operator at the socket of the data folder: whoever may connect there could as well stop the service and open the
//! folder, so they are asked for no credential, only for the workspace that they mean.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};

use crate::gateway::Gateway;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};
use crate::surface::context::Context;
use crate::surface::error::problem;
use crate::surface::web::Web;

/// Where the routes of the operator begin.
pub const LOCAL: &str = "/local";
/// What the running service knows of itself.
pub const FACTS: &str = "/local/facts";
/// The workspace itself, below [`LOCAL`].
pub const ITSELF: &str = "/workspace";
/// The header with the workspace's short name.
pub const WORKSPACE: &str = "dragoman-workspace";

/// The layer in the place of the guard. It must stand before nothing but what the socket serves.
pub async fn operator(State(web): State<Web>, context: Context, mut request: Request, next: Next) -> Response {
    let slug = request.headers().get(WORKSPACE).and_then(|slug| slug.to_str().ok()).unwrap_or_default().to_owned();
    let found = match web.identity.org_by_slug(&slug).await {
        Ok(found) => found,
        Err(error) => return problem(&error, &context.request_id),
    };
    let Some(org) = found else {
        let error = Error::new(Code::NotFound, format!("there is no workspace {slug:?}"));
        return problem(&error, &context.request_id);
    };
    request.extensions_mut().insert(Caller::operator(org.id, context.request_id));
    next.run(request).await
}

/// Erases the workspace that the operator means.
pub async fn erase(
    State(gateway): State<Arc<Gateway>>,
    Extension(caller): Extension<Caller>,
    context: Context,
) -> Response {
    match gateway.erase_workspace(&caller).await {
        Ok(erased) => Json(erased).into_response(),
        Err(error) => problem(&error, &context.request_id),
    }
}
