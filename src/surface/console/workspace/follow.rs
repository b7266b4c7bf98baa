//! `/w/{slug}/follow`: documents that are kept from elsewhere, and the forms that begin new ones.

use std::ops::ControlFlow;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::kept::{self, Kept};
use super::places::{Sent, wrong_field};
use super::{Console, Room, Slug};
use crate::model::error::Result;
use crate::model::sync::{Origin, State as Run};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::html::{self, filters};

const PAGE: &str = "/follow";

#[derive(Template)]
#[template(path = "follow.html", config = "src/surface/askama.toml")]
struct FollowPage {
    frame: Frame,
    here: String,
    csrf: String,
    kept: Kept,
    /// Each of them is seen from its documents.
    is_table: bool,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    page(&room, None).await.unwrap_or_else(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let (room, params) = match Room::submit(&console, door, path, PAGE, request).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let changed = kept::change(&room, None, &params).await;
    let field = wrong_field(&changed);
    let problem = match room.settle(changed.map(|()| None::<()>)) {
        ControlFlow::Continue((_, problem)) => problem,
        ControlFlow::Break(response) => return response,
    };
    let sent = Sent { params: &params, problem: &problem, field: &field };
    page(&room, Some(&sent)).await.unwrap_or_else(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, sent: Option<&Sent<'_>>) -> Result<Response> {
    let status = if sent.is_none() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = FollowPage {
        frame: room.frame_below("").await?,
        here: room.here(),
        csrf: room.csrf(),
        kept: Kept::all(room, sent).await?,
        is_table: false,
        problem: sent.map(|sent| sent.problem.to_owned()).unwrap_or_default(),
    };
    Ok(html::page(status, &page))
}
