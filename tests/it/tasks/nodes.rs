//! Tasks and the processes that work on them: others see them, stop them, and say of those that were left that they failed.

use std::time::Duration;

use dragoman::model::org::Org;
use serde_json::json;

use super::{ONE_PLACE, endless, endless_task, reaches, told, waiting};
use crate::support::databases::postgres_url;
use crate::support::service::Service;

const KEY: &str = "5f0c8b1d3a7e49265f0c8b1d3a7e49265f0c8b1d3a7e49265f0c8b1d3a7e4926";

#[tokio::test(flavor = "multi_thread")]
async fn a_result_outlives_the_process_and_work_that_did_not_end_has_failed() {
    let url = postgres_url().await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    for place in [("DRAGOMAN_DATA_DIR", folder), ("DATABASE_URL", url.as_str())] {
        let settings = [&ONE_PLACE[..], &[("DRAGOMAN_MASTER_KEY", KEY), place]].concat();
        let first = Service::with(&settings).await;
        let org = first.workspace("acme").await;
        let (token, other) = (first.token(&org).await, first.token(&org).await);
        let busy = endless(&first, &other);
        let made = waiting(&first, &token).await;
        let done = made["taskId"].as_str().unwrap();
        busy.abort();
        let before = reaches(&first, &token, done, "completed").await;
        let broken = endless_task(&first, &token).await;
        first.stop().await;

        let second = Service::with(&settings).await;
        assert_eq!(reaches(&second, &token, done, "completed").await["result"], before["result"]);
        let failed = reaches(&second, &token, &broken, "failed").await;
        let error = &failed["error"];
        assert_eq!((&error["code"], &error["data"]["error"]["code"]), (&json!(-32603), &json!("service_unavailable")));
        assert!(error["message"].as_str().unwrap().contains("The service was stopped"), "{failed}");
        assert_eq!(super::outcomes(&second, &org, "dragoman_sql SELECT count").await, ["query_timeout"; 2]);
        second.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_node_tells_of_a_task_and_stops_it_and_one_that_was_left_has_failed() {
    let url = postgres_url().await;
    let settings = [&ONE_PLACE[..], &[("DRAGOMAN_MASTER_KEY", KEY), ("DATABASE_URL", url.as_str())]].concat();
    let (here, there) = (Service::with(&settings).await, Service::with(&settings).await);
    let org = here.workspace("acme").await;
    let token = here.token(&org).await;
    let id = endless_task(&here, &token).await;
    let seen = told(&there, &token, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(seen["result"]["status"], "working", "{seen}");
    told(&there, &token, "tasks/cancel", json!({ "taskId": id })).await;
    reaches(&there, &token, &id, "cancelled").await;
    stopped(&here, &org, 1).await;

    // Nobody renews it, by the clock of the other node.
    let id = endless_task(&here, &token).await;
    there.clock.advance(Duration::from_secs(60));
    let left = reaches(&there, &token, &id, "failed").await;
    assert_eq!(left["error"]["code"], -32603, "{left}");
    assert!(left["error"]["message"].as_str().unwrap().contains("ended before it was done"), "{left}");
    // It is final: whoever comes back to it stops.
    let ended = there.gateway.end_lost_tasks().await.unwrap();
    assert!(ended <= 1, "{ended}");
    stopped(&here, &org, 2).await;
    reaches(&here, &token, &id, "failed").await;
    here.stop().await;
    there.stop().await;
}

/// Waits until so many endless queries are on the record: nothing but their end brings them there.
async fn stopped(service: &Service, org: &Org, count: usize) {
    let recorded = async {
        while super::outcomes(service, org, "dragoman_sql SELECT count").await.len() < count {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), recorded).await.expect("the work goes on");
}
