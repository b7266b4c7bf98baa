//! Files that come in over several connections, and what is found in them before they are kept.

use std::time::Duration;

use dragoman::model::access::{Role, Scope};
use dragoman::model::org::Org;
use futures_util::StreamExt as _;
use reqwest::{Body, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::support::service::{Service, json_of};

mod full;

const UPLOADS: &str = "/api/v1/uploads";

/// A program that speaks tus.
struct Sender<'a> {
    service: &'a Service,
    org: Org,
    token: String,
}

impl<'a> Sender<'a> {
    async fn new(service: &'a Service, slug: &str) -> Self {
        let org = service.workspace(slug).await;
        let token = service.access_token(&org, Role::Contributor, &[Scope::DatasetsWrite]).await;
        Self { service, org, token }
    }

    fn request(&self, method: Method, address: &str) -> RequestBuilder {
        let address = if address.starts_with('/') { self.service.url(address) } else { address.to_owned() };
        self.service.http.request(method, address).bearer_auth(&self.token).header("tus-resumable", "1.0.0")
    }

    /// Begins an upload; gives its address.
    async fn begin(&self, name: &str, size: usize) -> String {
        let made = self.create(name, size).await;
        assert_eq!(made.status(), 201, "{}", made.text().await.unwrap());
        assert!(made.headers()["upload-expires"].to_str().unwrap().ends_with(" GMT"));
        made.headers()["location"].to_str().unwrap().to_owned()
    }

    async fn create(&self, name: &str, size: usize) -> Response {
        use base64::Engine as _;
        let name = base64::engine::general_purpose::STANDARD.encode(name);
        let request = self.request(Method::POST, UPLOADS).header("upload-length", size);
        request.header("upload-metadata", format!("filename {name}")).send().await.unwrap()
    }

    /// How much is there.
    async fn offset(&self, at: &str) -> usize {
        let head = self.request(Method::HEAD, at).send().await.unwrap();
        assert_eq!((head.status().as_u16(), &head.headers()["cache-control"]), (200, &"no-store".parse().unwrap()));
        head.headers()["upload-offset"].to_str().unwrap().parse().unwrap()
    }

    fn patch(&self, at: &str, from: usize, body: impl Into<Body>) -> RequestBuilder {
        let request = self.request(Method::PATCH, at).header("upload-offset", from);
        request.header("content-type", "application/offset+octet-stream").body(body)
    }

    /// Sends a file up to a byte over a connection that breaks there; again where the one before was still being read.
    async fn breaking(&self, at: &str, file: &[u8], end: usize) {
        loop {
            let from = self.offset(at).await;
            if from >= end {
                return;
            }
            let url = self.patch(at, from, "").build().unwrap().url().clone();
            let some = &file[from..end];
            let head = format!(
                "PATCH {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ntus-resumable: 1.0.0\r\nupload-offset: {from}\r\n\
                 content-type: application/offset+octet-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n",
                url.path(),
                url.authority(),
                self.token,
                some.len()
            );
            let mut line = TcpStream::connect(url.socket_addrs(|| None).unwrap()[0]).await.unwrap();
            // What was written arrives, and then the end of the connection instead of that of the body. A refusal may come
            // before all is written.
            let _refused = line.write_all(&[head.as_bytes(), some].concat()).await;
        }
    }

    /// Sends all of a file from where it is, over as many connections as it takes.
    async fn rest(&self, at: &str, file: &[u8]) {
        loop {
            let from = self.offset(at).await;
            if from == file.len() {
                return;
            }
            let answer = self.patch(at, from, file[from..].to_vec()).send().await.unwrap();
            // What a broken connection still brought may have come after we asked.
            assert!([204, 409].contains(&answer.status().as_u16()), "{}", answer.text().await.unwrap());
        }
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        json_of(self.service.post(path, &self.token).json(&body).send().await.unwrap()).await
    }
}

