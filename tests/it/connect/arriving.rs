//! A client is seen on its way in, by whoever it belongs to and by nobody else; and the test of the way finds what is
//! wrong with it.

use std::net::SocketAddr;

use axum::extract::Request;
use axum::http::{HeaderName, header};
use dragoman::base::secret::Secret;
use dragoman::gateway::Via;
use dragoman::identity::clients::NewClient;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::org::Org;
use dragoman::ops::connectivity::test::TestConnectivity;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::Place;
use crate::console::person;
use crate::nginx::Nginx;
use crate::site::Browser;
use crate::support::program::free_port;
use crate::support::service::{PASSWORD, Service, as_json, http, in_console};

const BACK: &str = "http://localhost:8787/callback";

/// The states of the checkpoints, and what is told to do.
async fn states(browser: &Browser, platform: &str, token: &str) -> (Vec<(String, &'static str)>, String) {
    let page = browser.get(&format!("/w/acme/connect/{platform}/seen{token}")).await;
    assert_eq!(page.status(), 200);
    let text = page.text().await.unwrap();
    let state = |line: &str| match line {
        line if line.contains("not seen yet") => "waiting",
        line if line.contains("follows from") => "follows",
        _ => "seen",
    };
    let title = |line: &str| line.split("<strong>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let lines = text.lines().filter(|line| line.starts_with("<li"));
    (lines.map(|line| (title(line), state(line))).collect(), text)
}

fn words(states: &[(String, &'static str)]) -> Vec<&'static str> {
    states.iter().map(|(_, state)| *state).collect()
}

/// A client that calls itself so, as it registers.
async fn registered(service: &Service, name: &str) -> String {
    let new =
        NewClient { name: name.into(), redirect_uris: vec![BACK.into()], application_type: "native".into(), uri: None };
    service.identity.register_client(new).await.unwrap().id
}

fn authorize(service: &Service, client: &str, org: &Org) -> String {
    let resource = service.url(&format!("/t/{}/mcp", org.slug));
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", BACK),
            ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
            ("state", "x"),
        ])
        .finish();
    format!("/api/oauth/authorize?{query}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_seen_step_by_step_and_only_by_its_person() {
    Service::both(async |service| {
        let org = service.workspace("acme").await;
        service.import(&org, "flights.csv", super::FLIGHTS, true).await.unwrap();
        let (ann, browser) = person(&service, "ann@example.com", &[(&org, Role::Contributor)]).await;
        let (bob, of_bob) = person(&service, "bob@example.com", &[(&org, Role::Admin)]).await;
        let seen = async |whose: &Browser| words(&states(whose, "cursor", "").await.0);
        assert_eq!(seen(&browser).await, ["waiting"; 5]);

        // It asks at the workspace's address, and is sent to sign in.
        let knocked = service.http.post(service.url("/t/acme/mcp")).send().await.unwrap();
        assert_eq!(knocked.status(), 401);
        assert_eq!(seen(&browser).await, ["seen", "waiting", "waiting", "waiting", "waiting"]);
        let (_, text) = states(&browser, "claude", "").await;
        assert!(!text.contains("class=\"seen\""), "hosted clients use another address: {text}");

        // It brings the person here.
        let client = registered(&service, "Cursor").await;
        let to_consent = browser.get(&authorize(&service, &client, &org)).await;
        assert_eq!(to_consent.status(), 303);
        assert_eq!(seen(&browser).await, ["seen", "seen", "waiting", "waiting", "waiting"]);

        // The person approves, and it fetches its token, lists the tools, and asks.
        let token = service.access_token_by(&org, ann.id, &[Scope::DataRead], (&client, BACK)).await;
        assert_eq!(seen(&browser).await, ["seen", "seen", "seen", "waiting", "waiting"]);
        let listed = service.rpc(&token, "tools/list", json!({})).send().await.unwrap();
        assert_eq!(listed.status(), 200);
        assert_eq!(seen(&browser).await, ["seen", "seen", "seen", "waiting", "waiting"], "it called itself raw");
        let call = json!({ "name": "dragoman_list_datasets", "arguments": {} });
        for (method, params, expected) in [
            ("tools/list", json!({}), ["seen", "seen", "seen", "seen", "waiting"]),
            ("tools/call", call, ["seen", "seen", "seen", "seen", "seen"]),
        ] {
            assert_eq!(said_by(&service, &token, "cursor-vscode", method, params).await, 200);
            assert_eq!(seen(&browser).await, expected, "{method}");
        }
        let (_, text) = states(&browser, "cursor", "").await;
        assert!(text.contains("data-complete") && text.contains("It works"), "{text}");

        // Nobody else sees it, and it is not taken for another client.
        assert_eq!(seen(&of_bob).await, ["seen", "waiting", "waiting", "waiting", "waiting"]);
        assert_eq!(words(&states(&browser, "vscode", "").await.0)[2..], ["waiting"; 3]);
        // Another workspace's person knocks at another address.
        let other = service.workspace("other").await;
        service.identity.set_role(other.id, bob.id, Role::Admin).await.unwrap();
        let there = of_bob.get("/w/other/connect/cursor/seen").await.text().await.unwrap();
        assert!(!there.contains("class=\"seen\""), "{there}");
        service.stop().await;
    })
    .await;
}

/// A request of a client that calls itself so; its status.
async fn said_by(service: &Service, token: &str, name: &str, method: &str, mut params: Value) -> u16 {
    let tool = params["name"].as_str().unwrap_or("").to_owned();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" },
    });
    let mut request = service.post("/mcp", token).header("accept", "application/json, text/event-stream");
    request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
    if !tool.is_empty() {
        request = request.header("mcp-name", tool);
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    request.json(&body).send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_token_is_seen_by_what_the_token_did() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let (_, browser) = person(&service, "ann@example.com", &[(&org, Role::Admin)]).await;
    assert_eq!(words(&states(&browser, "inspector", "").await.0), ["waiting"; 3]);
    let secret = service.token(&org).await;
    assert_eq!(words(&states(&browser, "inspector", "").await.0), ["seen", "waiting", "waiting"]);
    // A call alone: what comes before it follows.
    let call = json!({ "name": "dragoman_list_datasets", "arguments": {} });
    said_by(&service, &secret, "any", "tools/call", call).await;
    assert_eq!(words(&states(&browser, "inspector", "").await.0), ["seen", "follows", "seen"]);
    assert_eq!(words(&states(&browser, "program", "").await.0), ["seen", "waiting"], "nothing was asked over REST");
    service.get("/api/v1/ext/datasets", &secret).send().await.unwrap();
    assert_eq!(words(&states(&browser, "program", "").await.0), ["seen", "seen"]);
    // Another token has done nothing yet.
    let (other, _) = service.identity.create_token(org.id, "other", &ExtScope::ALL, None).await.unwrap();
    let of_other = states(&browser, "program", &format!("?token={}", other.id)).await;
    assert_eq!(words(&of_other.0), ["seen", "waiting"]);
    // What a token is called is the admins' to know.
    let (_, viewer) = person(&service, "vic@example.com", &[(&org, Role::Viewer)]).await;
    let (shown, text) = states(&viewer, "program", "").await;
    assert!(shown[0].1 == "seen" && !text.contains("other") && !text.contains("test"), "{text}");
    service.stop().await;
}

async fn tested(place: &Place, body: Value) -> Value {
    let (status, report) = place.service.manage(&place.token, "POST", "/connectivity/test", Some(body)).await;
    assert_eq!(status, 200, "{report}");
    report
}

fn outcome<'a>(report: &'a Value, id: &str) -> &'a str {
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {report:#}"));
    check["outcome"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_test_goes_the_whole_way_and_leaves_nothing_behind() {
    Service::both(async |service| {
        let place = Place::open(service).await;
        let (service, org) = (&place.service, place.org.id);
        let report = tested(&place, json!({ "platform": "cursor" })).await;
        assert_eq!((&report["ok"], &report["sample_query_ok"]), (&true.into(), &true.into()), "{report:#}");
        assert_eq!((&report["datasets_accessible"], &report["errors"]), (&1.into(), &json!([])), "{report:#}");
        let all = [
            "address", "reach", "challenge", "resource", "workspace_resource", "authorization_server", "registration",
            "token_endpoint", "switch", "mcp", "sample_query",
        ];
        for id in all {
            assert_eq!(outcome(&report, id), "passed", "{report:#}");
        }
        assert!(report["latency_ms"].is_u64() && report.get("token_valid").is_none());
        assert!(service.identity.tokens(org).await.unwrap().is_empty(), "the token of the test is forgotten");

        // A token that is looked at, and its rights.
        let (few, _) = service.identity.create_token(org, "few", &[ExtScope::Schema], None).await.unwrap();
        let report = tested(&place, json!({ "platform": "program", "token_id": few.id })).await;
        assert_eq!((&report["token_valid"], &report["scopes"]), (&true.into(), &json!(["ext:schema"])), "{report:#}");
        assert_eq!(outcome(&report, "sample_query"), "skipped");
        service.identity.revoke_token(org, &few.id).await.unwrap();
        let report = tested(&place, json!({ "platform": "program", "token_id": few.id })).await;
        assert_eq!((&report["token_valid"], &report["ok"]), (&false.into(), &false.into()));
        assert!(!report["recommendations"].as_array().unwrap().is_empty());
        // Ten tokens leave no room for the one of the test, which says so.
        for number in 0..10 {
            service.identity.create_token(org, &format!("t{number}"), &ExtScope::ALL, None).await.unwrap();
        }
        assert_eq!(outcome(&tested(&place, json!({ "platform": "program" })).await, "mcp"), "skipped");
        place.service.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_test_says_what_is_wrong_and_what_mends_it() {
    let place = Place::open(Service::start().await).await;
    // A client of a cloud does not reach this machine.
    let report = tested(&place, json!({ "platform": "claude" })).await;
    assert_eq!((outcome(&report, "address"), outcome(&report, "mcp")), ("failed", "passed"), "{report:#}");
    assert!(report["recommendations"][0].as_str().unwrap().contains("DRAGOMAN_PUBLIC_URL"));
    // Nothing is published.
    let datasets = place.service.get("/api/v1/ext/datasets", &place.token).send().await.unwrap();
    let datasets: Value = datasets.json().await.unwrap();
    let path = format!("/datasets/{}", datasets["datasets"][0]["id"].as_str().unwrap());
    let body = json!({ "externally_queryable": false });
    let (status, body) = place.service.manage(&place.token, "PATCH", &path, Some(body)).await;
    assert_eq!(status, 200, "{body}");
    let report = tested(&place, json!({ "platform": "program" })).await;
    assert_eq!((outcome(&report, "sample_query"), &report["datasets_accessible"]), ("failed", &0.into()), "{report:#}");
    // Only admins test.
    let (_, viewer) = place.service.member(&place.org, "vic@example.com", Role::Viewer).await;
    assert_eq!(
        place.service.manage(&viewer, "POST", "/connectivity/test", Some(json!({ "platform": "program" }))).await.0,
        403
    );
    place.service.stop().await;
}

/// The test of a service whose public address is `base`, as an admin in the console has it.
async fn tested_behind(service: &Service) -> Value {
    let org = service.workspace("acme").await;
    service.import(&org, "flights.csv", super::FLIGHTS, true).await.unwrap();
    let ann = service.identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
    service.identity.set_role(org.id, ann.id, Role::Admin).await.unwrap();
    let caller = in_console(service, &org, ann.id, Role::Admin);
    let op = TestConnectivity { platform: "program".into(), token_id: None };
    as_json(service.gateway.call(&caller, op, Via::new("t")).await).unwrap()
}

/// What a step that failed says is to be done.
fn mend<'a>(report: &'a Value, id: &str) -> &'a str {
    assert_eq!(outcome(report, id), "failed", "{report:#}");
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["id"] == id).unwrap()["mend"].as_str().unwrap()
}

/// The address is wrong, or nothing is there: it says so at once, and asks nobody else.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_at_which_nothing_answers_is_said() {
    let service = Service::with(&[("DRAGOMAN_PUBLIC_URL", "http://127.0.0.1:9")]).await;
    let report = tested_behind(&service).await;
    assert!(mend(&report, "reach").contains("listens"), "{report:#}");
    service.stop().await;
}

/// A certificate of one's own: no client accepts it, and the test does not either.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_nobody_vouches_for_is_said() {
    let https = free_port();
    let service = Service::with(&[("DRAGOMAN_PUBLIC_URL", &format!("https://localhost:{https}"))]).await;
    let nginx = Nginx::start(https, service.config.listen.port());
    let report = tested_behind(&service).await;
    let mend = mend(&report, "reach");
    assert!(mend.contains("certificate") && mend.contains("public authority"), "{report:#}");
    assert_eq!(report["checks"].as_array().unwrap().len(), 2, "nothing else is tried: {report:#}");
    drop(nginx);
    service.stop().await;
}

/// A proxy before the service that passes everything on but one header, of requests or of answers.
async fn proxy(listener: TcpListener, service: SocketAddr, dropped: HeaderName) {
    let http = http();
    let pass = move |mut request: Request| {
        let (http, dropped) = (http.clone(), dropped.clone());
        async move {
            let headers = request.headers_mut();
            headers.remove(&dropped);
            let url = format!("http://{service}{}", request.uri());
            let asked = http.request(request.method().clone(), url).headers(request.headers().clone());
            let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
            let mut answer = axum::http::Response::from(asked.body(body).send().await.unwrap());
            answer.headers_mut().remove(&dropped);
            answer.map(axum::body::Body::new)
        }
    };
    axum::serve(listener, axum::Router::new().fallback(pass)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_swallows_a_header_is_found_by_what_it_swallows() {
    for (dropped, id, said) in [
        (header::WWW_AUTHENTICATE, "challenge", "WWW-Authenticate"),
        (header::AUTHORIZATION, "mcp", "Authorization"),
        (header::AUTHORIZATION, "sample_query", "Authorization"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let service = Service::with(&[("DRAGOMAN_PUBLIC_URL", &base)]).await;
        let proxy = tokio::spawn(proxy(listener, service.config.listen, dropped));
        let report = tested_behind(&service).await;
        assert!(mend(&report, id).contains(said), "{report:#}");
        let failed = report["errors"].as_array().unwrap().len();
        assert_eq!(failed, if id == "challenge" { 1 } else { 2 }, "and nothing else is: {report:#}");
        proxy.abort();
        service.stop().await;
    }
}
