//! `/w/{slug}/ask`: a statement in SQL, a question in plain words, or a query over an ontology, and what came of it;
//! `/w/{slug}/ask/history`: what one asked lately.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::ontologies::{self, picture};
use super::table::Shown;
use super::{CSV, Console, Room, Slug, parsed};
use crate::base::id::Id;
use crate::model::access::{Action, denied};
use crate::model::dataset::{Kind, name_from_file};
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::query::Query;
use crate::ops::ask_question::{AskQuestion, Reply};
use crate::ops::export_sql::ExportSql;
use crate::ops::list_datasets::{self, ListDatasets};
use crate::ops::ontologies::{ListOntologies, Listed};
use crate::ops::own_queries::{self, OwnQueries};
use crate::ops::query::RunQuery;
use crate::ops::questions::{Asked, ListQuestions};
use crate::ops::run_sql::{self, RunSql};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::{Frame, Tab};
use crate::surface::form::{Params, Size};
use crate::surface::html::{self, filters};

const PAGE: &str = "/ask";
const HISTORY: &str = "/ask/history";

/// Ontologies whose questions the history shows, and questions of each.
const ONTOLOGIES: usize = 5;
const QUESTIONS: usize = 10;

/// A way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Sql,
    Question,
    Query,
}

impl Mode {
    const ALL: [(Mode, &'static str, &'static str); 3] =
        [(Mode::Sql, "sql", "SQL"), (Mode::Question, "question", "Question"), (Mode::Query, "query", "Query")];

    /// The one that is named; of a statement that comes alone SQL.
    fn of(params: &Params) -> Option<Self> {
        let named = params.get("mode").or_else(|| params.get("sql").map(|_| "sql"));
        Self::ALL.iter().find(|(_, name, _)| Some(*name) == named).map(|(mode, ..)| *mode)
    }
}

/// What a statement gave.
struct Ran {
    table: Shown,
    row_count: usize,
    truncated: bool,
    execution_ms: u64,
    dialect: &'static str,
    tables: Vec<String>,
    chart: Option<String>,
}

impl Ran {
    fn of(reply: run_sql::Reply) -> Result<Self> {
        Ok(Self {
            table: Shown::of(reply.columns, &reply.rows)?,
            row_count: reply.row_count,
            truncated: reply.truncated,
            execution_ms: reply.execution_ms,
            dialect: reply.dialect.name(),
            tables: reply.tables,
            chart: reply.svg.as_deref().map(picture),
        })
    }
}

#[derive(Template)]
#[template(path = "ask.html", config = "src/surface/askama.toml")]
struct AskPage {
    frame: Frame,
    tabs: Vec<Tab>,
    here: String,
    csrf: String,
    csv_csrf: String,
    mode: Mode,
    /// As it was typed.
    sql: String,
    ran: Option<Ran>,
    /// Tables that can be asked.
    tables: Vec<list_datasets::Listed>,
    ontologies: Vec<Listed>,
    /// The ontology that was chosen.
    chosen: String,
    question: String,
    /// The fields of a query, as they were typed.
    typed: Vec<(&'static Field, String)>,
    problem: String,
}

#[derive(Template)]
#[template(path = "ask_history.html", config = "src/surface/askama.toml")]
struct HistoryPage {
    frame: Frame,
    tabs: Vec<Tab>,
    queries: Vec<own_queries::Ran>,
    questions: Vec<(String, Vec<Asked>)>,
}

/// A field of the form for a query.
struct Field {
    name: &'static str,
    label: &'static str,
    example: &'static str,
    /// Several, one a line.
    several: bool,
}

const FIELDS: [Field; 6] = [
    Field { name: "measures", label: "Numbers", example: "revenue, or avg(order.amount)", several: true },
    Field { name: "dimensions", label: "Grouped by", example: "shop.city, or order.day by month", several: true },
    Field { name: "filters", label: "Only where", example: "shop.city = 'Oslo'", several: true },
    Field { name: "time", label: "Time", example: "2013-07, last year, since 2020", several: false },
    Field { name: "order", label: "Sorted by", example: "revenue desc", several: true },
    Field { name: "limit", label: "Rows at most", example: "10", several: false },
];

/// A column of the list, `amount DECIMAL(10,2)`: its name, which may have spaces, and its type, which begins in capitals.
fn split(column: &str) -> (&str, &str) {
    let starts = column.match_indices(' ').map(|(at, _)| at);
    let mut types = starts.filter(|at| {
        let rest = column.get(at + 1..).unwrap_or_default();
        let word: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        word.chars().any(char::is_uppercase)
    });
    let at = types.next_back().or_else(|| column.rfind(' '));
    at.and_then(|at| Some((column.get(..at)?, column.get(at + 1..)?))).unwrap_or((column, ""))
}

fn tabs(room: &Room<'_>, current: &str) -> Vec<Tab> {
    let base = format!("/w/{}", room.membership.org.slug);
    let modes = Mode::ALL.iter().map(|(_, name, label)| (format!("{base}{PAGE}?mode={name}"), *name, *label));
    let all = modes.chain([(format!("{base}{HISTORY}"), "history", "Asked lately")]);
    all.map(|(href, key, name)| Tab { href, name, current: key == current }).collect()
}

/// `GET`; `?sql=` is a statement to begin with.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    page(&room, &params, None).await.map_err(|error| room.refusal(&error))
}

