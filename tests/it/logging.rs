//! The log of the program, asked for as much as there is, while a stranger makes every field hostile that a stranger can
//! write: no text makes a line of its own, or a field, or speaks to a terminal; and what stands in a body is in no line.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dragoman::base::secret::{base64url, sha256};
use reqwest::header::HeaderValue;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::site::{Browser, REDIRECT, VERIFIER, client, field, location, param, refresh};
use crate::support::program::{command, free_port};

/// Stands in bodies: arguments, statements, passwords, tokens, files.
const CANARY: &str = "kanarie4f9Qx7Lk2mZ0aVbN8cR5t";

/// Forges a line in both formats, colours the terminal, turns the direction of writing, and adds a field.
const HOSTILE: &str = "x\n2026-01-01T00:00:00.000000Z  INFO dragoman::http: answered request_id=forged status=200\r\n\
                       {\"timestamp\":\"2026-01-01T00:00:00.000000Z\",\"level\":\"INFO\",\"target\":\"dragoman::http\",\
                       \"message\":\"answered\",\"request_id\":\"forged\"}\n\u{1b}[31m\u{9b}2J\u{7}\u{202e}\u{200b}\
                       \u{2028}\u{85}\" status=200 \\";

/// What of it a header takes.
const IN_HEADER: &str = "x\" status=200 request_id=forged \\ \u{202e}\u{200b}\u{2028}\u{85}\u{9b}";

/// No line holds these, and no control character.
const HIDDEN: [char; 3] = ['\u{202e}', '\u{200b}', '\u{2028}'];

#[tokio::test(flavor = "multi_thread")]
async fn nobody_forges_a_line_of_the_log_and_no_body_is_in_it() {
    for format in ["text", "json"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let (log, sent) = story(&data, format).await;
        judge(format, &log, &sent);
    }
}

