//! Calls that their client gives up, in both eras: what they had begun stops, and not only the answer. So it is when the
//! service ends.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Json, Router};
use dragoman::gateway::Via;
use dragoman::model::audit::Entry;
use dragoman::model::error::Code;
use dragoman::model::org::Org;
use dragoman::ops::sql::Sql;
use dragoman::store::{self, Db};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::models::provider::Held;
use crate::news::Messages;
use crate::sessions::{open, send};
use crate::support::program::{command, free_port};
use crate::support::service::{Service, json_of, operator};

/// Longer than any test.
const ENDLESS: &str = "SELECT count(*) FROM range(100000000000) a, range(1000) b";

/// Waits until so many calls of a tool are on the record that did not end well.
pub async fn stopped(service: &Service, org: &Org, tool: &str, count: usize) {
    let recorded = async {
        loop {
            let entries = store::audit::newest(&service.db, Some(org.id), 100).await.unwrap().into_iter();
            let calls = entries.filter(|(_, entry)| entry.target.starts_with(tool) && entry.outcome != "ok");
            let outcomes: Vec<String> = calls.map(|(_, entry)| entry.outcome).collect();
            if outcomes.len() >= count {
                assert!(outcomes.iter().all(|outcome| outcome.ends_with("_timeout")), "{outcomes:?}");
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), recorded).await.expect("the calls are not on the record");
}

/// A call that wants to hear how far it is.
fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } })
}

fn sql(sql: &str) -> Value {
    call("dragoman_sql", json!({ "sql": sql }))
}

/// The answer to such a call of the revision without sessions, as it comes.
pub async fn listening(service: &Service, token: &str, call: Value) -> Messages {
    let mut request = service.rpc(token, "tools/call", call).build().unwrap();
    let mut body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
    body["params"]["_meta"]["progressToken"] = "p".into();
    *request.body_mut() = Some(body.to_string().into());
    Messages::of(service.http.execute(request).await.unwrap())
}

/// Reads progress, whose values rise and stay below the whole, until it has these words.
pub async fn until(told: &mut Messages, words: &str) {
    let mut reached = 0.0;
    loop {
        let message = told.next().await.expect("the stream ended");
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("p"))
        );
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > reached && progress < 1.0, "{reached}: {message}");
        reached = progress;
        if message["params"]["message"].as_str().unwrap().contains(words) {
            return;
        }
    }
}

/// Reads to the end of a stream whose call was given up.
async fn unanswered(mut told: Messages) {
    while let Some(message) = told.next().await {
        assert!(message.get("id").is_none(), "no answer after a cancellation: {message}");
    }
}

/// Gives up a call in a session (2025-11-25, cancellation).
pub async fn cancel(service: &Service, token: &str, session: &str, id: &Value) {
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    assert_eq!(send(service, token, Some(session), cancelled).await.status(), 202);
}

/// Somebody else's query, which waits for the one place that there is.
fn waiting(service: &Service, token: &str) -> JoinHandle<(u16, Value)> {
    let request = service.rpc(token, "tools/call", sql("SELECT 1 AS one"));
    tokio::spawn(async move { json_of(request.send().await.unwrap()).await })
}

/// One that waits, because the endless query holds the place by then. Not for long: after five seconds the endless one
/// would give way to it.
async fn behind(service: &Service, token: &str) -> JoinHandle<(u16, Value)> {
    for _ in 0..20 {
        let mut next = waiting(service, token);
        if tokio::time::timeout(Duration::from_secs(1), &mut next).await.is_err() {
            return next;
        }
    }
    panic!("the endless query never began");
}

async fn is_answered(waiting: JoinHandle<(u16, Value)>) {
    let answered = tokio::time::timeout(Duration::from_secs(30), waiting).await;
    let (status, body) = answered.expect("the endless query still holds the place").unwrap();
    assert_eq!((status, &body["result"]["structuredContent"]["rows"]), (200, &json!([[1]])), "{body}");
}

