//! Sessions of the older era: permissions captured when they begin, bound to their owner, and an end.

use std::time::{Duration, Instant};

use dragoman::base::secret::Secret;
use dragoman::identity::grants::RefreshUse;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::org::Org;
use dragoman::store::Db;
use dragoman::store::audit::newest;
use reqwest::Response;
use serde_json::{Value, json};

use crate::support::databases::postgres_url;
use crate::support::operations::tools_of;
use crate::support::program::{Program, command, free_port};
use crate::support::service::{Service, json_of};

/// Opens a session and returns its id.
pub async fn open(service: &Service, token: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" },
    });
    let response =
        send(service, token, None, json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
    let response = response.await;
    assert_eq!(response.status(), 200);
    let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(service, token, Some(&id), done).await.status(), 202);
    id
}

pub async fn send(service: &Service, token: &str, session: Option<&str>, body: Value) -> Response {
    let mut request = service.post("/mcp", token).header("accept", "*/*").json(&body);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    }
    request.send().await.unwrap()
}

/// The JSON-RPC message in an event stream.
pub async fn message(response: Response) -> Value {
    let text = response.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.contains("jsonrpc"));
    serde_json::from_str(data.unwrap_or_else(|| panic!("no message in {text}"))).unwrap()
}

async fn tools(service: &Service, token: &str, session: &str) -> Vec<String> {
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let listed = message(send(service, token, Some(session), list).await).await;
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn connectivity(service: &Service, org: &Org, scopes: &[ExtScope]) -> String {
    service.identity.create_token(org.id, "t", scopes, None).await.unwrap().1.expose().to_owned()
}

/// J04: the id of a session opens nothing for anybody else, and no difference shows to an id that never was.
#[tokio::test(flavor = "multi_thread")]
async fn j04_a_session_of_another_principal_is_one_that_never_was() {
    let service = Service::start().await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let ann = service.access_token(&acme, Role::Admin, &Scope::ALL).await;
    let same_workspace = service.access_token(&acme, Role::Admin, &Scope::ALL).await;
    let stranger = service.token(&other).await;
    let session = open(&service, &ann).await;
    assert_eq!(tools(&service, &ann, &session).await, tools_of(Role::Admin));

    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let never =
        json_of(send(&service, &stranger, Some("0b2b4a5e-8f0e-4b69-9d4d-1c9a3d1c9a3d"), list.clone()).await).await;
    assert_eq!(never.0, 404);
    for token in [&same_workspace, &stranger] {
        assert_eq!(json_of(send(&service, token, Some(&session), list.clone()).await).await, never);
        for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
            let request = service.http.request(method, service.url("/mcp")).bearer_auth(token);
            let request = request.header("mcp-session-id", &session).header("accept", "text/event-stream");
            assert_eq!(request.send().await.unwrap().status(), 404);
        }
    }
    assert_eq!(tools(&service, &ann, &session).await, tools_of(Role::Admin), "the owner is not disturbed");
    let without = service.http.post(service.url("/mcp")).header("mcp-session-id", &session).json(&list).send().await;
    assert_eq!(without.unwrap().status(), 401, "an id alone is no credential");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_never_outgrows_its_beginning_nor_outlives_a_withdrawn_right() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let email = "ann@example.com";
    let user = service.identity.create_user(email, "Ann", &dragoman::base::secret::Secret::new("correct horse")).await;
    let user = user.unwrap();
    service.identity.set_role(org.id, user.id, Role::Viewer).await.unwrap();
    let token = service.access_token_of(&org, user.id, &[Scope::DataRead, Scope::DataWrite]).await;
    let session = open(&service, &token).await;
    assert!(!tools(&service, &token, &session).await.contains(&"dragoman_sql".to_owned()));

    // A greater role later does not widen a session that began without it; a new session has it.
    service.identity.set_role(org.id, user.id, Role::Contributor).await.unwrap();
    let wider = service.access_token_of(&org, user.id, &[Scope::DataRead, Scope::DataWrite]).await;
    assert!(!tools(&service, &wider, &session).await.contains(&"dragoman_sql".to_owned()));
    let fresh = open(&service, &wider).await;
    assert!(tools(&service, &wider, &fresh).await.contains(&"dragoman_sql".to_owned()));

    // A lesser role holds at once, also inside the session that began with more.
    service.identity.set_role(org.id, user.id, Role::Viewer).await.unwrap();
    assert!(!tools(&service, &wider, &fresh).await.contains(&"dragoman_sql".to_owned()));
    service.identity.remove_member(org.id, user.id).await.unwrap();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(send(&service, &wider, Some(&fresh), list).await.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_end_by_their_owner_by_idleness_and_by_number_and_it_is_recorded() {
    let service = Service::with(&[("DRAGOMAN_MCP_SESSIONS", "2")]).await;
    let org = service.workspace("acme").await;
    let token = connectivity(&service, &org, &ExtScope::ALL).await;
    let first = open(&service, &token).await;
    let (_, entry) = newest(&service.db, Some(org.id), 1).await.unwrap().remove(0);
    assert_eq!((entry.action.as_str(), entry.session.as_str()), ("mcp.session.created", first.as_str()));

    let end = service.http.delete(service.url("/mcp")).bearer_auth(&token).header("mcp-session-id", &first);
    assert_eq!(end.send().await.unwrap().status(), 204, "Python's SDK takes 202 for a failure");
    let (_, entry) = newest(&service.db, Some(org.id), 1).await.unwrap().remove(0);
    assert_eq!((entry.action.as_str(), entry.session.as_str()), ("mcp.session.terminated", first.as_str()));
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(send(&service, &token, Some(&first), list.clone()).await.status(), 404);

    let second = open(&service, &token).await;
    service.clock.advance(Duration::from_secs(1));
    open(&service, &token).await;
    service.clock.advance(Duration::from_secs(1));
    let newest_session = open(&service, &token).await;
    assert_eq!(send(&service, &token, Some(&second), list.clone()).await.status(), 404, "the oldest made room");
    service.clock.advance(Duration::from_secs(3601));
    assert_eq!(send(&service, &token, Some(&newest_session), list).await.status(), 404, "idle for an hour");
}

/// What the record says of the ends of sessions: session, and why.
async fn ends(db: &Db, org: &Org) -> Vec<(String, String)> {
    let rows = newest(db, Some(org.id), 100).await.unwrap().into_iter().map(|(_, entry)| entry);
    rows.filter(|entry| entry.action == "mcp.session.terminated").map(|entry| (entry.session, entry.target)).collect()
}

/// Waits until the end of a session is on the record.
async fn ended(service: &Service, org: &Org, session: &str, why: &str) {
    let recorded = async {
        while !ends(&service.db, org).await.contains(&(session.to_owned(), why.to_owned())) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let recorded = tokio::time::timeout(Duration::from_secs(60), recorded).await;
    assert!(recorded.is_ok(), "not {why}: {:?}", ends(&service.db, org).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_end_of_a_session_is_on_the_record_once_with_its_reason() {
    let url = postgres_url().await;
    let own = [("DRAGOMAN_MCP_SESSIONS", "2")];
    let on_postgres = [own[0], ("DATABASE_URL", url.as_str())];
    for settings in [&own[..], &on_postgres] {
        let service = Service::with(settings).await;
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let by_client = open(&service, &token).await;
        let end = service.http.delete(service.url("/mcp")).bearer_auth(&token).header("mcp-session-id", &by_client);
        assert!(end.send().await.unwrap().status().is_success());
        let made_room = open(&service, &token).await;
        let (idle, _) = (open(&service, &token).await, open(&service, &token).await);
        ended(&service, &org, &by_client, "client").await;
        ended(&service, &org, &made_room, "room").await;
        service.clock.advance(Duration::from_secs(3601));
        ended(&service, &org, &idle, "idle").await;

        let revoked = open(&service, &token).await;
        let other = service.token(&org).await;
        let stays = open(&service, &other).await;
        assert!(service.identity.revoke_token(org.id, token.split('_').nth(1).unwrap()).await.unwrap());
        ended(&service, &org, &revoked, "revoked").await;
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        assert_eq!(send(&service, &other, Some(&stays), list).await.status(), 200, "another credential's goes on");

        service.stop().await;
        let Some((_, url)) = settings.get(1) else { continue };
        let db = Db::open_postgres_with(&Secret::new(*url), 2).await.unwrap();
        let all = ends(&db, &org).await;
        assert!(all.contains(&(stays, "stop".into())), "{all:?}");
        assert_eq!(all.len(), 6, "each once: {all:?}");
        db.close().await;
    }
}

/// A killed process says nothing: the next one that takes its data folder does.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_is_on_the_record_though_its_process_was_killed() {
    for on_postgres in [false, true] {
        let data = tempfile::tempdir().unwrap();
        let url = if on_postgres { postgres_url().await } else { String::new() };
        let settings = [("DATABASE_URL".to_owned(), url)];
        let settings = if on_postgres { &settings[..] } else { &[] };
        let admin = async |arguments: &[&str]| -> Value {
            let mut admin = command(data.path());
            admin.arg("admin").args(arguments).envs(settings.iter().map(|(name, value)| (name, value)));
            let said = admin.output().await.unwrap();
            serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&said.stderr)))
        };
        let program = Program::with(data.path(), free_port(), settings).await;
        let create = ["token", "create", "--workspace", "demo", "--label", "x", "--json", "--scopes", "ext:datasets"];
        let made = admin(&create).await;
        let http = crate::support::service::http();
        let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
        let mut opened = Vec::new();
        for _ in 0..3 {
            let request = http.post(program.mcp()).bearer_auth(made["token"].as_str().unwrap());
            let response = request.header("accept", "*/*").json(&initialize).send().await.unwrap();
            opened.push(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        }
        let end = http.delete(program.mcp()).bearer_auth(made["token"].as_str().unwrap());
        assert_eq!(end.header("mcp-session-id", &opened[0]).send().await.unwrap().status(), 204);
        program.kill().await;
        // Whoever starts twice finds nothing the second time.
        for _ in 0..2 {
            Program::with(data.path(), free_port(), settings).await.stop().await;
        }
        let record = admin(&["audit", "list", "--workspace", "demo", "--json"]).await;
        let rows = record.as_array().unwrap().iter().map(|row| &row["entry"]);
        let ends = rows.filter(|entry| entry["action"] == "mcp.session.terminated");
        let mut ends: Vec<(&str, &str)> =
            ends.map(|entry| (entry["session"].as_str().unwrap(), entry["target"].as_str().unwrap())).collect();
        let mut expected = vec![(&*opened[0], "client"), (&*opened[1], "killed"), (&*opened[2], "killed")];
        ends.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ends, expected, "{record}");
    }
}

/// A client refreshes its token every few minutes, amid a session.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_survives_the_refresh_of_its_token_and_not_the_end_of_the_grant() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let ann = service.person("ann@example.com").await;
    service.identity.set_role(org.id, ann.id, Role::Viewer).await.unwrap();
    let (client_id, first) = service.grant(&org, ann.id, &Scope::ALL, &service.config.resource()).await;
    let session = open(&service, first.access.expose()).await;
    let before = tools(&service, first.access.expose(), &session).await;
    service.clock.advance(Duration::from_secs(700));
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(send(&service, first.access.expose(), Some(&session), list.clone()).await.status(), 401, "expired");
    let presented = RefreshUse { token: first.refresh.expose(), client_id: &client_id, scope: None, resource: None };
    let second = service.identity.refresh(presented).await.unwrap();
    assert_eq!(tools(&service, second.access.expose(), &session).await, before);
    // Looked for again and again, the session of a token past its time stays: its grant holds.
    service.clock.advance(Duration::from_secs(700));
    let other = service.token(&org).await;
    let marker = open(&service, &other).await;
    assert!(service.identity.revoke_token(org.id, other.split('_').nth(1).unwrap()).await.unwrap());
    ended(&service, &org, &marker, "revoked").await;
    assert_eq!(ends(&service.db, &org).await.len(), 1, "only the other's has ended");

    let grant = service.identity.connected(org.id, 0, 10).await.unwrap().remove(0);
    assert!(service.identity.disconnect(org.id, &grant.id).await.unwrap());
    ended(&service, &org, &session, "revoked").await;
}

