//! Streams that are open end with what opened them (I18, J09), and are so many as each may have.

use std::time::{Duration, Instant};

use dragoman::model::access::{ExtScope, Role};
use dragoman::model::org::Org;
use reqwest::Response;
use serde_json::{Value, json};

use crate::support::service::{Service, json_of};

/// Opens a session; returns its id.
async fn session(service: &Service, token: &str) -> String {
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let both = "application/json, text/event-stream";
    let opened = service.post("/mcp", token).header("accept", both).json(&body).send().await.unwrap();
    opened.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

/// Asks for a stream in a session.
async fn stream(service: &Service, token: &str, session: &str) -> Response {
    let request = service.get("/mcp", token).header("accept", "text/event-stream").header("mcp-session-id", session);
    request.send().await.unwrap()
}

/// Opens a session and a stream in it; the task ends when the stream does.
async fn listen(service: &Service, token: &str) -> tokio::task::JoinHandle<()> {
    let stream = stream(service, token, &session(service, token).await).await;
    assert_eq!(stream.status(), 200);
    tokio::spawn(async move {
        let _whatever_came = stream.bytes().await;
    })
}

/// The public id of a connectivity token.
fn id_of(token: &str) -> &str {
    token.split('_').nth(1).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn i18_j09_streams_end_within_seconds_of_what_opened_them() {
    let service = Service::start().await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    let (_, revoked) = service.member(&acme, "revoked@example.com", Role::Viewer).await;
    let (suspended, of_suspended) = service.member(&acme, "suspended@example.com", Role::Viewer).await;
    let (removed, of_removed) = service.member(&acme, "removed@example.com", Role::Viewer).await;
    let token = service.token(&acme).await;
    let of_other = service.token(&other).await;
    let kept = service.token(&acme).await;
    let until = service.clock.now() + 3_600_000;
    let short = service.identity.create_token(acme.id, "short", &ExtScope::ALL, Some(until)).await.unwrap().1;
    let (_, expiring) = service.member(&acme, "expiring@example.com", Role::Viewer).await;

    let mut ending = Vec::new();
    for (what, token) in [
        ("grant", &revoked),
        ("person", &of_suspended),
        ("member", &of_removed),
        ("token", &token),
        ("workspace", &of_other),
    ] {
        ending.push((what, listen(&service, token).await));
    }
    let late = [listen(&service, short.expose()).await, listen(&service, &expiring).await];
    let stays = listen(&service, &kept).await;
    let uses = async || {
        let tokens = service.identity.tokens(acme.id).await.unwrap();
        tokens.into_iter().find(|info| info.id == id_of(&kept)).unwrap().use_count
    };
    let used = uses().await;

    let grants = service.identity.connected(acme.id, 0, 10).await.unwrap();
    let grant = grants.into_iter().find(|grant| grant.email == "revoked@example.com").unwrap();
    assert!(service.identity.disconnect(acme.id, &grant.id).await.unwrap());
    service.identity.suspend_person(suspended.id, true).await.unwrap();
    service.identity.expel(acme.id, None, removed.id).await.unwrap();
    assert!(service.identity.revoke_token(acme.id, id_of(&token)).await.unwrap());
    service.identity.suspend_org(other.id, true).await.unwrap();
    let started = Instant::now();
    for (what, stream) in ending {
        let left = Duration::from_secs(10).saturating_sub(started.elapsed());
        assert!(tokio::time::timeout(left, stream).await.is_ok(), "{what}: the stream goes on");
    }
    assert!(late.iter().all(|stream| !stream.is_finished()), "nothing ended of these");
    service.clock.advance(Duration::from_secs(3601));
    let started = Instant::now();
    for stream in late {
        let left = Duration::from_secs(10).saturating_sub(started.elapsed());
        assert!(tokio::time::timeout(left, stream).await.is_ok(), "past its time: the stream goes on");
    }
    assert!(!stays.is_finished(), "a good credential keeps its stream");
    assert_eq!(uses().await, used, "looking again is no use");
    stays.abort();
}

/// The limit that a stream was refused for.
async fn limit(refused: Response) -> Value {
    assert_eq!(refused.status(), 429);
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!(wait >= 1);
    let (_, body) = json_of(refused).await;
    assert_eq!((&body["jsonrpc"], &body["id"], &body["error"]["code"]), (&json!("2.0"), &Value::Null, &json!(-32029)));
    body["error"]["data"]["error"]["details"]["limit"].clone()
}

/// A stream in a session, once there is a place again: that a client is gone shows only after a moment.
async fn soon(service: &Service, token: &str, session: &str) -> Response {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let stream = stream(service, token, session).await;
        if stream.status() == 200 {
            return stream;
        }
        assert!(Instant::now() < end, "no place was given back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_has_so_many_streams_and_gets_the_places_of_those_that_ended_back() {
    let service = Service::with(&[("DRAGOMAN_EXT_STREAMS", "2")]).await;
    let org = service.workspace("acme").await;
    let (token, other) = (service.token(&org).await, service.token(&org).await);
    let (here, there) = (session(&service, &token).await, session(&service, &token).await);
    let elsewhere = session(&service, &other).await;
    let first = stream(&service, &token, &here).await;
    let second = stream(&service, &token, &there).await;
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 200));
    assert_eq!(limit(stream(&service, &token, &here).await).await, "streams");
    let entry = service.last_audit(&org).await;
    assert_eq!((entry.action.as_str(), entry.outcome.as_str()), ("mcp.request", "rate_limited"));
    assert_eq!(stream(&service, &other, &elsewhere).await.status(), 200, "another token has its own");
    // The client goes.
    drop(first);
    let third = soon(&service, &token, &here).await;
    assert_eq!(limit(stream(&service, &token, &here).await).await, "streams");
    // The session ends, while its client listens on.
    let end = service.http.delete(service.url("/mcp")).bearer_auth(&token).header("mcp-session-id", &there);
    assert!(end.send().await.unwrap().status().is_success());
    let fourth = soon(&service, &token, &here).await;
    assert_eq!(limit(stream(&service, &token, &here).await).await, "streams");
    drop((second, third, fourth));
    // What is refused for something else keeps no place.
    for _ in 0..5 {
        let newer = service.get("/mcp", &token).header("mcp-protocol-version", "2026-07-28");
        assert!(newer.header("accept", "text/event-stream").send().await.unwrap().status().is_client_error());
    }
    let [_one, _two] = [soon(&service, &token, &here).await, soon(&service, &token, &here).await];
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_leaves_places_for_the_streams_of_others() {
    let service = Service::with(&[("DRAGOMAN_STREAMS", "4")]).await;
    let (acme, other) = (service.workspace("acme").await, service.workspace("other").await);
    // Each with a credential of its own.
    let listening = async |org: &Org| {
        let token = service.token(org).await;
        let session = session(&service, &token).await;
        (stream(&service, &token, &session).await, token, session)
    };
    let [(first, ..), (second, ..)] = [listening(&acme).await, listening(&acme).await];
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 200));
    let (refused, token, session) = listening(&acme).await;
    assert_eq!(limit(refused).await, "workspace_streams");
    let (theirs, ..) = listening(&other).await;
    assert_eq!(theirs.status(), 200, "there is room for who comes next");
    drop((second, theirs));
    assert_eq!(soon(&service, &token, &session).await.status(), 200);
}
