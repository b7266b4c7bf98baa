//! `/w/{slug}/ontologies/{id}/remembered`: what people let the workspace remember of an ontology, and forgetting it.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Head, REMEMBERED, id, standing};
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::run::Memory;
use crate::ops::questions::{Forget, Kept, ListRemembered};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug, parsed};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

#[derive(Template)]
#[template(path = "ontology_remembered.html", config = "src/surface/askama.toml")]
struct RememberedPage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    verified: Vec<Kept>,
    preferences: Vec<Kept>,
    /// Members' names by their ids.
    people: HashMap<String, String>,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let room = Room::enter(&console, door, path, REMEMBERED, request).await?;
    let page = async { page(&room, id?, "").await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: one is forgotten.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let (room, params) = Room::submit(&console, door, path, REMEMBERED, request).await?;
    let changed = async { forget(&room, &params).await.map(|()| None::<()>) };
    let (_, problem) = room.settle(changed).await?;
    let page = async { page(&room, id?, &problem).await };
    page.await.map_err(|error| room.refusal(&error))
}

async fn forget(room: &Room<'_>, params: &Params) -> Result<()> {
    if params.get("do") != Some("forget") {
        return Err(Error::invalid("do", "This form is not one of this page."));
    }
    let op = Forget { remembered_id: parsed(params, "remembered_id")? };
    room.ask(op).await.map(|_| ())
}

async fn page(room: &Room<'_>, ontology_id: Id<StoredOntology>, problem: &str) -> Result<Response> {
    let standing = standing(room, ontology_id).await?;
    let found = room.ask(ListRemembered { ontology_id }).await?;
    let (verified, preferences) = found.remembered.into_iter().partition(|kept| kept.memory == Memory::Verified);
    let members = room.console.web.identity.members(room.caller.org).await?;
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = RememberedPage {
        frame: room.frame().await?,
        head: Head::of(room, &standing),
        here: room.here(),
        csrf: room.csrf(),
        verified,
        preferences,
        people: members.into_iter().map(|(user, _)| (user.id.to_string(), user.name)).collect(),
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}