/// Two nodes on one database, and a load balancer that sends a request to the wrong one.
#[tokio::test(flavor = "multi_thread")]
async fn at_another_node_a_session_is_unknown_and_its_client_begins_anew() {
    let url = postgres_url().await;
    let key = "5b".repeat(32);
    let settings = [("DATABASE_URL", url.as_str()), ("DRAGOMAN_MASTER_KEY", key.as_str())];
    let (here, there) = (Service::with(&settings).await, Service::with(&settings).await);
    let org = here.workspace("acme").await;
    let token = here.token(&org).await;
    let session = open(&here, &token).await;
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let (status, body) = json_of(send(&there, &token, Some(&session), list.clone()).await).await;
    assert_eq!((status, &body["error"]["code"], &body["id"]), (404, &json!(-32001), &json!(2)), "{body}");
    for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
        let request = there.http.request(method, there.url("/mcp")).bearer_auth(&token);
        let request = request.header("mcp-session-id", &session).header("accept", "text/event-stream");
        assert_eq!(request.send().await.unwrap().status(), 404);
    }
    let anew = open(&there, &token).await;
    assert_eq!(send(&there, &token, Some(&anew), list.clone()).await.status(), 200);
    assert_eq!(send(&here, &token, Some(&session), list).await.status(), 200, "where it lives it goes on");
    assert_eq!(
        there.rpc(&token, "tools/list", json!({})).send().await.unwrap().status(),
        200,
        "no node is the wrong one"
    );
}