/// The next query has the place long before the time of the endless one is over: its worker was stopped.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_is_given_up_stops_in_both_eras() {
    let service = Service::with(&[
        ("DRAGOMAN_SQL_SECONDS", "600"),
        ("DRAGOMAN_SQL_WORKERS", "1"),
        ("DRAGOMAN_SQL_KNOWN_MB", "0"),
    ])
    .await;
    let org = service.workspace("acme").await;
    let (token, other) = (service.token(&org).await, service.token(&org).await);

    eprintln!("sessions");
    let session = open(&service, &token).await;
    let endless = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": sql(ENDLESS) });
    let mut slow = Messages::of(send(&service, &token, Some(&session), endless).await);
    until(&mut slow, "Waiting for a worker").await;
    until(&mut slow, "Running the query").await;
    // Another's session, and an id that is none, stop nothing.
    let foreign = open(&service, &other).await;
    cancel(&service, &other, &foreign, &json!(5)).await;
    cancel(&service, &token, &session, &json!("5")).await;
    let next = behind(&service, &other).await;
    cancel(&service, &token, &session, &json!(5)).await;
    is_answered(next).await;
    stopped(&service, &org, "dragoman_sql", 1).await;
    unanswered(slow).await;

    eprintln!("stateless");
    let mut slow = listening(&service, &token, sql(ENDLESS)).await;
    until(&mut slow, "Running the query").await;
    let next = behind(&service, &other).await;
    drop(slow);
    is_answered(next).await;
    stopped(&service, &org, "dragoman_sql", 2).await;
}

/// Its row is written before the record closes: its caller would be told otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_when_the_service_ends_stops_and_is_on_the_record() {
    let service = Service::with(&[("DRAGOMAN_SQL_SECONDS", "600")]).await;
    let (gateway, caller) = (service.gateway.clone(), operator(&service.workspace("acme").await));
    let op: Sql = serde_json::from_value(json!({ "sql": ENDLESS })).unwrap();
    let call = tokio::spawn(async move { gateway.call(&caller, op, Via::new("admin.call")).await.map(drop) });
    service.answers_a_call().await;
    service.stop().await;
    let ended = tokio::time::timeout(Duration::from_secs(30), call).await.expect("it goes on").unwrap();
    assert_eq!(ended.unwrap_err().code, Code::QueryTimeout);
}

/// No call of the gateway stands behind it, and nobody waits for its answer any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_is_under_way_when_the_service_ends_is_on_the_record() {
    let service = Service::start().await;
    let register = format!("http://{}/api/oauth/register", service.config.listen);
    let client = json!({ "client_name": "Late", "redirect_uris": ["http://127.0.0.1/callback"] });
    // The database is kept busy until the client is gone and the service is ending.
    let writer = service.db.begin().await.unwrap();
    let asked = tokio::spawn(service.http.post(register).json(&client).send());
    service.answers_a_call().await;
    asked.abort();
    let mut ended = tokio::spawn(service.ended());
    let early = tokio::time::timeout(Duration::from_secs(1), &mut ended).await;
    assert!(early.is_err(), "it ends before the row is written");
    drop(writer);
    let folder = tokio::time::timeout(Duration::from_secs(30), ended).await.expect("it goes on").unwrap();
    let db = Db::open_sqlite(&Db::file(folder.path())).await.unwrap();
    let entries = store::audit::newest(&db, None, 100).await.unwrap();
    let registered = |entry: &Entry| entry.action == "oauth.register" && entry.outcome == "ok";
    assert!(entries.iter().any(|(_, entry)| registered(entry)), "{entries:?}");
}

/// Nobody is ever told what this text means.
const UNANSWERED: &str = "whatever made the neighbours whistle";

/// A server of vectors that has one for every text but [`UNANSWERED`].
#[derive(Clone, Default)]
struct Encoder {
    arrived: Arc<Notify>,
    given_up: Arc<Notify>,
}

impl Encoder {
    async fn start() -> (Self, String) {
        let encoder = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/embeddings", axum::routing::post(encode)).with_state(encoder.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (encoder, url)
    }
}

async fn encode(State(encoder): State<Encoder>, Json(body): Json<Value>) -> Json<Value> {
    let texts = body["input"].as_array().unwrap();
    if texts.contains(&json!(UNANSWERED)) {
        let _held = Held(encoder.given_up);
        encoder.arrived.notify_one();
        std::future::pending::<()>().await;
    }
    let item = |at| json!({ "index": at, "embedding": [1, 0] });
    Json(json!({ "data": (0..texts.len()).map(item).collect::<Vec<_>>() }))
}

