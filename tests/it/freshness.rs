//! What is kept of workspaces between requests is forgotten by every change that decides about rights and data, whoever
//! makes it: each statement here is one that another node, or a command, may send.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::base::secret::Secret;
use dragoman::gateway::Via;
use dragoman::model::access::{ExtScope, Role, Scope};
use dragoman::model::org::Org;
use dragoman::ops::publish::Publish;
use dragoman::store::freshness::{self, Fresh, Stamp};
use dragoman::store::{self, Db, orgs};
use futures_util::future::join_all;
use serde_json::json;
use sqlx::AssertSqlSafe;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::{Notify, watch};

use crate::support::databases::{both, postgres_url};
use crate::support::service::{PASSWORD, Service, operator};

/// Rows of a workspace `ORG`, with a member, a grant, a token, a dataset and a source.
const ROWS: [&str; 6] = [
    "INSERT INTO users (id, email, name, password_hash, created_at) VALUES ('u', 'u@example.com', 'U', 'x', 1)",
    "INSERT INTO oauth_clients (id, fingerprint, name, redirect_uris, application_type, created_at) VALUES ('c', 'f', 'C', '[]', 'web', 1)",
    "INSERT INTO memberships (org_id, user_id, role, created_at) VALUES ('ORG', 'u', 'admin', 1)",
    "INSERT INTO grants (org_id, id, user_id, client_id, scopes, resource, redirect_uri, code_digest, code_challenge,
        code_expires_at, auth_time, created_at, last_used_at, ends_at)
     VALUES ('ORG', 'g', 'u', 'c', 's', 'r', 'd', 'x', 'y', 1, 1, 1, 1, 1)",
    "INSERT INTO connectivity_tokens (org_id, id, label, scopes, digest, last_four, created_at, use_count)
     VALUES ('ORG', 'token', 'l', 'ext:sql', 'd', '0000', 1, 0)",
    "INSERT INTO users (id, email, name, password_hash, created_at) VALUES ('stranger', 's@example.com', 'S', 'x', 1)",
];

/// What decides nothing, or is about somebody who was not let in before.
const KEPT: [&str; 7] = [
    "UPDATE connectivity_tokens SET use_count = use_count + 1, last_used_at = 7",
    "UPDATE orgs SET name = name",
    "UPDATE grants SET last_used_at = 7, redeemed_at = 7",
    "UPDATE users SET name = 'Other' WHERE id = 'stranger'",
    "UPDATE users SET password_hash = 'y'",
    "UPDATE oauth_clients SET uri = 'https://example.com'",
    "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ('another', 'c', 1)",
];

/// What withdraws, gives or shows something else, in an order in which each can be done.
const CHANGES: [&str; 30] = [
    "INSERT INTO datasets (org_id, id, name, description, kind, externally_queryable, row_count, bytes, columns_json, source, created_at, updated_at)
     VALUES ('ORG', 'd', 'sales', '', 'table', 0, 0, 0, '[]', '', 1, 1)",
    "UPDATE datasets SET externally_queryable = 1",
    "UPDATE datasets SET hidden_columns = '[\"a\"]'",
    "UPDATE datasets SET version = 'v2'",
    "UPDATE datasets SET title = 'Sales'",
    "INSERT INTO sources (org_id, id, name, engine, address, sealed_password, created_at, updated_at, checked_at, problem)
     VALUES ('ORG', 's', 'crm', 'postgresql', 'a', 'p', 1, 1, 1, '')",
    "UPDATE sources SET name = 'erp'",
    "DELETE FROM sources",
    "DELETE FROM datasets",
    "UPDATE connectivity_tokens SET scopes = 'ext:datasets'",
    "UPDATE connectivity_tokens SET label = 'other'",
    "UPDATE connectivity_tokens SET expires_at = 7",
    "UPDATE connectivity_tokens SET revoked_at = 7",
    "DELETE FROM connectivity_tokens",
    "UPDATE memberships SET role = 'viewer'",
    "UPDATE users SET suspended_at = 7 WHERE id = 'u'",
    "UPDATE users SET suspended_at = NULL WHERE id = 'u'",
    "UPDATE users SET email = 'v@example.com' WHERE id = 'u'",
    "UPDATE oauth_clients SET name = 'D'",
    "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ('ORG', 'c', 1)",
    "DELETE FROM client_blocks WHERE org_id = 'ORG'",
    "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ('-', 'c', 1)",
    "DELETE FROM client_blocks WHERE org_id = '-'",
    "DELETE FROM oauth_clients",
    "UPDATE grants SET revoked_at = 7",
    "DELETE FROM grants",
    "DELETE FROM memberships",
    "UPDATE orgs SET connectivity_enabled = 0 WHERE id = 'ORG'",
    "UPDATE orgs SET suspended_at = 7 WHERE id = 'ORG'",
    "UPDATE orgs SET slug = 'renamed' WHERE id = 'ORG'",
];

async fn run(db: &Db, sql: &str, org: &str) {
    let mut tx = db.everyone().await.unwrap();
    sqlx::query(AssertSqlSafe(sql.replace("ORG", org))).execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
}

