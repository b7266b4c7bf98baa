//! From the tables of a PostgreSQL server to an ontology of them that is compared with the data and asked.

use serde_json::{Value, json};

use super::{OPEN, Ready};
use crate::support::service::{Service, json_of};

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_a_source_are_drafted_compared_and_asked() {
    let service = Service::with(&[OPEN]).await;
    let ready = Ready::new(&service).await;
    let manage = async |method: &str, path: &str, body: Option<Value>| {
        let (status, body) = service.manage(&ready.admin, method, path, body).await;
        assert_eq!(status, 200, "{method} {path}: {body}");
        body
    };
    let made = manage("POST", "/ontologies/draft", Some(json!({ "name": "shop" }))).await;
    let text = made["text"].as_str().unwrap().to_owned();
    let saved = manage("POST", "/ontologies", Some(json!({ "text": text }))).await;
    let id = saved["ontology"]["ontology_id"].as_str().unwrap().to_owned();
    let checked = manage("POST", &format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "ready", "{checked}\n{text}");
    let ask = async |question: &str| {
        let body = json!({ "ontologyId": id, "question": question });
        json_of(service.post("/api/v1/ext/ask", &ready.admin).json(&body).send().await.unwrap()).await.1
    };
    // Order n is of customer 1 + n % 3: of 1000, customers 1 and 3 (DE) have 333 each, and 2 (FR) has 334.
    let by_country = ask("number of orders by country").await;
    assert_eq!(
        (&by_country["outcome"], &by_country["verified"]),
        (&json!("answer"), &json!(true)),
        "{by_country}\n{text}"
    );
    let rows = by_country["table"]["rows"].to_string();
    assert!(rows.contains(r#"["DE",666]"#) && rows.contains(r#"["FR",334]"#), "{rows}");
    assert!(by_country["dataLineage"]["sql"].as_str().unwrap().contains("orders"), "{by_country}");
    // 1.25 euros times the sum of 1 to 1000.
    let total = ask("order total").await;
    assert!(total["narrative"].as_str().unwrap().contains("625,625"), "{total}");

    // An expression that the stored values do not fit is found, in words that quote none of them.
    let wrong = "\n      - {name: number, datatype: Integer, expression: {dialects: [{dialect: ANSI_SQL, expression: \
                 'CAST(name AS INTEGER)'}]}}";
    let text = format!(
        "version: 0.2.0.dev0\nname: wrong\ndatasets:\n  - name: customers\n    source: customers\n    primary_key: [id]\n    \
         fields:\n      - {{name: id, datatype: Integer, expression: {{dialects: [{{dialect: ANSI_SQL, expression: id}}]}}}}{wrong}\n"
    );
    let saved = manage("POST", "/ontologies", Some(json!({ "text": text }))).await;
    let id = saved["ontology"]["ontology_id"].as_str().unwrap();
    let checked = manage("POST", &format!("/ontologies/{id}/check"), None).await;
    assert_eq!(checked["ontology"]["status"], "failed", "{checked}");
    let problem = checked["ontology"]["problem"].as_str().unwrap();
    assert!(problem.contains("customers.number") && problem.contains("does not fit"), "{problem}");
    for stored in ["Ann", "Bob", "Cy\""] {
        assert!(!checked.to_string().contains(stored), "{stored}: {checked}");
    }
    service.stop().await;
}
