//! `/w/{slug}/ontologies`: the ontologies of a workspace and where they stand. Who may not write them sees those that
//! can be asked.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{PAGE, tone};
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::error::Result;
use crate::model::ontology::StoredOntology;
use crate::ops::ontologies::{ListOntologies, Listed};
use crate::ops::ontology_texts::{ListAllOntologies, Standing};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug};
use crate::surface::html::{self, filters};

struct Row {
    id: Id<StoredOntology>,
    name: String,
    description: String,
    dataset_count: String,
    field_count: String,
    /// For those who may write it.
    state: Option<Standing>,
}

#[derive(Template)]
#[template(path = "ontologies.html", config = "src/surface/askama.toml")]
struct ListPage {
    frame: Frame,
    here: String,
    rows: Vec<Row>,
    may_write: bool,
    may_ask: bool,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    page(&room).await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>) -> Result<Response> {
    let may_write = room.caller.rights.allow(Action::WriteDatasets);
    let rows = if may_write { all(room).await? } else { ready(room).await? };
    let page = ListPage {
        frame: room.frame().await?,
        here: room.here(),
        rows,
        may_write,
        may_ask: room.caller.rights.allow(Action::RunSql),
    };
    Ok(html::page(StatusCode::OK, &page))
}

async fn all(room: &Room<'_>) -> Result<Vec<Row>> {
    let found = room.ask(ListAllOntologies {}).await?;
    let row = |it: Standing| Row {
        id: it.ontology_id,
        name: it.name.clone(),
        description: it.description.clone(),
        dataset_count: it.dataset_count.to_string(),
        field_count: it.field_count.to_string(),
        state: Some(it),
    };
    Ok(found.ontologies.into_iter().map(row).collect())
}

async fn ready(room: &Room<'_>) -> Result<Vec<Row>> {
    let found = room.ask(ListOntologies {}).await?;
    let row = |it: Listed| Row {
        id: it.id,
        name: it.name,
        description: it.description,
        dataset_count: it.dataset_count.to_string(),
        field_count: it.field_count.to_string(),
        state: None,
    };
    Ok(found.ontologies.into_iter().map(row).collect())
}