/// `dragoman serve | head -1`, whose reader has gone by the time that there is more to say.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_words_nobody_reads_serves_all_the_same() {
    let data = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut serve = command(data.path());
    let mut program = serve.args(["serve", "--listen", &address]).stdout(writer).spawn().unwrap();
    let http = client(false);
    let answered = async {
        loop {
            match http.get(format!("http://{address}/health/ready")).send().await {
                Ok(response) if response.status() == 200 => return,
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    tokio::select! {
        () = answered => {}
        ended = program.wait() => panic!("it ended: {ended:?}"),
    }
    program.kill().await.unwrap();
}

/// Everybody behind it counts as one address: whoever forgot to name it has to learn that.
#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_no_setting_names_is_told_of_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, address) = (folder.path().join("log"), format!("127.0.0.1:{}", free_port()));
    let mut serve = command(&folder.path().join("data"));
    let stderr = std::fs::File::create(&path).unwrap();
    let serve = serve.args(["serve", "--listen", &address]).stdout(Stdio::piped()).stderr(stderr);
    let mut program = serve.spawn().unwrap();
    let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
    let first = said.next_line().await.unwrap().expect("the program ended before it was up");
    assert!(first.contains("is up on"), "{first}");
    let http = client(false);
    for forwarded in ["203.0.113.9", "203.0.113.10"] {
        let request = http.get(format!("http://{address}/health/live")).header("x-forwarded-for", forwarded);
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    let pid = nix::unistd::Pid::from_raw(program.id().unwrap().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(program.wait().await.unwrap().success());
    let log = std::fs::read_to_string(path).unwrap();
    assert_eq!(log.matches("DRAGOMAN_TRUSTED_PROXIES").count(), 1, "{log}");
    assert!(!log.contains("203.0.113"), "what is not believed is not told: {log}");
}

/// Somebody who has a token and good manners nowhere.
struct Stranger {
    base: String,
    http: reqwest::Client,
    /// Of the connectivity tier.
    token: String,
    /// Ids of the requests that were answered.
    sent: Vec<String>,
}

/// The facts of a command of the operator's.
async fn admin(data: &Path, arguments: &str) -> Value {
    let output = command(data).args(arguments.split(' ')).arg("--json").stdin(Stdio::null()).output().await.unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What was logged, and the ids of the stranger's requests.
async fn story(data: &Path, format: &str) -> (String, Vec<String>) {
    admin(data, "admin workspace create acme").await;
    let person = admin(data, "admin person create ann@example.com").await;
    admin(data, "admin role set ann@example.com admin --workspace acme").await;
    admin(data, "admin workspace connectivity acme on").await;
    let scopes = "ext:datasets,ext:schema,ext:search,ext:sql";
    let token = admin(data, &format!("admin token create --workspace acme --label x --scopes {scopes}")).await;

    let path = data.join("log");
    let address = format!("127.0.0.1:{}", free_port());
    let mut serve = command(data);
    let rates = ["EXT_RATE_SQL", "EXT_RATE_RESOURCES", "EXT_RATE_REQUESTS", "EXT_RATE_SESSIONS", "MCP_SESSIONS"];
    for name in ["FAILURES_PER_IP", "RATE_REGISTER", "RATE_REFUSED"].into_iter().chain(rates) {
        serve.env(format!("DRAGOMAN_{name}"), "100000");
    }
    serve.env("DRAGOMAN_LOG", "trace").env("DRAGOMAN_LOG_FORMAT", format);
    serve.env("DRAGOMAN_TRUSTED_PROXIES", "127.0.0.1").args(["serve", "--listen", &address]);
    let stderr = std::fs::File::create(&path).unwrap();
    let mut program = serve.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
    let mut said = BufReader::new(program.stdout.take().unwrap()).lines();
    let first = said.next_line().await.unwrap().expect("the program ended before it was up");
    assert!(first.contains("is up on"), "{first}");

    let base = format!("http://{address}");
    let token = token["token"].as_str().unwrap().to_owned();
    let mut stranger = Stranger { base, http: client(false), token, sent: Vec::new() };
    stranger.headers_and_paths(&address).await;
    stranger.messages().await;
    stranger.queries().await;
    stranger.forms().await;
    stranger.uploads(person["password"].as_str().unwrap()).await;

    let pid = nix::unistd::Pid::from_raw(program.id().unwrap().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(program.wait().await.unwrap().success());
    (String::from_utf8(std::fs::read(path).unwrap()).unwrap(), stranger.sent)
}

impl Stranger {
    async fn send(&mut self, request: RequestBuilder) -> Response {
        let response = request.send().await.unwrap();
        assert_ne!(response.status(), 500, "{}", response.url());
        self.sent.push(response.headers()["x-request-id"].to_str().unwrap().to_owned());
        response
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.base))
    }

    /// Bytes as they are, on a connection of their own, to its end.
    async fn raw(&self, address: &str, head: &[u8]) -> String {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let rest = format!(" HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(&[head, rest.as_bytes()].concat()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn headers_and_paths(&mut self, address: &str) {
        let names = ["user-agent", "x-forwarded-for", "forwarded", "referer", "cookie", "x-request-id", "origin"];
        let more =
            ["authorization", "mcp-session-id", "mcp-protocol-version", "last-event-id", "content-type", "accept"];
        for name in names.into_iter().chain(more) {
            let value = HeaderValue::from_bytes(IN_HEADER.as_bytes()).unwrap();
            for path in ["/mcp", "/login", "/api/v1/ext/datasets"] {
                let request = self.post(path).header(name, value.clone()).body(CANARY);
                self.send(request).await;
                let request = self.http.get(format!("{}{path}", self.base)).header(name, value.clone());
                self.send(if name == "authorization" { request } else { request.bearer_auth(&self.token) }).await;
            }
        }
        // The library says which origin it refuses.
        let evil = self.mcp(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
        self.send(evil.header("origin", "http://evil.example\" status=200")).await;
        let method = Method::from_bytes(b"FORGED'STATUS|200").unwrap();
        let request = self.http.request(method, format!("{}/mcp", self.base));
        self.send(request).await;

        let plain = self.raw(address, b"GET /x\"status=200&request_id=forged").await;
        assert!(plain.contains("x-request-id"), "{plain}");
        let long = self.raw(address, format!("GET /{}", "long".repeat(5_000)).as_bytes()).await;
        assert!(long.contains("x-request-id"), "{long}");
        self.raw(address, "GET /\u{202e}\u{200b}\u{9b}2J".as_bytes()).await;
        let refused = self.raw(address, b"GET /\x1b[31m").await;
        assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    }

    fn mcp(&self, body: &Value) -> RequestBuilder {
        let request = self.post("/mcp").bearer_auth(&self.token).json(body);
        request.header("accept", "application/json, text/event-stream")
    }

    /// Sends it, and waits for the whole answer.
    async fn message(&mut self, request: RequestBuilder) {
        let response = self.send(request).await;
        tokio::time::timeout(Duration::from_secs(60), response.text()).await.expect("an answer ends").unwrap();
    }

    async fn messages(&mut self) {
        let open = |name: &str| {
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": name } } })
        };
        let hostile = self.mcp(&open(HOSTILE));
        self.message(hostile).await;
        let opened = self.send(self.mcp(&open("plain"))).await;
        assert_eq!(opened.status(), 200);
        let session = opened.headers()["mcp-session-id"].clone();
        let long = HOSTILE.repeat(300);
        for id in [json!(1), json!(HOSTILE), json!(long), json!({ "a": HOSTILE }), json!([CANARY])] {
            for method in ["tools/call", "tools/list", "resources/read", "prompts/get", "initialize", HOSTILE] {
                for name in ["dragoman_sql", HOSTILE] {
                    let params = json!({
                        "name": name, "uri": HOSTILE, "protocolVersion": HOSTILE, "cursor": HOSTILE, "capabilities": {},
                        "arguments": { "sql": format!("SELECT '{CANARY}' FROM {CANARY}"), HOSTILE: CANARY },
                        "clientInfo": { "name": HOSTILE, "version": HOSTILE },
                    });
                    let mut body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
                    let old = self.mcp(&body).header("mcp-session-id", session.clone());
                    self.message(old).await;
                    body["params"]["_meta"] = json!({
                        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                        "io.modelcontextprotocol/clientCapabilities": {},
                        "io.modelcontextprotocol/clientInfo": { "name": HOSTILE, "version": HOSTILE },
                    });
                    let shown = |text| HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("x"));
                    let new = self.mcp(&body).header("mcp-protocol-version", "2026-07-28");
                    let new = new.header("mcp-method", shown(method)).header("mcp-name", shown(name));
                    self.message(new).await;
                }
            }
            for body in [
                json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": { "requestId": id, "reason": CANARY } }),
                json!({ "jsonrpc": "2.0", "method": format!("notifications/{HOSTILE}"), "params": { "a": CANARY } }),
                json!({ "jsonrpc": "2.0", "id": id, "result": { "a": CANARY } }),
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": CANARY } }),
                json!({ "jsonrpc": HOSTILE, "id": id, "method": CANARY }),
            ] {
                let request = self.mcp(&body).header("mcp-session-id", session.clone());
                self.message(request).await;
            }
        }
        let good = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "dragoman_sql", "arguments": { "sql": format!("SELECT '{CANARY}' AS a") },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "plain", "version": "1" },
            } } });
        let good = self.mcp(&good).header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
        let answer = self.send(good.header("mcp-name", "dragoman_sql")).await.text().await.unwrap();
        assert!(answer.contains(CANARY), "{answer}");
        let broken = self.post("/mcp").bearer_auth(&self.token).header("content-type", "application/json");
        self.message(broken.body(format!("{{\"{CANARY}{HOSTILE}"))).await;
    }

    async fn queries(&mut self) {
        for body in [
            json!({ "sql": format!("SELECT '{CANARY}' AS a") }).to_string(),
            json!({ "sql": format!("SELECT {CANARY} FROM {HOSTILE}") }).to_string(),
            json!({ "sql": { CANARY: HOSTILE } }).to_string(),
            json!({ HOSTILE: CANARY }).to_string(),
            format!("{CANARY}{HOSTILE}"),
        ] {
            let request = self.post("/api/v1/ext/sql").bearer_auth(&self.token);
            self.send(request.header("content-type", "application/json").body(body)).await;
        }
    }

    /// Log-in and the endpoints of OAuth.
    async fn forms(&mut self) {
        let browser = client(true);
        for path in ["/login", "/login/forgot"] {
            let page = self.send(browser.get(format!("{}{path}", self.base))).await.text().await.unwrap();
            let csrf = field(&page, "csrf");
            for csrf in [&*csrf, HOSTILE] {
                let form = [("csrf", csrf), ("email", HOSTILE), ("password", CANARY), ("return_to", HOSTILE)];
                let request = browser.post(format!("{}{path}", self.base)).header("origin", &self.base).form(&form);
                self.send(request).await;
            }
        }
        let bearer = format!("{CANARY}.{CANARY}.{CANARY}");
        for path in ["token", "revoke", "introspect", "device_authorization", "authorize"] {
            for grant in ["authorization_code", "refresh_token", HOSTILE] {
                let form = [
                    ("grant_type", grant),
                    ("client_id", HOSTILE),
                    ("client_secret", CANARY),
                    ("code", CANARY),
                    ("code_verifier", CANARY),
                    ("refresh_token", CANARY),
                    ("token", &*bearer),
                    ("scope", HOSTILE),
                    ("redirect_uri", HOSTILE),
                    ("resource", HOSTILE),
                    ("state", HOSTILE),
                    (HOSTILE, CANARY),
                ];
                let path = format!("/api/oauth/{path}");
                let request = self.post(&path).bearer_auth(&bearer).form(&form);
                self.send(request).await;
                let request = self.http.get(format!("{}{path}", self.base)).query(&form);
                self.send(request).await;
            }
        }
        for body in [
            json!({ "client_name": HOSTILE, "redirect_uris": ["http://127.0.0.1/callback"] }),
            json!({ "client_name": "x", "redirect_uris": [HOSTILE], "client_secret": CANARY, HOSTILE: CANARY }),
        ] {
            let request = self.post("/api/oauth/register").json(&body);
            self.send(request).await;
        }
    }

    /// As a person's client that may upload.
    async fn uploads(&mut self, password: &str) {
        let browser = Browser { base: self.base.clone(), http: client(true) };
        assert_eq!(browser.log_in("ann@example.com", password, "/").await.status(), 303);
        let body = json!({ "client_name": "x", "redirect_uris": ["http://127.0.0.1/callback"] });
        let registered = self.send(self.post("/api/oauth/register").json(&body)).await.json::<Value>().await.unwrap();
        let id = registered["client_id"].as_str().unwrap();
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("client_id", id), ("redirect_uri", REDIRECT), ("response_type", "code")])
            .extend_pairs([("code_challenge", &*base64url(&sha256(VERIFIER.as_bytes())))])
            .extend_pairs([("code_challenge_method", "S256"), ("scope", "datasets:write"), ("state", CANARY)])
            .finish();
        let start = browser.get(&format!("/api/oauth/authorize?{query}")).await;
        let page = browser.get(&location(&start)).await.text().await.unwrap();
        let (csrf, request) = (field(&page, "csrf"), field(&page, "request"));
        let form = [("csrf", &*csrf), ("request", &*request), ("workspace", "acme"), ("scope", "datasets:write")];
        let approved = browser.post("/consent", &[&form[..], &[("decision", "approve")]].concat()).await;
        let code = param(&refresh(&approved), "code").unwrap();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("client_id", id),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        let tokens = self.send(self.post("/api/oauth/token").form(&form)).await.json::<Value>().await.unwrap();
        let token = tokens["access_token"].as_str().unwrap_or_else(|| panic!("{tokens}")).to_owned();
        let quoted = "x\\\" status=200 \u{202e}\u{200b}\u{2028}.csv";
        let escapes = "x\u{1b}[31m\u{7}.csv";
        for (file, description, status) in [
            ("good.csv", CANARY, Some(200..300_u16)),
            (quoted, HOSTILE, None),
            (escapes, HOSTILE, None),
            ("bad.csv", HOSTILE, None),
            ("x.exe", CANARY, None),
        ] {
            let line = if file == "bad.csv" { format!("{CANARY},2,3,4") } else { format!("{CANARY},2") };
            let body = format!(
                "--x\r\ncontent-disposition: form-data; name=\"description\"\r\n\r\n{description}\r\n\
                 --x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{file}\"\r\n\r\na,b\n{line}\n\r\n--x--\r\n"
            );
            let request = self.post("/api/v1/datasets").bearer_auth(&token).body(body);
            let response = self.send(request.header("content-type", "multipart/form-data; boundary=x")).await;
            let got = response.status().as_u16();
            assert!(status.is_none_or(|status| status.contains(&got)), "{file}: {}", response.text().await.unwrap());
        }
    }
}

