//! What a hostile or unlucky caller does at the same time as another, or in the middle of something.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dragoman::gateway::Via;
use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use dragoman::ops::import::{Import, Staged};
use serde_json::{Value, json};

use crate::support::service::{Service, as_json, json_of, operator};

/// Waits until `reached`, for as long as a loaded machine may need; returns whether it was.
async fn within(seconds: u64, reached: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !reached() {
        if Instant::now() > end {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

fn workspace_folder(service: &Service, org: &Org) -> PathBuf {
    service.config.data_dir.join("workspaces").join(org.id.to_string())
}

/// Starts an import of a text file into the dataset `notes`; it goes on by itself.
fn import_notes(
    service: &Service,
    org: &Org,
    text: &str,
) -> tokio::task::JoinHandle<dragoman::model::error::Result<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, text).unwrap();
    let files = vec![Staged { name: "notes.md".into(), path }];
    let op = Import { name: Some("notes".into()), publish: true, files, ..Import::default() };
    let (gateway, caller) = (service.gateway.clone(), operator(org));
    tokio::spawn(async move {
        let done = as_json(gateway.call(&caller, op, Via::new("admin.call")).await);
        drop(folder);
        done
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_imports_that_make_one_name_the_second_is_told_so() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let writer = service.db.begin().await.unwrap();
    let imports = [import_notes(&service, &org, "# One\n\nalpha"), import_notes(&service, &org, "# Two\n\nbeta")];
    let staging = workspace_folder(&service, &org).join("staging");
    // Both have looked for the name, and found none.
    assert!(within(60, || entries(&staging).len() == 2).await);
    drop(writer);
    let mut outcomes = Vec::new();
    for import in imports {
        outcomes.push(import.await.unwrap().map(|_| "ok").map_err(|error| error.code.info().name));
    }
    outcomes.sort();
    assert_eq!(outcomes, [Ok("ok"), Err("invalid_argument")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn imports_of_one_dataset_at_once_do_not_remove_each_others_versions() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    import_notes(&service, &org, "# Zero\n\nnothing").await.unwrap().unwrap();
    let writer = service.db.begin().await.unwrap();
    let imports = [import_notes(&service, &org, "# One\n\nzebra"), import_notes(&service, &org, "# Two\n\nzebra")];
    let dataset = entries(&workspace_folder(&service, &org).join("vectors")).remove(0);
    // One is in its place and waits to be named; the other, for its turn.
    assert!(within(60, || entries(&dataset).len() == 2).await);
    drop(writer);
    for import in imports {
        import.await.unwrap().unwrap();
    }
    let token = service.token(&org).await;
    let (failed, body) = service.tool(&token, "dragoman_search", json!({ "query": "zebra" })).await;
    assert!(!failed && body["count"] == 1 && body["degraded"].is_null(), "{body}");
}

/// A request written by hand, up to and without its end; returns the open connection.
async fn begin_request(service: &Service, head: &str) -> tokio::net::TcpStream {
    use tokio::io::AsyncWriteExt as _;
    let url = &service.config.public_url;
    let mut stream = tokio::net::TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn actions(service: &Service, org: &Org) -> Vec<(String, String)> {
    let entries = dragoman::store::audit::newest(&service.db, Some(org.id), 100).await.unwrap();
    entries.into_iter().map(|(_, entry)| (entry.target, entry.outcome)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_on_the_record_even_when_the_client_hangs_up() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
    let id =
        service.import(&org, "sales.csv", b"a\n1\n", false).await.unwrap()["dataset_id"].as_str().unwrap().to_owned();
    let (host, body) = (service.config.listen, r#"{"externally_queryable":true}"#);
    // The database is kept busy until the client is gone.
    let writer = service.db.begin().await.unwrap();
    let mut stream = begin_request(
        &service,
        &format!(
            "PATCH /api/v1/datasets/{id} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ),
    )
    .await;
    service.answers_a_call().await;
    stream.shutdown().await.unwrap();
    // The service hangs up too, as soon as it knows.
    let mut rest = Vec::new();
    let gone = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut rest)).await;
    assert_eq!(gone.expect("the service does not see that the client is gone").unwrap(), 0);
    drop(writer);
    let end = Instant::now() + Duration::from_secs(60);
    let mut recorded = false;
    while !recorded && Instant::now() < end {
        recorded = actions(&service, &org).await.iter().any(|(target, _)| target.starts_with("publish_dataset"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let dataset = dragoman::store::datasets::by_name(&mut service.db.read_everyone().await.unwrap(), org.id, "sales")
        .await
        .unwrap()
        .unwrap();
    assert!(recorded, "no row; published: {}", dataset.externally_queryable);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_has_as_many_uploads_on_their_way_as_calls() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
    let host = service.config.listen;
    let head = format!(
        "POST /api/v1/datasets HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         content-type: multipart/form-data; boundary=x\r\ncontent-length: 1000\r\n\r\n--x\r\n"
    );
    let mut open = Vec::new();
    for _ in 0..service.config.limits.rates.in_flight {
        open.push(begin_request(&service, &head).await);
    }
    let staging = workspace_folder(&service, &org).join("staging");
    assert!(within(30, || entries(&staging).len() == open.len()).await);
    let upload = || service.post("/api/v1/datasets", &token).header("content-type", "multipart/form-data; boundary=x");
    let (status, body) = json_of(upload().body("--x--\r\n").send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["details"]["limit"]), (429, &json!("uploads")), "{body}");
    assert_eq!(service.last_audit(&org).await.outcome, "rate_limited");
    drop(open);
    assert!(within(30, || entries(&staging).is_empty()).await, "what hung up leaves nothing");
    let (status, body) = json_of(upload().body("--x--\r\n").send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid_argument")), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i19_rest_names_the_scope_that_a_client_can_ask_for() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &[Scope::DataRead]).await;
    for (path, scope) in [("/api/v1/ext/sql", "data_agent:write"), ("/api/v1/datasets", "datasets:write")] {
        let response = service.post(path, &token).json(&json!({ "sql": "SELECT 1" })).send().await.unwrap();
        let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
        let challenge = challenge.unwrap_or_default();
        let (status, body) = json_of(response).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("scope_denied")), "{path}");
        assert!(challenge.contains("error=\"insufficient_scope\""), "{path}: {challenge}");
        assert!(challenge.contains(&format!("scope=\"{scope}\"")), "{path}: {challenge}");
    }
    let viewer = service.access_token(&org, Role::Viewer, &Scope::ALL).await;
    let response = service.post("/api/v1/ext/sql", &viewer).json(&json!({ "sql": "SELECT 1" })).send().await.unwrap();
    assert_eq!(response.status(), 403);
    assert!(!response.headers().contains_key("www-authenticate"), "no scope helps a role");
}

#[tokio::test(flavor = "multi_thread")]
async fn j01_browser_clients_of_allowed_origins_can_call_and_read_and_others_cannot() {
    let service = Service::with(&[("DRAGOMAN_ALLOWED_ORIGINS", "http://localhost:*,https://app.example")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let preflight = |origin: &'static str| {
        let request = service.http.request(reqwest::Method::OPTIONS, service.config.resource());
        request.header("origin", origin).header("access-control-request-method", "POST").send()
    };
    let header = |response: &reqwest::Response, name: &str| {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    for origin in ["http://localhost:6274", "https://app.example"] {
        let response = preflight(origin).await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(&response, "access-control-allow-origin")),
            (204, origin.into())
        );
        for name in ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method"] {
            assert!(header(&response, "access-control-allow-headers").contains(name), "{name}");
        }
        let refused = service.http.post(service.config.resource()).header("origin", origin).send().await.unwrap();
        assert_eq!((refused.status().as_u16(), header(&refused, "access-control-allow-origin")), (401, origin.into()));
        for name in ["mcp-session-id", "www-authenticate"] {
            assert!(header(&refused, "access-control-expose-headers").contains(name), "{name}");
        }
        let answered = service.rpc(&token, "tools/list", json!({})).header("origin", origin).send().await.unwrap();
        assert_eq!(
            (answered.status().as_u16(), header(&answered, "access-control-allow-origin")),
            (200, origin.into())
        );
        assert!(header(&answered, "vary").contains("origin"));
        assert_eq!(header(&answered, "access-control-allow-credentials"), "");
    }
    for origin in ["https://evil.example", "https://app.example:8443", "http://localhost.evil.example", "null"] {
        let response = preflight(origin).await.unwrap();
        assert_eq!(
            (response.status().as_u16(), header(&response, "access-control-allow-origin")),
            (401, String::new())
        );
        let refused = service.rpc(&token, "tools/list", json!({})).header("origin", origin).send().await.unwrap();
        assert_eq!((refused.status().as_u16(), header(&refused, "access-control-allow-origin")), (403, String::new()));
    }
}

/// Pages of other origins reach programs' addresses where the settings say so, and nowhere else.
#[tokio::test(flavor = "multi_thread")]
async fn j01_pages_of_other_origins_may_call_rest_where_the_settings_name_them() {
    const APP: &str = "https://app.example";
    const PATH: &str = "/api/v1/ext/datasets";
    for settings in [&[][..], &[("DRAGOMAN_EXT_ALLOWED_ORIGINS", APP)]] {
        let service = Service::with(settings).await;
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let allowed = |response: &reqwest::Response| response.headers().get("access-control-allow-origin").cloned();
        let preflight = |path: &str, origin: &'static str| {
            let request = service.http.request(reqwest::Method::OPTIONS, service.url(path));
            request.header("origin", origin).header("access-control-request-method", "GET").send()
        };
        let is_on = !settings.is_empty();
        let expected = is_on.then(|| APP.parse().unwrap());
        let asked = preflight(PATH, APP).await.unwrap();
        assert_eq!((asked.status() == 204, allowed(&asked)), (is_on, expected.clone()));
        let answered = service.get(PATH, &token).header("origin", APP).send().await.unwrap();
        assert_eq!((answered.status().as_u16(), allowed(&answered)), (200, expected.clone()));
        assert!(!answered.headers().contains_key("access-control-allow-credentials"));
        let refused = service.http.get(service.url(PATH)).header("origin", APP).send().await.unwrap();
        assert_eq!((refused.status().as_u16(), allowed(&refused)), (401, expected), "the challenge can be read");
        for other in ["https://app.example:8443", "https://x.app.example", "http://app.example", "null"] {
            assert_eq!(allowed(&preflight(PATH, other).await.unwrap()), None, "{other}");
        }
        assert_eq!(allowed(&preflight("/api/v1/tokens", APP).await.unwrap()), None, "management is not for pages");
        service.stop().await;
    }
    for loose in ["https://*.example", "http://localhost:*", "https://app.example/", "*"] {
        let read = |name: &str| (name == "DRAGOMAN_EXT_ALLOWED_ORIGINS").then(|| loose.to_owned());
        let problems = dragoman::config::Config::read(read).unwrap_err().to_string();
        assert!(problems.contains("whole and without a path"), "{loose}: {problems}");
    }
}

/// Opens a session of the older era; returns its id.
async fn session(service: &Service, token: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" },
    });
    let request = service.post("/mcp", token).header("accept", "application/json, text/event-stream");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let response = request.json(&body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn j04_a_guess_at_anothers_session_is_not_found_and_on_the_record() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (owner, thief) = (service.token(&org).await, service.token(&org).await);
    let id = session(&service, &owner).await;
    for method in [reqwest::Method::POST, reqwest::Method::GET, reqwest::Method::DELETE] {
        let request = service.http.request(method.clone(), service.config.resource()).bearer_auth(&thief);
        let request = request.header("accept", "application/json, text/event-stream").header("mcp-session-id", &id);
        let response =
            request.json(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })).send().await.unwrap();
        assert_eq!(response.status(), 404, "{method}");
        let entry = service.last_audit(&org).await;
        assert_eq!(
            (entry.action.as_str(), entry.outcome.as_str()),
            ("mcp.session.refused", "auth_invalid"),
            "{method}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_an_access_token_would() {
    let service = Service::with(&[("DRAGOMAN_ACCESS_TTL", "1")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let id = session(&service, &token).await;
    let request = service.get("/mcp", &token).header("accept", "text/event-stream").header("mcp-session-id", id);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let ended = tokio::time::timeout(Duration::from_secs(20), response.bytes()).await;
    assert!(ended.is_ok(), "the stream goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_with_long_descriptions_is_paged_not_refused() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let first =
        service.import(&org, "d0.csv", b"a\n1\n", true).await.unwrap()["dataset_id"].as_str().unwrap().to_owned();
    let first = dragoman::store::datasets::by_id(
        &mut service.db.read_everyone().await.unwrap(),
        org.id,
        first.parse().unwrap(),
    )
    .await
    .unwrap();
    let first = first.unwrap();
    for number in 1..100 {
        let dataset = dragoman::model::dataset::Dataset {
            id: dragoman::base::id::Id::new(&service.clock),
            name: format!("d{number}"),
            description: "ä\n".repeat(1000),
            ..first.clone()
        };
        let mut tx = service.db.tenant(org.id).await.unwrap();
        dragoman::store::datasets::put(&mut tx, &dataset).await.unwrap();
        tx.commit().await.unwrap();
    }
    let token = service.token(&org).await;
    let (mut names, mut arguments) = (std::collections::BTreeSet::new(), json!({}));
    loop {
        let (failed, body) = service.tool(&token, "dragoman_list_datasets", arguments).await;
        assert!(!failed, "{body}");
        for dataset in body["datasets"].as_array().unwrap() {
            assert!(names.insert(dataset["name"].as_str().unwrap().to_owned()), "{} twice", dataset["name"]);
        }
        let Some(cursor) = body["next_cursor"].as_str() else { break };
        arguments = json!({ "cursor": cursor });
    }
    assert_eq!(names.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_that_one_of_the_databases_cannot_keep_is_refused_by_both() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
    for description in ["nul\0inside".to_owned(), "escape \u{1b}[2J".into(), "x".repeat(2001)] {
        let file = reqwest::multipart::Part::bytes(b"a\n1\n".as_slice()).file_name("t.csv");
        let form = reqwest::multipart::Form::new().text("description", description).part("file", file);
        let response = service.post("/api/v1/datasets", &token).multipart(form).send().await.unwrap();
        let (status, body) = json_of(response).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!("description")), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_that_would_fill_the_memory_are_refused_before_they_are_read() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big");
    // Sparse: it has the size, and takes no room.
    std::fs::File::create(&path).unwrap().set_len((64 << 20) + 1).unwrap();
    let error = service.import_path(&org, "big.txt", &path, true).await.unwrap_err();
    assert_eq!(error.code.info().name, "file_too_large");
}

#[tokio::test(flavor = "multi_thread")]
async fn i14_a_connectivity_token_is_worth_nothing_at_another_workspaces_address() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.workspace("other").await;
    let token = service.token(&org).await;
    let call = async |path: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let accept = "application/json, text/event-stream";
        service.post(path, &token).header("accept", accept).json(&body).send().await.unwrap().status().as_u16()
    };
    // 400: a session is missing; the token was taken.
    assert_eq!((call("/t/acme/mcp").await, call("/mcp").await), (400, 400));
    assert_eq!((call("/t/other/mcp").await, call("/t/nowhere/mcp").await), (401, 401));
}

#[tokio::test(flavor = "multi_thread")]
async fn j10_what_is_no_message_is_refused_as_such_and_null_params_are_none() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let id = session(&service, &token).await;
    let send = async |body: String| {
        let request = service.post("/mcp", &token).header("accept", "application/json, text/event-stream");
        let request = request.header("content-type", "application/json").header("mcp-session-id", &id);
        json_of(request.body(body).send().await.unwrap()).await
    };
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{}{}}}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    for body in [r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#.to_owned(), deep] {
        let (status, answer) = send(body).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32600)), "{answer}");
    }
    for params in ["null", r#"{"_meta":null}"#] {
        let (status, answer) =
            send(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{params}}}"#)).await;
        assert!(status == 200 && answer.to_string().contains("dragoman_sql"), "{params}: {status} {answer}");
    }
    let (status, answer) = json_of(service.get("/mcp", &token).header("accept", "*/*").send().await.unwrap()).await;
    assert!(status == 400 && answer["error"]["message"].is_string(), "{status} {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_no_text_is_refused_like_any_wrong_argument() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let (status, body) = json_of(service.get("/api/v1/ext/datasets/%ff/schema", &token).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid_argument")), "{body}");
    assert_eq!(service.last_audit(&org).await.outcome, "invalid_argument");
    let head = service.http.head(service.url("/api/v1/ext/datasets")).bearer_auth(&token).send().await.unwrap();
    assert_eq!(head.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn b23_passwords_sent_at_once_are_no_more_than_those_sent_in_turn() {
    let service = Service::with(&[("DRAGOMAN_FAILURES_PER_IP", "5")]).await;
    let page = service.http.get(service.url("/login")).send().await.unwrap();
    let cookie = page.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = page.text().await.unwrap();
    let csrf = page.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let guesses = (0..24).map(|guess| {
        let password = format!("guess number {guess}");
        let form = [("csrf", csrf.clone()), ("email", "ann@example.com".into()), ("password", password)];
        service.http.post(service.url("/login")).header("cookie", &cookie).form(&form).send()
    });
    let answers = futures_util::future::join_all(guesses).await;
    let tried = answers.into_iter().filter(|answer| answer.as_ref().unwrap().status() == 401).count();
    assert!((1..=5).contains(&tried), "{tried} passwords were tried");
}
