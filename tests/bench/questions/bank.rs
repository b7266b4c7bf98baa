//! The question sets: loaded into a workspace of their own, asked through the gateway, judged by reference SQL that runs
//! in the same engine. README.md says what counts as right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman::app::App;
use dragoman::base::clock::Clock;
use dragoman::config::Config;
use dragoman::engine::agent::english::English;
use dragoman::engine::agent::planner::{Context, FieldValues, Learnt, Planner, View};
use dragoman::engine::ontology::graph::Graph;
use dragoman::gateway::operation::Operation;
use dragoman::gateway::{Gateway, Via};
use dragoman::model::access::{ExtScope, Rights, Role};
use dragoman::model::caller::{Caller, Client, Proof};
use dragoman::model::ontology::{Ontology, OntologyRef};
use dragoman::model::org::Org;
use dragoman::model::reading::Outcome;
use dragoman::ops::ask_question::AskQuestion;
use dragoman::ops::draft_ontology::DraftOntology;
use dragoman::ops::import::{Import, Staged};
use dragoman::ops::ontology_texts::{CheckOntology, CreateOntology};
use dragoman::ops::sql::Sql;
use serde::Deserialize;
use serde_json::Value;

#[path = "judge.rs"]
pub mod judge;

use judge::{Kind, Verdict, matches};

/// The sets by the names of their folders.
pub const SETS: [&str; 6] = ["acme", "flights", "chinook", "sakila", "tpch", "traps"];

/// A question file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bank {
    /// When the questions are asked.
    now: String,
    /// In which days begin; a draft is told so, as nothing in tables says it.
    timezone: String,
    /// The folder of the tables, below the project's.
    data: String,
    /// The ontology's file, below the project's; beside the questions when absent.
    #[serde(default)]
    ontology: Option<String>,
    questions: Vec<Question>,
}

/// One question and what is right.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub id: String,
    pub question: String,
    pub kind: Kind,
    #[serde(rename = "class")]
    _class: Vec<String>,
    #[serde(default)]
    sql: Option<String>,
    #[serde(default)]
    sqls: Vec<String>,
    #[serde(default)]
    ordered: bool,
    /// The question before it in its conversation.
    #[serde(default)]
    after: Option<String>,
    #[serde(default, rename = "why")]
    _why: Option<String>,
}

impl Question {
    /// Whether it is of a series that was written by somebody who did not know how questions are understood, and asked
    /// when it was finished: the letter of its number says so.
    pub fn is_unseen(&self) -> bool {
        self.id.split('-').nth(1).is_some_and(|number| number.starts_with(['h', 'k', 'm']))
    }
}

/// How a question was answered.
pub struct Asked {
    pub question: Question,
    pub verdict: Verdict,
    pub took: Duration,
    /// The answer in short, for those that are not right.
    pub said: String,
    /// All of the answer, without what is new each time.
    pub whole: Value,
}

/// Which ontology is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum With {
    /// The one that the data's steward wrote.
    Steward,
    /// One drafted from the tables, unedited.
    Draft,
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/questions")
}

struct Place {
    gateway: std::sync::Arc<Gateway>,
    caller: Caller,
}

impl Place {
    async fn call<O: Operation>(&self, op: O) -> Result<Value, dragoman::model::error::Error> {
        let answered = self.gateway.call(&self.caller, op, Via::new("admin.call")).await?;
        Ok(serde_json::to_value(answered).unwrap())
    }
}

/// Loads a set and asks all its questions, in their order.
pub async fn run(set: &str, with: With) -> Vec<Asked> {
    run_some(set, with, |_| true).await
}

