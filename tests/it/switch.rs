//! A workspace turns its AI clients off: what is open ends, what begins is refused, on every node; and on again.

use std::time::{Duration, Instant};

use dragoman::model::org::Org;
use futures_util::StreamExt as _;
use reqwest::Response;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::news::Messages;
use crate::sessions::{open, send};
use crate::support::databases::postgres_url;
use crate::support::service::{Service, json_of};

const ENDLESS: &str = "SELECT count(*) FROM range(100000000000) a, range(1000) b";
const ONE_CALL: [(&str, &str); 2] = [("DRAGOMAN_SQL_SECONDS", "600"), ("DRAGOMAN_EXT_IN_FLIGHT", "1")];
const SECOND: Duration = Duration::from_secs(1);

async fn listening(service: &Service, token: &str) -> Messages {
    let everything = json!({ "notifications": { "toolsListChanged": true, "resourcesListChanged": true } });
    let mut stream = Messages::of(service.rpc(token, "subscriptions/listen", everything).send().await.unwrap());
    assert_eq!(stream.next().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    stream
}

async fn stream_of(service: &Service, token: &str, session: &str) -> Response {
    let request = service.get("/mcp", token).header("accept", "text/event-stream");
    request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25").send().await.unwrap()
}

/// How long it took until a stream had ended.
async fn end(mut stream: Messages, since: Instant) -> Duration {
    while stream.next().await.is_some() {}
    since.elapsed()
}

fn in_session(id: u32, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} })
}

fn initialize() -> Value {
    let client = json!({ "name": "x", "version": "1" });
    json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client } })
}

/// Every kind of message is refused in the same words, and none says anything of the workspace.
async fn refuses_everything(service: &Service, token: &str, session: &str) {
    let mut refusals = vec![(503, json_of(stream_of(service, token, session).await).await)];
    refusals.push((503, json_of(send(service, token, None, initialize()).await).await));
    for method in ["tools/list", "prompts/list", "resources/templates/list", "ping"] {
        refusals.push((503, json_of(send(service, token, Some(session), in_session(6, method)).await).await));
    }
    let modern = ["server/discover", "tools/list", "prompts/list", "resources/templates/list", "subscriptions/listen"];
    for method in modern {
        refusals.push((503, json_of(service.rpc(token, method, json!({})).send().await.unwrap()).await));
    }
    let prompt = json!({ "name": "connect_client", "arguments": { "platform": "claude" } });
    refusals.push((503, json_of(service.rpc(token, "prompts/get", prompt).send().await.unwrap()).await));
    for (expected, (status, body)) in refusals {
        assert_eq!(status, expected, "{body}");
        let error = &body["error"]["data"]["error"];
        assert_eq!(
            (&error["code"], &error["details"]["connectivity_enabled"]),
            (&json!("service_unavailable"), &json!(false))
        );
        assert!(body["error"]["message"].as_str().unwrap().contains("admins can turn them on"), "{body}");
    }
    // What the gateway refuses keeps the form that its callers know.
    let (failed, body) = service.tool(token, "dragoman_list_datasets", json!({})).await;
    assert!(failed && body["error"]["code"] == "service_unavailable", "{body}");
    let (_, body) = json_of(service.rpc(token, "resources/list", json!({})).send().await.unwrap()).await;
    assert_eq!(body["error"]["data"]["error"]["code"], "service_unavailable", "{body}");
    assert_eq!(service.get("/api/v1/ext/datasets", token).send().await.unwrap().status(), 503);
}

async fn answers_again(service: &Service, token: &str, session: &str) {
    assert_eq!(
        send(service, token, Some(session), in_session(8, "tools/list")).await.status(),
        200,
        "the session is kept"
    );
    assert_eq!(stream_of(service, token, session).await.status(), 200);
    drop(listening(service, token).await);
    assert!(!service.tool(token, "dragoman_list_datasets", json!({})).await.0);
}

/// A query that runs. A token has one call at a time here: another that is refused meanwhile shows that it does.
async fn endless(service: &Service, token: &str) -> JoinHandle<reqwest::Result<Response>> {
    loop {
        let query = json!({ "name": "dragoman_sql", "arguments": { "sql": ENDLESS } });
        let running = tokio::spawn(service.rpc(token, "tools/call", query).send());
        while !running.is_finished() {
            if service.tool(token, "dragoman_list_datasets", json!({})).await.0 {
                return running;
            }
        }
    }
}