/// Level, target, what is said, and the id of the request that it is about; of a line that our writer made.
fn parts(format: &str, line: &str) -> (String, String, String, Option<String>) {
    let is_time = |time: &str| time.len() == 27 && time.parse::<jiff::Timestamp>().is_ok();
    if format == "json" {
        let object: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        assert!(is_time(&text("timestamp").unwrap()), "{line}");
        return (text("level").unwrap(), text("target").unwrap(), text("message").unwrap(), text("request_id"));
    }
    let (time, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
    assert!(is_time(time), "{line}");
    let (level, rest) = rest.trim_start().split_once(' ').unwrap();
    let (target, rest) = rest.split_once(": ").unwrap_or_else(|| panic!("{line}"));
    let id = rest.split_once("answered request_id=").and_then(|(before, id)| before.is_empty().then_some(id));
    let id = id.map(|id| id.split(' ').next().unwrap().to_owned());
    (level.to_owned(), target.to_owned(), rest.to_owned(), id)
}

fn judge(format: &str, log: &str, sent: &[String]) {
    let mut answered: HashMap<String, usize> = HashMap::new();
    let mut seen = Vec::new();
    for line in log.strip_suffix('\n').unwrap().split('\n') {
        assert!(!line.contains(|c: char| c.is_control() || HIDDEN.contains(&c)), "{line:?}");
        assert!(line.len() < 8 * 1024, "{} bytes: {line}", line.len());
        assert!(!line.contains(CANARY), "{line}");
        let (level, target, said, id) = parts(format, line);
        assert!(["TRACE", "DEBUG", "INFO", "WARN", "ERROR"].contains(&&*level), "{line}");
        let is_ours = target == "dragoman" || target.starts_with("dragoman::");
        assert!(is_ours || ["WARN", "ERROR"].contains(&&*level), "{line}");
        if let Some(id) = id.filter(|_| target == "dragoman::http") {
            assert!(id.parse::<uuid::Uuid>().is_ok(), "{line}");
            *answered.entry(id).or_default() += 1;
        }
        seen.push((level, target, said, line));
    }
    // Each request has the one line that it should: the log is what it was asked to be.
    for id in sent {
        assert_eq!(answered.get(id), Some(&1), "{id}");
    }
    assert!(sent.len() > 150 && answered.len() > sent.len(), "{} {}", sent.len(), answered.len());
    for path in ["/mcp", "/login", "/api/oauth/token", "/api/v1/ext/sql", "/api/v1/datasets"] {
        assert!(log.contains(path), "{path}");
    }
    let has = |level: &str, target: &str, words: &str| {
        let found = seen.iter().any(|(l, t, _, line)| l == level && t.starts_with(target) && line.contains(words));
        assert!(found, "no line of {target} at {level} says {words}");
    };
    has("TRACE", "dragoman::surface::listen", "a connection ended");
    has("INFO", "dragoman::http", "/x\\\"status=200&request_id=forged\"");
    has("INFO", "dragoman::http", "more characters)\"");
    has("WARN", "rmcp::", "http://evil.example\\\" status=200\"");
    let told = seen.iter().filter(|(level, _, said, _)| level == "WARN" && said.contains("libraries stay at WARN"));
    assert_eq!(told.count(), 1, "the operator is told once");
}
