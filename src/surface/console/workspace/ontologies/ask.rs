//! `/w/{slug}/ontologies/{id}/ask`: a question in plain words, its answer, and the questions that follow it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use super::narrative::{self, Block};
use super::{ASK, Head, id, picture, standing};
use crate::base::id::Id;
use crate::gateway::operation::Question;
use crate::model::chart::ChartSpec;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Status, StoredOntology};
use crate::model::run::{Ending, Memory, Run};
use crate::ops::ask_question::{AskQuestion, Reply, Shown};
use crate::ops::ontology_texts::Standing;
use crate::ops::questions::ListQuestions;
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{CSV, Console, Room, Slug};
use crate::surface::form::{Params, Size};
use crate::surface::html;

/// Rows that a narrative shows itself.
const TOLD_ROWS: usize = 20;
/// Earlier questions that the page keeps in sight.
const EARLIER: usize = 8;
/// Characters of an earlier question that are kept in sight.
const CARRIED: usize = 200;
/// Questions of others that are offered to begin with.
const LATELY: usize = 5;

/// A picture of an answer.
struct Chart {
    source: String,
    says: String,
}

/// An answer as the page shows it.
struct Answer {
    reply: Reply,
    told: Vec<Block>,
    charts: Vec<Chart>,
    /// The form of the trace's page.
    trace_csrf: String,
    trace: String,
    /// What is asked back.
    open: Vec<Question>,
    rest: Option<Rest>,
    /// The form of its rows as a file.
    csv_csrf: String,
}

/// The rows of an answer whose narrative does not show them all.
struct Rest {
    columns: Vec<String>,
    /// With whether it is a number.
    rows: Vec<Vec<(String, bool)>>,
    row_count: usize,
    truncated: bool,
}

/// A question before this one.
struct Earlier {
    text: String,
    /// Of its trace.
    href: String,
}

#[derive(Template)]
#[template(path = "ontology_ask.html", config = "src/surface/askama.toml")]
struct AskPage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    standing: Standing,
    conversation: String,
    earlier: Vec<Earlier>,
    /// What was asked now.
    asked: String,
    answer: Option<Answer>,
    /// What stands in the box: a question that failed.
    draft: String,
    /// What the next form says of the conversation: a trace's id and the question, for each.
    carried: Vec<String>,
    /// Something was chosen in this conversation, and by the next form.
    chose: bool,
    choosing: bool,
    /// Above the box.
    label: &'static str,
    lately: Vec<String>,
    problem: String,
}

impl Answer {
    fn of(room: &Room<'_>, mut reply: Reply) -> Self {
        let said = reply.chart_specs.iter().flat_map(|specs| &specs.charts);
        let says = |spec: Option<&ChartSpec>| spec.map_or("Chart", |spec| spec.title.as_str()).to_owned();
        let mut said = said.map(Some).chain(std::iter::repeat(None));
        let charts = reply.svg.iter().map(|svg| Chart { source: picture(svg), says: says(said.next().flatten()) });
        let place = format!("/questions/{}", reply.trace_id);
        Self {
            charts: charts.collect(),
            told: narrative::read(&reply.narrative),
            trace_csrf: room.csrf_at(&place),
            csv_csrf: room.csrf_at(CSV),
            trace: format!("/w/{}{place}", room.membership.org.slug),
            open: reply.clarification_request.take().map(|asked| asked.questions).unwrap_or_default(),
            rest: reply.table.take().filter(|table| table.row_count > TOLD_ROWS).map(Rest::of),
            reply,
        }
    }
}

impl Rest {
    fn of(table: Shown) -> Self {
        let row = |row: Vec<Value>| row.iter().map(|value| (text(value), value.is_number())).collect();
        Self {
            columns: table.columns.into_iter().map(|column| column.name).collect(),
            rows: table.rows.into_iter().map(row).collect(),
            row_count: table.row_count,
            truncated: table.truncated,
        }
    }
}

/// A value of the answer as text.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// `GET`; `?conversation=` goes on with one.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, ASK, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let page = async { page(&room, id?, &params, None).await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: the question.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let sent = Room::submit_long::<AskQuestion>(&console, door, path, ASK, request, Size::LONG);
    let (room, params) = sent.await?;
    let answered = async {
        let ontology_id = Some(id.clone()?.into());
        let conversation_id = params.get("conversation").and_then(|id| id.parse().ok());
        let op = AskQuestion { ontology_id, question: question(&params), conversation_id, image: false };
        room.ask(op).await
    };
    let answered = match answered.await {
        Err(error) if is_told_elsewhere(&error) => return Err(room.refusal(&error)),
        answered => answered,
    };
    let page = async { page(&room, id?, &params, Some(answered)).await };
    page.await.map_err(|error| room.refusal(&error))
}