/// As [`run`], only some of the questions. One that follows another needs that other.
pub async fn run_some(set: &str, with: With, is_asked: impl Fn(&Question) -> bool) -> Vec<Asked> {
    let bank = read(set);
    let folder = tempfile::tempdir().unwrap();
    let now: jiff::Timestamp = bank.now.parse().unwrap();
    let app = open(folder.path(), Clock::manual(now.as_millisecond())).await;
    let org = app.office.identity.create_org("bench", "Bench").await.unwrap();
    let place = Place { gateway: app.gateway.clone(), caller: operator(&org) };
    let ontology = load(&place, &bank, set, with).await;
    let mut conversations: BTreeMap<String, Value> = BTreeMap::new();
    let mut all = Vec::new();
    for question in bank.questions.into_iter().filter(is_asked) {
        let conversation_id = question.after.as_ref().and_then(|id| conversations.get(id)).map(id_of);
        let op = AskQuestion {
            ontology_id: Some(OntologyRef::Id(id_of(&ontology))),
            question: question.question.clone(),
            conversation_id,
            image: false,
        };
        let started = Instant::now();
        let reply = place.gateway.call(&place.caller, op, Via::new("admin.call")).await;
        let took = started.elapsed();
        let (verdict, said, whole) = match reply {
            Ok(answered) => {
                let pictures = answered.reply.svg.clone();
                let reply = serde_json::to_value(answered).unwrap();
                conversations.insert(question.id.clone(), reply["conversationId"].clone());
                (judge(&place, &question, &reply).await, said(&reply), lasting(reply, pictures))
            }
            Err(error) => (Verdict::Silent, format!("error {:?}: {error}", error.code), error.message.into()),
        };
        all.push(Asked { question, verdict, took, said, whole });
    }
    drop(place);
    app.close().await;
    all
}

fn read(set: &str) -> Bank {
    let text = std::fs::read_to_string(here().join(set).join("questions.yaml")).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|problem| panic!("{set}: {problem}"))
}

/// Imports a set's tables, and makes its ontology ready.
async fn load(place: &Place, bank: &Bank, set: &str, with: With) -> Value {
    for file in tables(&Path::new(env!("CARGO_MANIFEST_DIR")).join(&bank.data)) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let files = vec![Staged { name, path: file }];
        place.call(Import { publish: true, files, ..Import::default() }).await.unwrap();
    }
    install(place, bank, set, with, &steward(bank, set)).await
}

/// The file of a set's ontology.
fn steward(bank: &Bank, set: &str) -> PathBuf {
    match &bank.ontology {
        Some(file) => Path::new(env!("CARGO_MANIFEST_DIR")).join(file),
        None => here().join(set).join("ontology.yaml"),
    }
}

/// A set as it is offered to clients at an address, and the token for it.
pub async fn offered(set: &str, with: With, folder: &Path, listen: &str) -> (App, String) {
    let bank = read(set);
    let now: jiff::Timestamp = bank.now.parse().unwrap();
    let app = open_on(folder, Clock::manual(now.as_millisecond()), listen).await;
    let identity = &app.office.identity;
    let org = identity.create_org(set, set).await.unwrap();
    identity.set_connectivity(org.id, true).await.unwrap();
    let (_, token) = identity.create_token(org.id, "bench", &ExtScope::ALL, None).await.unwrap();
    let token = token.expose().to_owned();
    load(&Place { gateway: app.gateway.clone(), caller: operator(&org) }, &bank, set, with).await;
    (app, token)
}

/// What a model that is a client did with a question, as `desk.mjs` records it.
#[derive(Clone, Debug, Deserialize)]
pub struct Played {
    pub set: String,
    pub with: With,
    /// Which tools it had: `all`, `sql` or `ask`.
    pub tools: String,
    /// The question's id.
    pub question: String,
    pub calls: Vec<Call>,
    pub outcome: Said,
}

/// A call of a tool.
#[derive(Clone, Debug, Deserialize)]
pub struct Call {
    pub tool: String,
    pub arguments: Value,
    /// Of the reply, as the model read it.
    pub bytes: usize,
}

/// What a model told the person.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The rows of that call's reply.
    Call(usize),
    /// Rows that it made of several replies.
    Rows(Vec<Vec<Value>>),
    /// It asked back.
    Asked(String),
    /// It said that there is no answer.
    Declined(String),
}

