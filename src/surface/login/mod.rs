//! What a person sees: logging in and out, approving a client, and the home page.

mod consent;
pub mod csrf;
mod home;
mod log_in;
mod log_out;
pub mod return_to;
pub mod session;

pub use consent::Pending;

use axum::Router;
use axum::routing::{get, post};

use crate::surface::web::Web;
use crate::surface::{html, oauth};

/// The pages, and the authorization endpoint, which needs to know who is in front of the browser.
pub fn routes(web: &Web) -> Router<Web> {
    Router::new()
        .route("/", get(home::show))
        .route("/login", get(log_in::show).post(log_in::submit))
        .route("/logout", post(log_out::submit))
        .route("/consent", get(consent::show).post(consent::submit))
        .route(return_to::AUTHORIZE, get(oauth::authorize).post(oauth::authorize))
        .route_layer(session::layer(web))
        .route("/assets/{name}", get(html::asset))
}
