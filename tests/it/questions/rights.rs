//! Who may ask what: roles, scopes, unpublished data, the limit of questions, and the record.

use dragoman::model::access::{Role, Scope};
use serde_json::json;

use super::Bakery;
use crate::support::service::{Service, json_of};

#[tokio::test(flavor = "multi_thread")]
async fn asking_needs_the_right_to_run_sql_and_reading_the_right_to_read_ontologies() {
    let bakery = Bakery::start().await;
    let viewer =
        bakery.service.access_token(&bakery.org, Role::Viewer, &[Scope::DataRead, Scope::OntologiesRead]).await;
    let body = json!({ "ontologyId": bakery.ontology, "question": "revenue" });
    let refused = bakery.service.post("/api/v1/ext/ask", &viewer).json(&body).send().await.unwrap();
    let (status, refused) = json_of(refused).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("scope_denied")), "{refused}");
    let listed = bakery.service.get("/api/v1/ext/ontologies", &viewer).send().await.unwrap();
    assert_eq!(json_of(listed).await.1["ontologies"][0]["name"], "bakery");

    let blind = bakery.service.access_token(&bakery.org, Role::Contributor, &[Scope::DataRead, Scope::DataWrite]).await;
    let refused = bakery.service.get("/api/v1/ext/ontologies", &blind).send().await.unwrap();
    let (status, refused) = json_of(refused).await;
    assert_eq!((status, &refused["error"]["details"]["missing"]), (403, &json!(["ontologies:read"])), "{refused}");
    let viewers_path = format!("/ontologies/{}/check", bakery.ontology);
    assert_eq!(bakery.service.manage(&viewer, "POST", &viewers_path, None).await.0, 403);
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rests_on_unpublished_data_is_not_there_for_clients() {
    let bakery = Bakery::start().await;
    let (_, datasets) = json_of(bakery.service.get("/api/v1/ext/datasets", &bakery.client).send().await.unwrap()).await;
    let id_of = |name: &str| {
        let all = datasets["datasets"].as_array().unwrap();
        all.iter().find(|it| it["name"] == name).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let withdraw = async |name: &str| {
        let path = format!("/datasets/{}", id_of(name));
        let body = json!({ "externally_queryable": false });
        assert_eq!(bakery.service.manage(&bakery.admin, "PATCH", &path, Some(body)).await.0, 200);
    };
    withdraw("shops").await;
    let by_shop = bakery.ask("revenue by shop name", None).await;
    assert_ne!(by_shop["outcome"], "answer", "{by_shop}");
    let said = by_shop.to_string();
    assert!(!said.contains("Old Mill") && !said.contains("Corner") && !said.contains("town"), "{said}");
    let total = bakery.ask("revenue", None).await;
    assert_eq!(total["table"]["rows"], json!([[31.0]]), "what is published can still be asked: {total}");
    let path = format!("/api/v1/ext/ontologies/{}", bakery.ontology);
    let (_, seen) = json_of(bakery.service.get(&path, &bakery.client).send().await.unwrap()).await;
    assert_eq!((seen["datasets"].as_array().unwrap().len(), &seen["relationships"]), (1, &json!([])), "{seen}");

    withdraw("sales").await;
    let body = json!({ "ontologyId": bakery.ontology, "question": "revenue" });
    let gone = bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&body).send().await.unwrap();
    let (status, gone) = json_of(gone).await;
    assert_eq!((status, &gone["error"]["code"]), (404, &json!("ontology_not_found")), "{gone}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_have_a_limit_of_their_own_and_a_row_in_the_record() {
    let service = Service::with(&[("DRAGOMAN_EXT_RATE_ASK", "3"), ("DRAGOMAN_CLIENT_RATE_ASK", "3")]).await;
    let bakery = Bakery::open(service).await;
    bakery.ask("revenue", None).await;
    let entry = bakery.service.last_audit(&bakery.org).await;
    assert_eq!((entry.action.as_str(), entry.outcome.as_str(), entry.rows), ("rest.call", "ok", 1));
    // The first 16 digits of `printf revenue | sha256sum`.
    assert_eq!(entry.target, format!("ask_question {} sha256:371f7e4223809d8b", bakery.ontology));
    bakery.ask("revenue of the shop of Jane Roe", None).await;
    let entry = bakery.service.last_audit(&bakery.org).await;
    assert!(!entry.target.contains("revenue") && !entry.target.contains("Jane"), "{}", entry.target);
    bakery.ask("revenue", None).await;
    let body = json!({ "ontologyId": bakery.ontology, "question": "revenue" });
    let refused = bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&body).send().await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    let (status, refused) = json_of(refused).await;
    assert_eq!((status, &refused["error"]["code"]), (429, &json!("rate_limited")), "{refused}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_cannot_be_are_refused_by_name() {
    let bakery = Bakery::start().await;
    let nowhere = "01936f2e-7c1a-7000-8000-000000000009";
    for (body, status, code) in [
        (json!({ "ontologyId": nowhere, "question": "revenue" }), 404, "ontology_not_found"),
        (json!({ "ontologyId": bakery.ontology, "question": "" }), 400, "invalid_argument"),
        (json!({ "ontologyId": bakery.ontology, "question": "x".repeat(2_001) }), 400, "invalid_argument"),
        (json!({ "ontologyId": bakery.ontology, "question": "revenue", "conversationId": nowhere }), 404, "not_found"),
        (json!({ "ontologyId": bakery.ontology, "question": "revenue", "model": "gpt" }), 400, "invalid_argument"),
    ] {
        let reply = bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&body).send().await.unwrap();
        let (was, reply) = json_of(reply).await;
        assert_eq!((was, reply["error"]["code"].as_str().unwrap()), (status, code), "{body}");
    }
    bakery.service.stop().await;
}
