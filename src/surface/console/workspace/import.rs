//! `/w/{slug}/import`: files from the browser, each table a dataset, texts one together. A plain form sends them, or
//! `upload.js`, which shows how far they are and asks before it replaces anything.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde_json::Value;

use super::{Console, Room, Slug, purpose};
use crate::gateway::operation::Operation as _;
use crate::model::error::{Code, Error, Result};
use crate::ops::import::{self, IfExists, Import, Staged};
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::Frame;
use crate::surface::html;
use crate::surface::receive::{self, Form, Received, receive};

pub(super) const PAGE: &str = "/import";
const FIELDS: [&str; 3] = ["csrf", "name", "if_exists"];

/// A dataset that was made.
#[derive(Serialize)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) r#type: &'static str,
    pub(super) rows: i64,
    pub(super) columns: usize,
    /// Whether AI clients see it.
    pub(super) published: bool,
    /// What could be corrected of its columns, and what of its files is not in it, in sentences.
    pub(super) hints: Vec<String>,
}

impl Made {
    /// The datasets of an import: several, where a workbook has several sheets.
    pub(super) fn of(slug: &str, reply: &import::Reply) -> Vec<Self> {
        let href = |id| format!("/w/{slug}/datasets/{id}");
        let first = Self {
            href: href(reply.dataset_id),
            name: reply.name.clone(),
            r#type: reply.r#type.name(),
            rows: reply.row_count,
            columns: reply.columns.len(),
            published: reply.published,
            hints: reply.hints.iter().map(|hint| &hint.says).chain(&reply.skipped).cloned().collect(),
        };
        let also = reply.also.iter().map(|sheet| Self {
            href: href(sheet.dataset_id),
            name: sheet.name.clone(),
            r#type: reply.r#type.name(),
            rows: sheet.row_count,
            columns: sheet.columns,
            published: sheet.published,
            hints: sheet.hints.iter().map(|hint| hint.says.clone()).collect(),
        });
        std::iter::once(first).chain(also).collect()
    }
}

/// Files of which nothing was made.
#[derive(Serialize)]
pub(super) struct Problem {
    pub(super) file: String,
    pub(super) message: String,
    /// The dataset that would have been replaced.
    pub(super) exists: Option<String>,
}

/// What came of an upload.
#[derive(Default, Serialize)]
pub(super) struct Outcome {
    pub(super) datasets: Vec<Made>,
    pub(super) problems: Vec<Problem>,
    /// What would be made of files that were only looked at, and the datasets that have its names.
    pub(super) found: Option<Made>,
    pub(super) exists: Option<String>,
    /// The datasets into which these very files came last.
    pub(super) same: Vec<String>,
}

#[derive(Template)]
#[template(path = "imported.html", config = "src/surface/askama.toml")]
struct ImportedPage {
    frame: Frame,
    outcome: Outcome,
}

/// `POST`. What the script asks for is JSON; a form gets the page of the dataset, or one that says what was wrong.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let visit = Visit::of(&console.web, &door.session, door.context, &request).await?;
    let room = Room::find(&console, visit, &path, PAGE).await?;
    let headers = request.headers().clone();
    let answered = match taken(&room, &headers, request).await {
        Ok(Some(outcome)) => finished(&room, outcome, &headers).await,
        Ok(None) => {
            let purpose = purpose(&room.membership.org.slug, PAGE);
            Ok(room.visit.has_not_sent(&console.web, &purpose).await)
        }
        Err(error) => Err(error),
    };
    match answered {
        Ok(response) => Ok(response),
        Err(error) => Err(refused(&room, &error, &headers).await),
    }
}

