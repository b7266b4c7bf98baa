//! `/`: who you are, where you belong, and the address to give to a client.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::model::error::Result;
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::html;
use crate::surface::web::Web;

#[derive(Template)]
#[template(path = "landing.html", config = "src/surface/askama.toml")]
struct LandingPage {
    address: String,
}

#[derive(Template)]
#[template(path = "home.html", config = "src/surface/askama.toml")]
struct HomePage {
    frame: Frame,
    name: String,
    address: String,
}

pub async fn show(State(web): State<Web>, door: Door, _: Request) -> Response {
    home(&web, door).await.unwrap_or_else(|error| html::failure(&error))
}

async fn home(web: &Web, door: Door) -> Result<Response> {
    let address = web.config.resource();
    let Some(person) = SignedIn::find(web, &door.session).await? else {
        return Ok(html::page(StatusCode::OK, &LandingPage { address }));
    };
    let visit = Visit::new(person, door.context, "/");
    let frame = Frame::new(web, &visit, Place::Home).await?;
    Ok(html::page(StatusCode::OK, &HomePage { frame, name: visit.person.user.name, address }))
}