/// Long before the encoder's time or the call's own is over, nobody waits for it any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_is_given_up_stops_in_both_eras() {
    let (encoder, url) = Encoder::start().await;
    let service = Service::with(&[
        ("DRAGOMAN_EMBEDDING_URL", &url),
        ("DRAGOMAN_EMBEDDING_MODEL", "m"),
        ("DRAGOMAN_EMBEDDING_TIMEOUT", "600"),
    ])
    .await;
    let org = service.workspace("acme").await;
    service.import(&org, "notes.md", b"# Late\n\nPlanes leave late.\n", true).await.unwrap();
    let token = service.token(&org).await;
    let search = || call("dragoman_search", json!({ "query": UNANSWERED }));
    let soon = async |what: &Notify| tokio::time::timeout(Duration::from_secs(3), what.notified()).await;
    let begun = async |told: &mut Messages| {
        until(told, "Reading the question").await;
        tokio::time::timeout(Duration::from_secs(30), encoder.arrived.notified()).await.expect("the encoder is asked");
    };

    eprintln!("sessions");
    let session = open(&service, &token).await;
    let body = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": search() });
    let mut told = Messages::of(send(&service, &token, Some(&session), body).await);
    begun(&mut told).await;
    cancel(&service, &token, &session, &json!(5)).await;
    soon(&encoder.given_up).await.expect("the encoder is no longer waited for");
    stopped(&service, &org, "dragoman_search", 1).await;
    unanswered(told).await;

    eprintln!("stateless");
    let mut told = listening(&service, &token, search()).await;
    begun(&mut told).await;
    drop(told);
    soon(&encoder.given_up).await.expect("the encoder is no longer waited for");
    stopped(&service, &org, "dragoman_search", 2).await;

    // What is not given up tells of all that it does, and then answers.
    let mut told = listening(&service, &token, call("dragoman_search", json!({ "query": "late planes" }))).await;
    until(&mut told, "Fetching the passages").await;
    let answer = told.next().await.unwrap();
    assert_eq!(answer["result"]["structuredContent"]["count"], 1, "{answer}");
    drop(told);
    service.stop().await;
}

/// Whoever begins to ask for metrics and goes no further has no say in when the service ends.
#[tokio::test(flavor = "multi_thread")]
async fn half_a_request_for_metrics_does_not_hold_up_the_end() {
    let address = format!("127.0.0.1:{}", free_port());
    let service = Service::with(&[("DRAGOMAN_ADMIN_LISTEN", &address)]).await;
    // Once it answers it listens there too.
    service.http.get(service.url("/health/live")).send().await.unwrap();
    let mut half = TcpStream::connect(&address).await.unwrap();
    half.write_all(b"GET /").await.unwrap();
    // Who came later is answered: what came before has arrived.
    let metrics = service.http.get(format!("http://{address}/metrics")).send().await.unwrap();
    assert_eq!(metrics.status(), 200);
    tokio::time::timeout(Duration::from_secs(60), service.stop()).await.expect("it stops within its time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_it_without_waiting() {
    let (data, address) = (tempfile::tempdir().unwrap(), format!("127.0.0.1:{}", free_port()));
    let mut child = command(data.path())
        .args(["serve", "--listen", &address])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.next_line().await.unwrap().unwrap().contains("is up on"));
    let pid = Pid::from_raw(child.id().unwrap().try_into().unwrap());
    // A request whose body is waited for.
    let mut open = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /api/oauth/token HTTP/1.1\r\nhost: {address}\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\
         content-type: application/x-www-form-urlencoded\r\n\r\n"
    );
    open.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    open.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 100");
    kill(pid, Signal::SIGTERM).unwrap();
    while !log.next_line().await.unwrap().unwrap().contains("stopping") {}
    kill(pid, Signal::SIGTERM).unwrap();
    let status = tokio::time::timeout(Duration::from_secs(60), child.wait()).await;
    assert_eq!(status.expect("it ends").unwrap().code(), Some(1));
}
