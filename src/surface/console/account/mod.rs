//! `/account`: the person's own things.

mod apps;
mod profile;
mod sessions;

use axum::Router;
use axum::routing::{get, post};

use crate::surface::web::Web;

pub fn routes() -> Router<Web> {
    Router::new()
        .route("/account", get(profile::show))
        .route("/account/profile", post(profile::rename))
        .route("/account/password", post(profile::change_password))
        .route("/account/sessions", get(sessions::show))
        .route("/account/sessions/end", post(sessions::end))
        .route("/account/sessions/end-others", post(sessions::end_others))
        .route("/account/apps", get(apps::show).post(apps::disconnect))
}
