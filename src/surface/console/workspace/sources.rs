//! `/w/{slug}/sources`: remote engines whose tables are datasets of the workspace.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use super::{Console, Room, Slug, parsed};
use crate::model::error::{Code, Error, Result};
use crate::ops::publish::Publish;
use crate::ops::sources::{Changed, CreateSource, ListSources, RefreshSource, RemoveSource, Sources, TestSource};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/sources";

/// What a person typed, for a form that has to be sent again; never the password.
#[derive(Default)]
struct Typed {
    name: String,
    engine: String,
    address: String,
    user: String,
    ca: String,
}

/// What a form led to, beside the page itself.
#[derive(Default)]
struct Outcome {
    /// What worked.
    notice: String,
    /// What was wrong.
    problem: String,
    /// Statements for the server that put it right.
    script: String,
    typed: Typed,
}

#[derive(Template)]
#[template(path = "sources.html", config = "src/surface/askama.toml")]
struct SourcesPage {
    frame: Frame,
    here: String,
    csrf: String,
    /// Which page of the list this is; empty is the first.
    cursor: String,
    sources: Sources,
    outcome: Outcome,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let cursor = cursor(&Params::parse(&query).unwrap_or_default());
    page(&room, cursor, Outcome::default()).await.map_err(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let outcome = match change(&room, &params).await {
        Ok(None) => return Ok(html::see_other(&at(&room, cursor(&params).as_deref()))),
        Ok(Some(notice)) => Outcome { notice, ..Outcome::default() },
        Err(error) if Room::is_correctable(&error) || error.code == Code::SourceUnavailable => refused(&params, error),
        Err(error) => return Err(room.refusal(&error)),
    };
    let here = at(&room, cursor(&params).as_deref());
    let page = page(&room, cursor(&params), outcome).await;
    page.map(|page| room.visit.once(page, &here)).map_err(|error| room.refusal(&error))
}

/// Which page of the list the reader is on; nothing is the first.
fn cursor(params: &Params) -> Option<String> {
    params.get("cursor").filter(|cursor| !cursor.is_empty()).map(str::to_owned)
}

fn at(room: &Room<'_>, cursor: Option<&str>) -> String {
    let query = cursor
        .map(|cursor| url::form_urlencoded::Serializer::new(String::new()).append_pair("cursor", cursor).finish());
    query.map_or_else(|| room.here(), |query| format!("{}?{query}", room.here()))
}

fn refused(params: &Params, error: Error) -> Outcome {
    let text = |name: &str| params.get(name).unwrap_or("").to_owned();
    let script = error.details.get("script").and_then(Value::as_str).unwrap_or_default().to_owned();
    Outcome {
        // The script has a place of its own on the page.
        problem: error.message.replace(&format!("\n{script}"), ""),
        script,
        typed: Typed {
            name: text("name"),
            engine: text("engine"),
            address: text("address"),
            user: text("user"),
            ca: text("ca"),
        },
        ..Outcome::default()
    }
}

async fn change(room: &Room<'_>, params: &Params) -> Result<Option<String>> {
    let text = |name: &str| params.get(name).unwrap_or("").to_owned();
    match params.get("do").unwrap_or("") {
        "add" => {
            let op = CreateSource {
                name: text("name"),
                engine: parsed(params, "engine")?,
                address: text("address"),
                user: params.get("user").map(str::to_owned),
                password: text("password"),
                ca: params.get("ca").map(str::to_owned),
            };
            let name = op.name.clone();
            room.ask(op).await?;
            Ok(Some(format!("{name} is connected. Publish the tables that AI clients may ask about.")))
        }
        "test" => {
            let tested = room.ask(TestSource { source_id: parsed(params, "source_id")? }).await?;
            Ok(Some(format!("It works. The server is version {}. {}", tested.version, tested.message)))
        }
        "refresh" => {
            let op = RefreshSource { source_id: parsed(params, "source_id")? };
            let Changed { added, updated, removed, left_out } = room.ask(op).await?;
            let done = format!("Read again. Tables that are new: {added}; up to date: {updated}; gone: {removed}.");
            Ok(Some(format!("{done} {left_out}").trim_end().to_owned()))
        }
        "remove" => room.ask(RemoveSource { source_id: parsed(params, "source_id")? }).await.map(|_| None),
        "publish" => {
            let externally_queryable = params.get("published") == Some("1");
            let op = Publish { dataset_id: parsed(params, "dataset_id")?, externally_queryable };
            room.ask(op).await.map(|_| None)
        }
        _ => Err(Error::invalid("do", "This form is not one of this page.")),
    }
}

async fn page(room: &Room<'_>, cursor: Option<String>, outcome: Outcome) -> Result<Response> {
    let status = if outcome.problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = SourcesPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        cursor: cursor.clone().unwrap_or_default(),
        sources: room.ask(ListSources { cursor }).await?,
        outcome,
    };
    Ok(html::page(status, &page))
}
