//! `/w/{slug}/ontologies/new`: an ontology from tables, from a document, or from another tool. What is made stands in
//! the editor first; nothing is kept before a person saves it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::edit::{self, Sheet};
use super::inquiry::{self, Inquiry};
use super::{NEW, PAGE, tables};
use crate::model::access::Action;
use crate::model::error::{Error, Result};
use crate::ops::draft_ontology::Drafted;
use crate::ops::list_datasets::Listed;
use crate::ops::ontology_texts::{ConvertOntology, CreateOntology};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug};
use crate::surface::form::{Params, Size};
use crate::surface::html;

/// Tables that are drafted together without being chosen one by one.
const FEW: usize = 20;

/// What a person typed, for a form that has to be sent again.
#[derive(Default)]
struct Typed {
    name: String,
    chosen: Vec<String>,
    timezone: String,
    dictionary: String,
    improve: bool,
    text: String,
}

#[derive(Template)]
#[template(path = "ontology_new.html", config = "src/surface/askama.toml")]
struct NewPage {
    frame: Frame,
    here: String,
    csrf: String,
    tables: Vec<Listed>,
    typed: Typed,
    /// The operator has set up a language model.
    has_model: bool,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let room = Room::enter(&console, door, path, NEW, request).await?;
    page(&room, None, "").await.map_err(|error| room.refusal(&error))
}

/// `POST`: a draft, a conversion, or the first version.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let sent = Room::submit_long::<CreateOntology>(&console, door, path, NEW, request, Size::DOCUMENT);
    let (room, params) = sent.await?;
    let answer = match params.get("do") {
        Some("draft") => draft(&room, &params).await,
        Some("convert") => convert(&room, &params).await,
        Some("create") => create(&room, &params).await,
        _ => Err(Error::invalid("do", "This form is not one of this page.")),
    };
    let answer = match answer {
        Err(error) if Room::is_correctable(&error) => {
            let typed = Typed {
                name: params.get("name").unwrap_or("").to_owned(),
                chosen: params.all("dataset_id").map(str::to_owned).collect(),
                timezone: params.get("timezone").unwrap_or("").to_owned(),
                dictionary: params.get("dictionary").unwrap_or("").to_owned(),
                improve: params.get("improve").is_some(),
                text: params.get("text").unwrap_or("").to_owned(),
            };
            page(&room, Some(typed), &error.message).await
        }
        answer => answer,
    };
    answer.map_err(|error| room.refusal(&error))
}

async fn draft(room: &Room<'_>, params: &Params) -> Result<Response> {
    let op = inquiry::asked_for(params)?;
    if op.dataset_ids.is_empty() {
        return Err(Error::invalid("dataset_ids", "Choose at least one table."));
    }
    let made = room.ask(op).await?;
    let inquiry = Inquiry::new("draft", params, &made.evidence);
    let notice = "A draft of what the tables show. Nothing is saved yet: look through it, then save it.";
    let summary = "Drafted from tables".to_owned();
    let Drafted { text, notes, evidence, columns, .. } = made;
    let sheet = Sheet { text, notes, evidence, columns, inquiry, notice: notice.into(), summary, ..Sheet::default() };
    edit::page(room, None, sheet).await
}

async fn convert(room: &Room<'_>, params: &Params) -> Result<Response> {
    let text = Sheet::sent(params).text;
    let made = room.ask(ConvertOntology { text }).await?;
    let notice = "Converted. Nothing is saved yet: look through it, then save it.";
    let summary = "Brought from another tool".to_owned();
    let sheet = Sheet { text: made.text, notes: made.notes, notice: notice.into(), summary, ..Sheet::default() };
    edit::page(room, None, sheet).await
}

async fn create(room: &Room<'_>, params: &Params) -> Result<Response> {
    let sheet = Sheet::sent(params);
    let op = CreateOntology { text: sheet.text.clone(), summary: sheet.summary.clone() };
    match room.ask(op).await {
        Ok(saved) => edit::done(room, saved, sheet).await,
        Err(error) if Room::is_correctable(&error) => edit::page(room, None, sheet.refused(&error)).await,
        Err(error) => Err(error),
    }
}

/// What is chosen before anybody has chosen: the published tables, or all where none is, unless they are many.
fn suggested(tables: &[Listed]) -> Vec<String> {
    let is_any_published = tables.iter().any(|table| table.published);
    let chosen = tables.iter().filter(|table| table.published || !is_any_published);
    let chosen: Vec<String> = chosen.map(|table| table.id.to_string()).collect();
    if chosen.len() > FEW { vec![] } else { chosen }
}

async fn page(room: &Room<'_>, typed: Option<Typed>, problem: &str) -> Result<Response> {
    if !room.caller.rights.allow(Action::WriteDatasets) {
        return Err(crate::model::access::denied(&room.caller, Action::WriteDatasets));
    }
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let tables = tables(room).await?;
    let typed = typed.unwrap_or_else(|| Typed { chosen: suggested(&tables), ..Typed::default() });
    let page = NewPage {
        frame: room.frame_below(PAGE).await?,
        here: room.here(),
        csrf: room.csrf(),
        tables,
        typed,
        has_model: room.console.web.config.llm.is_some(),
        problem: problem.to_owned(),
    };
    Ok(html::page_with_script(status, &page))
}