/// What came of the files; `None` when the form was not sent from our page.
async fn taken(room: &Room<'_>, headers: &HeaderMap, request: Request) -> Result<Option<Outcome>> {
    // Rights and a place first: nobody without them makes us write a byte.
    let staging = room.console.gateway.staging(&room.caller)?;
    let form = Form::of(request).await;
    let form = form.ok_or_else(|| Error::invalid("Content-Type", "Send the files as multipart/form-data."))?;
    let web = &room.console.web;
    let purpose = purpose(&room.membership.org.slug, PAGE);
    let is_ours = |received: &Received| room.visit.has_sent(web, headers, &purpose, received.get("csrf"));
    let most = web.config.limits.budgets.upload_bytes;
    let admits = |bytes: u64| room.console.gateway.admit(bytes);
    let place = receive::Room { folder: staging.path(), most, admits: &admits, fields: &FIELDS };
    let ours = |received: &Received| if is_ours(received) { Ok(()) } else { Err(not_ours()) };
    let received = match receive(form, place, ours).await {
        Err(error) if error.details == not_ours().details => return Ok(None),
        received => received?,
    };
    let if_exists = IfExists::parse(received.get("if_exists"))?;
    let name = received.get("name").map(str::to_owned);
    let groups = import::datasets(received.files);
    if groups.is_empty() {
        return Err(Error::invalid("file", "Choose at least one file."));
    }
    if name.is_some() && groups.len() > 1 {
        let message = "The name is of one dataset, and these files make several. Leave the name empty.";
        return Err(Error::invalid("name", message));
    }
    let mut outcome = Outcome::default();
    for files in groups {
        made(room, name.clone(), if_exists, files, &mut outcome).await?;
    }
    Ok(Some(outcome))
}

/// Said before a byte of a file is kept.
fn not_ours() -> Error {
    Error::forbidden("form", "This form was not sent from our page.")
}

/// One dataset of these files. What is wrong with a file says so, and the others are looked at all the same.
async fn made(
    room: &Room<'_>,
    name: Option<String>,
    if_exists: IfExists,
    files: Vec<Staged>,
    outcome: &mut Outcome,
) -> Result<()> {
    let file = files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ");
    match room.ask(Import { name, if_exists, files, ..Import::default() }).await {
        Ok(reply) => outcome.datasets.extend(Made::of(&room.membership.org.slug, &reply)),
        Err(error) if matches!(error.code, Code::InternalError | Code::ScopeDenied | Code::RateLimited) => {
            return Err(error);
        }
        Err(error) => {
            let exists = error.details.get("exists").and_then(Value::as_str).map(str::to_owned);
            outcome.problems.push(Problem { file, message: error.message, exists });
        }
    }
    Ok(())
}

/// Whether the script asks.
pub(super) fn is_script(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json")
}

pub(super) fn json(status: StatusCode, outcome: &Outcome) -> Result<Response> {
    let text = serde_json::to_string(outcome).map_err(Error::internal)?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((status, headers, text).into_response())
}

async fn finished(room: &Room<'_>, outcome: Outcome, headers: &HeaderMap) -> Result<Response> {
    let status = if outcome.problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    if is_script(headers) {
        return json(status, &outcome);
    }
    match (outcome.datasets.as_slice(), outcome.problems.as_slice()) {
        ([one], []) if one.hints.is_empty() => Ok(html::see_other(&one.href)),
        _ => {
            let page = html::page(status, &ImportedPage { frame: room.frame_below("").await?, outcome });
            Ok(room.visit.once(page, &format!("/w/{}", room.membership.org.slug)))
        }
    }
}

/// A refusal of the whole, recorded.
async fn refused(room: &Room<'_>, error: &Error, headers: &HeaderMap) -> Response {
    let recorded = room.console.gateway.refused(&room.caller, "console.call", Import::INFO.name, error).await;
    if let Err(unrecorded) = recorded {
        return html::failure(&unrecorded);
    }
    let problem = Problem { file: String::new(), message: error.message.clone(), exists: None };
    let outcome = Outcome { problems: vec![problem], ..Outcome::default() };
    let status = StatusCode::from_u16(error.code.info().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let answered = match is_script(headers) {
        true => json(status, &outcome),
        false => room.frame_below("").await.map(|frame| html::page(status, &ImportedPage { frame, outcome })),
    };
    answered.unwrap_or_else(|error| html::failure(&error))
}