/// What sessions cost that nobody uses, in a process of their own: memory and no threads, and each is opened as fast as
/// the first. The figures are printed, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_sessions_are_cheap() {
    let data = tempfile::tempdir().unwrap();
    let settings = ["MCP_SESSIONS", "EXT_RATE_SESSIONS", "EXT_RATE_REQUESTS"];
    let settings = settings.map(|name| (format!("DRAGOMAN_{name}"), "100000".to_owned()));
    let program = Program::with(data.path(), free_port(), &settings).await;
    let create = ["admin", "token", "create", "--workspace", "demo", "--label", "idle", "--json", "--scopes"];
    let made = command(data.path()).args(create).arg("ext:datasets").output().await.unwrap();
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let token = made["token"].as_str().unwrap();
    let http = crate::support::service::http();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "idle", "version": "1" } } });
    let ask = async |session: Option<&str>, body: &Value| {
        let request = http.post(program.mcp()).bearer_auth(token).header("accept", "*/*").json(body);
        let request = session.into_iter().fold(request, |request, id| request.header("mcp-session-id", id));
        request.send().await.unwrap()
    };
    let begin = async || {
        let response = ask(None, &initialize).await;
        assert_eq!(response.status(), 200);
        let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        response.bytes().await.unwrap();
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(ask(Some(&id), &done).await.status(), 202);
        id
    };
    // What every request leaves behind, sessions or not, is there before the first look.
    for _ in 0..50 {
        begin().await;
    }
    let (memory, threads) = (program.resident(), program.threads());
    let mut last = String::new();
    let mut times = Vec::new();
    for _ in 0..1_000 {
        let started = Instant::now();
        last = begin().await;
        times.push(started.elapsed());
    }
    let each = program.resident().saturating_sub(memory) / 1_000;
    let more = program.threads().saturating_sub(threads);
    let median = |of: &[Duration]| {
        let mut sorted = of.to_vec();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    };
    let (first, later) = (median(&times[..200]), median(&times[800..]));
    let started = Instant::now();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(ask(Some(&last), &list).await.status(), 200);
    let answered = started.elapsed();
    eprintln!(
        "1,000 idle sessions: {each} bytes each, {more} threads more; one is opened in {first:?} at first and in {later:?} \
         beside a thousand, where a request took {answered:?}"
    );
    assert!(each < 100 << 10, "{each} bytes for a session that nobody uses");
    assert!(more <= 8, "{more} threads for sessions that nobody uses");
    // With a look at all others, the last would take five times as long.
    assert!(later < first * 3 + Duration::from_millis(5), "opened in {first:?}, and later in {later:?}");
    program.stop().await;
}

