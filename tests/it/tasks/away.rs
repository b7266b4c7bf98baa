//! Tasks while PostgreSQL is away: what runs goes on, what ends meanwhile is told when it is back, and nothing is told that
//! is not so.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::{ENDLESS, call, endless_task, knows_tasks, outcomes, reaches, request, told};
use crate::support::databases::Cluster;
use crate::support::service::{Service, json_of};

/// A server of one's own, to be ended and started, and a database in it.
async fn own() -> (&'static Cluster, String) {
    let cluster: &Cluster = Box::leak(Box::new(tokio::task::spawn_blocking(Cluster::start).await.unwrap()));
    (cluster, cluster.empty("away").await)
}

async fn change(cluster: &'static Cluster, how: fn(&Cluster)) {
    tokio::task::spawn_blocking(move || how(cluster)).await.unwrap();
}

/// What is told of a task when the service has found its database again.
async fn again(service: &Service, token: &str, id: &str) -> Value {
    let polled = async {
        loop {
            let sent = request(service, token, "tasks/get", json!({ "taskId": id }), &knows_tasks()).send().await;
            let (status, body) = json_of(sent.unwrap()).await;
            if status == 200 && body.get("error").is_none() {
                return body["result"].clone();
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), polled).await.expect("the service has lost its database")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_outlives_its_database_being_away() {
    let (cluster, url) = own().await;
    let settings = [
        ("DRAGOMAN_SQL_SECONDS", "600"),
        ("DRAGOMAN_SQL_WORKERS", "1"),
        ("DRAGOMAN_SQL_KNOWN_MB", "0"),
        ("DATABASE_URL", url.as_str()),
    ];
    let service = Service::with(&settings).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let id = endless_task(&service, &token).await;
    change(cluster, Cluster::end).await;
    // Nobody is told that it is gone, or that they may not know: it takes as long as a look at the task does.
    let sent = request(&service, &token, "tasks/get", json!({ "taskId": id }), &knows_tasks()).send().await.unwrap();
    let (status, body) = json_of(sent).await;
    assert!(status >= 500, "{status}: {body}");
    change(cluster, Cluster::begin).await;

    assert_eq!(again(&service, &token, &id).await["status"], "working");
    assert_eq!(outcomes(&service, &org, "dragoman_sql").await, [""; 0], "its work goes on");
    told(&service, &token, "tasks/cancel", json!({ "taskId": id })).await;
    reaches(&service, &token, &id, "cancelled").await;
    service.stop().await;
}

/// An answer that cannot be recorded is not given; that it was not is told as soon as it can be.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_ends_while_its_database_is_away_says_so_when_it_is_back() {
    const LIMIT: Duration = Duration::from_secs(15);
    let (cluster, url) = own().await;
    let service = Service::with(&[("DRAGOMAN_SQL_SECONDS", "15"), ("DATABASE_URL", url.as_str())]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let began = Instant::now();
    let id = endless_task(&service, &token).await;
    change(cluster, Cluster::end).await;
    assert!(began.elapsed() < LIMIT, "the query is over before its database is away");
    // It ends by the clock, and nothing else can say that it did.
    sleep_until(began + LIMIT + Duration::from_secs(4)).await;
    change(cluster, Cluster::begin).await;

    let first = again(&service, &token, &id).await;
    let done = if first["status"] == "working" { reaches(&service, &token, &id, "completed").await } else { first };
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(true)), "{done}");
    let said = done["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("service_unavailable") && said.contains("could not be recorded"), "{done}");
    let target = format!("dragoman_sql {ENDLESS}");
    assert_eq!(outcomes(&service, &org, &target).await, [""; 0], "nothing was given, and nothing is on the record");
    let anew = told(&service, &token, "tools/call", call("SELECT 1 AS one")).await;
    assert_eq!(anew["result"]["structuredContent"]["rows"], json!([[1]]), "{anew}");
    service.stop().await;
}