/// `POST`: the statement, the question or the query.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let sent = Room::submit_long::<RunSql>(&console, door, path, PAGE, request, Size::LONG);
    let (room, params) = sent.await?;
    let answered = match Mode::of(&params).unwrap_or(Mode::Sql) {
        Mode::Sql => {
            let sql = params.get("sql").unwrap_or("").to_owned();
            let ran = room.ask(RunSql { sql }).await.and_then(Ran::of);
            page(&room, &params, Some(ran)).await
        }
        Mode::Question => question(&room, &params).await,
        Mode::Query => query(&room, &params).await,
    };
    answered.map_err(|error| room.refusal(&error))
}

async fn question(room: &Room<'_>, params: &Params) -> Result<Response> {
    let ontology_id: Id<StoredOntology> = parsed(params, "ontology_id")?;
    let question = params.get("question").unwrap_or("").replace("\r\n", "\n");
    let op = AskQuestion {
        ontology_id: Some(ontology_id.into()),
        question: question.clone(),
        conversation_id: None,
        image: false,
    };
    let reply = room.ask(op).await;
    told(room, params, ontology_id, question, reply).await
}

async fn query(room: &Room<'_>, params: &Params) -> Result<Response> {
    let ontology_id: Id<StoredOntology> = parsed(params, "ontology_id")?;
    let lines = |name: &str| -> Vec<String> {
        let lines = params.get(name).unwrap_or("").lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let limit = params.get("limit").map(|limit| limit.trim().parse());
    let limit = limit.transpose().map_err(|_| Error::invalid("limit", "Rows at most is a whole number."));
    let query = limit.map(|limit| Query {
        measures: lines("measures"),
        dimensions: lines("dimensions"),
        filters: lines("filters"),
        time: lines("time").pop(),
        order: lines("order"),
        limit,
        ..Query::default()
    });
    let query = match query {
        Ok(query) if query != Query::default() => query,
        Ok(_) => {
            let problem = Error::invalid("measures", "Say which numbers you want, or what to group by.");
            return page(room, params, Some(Err(problem))).await;
        }
        Err(problem) => return page(room, params, Some(Err(problem))).await,
    };
    let asked = [lines("measures"), lines("dimensions")].concat().join(", ");
    let op = RunQuery { ontology_id: Some(ontology_id.into()), image: false, query };
    let reply = room.ask(op).await;
    told(room, params, ontology_id, asked, reply).await
}

/// The page of the answer, where the conversation goes on; or this one again, with what was wrong.
async fn told(
    room: &Room<'_>,
    params: &Params,
    ontology_id: Id<StoredOntology>,
    asked: String,
    reply: Result<Reply>,
) -> Result<Response> {
    match reply {
        Ok(reply) => ontologies::ask::answered(room, ontology_id, asked, reply).await,
        Err(problem) => page(room, params, Some(Err(problem))).await,
    }
}

/// Errors that a person cannot do anything about in the form are pages of their own.
fn is_told_elsewhere(error: &Error) -> bool {
    matches!(error.code, Code::InternalError | Code::ScopeDenied)
}

async fn page(room: &Room<'_>, params: &Params, ran: Option<Result<Ran>>) -> Result<Response> {
    // Who may not ask is told so before they have typed.
    if !room.caller.rights.allow(Action::RunSql) {
        return Err(denied(&room.caller, Action::RunSql));
    }
    let named = Mode::of(params);
    let ontologies = match named {
        Some(Mode::Sql) => Vec::new(),
        Some(Mode::Question | Mode::Query) | None => room.ask(ListOntologies {}).await?.ontologies,
    };
    // Plain words first, where something understands them.
    let mode = named.unwrap_or(if ontologies.is_empty() { Mode::Sql } else { Mode::Question });
    let text = |name: &str| params.get(name).unwrap_or("").replace("\r\n", "\n");
    let (ran, problem) = match ran {
        None => (None, String::new()),
        Some(Ok(ran)) => (Some(ran), String::new()),
        Some(Err(error)) if is_told_elsewhere(&error) => return Err(error),
        Some(Err(error)) => (None, error.message),
    };
    let tables = match mode {
        Mode::Sql => room.ask(ListDatasets::default()).await?.datasets,
        Mode::Question | Mode::Query => Vec::new(),
    };
    let current = Mode::ALL.iter().find(|(one, ..)| *one == mode).map_or("", |(_, name, _)| *name);
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = AskPage {
        frame: room.frame().await?,
        tabs: tabs(room, current),
        here: format!("/w/{}{PAGE}", room.membership.org.slug),
        csrf: room.csrf(),
        csv_csrf: room.csrf_at(CSV),
        mode,
        sql: text("sql"),
        ran,
        tables: tables.into_iter().filter(|table| table.r#type == Kind::Table).collect(),
        chosen: text("ontology_id"),
        ontologies,
        question: text("question"),
        typed: FIELDS.iter().map(|field| (field, text(field.name))).collect(),
        problem,
    };
    Ok(html::page_with_script(status, &page))
}

/// `GET /ask/history`.
pub async fn history(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let room = Room::enter(&console, door, path, HISTORY, request).await?;
    lately(&room).await.map_err(|error| room.refusal(&error))
}

async fn lately(room: &Room<'_>) -> Result<Response> {
    let queries = room.ask(OwnQueries {}).await?.queries;
    let mut questions = Vec::new();
    for ontology in room.ask(ListOntologies {}).await?.ontologies.into_iter().take(ONTOLOGIES) {
        let op = ListQuestions { ontology_id: ontology.id, everybodys: false, cursor: None };
        let mut asked = room.ask(op).await?.questions;
        asked.truncate(QUESTIONS);
        if !asked.is_empty() {
            questions.push((ontology.name, asked));
        }
    }
    let page = HistoryPage { frame: room.frame_below(PAGE).await?, tabs: tabs(room, "history"), queries, questions };
    Ok(html::page(StatusCode::OK, &page))
}

/// `POST /ask/csv`: the rows of a statement as a file; those of an answer by the statement that it was made with.
pub async fn csv(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let sent = Room::submit_long::<ExportSql>(&console, door, path, CSV, request, Size::LONG);
    let (room, params) = sent.await?;
    let sql = params.get("sql").unwrap_or("").to_owned();
    let file = room.ask(ExportSql { sql }).await.map_err(|error| room.refusal(&error))?;
    let name = params.get("name").map_or_else(|| "answer".to_owned(), name_from_file);
    // Who opens the file has to know that it is not all. The statement of an answer asks for one row more than an
    // answer has.
    let most = room.console.web.config.limits.budgets.ask_rows;
    let is_cut = file.truncated || (params.get("of") == Some("answer") && file.row_count > most);
    let name = if is_cut { format!("{name}-first-{}-rows", file.row_count) } else { name };
    let mut response = file.csv.into_response();
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    put(header::CONTENT_TYPE, "text/csv; charset=utf-8");
    put(header::CACHE_CONTROL, "no-store");
    put(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}.csv\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}
