//! `/w/{slug}`: what is in the workspace, how files come into it, and how to connect a client to it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::several::MOST;
use super::{Console, Room, Slug, check, demo, import};
use crate::model::access::{Action, Role};
use crate::model::error::Result;
use crate::ops::grants::ListGrants;
use crate::ops::list_datasets::{ListDatasets, Only, Reply};
use crate::ops::tokens::{ListTokens, Token};
use crate::ops::uploads::{ListUploads, Shown};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

/// Datasets that are looked through without a search.
const FEW: usize = 20;
/// How the names of files end that are taken for documents before they are looked at; the page's script takes it as part
/// of a regular expression.
pub(super) const DOCUMENTS: &str = "txt|md|markdown|pdf|docx|pptx|odt|odp|html|htm|eml|mbox|epub|rtf|zip";

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

/// Documents that wait for the same.
struct Together {
    /// The latest first.
    uploads: Vec<Shown>,
    /// When the oldest of them came.
    oldest: String,
    /// As the address that imports them as one dataset names them; empty where only a part of each is here.
    ids: String,
}

impl Together {
    /// Documents that wait together, and what waits by itself: each other file is a dataset of its own.
    fn of(uploads: Vec<Shown>) -> (Vec<Self>, Vec<Shown>) {
        let is_whole = |upload: &Shown| upload.offset == upload.size;
        let (documents, mut alone): (Vec<Shown>, Vec<Shown>) = uploads.into_iter().partition(is_document);
        let (whole, begun): (Vec<Shown>, Vec<Shown>) = documents.into_iter().partition(is_whole);
        let ids = whole.iter().map(|upload| upload.upload_id.to_string()).collect::<Vec<_>>().join(",");
        let mut together = Vec::new();
        for (uploads, ids) in [(whole, ids), (begun, String::new())] {
            match uploads.last() {
                Some(oldest) if uploads.len() > 1 => {
                    let oldest = oldest.created_at.clone();
                    together.push(Self { uploads, oldest, ids });
                }
                _ => alone.extend(uploads),
            }
        }
        (together, alone)
    }
}

fn is_document(upload: &Shown) -> bool {
    let end = upload.name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    end.is_some_and(|end| DOCUMENTS.split('|').any(|known| known == end))
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
    /// `None` where a search is answered.
    steps: Option<Steps>,
    may_write: bool,
    may_delete: bool,
    /// Files that are under way, or wait to be imported: several documents together, and the others.
    together: Vec<Together>,
    alone: Vec<Shown>,
    upload_csrf: String,
    check_csrf: String,
    demo_csrf: String,
    /// Bytes of an upload.
    upload_most: u64,
    /// Files make datasets of their own here.
    replaced: Option<String>,
    is_table: bool,
}

pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, "", request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let cursor = params.get("cursor").map(str::to_owned);
    let text = params.get("text").unwrap_or("").trim().to_owned();
    page(&room, cursor, text).await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, cursor: Option<String>, text: String) -> Result<Response> {
    let org = &room.membership.org;
    let later = cursor.is_some();
    let only = Only { text: text.clone(), ..Only::default() };
    let found = room.ask(ListDatasets { cursor, only }).await?;
    let is_long = later || found.next_cursor.is_some() || found.datasets.len() > FEW;
    let may_write = room.caller.rights.allow(Action::WriteDatasets);
    let waiting = if may_write { room.ask(ListUploads {}).await?.uploads } else { vec![] };
    let (together, alone) = Together::of(waiting);
    let page = OverviewPage {
        frame: room.frame().await?,
        name: org.name.clone(),
        role: room.membership.role,
        open: org.connectivity_enabled,
        address: room.console.web.config.url(&format!("/t/{}/mcp", org.slug)),
        steps: if text.is_empty() { Some(steps(room, &found, later).await?) } else { None },
        found,
        later,
        text,
        is_long,
        may_write,
        may_delete: room.caller.rights.allow(Action::DeleteDatasets),
        together,
        alone,
        upload_csrf: room.csrf_at(import::PAGE),
        check_csrf: room.csrf_at(check::PAGE),
        demo_csrf: room.csrf_at(demo::PAGE),
        upload_most: room.console.web.config.limits.budgets.upload_bytes,
        replaced: None,
        is_table: true,
    };
    Ok(if page.may_write { html::page_with_requests(StatusCode::OK, &page) } else { html::page(StatusCode::OK, &page) })
}

/// How far the workspace is; `found` is a page of its datasets, which others come before where it is a `later` one.
async fn steps(room: &Room<'_>, found: &Reply, later: bool) -> Result<Steps> {
    let mut is_published = found.datasets.iter().any(|dataset| dataset.published);
    if !is_published && (later || found.next_cursor.is_some()) {
        let only = Only { published: Some(true), ..Only::default() };
        is_published = !room.ask(ListDatasets { cursor: None, only }).await?.datasets.is_empty();
    }
    let is_connected = is_published && is_connected(room).await?;
    Ok(Steps { has_data: later || !found.datasets.is_empty(), is_published, is_connected })
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