async fn stamp(db: &Db, org: Id<Org>) -> Option<Stamp> {
    freshness::stamp(&mut db.read_everyone().await.unwrap(), org).await.unwrap()
}

async fn workspace(db: &Db, clock: &Clock, slug: &str) -> Id<Org> {
    let org =
        Org { id: Id::new(clock), slug: slug.into(), name: slug.into(), connectivity_enabled: true, created_at: 1 };
    orgs::insert(&mut db.writer().await.unwrap(), &org).await.unwrap();
    org.id
}

#[tokio::test]
async fn every_change_of_a_workspace_is_seen_at_once_and_by_no_other() {
    both(async |db| {
        let clock = Clock::manual(1_790_000_000_000);
        let org = workspace(&db, &clock, "acme").await;
        let other = workspace(&db, &clock, "other").await;
        let name = org.to_string();
        for sql in ROWS {
            run(&db, sql, &name).await;
        }
        let kept: Fresh<Id<Org>, u32> = Fresh::new(&db, 8, |_| 1);
        for sql in KEPT {
            kept.keep(org, stamp(&db, org).await, 1);
            run(&db, sql, &name).await;
            assert_eq!(kept.known(&org).await.as_deref(), Some(&1), "{sql}");
        }
        for sql in CHANGES {
            kept.keep(org, stamp(&db, org).await, 1);
            kept.keep(other, stamp(&db, other).await, 2);
            assert_eq!(kept.known(&org).await.as_deref(), Some(&1), "before {sql}");
            run(&db, sql, &name).await;
            assert_eq!(kept.known(&org).await, None, "{sql}");
            let of_all = sql.contains("'-'");
            assert_eq!(kept.known(&other).await.is_none(), of_all, "{sql}");
        }
    })
    .await;
}