/// Judges what was played with a set: the calls that gave answers are made again. Those of questions that the set does
/// not have are left out.
pub async fn judged(set: &str, with: With, played: &[Played]) -> Vec<(Played, Verdict)> {
    let bank = read(set);
    let folder = tempfile::tempdir().unwrap();
    let now: jiff::Timestamp = bank.now.parse().unwrap();
    let app = open(folder.path(), Clock::manual(now.as_millisecond())).await;
    let org = app.office.identity.create_org("bench", "Bench").await.unwrap();
    let place = Place { gateway: app.gateway.clone(), caller: operator(&org) };
    load(&place, &bank, set, with).await;
    let mut all = Vec::new();
    for one in played.iter().filter(|it| it.set == set && it.with == with) {
        let Some(question) = bank.questions.iter().find(|it| it.id == one.question) else { continue };
        let answer = match &one.outcome {
            Said::Asked(_) => Err(question.kind.asked_back()),
            Said::Declined(_) => Err(question.kind.declined()),
            Said::Rows(rows) => Ok(rows.clone()),
            Said::Call(number) => replayed(&place, &one.calls[*number]).await.ok_or(Verdict::Silent),
        };
        let verdict = match answer {
            Err(verdict) => verdict,
            Ok(answer) if question.kind.has_answer() && is_right(&place, question, &answer).await => Verdict::Right,
            Ok(answer) if answer.is_empty() && !question.kind.has_answer() => question.kind.declined(),
            Ok(_) => Verdict::Wrong,
        };
        all.push((one.clone(), verdict));
    }
    drop(place);
    app.close().await;
    all
}

/// The rows of a call that is made again; `None` where it was refused. Ids are of the service that it was made to: here
/// there is one ontology.
async fn replayed(place: &Place, call: &Call) -> Option<Vec<Vec<Value>>> {
    type Again<'a> = futures_util::future::BoxFuture<'a, Option<Value>>;
    struct Named<'a>(&'a Place, &'a Call, Option<Again<'a>>);
    impl dragoman::ops::Visitor for Named<'_> {
        fn visit<O: Operation>(&mut self) {
            let Self(place, call, again) = self;
            if O::INFO.name == call.tool {
                let mut arguments = call.arguments.clone();
                for of_then in ["ontologyId", "dataset_id", "conversationId"] {
                    arguments.as_object_mut().unwrap().remove(of_then);
                }
                let (place, op) = (*place, serde_json::from_value::<O>(arguments));
                *again = Some(Box::pin(async move {
                    match op {
                        Ok(op) => place.call(op).await.ok(),
                        Err(problem) => panic!("{}: {problem}", O::INFO.name),
                    }
                }));
            }
        }
    }
    let mut named = Named(place, call, None);
    dragoman::ops::each(&mut named);
    let reply = named.2.unwrap_or_else(|| panic!("no tool is called {}", call.tool)).await?;
    let table = if reply["table"].is_null() { &reply } else { &reply["table"] };
    table["rows"].is_array().then(|| rows(&table["rows"]))
}

/// A workspace with the flights and their ontology.
pub async fn demo(app: &App) -> (Org, Value) {
    let org = app.office.identity.create_org("bench", "Bench").await.unwrap();
    let place = Place { gateway: app.gateway.clone(), caller: operator(&org) };
    let ontology = load(&place, &read("flights"), "flights", With::Steward).await;
    (org, ontology)
}

/// One set as the planner knows it.
pub struct Reader {
    pub ontology: Arc<Ontology>,
    pub graph: Arc<Graph>,
    pub values: Vec<FieldValues>,
    pub learnt: Learnt,
    pub now: jiff::civil::DateTime,
    /// Those that stand alone.
    pub questions: Vec<String>,
}

