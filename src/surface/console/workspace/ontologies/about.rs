//! `/w/{slug}/ontologies/{id}`: what an ontology says, for people; whether the data keep it; its files, and its end.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use super::narrative::{Span, ticked};
use super::{EXPORT, Head, ONE, filters, id, picture, standing};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Attestation, Calendar, Finding, Ontology, Status, StoredOntology};
use crate::ops::ontologies::{GetOntology, GetOntologyDataset, Ontology as Short, Schema};
use crate::ops::ontology_texts::{CheckOntology, DeleteOntology, Format, GetOntologyText, Standing, Text};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug, parsed};
use crate::surface::form::Params;
use crate::surface::html;

#[derive(Template)]
#[template(path = "ontology.html", config = "src/surface/askama.toml")]
struct AboutPage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    standing: Standing,
    document: Option<Ontology>,
    /// What holds for every question over it, by name.
    settings: Vec<(&'static str, String)>,
    check: Option<Check>,
    graph: String,
    may_ask: bool,
    may_delete: bool,
    problem: String,
}

/// What comparing it with the data found.
struct Check {
    at: Millis,
    errors: usize,
    doubts: usize,
    /// Errors first.
    failed: Vec<Found>,
    passed: Vec<Found>,
}

/// One thing that was asked of the data.
struct Found {
    is_error: bool,
    passed: bool,
    says: Vec<Span>,
    what: String,
    figures: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "ontology_read.html", config = "src/surface/askama.toml")]
struct ReadPage {
    frame: Frame,
    head: Head,
    here: String,
    short: Short,
    /// The dataset that is looked at.
    described: Option<Schema>,
}

impl Check {
    fn of(found: Attestation) -> Self {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let shown = |finding: Finding| Found {
            is_error: finding.is_error(),
            passed: finding.passed,
            says: ticked(&finding.says),
            what: finding.what,
            figures: finding.figures.into_iter().map(|(name, value)| (name.replace('_', " "), text(value))).collect(),
        };
        let (passed, mut failed): (Vec<Found>, Vec<Found>) =
            found.findings.into_iter().map(shown).partition(|finding| finding.passed);
        failed.sort_by_key(|finding| !finding.is_error);
        let errors = failed.iter().filter(|finding| finding.is_error).count();
        Self { at: found.checked_at, errors, doubts: failed.len() - errors, failed, passed }
    }
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, ONE, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let page = async {
        match room.caller.rights.allow(Action::WriteDatasets) {
            true => page(&room, id?, "").await,
            false => read_page(&room, id?, params.get("dataset")).await,
        }
    };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: the comparison with the data, and the deletion.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let (room, params) = Room::submit(&console, door, path, ONE, request).await?;
    let changed = async { change(&room, id.clone()?, &params).await };
    let (deleted, problem) = room.settle(changed).await?;
    if let Some(Deleted) = deleted {
        return Ok(html::see_other(&format!("/w/{}/ontologies", room.membership.org.slug)));
    }
    let page = async { page(&room, id?, &problem).await };
    page.await.map_err(|error| room.refusal(&error))
}

struct Deleted;

async fn change(room: &Room<'_>, ontology_id: Id<StoredOntology>, params: &Params) -> Result<Option<Deleted>> {
    match params.get("do") {
        Some("check") => room.ask(CheckOntology { ontology_id }).await.map(|_| None),
        Some("delete") => {
            let name = standing(room, ontology_id).await?.name;
            let given = params.get("name").unwrap_or("").trim();
            if given != name {
                let message = format!("Nothing was deleted: the name is not {name}. Write it as it is to confirm.");
                return Err(Error::invalid("name", message));
            }
            room.ask(DeleteOntology { ontology_id, name }).await.map(|_| Some(Deleted))
        }
        _ => Err(Error::invalid("do", "This form is not one of this page.")),
    }
}

async fn page(room: &Room<'_>, ontology_id: Id<StoredOntology>, problem: &str) -> Result<Response> {
    let mut problem = problem.to_owned();
    let op = GetOntologyText { ontology_id, version: None, format: Format::OssieJson };
    let (standing, document, check, graph) = match room.ask(op).await {
        Ok(Text { ontology, parsed, attestation, graph_svg, .. }) => {
            (ontology, parsed, attestation.map(Check::of), graph_svg)
        }
        // The rest of the page is there without what it says: it is too large to be shown.
        Err(error) if Room::is_correctable(&error) => {
            problem = error.message;
            (standing(room, ontology_id).await?, None, None, String::new())
        }
        Err(error) => return Err(error),
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = AboutPage {
        frame: room.frame().await?,
        head: Head::of(room, &standing),
        here: room.here(),
        csrf: room.csrf(),
        standing,
        settings: document.as_ref().map(settings).unwrap_or_default(),
        document,
        check,
        graph: if graph.is_empty() { graph } else { picture(&graph) },
        may_ask: room.caller.rights.allow(Action::RunSql),
        may_delete: room.caller.rights.allow(Action::DeleteDatasets),
        problem,
    };
    Ok(html::page_with_script(status, &page))
}

/// What is as everywhere is not said.
fn settings(document: &Ontology) -> Vec<(&'static str, String)> {
    let zone = Some(&document.calendar.timezone).filter(|zone| **zone != Calendar::default().timezone);
    let all = [
        ("Time zone", zone),
        ("Currency", document.currency.as_ref()),
        ("When no time is named", document.default_time_window.as_ref()),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?.clone()))).collect()
}

async fn read_page(room: &Room<'_>, ontology_id: Id<StoredOntology>, dataset: Option<&str>) -> Result<Response> {
    let mut short = room.ask(GetOntology { ontology_id: Some(ontology_id.into()), cursor: None }).await?;
    while let Some(cursor) = short.next_cursor.take() {
        let more = room.ask(GetOntology { ontology_id: Some(ontology_id.into()), cursor: Some(cursor) }).await?;
        short.datasets.extend(more.datasets);
        short.metrics.extend(more.metrics);
        short.relationships.extend(more.relationships);
        short.next_cursor = more.next_cursor;
    }
    let described = match dataset {
        Some(name) => {
            Some(room.ask(GetOntologyDataset { ontology_id: ontology_id.into(), name: name.to_owned() }).await?)
        }
        None => None,
    };
    let page = ReadPage {
        frame: room.frame().await?,
        head: Head::new(room, ontology_id, &short.ontology.name),
        here: room.here(),
        short,
        described,
    };
    Ok(html::page(StatusCode::OK, &page))
}

/// `GET …/export?format=ossie|ossie_json|legacy_json`: a file.
pub async fn export(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, EXPORT, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let file = async { file(&room, id?, &params).await };
    file.await.map_err(|error| room.refusal(&error))
}

async fn file(room: &Room<'_>, ontology_id: Id<StoredOntology>, params: &Params) -> Result<Response> {
    let format: Format = parsed(params, "format")?;
    let (media, ending) = match format {
        Format::Saved | Format::Ossie => ("application/yaml; charset=utf-8", "yaml"),
        Format::OssieJson => ("application/json", "json"),
        Format::LegacyJson => ("application/json", "0.1.1.json"),
    };
    let found = room.ask(GetOntologyText { ontology_id, version: None, format }).await?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let name: String = found.ontology.name.chars().map(plain).take(80).collect();
    let mut response = found.text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}.{ending}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}
