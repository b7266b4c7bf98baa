//! `/w/{slug}`: what is in the workspace, and how to connect a client to it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::model::access::Role;
use crate::model::error::Result;
use crate::ops::list_datasets::{ListDatasets, Reply};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::html;

#[derive(Template)]
#[template(path = "overview.html", config = "src/surface/askama.toml")]
struct OverviewPage {
    frame: Frame,
    name: String,
    role: Role,
    open: bool,
    address: String,
    found: Reply,
}

pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let room = match Room::enter(&console, door, path, "", request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    page(&room).await.unwrap_or_else(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>) -> Result<Response> {
    let org = &room.membership.org;
    let page = OverviewPage {
        frame: room.frame().await?,
        name: org.name.clone(),
        role: room.membership.role,
        open: org.connectivity_enabled,
        address: room.console.web.config.url(&format!("/t/{}/mcp", org.slug)),
        found: room.ask(ListDatasets::default()).await?,
    };
    Ok(html::page(StatusCode::OK, &page))
}