fn id(at: &str) -> &str {
    at.rsplit('/').next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_may_break_at_any_byte() {
    let service = Service::start().await;
    let sender = Sender::new(&service, "acme").await;
    let mut file = b"town,n\n".to_vec();
    for n in 0..5 {
        file.extend(format!("Oslo,{n}\n").into_bytes());
    }
    // After each byte in its turn, and the file is whole all the same.
    let at = sender.begin("broken.csv", file.len()).await;
    for end in 1..file.len() {
        sender.breaking(&at, &file, end).await;
        if end == file.len() / 2 {
            let (status, early) = sender.post("/api/v1/datasets", json!({ "uploads": [id(&at)] })).await;
            let said = early["error"]["message"].as_str().unwrap();
            assert!(status == 400 && said.contains("Send the rest first"), "{early}");
        }
    }
    sender.rest(&at, &file).await;
    let (status, made) = sender.post("/api/v1/datasets", json!({ "uploads": [id(&at)] })).await;
    assert_eq!((status, &made["name"], &made["row_count"]), (200, &json!("broken"), &json!(5)), "{made}");
    let gone = sender.request(Method::HEAD, &at).send().await.unwrap();
    assert_eq!(gone.status(), 404, "what is imported waits no more");

    // Across the borders of what is gathered before it is written.
    let mut large = b"n\n".to_vec();
    while large.len() < 3 * (256 << 10) {
        large.extend(format!("{}\n", large.len()).into_bytes());
    }
    let at = sender.begin("large.csv", large.len()).await;
    for border in [1, 2, 3].map(|times| times * (256 << 10)) {
        for end in [border - 1, border, border + 1] {
            sender.breaking(&at, &large, end.min(large.len())).await;
        }
    }
    sender.rest(&at, &large).await;
    let rows = large.iter().filter(|byte| **byte == b'\n').count() - 1;
    let (_, made) = sender.post("/api/v1/datasets", json!({ "uploads": [id(&at)] })).await;
    assert_eq!(made["row_count"], rows, "{made}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_its_senders_alone_and_speaks_its_protocol() {
    let service = Service::start().await;
    let sender = Sender::new(&service, "acme").await;
    let at = sender.begin("a.csv", 4).await;
    let other = Sender::new(&service, "other").await;
    let org = &sender.org;
    let colleague = service.access_token(org, Role::Admin, &[Scope::DatasetsWrite, Scope::WorkspaceAdmin]).await;
    let colleague = Sender { service: &service, org: org.clone(), token: colleague };
    for stranger in [&other, &colleague] {
        for method in [Method::HEAD, Method::DELETE] {
            assert_eq!(stranger.request(method, &at).send().await.unwrap().status(), 404);
        }
        assert_eq!(stranger.patch(&at, 0, "a\n1\n").send().await.unwrap().status(), 404);
        let (status, _) = stranger.post("/api/v1/datasets/check", json!({ "uploads": [id(&at)] })).await;
        assert_eq!(status, 404);
        let listed = json_of(service.get(UPLOADS, &stranger.token).send().await.unwrap()).await;
        assert_eq!(listed.1["uploads"], json!([]));
    }
    let reader = service.access_token(org, Role::Contributor, &[Scope::DataRead]).await;
    let reader = Sender { service: &service, org: org.clone(), token: reader };
    assert_eq!(reader.create("a.csv", 4).await.status(), 403);
    assert_eq!(reader.request(Method::HEAD, &at).send().await.unwrap().status(), 403);

    // As tus 1.0 has it.
    let speaks = sender.request(Method::OPTIONS, UPLOADS).send().await.unwrap();
    assert_eq!((speaks.status().as_u16(), &speaks.headers()["tus-version"]), (204, &"1.0.0".parse().unwrap()));
    assert_eq!(sender.patch(&at, 1, "x").send().await.unwrap().status(), 409);
    let untyped = sender.request(Method::PATCH, &at).header("upload-offset", 0).body("a\n1\n");
    assert_eq!(untyped.send().await.unwrap().status(), 415);
    let old = sender.service.http.head(&at).bearer_auth(&sender.token).header("tus-resumable", "0.2.2");
    let old = old.send().await.unwrap();
    assert_eq!((old.status().as_u16(), &old.headers()["tus-version"]), (412, &"1.0.0".parse().unwrap()));
    assert_eq!(sender.patch(&at, 0, "more than was said").send().await.unwrap().status(), 413);
    assert_eq!(sender.offset(&at).await, 0, "nothing of it is kept");
    assert_eq!(sender.create("a.csv", 1 << 40).await.status(), 413);

    sender.rest(&at, b"a\n1\n").await;
    let whole = sender.patch(&at, 4, "").send().await.unwrap();
    assert_eq!((whole.status().as_u16(), &whole.headers()["upload-offset"]), (204, &"4".parse().unwrap()));
    assert_eq!(sender.request(Method::DELETE, &at).send().await.unwrap().status(), 204);
    assert_eq!(sender.request(Method::HEAD, &at).send().await.unwrap().status(), 404);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_connections_the_later_one_goes_on() {
    let service = Service::start().await;
    let sender = Sender::new(&service, "acme").await;
    // As much as is written at once, and a little more.
    let half = 256 << 10;
    let file = ["n\n", &"1\n".repeat(half / 2 + 4)].concat().into_bytes();
    // As many as may be on their way, each over a line that sends the half and stays open without a word.
    let mut lost = Vec::new();
    for number in 0..service.config.limits.rates.in_flight {
        let at = sender.begin(&format!("lost_{number}.csv"), file.len()).await;
        let held = futures_util::stream::iter([Ok::<_, std::io::Error>(file[..half].to_vec())]);
        let silent = held.chain(futures_util::stream::pending());
        let first = tokio::spawn(sender.patch(&at, 0, Body::wrap_stream(silent)).send());
        lost.push((at, first));
    }
    let fourth = sender.begin("more.csv", file.len()).await;
    let later = async {
        // Of two the one that comes later wins: the first has to be there.
        for (at, _) in &lost {
            while sender.offset(at).await < half {
                tokio::task::yield_now().await;
            }
        }
        let refused = sender.patch(&fourth, 0, file.clone()).send().await.unwrap();
        assert_eq!(refused.status(), 429, "another has no place");
        for (at, _) in &lost {
            let went_on = sender.patch(at, half, file[half..].to_vec()).send().await.unwrap();
            assert_eq!(went_on.status(), 204, "{}", went_on.text().await.unwrap());
        }
        sender.rest(&fourth, &file).await;
    };
    tokio::time::timeout(Duration::from_secs(30), later).await.expect("the later one is not kept waiting");
    let at = &lost[0].0;
    let (status, made) = sender.post("/api/v1/datasets", json!({ "uploads": [id(at)] })).await;
    assert_eq!((status, &made["row_count"]), (200, &json!(half / 2 + 4)), "{made}");
    for (_, first) in lost {
        first.abort();
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_is_corrected_before_it_is_kept() {
    let service = Service::start().await;
    let sender = Sender::new(&service, "acme").await;
    let file = "art;price;day;note;secret\n1E5;1,50;31.12.2023;a;x\n7.5;n/a;01.02.2024;b;y\n3E7;2,25;03.04.2024;c;z\n";
    let at = sender.begin("shops.csv", file.len()).await;
    sender.rest(&at, file.as_bytes()).await;
    let check = async |columns: Value| {
        sender.post("/api/v1/datasets/check", json!({ "uploads": [id(&at)], "columns": columns })).await
    };
    let types = |found: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let columns = found["columns"].as_array().unwrap();
        columns.iter().map(|column| (text(&column["name"]), text(&column["type"]))).collect()
    };
    let (status, found) = check(json!([])).await;
    assert_eq!((status, &found["name"], &found["row_count"]), (200, &json!("shops"), &json!(3)), "{found}");
    assert_eq!(types(&found)[..2], [("art".into(), "DOUBLE".into()), ("price".into(), "VARCHAR".into())]);
    assert_eq!(found["rows"][0][0], "100000.0", "an article number that is taken for a number is lost");

    // What keeps a column from being numbers is told with its line, and left empty when somebody says that they are.
    let hint = &found["hints"][0];
    assert_eq!((&hint["column"], &hint["type"]), (&json!("price"), &json!("DOUBLE")), "{found}");
    let says = "price: 2 of 3 values are numbers with a decimal comma; 1 is not: \"n/a\" (line 3). It is text until";
    assert!(hint["says"].as_str().unwrap().starts_with(says), "{hint}");
    let (status, found) = check(json!([{ "column": "price", "type": "DECIMAL(9,2)" }])).await;
    assert_eq!((status, &found["rows"][0][1], &found["rows"][1][1]), (200, &json!("1.50"), &json!(null)), "{found}");
    let says = "price: 1 of 3 values says nothing and is left empty: \"n/a\" (line 3).";
    assert_eq!(found["hints"], json!([{ "column": "price", "type": "DECIMAL(9,2)", "says": says }]), "{found}");

    // A value that says something else is named with its line.
    let (status, unfit) = check(json!([{ "column": "note", "type": "DATE" }])).await;
    let problem = &unfit["error"]["details"]["problems"][1];
    assert_eq!((status, &problem["line"], &problem["value"]), (400, &json!(3), &json!("b")), "{unfit}");
    assert_eq!(problem["column"], "note");
    let said = unfit["error"]["message"].as_str().unwrap();
    assert!(said.contains("line 2, column note: \"a\" is no DATE. 2 more are like it."), "{said}");
    for (columns, part) in [
        (json!([{ "column": "prize", "type": "DOUBLE" }]), "The file has no column prize. It has: art, price"),
        (json!([{ "column": "art", "name": "day" }]), "Two columns cannot have the name day"),
        (json!([{ "column": "art", "name": "select" }]), "select is a word of SQL"),
        (json!([{ "column": "art", "type": "MAP(INT, INT)" }]), "cannot be of the type MAP(INT, INT)"),
    ] {
        let (status, refused) = check(columns).await;
        let said = refused["error"]["message"].as_str().unwrap();
        assert!(status == 400 && said.contains(part), "{refused}");
    }

    let columns = json!([
        { "column": "art", "type": "VARCHAR", "name": "note" },
        { "column": "note", "name": "art" },
        { "column": "price", "leave_out": true },
        { "column": "secret", "leave_out": true },
    ]);
    let (_, found) = check(columns.clone()).await;
    let expected = [("note", "VARCHAR"), ("day", "DATE"), ("art", "VARCHAR")];
    assert_eq!(types(&found), expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())), "names change places");
    assert_eq!(found["rows"][1], json!(["7.5", "2024-02-01", "b"]));
    let (status, none) =
        sender.post("/api/v1/datasets", json!({ "uploads": [id(&at)], "files": [{ "name": "x.csv" }] })).await;
    assert_eq!(status, 400, "a path is never taken from a request: {none}");
    let (status, made) =
        sender.post("/api/v1/datasets", json!({ "uploads": [id(&at)], "columns": columns, "publish": true })).await;
    assert_eq!((status, &made["row_count"]), (200, &json!(3)), "{made}");
    let reader = service.token(&sender.org).await;
    let sql = json!({ "sql": "SELECT note, day, art FROM shops ORDER BY day DESC" });
    let (_, rows) = service.tool(&reader, "dragoman_sql", sql).await;
    assert_eq!(rows["rows"][2], json!(["1E5", "2023-12-31", "a"]), "{rows}");

    // The same file under another name is recognised.
    let again = sender.begin("again.csv", file.len()).await;
    sender.rest(&again, file.as_bytes()).await;
    let (_, found) = sender.post("/api/v1/datasets/check", json!({ "uploads": [id(&again)] })).await;
    assert_eq!((&found["same_files"], &found["name"]), (&json!(["shops"]), &json!("again")), "{found}");

    // A decimal comma, and JSON whose texts are kept as they are.
    let comma = "a;b\n1,5;x\n22,25;y\n";
    let at = sender.begin("comma.csv", comma.len()).await;
    sender.rest(&at, comma.as_bytes()).await;
    let numbers = json!({ "uploads": [id(&at)], "columns": [{ "column": "a", "type": "DOUBLE" }] });
    let (_, found) = sender.post("/api/v1/datasets/check", numbers).await;
    assert_eq!(found["rows"], json!([["1.5", "x"], ["22.25", "y"]]), "{found}");
    let lines = "{\"day\":\"2024-01-01T10:00:00Z\",\"n\":1}\n{\"day\":\"2024-01-02T10:00:00Z\",\"n\":2.5}\n";
    let at = sender.begin("lines.jsonl", lines.len()).await;
    sender.rest(&at, lines.as_bytes()).await;
    let texts = json!({ "uploads": [id(&at)], "columns": [{ "column": "day", "type": "text" }] });
    let (_, found) = sender.post("/api/v1/datasets/check", texts).await;
    assert_eq!(found["rows"][0], json!(["2024-01-01T10:00:00Z", "1.0"]), "{found}");
    let whole = json!({ "uploads": [id(&at)], "columns": [{ "column": "day", "type": "BIGINT" }] });
    let (_, unfit) = sender.post("/api/v1/datasets/check", whole).await;
    assert_eq!(unfit["error"]["details"]["problems"][0]["row"], 1, "{unfit}");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_others_wrote_goes_on_over_a_line_that_breaks() {
    let service = Service::start().await;
    let sender = Sender::new(&service, "acme").await;
    let clients = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let output = tokio::process::Command::new("node")
        .args(["tus.mjs", service.url("").trim_end_matches('/'), &sender.token, "3000000"])
        .current_dir(clients)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(100), output).await.expect("in time").unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&said["cuts"], &said["gone"]), (&json!(12), &json!(404)), "{said}");
    let (status, made) = sender.post("/api/v1/datasets", json!({ "uploads": [said["id"]] })).await;
    assert_eq!((status, &made["row_count"]), (200, &said["lines"]), "{made}");
    service.stop().await;
}
