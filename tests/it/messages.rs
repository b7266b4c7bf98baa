//! Messages of MCP at the entrance, in both eras: ids, methods and parameters have their types and sizes, the headers
//! say what the message says, and what is wrong has the code that tells a client what it was.

use dragoman::store::audit::newest;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

use crate::sessions::{message, open, send};
use crate::support::service::{Service, json_of};

const MODERN: &str = "2026-07-28";

/// A request whose `_meta` names a revision.
fn request(id: &Value, method: &str, mut params: Value, version: Option<&str>) -> Value {
    if let Some(version) = version {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn with(service: &Service, token: &str, headers: &[(&str, &str)], body: &Value) -> RequestBuilder {
    let request = service.post("/mcp", token).header("accept", "application/json, text/event-stream").json(body);
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// Status and message, from either kind of answer.
async fn told(response: Response) -> (u16, Value) {
    let media = response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
    match media.as_deref() {
        Some("text/event-stream") => (response.status().as_u16(), message(response).await),
        _ => json_of(response).await,
    }
}

/// A service, a token for all of a workspace, and a session of the older era.
async fn ready() -> (Service, dragoman::model::org::Org, String, String) {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "t.csv", b"a\n1\n", true).await.unwrap();
    let token = service.token(&org).await;
    let session = open(&service, &token).await;
    (service, org, token, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_names_of_methods_are_short_texts_on_one_line() {
    let (service, _, token, session) = ready().await;
    let modern = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    let older = [("mcp-protocol-version", "2025-11-25"), ("mcp-session-id", session.as_str())];
    let eras = [(&modern[..], Some(MODERN)), (&older[..], None)];
    let long = "x".repeat(257);
    for (headers, version) in eras {
        for id in [json!(7), json!(-7), json!("7"), json!(""), json!("ä…-7"), json!(long[1..])] {
            let body = request(&id, "tools/list", json!({}), version);
            let (status, body) = told(with(&service, &token, headers, &body).send().await.unwrap()).await;
            assert_eq!((status, &body["id"]), (200, &id), "{body}");
            assert!(body["result"]["tools"].is_array(), "{body}");
        }
        for id in [
            Value::Null,
            json!(true),
            json!(1.5),
            json!(u64::MAX),
            json!({ "a": 1 }),
            json!([1]),
            json!("line\nbreak"),
            json!("\u{1b}[2J"),
            json!(long),
        ] {
            let body = request(&id, "tools/list", json!({}), version);
            let (status, body) = told(with(&service, &token, headers, &body).send().await.unwrap()).await;
            assert_eq!((status, &body["error"]["code"]), (400, &json!(-32600)), "{id}: {body}");
            assert!(body.get("id").is_some_and(Value::is_null), "{body}");
        }
        for method in [json!("x".repeat(129)), json!("tools/list\n"), json!(5), Value::Null] {
            let mut body = request(&json!(7), "", json!({}), version);
            body["method"] = method.clone();
            let headers: Vec<_> = headers.iter().copied().filter(|(name, _)| *name != "mcp-method").collect();
            let (status, body) = told(with(&service, &token, &headers, &body).send().await.unwrap()).await;
            assert_eq!((status, &body["error"]["code"], &body["id"]), (400, &json!(-32600), &json!(7)), "{method}");
        }
        for token_of_progress in [json!(long), json!("a\nb"), json!({}), json!(1.5)] {
            let params = json!({ "_meta": { "progressToken": token_of_progress } });
            let body = request(&json!(7), "tools/list", params, version);
            let (status, body) = told(with(&service, &token, headers, &body).send().await.unwrap()).await;
            assert_eq!((status, &body["error"]["code"], &body["id"]), (400, &json!(-32602), &json!(7)), "{body}");
        }
    }
    // An answer to a request of ours has its id, and an error may have none.
    for (body, status) in [
        (json!({ "jsonrpc": "2.0", "id": 0, "result": {} }), 202),
        (json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "x" } }), 202),
        (json!({ "jsonrpc": "2.0", "id": "a\nb", "result": {} }), 400),
    ] {
        assert_eq!(send(&service, &token, Some(&session), body.clone()).await.status(), status, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_with_parameters_that_are_not_its_own_is_called_wrongly_not_missing() {
    let (service, org, token, session) = ready().await;
    for (method, params, named) in [
        ("tools/call", json!({ "name": "dragoman_sql", "arguments": "x" }), "arguments"),
        ("tools/call", json!({ "name": "dragoman_sql", "arguments": [1] }), "arguments"),
        ("tools/call", json!({ "arguments": {} }), "name"),
        ("tools/call", json!({ "name": 5, "arguments": {} }), "name"),
        ("tools/call", json!({}), "name"),
        ("prompts/get", json!({ "name": { "a": 1 } }), "name"),
        ("prompts/get", json!({ "name": "connect_client", "arguments": 1 }), "arguments"),
        ("resources/read", json!({}), "uri"),
        ("resources/read", json!({ "uri": ["dragoman://datasets"] }), "uri"),
        ("completion/complete", json!({ "ref": { "type": "ref/nothing" }, "argument": {} }), "ref"),
        ("completion/complete", json!({}), "ref"),
    ] {
        let modern = service.rpc(&token, method, params.clone()).send().await.unwrap();
        let older = send(&service, &token, Some(&session), request(&json!(1), method, params.clone(), None)).await;
        for (era, response) in [("modern", modern), ("older", older)] {
            let (status, body) = told(response).await;
            assert_eq!(
                (status, &body["error"]["code"], &body["id"]),
                (200, &json!(-32602), &json!(1)),
                "{era}: {body}"
            );
            let text = body["error"]["message"].as_str().unwrap();
            assert!(text.contains(named) && text.contains(method), "{era}: {params}: {text}");
            assert_eq!(body["error"]["data"]["error"]["details"]["field"], named, "{era}: {body}");
        }
        let entry = service.last_audit(&org).await;
        let row = (entry.action.as_str(), entry.target.as_str(), entry.outcome.as_str());
        assert_eq!(row, ("mcp.request", method, "invalid_argument"));
    }
    let (older, newer) = (["logging/setLevel", "resources/subscribe"], ["subscriptions/listen"]);
    for method in ["nothing", "tasks/list"].into_iter().chain(older).chain(newer) {
        let modern = service.rpc(&token, method, json!({ "x": 1 })).send().await.unwrap();
        let (status, body) = told(modern).await;
        let expected = if newer.contains(&method) { (200, &json!(-32602)) } else { (404, &json!(-32601)) };
        assert_eq!((status, &body["error"]["code"]), expected, "{method}: {body}");
        let legacy = request(&json!(1), method, json!({ "x": 1 }), None);
        let (status, body) = told(send(&service, &token, Some(&session), legacy).await).await;
        let expected = if older.contains(&method) { -32602 } else { -32601 };
        assert_eq!((status, &body["error"]["code"]), (200, &json!(expected)), "{method}: {body}");
    }
    // In the revision without sessions there is no handshake.
    let (status, body) = told(service.rpc(&token, "initialize", json!({})).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"], &body["id"]), (404, &json!(-32601), &json!(1)), "{body}");
    // What is no object, and what the library would read as nothing.
    for (method, params) in [
        ("tools/call", json!(["dragoman_sql"])),
        ("tools/call", json!("x")),
        ("tools/list", json!({ "cursor": 5 })),
        ("initialize", json!({ "protocolVersion": "2025-11-25" })),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 3, "method": method, "params": params });
        for headers in [&[][..], &[("mcp-session-id", session.as_str())]] {
            let (status, body) = told(with(&service, &token, headers, &body).send().await.unwrap()).await;
            assert_eq!((status, &body["error"]["code"], &body["id"]), (400, &json!(-32602), &json!(3)), "{body}");
        }
    }
}

/// The targets of a workspace's record, newest first.
async fn targets(service: &Service, org: &dragoman::model::org::Org) -> Vec<String> {
    let rows = newest(&service.db, Some(org.id), 100).await.unwrap();
    rows.into_iter().map(|(_, entry)| entry.target).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_say_other_than_the_message_are_refused_and_nothing_runs() {
    let (service, org, token, session) = ready().await;
    let (newest, older) = ("2025-11-25", "2025-06-18");
    let session = ("mcp-session-id", session.as_str());
    let (list, call) = (("mcp-method", "tools/list"), ("mcp-method", "tools/call"));
    let (named, other) = (("mcp-name", "dragoman_sql"), ("mcp-name", "dragoman_list_datasets"));
    let version = |version| ("mcp-protocol-version", version);
    for (headers, body) in [
        // Past a gateway that believes headers.
        (vec![version(MODERN), list], Some(newest)),
        (vec![version(MODERN), call, named], Some(newest)),
        (vec![version(MODERN), call, named, session], Some(newest)),
        (vec![version(MODERN), call, named], Some("v999.0.0")),
        (vec![version(older), call, named], Some(MODERN)),
        (vec![version(older), call, named, session], Some(MODERN)),
        (vec![version(newest), call, named, session], Some(older)),
        (vec![call, named], Some(MODERN)),
        (vec![version(MODERN), version(newest), call, named], Some(MODERN)),
        (vec![version(newest), version(older), session], None),
        (vec![version("2025-11-25, 2025-06-18"), session], None),
        (vec![version("2025-11-25, 2026-07-28"), call, named], Some(MODERN)),
        // The names too, behind each of the quirks that are put right.
        (vec![version(MODERN), list, named], Some(MODERN)),
        (vec![version(MODERN), call, other], Some(MODERN)),
        (vec![version(newest), list, named], Some(MODERN)),
        (vec![version(newest), call, other], Some(MODERN)),
        (vec![version(newest), call, list, named], Some(MODERN)),
        (vec![version(MODERN), list, session], None),
        (vec![version(MODERN), other, session], None),
        (vec![version(newest), list, session], None),
    ] {
        let params = json!({ "name": "dragoman_sql", "arguments": { "sql": "SELECT 1 AS smuggled" } });
        let body = request(&json!("a-1"), "tools/call", params, body);
        let (status, told) = told(with(&service, &token, &headers, &body).send().await.unwrap()).await;
        assert_eq!((status, &told["error"]["code"]), (400, &json!(-32020)), "{headers:?} {body}: {told}");
        assert_eq!((&told["jsonrpc"], &told["id"]), (&json!("2.0"), &json!("a-1")), "{headers:?}");
    }
    // The uri of a resource is its name.
    let read = request(&json!(1), "resources/read", json!({ "uri": "dragoman://datasets" }), None);
    let headers = [version(newest), ("mcp-name", "dragoman://ontologies"), session];
    let (status, body) = told(with(&service, &token, &headers, &read).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)), "{body}");
    // A header of the newer revision without a message of it.
    let bare = request(&json!(1), "tools/call", json!({ "name": "dragoman_sql" }), None);
    let (status, body) =
        told(with(&service, &token, &[version(MODERN), call, named], &bare).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!(-32602)), "{body}");
    let targets = targets(&service, &org).await;
    assert!(!targets.iter().any(|target| target.starts_with("dragoman_sql")), "{targets:?}");

    // The quirks themselves are understood, and so is who says nothing.
    for (headers, body) in [
        (vec![version(newest), call, named], Some(MODERN)),
        (vec![version(MODERN), session], None),
        (vec![version(MODERN), call, named, session], None),
        (vec![version(newest), session], None),
        (vec![session], None),
    ] {
        let params = json!({ "name": "dragoman_sql", "arguments": { "sql": "SELECT 7 AS seen" } });
        let body = request(&json!(1), "tools/call", params, body);
        let (status, told) = told(with(&service, &token, &headers, &body).send().await.unwrap()).await;
        assert_eq!((status, &told["result"]["structuredContent"]["rows"]), (200, &json!([[7]])), "{headers:?}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_say_who_answers_where_no_initialize_did_and_errors_which_address_was_asked_for() {
    let (service, _, token, session) = ready().await;
    let reference = json!({ "type": "ref/prompt", "name": "connect_client" });
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": "dragoman_list_datasets" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "connect_client", "arguments": { "platform": "claude" } })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "dragoman://datasets" })),
        ("completion/complete", json!({ "ref": reference, "argument": { "name": "platform", "value": "c" } })),
    ] {
        let key = "io.modelcontextprotocol/serverInfo";
        let (_, body) = told(service.rpc(&token, method, params.clone()).send().await.unwrap()).await;
        let server = &body["result"]["_meta"][key];
        assert_eq!(server["name"], "dragoman", "{method}: {body}");
        assert!(server["version"].is_string() && server.get("icons").is_none(), "{method}: {server}");
        if method != "server/discover" {
            let older = request(&json!(1), method, params, None);
            let body = message(send(&service, &token, Some(&session), older).await).await;
            assert!(body["result"].is_object() && body["result"]["_meta"].get(key).is_none(), "{method}: {body}");
        }
    }
    let nowhere = "dragoman://datasets/01936f2e-7c1a-7000-8000-000000000001";
    let (status, body) =
        json_of(service.rpc(&token, "resources/read", json!({ "uri": nowhere })).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"], &body["error"]["data"]["uri"]), (200, &json!(-32602), &json!(nowhere)));
    let long = format!("{nowhere}{}", "x".repeat(100_000));
    for (uri, repeated) in [(nowhere, nowhere), (&*long, &long[..500])] {
        let older = request(&json!(1), "resources/read", json!({ "uri": uri }), None);
        let body = message(send(&service, &token, Some(&session), older).await).await;
        let error = &body["error"];
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(repeated)), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_values_with_one_name_none_is_guessed() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let arguments = json!({ "sql": "SELECT 1" });
    let call = service.rpc(&token, "tools/call", json!({ "name": "dragoman_sql", "arguments": arguments }));
    let rest = service.post("/api/v1/ext/sql", &token).json(&arguments);
    for (request, action) in [(call, "mcp.request"), (rest, "rest.call")] {
        let mut request = request.build().unwrap();
        let body = std::str::from_utf8(request.body().unwrap().as_bytes().unwrap()).unwrap();
        let twice = body.replacen("\"sql\":", "\"sql\":\"SELECT 2\",\"sql\":", 1);
        *request.body_mut() = Some(twice.into());
        let (status, refused) = json_of(service.http.execute(request).await.unwrap()).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(status == 400 && message.contains("none is guessed"), "{action}: {status} {refused}");
        let recorded = service.last_audit(&org).await;
        assert_eq!((recorded.action.as_str(), recorded.outcome.as_str()), (action, "invalid_argument"));
    }
    service.stop().await;
}