/// What real clients send: each of these failed in production somewhere.
#[tokio::test(flavor = "multi_thread")]
async fn the_quirks_of_real_clients_are_understood() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let session = open(&service, &token).await;
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let with = |version: &'static str| {
        let request = service.post("/mcp", &token).header("accept", "*/*").header("mcp-session-id", &session);
        request.header("mcp-protocol-version", version).json(&list).send()
    };
    for version in ["2025-11-25, 2025-11-25", "2026-07-28", "2025-06-18"] {
        let listed = message(with(version).await.unwrap()).await;
        assert!(listed["result"]["tools"].is_array(), "{version}: {listed}");
    }
    let bare = service.post("/mcp", &token).header("mcp-session-id", &session).json(&list).send().await.unwrap();
    assert!(message(bare).await["result"]["tools"].is_array(), "no version and no Accept");
    // Claude's relay: an old header over a new body.
    let relayed = service.rpc(&token, "tools/list", json!({})).build().unwrap();
    let mut relayed = relayed;
    relayed.headers_mut().insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
    assert_eq!(service.http.execute(relayed).await.unwrap().status(), 200);
    // A connector that asks twice opens two sessions.
    assert_ne!(open(&service, &token).await, open(&service, &token).await);
    // With a slash, without a redirect that would drop the credential.
    let slash = service.rpc(&token, "tools/list", json!({})).build().unwrap();
    let mut slash = slash;
    slash.url_mut().set_path("/mcp/");
    assert_eq!(service.http.execute(slash).await.unwrap().status(), 200);
    // J03: no session in the era without sessions.
    let modern =
        service.rpc(&token, "tools/list", json!({})).header("mcp-session-id", "left-over").send().await.unwrap();
    assert_eq!(modern.status(), 200);
    assert!(!modern.headers().contains_key("mcp-session-id"));
    let get =
        service.get("/mcp", &token).header("mcp-protocol-version", "2026-07-28").header("accept", "text/event-stream");
    assert_eq!(get.send().await.unwrap().status(), 405);
}

