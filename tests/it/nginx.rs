//! The site file in `nginx/`, run by a real nginx with a certificate of its own: TLS, streams, uploads, and whose
//! address is believed.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use reqwest::multipart::{Form, Part};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::program::free_port;
use crate::support::service::{PASSWORD, Service, http, json_of};

/// Not the address that nginx talks to the service from, so that the two can be told apart.
const CLIENT: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A running nginx; it ends with its folder.
pub struct Nginx {
    folder: tempfile::TempDir,
    /// Where it listens without TLS.
    http: u16,
}

impl Nginx {
    /// Returns when it listens: it leaves the foreground only then.
    pub fn start(https: u16, service: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        certificate(here, "ec", &["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        // Without one of RSA nobody could choose a suite that needs it.
        certificate(here, "rsa", &["rsa:2048"]);
        let site = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("nginx/dragoman.conf"));
        let mut site = site.unwrap();
        let http = free_port();
        for (theirs, ours) in [
            ("listen 80;", format!("listen 127.0.0.1:{http};")),
            ("listen 443 ssl http2;", format!("listen 127.0.0.1:{https} ssl http2;")),
            ("server_name dragoman.example.com;", "server_name localhost;".into()),
            (
                "ssl_certificate /etc/ssl/dragoman/fullchain.pem;",
                "ssl_certificate ec.pem; ssl_certificate rsa.pem;".into(),
            ),
            (
                "ssl_certificate_key /etc/ssl/dragoman/privkey.pem;",
                "ssl_certificate_key ec.key; ssl_certificate_key rsa.key;".into(),
            ),
            ("server 127.0.0.1:8787;", format!("server 127.0.0.1:{service};")),
        ] {
            assert!(site.contains(theirs), "the site file no longer says {theirs}");
            site = site.replace(theirs, &ours);
        }
        let mut around = String::from("pid nginx.pid;\nerror_log error.log;\nevents {}\nhttp {\n  access_log off;\n");
        for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            around.push_str(&format!("  {kind}_temp_path {kind};\n"));
        }
        std::fs::write(here.join("nginx.conf"), format!("{around}{site}}}\n")).unwrap();
        run(&mut nginx(here));
        Self { folder, http }
    }

    /// A client that trusts its certificates alone and comes from [`CLIENT`].
    #[expect(clippy::disallowed_methods, reason = "the test is the outside; the ban is for the service's own calls")]
    fn client(&self) -> reqwest::Client {
        drop(http());
        let certificate = |file: &str| {
            reqwest::Certificate::from_pem(&std::fs::read(self.folder.path().join(file)).unwrap()).unwrap()
        };
        reqwest::Client::builder()
            .tls_certs_only(["ec.pem", "rsa.pem"].map(certificate))
            .local_address(IpAddr::V4(CLIENT))
            .redirect(reqwest::redirect::Policy::none())
            .cookie_store(true)
            .no_proxy()
            .build()
            .unwrap()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let stopped = nginx(self.folder.path()).args(["-s", "stop"]).status();
        assert!(std::thread::panicking() || stopped.unwrap().success());
    }
}

/// `name.pem` and `name.key`, for localhost.
fn certificate(folder: &Path, name: &str, key: &[&str]) {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder).args(["req", "-x509", "-newkey"]).args(key);
    openssl.args(["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    run(openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")]));
}

