//! The documents that programs of others import.

use dragoman::identity::confidential::NewConfidentialClient;
use dragoman::model::access::Role;
use serde_json::{Value, json};

use super::Place;
use crate::console::person;
use crate::site::{VERIFIER, location, param, refresh};
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

/// As GPT Actions sign a person in: with the id and the secret of a client that the operator made, at a fixed address of
/// ChatGPT's. The challenge of PKCE is asked of them as of everybody: one that does not send it is told so where it listens.
#[tokio::test(flavor = "multi_thread")]
async fn an_action_signs_its_person_in_with_the_secret_of_its_gpt() {
    const BACK: &str = "https://chatgpt.com/aip/g-3f2a9c/oauth/callback";
    let place = Place::open(Service::start().await).await;
    let service = &place.service;
    let new = NewConfidentialClient { name: "Our GPT".into(), redirect_uris: vec![BACK.into()], may_introspect: false };
    let (client, secret) = service.identity.create_confidential_client(new).await.unwrap();
    let (id, secret) = (client.id.as_str(), secret.expose());
    let document = service.http.get(service.url("/api/v1/ext/openapi.actions.json")).send().await.unwrap();
    let (_, document) = json_of(document).await;
    let flow = &document["components"]["securitySchemes"]["oauth"]["flows"]["authorizationCode"];
    let [authorize, token] = ["authorizationUrl", "tokenUrl"].map(|end| flow[end].as_str().unwrap());
    let scopes: Vec<&str> = flow["scopes"].as_object().unwrap().keys().map(String::as_str).collect();
    let scope = scopes.join(" ");

    let asked =
        [("response_type", "code"), ("client_id", id), ("redirect_uri", BACK), ("scope", &scope), ("state", "s1")];
    let asked = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(asked).finish();
    let (_, browser) = person(service, "bob@example.com", &[(&place.org, Role::Contributor)]).await;
    let path = format!("{}?{asked}", authorize.strip_prefix(&browser.base).unwrap());
    let without = location(&browser.get(&path).await);
    assert!(without.starts_with(BACK) && without.contains("PKCE"), "{without}");
    let path = format!("{path}&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256");
    let page = browser.consent_page(&path).await;
    assert!(page.contains("Our GPT") && page.contains("chatgpt.com"), "{page}");
    let ticked: Vec<_> = scopes.iter().map(|scope| ("scope", *scope)).collect();
    let back = refresh(&browser.answer(&page, "approve", &ticked).await);
    assert!(back.starts_with(BACK) && param(&back, "state").as_deref() == Some("s1"), "{back}");
    let code = param(&back, "code").unwrap();

    let exchange =
        async |form: &[(&str, &str)]| json_of(service.http.post(token).form(form).send().await.unwrap()).await;
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", id),
        ("code", &code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
        ("client_secret", secret),
    ];
    assert_eq!(exchange(&form[..5]).await.0, 401, "without the secret the code is worth nothing");
    let (status, tokens) = exchange(&form).await;
    assert_eq!(status, 200, "{tokens}");
    let sum = async |tokens: &Value| {
        let asked = service.post("/api/v1/ext/sql", tokens["access_token"].as_str().unwrap());
        let asked = asked.json(&json!({ "sql": "SELECT sum(delay)::BIGINT FROM flights" }));
        json_of(asked.send().await.unwrap()).await.1["rows"].clone()
    };
    assert_eq!(sum(&tokens).await, json!([[15]]));
    let again = tokens["refresh_token"].as_str().unwrap();
    let again =
        [("grant_type", "refresh_token"), ("client_id", id), ("client_secret", secret), ("refresh_token", again)];
    let (status, renewed) = exchange(&again).await;
    assert_eq!(status, 200, "{renewed}");
    assert_eq!(sum(&renewed).await, json!([[15]]));
    place.service.stop().await;
}