/// Each allowance for a known client, and what the protocol says of it.
#[tokio::test(flavor = "multi_thread")]
async fn in_strict_mode_clients_get_no_allowances() {
    let service = Service::with(&[("DRAGOMAN_MCP_STRICT", "on")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let both = "application/json, text/event-stream";
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" },
    });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    assert_eq!(send(&service, &token, None, initialize.clone()).await.status(), 406, "Accept: */*");
    let opened = service.post("/mcp", &token).header("accept", both).json(&initialize).send().await.unwrap();
    assert_eq!(opened.status(), 200);
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let with = async |version: &str| {
        let request = service.post("/mcp", &token).header("accept", both).header("mcp-session-id", &session);
        request.header("mcp-protocol-version", version).json(&list).send().await.unwrap().status().as_u16()
    };
    assert_eq!(with("2025-11-25").await, 200);
    assert_eq!(with("2025-11-25, 2025-11-25").await, 400, "a repeated header");
    assert_eq!(with("2026-07-28").await, 400, "a newer revision inside an older session");
    let mut relayed = service.rpc(&token, "tools/list", json!({})).build().unwrap();
    relayed.headers_mut().insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
    let (status, body) = json_of(service.http.execute(relayed).await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)), "{body}");
    assert_eq!(service.rpc(&token, "tools/list", json!({})).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_instance_has_all_its_sessions_whoever_has_most_makes_room() {
    let service = Service::with(&[("DRAGOMAN_MCP_SESSIONS_TOTAL", "3")]).await;
    let org = service.workspace("acme").await;
    let (rich, poor) = (service.token(&org).await, service.token(&org).await);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let status = async |token: &str, session: &str| {
        let response = send(&service, token, Some(session), list.clone()).await;
        let status = response.status().as_u16();
        response.bytes().await.unwrap();
        status
    };
    let (first, second) = (open(&service, &rich).await, open(&service, &rich).await);
    let own = open(&service, &poor).await;
    assert_eq!(status(&rich, &first).await, 200, "used after the second");
    let more = open(&service, &poor).await;
    assert_eq!(status(&rich, &second).await, 404, "the least recently used one of whoever had most");
    assert_eq!((status(&rich, &first).await, status(&poor, &more).await), (200, 200));
    let third = open(&service, &rich).await;
    assert_eq!(status(&poor, &own).await, 404, "now they had most");
    for (token, session) in [(&rich, &first), (&rich, &third), (&poor, &more)] {
        assert_eq!(status(token, session).await, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_keeps_only_so_much_of_what_a_client_says_of_itself() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let initialize = |name: &str| {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "1" },
        });
        send(&service, &token, None, json!({ "jsonrpc": "2.0", "id": 9, "method": "initialize", "params": params }))
    };
    assert_eq!(initialize(&"x".repeat(10_000)).await.status(), 200);
    let refused = initialize(&"x".repeat(16 << 10)).await;
    assert!(!refused.headers().contains_key("mcp-session-id"));
    let (status, body) = json_of(refused).await;
    assert_eq!((status, &body["error"]["code"], &body["id"]), (400, &json!(-32602), &json!(9)), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("16 KiB"), "{body}");
    // What is kept of the revision is one that there is.
    let odd = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "x".repeat(1_000), "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    assert_eq!(send(&service, &token, None, odd).await.status(), 200);
    assert_eq!(service.last_audit(&org).await.target, "2025-11-25");
}

