//! What real clients were seen to do, and servers to break on: each replayed as it was reported, with the client's name.
//! Quirks of versions, headers and sessions have their place in `sessions.rs` and `messages.rs`, those of registrations
//! in `registration.rs`, and those of clients that are known by a document in `client_documents.rs`.

use dragoman::base::secret::{base64url, sha256};
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use serde_json::{Value, json};

use crate::sessions::{message, open, send};
use crate::support::service::{Service, json_of};

async fn ready() -> (Service, Org, String) {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
    service.import(&org, "orders.csv", b"id,amount\n1,10\n2,32\n", true).await.unwrap();
    (service, org, token)
}

fn initialize(version: &str, client: &str) -> Value {
    let params = json!({
        "protocolVersion": version, "capabilities": { "roots": { "listChanged": true }, "sampling": {} },
        "clientInfo": { "name": client, "title": client, "version": "1.0.0", "icons": [] },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn total() -> Value {
    json!({ "name": "dragoman_sql", "arguments": { "sql": "SELECT sum(amount)::INT AS total FROM orders" } })
}

/// claude.ai: a probe that opens a session and leaves it, then the connector itself; its proxy begins with discovery, in
/// the newer revision.
#[tokio::test(flavor = "multi_thread")]
async fn claudes_probe_and_its_connector_are_served_beside_each_other() {
    let (service, _, token) = ready().await;
    let mut sessions = Vec::new();
    for client in ["Anthropic/Toolbox", "Anthropic/ClaudeAI"] {
        let request = service.post("/mcp", &token).header("accept", "*/*").header("user-agent", "Claude-User");
        let opened = request.json(&initialize("2025-11-25", client)).send().await.unwrap();
        assert_eq!(opened.status(), 200, "{client}");
        sessions.push(opened.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let info = &message(opened).await["result"]["serverInfo"];
        assert!(info["name"].is_string() && info.get("icons").is_none(), "a connector with icons is dropped: {info}");
    }
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": total() });
    let said = message(send(&service, &token, Some(&sessions[1]), call).await).await;
    assert_eq!(said["result"]["structuredContent"]["rows"], json!([[42]]), "{said}");

    let (status, found) = json_of(service.rpc(&token, "server/discover", json!({})).send().await.unwrap()).await;
    assert_eq!(status, 200, "{found}");
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{found}");
    assert!(found["result"]["capabilities"]["tools"].is_object(), "{found}");
}

/// VS Code, and SDKs from before 2025-11-25: an event without data is parsed all the same, and the client ends.
#[tokio::test(flavor = "multi_thread")]
async fn no_event_of_a_stream_is_empty_in_any_revision_with_sessions() {
    let (service, _, token) = ready().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let request = service.post("/mcp", &token).header("accept", "application/json, text/event-stream");
        let opened = request.json(&initialize(version, "Visual Studio Code")).send().await.unwrap();
        let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let streams = [opened.text().await.unwrap(), {
            assert_eq!(send(&service, &token, Some(&session), done).await.status(), 202);
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": total() });
            send(&service, &token, Some(&session), call).await.text().await.unwrap()
        }];
        for stream in streams {
            let events: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("data:")).collect();
            assert!(!events.is_empty(), "{version}: {stream}");
            for event in events {
                let said: Value = serde_json::from_str(event).unwrap_or_else(|_| panic!("{version}: {event:?}"));
                assert_eq!(said["jsonrpc"], "2.0", "{version}");
            }
        }
    }
}

/// ChatGPT: hints of its own in `_meta`, of which none says who calls; and a client that does not name itself.
#[tokio::test(flavor = "multi_thread")]
async fn hints_in_a_request_are_no_identity_and_a_client_need_not_name_itself() {
    let (service, org, token) = ready().await;
    let mut request = service.rpc(&token, "tools/call", total()).build().unwrap();
    let mut body: Value = serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
    let meta = body["params"]["_meta"].as_object_mut().unwrap();
    meta.remove("io.modelcontextprotocol/clientInfo");
    meta.insert("openai/locale".into(), json!("de-CH"));
    meta.insert("openai/userAgent".into(), json!("ChatGPT/1.2025"));
    meta.insert("openai/userLocation".into(), json!({ "country": "CH", "timezone": "Europe/Zurich" }));
    meta.insert("openai/subject".into(), json!("v1/somebody-else"));
    *request.body_mut() = Some(body.to_string().into());
    request.headers_mut().insert("content-length", body.to_string().len().into());
    let (status, said) = json_of(service.http.execute(request).await.unwrap()).await;
    assert_eq!((status, &said["result"]["structuredContent"]["rows"]), (200, &json!([[42]])), "{said}");
    let entry = service.last_audit(&org).await;
    assert!(entry.principal.starts_with("user:") && !entry.principal.contains("somebody"), "{}", entry.principal);
}

/// Libraries that write `null` for what they leave out, and the character set of JSON.
#[tokio::test(flavor = "multi_thread")]
async fn null_is_nothing_and_json_may_name_its_character_set() {
    let (service, _, token) = ready().await;
    let session = open(&service, &token).await;
    for (method, params) in [
        ("tools/list", Value::Null),
        ("tools/list", json!({ "cursor": null })),
        ("tools/list", json!({ "_meta": null })),
        ("resources/list", json!({ "cursor": null })),
        ("tools/call", json!({ "name": "dragoman_list_datasets", "arguments": null })),
        ("tools/call", json!({ "name": "dragoman_list_datasets", "_meta": { "progressToken": 0 } })),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = service.post("/mcp", &token).header("accept", "application/json, text/event-stream");
        let request =
            request.header("mcp-session-id", &session).header("content-type", "application/json; charset=utf-8");
        let response = request.body(body.to_string()).send().await.unwrap();
        assert_eq!(response.status(), 200, "{body}");
        let stream = response.text().await.unwrap();
        assert!(stream.contains("\"result\"") && !stream.contains("\"isError\":true"), "{body}: {stream}");
    }
}

/// Claude refuses a whole set of tools for one word in one of them; Claude Code and VS Code show their model the structure
/// alone, Claude's other clients the text alone.
#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_without_what_clients_refuse_and_answer_the_same_twice() {
    let (service, _, token) = ready().await;
    let session = open(&service, &token).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let older = message(send(&service, &token, Some(&session), list).await).await;
    let (_, newer) = json_of(service.rpc(&token, "tools/list", json!({})).send().await.unwrap()).await;
    assert_eq!(older["result"]["tools"], newer["result"]["tools"], "in both eras");
    for tool in newer["result"]["tools"].as_array().unwrap() {
        for refused in ["execution", "icons"] {
            assert!(tool.get(refused).is_none(), "{tool}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
        }
    }
    for call in [json!({ "name": "dragoman_list_datasets" }), total()] {
        let (_, said) = json_of(service.rpc(&token, "tools/call", call).send().await.unwrap()).await;
        let text: Value = serde_json::from_str(said["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, said["result"]["structuredContent"]);
    }
}

/// Clients look at well-known places that this service has not, and take a page of HTML for a document.
#[tokio::test(flavor = "multi_thread")]
async fn a_well_known_place_that_is_not_here_says_so_in_json() {
    let service = Service::start().await;
    for path in [
        "/.well-known/openai-apps-challenge",
        "/.well-known/oauth-protected-resource/sse",
        "/.well-known/mcp.json",
        "/mcp/.well-known/openid-configuration",
        "/sse",
        "/register",
    ] {
        let response = service.http.get(service.url(path)).header("accept", "text/html,*/*").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
        let (status, body) = json_of(response).await;
        assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{path}");
    }
}

/// Redirects that clients register at once, or at another port than the one that they come back to.
#[tokio::test(flavor = "multi_thread")]
async fn clients_come_back_to_their_own_addresses_at_any_port_of_the_machine() {
    let service = Service::start().await;
    let code = [
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
    ];
    for (client, registered, used) in [
        ("Visual Studio Code", &code[..], "http://127.0.0.1:51873/"),
        ("Visual Studio Code", &code, "https://vscode.dev/redirect"),
        ("Claude Code (dragoman)", &["http://localhost:63042/callback"], "http://localhost:51873/callback"),
        ("MCP Inspector", &["http://localhost:6274/oauth/callback"], "http://localhost:6274/oauth/callback"),
        ("MCP CLI Proxy", &["http://127.0.0.1:6276/oauth/callback"], "http://127.0.0.1:6276/oauth/callback"),
        ("Cursor", &["http://localhost:8787/callback"], "http://localhost:8787/callback"),
        (
            "Cursor",
            &["https://www.cursor.com/agents/mcp/oauth/callback"],
            "https://www.cursor.com/agents/mcp/oauth/callback",
        ),
    ] {
        let body = json!({
            "client_name": client, "redirect_uris": registered, "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"], "token_endpoint_auth_method": "none", "application_type": "native",
            "scope": "data_agent:read offline_access",
        });
        let made = service.http.post(service.url("/api/oauth/register")).json(&body).send().await.unwrap();
        let (status, made) = json_of(made).await;
        assert_eq!(status, 201, "{client}: {made}");
        let challenge = base64url(&sha256(b"a verifier of forty-three characters or more."));
        let query = [
            ("client_id", made["client_id"].as_str().unwrap()),
            ("redirect_uri", used),
            ("response_type", "code"),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("scope", "data_agent:read offline_access"),
            ("state", "s"),
            ("resource", &service.config.resource()),
        ];
        let asked = service.http.get(service.url("/api/oauth/authorize")).query(&query).send().await.unwrap();
        assert_eq!(asked.status(), 303, "{client}: {used}: {}", asked.text().await.unwrap());
        let to = asked.headers()["location"].to_str().unwrap();
        assert!(to.starts_with("/login?return_to="), "{client}: {to}");
    }
}
