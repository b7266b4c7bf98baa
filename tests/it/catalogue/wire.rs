//! H: bytes on the wire that a server and a proxy in front of it could read differently, or that cost more than they
//! look. The service answers them once, refuses them, or closes; and it goes on answering others.

use std::time::Duration;

use dragoman::model::access::{Role, Scope};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::service::Service;

/// Within this, what must happen has happened.
const PATIENCE: Duration = Duration::from_secs(20);

async fn connect(service: &Service) -> TcpStream {
    TcpStream::connect(service.config.listen).await.unwrap()
}

/// What comes back until the other side closes, as text.
async fn until_closed(mut stream: TcpStream, what: &str) -> String {
    let mut answer = Vec::new();
    let closed = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    assert!(closed.is_ok(), "{what}: still open after {}", String::from_utf8_lossy(&answer));
    // A reset is an end as well.
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends text in which `HOST` stands for the service's own; returns everything that it answers until it closes.
async fn converse(service: &Service, what: &str, request: &str) -> String {
    let mut stream = connect(service).await;
    let request = request.replace("HOST", &service.config.listen.to_string());
    stream.write_all(request.as_bytes()).await.unwrap();
    until_closed(stream, what).await
}

async fn answers(service: &Service) {
    let live = service.http.get(service.url("/health/live")).send().await.unwrap();
    assert_eq!(live.status(), 200, "the service goes on");
}

/// A request that would be found behind another by one who reads the first one shorter.
const HIDDEN: &str = "GET /health/live HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn h09_a_message_that_can_be_read_in_two_ways_is_refused_and_the_connection_closed() {
    let service = Service::start().await;
    let post = "POST /api/oauth/token HTTP/1.1\r\nhost: HOST\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let chunks = format!("0\r\n\r\n{HIDDEN}");
    for (what, head, rest) in [
        ("length and chunks", "content-length: 4\r\ntransfer-encoding: chunked\r\n", &*chunks),
        ("chunks and length", "transfer-encoding: chunked\r\ncontent-length: 4\r\n", &chunks),
        ("two lengths", "content-length: 4\r\ncontent-length: 5\r\n", "abcde"),
        ("a list of lengths", "content-length: 4, 4\r\n", "abcd"),
        ("a length with a sign", "content-length: +4\r\n", "abcd"),
        ("a negative length", "content-length: -1\r\n", ""),
        ("a length in hex", "content-length: 0x4\r\n", "abcd"),
        ("a length with a space", "content-length: 4 4\r\n", "abcd"),
        ("a length beyond numbers", "content-length: 99999999999999999999999\r\n", "abcd"),
        ("identity and length", "transfer-encoding: identity\r\ncontent-length: 4\r\n", "abcd"),
        ("an unknown coding", "transfer-encoding: xchunked\r\n", &chunks),
        ("chunks not last", "transfer-encoding: chunked, identity\r\n", &chunks),
        ("two codings", "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n", &chunks),
        ("a space before the colon", "transfer-encoding : chunked\r\n", &chunks),
        ("a folded coding", "transfer-encoding:\r\n chunked\r\n", &chunks),
        ("a folded header", "x-a: b\r\n c\r\ncontent-length: 0\r\n", ""),
        ("a header that begins with a space", " content-length: 4\r\n", "abcd"),
        ("a bare CR", "x-a: b\rcontent-length: 4\r\n", "abcd"),
        ("a NUL", "x-a: b\0c\r\n", ""),
        ("no colon", "nonsense\r\n", ""),
        ("no name", ": x\r\n", ""),
        ("a name with a bracket", "content-length[]: 4\r\n", "abcd"),
    ] {
        let answer = converse(&service, what, &format!("{post}{head}\r\n{rest}{HIDDEN}")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: what was hidden is answered: {answer}");
    }
    let old = post.replace("HTTP/1.1", "HTTP/1.0");
    let answer = converse(&service, "chunks in 1.0", &format!("{old}transfer-encoding: chunked\r\n\r\n{chunks}")).await;
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.matches("HTTP/1.1 ").count() == 1, "{answer}");
    for (what, chunk) in [
        ("no number", "zz\r\nabc\r\n"),
        ("too large", "ffffffffffffffffff\r\nabc\r\n"),
        ("negative", "-1\r\nabc\r\n"),
        ("a long extension", &format!("0;{}\r\n\r\n", "a".repeat(50_000))),
    ] {
        let answer =
            converse(&service, what, &format!("{post}transfer-encoding: chunked\r\n\r\n{chunk}{HIDDEN}")).await;
        assert!(answer.starts_with("HTTP/1.1 4") && answer.matches("HTTP/1.1 ").count() == 1, "{what}: {answer}");
    }
    for (what, request) in [
        ("no host", "GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n"),
        ("two hosts", "GET /health/live HTTP/1.1\r\nhost: HOST\r\nhost: evil.example\r\nconnection: close\r\n\r\n"),
        ("the same host twice", "GET /health/live HTTP/1.1\r\nhost: HOST\r\nhost: HOST\r\nconnection: close\r\n\r\n"),
        ("a version of its own", "GET /health/live HTTP/9.9\r\nhost: HOST\r\n\r\n"),
        ("no version", "GET /health/live\r\nhost: HOST\r\n\r\n"),
        ("no method", " /health/live HTTP/1.1\r\nhost: HOST\r\n\r\n"),
        ("a space in the target", "GET /health /live HTTP/1.1\r\nhost: HOST\r\n\r\n"),
    ] {
        let answer = converse(&service, what, request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{what}: {answer}");
    }
    // The same length twice is one length, and a body that nobody reads is not the next request.
    let body = HIDDEN.replace("HOST", &service.config.listen.to_string());
    let length = body.len();
    for head in
        [format!("content-length: {length}\r\ncontent-length: {length}\r\n"), format!("content-length: {length}\r\n")]
    {
        let get = format!("GET /health/live HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n{head}\r\n{body}");
        let answer = converse(&service, "a body of a GET", &get).await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.matches("HTTP/1.1 ").count() == 1, "{answer}");
    }
    answers(&service).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn h09_headers_and_targets_have_a_bearable_size() {
    let service = Service::start().await;
    for (what, head, status) in [
        ("a long header", format!("GET / HTTP/1.1\r\nhost: HOST\r\nx-a: {}\r\n\r\n", "a".repeat(1 << 20)), "431"),
        ("many headers", format!("GET / HTTP/1.1\r\nhost: HOST\r\n{}\r\n", "x-a: b\r\n".repeat(200)), "431"),
        (
            "a long cookie",
            format!("GET / HTTP/1.1\r\nhost: HOST\r\ncookie: dragoman={}\r\n\r\n", "a".repeat(1 << 20)),
            "431",
        ),
        ("a long target", format!("GET /{} HTTP/1.1\r\nhost: HOST\r\n\r\n", "a".repeat(100_000)), "431"),
    ] {
        let mut stream = connect(&service).await;
        // It may close before everything is sent.
        let _closed_early = stream.write_all(head.replace("HOST", &service.config.listen.to_string()).as_bytes()).await;
        let mut start = [0; 12];
        let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap();
        // A reset that overtakes the answer is a refusal as well.
        if read.is_ok() {
            assert_eq!(String::from_utf8_lossy(&start), format!("HTTP/1.1 {status}"), "{what}");
        }
        until_closed(stream, what).await;
    }
    answers(&service).await;
}

/// A frame of HTTP/2 (RFC 9113 §4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `POST /` at our host, as HPACK (RFC 7541 appendix A): method, scheme and path from the table, the authority in full.
fn head(service: &Service) -> Vec<u8> {
    let host = service.config.listen.to_string();
    [&[0x83, 0x86, 0x84, 0x41, u8::try_from(host.len()).unwrap()], host.as_bytes()].concat()
}

/// Sends a flood over HTTP/2 and waits for the other side to say goodbye; returns the error codes of its GOAWAY frames.
async fn flood(service: &Service, what: &str, frames: impl Iterator<Item = Vec<u8>>) -> Vec<u32> {
    let stream = connect(service).await;
    let (mut reader, mut writer) = stream.into_split();
    let read = tokio::spawn(async move {
        let mut all = Vec::new();
        let closed = tokio::time::timeout(PATIENCE, reader.read_to_end(&mut all)).await;
        (all, closed.is_ok())
    });
    let start = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat();
    writer.write_all(&start).await.unwrap();
    for frame in frames {
        // The other side closes in the middle: that is the point.
        if writer.write_all(&frame).await.is_err() {
            break;
        }
    }
    let (all, closed) = read.await.unwrap();
    assert!(closed, "{what}: still open");
    let mut codes = Vec::new();
    let mut rest = all.as_slice();
    while rest.len() >= 9 {
        let length = usize::from(rest[0]) << 16 | usize::from(rest[1]) << 8 | usize::from(rest[2]);
        if rest[3] == 7 && rest.len() >= 17 {
            codes.push(u32::from_be_bytes(rest[13..17].try_into().unwrap()));
        }
        rest = rest.get(9 + length..).unwrap_or_default();
    }
    codes
}

#[tokio::test(flavor = "multi_thread")]
async fn h09_floods_of_http2_end_their_connection_and_nothing_else() {
    let service = Service::start().await;
    let head = head(&service);
    let request = |stream: u32| frame(HEADERS, END_HEADERS, stream, &head);
    // Rapid reset (CVE-2023-44487): a request and its end, without waiting for either.
    let resets = (0..20_000).map(|n| {
        let stream = 2 * n + 1;
        [request(stream), frame(RST_STREAM, 0, stream, &8u32.to_be_bytes())].concat()
    });
    // A header that never ends (CVE-2024-27316).
    let field = [&[0x40, 3], b"x-a".as_slice(), &[100], "a".repeat(100).as_bytes()].concat();
    let begun = [frame(HEADERS, 0, 1, &head)].into_iter();
    let continuations = begun.chain((0..100_000).map(|_| frame(CONTINUATION, 0, 1, &field)));
    // Frames that carry nothing (CVE-2019-9518, RUSTSEC-2026-0258).
    let empty = [request(1)].into_iter().chain((0..200_000).map(|_| frame(DATA, 0, 1, &[])));
    // Questions that must be answered, from one who does not read (CVE-2019-9512, CVE-2019-9515).
    let after_goodbye = [frame(DATA, END_STREAM, 0, &[])];
    for (what, frames) in [
        ("resets", Box::new(resets) as Box<dyn Iterator<Item = Vec<u8>> + Send>),
        ("continuations", Box::new(continuations)),
        ("empty data", Box::new(empty)),
        ("data of no stream", Box::new(after_goodbye.into_iter())),
        ("a ping of the wrong size", Box::new([frame(PING, 0, 0, &[0; 7])].into_iter())),
        ("settings of the wrong size", Box::new([frame(SETTINGS, 0, 0, &[0; 5])].into_iter())),
        ("a frame over the limit", Box::new([frame(DATA, 0, 1, &[0; 20_000])].into_iter())),
        ("a header block that is none", Box::new([frame(HEADERS, END_HEADERS, 1, &[0xff; 40])].into_iter())),
    ] {
        let codes = flood(&service, what, frames).await;
        assert!(codes.iter().all(|code| *code != 0), "{what}: {codes:?}");
        answers(&service).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn h10_no_spelling_of_method_host_or_path_goes_around_the_guard() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let close = "connection: close\r\n";
    // Whatever the spelling: without a credential there is the challenge, or nothing at all.
    for target in [
        "/mcp",
        "/mcp/",
        "//mcp",
        "/mcp//",
        "/./mcp",
        "/x/../mcp",
        "/%6dcp",
        "/mcp%2f",
        "/mcp;x",
        "/mcp/.",
        "/MCP",
        "/mcp%00",
        "/mcp?x",
        "/mcp%3fx",
        "/t/acme/mcp",
        "/t/acme//mcp",
        "/t/../mcp",
        "/t/acme/../../mcp",
        "/api/v1/ext/datasets",
        "//api/v1/ext/datasets",
        "/api//v1/ext/datasets",
        "/api/v1/ext/datasets/",
        "/api/v1/ext/datasets/.",
        "/api/v1/ext/./datasets",
        "/api/v1/ext/../ext/datasets",
        "/api/v1/%65xt/datasets",
        "/API/v1/ext/datasets",
        "/api/v1/ext/datasets;a=b",
        "/api/v1/ext/datasets%20",
        "/api/v1\\ext\\datasets",
        "/health/live/../../api/v1/ext/datasets",
        "/health/live/..%2f..%2fapi/v1/ext/datasets",
        "/.well-known/../api/v1/ext/datasets",
        "http://HOST/mcp",
        "http://HOST/api/v1/ext/datasets",
        "http://evil.example/api/v1/ext/datasets",
        "http://HOST//mcp",
        "https://evil.example:1/mcp",
        "*",
    ] {
        for method in ["GET", "POST", "OPTIONS", "HEAD", "mcp", "get"] {
            let body = "content-length: 0\r\n";
            let answer =
                converse(&service, target, &format!("{method} {target} HTTP/1.1\r\nhost: HOST\r\n{body}{close}\r\n"))
                    .await;
            let status: u16 = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
            assert!([400, 401, 404, 405].contains(&status), "{method} {target}: {answer}");
            assert!(!answer.contains("\"datasets\""), "{method} {target}: {answer}");
        }
    }
    let not_found =
        converse(&service, "", &format!("GET //.well-known/jwks.json HTTP/1.1\r\nhost: HOST\r\n{close}\r\n")).await;
    assert!(not_found.starts_with("HTTP/1.1 404 "), "{not_found}");
    // What other frameworks read as another method, path or host is nothing here.
    for header in [
        "x-original-url: /health/live",
        "x-rewrite-url: /health/live",
        "x-forwarded-prefix: /health",
        "x-forwarded-host: evil.example",
        "x-http-method-override: GET",
        "x-method-override: OPTIONS",
        "forwarded: host=evil.example",
        "x-forwarded-uri: /health/live",
    ] {
        let answer = converse(
            &service,
            header,
            &format!("GET /api/v1/ext/datasets HTTP/1.1\r\nhost: HOST\r\n{header}\r\n{close}\r\n"),
        )
        .await;
        assert!(answer.starts_with("HTTP/1.1 401 ") && !answer.contains("evil.example"), "{header}: {answer}");
    }
    let token = service.access_token(&org, Role::Viewer, &[Scope::DataRead]).await;
    for header in ["x-http-method-override: DELETE", "x-method-override: POST", "x-http-method: PUT"] {
        let request = format!(
            "GET /api/v1/ext/datasets HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer {token}\r\n{header}\r\n{close}\r\n"
        );
        assert!(converse(&service, header, &request).await.starts_with("HTTP/1.1 200 "), "{header}");
    }
    // The host of a request opens nothing, and where it counts it is compared whole.
    let (name, port) = ("127.0.0.1", service.config.listen.port());
    for host in [
        format!("{name}.:{port}"),
        format!("{name}:{port}.evil.example"),
        format!("evil.example:{port}"),
        format!("user@{name}:{port}"),
        name.to_owned(),
        format!("{name}:{port}, evil.example"),
    ] {
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let length = list.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\naccept: */*\r\ncontent-length: {length}\r\n{close}\r\n{list}"
        );
        let answer = converse(&service, &host, &request).await;
        let status: u16 = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        assert!([400, 403, 421].contains(&status), "{host}: {answer}");
    }
}
