//! Every error in each of its forms, and what callers are told who ask wrongly.

use axum::response::{IntoResponse as _, Response};
use dragoman::identity::grants::GrantError;
use dragoman::model::error::{Code, Error};
use dragoman::surface::error::problem;
use dragoman::surface::oauth::error::OAuthError;
use serde_json::{Map, Value, json};

use super::Eras;
use crate::support::service::json_of;

/// Headers that say something of a refusal.
const HEADERS: [&str; 6] = ["allow", "cache-control", "content-type", "pragma", "retry-after", "www-authenticate"];

/// Every code: its status on REST, its number where the protocol is what failed, and a body.
pub fn table() -> Value {
    let row = |code: Code| {
        let error = Error::new(code, "What went wrong, and what to do.").with(json!({ "field": "name" }));
        let info = code.info();
        json!({
            "code": info.name,
            "status": info.status,
            "json_rpc": info.json_rpc,
            "body": error.body("<request>"),
            "body_when_a_repeat_may_succeed": error.clone().retry_after(7).body("<request>"),
            "headers_then": headers(&problem(&error.retry_after(7), "<request>")),
        })
    };
    let words = [
        Error::dataset_not_found(),
        Error::document_not_found(),
        Error::ontology_not_found(),
        Error::not_found("thing"),
        Error::forbidden("rule", "Why not."),
        Error::invalid("field", "What it should be."),
        Error::unavailable("What is not there."),
        Error::internal("a cause that stays inside"),
    ];
    json!({
        "codes": Code::ALL.map(row),
        "words": words.map(|error| error.body("<request>")),
    })
}

/// The errors of the endpoints that programs call, as the registries of OAuth name them.
pub async fn oauth() -> Value {
    let mut told = Map::new();
    for code in Code::ALL {
        let error = Error::new(code, "What went wrong, and what to do.").retry_after(7);
        told.insert(code.info().name.into(), answer(OAuthError::from(error).into_response()).await);
    }
    let own = [
        ("a code or token that is worth nothing", GrantError::InvalidGrant("Why.").into()),
        ("another resource", GrantError::InvalidTarget.into()),
        ("a wider scope", GrantError::InvalidScope.into()),
        ("a blocked client", GrantError::Blocked.into()),
        ("a client that is not known", OAuthError::invalid_client("Why.")),
        ("a client that tried HTTP Basic", OAuthError { basic: true, ..OAuthError::invalid_client("Why.") }),
        ("too many requests", OAuthError::too_many(7)),
    ];
    for (what, error) in own {
        told.insert(what.into(), answer(error.into_response()).await);
    }
    Value::Object(told)
}

fn headers(response: &Response) -> Value {
    let told = HEADERS.iter().filter_map(|name| {
        let value = response.headers().get(*name)?.to_str().unwrap();
        Some(((*name).to_owned(), Value::from(value)))
    });
    Value::Object(told.collect())
}

async fn answer(response: Response) -> Value {
    let (status, headers) = (response.status().as_u16(), headers(&response));
    let body = axum::body::to_bytes(response.into_body(), 1 << 16).await.unwrap();
    json!({ "status": status, "headers": headers, "body": serde_json::from_slice::<Value>(&body).unwrap() })
}

/// What is told who asks wrongly.
pub async fn refusals(eras: &Eras) -> Value {
    let mut told = Map::new();
    for (method, params) in [
        ("nothing/list", json!({})),
        ("tools/list", json!({ "cursor": "x" })),
        ("tools/call", json!({ "name": "no_such_tool", "arguments": {} })),
        ("tools/call", json!({ "name": "dragoman_sql", "arguments": { "text": "SELECT 1" } })),
        ("tools/call", json!({ "name": "dragoman_sql", "arguments": { "sql": "DROP TABLE orders" } })),
        ("prompts/get", json!({ "name": "no_such_prompt", "arguments": {} })),
        ("prompts/get", json!({ "name": "connect_client", "arguments": { "platform": "x" } })),
        ("resources/read", json!({ "uri": "dragoman://nothing" })),
        ("resources/read", json!({ "uri": "dragoman://documents/01936f2e-7c1a-7000-8000-000000000001" })),
    ] {
        let asked = format!("{method} {params}");
        told.insert(format!("{asked}, older"), eras.older(method, params.clone()).await);
        told.insert(asked, eras.modern(method, params).await);
    }
    let (service, token) = (&eras.service, &eras.token);
    let http = &service.http;
    let form = |body: &'static str| {
        let request = http.post(service.url("/api/oauth/token")).body(body);
        request.header("content-type", "application/x-www-form-urlencoded")
    };
    let json = "application/json";
    for (what, request) in [
        ("an address that is not ours", http.get(service.url("/nothing"))),
        ("MCP without a credential", http.post(service.url("/mcp")).body("{}")),
        ("REST without a credential", http.get(service.url("/api/v1/ext/datasets"))),
        ("REST with a bad one", service.get("/api/v1/ext/datasets", "nonsense")),
        ("REST by a wrong method", service.post("/api/v1/ext/datasets", token)),
        ("REST with what is no JSON", service.post("/api/v1/ext/sql", token).header("content-type", json).body("{")),
        ("REST with an argument that there is not", service.post("/api/v1/ext/sql", token).json(&json!({ "x": 1 }))),
        ("MCP with what is no JSON", service.post("/mcp", token).header("content-type", json).body("{")),
        ("MCP with a batch", service.post("/mcp", token).header("content-type", json).body("[{}]")),
        ("MCP with no message", service.post("/mcp", token).header("content-type", json).body("3")),
        ("a token for no form", http.post(service.url("/api/oauth/token")).header("content-type", json).body("{}")),
        ("a token for nothing", form("")),
        ("a token for a grant that there is not", form("grant_type=password&client_id=x")),
        ("a token for nobody", form("grant_type=authorization_code&code=x")),
        ("a token for a client that is not known", form("grant_type=authorization_code&code=x&client_id=dgc_x")),
        ("a registration of nothing", http.post(service.url("/api/oauth/register")).json(&json!({}))),
    ] {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let header = |name: &&str| {
            let value = response.headers().get(*name)?.to_str().unwrap();
            Some(((*name).to_owned(), Value::from(value)))
        };
        let headers: Map<String, Value> = HEADERS.iter().filter_map(header).collect();
        let body = json_of(response).await.1;
        told.insert(what.into(), eras.plain(&json!({ "status": status, "headers": headers, "body": body })));
    }
    Value::Object(told)
}
