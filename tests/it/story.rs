//! The whole story, started the way a user starts it: the program with its demo on a real port, clients that know
//! nothing but the address, a person at a browser, right answers, and everything still there after a restart.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use dragoman::gateway::operation::Operation as _;
use dragoman::model::access::Role;
use dragoman::ops::query::RunQuery;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion, ReadResourceRequestParams, ResourceContents};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::{AuthClient, AuthorizationManager, AuthorizationRequest, OAuthState};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::support::operations::tools_of;
use crate::support::program::{Program, clients, command, free_port};
use crate::support::service::http;

const ANSWER: &str = "SELECT a.name, round(avg(f.dep_delay), 2) AS delay FROM flights f JOIN airlines a USING (carrier) \
                      GROUP BY ALL ORDER BY delay DESC LIMIT 1";

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_knows_only_the_address_gets_right_answers() {
    let data = tempfile::tempdir().unwrap();
    let program = Program::start(data.path(), free_port()).await;
    let pictures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/artifacts");

    let legacy = ClientLifecycleMode::Initialize;
    let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for (era, mode) in [("legacy", legacy), ("modern", modern)] {
        eprintln!("rmcp, {era}");
        rust_client(&program, mode).await;
    }
    for flavour in ["sdk", "legacy", "modern"] {
        eprintln!("TypeScript, {flavour}");
        let said = typescript_client(&program, flavour, &pictures.join(flavour)).await;
        check_typescript(&program, flavour, &said);
    }

    second_process_is_refused(data.path()).await;
    let (base, first_up) = (program.base.clone(), program.up);
    program.stop().await;
    inspector(data.path(), &base).await;
    eprintln!("first start {first_up:?}");
}

/// Wherever in its start a signal meets it: the first process of a container has no default for one.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_told_to_stop_while_it_starts_stops_and_starts_again() {
    let data = tempfile::tempdir().unwrap();
    let serve = ["serve", "--demo", "--listen", "127.0.0.1:0"];
    let mut child = command(data.path()).args(serve).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while !lines.next_line().await.unwrap().unwrap().contains("Loading the demo") {}
    let pid = nix::unistd::Pid::from_raw(child.id().unwrap().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    let status = tokio::time::timeout(Duration::from_secs(60), child.wait()).await;
    assert!(status.expect("it stops within its time").unwrap().success());
    Program::start(data.path(), free_port()).await.stop().await;
}

/// `rmcp`'s own client: discovery, registration, PKCE, the code's exchange, then every kind of question.
async fn rust_client(program: &Program, mode: ClientLifecycleMode) {
    let http = http();
    let manager = AuthorizationManager::new_allowing_private_addresses(program.mcp()).await.unwrap();
    let mut oauth = OAuthState::Unauthorized(manager);
    let redirect = "http://127.0.0.1:43210/callback";
    let request = AuthorizationRequest::new(redirect).with_client_name("rmcp test").with_initial_scope_selection();
    oauth.start_authorization(request).await.unwrap();
    let address = oauth.get_authorization_url().await.unwrap();

    let (page, back) = program.person(&address).await;
    for word in ["rmcp test", "127.0.0.1", "Demo: New York flights 2013", "unverified"] {
        assert!(page.contains(word), "the consent page says {word}");
    }
    assert!(back.starts_with(redirect), "{back}");
    oauth.handle_callback_url(&back).await.unwrap();

    let manager = oauth.into_authorization_manager().unwrap();
    let client = AuthClient::new(http, manager);
    let config = StreamableHttpClientTransportConfig::with_uri(program.mcp());
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let client = ClientConfig::default().serve_with_lifecycle(transport, mode).await.unwrap();
    questions(&client).await;
    client.cancel().await.unwrap();
}

async fn call(client: &RunningService<RoleClient, ClientConfig>, name: &'static str, arguments: Value) -> Value {
    let params = CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(params).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{name}: {result:?}");
    result.structured_content.unwrap()
}

