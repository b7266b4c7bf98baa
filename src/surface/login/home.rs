//! `/`: who you are, where you belong, and the address to give to a client.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use tower_sessions::Session;

use crate::model::error::Result;
use crate::model::user::{Membership, User};
use crate::surface::html;
use crate::surface::login::session::SignedIn;
use crate::surface::login::{csrf, log_out};
use crate::surface::web::Web;

#[derive(Template)]
#[template(path = "landing.html", config = "src/surface/askama.toml")]
struct LandingPage {
    address: String,
}

#[derive(Template)]
#[template(path = "home.html", config = "src/surface/askama.toml")]
struct HomePage {
    user: User,
    address: String,
    memberships: Vec<Membership>,
    csrf: String,
}

pub async fn show(State(web): State<Web>, session: Session) -> Response {
    home(&web, &session).await.unwrap_or_else(|error| html::failure(&error))
}

async fn home(web: &Web, session: &Session) -> Result<Response> {
    let address = web.config.resource();
    let Some(person) = SignedIn::find(web, session).await? else {
        return Ok(html::page(StatusCode::OK, &LandingPage { address }));
    };
    let memberships = web.identity.memberships(person.user.id).await?;
    let csrf = csrf::token(web, person.binding(), log_out::PURPOSE);
    Ok(html::page(StatusCode::OK, &HomePage { user: person.user, address, memberships, csrf }))
}
