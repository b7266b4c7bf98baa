//! The story: an operator sets up a workspace; people sign in rightly and wrongly; a client is approved, gets tokens,
//! renews them, uses them well and badly, and puts secrets where they do not belong.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use dragoman::base::secret::{base64url, sha256};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::search::Secrets;
use crate::site::{REDIRECT, client, field, param};
use crate::support::program::free_port;

const PASSWORD: &str = "a long password that nobody guesses";
const WRONG: &str = "a long password that nobody has";

/// What was seen of the program.
pub struct Story {
    pub secrets: Secrets,
    pub log: String,
    pub metrics: String,
    base: String,
    browser: reqwest::Client,
    /// Id and secret of a client that asks about tokens.
    gateway: (String, String),
}

/// Runs the program in a folder with the metadata at `database` (in the folder when empty), and tells the whole story.
pub async fn tell(data: &Path, database: &str) -> Story {
    let (port, admin) = (free_port(), free_port());
    let command = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
        command.args(arguments).arg("--data").arg(data).kill_on_drop(true).env_clear();
        command.env("DATABASE_URL", database).env("DRAGOMAN_LOG", "trace");
        command.env("DRAGOMAN_LISTEN", format!("127.0.0.1:{port}"));
        command.env("DRAGOMAN_ADMIN_LISTEN", format!("127.0.0.1:{admin}"));
        for name in ["FAILURES_PER_IP", "RATE_AUTHORIZE", "RATE_REGISTER", "RATE_TOKEN", "EXT_RATE_TOKEN"] {
            command.env(format!("DRAGOMAN_{name}"), "100000");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let base = format!("http://127.0.0.1:{port}");
    let mut story = Story {
        secrets: Secrets::default(),
        log: String::new(),
        metrics: String::new(),
        base,
        browser: client(true),
        gateway: Default::default(),
    };
    let token = story.set_up(&command).await;

    let log = std::fs::File::create(data.join("log")).unwrap();
    let mut service = command(&["serve"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    story.until_up().await;
    story.people().await;
    story.client_and_tokens().await;
    story.connectivity(&token).await;
    story.metrics = story.text(&format!("http://127.0.0.1:{admin}/metrics")).await;
    let pid = nix::unistd::Pid::from_raw(service.id().unwrap().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert!(service.wait().await.unwrap().success());

    story.log += &String::from_utf8_lossy(&std::fs::read(data.join("log")).unwrap());
    let master = std::fs::read_to_string(data.join("master.key")).unwrap();
    story.keep("master key", master.trim());
    story
}

impl Story {
    /// Remembers a secret.
    pub fn keep(&mut self, name: &str, secret: &str) -> String {
        self.secrets.keep(name, secret);
        secret.to_owned()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn text(&self, url: &str) -> String {
        self.browser.get(url).send().await.unwrap().text().await.unwrap()
    }

    /// Sends it; every cookie that comes back is a secret.
    async fn send(&mut self, request: RequestBuilder) -> Response {
        let response = request.send().await.unwrap();
        let cookies: Vec<String> =
            response.headers().get_all("set-cookie").iter().map(|value| value.to_str().unwrap().to_owned()).collect();
        for cookie in cookies {
            let value = cookie.split(';').next().unwrap().split_once('=').unwrap().1;
            if !value.is_empty() {
                self.keep("cookie", value);
            }
        }
        response
    }

    async fn form(&mut self, path: &str, form: &[(&str, &str)]) -> Response {
        let request = self.browser.post(self.url(path)).header("origin", &self.base).form(form);
        self.send(request).await
    }

    async fn page(&mut self, path: &str) -> String {
        let request = self.browser.get(self.url(path));
        let page = self.send(request).await.text().await.unwrap();
        let csrf = field(&page, "csrf");
        if !csrf.is_empty() {
            self.keep("form token", &csrf);
        }
        page
    }

    /// The operator's part; returns a connectivity token.
    async fn set_up(&mut self, command: &impl Fn(&[&str]) -> Command) -> String {
        self.keep("password", PASSWORD);
        let mut said = String::new();
        for (arguments, input) in [
            ("admin workspace create acme", ""),
            ("admin person create ann@example.com --name Ann --password-stdin", PASSWORD),
            ("admin person create bob@example.com --name Bob --json", ""),
            ("admin role set ann@example.com admin --workspace acme", ""),
            ("admin workspace connectivity acme on", ""),
            ("admin client create --name Gateway --redirect-uri https://a.example/cb --introspect --json", ""),
            ("admin token create --workspace acme --label x --scopes ext:datasets --json", ""),
        ] {
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let mut child = command(&arguments).spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
            let output = child.wait_with_output().await.unwrap();
            self.log += &String::from_utf8_lossy(&output.stderr);
            said = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.success(), "{arguments:?}: {said} {}", self.log);
            let Ok(facts) = said.parse::<Value>() else { continue };
            if let Some(password) = facts["password"].as_str() {
                self.keep("password that was made", password);
            }
            if let Some(secret) = facts["secret"].as_str() {
                self.gateway = (text(&facts["id"]), self.keep("client secret", secret));
            }
        }
        let facts: Value = said.parse().unwrap();
        self.keep("connectivity token", facts["token"].as_str().unwrap())
    }

    async fn until_up(&self) {
        let until = std::time::Instant::now() + Duration::from_secs(60);
        while self.browser.get(self.url("/health/ready")).send().await.is_err() {
            assert!(std::time::Instant::now() < until, "the program is not up");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Wrong and right log-ins, a sign-out, and a log-in for what follows.
    async fn people(&mut self) {
        self.keep("wrong password", WRONG);
        for (password, status) in [(WRONG, 401), (PASSWORD, 303)] {
            let page = self.page("/login").await;
            let form = [("csrf", &*field(&page, "csrf")), ("email", "ann@example.com"), ("password", password)];
            assert_eq!(self.form("/login", &form).await.status(), status);
        }
        let home = self.page("/").await;
        assert_eq!(self.form("/logout", &[("csrf", &field(&home, "csrf"))]).await.status(), 303);
        // A person who puts the password into the field for the address, and a form that is not ours.
        let page = self.page("/login").await;
        let form = [("csrf", &*field(&page, "csrf")), ("email", PASSWORD), ("password", "x")];
        assert_eq!(self.form("/login", &form).await.status(), 401);
        let form = [("csrf", "not a token"), ("email", "ann@example.com"), ("password", PASSWORD)];
        assert_eq!(self.form("/login", &form).await.status(), 403);
        let page = self.page("/login").await;
        let form = [("csrf", &*field(&page, "csrf")), ("email", "ann@example.com"), ("password", PASSWORD)];
        assert_eq!(self.form("/login", &form).await.status(), 303);
    }

    /// Approves a client on the page; returns the code.
    async fn code(&mut self, client: &str, verifier: &str) -> String {
        let challenge = base64url(&sha256(verifier.as_bytes()));
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("client_id", client), ("redirect_uri", REDIRECT), ("response_type", "code")])
            .extend_pairs([("code_challenge", &*challenge), ("code_challenge_method", "S256")])
            .extend_pairs([("scope", "data_agent:read"), ("prompt", "consent")])
            .finish();
        let start = self.browser.get(self.url(&format!("/api/oauth/authorize?{query}")));
        let start = self.send(start).await;
        let consent = start.headers()["location"].to_str().unwrap().to_owned();
        let page = self.page(&consent).await;
        let (csrf, request) = (field(&page, "csrf"), field(&page, "request"));
        self.keep("handle of a request for approval", &request);
        let form = [("csrf", &*csrf), ("request", &*request), ("workspace", "acme"), ("scope", "data_agent:read")];
        let done = self.form("/consent", &[&form[..], &[("decision", "approve")]].concat()).await;
        let to = done.headers()["refresh"].to_str().unwrap().split_once("url=").unwrap().1.to_owned();
        let code = param(&to, "code").unwrap();
        self.keep("code", &code)
    }

    async fn token(&mut self, form: &[(&str, &str)]) -> (u16, Value) {
        let response = self.form("/api/oauth/token", form).await;
        let status = response.status().as_u16();
        let body: Value = response.json().await.unwrap();
        for name in ["access_token", "refresh_token"] {
            if let Some(token) = body[name].as_str() {
                self.keep(name, token);
            }
        }
        (status, body)
    }

    async fn client_and_tokens(&mut self) {
        let body = json!({ "client_name": "Story", "redirect_uris": ["http://127.0.0.1/callback"] });
        let registered: Value =
            self.browser.post(self.url("/api/oauth/register")).json(&body).send().await.unwrap().json().await.unwrap();
        let client = registered["client_id"].as_str().unwrap().to_owned();
        let verifier = self.keep("code verifier", dragoman::base::secret::random_token("").expose());
        let code = self.code(&client, &verifier).await;
        let redeem = |code: &str, verifier: &str| {
            [("grant_type", "authorization_code"), ("code", code), ("client_id", &client), ("code_verifier", verifier)]
                .map(|(name, value)| (name, value.to_owned()))
        };
        for (verifier, status) in [("w".repeat(43), 400), (verifier.clone(), 200), (verifier.clone(), 400)] {
            let form = redeem(&code, &verifier);
            let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(self.token(&form).await.0, status);
        }
        let code = self.code(&client, &verifier).await;
        let form = redeem(&code, &verifier);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (_, tokens) = self.token(&form).await;
        let (access, first) = (text(&tokens["access_token"]), text(&tokens["refresh_token"]));
        let renew = |token: &str| {
            [
                ("grant_type", "refresh_token".to_owned()),
                ("refresh_token", token.to_owned()),
                ("client_id", client.clone()),
            ]
        };
        // Renewed, sent again as after a lost answer, renewed again, and stolen.
        let mut current = first.clone();
        for (token, status) in [(None, 200), (Some(&first), 200), (None, 200), (Some(&first), 400)] {
            let form = renew(token.unwrap_or(&current));
            let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let (got, body) = self.token(&form).await;
            assert_eq!(got, status, "{body}");
            if got == 200 {
                current = text(&body["refresh_token"]);
            }
        }
        self.use_well_and_badly(&client, &access, &code, &current).await;
        // One family is given back, one lives on beyond the end of the story.
        let code = self.code(&client, &verifier).await;
        let form = redeem(&code, &verifier);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (_, tokens) = self.token(&form).await;
        let access = text(&tokens["access_token"]);
        for path in ["/api/v1/ext/health", "/api/v1/ext/datasets"] {
            let request = self.browser.get(self.url(path)).bearer_auth(&access);
            assert_eq!(self.send(request).await.status(), 200, "{path}");
        }
        self.introspection_and_devices(&client, &access).await;
        let unused = self.code(&client, &verifier).await;
        let form = [("token", &*text(&tokens["refresh_token"])), ("client_id", &*client)];
        assert_eq!(self.form("/api/oauth/revoke", &form).await.status(), 200);
        let form = [("token", &*unused), ("client_id", &*client)];
        assert_eq!(self.form("/api/oauth/revoke", &form).await.status(), 200);
        let code = self.code(&client, &verifier).await;
        let form = redeem(&code, &verifier);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(self.token(&form).await.0, 200);
    }

    /// Secrets where they belong and where they do not: in queries, paths, bodies, cookies, headers.
    async fn use_well_and_badly(&mut self, client: &str, access: &str, code: &str, refresh: &str) {
        let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let bad = self.keep("made-up bearer", dragoman::base::secret::random_token("dgmcp_").expose());
        for secret in [access, code, refresh, &bad] {
            let requests = [
                self.browser.post(self.url("/mcp")).bearer_auth(secret).json(&mcp),
                self.browser.post(self.url(&format!("/mcp?access_token={secret}"))).json(&mcp),
                self.browser.post(self.url("/mcp")).form(&[("access_token", secret)]),
                self.browser.get(self.url("/api/v1/ext/datasets")).header("cookie", format!("access_token={secret}")),
                self.browser.get(self.url("/api/v1/ext/datasets")).header("authorization", format!("DPoP {secret}")),
                self.browser.get(self.url(&format!("/callback?code={secret}&state={secret}"))),
                self.browser.get(self.url(&format!("/api/oauth/authorize?client_id={client}&code={secret}"))),
                self.browser.post(self.url("/api/oauth/token")).bearer_auth(secret).body("{"),
                self.browser
                    .post(self.url("/api/oauth/token"))
                    .basic_auth(client, Some(secret))
                    .form(&[("code", secret)]),
                self.browser.post(self.url(&format!("/api/oauth/token?refresh_token={secret}"))),
                self.browser.post(self.url("/api/oauth/register")).json(&json!({ "client_secret": secret })),
                self.browser.get(self.url(&format!("/login?return_to=/{secret}"))),
            ];
            for request in requests {
                let status = self.send(request).await.status();
                assert!(status != 500, "{status}");
            }
        }
    }

    /// A confidential client asks about a token, with the right secret and with others; a device asks for its own.
    async fn introspection_and_devices(&mut self, client: &str, access: &str) {
        let (id, secret) = self.gateway.clone();
        let wrong = self.keep("wrong client secret", dragoman::base::secret::random_token("dgcs_").expose());
        let ask = |secret: &str| {
            let form = [("token", access), ("client_id", &*id), ("client_secret", secret)];
            let body = self.browser.post(self.url("/api/oauth/introspect")).form(&form);
            let basic = self.browser.post(self.url("/api/oauth/introspect")).basic_auth(&id, Some(secret));
            [body, basic.form(&form[..1])]
        };
        let mut right = 0;
        for (requests, good) in [(ask(&wrong), false), (ask(&secret), true)] {
            for request in requests {
                let status = self.send(request).await.status();
                assert!(good || status == 401, "{status}");
                right += u32::from(status == 200);
            }
        }
        assert!(right > 0, "the secret is not taken");
        let form = [("client_id", client), ("scope", "data_agent:read")];
        let started: Value = self.form("/api/oauth/device_authorization", &form).await.json().await.unwrap();
        let device = self.keep("device code", started["device_code"].as_str().unwrap());
        let grant = ("grant_type", "urn:ietf:params:oauth:grant-type:device_code");
        let (status, body) = self.token(&[grant, ("device_code", &device), ("client_id", client)]).await;
        assert_eq!((status, &body["error"]), (400, &json!("authorization_pending")));
    }

    async fn connectivity(&mut self, token: &str) {
        for (token, status) in [(token.to_owned(), 200), (format!("{}0", &token[..token.len() - 1]), 401)] {
            let request = self.browser.get(self.url("/api/v1/ext/datasets")).bearer_auth(&token);
            let got = self.send(request).await.status().as_u16();
            assert!(got == status || token.ends_with('0'), "{got}");
        }
        let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "story", "version": "1" } } });
        let request = self.browser.post(self.url("/mcp")).bearer_auth(token).json(&initialize);
        let request = request.header("accept", "application/json, text/event-stream");
        assert_eq!(self.send(request).await.status(), 200);
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