/// What a transaction changes is changed for others when it commits, and not before.
#[tokio::test]
async fn what_is_taken_back_has_changed_nothing() {
    both(async |db| {
        let clock = Clock::manual(1_790_000_000_000);
        let org = workspace(&db, &clock, "acme").await;
        let kept: Fresh<Id<Org>, u32> = Fresh::new(&db, 8, |_| 1);
        kept.keep(org, stamp(&db, org).await, 1);
        let mut tx = db.everyone().await.unwrap();
        sqlx::query("UPDATE orgs SET connectivity_enabled = 0").execute(&mut *tx).await.unwrap();
        assert_eq!(kept.known(&org).await.as_deref(), Some(&1), "not committed yet");
        drop(tx);
        assert_eq!(kept.known(&org).await.as_deref(), Some(&1), "rolled back");
    })
    .await;
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_not_known() {
    both(async |db| {
        let clock = Clock::manual(1_790_000_000_000);
        let org = workspace(&db, &clock, "acme").await;
        let kept: Fresh<Id<Org>, u32> = Fresh::new(&db, 8, |_| 1);
        kept.keep(org, stamp(&db, org).await, 1);
        run(&db, "DELETE FROM orgs WHERE id = 'ORG'", &org.to_string()).await;
        assert_eq!(kept.known(&org).await, None);
        assert_eq!(stamp(&db, org).await, None);
    })
    .await;
}

/// The address of a database behind something that passes everything on, until the connections that are open then fall
/// silent, and stay open, as those to a host that is gone.
async fn behind(url: &str) -> (String, watch::Sender<()>) {
    let (database, folder) = url.split_once("?host=").unwrap();
    let socket = Path::new(folder).join(".s.PGSQL.5432");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = database.rsplit('/').next().unwrap();
    let address = format!("postgres://dragoman@127.0.0.1:{port}/{name}?sslmode=disable");
    let (silence, _) = watch::channel(());
    let silent = silence.clone();
    tokio::spawn(async move {
        while let Ok((mut here, _)) = listener.accept().await {
            let (socket, mut silent) = (socket.clone(), silent.subscribe());
            tokio::spawn(async move {
                let mut there = UnixStream::connect(socket).await.unwrap();
                tokio::select! {
                    _closed = tokio::io::copy_bidirectional(&mut here, &mut there) => {}
                    _now = silent.changed() => std::future::pending().await,
                }
            });
        }
    });
    (address, silence)
}

#[tokio::test]
async fn a_database_that_falls_silent_is_left_for_a_new_connection() {
    let (address, silence) = behind(&postgres_url().await).await;
    let db = Db::open_postgres(&Secret::new(address)).await.unwrap();
    let org = workspace(&db, &Clock::manual(1_790_000_000_000), "acme").await;
    let kept: Fresh<Id<Org>, u32> = Fresh::new(&db, 8, |_| 1);
    kept.keep(org, stamp(&db, org).await, 1);
    assert_eq!(kept.known(&org).await.as_deref(), Some(&1));

    let written = async || store::audit::append(&db, Vec::new(), Vec::new()).await.is_ok();
    assert!(written().await);
    silence.send_replace(());
    let bounded = async |until| tokio::time::timeout(Duration::from_secs(until), written()).await;
    bounded(30).await.expect("nor does the record wait for it");
    let soon = async |until| tokio::time::timeout(Duration::from_secs(until), kept.known(&org)).await;
    assert_eq!(soon(30).await.expect("the end of the connection is not waited for"), None);
    let again = async { while soon(30).await.unwrap().is_none() {} };
    tokio::time::timeout(Duration::from_secs(120), again).await.expect("what is still so is known again");
    let again = async { while !bounded(30).await.unwrap() {} };
    tokio::time::timeout(Duration::from_secs(120), again).await.expect("and the record is written");
}

#[tokio::test]
async fn the_oldest_make_room_by_weight_and_one_alone_may_be_heavier() {
    both(async |db| {
        let clock = Clock::manual(1_790_000_000_000);
        let [first, second] = [workspace(&db, &clock, "a").await, workspace(&db, &clock, "b").await];
        let kept: Fresh<Id<Org>, usize> = Fresh::new(&db, 10, |weight| *weight);
        for (org, weight) in [(first, 6), (first, 7), (second, 3)] {
            kept.keep(org, stamp(&db, org).await, weight);
        }
        assert!(kept.known(&first).await.is_some() && kept.known(&second).await.is_some(), "10 of 10");
        kept.keep(second, stamp(&db, second).await, 20);
        assert_eq!(kept.known(&first).await, None);
        assert_eq!(kept.known(&second).await.as_deref(), Some(&20));
    })
    .await;
}

const CALLERS: usize = 8;
/// Answers before the withdrawal, and calls of each caller after it.
const BEFORE: usize = 40;
const AFTER: usize = 3;

/// Callers list datasets one call after the other while something is withdrawn; answers how many calls were answered. No
/// answer to one that began after the withdrawal was answered shows anything.
async fn besieged(service: &Service, token: &str, withdrawal: impl Future<Output = ()>) -> usize {
    let (answered, enough) = (AtomicUsize::new(0), Notify::new());
    let withdrawn = OnceLock::new();
    let caller = || async {
        let mut late = 0;
        while late < AFTER {
            let is_late = withdrawn.get().is_some();
            let params = json!({ "name": "dragoman_list_datasets", "arguments": {} });
            let text = service.rpc(token, "tools/call", params).send().await.unwrap().text().await.unwrap();
            assert!(!(is_late && text.contains("sales")), "shown after the withdrawal: {text}");
            late += usize::from(is_late);
            let is_answer = text.contains(r#""result":"#) && !text.contains(r#""isError":true"#);
            if is_answer && answered.fetch_add(1, Ordering::SeqCst) == BEFORE {
                enough.notify_one();
            }
        }
    };
    let withdraw = async {
        enough.notified().await;
        withdrawal.await;
        withdrawn.set(()).unwrap();
    };
    tokio::join!(join_all((0..CALLERS).map(|_| caller())), withdraw);
    answered.into_inner()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_withdrawn_amid_load_is_gone_for_the_next_call_and_every_answer_has_its_row() {
    Service::both(async |service| {
        for attempt in 0..5 {
            let org = service.workspace(&format!("acme-{attempt}")).await;
            let imported = service.import(&org, "sales.csv", b"id,amount\n1,10\n", true).await.unwrap();
            let dataset_id = imported["dataset_id"].as_str().unwrap().parse().unwrap();
            let (email, password) = (format!("ann-{attempt}@example.com"), Secret::new(PASSWORD));
            let user = service.identity.create_user(&email, "Ann", &password).await.unwrap().id;
            service.identity.set_role(org.id, user, Role::Admin).await.unwrap();
            let access = service.access_token_of(&org, user, &[Scope::DataRead]).await;
            let (info, connectivity) =
                service.identity.create_token(org.id, "t", &[ExtScope::Datasets], None).await.unwrap();
            let identity = &service.identity;
            let publish = Publish { dataset_id, externally_queryable: false };
            let answered = match attempt {
                0 => {
                    besieged(&service, connectivity.expose(), async {
                        assert!(identity.revoke_token(org.id, &info.id).await.unwrap());
                    })
                    .await
                }
                1 => {
                    besieged(&service, connectivity.expose(), async {
                        identity.set_connectivity(org.id, false).await.unwrap();
                    })
                    .await
                }
                2 => besieged(&service, &access, async { identity.suspend_person(user, true).await.unwrap() }).await,
                3 => besieged(&service, &access, async { identity.suspend_org(org.id, true).await.unwrap() }).await,
                _ => {
                    let operator = operator(&org);
                    let unpublish = service.gateway.call(&operator, publish, Via::new("admin.call"));
                    besieged(&service, &access, async { drop(unpublish.await.unwrap()) }).await
                }
            };
            assert!(answered > BEFORE, "{attempt}: {answered}");
            let rows = store::audit::newest(&service.db, Some(org.id), 10_000).await.unwrap();
            let calls = rows.iter().filter(|(_, row)| row.action == "mcp.tool.call" && row.outcome == "ok");
            assert_eq!(calls.count(), answered, "{attempt}");
        }
    })
    .await;
}
