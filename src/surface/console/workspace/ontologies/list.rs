//! `/w/{slug}/ontologies`: the ontologies of a workspace and where they stand. Who may not write them sees those that
//! can be asked.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use super::{All, PAGE, Standing};
use crate::model::access::Action;
use crate::model::error::Result;
use crate::ops::ontologies::ListOntologies;
use crate::ops::ontology_texts::ListAllOntologies;
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug};
use crate::surface::html::{self, filters};

#[derive(Deserialize)]
struct Ready {
    ontologies: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    name: String,
    description: String,
    dataset_count: i64,
    field_count: i64,
}

struct Row {
    id: String,
    name: String,
    description: String,
    dataset_count: i64,
    field_count: i64,
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
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    page(&room).await.unwrap_or_else(|error| room.refusal(&error))
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
    let found: All = room.ask(ListAllOntologies {}).await?;
    let row = |it: Standing| Row {
        id: it.ontology_id.to_string(),
        name: it.name.clone(),
        description: it.description.clone(),
        dataset_count: it.dataset_count,
        field_count: it.field_count,
        state: Some(it),
    };
    Ok(found.ontologies.into_iter().map(row).collect())
}

async fn ready(room: &Room<'_>) -> Result<Vec<Row>> {
    let found: Ready = room.ask(ListOntologies {}).await?;
    let row = |it: Listed| Row {
        id: it.id,
        name: it.name,
        description: it.description,
        dataset_count: it.dataset_count,
        field_count: it.field_count,
        state: None,
    };
    Ok(found.ontologies.into_iter().map(row).collect())
}
