//! `/w/{slug}/ontologies/{id}/edit`: an ontology's text, saved as its next version; what is wrong with it stands beside.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::inquiry::{self, Inquiry};
use super::narrative::{Span, ticked};
use super::{EDIT, Head, id, standing, tables};
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Problem, Status, StoredOntology};
use crate::ops::draft_ontology::{DraftOntology, Drafted, Evidence, TableReasons};
use crate::ops::list_datasets::Listed;
use crate::ops::ontology_texts::{CheckOntology, Format, GetOntologyText, Saved, Standing, Text, UpdateOntology};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug};
use crate::surface::form::{Params, Size};
use crate::surface::html;

/// A problem and the line that it is about.
pub struct Marked {
    problem: Problem,
    message: Vec<Span>,
    hint: Vec<Span>,
    line: String,
}

/// What is in the editor, and what is said of it.
#[derive(Default)]
pub struct Sheet {
    pub text: String,
    pub summary: String,
    /// The version that the text was made from.
    pub version: Option<i64>,
    /// A version that somebody saved meanwhile.
    pub newer: Option<i64>,
    pub notice: String,
    pub problem: String,
    pub problems: Vec<Marked>,
    /// What to know of a text that was made.
    pub notes: Vec<String>,
    /// Why a draft says what it says: its keys and relationships, and its columns.
    pub evidence: Vec<Evidence>,
    pub columns: Vec<TableReasons>,
    /// What a draft made anew brings.
    pub changes: Vec<String>,
    /// What a draft asks.
    pub inquiry: Option<Inquiry>,
}

#[derive(Template)]
#[template(path = "ontology_edit.html", config = "src/surface/askama.toml")]
struct EditPage {
    frame: Frame,
    /// Absent for an ontology that is not saved yet.
    head: Option<Head>,
    action: String,
    csrf: String,
    sheet: Sheet,
    /// Tables that an ontology may be drafted from anew.
    tables: Vec<Listed>,
}

impl Sheet {
    /// As a person sent it.
    pub fn sent(params: &Params) -> Self {
        Self {
            // Browsers end the lines of a form with both.
            text: params.get("text").unwrap_or("").replace("\r\n", "\n"),
            summary: params.get("summary").unwrap_or("").to_owned(),
            version: params.get("was").and_then(|version| version.parse().ok()),
            ..Self::default()
        }
    }

    /// With what a refusal says of it.
    #[must_use]
    pub fn refused(self, error: &Error) -> Self {
        let problems = error.details.get("problems").cloned().unwrap_or_default();
        let problems: Vec<Problem> = serde_json::from_value(problems).unwrap_or_default();
        let problem = match problems.len() {
            0 => error.message.clone(),
            1 => "This is not saved: one thing in it is wrong.".into(),
            several => format!("This is not saved: {several} things in it are wrong."),
        };
        Self { problem, ..self }.marked(problems)
    }

    /// With problems, errors first.
    #[must_use]
    pub fn marked(mut self, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.severity);
        let lines: Vec<&str> = self.text.lines().collect();
        let line = |problem: &Problem| {
            let at = problem.line.and_then(|line| usize::try_from(line).ok()?.checked_sub(1));
            at.and_then(|at| lines.get(at)).map(|line| line.trim().to_owned()).unwrap_or_default()
        };
        let marked = |problem: Problem| Marked {
            message: ticked(&problem.message),
            hint: ticked(&problem.hint),
            line: line(&problem),
            problem,
        };
        self.problems = problems.into_iter().map(marked).collect();
        self
    }
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let room = Room::enter(&console, door, path, EDIT, request).await?;
    let page = async {
        let op = GetOntologyText { ontology_id: id?, version: None, format: Format::Saved };
        let Text { ontology, text, .. } = room.ask(op).await?;
        let sheet = Sheet { text, version: Some(ontology.version), ..Sheet::default() };
        page(&room, Some(&ontology), sheet).await
    };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: the next version.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let sent = Room::submit_long::<UpdateOntology>(&console, door, path, EDIT, request, Size::DOCUMENT);
    let (room, params) = sent.await?;
    let answer = async {
        match params.get("do") {
            Some("anew") => anew(&room, id?, &params).await,
            _ => save(&room, id?, &params).await,
        }
    };
    answer.await.map_err(|error| room.refusal(&error))
}

