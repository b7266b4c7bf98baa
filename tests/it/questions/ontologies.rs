//! Ontologies as documents of a workspace: saved, refused with lines, checked against the data, versions, exports.

use serde_json::{Value, json};

use super::{Bakery, ONTOLOGY};
use crate::support::service::{Service, json_of};

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_none_is_refused_with_the_line_of_every_problem() {
    let bakery = Bakery::start().await;
    let broken = ONTOLOGY.replace("source: shops", "sauce: shops").replace("name: bakery", "name: other");
    let body = Some(json!({ "text": broken }));
    let (status, refused) = bakery.service.manage(&bakery.admin, "POST", "/ontologies", body).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("invalid_argument")), "{refused}");
    let problems = refused["error"]["details"]["problems"].as_array().unwrap();
    let line = u64::try_from(broken.lines().position(|line| line.contains("sauce")).unwrap() + 1).unwrap();
    let sauce = problems.iter().find(|problem| problem["message"].as_str().unwrap().contains("sauce"));
    assert_eq!(sauce.unwrap()["line"], line, "{refused}");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ontology_that_the_data_do_not_keep_cannot_be_asked() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let manage = async |method: &str, path: &str, body: Option<Value>| {
            bakery.service.manage(&bakery.admin, method, path, body).await
        };
        // Corner's three sales make the shop no key of a sale.
        let broken = ONTOLOGY
            .replace("primary_key: [sale_id]", "primary_key: [shop_id]")
            .replace("name: bakery", "name: keyless");
        let (_, made) = manage("POST", "/ontologies", Some(json!({ "text": broken }))).await;
        let id = made["ontology"]["ontology_id"].as_str().unwrap().to_owned();
        let ask = async || {
            let body = json!({ "ontologyId": id, "question": "revenue" });
            json_of(bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&body).send().await.unwrap()).await
        };
        let (status, refused) = ask().await;
        assert_eq!((status, &refused["error"]["code"]), (409, &json!("ontology_not_ready")), "a draft: {refused}");
        let (_, checked) = manage("POST", &format!("/ontologies/{id}/check"), None).await;
        assert_eq!(checked["ontology"]["status"], "failed", "{checked}");
        let failed = |it: &&Value| it["passed"] == false && it["what"] == "datasets[0].primary_key";
        let found = checked["attestation"]["findings"].as_array().unwrap().iter().find(failed);
        assert!(found.unwrap()["says"].as_str().unwrap().contains("sale"), "{checked}");
        assert_eq!(ask().await.1["error"]["details"]["status"], "failed");
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_change_are_compared_again_before_the_next_answer() {
    let bakery = Bakery::start().await;
    assert_eq!(bakery.ask("revenue", None).await["table"]["rows"], json!([[31.0]]));
    let twice = b"sale_id,shop_id,product,sold_on,pieces,euros\n1,1,Rye,2025-01-10,2,8.00\n1,1,Rye,2025-01-10,2,8.00\n";
    bakery.service.import(&bakery.org, "sales.csv", twice, true).await.unwrap();
    let body = json!({ "ontologyId": bakery.ontology, "question": "revenue" });
    let refused = bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&body).send().await.unwrap();
    let (status, refused) = json_of(refused).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("ontology_not_ready")), "{refused}");
    bakery.service.import(&bakery.org, "sales.csv", super::SALES, true).await.unwrap();
    assert_eq!(bakery.ask("revenue", None).await["table"]["rows"], json!([[31.0]]), "and is right again");
    bakery.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_kept_and_a_save_on_top_of_an_old_one_is_refused() {
    Service::both(async |service| {
        let bakery = Bakery::open(service).await;
        let manage = async |method: &str, path: &str, body: Option<Value>| {
            bakery.service.manage(&bakery.admin, method, path, body).await
        };
        let place = format!("/ontologies/{}", bakery.ontology);
        let newer = ONTOLOGY.replace("What the shops sell", "What our shops sell");
        let (status, saved) =
            manage("PUT", &place, Some(json!({ "text": newer, "version": 1, "summary": "ours" }))).await;
        assert_eq!((status, &saved["ontology"]["version"]), (200, &json!(2)), "{saved}");
        let (status, late) = manage("PUT", &place, Some(json!({ "text": ONTOLOGY, "version": 1 }))).await;
        assert_eq!((status, &late["error"]["details"]["field"]), (400, &json!("version")), "{late}");
        let (_, history) = manage("GET", &format!("{place}/history"), None).await;
        let kept: Vec<(&Value, &Value)> =
            history["versions"].as_array().unwrap().iter().map(|it| (&it["version"], &it["summary"])).collect();
        assert_eq!(kept, [(&json!(2), &json!("ours")), (&json!(1), &json!(""))]);
        let (_, first) = manage("GET", &format!("{place}/text?version=1"), None).await;
        assert_eq!(first["text"], ONTOLOGY);
        let (_, legacy) = manage("GET", &format!("{place}/text?format=legacy_json"), None).await;
        let legacy: Value = serde_json::from_str(legacy["text"].as_str().unwrap()).unwrap();
        assert_eq!(legacy["semantic_model"][0]["name"], "bakery");
        assert_eq!(manage("DELETE", &format!("{place}?name=bakery"), None).await.0, 200);
        assert_eq!(manage("GET", &format!("{place}/history"), None).await.0, 404);
        bakery.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_from_tables_can_be_saved_and_asked_as_it_is() {
    let bakery = Bakery::start().await;
    let manage = async |method: &str, path: &str, body: Option<Value>| {
        bakery.service.manage(&bakery.admin, method, path, body).await
    };
    let (status, made) = manage("POST", "/ontologies/draft", Some(json!({ "name": "drafted" }))).await;
    assert_eq!(status, 200, "{made}");
    let (_, saved) = manage("POST", "/ontologies", Some(json!({ "text": made["text"] }))).await;
    let id = saved["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let (_, checked) = manage("POST", &format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}");
    let body = json!({ "ontologyId": id, "question": "total euros by town" });
    let (_, reply) =
        json_of(bakery.service.post("/api/v1/ext/ask", &bakery.client).json(&body).send().await.unwrap()).await;
    assert_eq!(reply["outcome"], "answer", "{reply}");
    assert!(reply["table"]["rows"].to_string().contains(r#"["Bruges",18.0]"#), "{reply}");
    bakery.service.stop().await;
}