async fn questions(client: &RunningService<RoleClient, ClientConfig>) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), tools_of(Role::Admin));
    let resources = client.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), 8, "the catalogue, the ontologies and six datasets");

    let listed = call(client, "dragoman_list_datasets", json!({})).await;
    let flights = listed["datasets"].as_array().unwrap().iter().find(|dataset| dataset["name"] == "flights").unwrap();
    assert_eq!(flights["row_count"], 336_776);
    let id = &flights["id"];
    let schema = call(client, "dragoman_get_schema", json!({ "dataset_id": id })).await;
    assert_eq!((&schema["table_name"], schema["columns"].as_array().unwrap().len()), (&json!("flights"), 19));
    let preview = call(client, "dragoman_preview_rows", json!({ "dataset_id": id, "limit": 2 })).await;
    assert_eq!((&preview["row_count"], &preview["truncated"]), (&json!(2), &json!(true)));

    // Known from the published data set: the carrier with the longest average delay is Frontier, at 20.22 minutes.
    let answer = call(client, "dragoman_sql", json!({ "sql": ANSWER })).await;
    assert_eq!(answer["rows"], json!([["Frontier Airlines Inc.", 20.22]]));
    assert_eq!(answer["truncated"], false);
    let many = call(client, "dragoman_sql", json!({ "sql": "SELECT flight FROM flights" })).await;
    assert_eq!((&many["row_count"], &many["truncated"]), (&json!(500), &json!(true)));

    semantic(client).await;

    let found = call(client, "dragoman_search", json!({ "query": "how can I tell that a flight was cancelled" })).await;
    let best = &found["matches"][0];
    assert_eq!(best["metadata"]["source_file"], "delays.md", "{found}");
    let uri = format!("dragoman://documents/{}", best["metadata"]["document_id"].as_str().unwrap());
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else { panic!("{read:?}") };
    assert!(text.contains("8,255"), "the whole document");
}

/// As a model works that is shown tools alone: what there is, what it offers, and the query of the documents; the same
/// numbers as of SQL over the tables.
async fn semantic(client: &RunningService<RoleClient, ClientConfig>) {
    let listed = call(client, "dragoman_list_ontologies", json!({})).await;
    assert_eq!(listed["ontologies"][0]["name"], "nyc_flights", "{listed}");
    let told = call(client, "dragoman_get_ontology", json!({ "about": "delay from Kennedy" })).await;
    let values = told["values"].as_array().unwrap();
    assert!(values[0].as_str().unwrap().starts_with("flight.origin = 'JFK'"), "{told}");
    let everything = call(client, "dragoman_get_ontology", json!({})).await;
    assert!(everything.to_string().len() <= 24 << 10, "{} bytes", everything.to_string().len());
    for example in everything["examples"].as_array().unwrap() {
        let answer = call(client, "dragoman_query", example.clone()).await;
        assert_eq!(answer["outcome"], "answer", "{example}: {answer}");
    }
    let answer = call(client, "dragoman_query", serde_json::from_str(RunQuery::INFO.example).unwrap()).await;
    let counted = "SELECT a.name, count(*) FROM flights f JOIN airlines a USING (carrier) WHERE f.origin = 'JFK' AND \
                   f.month = 7 GROUP BY a.name ORDER BY 2 DESC LIMIT 5";
    let expected = call(client, "dragoman_sql", json!({ "sql": counted })).await;
    let both = |rows: &Value| {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| (row[0].clone(), row[1].clone())).collect::<Vec<_>>()
    };
    assert_eq!(both(&answer["table"]["rows"]), both(&expected["rows"]), "{answer}");
    // Several ways lead from a flight to an airport.
    let query = json!({ "measures": ["flight_count"], "dimensions": ["airport.name"] });
    let params = CallToolRequestParams::new("dragoman_query").with_arguments(query.as_object().unwrap().clone());
    let refused = client.call_tool(params).await.unwrap();
    let told = refused.content[0].as_text().unwrap().text.clone();
    assert!(refused.is_error == Some(true) && told.contains("origin.airport"), "{told}");
    let segments = ["cancelled flights"];
    let query = json!({ "measures": ["flight_count"], "dimensions": ["origin.airport.name"], "segments": segments });
    let answer = call(client, "dragoman_query", query).await;
    let counts: Vec<u64> =
        answer["table"]["rows"].as_array().unwrap().iter().filter_map(|row| row[1].as_u64()).collect();
    assert_eq!((counts.len(), counts.iter().sum::<u64>()), (3, 8_255), "{answer}");
}