impl Reader {
    pub fn view(&self) -> View<'_> {
        View { ontology: &self.ontology, graph: &self.graph, values: &self.values, learnt: &self.learnt }
    }

    /// Reads a question that stands alone.
    pub fn read(&self, question: &str) -> Outcome {
        let default_window = self.ontology.default_time_window.clone();
        English.read(question, &self.view(), &Context { now: self.now, default_window, ..Context::default() })
    }
}

/// A set as the planner knows it: its ontology with the values of its tables.
pub async fn reader(set: &str) -> Reader {
    let bank = read(set);
    let folder = tempfile::tempdir().unwrap();
    let now: jiff::Timestamp = bank.now.parse().unwrap();
    let app = open(folder.path(), Clock::manual(now.as_millisecond())).await;
    let org = app.office.identity.create_org("bench", "Bench").await.unwrap();
    let place = Place { gateway: app.gateway.clone(), caller: operator(&org) };
    load(&place, &bank, set, With::Steward).await;
    let text = std::fs::read_to_string(steward(&bank, set)).unwrap();
    let ontology = dragoman::engine::ontology::read::read(&text).unwrap().ontology;
    let mut values: Vec<FieldValues> = Vec::new();
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        for field in entity.fields.iter().filter(|field| field.index_values && !field.hidden) {
            let (expression, dataset) = (&field.expression, &entity.name);
            let sql = format!(
                "SELECT DISTINCT CAST({expression} AS VARCHAR) FROM (SELECT * FROM {}) AS {dataset} \
                 WHERE {expression} IS NOT NULL ORDER BY 1",
                entity.source
            );
            let found = place.call(Sql { sql, dataset_id: None, cursor: None }).await.unwrap();
            let rows: Vec<Vec<Value>> = serde_json::from_value(found["rows"].clone()).unwrap();
            values.push(FieldValues {
                dataset: entity.name.clone(),
                field: field.name.clone(),
                values: rows.iter().filter_map(|row| row.first()?.as_str().map(str::to_owned)).collect(),
                complete: found["truncated"] == false,
            });
        }
    }
    drop(place);
    app.close().await;
    let zone = jiff::tz::TimeZone::get(&bank.timezone).unwrap();
    let alone = bank.questions.into_iter().filter(|question| question.after.is_none());
    Reader {
        learnt: English.learn(&ontology, &values),
        graph: Arc::new(Graph::new(&ontology)),
        ontology: Arc::new(ontology),
        values,
        now: now.to_zoned(zone).datetime(),
        questions: alone.map(|question| question.question).collect(),
    }
}

fn id_of<T>(id: &Value) -> dragoman::base::id::Id<T> {
    id.as_str().unwrap().parse().unwrap()
}

async fn install(place: &Place, bank: &Bank, set: &str, with: With, steward: &Path) -> Value {
    let text = match with {
        With::Steward => std::fs::read_to_string(steward).unwrap(),
        With::Draft => {
            let timezone = Some(bank.timezone.clone());
            let op = DraftOntology { name: set.into(), timezone, ..DraftOntology::default() };
            place.call(op).await.unwrap()["text"].as_str().unwrap().to_owned()
        }
    };
    let saved = place.call(CreateOntology { text, summary: String::new() }).await.unwrap();
    let id = saved["ontology"]["ontology_id"].clone();
    let checked = place.call(CheckOntology { ontology_id: id_of(&id) }).await.unwrap();
    assert_eq!(checked["ontology"]["status"], "ready", "{set}: {}", checked["ontology"]["problem"]);
    id
}

/// `answer`, `clarify` and `decline` against what was expected.
async fn judge(place: &Place, question: &Question, reply: &Value) -> Verdict {
    match reply["outcome"].as_str().unwrap() {
        "clarification" => question.kind.asked_back(),
        "cannot_answer" => question.kind.declined(),
        // An answer without a row says that there is nothing.
        _ if reply["table"]["rowCount"] == 0 && !question.kind.has_answer() => question.kind.declined(),
        _ if !question.kind.has_answer() => Verdict::Wrong,
        _ => {
            let answer = rows(&reply["table"]["rows"]);
            match is_right(place, question, &answer).await {
                true => Verdict::Right,
                false if answer.is_empty() => Verdict::Silent,
                false => Verdict::Wrong,
            }
        }
    }
}

