//! `/account`: the person's own things.

mod providers;

use axum::Router;
use axum::routing::{get, post};

use crate::surface::web::Web;

pub fn routes() -> Router<Web> {
    Router::new()
        .route("/account/providers", get(providers::show).post(providers::link))
        .route("/account/providers/unlink", post(providers::unlink))
        .route("/account/providers/confirm", get(providers::ask).post(providers::confirm))
}