async fn typescript_client(program: &Program, flavour: &str, pictures: &Path) -> Value {
    let output = Command::new("node")
        .current_dir(clients())
        .args(["story.mjs", flavour, &program.mcp(), "demo@example.com", &program.password])
        .arg(pictures)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{flavour}: {errors}");
    assert!(!errors.contains("ignored in schema"), "{flavour} finds fault with our schemas: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn check_typescript(program: &Program, flavour: &str, said: &Value) {
    assert_eq!(said["issuer"], program.base, "RFC 9207");
    assert_eq!(said["sql"], json!([["Frontier Airlines Inc.", 20.22]]));
    assert_eq!(said["tools"], json!(tools_of(Role::Admin)));
    assert_eq!(said["resources"].as_array().unwrap().len(), 8);
    assert_eq!((&said["columns"], &said["rows"], &said["best"]), (&json!(19), &json!(3), &json!("delays.md")));
    assert_eq!((&said["resource_table"], &said["has_refresh"]), (&json!("flights"), &json!(true)));
    assert_eq!(said["forbidden"]["isError"], true);
    assert_eq!(said["forbidden"]["body"]["error"]["code"], "forbidden_sql");
    let consent = said["pages"][1].as_str().unwrap();
    for word in [&format!("Foreign client ({flavour})"), "127.0.0.1", "Demo: New York flights 2013"] {
        assert!(consent.contains(word), "the consent page says {word}: {consent}");
    }
}

/// One data folder, one process; the refusal says what to do.
async fn second_process_is_refused(data: &Path) {
    let output = command(data).args(["serve", "--listen", "127.0.0.1:0"]).output().await.unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("another dragoman process is using the data folder"), "{said}");
    // A command that needs the data has the service do it.
    let output = command(data).args(["ontology", "list", "--workspace", "demo"]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Administration goes on beside the running service.
    let output = command(data).args(["admin", "workspace", "list"]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a connectivity token at the command line, starts the program again (quickly, with everything still there),
/// and asks through the Inspector's command line, in both eras.
async fn inspector(data: &Path, base: &str) {
    let create = ["admin", "token", "create", "--workspace", "demo", "--label", "inspector", "--json", "--scopes"];
    let output = command(data).args(create).arg("ext:datasets,ext:schema,ext:search,ext:sql").output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    let token = made["token"].as_str().unwrap_or_else(|| panic!("{made}"));
    assert!(token.starts_with("dgmcp_"));

    let port = base.rsplit(':').next().unwrap().parse().unwrap();
    let mut program = Program::start(data, port).await;
    // A busy machine only adds time: of a few starts the quickest tells.
    for _ in 0..4 {
        if program.up >= Duration::from_secs(2) {
            program.stop().await;
            program = Program::start(data, port).await;
        }
    }
    assert!(program.up < Duration::from_secs(2), "a second start took {:?}", program.up);
    for era in ["legacy", "modern"] {
        eprintln!("Inspector, {era}");
        let tools = inspect(&program, token, era, &["tools/list", "--strict"]).await;
        let names: Vec<&Value> = tools["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, tools_of(Role::Admin), "{tools}");
        views(&program, token, era, &tools["tools"]).await;
        let resources = inspect(&program, token, era, &["resources/list"]).await;
        assert_eq!(resources["resources"].as_array().unwrap().len(), 8, "{resources}");
        let arguments = json!({ "sql": ANSWER }).to_string();
        let call = ["tools/call", "--tool-name", "dragoman_sql", "--tool-args-json", &arguments];
        let answer = inspect(&program, token, era, &call).await;
        assert_eq!(answer["structuredContent"]["rows"], json!([["Frontier Airlines Inc.", 20.22]]), "{answer}");
    }
    program.stop().await;
}

/// The Inspector's check of MCP Apps, which reads the page that each tool names: of whoever has a view, and of nobody else,
/// one is found that may fetch nothing.
async fn views(program: &Program, token: &str, era: &str, tools: &Value) {
    let said = inspected(program, token, era, &["tools/list", "--app-info"]).await;
    let told: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tools = tools.as_array().unwrap();
    assert_eq!(told.len(), tools.len(), "{said}");
    assert!(told.iter().any(|tool| tool["toolName"] == "ask_question" && tool["hasApp"] == true), "{said}");
    for (tool, told) in tools.iter().zip(&told) {
        assert_eq!(told["toolName"], tool["name"], "{said}");
        let view = &tool["_meta"]["ui"]["resourceUri"];
        assert_eq!((&told["hasApp"], &told["resourceUri"]), (&json!(!view.is_null()), view), "{told}");
        if !view.is_null() {
            assert_eq!(told["resourceMimeType"], "text/html;profile=mcp-app", "the page was read: {told}");
            let domains = told["csp"].as_object().unwrap();
            assert!(domains.len() == 4 && domains.values().all(|list| *list == json!([])), "{told}");
        }
    }
}

async fn inspect(program: &Program, token: &str, era: &str, method: &[&str]) -> Value {
    let out = inspected(program, token, era, method).await;
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{method:?}: {out}"));
    answer.get("result").cloned().unwrap_or(answer)
}

async fn inspected(program: &Program, token: &str, era: &str, method: &[&str]) -> String {
    let output = Command::new("./inspector.sh")
        .current_dir(clients())
        .args([&program.mcp(), era])
        .args(method)
        .env("TOKEN", token)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(60), output).await.unwrap().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{method:?} {era}: {out}{errors}");
    out.into_owned()
}
