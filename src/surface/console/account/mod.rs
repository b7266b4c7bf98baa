//! `/account`: the person's own things.

use axum::Router;

use crate::surface::web::Web;

pub fn routes() -> Router<Web> {
    Router::new()
}