/// Whether rows are what one of the question's references gives.
async fn is_right(place: &Place, question: &Question, answer: &[Vec<Value>]) -> bool {
    for sql in question.sql.iter().chain(&question.sqls) {
        let reference = place.call(Sql { sql: sql.clone(), dataset_id: None, cursor: None }).await;
        let reference = reference.unwrap_or_else(|error| panic!("{}: {error} {}", question.id, error.details));
        assert_eq!(reference["truncated"], false, "{}: the reference has too many rows", question.id);
        if matches(&rows(&reference["rows"]), answer, question.ordered) {
            return true;
        }
    }
    false
}

fn rows(of: &Value) -> Vec<Vec<Value>> {
    serde_json::from_value(of.clone()).unwrap()
}

/// A reply without its identifiers and times, with its pictures.
fn lasting(mut reply: Value, pictures: Vec<String>) -> Value {
    if let Some(reply) = reply.as_object_mut() {
        if !pictures.is_empty() {
            reply.insert("_svg".into(), pictures.into());
        }
        for new in ["conversationId", "traceId", "request_id"] {
            reply.remove(new);
        }
    }
    reply
}

fn said(reply: &Value) -> String {
    let narrative = reply["narrative"].as_str().unwrap_or_default();
    let read = narrative.lines().find(|line| line.starts_with("_Read as")).unwrap_or_default();
    let first = narrative.lines().next().unwrap_or_default();
    let options = reply["clarificationRequest"]["questions"][0]["suggestions"].to_string();
    let options = if options == "null" { String::new() } else { options };
    format!("{} | {first} {read} {options}", reply["outcome"].as_str().unwrap_or_default())
}

fn tables(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_table = |path: &PathBuf| path.extension().is_some_and(|it| it == "csv" || it == "parquet");
    let mut tables: Vec<PathBuf> = files.filter(is_table).collect();
    tables.sort();
    tables
}

async fn open(folder: &Path, clock: Clock) -> App {
    open_on(folder, clock, "127.0.0.1:0").await
}

/// The service with limits that measuring does not meet, as it would listen there.
async fn open_on(folder: &Path, clock: Clock, listen: &str) -> App {
    let config = Config::read(|name| match name {
        "DRAGOMAN_LISTEN" => Some(listen.into()),
        "DRAGOMAN_DATA_DIR" => Some(folder.display().to_string()),
        "DRAGOMAN_ADMIN_LISTEN" => Some("off".into()),
        "DRAGOMAN_EXT_RATE_TOKEN"
        | "DRAGOMAN_EXT_RATE_SQL"
        | "DRAGOMAN_EXT_RATE_ASK"
        | "DRAGOMAN_CLIENT_RATE_CALLS"
        | "DRAGOMAN_CLIENT_RATE_SQL"
        | "DRAGOMAN_CLIENT_RATE_ASK"
        | "DRAGOMAN_EXT_RATE_WORKSPACE"
        | "DRAGOMAN_EXT_RATE_REQUESTS" => Some("100000".into()),
        "DRAGOMAN_SQL_ROWS" => Some("10000".into()),
        // The whole table of an answer is compared.
        "DRAGOMAN_REPLY_BYTES" => Some("10000000".into()),
        _ => None,
    });
    App::open_with_worker(config.unwrap(), clock, env!("CARGO_BIN_EXE_dragoman").into()).await.unwrap()
}

pub fn operator(org: &Org) -> Caller {
    Caller {
        org: org.id,
        user: None,
        role: Role::Admin,
        rights: Rights::of_role(Role::Admin),
        proof: Proof::Local,
        client: Client::default(),
        session: None,
        ip: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        request_id: "bench".into(),
    }
}
