//! `/w/{slug}/settings`: the workspace's name, its switch for AI clients, who may join, and what language models may be
//! sent.

use std::ops::ControlFlow;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::model::error::Result;
use crate::model::org::Egress;
use crate::ops::workspace_settings::{GetSettings, Settings, UpdateSettings};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/settings";

#[derive(Template)]
#[template(path = "settings.html", config = "src/surface/askama.toml")]
struct SettingsPage {
    frame: Frame,
    here: String,
    csrf: String,
    now: Settings,
    domains: String,
    egress: [(Egress, &'static str); 3],
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    page(&room, "").await.unwrap_or_else(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let (room, params) = match Room::submit(&console, door, path, PAGE, request).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let changed = room.ask(change(&params)).await.map(|_| None::<()>);
    match room.settle(changed) {
        ControlFlow::Continue((_, problem)) => page(&room, &problem).await.unwrap_or_else(|error| room.refusal(&error)),
        ControlFlow::Break(response) => response,
    }
}

const EGRESS: [(Egress, &str); 3] = [
    (Egress::Off, "No language model is asked. Questions are read by the built-in planner."),
    (Egress::Restricted, "Only a model in the operator's own network is asked."),
    (Egress::Allowed, "The model that the operator has configured is asked, wherever it is."),
];

/// The whole form is sent: a box that is not ticked says no.
fn change(params: &Params) -> UpdateSettings {
    let domains = params.get("email_domains").unwrap_or("");
    let words = domains.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    UpdateSettings {
        name: Some(params.get("name").unwrap_or("").to_owned()),
        connectivity_enabled: Some(params.get("connectivity_enabled") == Some("1")),
        email_domains: Some(words.map(str::to_owned).collect()),
        llm_egress: Some(params.get("llm_egress").and_then(Egress::parse).unwrap_or_default()),
        llm_send_values: Some(params.get("llm_send_values") == Some("1")),
    }
}

async fn page(room: &Room<'_>, problem: &str) -> Result<Response> {
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let now = room.ask(GetSettings {}).await?;
    let page = SettingsPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        domains: now.email_domains.join("\n"),
        egress: EGRESS,
        now,
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}
