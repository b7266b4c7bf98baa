//! The documents that programs of others import.

use dragoman::identity::confidential::NewConfidentialClient;
use dragoman::model::access::Role;
use serde_json::{Value, json};

use super::Place;
use crate::console::person;
use crate::site::{location, param};
use crate::support::program::clients;
use crate::support::service::{Service, json_of};

/// What a validator and the rules of who imports it say of a document.
async fn judged(service: &Service, path: &str, rules: &[&str]) -> Value {
    let mut command = tokio::process::Command::new("node");
    let command = command.current_dir(clients()).arg("openapi.mjs").arg(service.url(path)).args(rules);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let judged: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(judged["problems"], json!([]), "{path}: {judged:#}");
    judged
}

#[tokio::test(flavor = "multi_thread")]
async fn every_document_passes_a_validator_and_shows_what_is_asked_and_answered() {
    let service = Service::start().await;
    let actions = judged(&service, "/api/v1/ext/openapi.actions.json", &["actions"]).await;
    let tools = judged(&service, "/api/v1/ext/openapi.json", &[]).await;
    for document in [&actions, &tools] {
        assert_eq!(document["shown"], document["operations"], "an example of each answer");
    }
    let operations = actions["operations"].as_array().unwrap();
    for named in ["dragoman_list_datasets", "dragoman_sql", "dragoman_query", "ask_question", "dragoman_search"] {
        assert!(operations.contains(&named.into()), "{named}");
    }
    let management = judged(&service, "/api/v1/openapi.json", &[]).await;
    assert!(management["operations"].as_array().unwrap().len() > 50);
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

/// Actions send no challenge of PKCE, and without one nobody gets a code, with a secret or without: the person is sent back
/// to the client with the reason, and the document offers a key instead.
#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_would_sign_its_person_in_is_told_why_it_cannot() {
    const BACK: &str = "https://chatgpt.com/aip/g-3f2a9c/oauth/callback";
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let new = NewConfidentialClient { name: "Our GPT".into(), redirect_uris: vec![BACK.into()], may_introspect: false };
    let (client, _) = service.identity.create_confidential_client(new).await.unwrap();
    let asked = [("response_type", "code"), ("client_id", client.id.as_str()), ("redirect_uri", BACK), ("state", "s1")];
    let asked = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(asked).finish();
    let (_, browser) = person(service, "bob@example.com", &[(&place.org, Role::Contributor)]).await;
    let back = location(&browser.get(&format!("/api/oauth/authorize?{asked}")).await);
    assert!(back.starts_with(BACK) && param(&back, "code").is_none(), "{back}");
    assert_eq!(param(&back, "error").as_deref(), Some("invalid_request"), "{back}");
    assert!(param(&back, "error_description").unwrap().contains("PKCE"), "{back}");
    place.service.stop().await;
}
