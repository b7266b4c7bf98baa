//! `/w/{slug}/ontologies/{id}/questions`: what was asked of an ontology, and how it ended.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Head, QUESTIONS, id, standing};
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::error::Result;
use crate::model::ontology::StoredOntology;
use crate::model::run::Ending;
use crate::ops::questions::{ListQuestions, Questions};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

#[derive(Template)]
#[template(path = "ontology_questions.html", config = "src/surface/askama.toml")]
struct QuestionsPage {
    frame: Frame,
    head: Head,
    here: String,
    found: Questions,
    /// This is not the first page.
    later: bool,
    may_see_all: bool,
    /// Those of everybody are shown.
    everybodys: bool,
    problem: String,
}

/// How a question ended, in words.
pub(super) fn ended(outcome: Ending) -> &'static str {
    match outcome {
        Ending::Answer => "answered",
        Ending::Clarification => "asked back",
        Ending::CannotAnswer => "not answerable",
        Ending::Failed => "failed",
    }
}

/// The class of the tag that says so.
pub(super) fn tone(outcome: Ending) -> &'static str {
    match outcome {
        Ending::Answer => "good",
        Ending::Failed => "bad",
        Ending::Clarification | Ending::CannotAnswer => "",
    }
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, QUESTIONS, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let cursor = params.get("cursor").map(str::to_owned);
    let everybodys = params.get("whose") == Some("everybody");
    let page = async { page(&room, id?, everybodys, cursor).await };
    page.await.map_err(|error| room.refusal(&error))
}

async fn page(
    room: &Room<'_>,
    ontology_id: Id<StoredOntology>,
    everybodys: bool,
    cursor: Option<String>,
) -> Result<Response> {
    let standing = standing(room, ontology_id).await?;
    let later = cursor.is_some();
    let (found, problem) = match room.ask(ListQuestions { ontology_id, everybodys, cursor }).await {
        Ok(found) => (found, String::new()),
        Err(error) if Room::is_correctable(&error) => {
            (Questions { questions: Vec::new(), next_cursor: None }, error.message)
        }
        Err(error) => return Err(error),
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = QuestionsPage {
        frame: room.frame().await?,
        head: Head::of(room, &standing),
        here: room.here(),
        found,
        later,
        may_see_all: room.caller.rights.allow(Action::Administer),
        everybodys,
        problem,
    };
    Ok(html::page(status, &page))
}
