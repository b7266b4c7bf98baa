//! `/w/{slug}`: what is in the workspace, how files come into it, and how to connect a client to it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug, check, demo, import, ontologies};
use crate::model::access::{Action, Role};
use crate::model::error::Result;
use crate::ops::grants::ListGrants;
use crate::ops::list_datasets::{ListDatasets, Listed, Reply};
use crate::ops::tokens::{ListTokens, Token};
use crate::ops::uploads::{ListUploads, Shown};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html;

/// Datasets that are looked through without a search.
const FEW: usize = 20;

/// How far a workspace is on its way to the first answer in a client.
struct Steps {
    has_data: bool,
    is_published: bool,
    is_connected: bool,
}

impl Steps {
    /// Nothing is left to do that is known of.
    fn are_done(&self) -> bool {
        self.has_data && self.is_published && self.is_connected
    }
}

#[derive(Template)]
#[template(path = "overview.html", config = "src/surface/askama.toml")]
struct OverviewPage {
    frame: Frame,
    name: String,
    role: Role,
    open: bool,
    address: String,
    found: Reply,
    /// The page before was the first.
    later: bool,
    /// What the datasets that are shown say; empty for all.
    text: String,
    is_long: bool,
    steps: Steps,
    may_write: bool,
    /// Files that are under way, or wait to be imported.
    waiting: Vec<Shown>,
    upload_csrf: String,
    check_csrf: String,
    demo_csrf: String,
    /// Bytes of an upload.
    upload_most: u64,
    /// Files make datasets of their own here.
    replaced: Option<String>,
    is_table: bool,
}

pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = match Room::enter(&console, door, path, "", request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let params = Params::parse(&query).unwrap_or_default();
    let cursor = params.get("cursor").map(str::to_owned);
    let text = params.get("text").unwrap_or("").trim().to_owned();
    page(&room, cursor, text).await.unwrap_or_else(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, cursor: Option<String>, text: String) -> Result<Response> {
    let org = &room.membership.org;
    let later = cursor.is_some();
    let found = room.ask(ListDatasets { cursor }).await?;
    let is_long = later || found.next_cursor.is_some() || found.datasets.len() > FEW;
    let may_write = room.caller.rights.allow(Action::WriteDatasets);
    let waiting = if may_write { room.ask(ListUploads {}).await?.uploads } else { vec![] };
    let page = OverviewPage {
        frame: room.frame().await?,
        name: org.name.clone(),
        role: room.membership.role,
        open: org.connectivity_enabled,
        address: room.console.web.config.url(&format!("/t/{}/mcp", org.slug)),
        steps: steps(room, &found, later).await?,
        found: if text.is_empty() { found } else { those_that_say(room, &text).await? },
        later,
        text,
        is_long,
        may_write,
        waiting,
        upload_csrf: room.csrf_at(import::PAGE),
        check_csrf: room.csrf_at(check::PAGE),
        demo_csrf: room.csrf_at(demo::PAGE),
        upload_most: room.console.web.config.limits.budgets.upload_bytes,
        replaced: None,
        is_table: true,
    };
    Ok(if page.may_write { html::page_with_requests(StatusCode::OK, &page) } else { html::page(StatusCode::OK, &page) })
}

/// The datasets that say a text in their name, title or description, in small letters or large.
async fn those_that_say(room: &Room<'_>, text: &str) -> Result<Reply> {
    let text = text.to_lowercase();
    let says = |dataset: &Listed| {
        [&dataset.name, &dataset.title, &dataset.description].iter().any(|own| own.to_lowercase().contains(&text))
    };
    let mut datasets = ontologies::datasets(room).await?;
    let any_published = datasets.iter().any(|dataset| dataset.published);
    datasets.retain(says);
    Ok(Reply { count: datasets.len(), datasets, any_published, next_cursor: None, note: None })
}

async fn steps(room: &Room<'_>, found: &Reply, later: bool) -> Result<Steps> {
    let has_data = later || !found.datasets.is_empty();
    let is_published = found.any_published;
    let is_connected = has_data && is_published && is_connected(room).await?;
    Ok(Steps { has_data, is_published, is_connected })
}

/// Whether this person has approved a client here; to admins also whether anybody has, or a program has a token.
async fn is_connected(room: &Room<'_>) -> Result<bool> {
    let (identity, org) = (&room.console.web.identity, &room.membership.org);
    let own = identity.connections(room.visit.person.user.id).await?;
    if own.iter().any(|client| client.org == org.id) {
        return Ok(true);
    }
    if !room.caller.rights.allow(Action::Administer) {
        return Ok(false);
    }
    let is_in_force = |token: &Token| token.state == "active";
    Ok(!room.ask(ListGrants { cursor: None }).await?.grants.is_empty()
        || room.ask(ListTokens {}).await?.tokens.iter().any(is_in_force))
}
