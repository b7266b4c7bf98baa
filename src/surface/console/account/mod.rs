//! `/account`: the person's own things.

mod apps;
mod passkeys;
mod profile;
mod providers;
mod questions;
mod sessions;
mod two_step;

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
        .route("/account/questions", get(questions::show).post(questions::save))
        .route("/account/apps", get(apps::show).post(apps::disconnect))
        .merge(two_step::routes())
        .merge(passkeys::routes())
        .route("/account/providers", get(providers::show).post(providers::link))
        .route("/account/providers/unlink", post(providers::unlink))
        .route("/account/providers/confirm", get(providers::ask).post(providers::confirm))
}