fn nginx(folder: &Path) -> Command {
    let mut command = Command::new("/usr/sbin/nginx");
    command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf")).args(["-e", "error.log"]);
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What is answered to these bytes until the connection is closed.
async fn raw(port: u16, request: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let closed = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    assert!(closed.is_ok(), "not closed: {request}");
    String::from_utf8_lossy(&answer).into_owned()
}

/// A service behind nginx, whose address is believed when `trusted`.
async fn behind(trusted: bool) -> (Nginx, Service, Org) {
    let port = free_port();
    let proxies = if trusted { "127.0.0.1" } else { "" };
    let url = format!("https://localhost:{port}");
    let mut service = Service::with(&[("DRAGOMAN_PUBLIC_URL", &url), ("DRAGOMAN_TRUSTED_PROXIES", proxies)]).await;
    let nginx = Nginx::start(port, service.config.listen.port());
    service.http = nginx.client();
    let org = service.workspace("acme").await;
    (nginx, service, org)
}

#[tokio::test]
async fn a_call_a_stream_and_an_upload_pass_over_tls() {
    let (_nginx, service, org) = behind(true).await;
    let token = service.token(&org).await;

    let called = service.rpc(&token, "tools/call", json!({ "name": "dragoman_list_datasets", "arguments": {} })).send();
    let called = called.await.unwrap();
    let hsts = called.headers()["strict-transport-security"].to_str().unwrap().to_owned();
    assert!(hsts.contains("max-age=31536000"), "{hsts}");
    let (status, body) = json_of(called).await;
    assert_eq!((status, &body["result"]["isError"]), (200, &json!(false)), "{body}");

    // An open stream's headers arrive although nothing has been sent on it yet.
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let opened = service
        .post("/mcp", &token)
        .header("accept", "application/json, text/event-stream")
        .json(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
        .send()
        .await
        .unwrap();
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let stream = service.get("/mcp", &token).header("accept", "text/event-stream").header("mcp-session-id", session);
    let stream = tokio::time::timeout(Duration::from_secs(20), stream.send()).await.unwrap().unwrap();
    assert_eq!(
        (stream.status().as_u16(), &stream.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    drop(stream);

    // Larger than nginx takes by default.
    let mut table = String::from("word\n");
    table.push_str(&"dragoman dragoman dragoman dragoman dragoman dragoman dragoman\n".repeat(50_000));
    let writer = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
    let form = Form::new().text("name", "words").part("file", Part::text(table).file_name("words.csv"));
    let (status, body) = json_of(service.post("/api/v1/datasets", &writer).multipart(form).send().await.unwrap()).await;
    assert_eq!((status, &body["row_count"]), (200, &json!(50_000)), "{body}");
    service.stop().await;
}

#[tokio::test]
async fn b03_the_cookie_of_a_log_in_is_bound_to_the_host() {
    let (_nginx, service, _) = behind(true).await;
    let password = dragoman::base::secret::Secret::new(PASSWORD);
    service.identity.create_user("ann@example.com", "Ann", &password).await.unwrap();
    let page = service.http.get(service.url("/login")).send().await.unwrap().text().await.unwrap();
    let fields: Vec<(String, String)> = page
        .split("<input ")
        .skip(1)
        .filter_map(|input| {
            let value = |key: &str| Some(input.split_once(&format!("{key}=\""))?.1.split('"').next()?.to_owned());
            Some((value("name")?, value("value").unwrap_or_default()))
        })
        .map(|(name, value)| match name.as_str() {
            "email" => (name, "ann@example.com".into()),
            "password" => (name, PASSWORD.into()),
            _ => (name, value),
        })
        .collect();
    let sent = service.http.post(service.url("/login")).header("origin", service.config.issuer()).form(&fields).send();
    let answer = sent.await.unwrap();
    let cookies: Vec<&str> = answer.headers().get_all("set-cookie").iter().map(|c| c.to_str().unwrap()).collect();
    let session = cookies.iter().find(|cookie| cookie.starts_with("__Host-dragoman=")).unwrap_or_else(|| {
        panic!("{} {cookies:?} {fields:?}", answer.status());
    });
    assert!(session.contains("Secure") && session.contains("HttpOnly") && session.contains("Path=/"), "{session}");
    service.stop().await;
}

#[tokio::test]
async fn h08_a_forwarded_address_is_believed_from_a_trusted_proxy_only() {
    for (trusted, seen) in [(true, "127.0.0.2"), (false, "127.0.0.1")] {
        let (_nginx, service, org) = behind(trusted).await;
        let token = service.token(&org).await;
        // What the client itself writes is never believed.
        let listed = service.get("/api/v1/ext/datasets", &token).header("x-forwarded-for", "203.0.113.9").send();
        assert_eq!(listed.await.unwrap().status(), 200);
        assert_eq!(service.last_audit(&org).await.ip, seen, "trusted: {trusted}");
        service.stop().await;
    }
}

#[tokio::test]
async fn h07_only_tls_of_today_is_spoken_and_nothing_is_taken_without_it() {
    let (nginx, service, _) = behind(true).await;
    let port = service.config.public_url.port().unwrap().to_string();
    // What was agreed on, when something was.
    let handshake = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        command
            .args(["s_client", "-connect", &format!("localhost:{port}"), "-servername", "localhost"])
            .args(arguments);
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success() && !said.contains("Cipher is (NONE)")).then_some(said)
    };
    // The client is told to allow what it would refuse itself.
    let weak = "ALL:@SECLEVEL=0";
    assert!(handshake(&["-tls1_3"]).is_some());
    let agreed = handshake(&["-tls1_2", "-alpn", "h2"]).unwrap();
    assert!(agreed.contains("ALPN protocol: h2"), "{agreed}");
    assert!(!agreed.contains("TLS session ticket"), "a ticket outlives what protects it: {agreed}");
    for old in [["-tls1", "-cipher", weak], ["-tls1_1", "-cipher", weak]] {
        assert!(handshake(&old).is_none(), "{old:?}");
    }
    let tls12 = |suite: &str| handshake(&["-tls1_2", "-cipher", &format!("{suite}:@SECLEVEL=0")]);
    for suite in [
        "NULL",
        "aNULL",
        "RC4",
        "3DES",
        "EXPORT",
        // Static RSA: who steals the key reads what was recorded before.
        "kRSA",
        "AES128-SHA",
        "AES256-GCM-SHA384",
        // CBC, with each kind of certificate.
        "ECDHE-ECDSA-AES128-SHA",
        "ECDHE-ECDSA-AES256-SHA384",
        "ECDHE-RSA-AES128-SHA",
        "ECDHE-RSA-AES256-SHA384",
        "CAMELLIA",
    ] {
        assert_eq!(tls12(suite), None, "{suite}");
    }
    for suite in ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"] {
        assert!(tls12(suite).is_some_and(|agreed| agreed.contains(suite)), "{suite}");
    }
    let plain = format!("http://127.0.0.1:{}", nginx.http);
    let outside = http();
    let send = |method: &str, path: &str| outside.request(method.parse().unwrap(), format!("{plain}{path}")).send();
    for path in ["/mcp", "/login?x=1", "/api/oauth/authorize"] {
        let moved = send("GET", path).await.unwrap();
        assert_eq!(moved.status(), 308, "{path}");
        let to = moved.headers()["location"].to_str().unwrap();
        assert_eq!(to, format!("https://localhost{path}"));
    }
    for (target, hosts) in [
        ("/login?x=1", "host: evil.example\r\nx-forwarded-host: evil.example\r\n"),
        ("http://evil.example/login?x=1", "host: evil.example\r\n"),
        ("/login?x=1", ""),
    ] {
        let moved = raw(nginx.http, &format!("GET {target} HTTP/1.0\r\n{hosts}\r\n")).await;
        assert!(moved.starts_with("HTTP/1.1 308 "), "{target}: {moved}");
        assert!(moved.contains("\r\nLocation: https://localhost/login?x=1\r\n"), "{target}: {moved}");
        assert!(!moved.contains("evil"), "{target}: {moved}");
    }
    for (method, path) in [("POST", "/api/oauth/token"), ("POST", "/mcp"), ("POST", "/login"), ("DELETE", "/mcp")] {
        let refused = send(method, path).await.unwrap();
        assert_eq!((refused.status().as_u16(), refused.headers().get("location")), (403, None), "{method} {path}");
    }
    let page = service.http.get(service.url("/login")).send().await.unwrap();
    let hsts = page.headers()["strict-transport-security"].to_str().unwrap().to_owned();
    assert!(hsts.contains("max-age=31536000") && hsts.contains("includeSubDomains"), "{hsts}");
    assert!(!page.text().await.unwrap().contains("http://"), "nothing of a page comes without TLS");
    service.stop().await;
}

#[tokio::test]
async fn h09_behind_the_proxy_a_message_that_can_be_read_in_two_ways_reaches_nobody() {
    let (nginx, service, org) = behind(true).await;
    let token = service.token(&org).await;
    // Over the plain port of a site whose TLS part is the same server: the parser is one.
    for head in [
        "content-length: 4\r\ntransfer-encoding: chunked",
        "content-length: 4\r\ncontent-length: 5",
        "x-a: b\r\n c\r\ncontent-length: +4",
    ] {
        let hidden =
            format!("GET /api/v1/ext/datasets HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
        let request = format!("POST /api/oauth/token HTTP/1.1\r\nhost: localhost\r\n{head}\r\n\r\n0\r\n\r\n{hidden}");
        let answer = raw(nginx.http, &request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{head}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{head}: {answer}");
    }
    service.stop().await;
}
