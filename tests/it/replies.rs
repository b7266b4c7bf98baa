//! What is sent of a reply is what is measured against the limit and recorded, on every way in.

use dragoman::gateway::Via;
use dragoman::model::error::Code;
use dragoman::model::org::Org;
use dragoman::ops::get_schema::GetSchema;
use serde_json::{Value, json};

use crate::support::service::{Service, bytes_of, json_of, operator};

/// The id of a table with so many columns.
async fn table(service: &Service, org: &Org, name: &str, columns: usize) -> String {
    let names: Vec<String> = (0..columns).map(|at| format!("a_column_with_a_long_name_{at}")).collect();
    let values = vec!["1"; columns];
    let content = format!("{}\n{}\n", names.join(","), values.join(","));
    let made = service.import(org, &format!("{name}.csv"), content.as_bytes(), true).await.unwrap();
    made["dataset_id"].as_str().unwrap().to_owned()
}

/// What a message of MCP is answered with: the result, or the error.
async fn message(service: &Service, token: &str, method: &str, params: Value) -> Value {
    let (_, body) = json_of(service.rpc(token, method, params).send().await.unwrap()).await;
    body.get("result").or_else(|| body.get("error")).unwrap_or_else(|| panic!("{body}")).clone()
}

/// Outcome and bytes of the newest row of the record.
async fn recorded(service: &Service, org: &Org) -> (String, usize) {
    let entry = service.last_audit(org).await;
    (entry.outcome, usize::try_from(entry.bytes).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_in_measures_and_records_what_it_sends() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let id = table(&service, &org, "small", 3).await;
    let has_id = |text: &str| {
        let reply: Value = serde_json::from_str(text).unwrap();
        assert!(reply["request_id"].as_str().is_some_and(|id| !id.is_empty()), "{text}");
    };

    let response = service.get(&format!("/api/v1/ext/datasets/{id}/schema"), &token).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = response.text().await.unwrap();
    has_id(&body);
    assert_eq!(recorded(&service, &org).await, ("ok".to_owned(), body.len()), "REST");

    let called = json!({ "name": "dragoman_get_schema", "arguments": { "dataset_id": id } });
    let result = message(&service, &token, "tools/call", called).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    has_id(text);
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    assert_eq!(recorded(&service, &org).await, ("ok".to_owned(), bytes_of(&result)), "a tool");
    assert_eq!(bytes_of(&result), 2 * text.len(), "as text, and as structure");

    let uri = json!({ "uri": format!("dragoman://datasets/{id}") });
    let result = message(&service, &token, "resources/read", uri).await;
    let text = result["contents"][0]["text"].as_str().unwrap();
    has_id(text);
    assert_eq!(recorded(&service, &org).await, ("ok".to_owned(), text.len()), "a resource");

    let named = json!({ "name": "explore_dataset", "arguments": { "dataset_id": id } });
    let result = message(&service, &token, "prompts/get", named).await;
    let text = result["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("\"request_id\":\""), "{text}");
    assert_eq!(recorded(&service, &org).await, ("ok".to_owned(), text.len()), "a prompt");

    let op = GetSchema::of(id.parse().unwrap());
    let answered = service.gateway.call(&operator(&org), op, Via::new("test")).await.unwrap();
    assert_eq!((answered.request_id.as_str(), answered.rows), ("test", 3));
    assert_eq!(answered.bytes, serde_json::to_string(&answered).unwrap().len());
    assert_eq!(recorded(&service, &org).await, ("ok".to_owned(), answered.bytes), "this process");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_way_in_sends_more_than_a_reply_may_be() {
    let service = Service::with(&[("DRAGOMAN_REPLY_BYTES", "20000")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let id = table(&service, &org, "wide", 500).await;
    let refused = |error: &Value, way: &str| {
        let error = &error["error"];
        assert_eq!(error["code"], "limit_exceeded", "{way}: {error}");
        let details = &error["details"];
        assert_eq!((&details["limit"], &details["max"]), (&json!("reply_bytes"), &json!(20_000)), "{way}: {error}");
        assert!(details["was"].as_u64().unwrap() > 20_000, "{way}: {error}");
    };
    let outcome = ("limit_exceeded".to_owned(), 0);

    let response = service.get(&format!("/api/v1/ext/datasets/{id}/schema"), &token).send().await.unwrap();
    let (status, body) = json_of(response).await;
    assert_eq!(status, 400);
    refused(&body, "REST");
    assert_eq!(recorded(&service, &org).await, outcome);

    let (failed, body) = service.tool(&token, "dragoman_get_schema", json!({ "dataset_id": id })).await;
    assert!(failed);
    refused(&body, "a tool");
    assert_eq!(recorded(&service, &org).await, outcome);

    let uri = json!({ "uri": format!("dragoman://datasets/{id}") });
    let named = json!({ "name": "explore_dataset", "arguments": { "dataset_id": id } });
    for (method, params) in [("resources/read", uri), ("prompts/get", named)] {
        let error = message(&service, &token, method, params).await;
        refused(&error["data"], method);
        assert_eq!(recorded(&service, &org).await, outcome);
    }

    let op = GetSchema::of(id.parse().unwrap());
    let error = service.gateway.call(&operator(&org), op, Via::new("test")).await.unwrap_err();
    assert_eq!((error.code, &error.details["limit"]), (Code::LimitExceeded, &json!("reply_bytes")));
    assert_eq!(recorded(&service, &org).await, outcome);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_the_same_to_the_last_digit_on_every_way() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let id = table(&service, &org, "small", 2).await;
    let sql = "SELECT 0.1::DOUBLE + 0.2 AS a, 9007199254740993 AS b, 'nan'::DOUBLE AS c, 1.50::DECIMAL(5,2) AS d, \
               {'x': [1, NULL]} AS e, 1e-310::DOUBLE AS f";
    let rows = r#"[[0.30000000000000004,"9007199254740993","NaN","1.50",{"x":[1,null]},1e-310]]"#;
    let body = json!({ "sql": sql });
    let sent = service.post("/api/v1/ext/sql", &token).json(&body).send().await.unwrap().text().await.unwrap();
    assert!(sent.contains(&format!("\"rows\":{rows},")), "{sent}");
    let result = message(&service, &token, "tools/call", json!({ "name": "dragoman_sql", "arguments": body })).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("\"rows\":{rows},")), "{text}");
    assert_eq!(result["structuredContent"]["rows"].to_string(), rows);

    let preview = service.get(&format!("/api/v1/ext/datasets/{id}/rows?limit=1"), &token).send().await.unwrap();
    let (_, preview) = json_of(preview).await;
    assert_eq!(preview["rows"], json!([[1, 1]]));
    let uri = json!({ "uri": format!("dragoman://datasets/{id}/rows?limit=1") });
    let read = message(&service, &token, "resources/read", uri).await;
    let read: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(read["rows"], preview["rows"]);
    service.stop().await;
}
