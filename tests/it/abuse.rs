//! What one caller, or a stranger, does must cost nobody else: not their places, not their log-ins, not a readable
//! record.

use std::convert::Infallible;
use std::time::Duration;

use dragoman::base::secret::Secret;
use dragoman::gateway::Via;
use dragoman::gateway::operation::Operation as _;
use dragoman::identity::uses::Uses;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::audit::Entry;
use dragoman::model::org::Org;
use dragoman::ops::import::Import;
use dragoman::ops::list_datasets::ListDatasets;
use dragoman::store::audit;
use futures_util::StreamExt as _;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::console::person;
use crate::site::{Browser, REDIRECT, client};
use crate::support::databases::postgres_url;
use crate::support::service::{PASSWORD, Service, json_of, operator};

/// On SQLite and then on PostgreSQL, with settings of one's own.
async fn both_with(settings: &[(&str, &str)], test: impl AsyncFn(Service)) {
    test(Service::with(settings).await).await;
    let url = postgres_url().await;
    let settings: Vec<_> = settings.iter().copied().chain([("DATABASE_URL", url.as_str())]).collect();
    test(Service::with(&settings).await).await;
}

/// The record about no workspace, or about one, oldest first.
async fn rows(service: &Service, org: Option<&Org>) -> Vec<Entry> {
    let rows = audit::newest(&service.db, org.map(|org| org.id), 10_000).await.unwrap();
    rows.into_iter().rev().map(|(_, entry)| entry).collect()
}

async fn refusals(service: &Service, org: Option<&Org>, outcome: &str) -> Vec<i64> {
    let rows = rows(service, org).await;
    rows.into_iter().filter(|row| row.outcome == outcome).map(|row| row.count).collect()
}

/// An upload that has begun and goes on for as long as its end is held.
struct Upload {
    more: mpsc::UnboundedSender<Vec<u8>>,
    answer: tokio::task::JoinHandle<Response>,
}

impl Upload {
    fn begin(service: &Service, token: &str, name: &str) -> Self {
        let (more, parts) = mpsc::unbounded_channel::<Vec<u8>>();
        more.send(b"a,b\n".to_vec()).unwrap();
        let parts = futures_util::stream::unfold(parts, async |mut parts| Some((parts.recv().await?, parts)));
        let file = Part::stream(Body::wrap_stream(parts.map(Ok::<_, Infallible>))).file_name(format!("{name}.csv"));
        let request = service.post("/api/v1/datasets", token).multipart(Form::new().part("file", file));
        Self { more, answer: tokio::spawn(async move { request.send().await.unwrap() }) }
    }

