//! J and L12: MCP over HTTP, and what errors tell.

use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use serde_json::{Value, json};

use crate::support::service::{PASSWORD, Service, json_of};

/// A page of a workspace's many datasets: its cursor to the next.
async fn cursor(service: &Service, org: &Org, token: &str) -> String {
    let first = service.import(org, "d0.csv", b"a\n1\n", true).await.unwrap();
    let first = first["dataset_id"].as_str().unwrap().parse().unwrap();
    let first = dragoman::store::datasets::by_id(&mut service.db.read_tenant(org.id).await.unwrap(), org.id, first)
        .await
        .unwrap()
        .unwrap();
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
    let (failed, body) = service.tool(token, "dragoman_list_datasets", json!({})).await;
    assert!(!failed);
    body["next_cursor"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn j05_a_cursor_of_another_workspace_is_one_that_never_was() {
    Service::both(async |service| {
        let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
        let (ours, theirs) = (service.token(&acme).await, service.token(&other).await);
        let cursor = cursor(&service, &acme, &ours).await;
        let (failed, _) = service.tool(&ours, "dragoman_list_datasets", json!({ "cursor": cursor })).await;
        assert!(!failed, "its own workspace reads on");
        let mut answers = Vec::new();
        for made_up in [cursor.clone(), "x".into(), String::new(), format!("{cursor}x"), "e30".into()] {
            let (failed, body) = service.tool(&theirs, "dragoman_list_datasets", json!({ "cursor": made_up })).await;
            assert!(failed, "{made_up}: {body}");
            answers.push(body["error"].clone());
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
        assert_eq!(answers[0]["code"], "invalid_argument");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn j03_j07_headers_decide_nothing_and_must_agree_with_the_message() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let reader = service.access_token(&org, Role::Contributor, &[Scope::DataRead]).await;
    let call = |name: &str| json!({ "name": name, "arguments": { "sql": "SELECT 1" } });
    let with = |params: Value, header: &'static str, value: &'static str| {
        let mut request = service.rpc(&reader, "tools/call", params).build().unwrap();
        request.headers_mut().insert(header, value.parse().unwrap());
        service.http.execute(request)
    };
    // The header names what the client may do, the body what it may not: neither is done.
    for (header, value) in
        [("mcp-name", "dragoman_list_datasets"), ("mcp-method", "tools/list"), ("mcp-method", "ping")]
    {
        let (status, body) = json_of(with(call("dragoman_sql"), header, value).await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)), "{header}: {value}: {body}");
    }
    // Where they agree, the body decides, and the client is told what it lacks.
    let (status, body) = json_of(with(call("dragoman_sql"), "mcp-name", "dragoman_sql").await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (403, &json!(-32001)), "{body}");
    // The other way round nothing is at stake but the disagreement itself.
    let list = json!({ "name": "dragoman_list_datasets", "arguments": {} });
    for (header, value) in [("mcp-name", "dragoman_sql"), ("mcp-method", "tools/list"), ("mcp-method", "TOOLS/CALL")] {
        let (status, body) = json_of(with(list.clone(), header, value).await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)), "{header}: {value}: {body}");
    }
    for session in ["left-over", "00000000-0000-0000-0000-000000000000", ""] {
        let answer = with(list.clone(), "mcp-session-id", session).await.unwrap();
        assert_eq!(answer.status(), 200, "{session}");
        assert!(!answer.headers().contains_key("mcp-session-id"), "{session}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn j08_what_one_caller_gets_is_kept_for_nobody_else() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "dragoman://datasets" })),
    ] {
        let response = service.rpc(&token, method, params).send().await.unwrap();
        assert_eq!(response.headers()["cache-control"], "no-store", "{method}");
        let (status, body) = json_of(response).await;
        assert_eq!((status, &body["result"]["cacheScope"]), (200, &json!("private")), "{method}: {body}");
    }
    for path in ["/api/v1/ext/datasets", "/api/v1/ext/health", "/api/v1/ext/nothing"] {
        let response = service.get(path, &token).send().await.unwrap();
        assert_eq!(response.headers()["cache-control"], "no-store", "{path}");
    }
    for path in ["/mcp", "/api/v1/ext/health", "/", "/login", "/nothing"] {
        let response = service.http.get(service.url(path)).send().await.unwrap();
        assert_eq!(response.headers()["cache-control"], "no-store", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn j10_what_is_no_single_request_of_a_bearable_size_is_refused() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let deep = |open: &str, close: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}{}}}"#,
            open.repeat(20_000),
            close.repeat(20_000)
        )
    };
    for (what, body, expected) in [
        ("a batch", format!("[{request},{request}]"), 400),
        ("an empty batch", "[]".into(), 400),
        ("a batch behind spaces", format!(" \n\t[{request}]"), 400),
        ("an answer", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), 400),
        ("an error", r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#.into(), 400),
        ("a number", "3".into(), 400),
        ("nothing", String::new(), 400),
        ("no JSON", "{".into(), 400),
        ("two messages", format!("{request}{request}"), 400),
        ("another protocol", request.replace("2.0", "1.0"), 400),
        ("a method twice", request.replacen("\"method\"", "\"method\":\"ping\",\"method\"", 1), 400),
        ("an id twice", request.replacen("\"id\"", "\"id\":2,\"id\"", 1), 400),
        ("params twice", request.replacen("\"params\"", "\"params\":{},\"params\"", 1), 400),
        ("arrays in arrays", deep("[", "]"), 400),
        ("objects in objects", deep("{\"a\":", "}"), 400),
        ("ten megabytes", format!("{request}{}", " ".repeat(10 << 20)), 413),
    ] {
        let sent = service.post("/mcp", &token).header("content-type", "application/json").body(body).send().await;
        let (status, answer) = json_of(sent.unwrap()).await;
        assert_eq!(status, expected, "{what}: {answer}");
        assert!(answer["error"]["code"].is_i64() && answer.get("result").is_none(), "{what}: {answer}");
    }
    let (failed, body) = service.tool(&token, "dragoman_list_datasets", json!({})).await;
    assert!(!failed, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn j11_a_tool_that_is_not_open_to_a_caller_is_not_listed_nor_run() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let reader = service.access_token(&org, Role::Admin, &[Scope::DataRead]).await;
    let viewer = service.access_token(&org, Role::Viewer, &Scope::ALL).await;
    let narrow = service.identity.create_token(org.id, "x", &[dragoman::model::access::ExtScope::Datasets], None).await;
    let narrow = narrow.unwrap().1.expose().to_owned();
    for (who, token) in [("scope", &reader), ("role", &viewer), ("token", &narrow)] {
        let (_, listed) = json_of(service.rpc(token, "tools/list", json!({})).send().await.unwrap()).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(!tools.is_empty() && tools.iter().all(|tool| tool["name"] != "dragoman_sql"), "{who}: {listed}");
        let call = json!({ "name": "dragoman_sql", "arguments": { "sql": "SELECT 'xy' || 'zzy'" } });
        let (status, body) = json_of(service.rpc(token, "tools/call", call).send().await.unwrap()).await;
        assert!(status == 403 || body["result"]["isError"] == true, "{who}: {status} {body}");
        assert!(!body.to_string().contains("xyzzy"), "{who}: {body}");
        assert_eq!(service.last_audit(&org).await.outcome, "scope_denied", "{who}");
        let call = json!({ "name": "dragoman_nothing", "arguments": {} });
        let (_, body) = json_of(service.rpc(token, "tools/call", call).send().await.unwrap()).await;
        assert_eq!(body["error"]["code"], -32602, "{who}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn j12_no_argument_of_a_tool_makes_the_service_call_anybody() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    service.import(&org, "t.csv", b"a\n1\n", true).await.unwrap();
    let token = service.token(&org).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    for sql in [
        format!("SELECT * FROM read_csv('{url}')"),
        format!("SELECT * FROM '{url}.parquet'"),
        format!("SELECT * FROM read_text('{url}')"),
        format!("COPY (SELECT 1) TO '{url}'"),
        format!("ATTACH '{url}' AS x"),
        format!("INSTALL httpfs FROM '{url}'"),
        "LOAD httpfs".into(),
        format!("SELECT * FROM postgres_scan('{url}', 'public', 't')"),
    ] {
        let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": sql })).await;
        assert!(failed && body["error"]["code"] == "forbidden_sql", "{sql}: {body}");
    }
    for (tool, arguments) in [
        ("dragoman_get_schema", json!({ "dataset_id": url })),
        ("dragoman_search", json!({ "query": url, "dataset_id": url })),
    ] {
        assert!(service.tool(&token, tool, arguments).await.0, "{tool}");
    }
    for uri in [url.clone(), "file:///etc/passwd".into(), format!("dragoman://datasets/{url}")] {
        let (_, body) =
            json_of(service.rpc(&token, "resources/read", json!({ "uri": uri })).send().await.unwrap()).await;
        assert!(body["error"].is_object() || body["result"]["isError"] == true, "{uri}: {body}");
    }
    assert!(futures_util::FutureExt::now_or_never(listener.accept()).is_none(), "somebody was called");
}

/// What an attacker would like to read in an error.
#[track_caller]
fn tells_nothing(what: &str, text: &str) {
    let lower = text.to_ascii_lowercase();
    let version = env!("CARGO_PKG_VERSION");
    for told in [
        "select ", "insert ", "update ", "from users", "no such table", "relation ", "sqlx", "sqlite", "postgres",
        "stack", "backtrace", "panick", "src/", ".rs:", "/tmp/", "/root", "thread '", "unwrap", "duckdb", version,
        "axum", "hyper", "rustc", "serde",
    ] {
        assert!(!lower.contains(told), "{what} tells {told:?}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l12_no_error_tells_how_the_service_is_made() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        service.import(&org, "t.csv", b"a\n1\n", true).await.unwrap();
        let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
        let form = [("grant_type", "authorization_code"), ("code", "x"), ("client_id", "y"), ("code_verifier", "z")];
        let refresh = [("grant_type", "refresh_token"), ("refresh_token", "x"), ("client_id", "y")];
        let json = |body: &'static str| (body, "application/json");
        let requests = |service: &Service| {
            let post = |path: &str, (body, kind): (&'static str, &'static str)| {
                service.post(path, &token).header("content-type", kind).body(body)
            };
            vec![
                service.http.get(service.url("/nothing")),
                service.http.get(service.url("/api/v1/ext/datasets")),
                service.get("/api/v1/ext/datasets", "garbage"),
                service.get("/api/v1/ext/datasets/x/schema", &token),
                service.get("/api/v1/ext/datasets/%ff/schema", &token),
                service.get("/api/v1/ext/datasets/01936f2e-7c1a-7000-8000-000000000001/rows?limit=0", &token),
                service.get("/api/v1/ext/datasets", &token),
                post("/api/v1/ext/sql", json("{")),
                post("/api/v1/ext/sql", json(r#"{"sql":1}"#)),
                post("/api/v1/ext/sql", json(r#"{"sql":"SELECT * FROM nothing"}"#)),
                post("/api/v1/datasets", json("{}")),
                post("/mcp", json("{")),
                post("/mcp", json("[]")),
                post("/mcp", json(r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#)),
                post("/mcp", ("", "text/plain")),
                service.rpc(&token, "tools/call", json!({ "name": "dragoman_sql", "arguments": { "sql": 1 } })),
                service.rpc(&token, "resources/read", json!({ "uri": "dragoman://nothing" })),
                service.http.post(service.url("/api/oauth/token")).form(&form),
                service.http.post(service.url("/api/oauth/token")).form(&refresh),
                service.http.post(service.url("/api/oauth/token")).json(&json!({})),
                service.http.post(service.url("/api/oauth/revoke")).form(&[("token", "x"), ("client_id", "y")]),
                service.http.post(service.url("/api/oauth/register")).body("{"),
                service
                    .http
                    .post(service.url("/api/oauth/register"))
                    .json(&json!({ "redirect_uris": ["https://a.example/cb"] })),
                service.http.get(service.url("/api/oauth/authorize?client_id=x&redirect_uri=y")),
                service.http.post(service.url("/login")).form(&[("email", "a@b.example"), ("password", PASSWORD)]),
                service.http.get(service.url("/consent?request=x")).header("cookie", "dragoman=AAAAAAAAAAAAAAAAAAAAAA"),
                service.http.get(service.url("/health/ready")),
                service.http.get(service.url("/assets/nothing")),
            ]
        };
        let mut failures = 0;
        for broken in [false, true] {
            if broken {
                // The database fails as it would when a disk does: somewhere below every handler.
                for table in ["grants", "oauth_clients", "browser_sessions", "datasets"] {
                    let sql = format!("ALTER TABLE {table} RENAME TO {table}_away");
                    sqlx::query(sqlx::AssertSqlSafe(sql)).execute(service.db.pool()).await.unwrap();
                }
            }
            for request in requests(&service) {
                let request = request.build().unwrap();
                let what = format!("{} {}, broken: {broken}", request.method(), request.url().path());
                let response = service.http.execute(request).await.unwrap();
                let status = response.status().as_u16();
                failures += usize::from(status >= 500);
                assert!(broken || status < 500, "{what}: {status}");
                let headers = format!("{:?}", response.headers());
                assert!(!response.headers().contains_key("server") && !response.headers().contains_key("x-powered-by"));
                tells_nothing(&what, &headers.replace("x-request-id", ""));
                let body = response.text().await.unwrap();
                if status >= 400 {
                    tells_nothing(&what, &body);
                }
            }
        }
        assert!(failures > 5, "only {failures} requests met the broken database");
    })
    .await;
}
