//! The documents that programs of others import.

use serde_json::{Value, json};

use super::Place;
use crate::support::program::clients;
use crate::support::service::{Service, json_of};

#[tokio::test(flavor = "multi_thread")]
async fn the_document_for_actions_passes_a_validator_and_the_rules_of_actions() {
    let service = Service::start().await;
    let mut command = tokio::process::Command::new("node");
    let command =
        command.current_dir(clients()).arg("openapi.mjs").arg(service.url("/api/v1/ext/openapi.actions.json"));
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let judged: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(judged["problems"], json!([]), "{judged:#}");
    let operations = judged["operations"].as_array().unwrap();
    for named in ["dragoman_list_datasets", "dragoman_sql", "dragoman_query", "ask_question", "dragoman_search"] {
        assert!(operations.contains(&named.into()), "{named}");
    }
    service.stop().await;
}

/// An action asks what the document says, at the address that it says, and is answered.
#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_called_as_the_document_says() {
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let document = service.http.get(service.url("/api/v1/ext/openapi.actions.json")).send().await.unwrap();
    let (_, document) = json_of(document).await;
    let server = document["servers"][0]["url"].as_str().unwrap();
    let secret = service.token(&place.org).await;
    let paths = document["paths"].as_object().unwrap();
    let (path, _) = paths.iter().find(|(_, methods)| methods["post"]["operationId"] == "dragoman_sql").unwrap();
    let asked = service.http.post(format!("{server}{path}")).bearer_auth(&secret);
    let (status, body) =
        json_of(asked.json(&json!({ "sql": "SELECT sum(delay)::BIGINT FROM flights" })).send().await.unwrap()).await;
    assert_eq!((status, &body["rows"]), (200, &json!([[15]])), "{body}");
    place.service.stop().await;
}
