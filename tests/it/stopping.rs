//! Calls that their client gives up, in both eras: what they had begun stops, and not only the answer.

use std::time::Duration;

use dragoman::model::org::Org;
use dragoman::store;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::sessions::{open, send};
use crate::support::service::{Service, json_of};

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

fn call(sql: &str) -> Value {
    json!({ "name": "dragoman_sql", "arguments": { "sql": sql } })
}

/// Gives up a call in a session (2025-11-25, cancellation).
pub async fn cancel(service: &Service, token: &str, session: &str, id: &Value) {
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    assert_eq!(send(service, token, Some(session), cancelled).await.status(), 202);
}

/// Somebody else's query, which waits for the one place that there is.
fn waiting(service: &Service, token: &str) -> JoinHandle<(u16, Value)> {
    let request = service.rpc(token, "tools/call", call("SELECT 1 AS one"));
    tokio::spawn(async move { json_of(request.send().await.unwrap()).await })
}

/// One that waits, because the endless query holds the place by then.
async fn behind(service: &Service, token: &str) -> JoinHandle<(u16, Value)> {
    for _ in 0..20 {
        let mut next = waiting(service, token);
        if tokio::time::timeout(Duration::from_secs(2), &mut next).await.is_err() {
            return next;
        }
    }
    panic!("the endless query never began");
}

async fn still_waits(waiting: &mut JoinHandle<(u16, Value)>) {
    let answered = tokio::time::timeout(Duration::from_secs(2), waiting).await;
    assert!(answered.is_err(), "the endless query does not hold the place: {answered:?}");
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
    let endless = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call(ENDLESS) });
    let slow = send(&service, &token, Some(&session), endless).await;
    let mut next = behind(&service, &other).await;
    // Another's session, and an id that is none, stop nothing.
    let foreign = open(&service, &other).await;
    cancel(&service, &other, &foreign, &json!(5)).await;
    cancel(&service, &token, &session, &json!("5")).await;
    still_waits(&mut next).await;
    cancel(&service, &token, &session, &json!(5)).await;
    is_answered(next).await;
    stopped(&service, &org, "dragoman_sql", 1).await;
    let rest = slow.text().await.unwrap();
    assert!(!rest.contains("jsonrpc"), "no answer after a cancellation: {rest}");

    eprintln!("stateless");
    let request = service.rpc(&token, "tools/call", call(ENDLESS));
    let client = tokio::spawn(async move { request.send().await });
    let next = behind(&service, &other).await;
    client.abort();
    is_answered(next).await;
    stopped(&service, &org, "dragoman_sql", 2).await;
}
