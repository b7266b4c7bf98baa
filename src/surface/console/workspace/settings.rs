//! `/w/{slug}/settings`: the workspace's name, its switch for AI clients, who may join, and what language models may be
//! sent.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::identity::workspace_settings::Seen;
use crate::model::error::Result;
use crate::model::name;
use crate::model::org::Egress;
use crate::ops::workspace_settings::{GetSettings, Settings, UpdateSettings};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::was::{self, changed};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/settings";

#[derive(Template)]
#[template(path = "settings.html", config = "src/surface/askama.toml")]
struct SettingsPage {
    frame: Frame,
    here: String,
    csrf: String,
    /// What the form was made from.
    was: String,
    now: Settings,
    domains: String,
    egress: [(Egress, &'static str); 3],
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    page(&room, "", None).await.map_err(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let saved = async { save(&room, &params).await.map(|()| None::<()>) };
    let (_, problem) = room.settle(saved).await?;
    page(&room, &problem, Some(&params)).await.map_err(|error| room.refusal(&error))
}

async fn save(room: &Room<'_>, params: &Params) -> Result<()> {
    let op = change(params)?;
    if op.is_empty() { Ok(()) } else { room.ask(op).await.map(drop) }
}

const EGRESS: [(Egress, &str); 3] = [
    (Egress::Off, "No language model is asked. Questions are read by the built-in planner."),
    (Egress::Restricted, "Only a model in the operator's own network is asked."),
    (Egress::Allowed, "The model that the operator has configured is asked, wherever it is."),
];

/// What a form changes. The whole form is sent: a box that is not ticked says no.
fn change(params: &Params) -> Result<UpdateSettings> {
    let was: Seen = was::of(params)?;
    let domains = params.get("email_domains").unwrap_or("");
    let words = domains.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    let egress = params.get("llm_egress").and_then(Egress::parse).unwrap_or_default();
    Ok(UpdateSettings {
        name: changed(params.get("name").unwrap_or("").to_owned(), &was.name),
        connectivity_enabled: changed(params.get("connectivity_enabled") == Some("1"), &was.connectivity_enabled),
        email_domains: changed(words.map(str::to_owned).collect(), &was.email_domains),
        llm_egress: changed(egress, &was.llm_egress),
        llm_send_values: changed(params.get("llm_send_values") == Some("1"), &was.llm_send_values),
        seen: Some(was),
    })
}

/// The page; what was `sent` and refused stays in the form.
async fn page(room: &Room<'_>, problem: &str, sent: Option<&Params>) -> Result<Response> {
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let now = room.ask(GetSettings {}).await?;
    let was = Seen {
        name: name::shown(&now.name),
        connectivity_enabled: now.connectivity_enabled,
        email_domains: now.email_domains.clone(),
        llm_egress: now.llm_egress,
        llm_send_values: now.llm_send_values,
    };
    let typed = sent.and_then(|params| change(params).ok()).unwrap_or_default();
    let now = Settings {
        name: typed.name.unwrap_or(now.name),
        connectivity_enabled: typed.connectivity_enabled.unwrap_or(now.connectivity_enabled),
        email_domains: typed.email_domains.unwrap_or(now.email_domains),
        llm_egress: typed.llm_egress.unwrap_or(now.llm_egress),
        llm_send_values: typed.llm_send_values.unwrap_or(now.llm_send_values),
        ..now
    };
    let page = SettingsPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        was: was::shown(&was)?,
        domains: now.email_domains.join("\n"),
        egress: EGRESS,
        now,
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}