/// The page of an answer to what was asked elsewhere; from here on it is a conversation of this ontology.
pub(in crate::surface::console::workspace) async fn answered(
    room: &Room<'_>,
    ontology_id: Id<StoredOntology>,
    asked: String,
    reply: Reply,
) -> Result<Response> {
    let room = room.at(ASK, ASK.replace("{id}", &ontology_id.to_string()));
    page(&room, ontology_id, &Params::of([("question", asked)]), Some(Ok(reply))).await
}

/// Whether the page has nothing to say beside it.
fn is_told_elsewhere(error: &Error) -> bool {
    matches!(error.code, Code::InternalError | Code::OntologyNotFound | Code::ScopeDenied)
}

/// What was typed, or what was chosen of each question back, one a line.
fn question(params: &Params) -> String {
    if let Some(question) = params.get("question").or(params.get("answer")) {
        return question.replace("\r\n", "\n");
    }
    let chosen =
        ["answer1", "answer2", "answer3", "answer4", "answer5"].into_iter().filter_map(|name| params.get(name));
    chosen.collect::<Vec<_>>().join("\n")
}

async fn page(
    room: &Room<'_>,
    ontology_id: Id<StoredOntology>,
    params: &Params,
    answered: Option<Result<Reply>>,
) -> Result<Response> {
    let standing = standing(room, ontology_id).await?;
    let chose = params.get("chose") == Some("1");
    let mut carried: Vec<String> = params.all("earlier").map(str::to_owned).collect();
    carried.drain(..carried.len().saturating_sub(EARLIER));
    let mut page = AskPage {
        frame: room.frame().await?,
        head: Head::of(room, &standing),
        here: room.here(),
        csrf: room.csrf(),
        standing,
        conversation: params.get("conversation").unwrap_or("").to_owned(),
        earlier: earlier(room, &carried),
        carried,
        asked: question(params),
        answer: None,
        draft: String::new(),
        chose,
        choosing: chose,
        label: if params.get("conversation").is_none() { "Your question" } else { "Go on" },
        lately: Vec::new(),
        problem: String::new(),
    };
    let mut status = StatusCode::OK;
    match answered {
        None => {
            page.draft = std::mem::take(&mut page.asked);
            page.lately = if page.conversation.is_empty() { lately(room, ontology_id).await? } else { Vec::new() };
        }
        Some(Ok(reply)) => {
            page.conversation = reply.conversation_id.to_string();
            let said: String = page.asked.chars().take(CARRIED).map(|c| if c == '\n' { ' ' } else { c }).collect();
            page.carried.push(format!("{} {said}", reply.trace_id));
            let answer = Answer::of(room, reply);
            page.choosing |= !answer.open.is_empty();
            page.label = if answer.open.is_empty() { "Go on" } else { "Or in your own words" };
            page.answer = Some(answer);
        }
        Some(Err(error)) => {
            status = StatusCode::UNPROCESSABLE_ENTITY;
            page.draft = std::mem::take(&mut page.asked);
            page.problem = error.message;
        }
    }
    Ok(html::page_with_script(status, &page))
}

/// The questions before this one, as the form carried them. They are shown, and nothing else rests on them.
fn earlier(room: &Room<'_>, carried: &[String]) -> Vec<Earlier> {
    let read = |carried: &String| {
        let (id, text) = carried.split_once(' ')?;
        let id: Id<Run> = id.parse().ok()?;
        let href = format!("/w/{}/questions/{id}", room.membership.org.slug);
        Some(Earlier { text: text.to_owned(), href })
    };
    carried.iter().filter_map(read).collect()
}

/// Questions that were answered lately, each once.
async fn lately(room: &Room<'_>, ontology_id: Id<StoredOntology>) -> Result<Vec<String>> {
    let found = room.ask(ListQuestions { ontology_id, everybodys: false, cursor: None }).await?;
    let mut lately: Vec<String> = Vec::new();
    for asked in found.questions.into_iter().filter(|asked| asked.outcome == Ending::Answer) {
        let is_short = asked.question.chars().count() <= 120;
        if is_short && lately.len() < LATELY && !lately.contains(&asked.question) {
            lately.push(asked.question);
        }
    }
    Ok(lately)
}
