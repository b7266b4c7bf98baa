//! `/w/{slug}/ontologies/{id}/history`: the kept texts of an ontology; an old one is read, and made the newest again.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{HISTORY, Head, id, standing};
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::ops::ontology_texts::{Format, GetOntologyText, OntologyHistory, SavedVersion, UpdateOntology};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

#[derive(Template)]
#[template(path = "ontology_history.html", config = "src/surface/askama.toml")]
struct HistoryPage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    newest: i64,
    versions: Vec<SavedVersion>,
    /// Members' addresses by their ids.
    people: HashMap<String, String>,
    /// The version that is looked at, and its text.
    shown: Option<(i64, String)>,
    problem: String,
}

/// `GET`, with `?version=` for the text of one.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, HISTORY, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let version = params.get("version").and_then(|version| version.parse().ok());
    let page = async { page(&room, id?, version, "").await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: an old text becomes the newest.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let (room, params) = Room::submit(&console, door, path, HISTORY, request).await?;
    let changed = async { restore(&room, id.clone()?, &params).await.map(|()| None::<()>) };
    let (_, problem) = room.settle(changed).await?;
    let page = async { page(&room, id?, None, &problem).await };
    page.await.map_err(|error| room.refusal(&error))
}

async fn restore(room: &Room<'_>, ontology_id: Id<StoredOntology>, params: &Params) -> Result<()> {
    if params.get("do") != Some("restore") {
        return Err(Error::invalid("do", "This form is not one of this page."));
    }
    let (version, newest) = (number(params, "version")?, number(params, "newest")?);
    let old = room.ask(GetOntologyText { ontology_id, version: Some(version), format: Format::Saved }).await?;
    let summary = format!("Version {version} again");
    let op = UpdateOntology { ontology_id, text: old.text, version: Some(newest), summary };
    room.ask(op).await.map(|_| ())
}

fn number(params: &Params, name: &str) -> Result<i64> {
    let text = params.get(name).unwrap_or("");
    text.parse().map_err(|_| Error::invalid(name, format!("{name} is missing or malformed.")))
}

async fn page(
    room: &Room<'_>,
    ontology_id: Id<StoredOntology>,
    version: Option<i64>,
    problem: &str,
) -> Result<Response> {
    let standing = standing(room, ontology_id).await?;
    let history = room.ask(OntologyHistory { ontology_id }).await?;
    let mut problem = problem.to_owned();
    let mut shown = None;
    if let Some(version) = version {
        let op = GetOntologyText { ontology_id, version: Some(version), format: Format::Saved };
        match room.ask(op).await {
            Ok(found) => shown = Some((version, found.text)),
            Err(error) if Room::is_correctable(&error) => problem = error.message,
            Err(error) => return Err(error),
        }
    }
    let members = room.console.web.identity.members(room.caller.org).await?;
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = HistoryPage {
        frame: room.frame().await?,
        head: Head::of(room, &standing),
        here: room.here(),
        csrf: room.csrf(),
        newest: standing.version,
        versions: history.versions,
        people: members.into_iter().map(|(user, _)| (user.id.to_string(), user.email)).collect(),
        shown,
        problem,
    };
    Ok(html::page(status, &page))
}