    async fn end(self) -> (u16, Value) {
        self.more.send(b"1,2\n".to_vec()).unwrap();
        drop(self.more);
        json_of(self.answer.await.unwrap()).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_contributor_cannot_take_the_places_of_others() {
    // Smaller than the default, and so that the places for calls would be taken by the uploads if they shared them.
    let settings = [("DRAGOMAN_IN_FLIGHT", "8"), ("DRAGOMAN_UPLOADS", "8"), ("DRAGOMAN_EXT_IN_FLIGHT", "3")];
    both_with(&settings, async |service| {
        let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
        let ann = service.identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
        service.identity.set_role(acme.id, ann.id, Role::Contributor).await.unwrap();
        // Grants cost nothing: each is another client of hers.
        let mut uploads = Vec::new();
        for number in 0..20 {
            let token = service.access_token_of(&acme, ann.id, &Scope::ALL).await;
            uploads.push(Upload::begin(&service, &token, &format!("slow_{number}")));
        }
        let mut refused = 0;
        while refused < 17 {
            let done = uploads.iter().position(|upload| upload.answer.is_finished());
            let Some(done) = done else {
                tokio::task::yield_now().await;
                continue;
            };
            let answer = uploads.remove(done).answer.await.unwrap();
            assert_eq!(answer.headers()["retry-after"], "1");
            let (status, body) = json_of(answer).await;
            assert_eq!((status, &body["error"]["details"]["limit"]), (429, &json!("uploads")), "{body}");
            refused += 1;
        }
        // Her own calls, those of a colleague, and other workspaces go on, uploads of theirs too.
        let hers = service.access_token_of(&acme, ann.id, &Scope::ALL).await;
        let colleague = service.access_token(&acme, Role::Contributor, &Scope::ALL).await;
        let stranger = service.access_token(&other, Role::Contributor, &Scope::ALL).await;
        for token in [&hers, &colleague, &stranger] {
            let (failed, body) = service.tool(token, "dragoman_sql", json!({ "sql": "SELECT 1" })).await;
            assert!(!failed, "{body}");
        }
        for (token, name) in [(&colleague, "by_colleague"), (&stranger, "by_stranger")] {
            let (status, body) = Upload::begin(&service, token, name).end().await;
            assert_eq!((status, &body["row_count"]), (200, &json!(1)), "{body}");
        }
        for upload in uploads {
            assert_eq!(upload.end().await.0, 200);
        }
        assert_eq!(refusals(&service, Some(&acme), "rate_limited").await, [1; 5], "twelve more are counted for later");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_leave_few_rows_a_minute_and_are_turned_away_when_they_are_too_many() {
    both_with(&[("DRAGOMAN_RATE_REFUSED", "40")], async |service| {
        let org = service.workspace("acme").await;
        let good = service.token(&org).await;
        let knock = async || service.http.post(service.url("/mcp")).send().await.unwrap();
        for _ in 0..40 {
            assert_eq!(knock().await.status(), 401);
        }
        for _ in 0..40 {
            let turned_away = knock().await;
            assert_eq!(turned_away.status(), 429);
            let wait: u64 = turned_away.headers()["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((1..=2).contains(&wait), "{wait}");
        }
        // Who has a credential is let in at the same address.
        assert_eq!(service.get("/api/v1/ext/datasets", &good).send().await.unwrap().status(), 200);
        assert_eq!(refusals(&service, None, "auth_missing").await, [1; 5]);
        assert_eq!(refusals(&service, None, "rate_limited").await, [1; 5]);
        service.clock.advance(Duration::from_secs(61));
        assert_eq!(knock().await.status(), 401);
        assert_eq!(refusals(&service, None, "auth_missing").await, [1, 1, 1, 1, 1, 36], "35 before, and this one");
        assert_eq!(dragoman::store::audit::verify(&service.db, None).await.unwrap(), None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_counted_is_written_out_before_the_service_ends() {
    let folder = tempfile::tempdir().unwrap();
    let db = dragoman::store::Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
    let clock = dragoman::base::clock::Clock::manual(1_790_000_000_000);
    let (log, writer) = dragoman::gateway::audit::AuditLog::start(db.clone(), clock.clone(), Uses::default());
    let refusal: Entry = serde_json::from_value(json!({
        "at": clock.now(), "org": null, "principal": "", "client": "", "client_version": "", "session": "",
        "ip": "192.0.2.1", "request_id": "r", "action": "auth.refused", "target": "/mcp", "outcome": "auth_missing",
        "duration_ms": 0, "rows": 0, "bytes": 0,
    }))
    .unwrap();
    for _ in 0..7 {
        log.refused(refusal.clone()).await.unwrap();
    }
    writer.finish().await;
    let counts: Vec<i64> = audit::newest(&db, None, 10).await.unwrap().iter().map(|(_, row)| row.count).collect();
    assert_eq!(counts, [2, 1, 1, 1, 1, 1]);
    assert_eq!(audit::verify(&db, None).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_tokens_lock_out_bad_tokens_only() {
    both_with(&[("DRAGOMAN_FAILURES_PER_IP", "5")], async |service| {
        let org = service.workspace("acme").await;
        let (good, bearer) = (service.token(&org).await, service.access_token(&org, Role::Viewer, &Scope::ALL).await);
        let user = service.identity.create_user("ann@example.com", "Ann", &Secret::new(PASSWORD)).await.unwrap();
        service.identity.set_role(org.id, user.id, Role::Viewer).await.unwrap();
        let bad = "dgmcp_AAAAAAAA_00000000000000000000000000000000";
        for _ in 0..5 {
            assert_eq!(service.get("/api/v1/ext/datasets", bad).send().await.unwrap().status(), 401);
        }
        let (status, body) = json_of(service.get("/api/v1/ext/datasets", bad).send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (429, &json!("ip_blocked")));
        let (_, row) = audit::newest(&service.db, None, 1).await.unwrap().remove(0);
        assert_eq!((row.action.as_str(), row.outcome.as_str()), ("auth.refused", "ip_blocked"));
        assert_eq!((row.target.as_str(), row.ip.as_str()), ("/api/v1/ext/datasets", "127.0.0.1"));
        for token in [&good, &bearer] {
            assert_eq!(service.get("/api/v1/ext/datasets", token).send().await.unwrap().status(), 200);
            let listed = service.rpc(token, "tools/list", json!({})).send().await.unwrap();
            assert_eq!(listed.status(), 200);
        }
        // Whose token has expired or was revoked learns that, and gets another.
        let (info, ended) = service.identity.create_token(org.id, "old", &ExtScope::ALL, None).await.unwrap();
        assert!(service.identity.revoke_token(org.id, &info.id).await.unwrap());
        let (status, body) = json_of(service.get("/api/v1/ext/datasets", ended.expose()).send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (401, &json!("auth_revoked")));
        // Nobody who only looks for the way in is shut out either, and people log in.
        assert_eq!(service.http.post(service.url("/mcp")).send().await.unwrap().status(), 401);
        let (status, page) = json_of(service.http.get(service.url("/login")).send().await.unwrap()).await;
        assert_eq!(status, 200, "{page}");
    })
    .await;
}

/// As those of a hosted client are, or the people of an office.
#[tokio::test(flavor = "multi_thread")]
async fn what_fails_behind_an_address_keeps_nobody_else_there_from_their_tokens() {
    both_with(&[("DRAGOMAN_RATE_TOKEN", "5"), ("DRAGOMAN_RATE_REFUSED", "3")], async |service| {
        let org = service.workspace("acme").await;
        let ann = service.person("ann@example.com").await;
        service.identity.set_role(org.id, ann.id, Role::Viewer).await.unwrap();
        let (client, first) = service.grant(&org, ann.id, &Scope::ALL, &service.config.resource()).await;
        let refresh = async |client: &str, token: &Secret| {
            let form = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token.expose())];
            let answer = service.http.post(service.url("/api/oauth/token")).form(&form).send().await.unwrap();
            let wait = answer.headers().get("retry-after").map(|wait| wait.to_str().unwrap().to_owned());
            let (status, body) = json_of(answer).await;
            (status, wait, body)
        };
        for _ in 0..5 {
            assert_eq!(refresh("dgc_made_up", &first.refresh).await.0, 401);
        }
        let (status, wait, body) = refresh("dgc_made_up", &first.refresh).await;
        assert_eq!((status, wait.as_deref(), &body["error"]), (429, Some("12"), &json!("temporarily_unavailable")));
        // The good ones count for their grant.
        let mut held = first.refresh.clone();
        for _ in 0..5 {
            let (status, _, body) = refresh(&client, &held).await;
            assert_eq!(status, 200, "{body}");
            held = Secret::new(body["refresh_token"].as_str().unwrap());
        }
        let (status, wait, body) = refresh(&client, &held).await;
        assert_eq!((status, wait.as_deref()), (429, Some("12")), "{body}");
        assert!(body["error_description"].as_str().unwrap().contains("of this grant"), "{body}");
        assert_eq!(refusals(&service, None, "rate_limited").await, [1, 1]);
        service.clock.advance(Duration::from_secs(12));
        assert_eq!(refresh(&client, &held).await.0, 200, "it was not used up");

        // Whose access token has expired learns so, beside strangers who are turned away.
        service.clock.advance(Duration::from_secs(700));
        for status in [401, 401, 401, 429] {
            assert_eq!(service.http.post(service.url("/mcp")).send().await.unwrap().status(), status);
        }
        for _ in 0..5 {
            let answer = service.get("/api/v1/ext/datasets", first.access.expose()).send().await.unwrap();
            assert!(answer.headers().contains_key("www-authenticate"));
            let (status, body) = json_of(answer).await;
            assert_eq!((status, &body["error"]["code"]), (401, &json!("auth_expired")));
        }
    })
    .await;
}

/// Through proxies of a network that the operator named, with the port that some of them write.
#[tokio::test(flavor = "multi_thread")]
async fn bad_tokens_of_one_behind_a_proxy_block_nobody_else_behind_it() {
    let settings = [("DRAGOMAN_TRUSTED_PROXIES", "127.0.0.0/8"), ("DRAGOMAN_FAILURES_PER_IP", "1")];
    both_with(&settings, async |service| {
        let bad = "dgmcp_AAAAAAAA_00000000000000000000000000000000";
        let from = async |address: &str| {
            let request = service.get("/api/v1/ext/datasets", bad).header("x-forwarded-for", address);
            request.send().await.unwrap().status().as_u16()
        };
        for (address, status) in [
            ("203.0.113.9:4711", 401),
            ("203.0.113.9:4712", 429),
            ("203.0.113.10:4711", 401),
            ("[2001:db8::1]:443", 401),
        ] {
            assert_eq!(from(address).await, status, "{address}");
        }
        let rows = rows(&service, None).await;
        let refused = rows.iter().filter(|row| row.action == "auth.refused");
        let seen: Vec<&str> = refused.map(|row| row.ip.as_str()).collect();
        assert_eq!(seen, ["203.0.113.9", "203.0.113.9", "203.0.113.10", "2001:db8::1"]);
    })
    .await;
}

/// Both are the operator's: how many tokens a workspace has, and what all clients may ask of the instance together.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_requests_of_all_are_bounded_where_the_settings_say_so() {
    let service = Service::with(&[("DRAGOMAN_EXT_MAX_TOKENS", "1"), ("DRAGOMAN_EXT_RATE_INSTANCE", "4")]).await;
    let (ours, theirs) = (service.workspace("ours").await, service.workspace("theirs").await);
    let (one, other) = (service.token(&ours).await, service.token(&theirs).await);
    let second = service.identity.create_token(ours.id, "second", &ExtScope::ALL, None).await.unwrap_err();
    assert_eq!((&second.details["limit"], &second.details["max"]), (&json!("tokens"), &json!(1)), "{second}");
    for token in [&one, &other, &one, &other] {
        assert_eq!(service.get("/api/v1/ext/datasets", token).send().await.unwrap().status(), 200);
    }
    let (status, body) = json_of(service.get("/api/v1/ext/datasets", &one).send().await.unwrap()).await;
    assert_eq!((status, &body["error"]["details"]["limit"]), (429, &json!("instance")), "{body}");
    let (status, body) = json_of(service.rpc(&other, "tools/list", json!({})).send().await.unwrap()).await;
    assert!(status == 429 || !body["error"].is_null(), "over MCP too: {body}");
    // Who looks after the workspace is not a client.
    let reply = service.gateway.call(&operator(&ours), ListDatasets::default(), Via::new("admin.call")).await;
    assert_eq!(reply.unwrap().reply.count, 0);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_token_sends_over_its_limits_is_refused_and_shares_a_row() {
    let settings = [("DRAGOMAN_EXT_RATE_REQUESTS", "30"), ("DRAGOMAN_EXT_RATE_SESSIONS", "5")];
    both_with(&settings, async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let initialize = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" },
            },
        });
        let open = async || {
            let request = service.post("/mcp", &token).header("accept", "application/json, text/event-stream");
            request.json(&initialize).send().await.unwrap()
        };
        for _ in 0..5 {
            assert_eq!(open().await.status(), 200);
        }
        for _ in 0..5 {
            let refused = open().await;
            assert_eq!(refused.status(), 429);
            assert!(refused.headers().contains_key("retry-after"));
            let (_, body) = json_of(refused).await;
            assert_eq!(body["id"], 1, "{body}");
            assert!(body["error"]["message"].as_str().unwrap().contains("sessions"), "{body}");
        }
        let unknown =
            async || service.rpc(&token, "tools/call", json!({ "name": "no_such_tool" })).send().await.unwrap();
        let mut answered = 0;
        while unknown().await.status() != 429 {
            answered += 1;
        }
        assert_eq!(answered, 20, "thirty requests a minute of whatever kind");
        assert_eq!(service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status(), 429, "REST counts too");
        let rows = rows(&service, Some(&org)).await;
        let refused: Vec<_> = rows.iter().filter(|row| row.outcome != "ok").collect();
        // Five sessions too many, twenty unknown tools, and one request too many each over MCP and REST.
        assert_eq!(refused.len(), 5 + 5 + 1 + 1, "{refused:#?}");
        assert!(refused.iter().all(|row| row.count == 1));
        // A colleague's token is not affected.
        let other = service.token(&org).await;
        assert_eq!(service.get("/api/v1/ext/datasets", &other).send().await.unwrap().status(), 200);
    })
    .await;
}

/// Sends a head and one byte of the body, and says what came back before the connection ended.
async fn trickle(service: &Service, head: &str) -> String {
    let url = &service.config.public_url;
    let mut stream = tokio::net::TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).await.unwrap();
    stream.write_all(format!("{head}content-length: 1000\r\n\r\n{{").as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    // A byte now and then, for as long as somebody takes it.
    let drip = tokio::spawn(async move {
        while write.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    });
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(40), read.read_to_end(&mut answer)).await;
    drip.abort();
    assert!(ended.is_ok(), "the connection is still open: {}", String::from_utf8_lossy(&answer));
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_trickles_is_answered_and_cut_off_within_seconds() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let token = service.access_token(&org, Role::Contributor, &Scope::ALL).await;
    let host = service.config.listen;
    let head = |line: &str, media: &str| {
        format!(
            "{line} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\naccept: application/json, \
             text/event-stream\r\ncontent-type: {media}\r\n"
        )
    };
    let heads = [
        head("POST /mcp", "application/json"),
        head("POST /api/v1/ext/sql", "application/json"),
        head("POST /api/v1/datasets", "multipart/form-data; boundary=x"),
    ];
    let [mcp, rest, upload] = heads.each_ref().map(|head| trickle(&service, head));
    let (mcp, rest, upload) = tokio::join!(mcp, rest, upload);
    for answer in [&mcp, &rest, &upload] {
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    assert!(mcp.contains("\"jsonrpc\""), "{mcp}");
    assert!(rest.contains("query_timeout") && upload.contains("query_timeout"), "{rest}\n{upload}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_while_sending_reads_why_and_who_waits_to_send_is_not_asked_to() {
    let service = Service::start().await;
    let refused = [
        ("POST /mcp", "401"),
        ("POST /api/v1/datasets", "401"),
        ("POST /api/v1/ext/sql", "401"),
        ("POST /api/oauth/token", "415"),
        ("POST /nowhere", "404"),
        ("POST /health/live", "405"),
    ];
    let url = &service.config.public_url;
    for (line, status) in refused {
        let head = format!("{line} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n", service.config.listen, 8 << 20);
        let connect = || tokio::net::TcpStream::connect((url.host_str().unwrap(), url.port().unwrap()));
        let answer = format!("HTTP/1.1 {status}");
        let mut start = [0; 12];
        // As a client does that reads nothing before it has sent all.
        let mut eager = connect().await.unwrap();
        eager.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
        for _ in 0..8 {
            eager.write_all(&vec![b'x'; 1 << 20]).await.unwrap_or_else(|problem| panic!("{line}: {problem}"));
        }
        eager.read_exact(&mut start).await.unwrap_or_else(|problem| panic!("{line}: {problem}"));
        assert_eq!(String::from_utf8_lossy(&start), answer, "{line}");
        // As a client does that asks first: the answer is no invitation to go on.
        let mut patient = connect().await.unwrap();
        patient.write_all(format!("{head}expect: 100-continue\r\n\r\n").as_bytes()).await.unwrap();
        patient.read_exact(&mut start).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&start), answer, "{line}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_count_as_requests_whatever_comes_of_them() {
    both_with(&[("DRAGOMAN_EXT_RATE_REQUESTS", "3")], async |service| {
        let org = service.workspace("acme").await;
        let token = service.access_token(&org, Role::Contributor, &Scope::ALL).await;
        let upload = async || service.post("/api/v1/datasets", &token).body("no form").send().await.unwrap();
        for _ in 0..3 {
            assert_eq!(upload().await.status(), 400);
        }
        let refused = upload().await;
        assert_eq!(refused.status(), 429);
        assert!(refused.headers().contains_key("retry-after"));
        assert_eq!(json_of(refused).await.1["error"]["code"], "rate_limited");
        assert_eq!(service.get("/api/v1/ext/datasets", &token).send().await.unwrap().status(), 429);
        let rows = rows(&service, Some(&org)).await;
        let limited: Vec<_> = rows.iter().filter(|row| row.outcome == "rate_limited").collect();
        let targets: Vec<&str> = limited.iter().map(|row| row.target.as_str()).collect();
        assert_eq!(targets, [Import::INFO.name, ListDatasets::INFO.name]);
    })
    .await;
}

/// Whatever refuses them, and before whatever is read.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_refused_without_a_credential_has_a_row() {
    let settings = [
        ("DRAGOMAN_RATE_REGISTER", "1"),
        ("DRAGOMAN_RATE_TOKEN", "1"),
        ("DRAGOMAN_RATE_AUTHORIZE", "1"),
        ("DRAGOMAN_FAILURES_PER_IP", "1"),
    ];
    both_with(&settings, async |service| {
        let (user, ann) = person(&service, "ann@example.com", &[]).await;
        let stranger = Browser { base: service.url(""), http: client(true) };
        let registration = json!({ "redirect_uris": [REDIRECT] });
        for status in [201, 429] {
            let sent = service.http.post(service.url("/api/oauth/register")).json(&registration).send().await.unwrap();
            assert_eq!(sent.status(), status);
        }
        let unreadable = service.http.post(service.url("/api/oauth/token")).json(&json!({})).send().await.unwrap();
        assert_eq!(unreadable.status(), 415);
        assert_eq!(stranger.post("/api/oauth/introspect", &[("token", "x")]).await.status(), 429);
        for status in [400, 429] {
            assert_eq!(stranger.get("/api/oauth/authorize").await.status(), status);
        }
        assert_eq!(ann.post("/logout", &[("csrf", "00")]).await.status(), 403);
        assert_eq!(stranger.log_in("ann@example.com", "wrong", "/").await.status(), 401);
        assert_eq!(stranger.get("/login").await.status(), 429);
        // What is not there is refused to nobody.
        assert_eq!(stranger.get("/assets/none.css").await.status(), 404);

        let rows = rows(&service, None).await;
        let told: Vec<_> = rows.iter().map(|row| (&*row.action, &*row.outcome, &*row.target)).collect();
        let refused: Vec<_> = told.iter().filter(|(action, ..)| *action == "web.refused").copied().collect();
        let expected = [
            ("rate_limited", "/api/oauth/register"),
            ("invalid_argument", "/api/oauth/token"),
            ("rate_limited", "/api/oauth/authorize"),
            ("forbidden", "/logout"),
            ("ip_blocked", "/login"),
        ];
        assert_eq!(refused, expected.map(|(outcome, target)| ("web.refused", outcome, target)), "{told:?}");
        // Who is known by the session of the browser is named.
        let named = rows.iter().filter(|row| row.action == "web.refused" && !row.principal.is_empty());
        let named: Vec<_> = named.map(|row| (&*row.target, row.principal.clone())).collect();
        assert_eq!(named, [("/logout", format!("user:{}", user.id))]);
        // Those that are recorded where they are refused have no second row.
        assert!(told.contains(&("oauth.introspect", "rate_limited", "")), "{told:?}");
        let others: Vec<_> = told.iter().filter(|(_, outcome, _)| *outcome != "ok").collect();
        assert_eq!(others.len(), expected.len() + 3, "{told:?}");
    })
    .await;
}

/// Before a call of an operation can be made of it, or where none is.
#[tokio::test(flavor = "multi_thread")]
async fn messages_that_are_refused_and_prompts_that_read_nothing_have_a_row() {
    both_with(&[], async |service| {
        let org = service.workspace("acme").await;
        let token = service.token(&org).await;
        let mut seen = rows(&service, Some(&org)).await.len();
        // Since it was asked before.
        let mut written = async || {
            let rows = rows(&service, Some(&org)).await;
            let new = rows.iter().skip(seen).map(|row| format!("{} {} {}", row.action, row.target, row.outcome));
            let new: Vec<String> = new.collect();
            seen = rows.len();
            new
        };
        for body in ["{", "[]", r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#] {
            let accepts = "application/json, text/event-stream";
            let request = service.post("/mcp", &token).header("accept", accepts);
            let sent = request.header("content-type", "application/json").body(body).send().await.unwrap();
            assert_eq!(sent.status(), 400, "{body}");
            assert_eq!(written().await, ["mcp.request POST invalid_argument"], "{body}");
        }
        // The first by the service, the others by the library.
        for (name, value, status, outcome) in [
            ("mcp-method", "tools/call", 400, "invalid_argument"),
            ("accept", "text/html", 406, "invalid_argument"),
            ("content-type", "text/plain", 415, "invalid_argument"),
            ("host", "evil.example", 403, "forbidden"),
        ] {
            let mut other = service.rpc(&token, "tools/list", json!({})).build().unwrap();
            other.headers_mut().insert(name, value.parse().unwrap());
            assert_eq!(service.http.execute(other).await.unwrap().status(), status, "{name}");
            assert_eq!(written().await, [format!("mcp.request tools/list {outcome}")], "{name}");
        }
        // By the library too, which writes this one as an error of the protocol.
        let mut unnamed = service.rpc(&token, "tools/list", json!({})).build().unwrap();
        unnamed.headers_mut().remove("mcp-method").unwrap();
        let (status, body) = json_of(service.http.execute(unnamed).await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32020)), "{body}");
        assert_eq!(written().await, ["mcp.request tools/list invalid_argument"]);
        for (prompt, told) in [
            (json!({ "name": "none" }), "none invalid_argument"),
            (json!({ "name": "connect_client" }), "connect_client invalid_argument"),
            (json!({ "name": "connect_client", "arguments": { "platform": "claude" } }), "connect_client claude ok"),
        ] {
            service.rpc(&token, "prompts/get", prompt).send().await.unwrap();
            assert_eq!(written().await, [format!("mcp.prompt.get {told}")]);
        }
    })
    .await;
}
