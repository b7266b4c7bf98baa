//! Every refusal has its exact code, on MCP and on REST, and leaves a row in the audit log.

use std::time::{Duration, Instant};

use dragoman::base::secret::{Secret, base64url, sha256};
use dragoman::identity::grants::Approval;
use dragoman::model::access::{Role, Scope};
use dragoman::model::acr::Acr;
use dragoman::model::org::Org;
use dragoman::store::audit;
use serde_json::{Value, json};

use crate::site::{REDIRECT, VERIFIER};
use crate::support::operations::tools_of;
use crate::support::service::{PASSWORD, Service, json_of};

const SALES: &[u8] = b"region,total\nnorth,10\nsouth,20\n";

/// Two workspaces, each with one published and one unpublished table.
async fn two_workspaces() -> (Service, Org, Org) {
    let service = Service::with(&[("DRAGOMAN_SQL_SECONDS", "2")]).await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    for org in [&acme, &other] {
        service.import(org, "sales.csv", SALES, true).await.unwrap();
        service.import(org, "secret.csv", b"word\nxyzzy\n", false).await.unwrap();
    }
    (service, acme, other)
}

async fn dataset_id(service: &Service, org: &Org, name: &str) -> String {
    dragoman::store::datasets::by_name(&mut service.db.read_everyone().await.unwrap(), org.id, name)
        .await
        .unwrap()
        .unwrap()
        .id
        .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn i01_without_a_token_the_answer_is_the_challenge_whatever_the_body() {
    let service = Service::start().await;
    for body in ["", "{", "[]", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#] {
        for path in ["/mcp", "/mcp/", "/t/acme/mcp"] {
            let response = service.http.post(service.url(path)).body(body).send().await.unwrap();
            assert_eq!(response.status(), 401, "{path} {body}");
            let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
            let metadata = format!("resource_metadata=\"{}", service.url("/.well-known/oauth-protected-resource"));
            assert!(challenge.starts_with("Bearer ") && challenge.contains(&metadata), "{challenge}");
            assert!(!challenge.contains("error="), "I01: a bare challenge: {challenge}");
        }
    }
    let entry = dragoman::store::audit::newest(&service.db, None, 1).await.unwrap().remove(0).1;
    assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("auth.refused", "auth_missing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn i14_tokens_for_another_audience_and_bad_tokens_are_refused() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let elsewhere = service.url("/t/acme/mcp");
    let token = service.access_token_for(&org, Role::Admin, &Scope::ALL, &elsewhere).await;
    for (path, token) in [("/mcp", token.as_str()), ("/api/v1/ext/datasets", &token), ("/mcp", "dgmcp_AAAAAAAA_00")] {
        let response = service.get(path, token).send().await.unwrap();
        assert_eq!(response.status(), 401, "{path}");
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    }
    let (status, body) = json_of(service.get("/api/v1/ext/datasets", "nonsense").send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("auth_invalid")));
}

#[tokio::test(flavor = "multi_thread")]
async fn i25_an_expired_token_is_refused_as_expired() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Viewer, &[Scope::DataRead]).await;
    service.clock.advance(Duration::from_secs(599));
    assert_eq!(service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status(), 200);
    // Ten minutes, and the minute that clocks may differ by.
    service.clock.advance(Duration::from_secs(62));
    let (status, body) = json_of(service.get("/api/v1/ext/datasets", &token).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("auth_expired")));
    let entry = dragoman::store::audit::newest(&service.db, None, 1).await.unwrap().remove(0).1;
    assert_eq!(entry.outcome, "auth_expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_unpublished_and_absent_datasets_are_the_same_nothing() {
    let (service, acme, other) = two_workspaces().await;
    let token = service.access_token(&acme, Role::Admin, &Scope::ALL).await;
    let absent = "01936f2e-7c1a-7000-8000-000000000001".to_owned();
    let named = [dataset_id(&service, &other, "sales").await, dataset_id(&service, &acme, "secret").await, absent];
    let (mut tools, mut rest, mut resources) = (Vec::new(), Vec::new(), Vec::new());
    for id in &named {
        for (tool, arguments) in [
            ("dragoman_get_schema", json!({ "dataset_id": id })),
            ("dragoman_preview_rows", json!({ "dataset_id": id })),
            ("dragoman_sql", json!({ "sql": "SELECT 1", "dataset_id": id })),
            ("dragoman_search", json!({ "query": "x", "dataset_id": id })),
        ] {
            let (failed, body) = service.tool(&token, tool, arguments).await;
            assert!(failed, "{tool}");
            assert_eq!(service.last_audit(&acme).await.outcome, "dataset_not_found");
            tools.push(body["error"].clone());
        }
        let response = service.get(&format!("/api/v1/ext/datasets/{id}/schema"), &token).send().await.unwrap();
        let (status, body) = json_of(response).await;
        rest.push((status, body["error"].clone()));
        let uri = format!("dragoman://datasets/{id}");
        let response = service.rpc(&token, "resources/read", json!({ "uri": uri })).send().await.unwrap();
        let (_, body) = json_of(response).await;
        assert_eq!(body["error"]["code"], -32602, "2026-07-28: not found is invalid params: {body}");
        resources.push(body["error"]["message"].clone());
    }
    assert!(tools.iter().all(|error| *error == tools[0]), "{tools:#?}");
    assert_eq!(tools[0]["code"], "dataset_not_found");
    assert!(rest.iter().all(|answer| *answer == rest[0]) && rest[0].0 == 404, "{rest:#?}");
    assert!(resources.iter().all(|message| *message == resources[0]), "{resources:#?}");

    // Nor can SQL name them.
    for (table, code) in
        [("secret", "invalid_argument"), ("other.sales", "forbidden_sql"), ("nonsense", "invalid_argument")]
    {
        let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": format!("FROM {table}") })).await;
        assert!(failed && body["error"]["code"] == code, "{table}: {body}");
        assert!(!body.to_string().contains("xyzzy"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i19_j11_a_viewer_does_not_run_sql_and_a_client_without_the_scope_is_told_how_to_ask() {
    let (service, acme, _) = two_workspaces().await;
    let scopes = [Scope::DataRead, Scope::DataWrite, Scope::OntologiesRead];
    let viewer = service.access_token(&acme, Role::Viewer, &scopes).await;
    let (failed, body) = service.tool(&viewer, "dragoman_sql", json!({ "sql": "SELECT 1" })).await;
    assert!(failed);
    assert_eq!(body["error"]["code"], "scope_denied");
    assert_eq!(body["error"]["details"]["required_role"], "contributor");
    let entry = service.last_audit(&acme).await;
    assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("mcp.tool.call", "scope_denied"));
    let sql = service.post("/api/v1/ext/sql", &viewer).json(&json!({ "sql": "SELECT 1" })).send().await.unwrap();
    assert_eq!(json_of(sql).await.0, 403);

    // Looking at resources is under a scope as well.
    let narrow = service.access_token(&acme, Role::Viewer, &[Scope::OntologiesRead]).await;
    for (method, params) in [("resources/list", json!({})), ("resources/read", json!({ "uri": "dragoman://datasets" }))]
    {
        let response = service.rpc(&narrow, method, params).send().await.unwrap();
        assert_eq!(response.status(), 403, "{method}");
        let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
        assert!(
            challenge.contains("error=\"insufficient_scope\"") && challenge.contains("data_agent:read"),
            "{challenge}"
        );
        let entry = service.last_audit(&acme).await;
        assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("mcp.resource.read", "scope_denied"));
    }

    // The tool is not even listed.
    let (_, listed) = json_of(service.rpc(&viewer, "tools/list", json!({})).send().await.unwrap()).await;
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, tools_of(Role::Viewer));
    assert_eq!(listed["result"]["cacheScope"], "private");

    // I19: a contributor's client that was not given the scope gets one challenge with all that it needs.
    let reader = service.access_token(&acme, Role::Contributor, &[Scope::DataRead]).await;
    let call = json!({ "name": "dragoman_sql", "arguments": { "sql": "SELECT 1" } });
    let response = service.rpc(&reader, "tools/call", call).send().await.unwrap();
    assert_eq!(response.status(), 403);
    let challenge = response.headers()["www-authenticate"].to_str().unwrap().to_owned();
    for part in ["error=\"insufficient_scope\"", "data_agent:write", "resource_metadata="] {
        assert!(challenge.contains(part), "{challenge}");
    }
    let (_, body) = json_of(response).await;
    assert_eq!(body["error"]["code"], -32001, "{body}");
    assert_eq!(service.last_audit(&acme).await.outcome, "scope_denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn writing_files_and_endless_queries_are_refused_with_their_codes() {
    let (service, acme, _) = two_workspaces().await;
    let token = service.access_token(&acme, Role::Contributor, &[Scope::DataWrite]).await;
    let long = format!("SELECT '{}'", "x".repeat(5000));
    for (sql, code) in [
        ("DELETE FROM sales", "forbidden_sql"),
        ("WITH d AS (DELETE FROM sales RETURNING *) SELECT * FROM d", "forbidden_sql"),
        ("FROM '/etc/passwd'", "forbidden_sql"),
        ("SELECT * FROM read_text('/etc/passwd')", "forbidden_sql"),
        ("SELECT 1; SELECT 2", "forbidden_sql"),
        (&long, "sql_too_long"),
        ("SELECT count(*) FROM range(100000000000) a, range(1000) b", "query_timeout"),
    ] {
        let started = Instant::now();
        let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": sql })).await;
        let shown: String = sql.chars().take(60).collect();
        assert!(failed, "{shown}: {body}");
        assert_eq!(body["error"]["code"], code, "{shown}: {body}");
        // Less than a query has when nobody sets its time.
        assert!(started.elapsed() < Duration::from_secs(9), "{shown} took {:?}", started.elapsed());
        let entry = service.last_audit(&acme).await;
        assert_eq!(entry.outcome, code, "{shown}");
        assert!(entry.target.len() <= 600 && entry.target.starts_with("dragoman_sql "), "{}", entry.target);
        let status =
            json_of(service.post("/api/v1/ext/sql", &token).json(&json!({ "sql": sql })).send().await.unwrap());
        assert_eq!(status.await.0, if code == "query_timeout" { 408 } else { 400 }, "{shown}");
    }
    let (failed, body) = service.tool(&token, "dragoman_sql", json!({ "sql": "SELECT sum(total) FROM sales" })).await;
    assert!(!failed, "the next query answers: {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_unknown_tools_and_shapes_are_told_apart() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let (failed, body) = service.tool(&token, "dragoman_preview_rows", json!({ "dataset": "x" })).await;
    assert!(failed);
    assert_eq!(body["error"]["code"], "invalid_argument");
    assert_eq!(body["error"]["details"]["field"], "dataset");
    let response = service.rpc(&token, "tools/call", json!({ "name": "drop_all", "arguments": {} })).send().await;
    assert_eq!(json_of(response.unwrap()).await.1["error"]["code"], -32602);
    assert_eq!(service.last_audit(&org).await.outcome, "invalid_argument");
    for (body, code) in [("{", -32700), ("[{}]", -32600), ("3", -32600)] {
        let response = service.post("/mcp", &token).header("content-type", "application/json").body(body).send().await;
        let (status, answer) = json_of(response.unwrap()).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &Value::from(code)), "{body}");
    }
    let big = "x".repeat((1 << 20) + 1);
    let (status, _) = json_of(service.post("/mcp", &token).body(big).send().await.unwrap()).await;
    assert_eq!(status, 413);
    let (status, body) = json_of(service.http.get(service.url("/.well-known/other")).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")));
}

#[tokio::test(flavor = "multi_thread")]
async fn j01_j02_h02_origins_and_hosts_that_are_not_ours_are_refused() {
    let service = Service::with(&[("DRAGOMAN_ALLOWED_ORIGINS", "http://localhost:6274")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    let with =
        |name: &'static str, value: String| service.rpc(&token, "tools/list", json!({})).header(name, value).send();
    for (origin, status) in [
        ("https://evil.example".to_owned(), 403),
        ("null".to_owned(), 403),
        (service.url(""), 200),
        ("http://localhost:6274".to_owned(), 200),
    ] {
        assert_eq!(with("origin", origin.clone()).await.unwrap().status(), status, "J01: {origin}");
    }
    assert_eq!(with("host", "evil.example".into()).await.unwrap().status(), 403, "J02");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_met_with_429_and_say_when_to_come_back() {
    let service = Service::with(&[("DRAGOMAN_EXT_RATE_TOKEN", "3")]).await;
    let org = service.workspace("acme").await;
    let token = service.token(&org).await;
    for _ in 0..3 {
        assert_eq!(service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status(), 200);
    }
    let response = service.get("/api/v1/ext/datasets", &token).send().await.unwrap();
    assert_eq!(response.status(), 429);
    assert!(response.headers()["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    let (_, body) = json_of(response).await;
    assert_eq!((&body["error"]["code"], &body["error"]["details"]["limit"]), (&json!("rate_limited"), &json!("token")));
    assert_eq!(service.last_audit(&org).await.outcome, "rate_limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_switch_of_a_workspace_holds_at_once() {
    let (service, acme, _) = two_workspaces().await;
    let token = service.token(&acme).await;
    assert!(!service.tool(&token, "dragoman_list_datasets", json!({})).await.0);
    service.identity.set_connectivity(acme.id, false).await.unwrap();
    let (failed, body) = service.tool(&token, "dragoman_list_datasets", json!({})).await;
    assert!(failed && body["error"]["code"] == "service_unavailable", "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c01_d01_what_is_used_again_is_in_the_record_of_the_workspace_whose_grant_it_was() {
    Service::both(async |service| {
        let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
        let ann = service.identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
        service.identity.set_role(acme.id, ann.id, Role::Viewer).await.unwrap();
        let body = json!({ "client_name": "Test client", "redirect_uris": ["http://127.0.0.1/callback"] });
        let register = service.http.post(service.url("/api/oauth/register")).json(&body);
        let (_, client) = json_of(register.send().await.unwrap()).await;
        let client = client["client_id"].as_str().unwrap();
        let approval = Approval {
            client_id: client.into(),
            user: ann.id,
            org: acme.id,
            scopes: vec![Scope::DataRead],
            resource: service.config.resource(),
            redirect_uri: REDIRECT.into(),
            code_challenge: base64url(&sha256(VERIFIER.as_bytes())),
            auth_time: service.clock.now(),
            session_hash: None,
            acr: Acr::Aal1,
        };
        let code = service.identity.approve(approval).await.unwrap();
        let by_code = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        let exchange = async |form: &[(&str, &str)]| {
            json_of(service.http.post(service.url("/api/oauth/token")).form(form).send().await.unwrap()).await
        };
        let opens = async |access: &Value| {
            let request = service.get("/api/v1/ext/datasets", access.as_str().unwrap());
            request.send().await.unwrap().status().as_u16()
        };
        let (status, first) = exchange(&by_code).await;
        assert_eq!(status, 200, "{first}");
        // Pressed twice: refused, and nothing ends.
        let (status, again) = exchange(&by_code).await;
        assert_eq!((status, &again["error"]), (400, &json!("invalid_grant")));
        assert_eq!(opens(&first["access_token"]).await, 200);
        let token = first["refresh_token"].as_str().unwrap();
        let by_refresh = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)];
        let (status, second) = exchange(&by_refresh).await;
        assert_eq!(status, 200, "{second}");
        service.clock.advance(Duration::from_secs(31));
        for form in [&by_refresh[..], &by_code] {
            let (status, refused) = exchange(form).await;
            assert_eq!((status, &refused["error"]), (400, &json!("invalid_grant")));
            assert_eq!(opens(&second["access_token"]).await, 401, "the grant has ended");
        }
        let rows = async |org: Option<&Org>| {
            let rows = audit::newest(&service.db, org.map(|org| org.id), 100).await.unwrap();
            let mut rows: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();
            rows.retain(|row| row.action == "oauth.token");
            rows.reverse();
            rows
        };
        let person = format!("user:{}", ann.id);
        let of_code = format!("authorization_code used again, of {person}");
        let of_refresh = format!("refresh_token used again, of {person}");
        let kept = rows(Some(&acme)).await;
        let told: Vec<_> = kept.iter().map(|row| (&*row.outcome, &*row.target, &*row.principal)).collect();
        let expected = [
            ("ok", "authorization_code", &*person),
            ("invalid_grant", &of_code, ""),
            ("ok", "refresh_token", &person),
            ("invalid_grant", &of_refresh, ""),
            ("invalid_grant", &of_code, ""),
        ];
        assert_eq!(told, expected);
        assert!(kept.iter().all(|row| row.client == client), "{kept:#?}");
        assert_eq!(audit::verify(&service.db, Some(acme.id)).await.unwrap(), None);
        assert!(rows(Some(&other)).await.is_empty() && rows(None).await.is_empty());
    })
    .await;
}