/// Opens one of each, turns the switch at the database as a command line beside the service does, and looks.
async fn off_and_on(nodes: &[&Service], org: &Org, token: &str) {
    let mut opened = Vec::new();
    let mut sessions = Vec::new();
    for service in nodes {
        let session = open(service, token).await;
        opened.push(Messages::of(stream_of(service, token, &session).await));
        opened.push(listening(service, token).await);
        sessions.push(session);
    }
    let running = endless(nodes[0], token).await;
    let off = Instant::now();
    nodes[0].identity.set_connectivity(org.id, false).await.unwrap();
    for took in futures_util::future::join_all(opened.into_iter().map(|stream| end(stream, off))).await {
        assert!(took < SECOND, "a stream ended after {took:?}");
    }
    let (status, body) = json_of(running.await.unwrap().unwrap()).await;
    assert_eq!((status, &body["result"]["isError"]), (200, &json!(true)), "{body}");
    assert!(body.to_string().contains("service_unavailable"), "{body}");
    for (service, session) in nodes.iter().zip(&sessions) {
        refuses_everything(service, token, session).await;
    }
    nodes[0].identity.set_connectivity(org.id, true).await.unwrap();
    for (service, session) in nodes.iter().zip(&sessions) {
        answers_again(service, token, session).await;
    }
    assert_eq!(nodes[0].identity.tokens(org.id).await.unwrap()[0].revoked_at, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn off_ends_what_is_open_and_refuses_what_begins_and_on_restores() {
    let service = Service::with(&ONE_CALL).await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let (token, theirs) = (service.token(&acme).await, service.token(&other).await);
    let neighbour = tokio::spawn(end(listening(&service, &theirs).await, Instant::now()));
    off_and_on(&[&service], &acme, &token).await;
    assert!(!neighbour.is_finished(), "another workspace's streams stay");
    service.identity.set_connectivity(other.id, false).await.unwrap();
    neighbour.await.unwrap();
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_switch_holds_on_every_node() {
    let (database, key) = (postgres_url().await, "7".repeat(64));
    let settings = [&[("DATABASE_URL", &*database), ("DRAGOMAN_MASTER_KEY", &key)][..], &ONE_CALL].concat();
    let (first, second) = (Service::with(&settings).await, Service::with(&settings).await);
    let org = first.workspace("acme").await;
    let token = first.token(&org).await;
    off_and_on(&[&first, &second], &org, &token).await;
    off_and_on(&[&second, &first], &org, &token).await;
    first.stop().await;
    second.stop().await;
}

/// A thousand streams on each of two nodes end within a second of the change; on a machine that other work slows, within a
/// quarter of the time in which it opened them.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_streams_end_within_a_second() {
    const EACH: usize = 1000;
    let (database, key) = (postgres_url().await, "7".repeat(64));
    let settings = [
        ("DATABASE_URL", &*database),
        ("DRAGOMAN_MASTER_KEY", &key),
        ("DRAGOMAN_EXT_STREAMS", "2000"),
        ("DRAGOMAN_STREAMS", "4000"),
    ];
    let nodes = [Service::with(&settings).await, Service::with(&settings).await];
    let org = nodes[0].workspace("acme").await;
    let token = nodes[0].token(&org).await;
    let opening = nodes.iter().flat_map(|service| std::iter::repeat_n(service, EACH));
    let began = Instant::now();
    let opened: Vec<Messages> = futures_util::stream::iter(opening)
        .map(|service| listening(service, &token))
        .buffer_unordered(20)
        .collect()
        .await;
    assert_eq!(opened.len(), 2 * EACH);
    let opening = began.elapsed();
    let off = Instant::now();
    nodes[1].identity.set_connectivity(org.id, false).await.unwrap();
    let took = futures_util::future::join_all(opened.into_iter().map(|stream| end(stream, off))).await;
    let longest = took.iter().max().unwrap();
    eprintln!("{} streams, opened in {opening:?}, ended within {longest:?}", took.len());
    assert!(*longest < SECOND.max(opening / 4), "{longest:?}, opened in {opening:?}");
    for service in nodes {
        service.stop().await;
    }
}
