//! Streams that are open end with what opened them (I18, J09).

use std::time::{Duration, Instant};

use dragoman::model::access::{ExtScope, Role};
use serde_json::json;

use crate::support::service::Service;

/// Opens a session and a stream in it; the task ends when the stream does.
async fn listen(service: &Service, token: &str) -> tokio::task::JoinHandle<()> {
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let both = "application/json, text/event-stream";
    let opened = service.post("/mcp", token).header("accept", both).json(&body).send().await.unwrap();
    let id = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let request = service.get("/mcp", token).header("accept", "text/event-stream").header("mcp-session-id", id);
    let stream = request.send().await.unwrap();
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