/// The library would send both answers to the later of two, and leave the earlier open for good.
#[tokio::test(flavor = "multi_thread")]
async fn of_requests_in_a_session_no_two_at_once_have_one_id() {
    let service = Service::with(&[("DRAGOMAN_SQL_SECONDS", "2")]).await;
    let org = service.workspace("acme").await;
    service.import(&org, "t.csv", b"a\n1\n", true).await.unwrap();
    let token = service.token(&org).await;
    let (session, other) = (open(&service, &token).await, open(&service, &token).await);
    let endless = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": { "name": "dragoman_sql",
        "arguments": { "sql": "SELECT count(*) FROM range(100000000000) a, range(1000) b" } } });
    let slow = send(&service, &token, Some(&session), endless).await;
    assert_eq!(slow.status(), 200);
    let list = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    let (status, body) = json_of(send(&service, &token, Some(&session), list(json!(5))).await).await;
    assert_eq!((status, &body["error"]["code"], &body["id"]), (400, &json!(-32600), &json!(5)), "{body}");
    for (session, id) in [(&session, json!(6)), (&session, json!("5")), (&other, json!(5))] {
        let listed = message(send(&service, &token, Some(session), list(id.clone())).await).await;
        assert_eq!((&listed["id"], listed["result"]["tools"].is_array()), (&id, true), "{listed}");
    }
    let answer = message(slow).await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(5), &json!(true)), "{answer}");
    let listed = message(send(&service, &token, Some(&session), list(json!(5))).await).await;
    assert!(listed["result"]["tools"].is_array(), "the id is free again: {listed}");
}