/// What is new in the tables, brought into the text; it is not saved yet.
async fn anew(room: &Room<'_>, ontology_id: Id<StoredOntology>, params: &Params) -> Result<Response> {
    // Before the draft, which may take minutes: what is saved meanwhile is not in its text.
    let standing = standing(room, ontology_id).await?;
    let version = Some(standing.version);
    let op = DraftOntology { ontology_id: Some(ontology_id), ..inquiry::asked_for(params)? };
    let sheet = match room.ask(op).await {
        Ok(made) => {
            let inquiry = Inquiry::new("anew", params, &made.evidence);
            let notice = match made.changes.is_empty() {
                true => "Nothing is new in the tables: the text is as it was.",
                false => {
                    "What is new in the tables is in the text. Nothing is saved yet: look through it, then save it."
                }
            };
            let Drafted { text, notes, evidence, columns, changes } = made;
            let (notice, summary) = (notice.to_owned(), "Drafted anew from the tables".to_owned());
            Sheet { text, version, notes, evidence, columns, changes, inquiry, notice, summary, ..Sheet::default() }
        }
        Err(error) if Room::is_correctable(&error) => {
            let op = GetOntologyText { ontology_id, version: None, format: Format::Saved };
            let Text { ontology, text, .. } = room.ask(op).await?;
            Sheet { text, version: Some(ontology.version), problem: error.message, ..Sheet::default() }
        }
        Err(error) => return Err(error),
    };
    page(room, Some(&standing), sheet).await
}

async fn save(room: &Room<'_>, ontology_id: Id<StoredOntology>, params: &Params) -> Result<Response> {
    let sheet = Sheet::sent(params);
    let over = params.get("over").and_then(|version| version.parse().ok());
    let version = over.or(sheet.version);
    let op = UpdateOntology { ontology_id, text: sheet.text.clone(), version, summary: sheet.summary.clone() };
    match room.ask(op).await {
        Ok(saved) => done(room, saved, sheet).await,
        Err(error) if Room::is_correctable(&error) => {
            let standing = standing(room, ontology_id).await?;
            let is_outdated = error.details.get("field").is_some_and(|field| field == "version");
            let newer = Some(standing.version).filter(|_| is_outdated);
            page(room, Some(&standing), Sheet { newer, ..sheet.refused(&error) }).await
        }
        Err(error) => Err(error),
    }
}

/// After saving: on to the ontology, or back to the text with what is wrong or doubtful in it.
pub(super) async fn done(room: &Room<'_>, saved: Saved, sheet: Sheet) -> Result<Response> {
    let Saved { mut ontology, problems } = saved;
    let errors = problems.iter().any(Problem::is_error);
    // What cannot be compared now is, by the button on its first page.
    if !errors && let Ok(checked) = room.ask(CheckOntology { ontology_id: ontology.ontology_id }).await {
        ontology = checked.ontology;
    }
    if problems.is_empty() {
        return Ok(html::see_other(&Head::of(room, &ontology).at));
    }
    let sheet = Sheet { text: sheet.text, version: Some(ontology.version), ..Sheet::default() };
    let version = ontology.version;
    let sheet = match errors {
        true => Sheet {
            problem: format!("Saved as version {version}, but it cannot be asked until what is wrong in it is mended."),
            ..sheet
        },
        false => {
            let stands = match ontology.status {
                Status::Ready => "and it can be asked. Look at what is doubtful in it.",
                Status::Draft | Status::Failed => "but it cannot be asked yet: About says why.",
            };
            Sheet { notice: format!("Saved as version {version}, {stands}"), ..sheet }
        }
    };
    page(room, Some(&ontology), sheet.marked(problems)).await
}

/// The editor; without an ontology for one that is not saved yet.
pub(super) async fn page(room: &Room<'_>, standing: Option<&Standing>, sheet: Sheet) -> Result<Response> {
    let status = if sheet.problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let slug = &room.membership.org.slug;
    let place = match standing {
        Some(standing) => EDIT.replace("{id}", &standing.ontology_id.to_string()),
        None => super::NEW.to_owned(),
    };
    let tables = if standing.is_some() { tables(room).await? } else { Vec::new() };
    let page = EditPage {
        tables,
        frame: room.frame().await?,
        head: standing.map(|standing| Head::of(room, standing)),
        action: format!("/w/{slug}{place}"),
        csrf: room.csrf_at(&place),
        sheet,
    };
    Ok(html::page_with_script(status, &page))
}
