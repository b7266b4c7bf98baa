//! What becomes of old versions that are not kept: every answer is wholly of one version, and none stays longer than it
//! is read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dragoman::app::App;
use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::config::Config;
use dragoman::model::access::Role;
use dragoman::model::org::Org;
use dragoman::store::Db;
use serde_json::json;

use super::{get, import, sql, until, versions};
use crate::support::service::Service;
use crate::tenancy::both;

/// Nothing but the current version is kept.
const NONE_KEPT: (&str, &str) = ("DRAGOMAN_VERSIONS", "1");

/// A version: `200 + version` rows, all of which say its number.
fn content(version: i64) -> Vec<u8> {
    format!("v\n{}", format!("{version}\n").repeat(usize::try_from(200 + version).unwrap())).into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_during_imports_is_wholly_old_or_wholly_new() {
    both(&[NONE_KEPT], async |service| {
        let service = Arc::new(service);
        let org = service.workspace("acme").await;
        let id = import(&service, &org, "t.csv", &content(0)).await;
        let over = Arc::new(AtomicBool::new(false));
        let mut readers = Vec::new();
        for _ in 0..2 {
            let (service, over, token) = (service.clone(), over.clone(), service.token(&org).await);
            readers.push(tokio::spawn(async move {
                let mut seen = Vec::new();
                while !over.load(Ordering::SeqCst) {
                    let query = json!({ "sql": "SELECT min(v), max(v), count(*) FROM t" });
                    let (status, body) = sql(&service, &token, query).await;
                    assert_eq!(status, 200, "{body}");
                    let row: Vec<i64> = serde_json::from_value(body["rows"][0].clone()).unwrap();
                    assert_eq!((row[0], row[2]), (row[1], 200 + row[0]), "a mixture: {body}");
                    seen.push(row[0]);
                }
                seen
            }));
        }
        for version in 1..=6 {
            assert_eq!(import(&service, &org, "t.csv", &content(version)).await, id);
        }
        over.store(true, Ordering::SeqCst);
        let mut all = BTreeSet::new();
        for reader in readers {
            let seen = reader.await.unwrap();
            assert!(seen.is_sorted(), "never back to an old version: {seen:?}");
            all.extend(seen);
        }
        assert!(all.len() >= 2, "the readers saw versions come: {all:?}");
        until("one version is left", || versions(&service, &org, &id).len() == 1).await;
        let (_, last) = sql(&service, &service.token(&org).await, json!({ "sql": "SELECT max(v) FROM t" })).await;
        assert_eq!(last["rows"], json!([[6]]));
    })
    .await;
}

/// Whether a process has the file open.
fn is_open(file: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut handles =
        processes.flat_map(|process| std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten());
    handles.any(|handle| std::fs::read_link(handle.path()).is_ok_and(|target| target == file))
}

/// Some seconds of work over the table, and its version.
const LONG: &str =
    "SELECT max(v), count(*) FROM (SELECT DISTINCT v FROM t), range(600000000) r WHERE hash(r.range + v) % 7 = 3";

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_is_read_stays_until_it_is_read_no_more() {
    let service = Arc::new(Service::with(&[("DRAGOMAN_SQL_SECONDS", "600"), NONE_KEPT]).await);
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "t.csv", &content(1)).await;
    let old = versions(&service, &org, &id).remove(0);
    until("the import has let go of it", || !is_open(&old)).await;
    let (reader, token) = (service.clone(), service.token(&org).await);
    let query = tokio::spawn(async move { sql(&reader, &token, json!({ "sql": LONG })).await });
    until("the query reads", || is_open(&old)).await;

    import(&service, &org, "t.csv", &content(2)).await;
    assert!(old.exists() && !query.is_finished(), "it is read");
    let (_, new) = sql(&service, &service.token(&org).await, json!({ "sql": "SELECT max(v) FROM t" })).await;
    assert_eq!(new["rows"], json!([[2]]), "who comes now reads the new one");
    let (status, answer) = query.await.unwrap();
    assert_eq!((status, &answer["rows"][0][0]), (200, &json!(1)), "{answer}");
    until("the old version goes", || !old.exists()).await;

    // Nobody reads: it goes with the import itself.
    let old = versions(&service, &org, &id).remove(0);
    import(&service, &org, "t.csv", &content(3)).await;
    assert!(!old.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn erasure_waits_for_nobody_and_breaks_no_query() {
    let service = Arc::new(Service::with(&[("DRAGOMAN_SQL_SECONDS", "600")]).await);
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "t.csv", &content(1)).await;
    let file = versions(&service, &org, &id).remove(0);
    let (_, admin) = service.member(&org, "ada@example.com", Role::Admin).await;
    until("the import has let go of it", || !is_open(&file)).await;
    let (reader, token) = (service.clone(), service.token(&org).await);
    let query = tokio::spawn(async move { sql(&reader, &token, json!({ "sql": LONG })).await });
    until("the query reads", || is_open(&file)).await;
    assert_eq!(service.manage(&admin, "DELETE", &format!("/datasets/{id}?name=t"), None).await.0, 200);
    assert!(!file.exists() && !query.is_finished());
    let (status, answer) = query.await.unwrap();
    assert_eq!((status, &answer["rows"][0][0]), (200, &json!(1)), "what it had open it reads to the end: {answer}");
}

/// A process that dies after a file was moved into place and before the metadata name it, or within an import.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_process_left_is_gone_after_the_next_start() {
    let data = tempfile::tempdir().unwrap();
    let settings = [("DRAGOMAN_DATA_DIR", data.path().to_str().unwrap())];
    let service = Service::with(&settings).await;
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "t.csv", &content(4)).await;
    let current = versions(&service, &org, &id).remove(0);
    let token = service.token(&org).await;
    service.stop().await;

    let workspace = data.path().join(format!("workspaces/{}", org.id));
    let orphan = current.with_file_name("0190a3c2-0000-7000-8000-000000000000.duckdb");
    let nameless = workspace.join("tables/0190a3c2-0000-7000-8000-000000000001/v.duckdb");
    let staged = workspace.join("staging/import-x/table.duckdb");
    // Of a workspace that was made after the backup from which these metadata are.
    let unknown = Id::<Org>::new(&Clock::system());
    let newer = data.path().join(format!("workspaces/{unknown}/tables/0190a3c2-0000-7000-8000-000000000002/v.duckdb"));
    for left in [&orphan, &nameless, &staged, &newer] {
        std::fs::create_dir_all(left.parent().unwrap()).unwrap();
        std::fs::copy(&current, left).unwrap();
    }
    let service = Service::with(&settings).await;
    assert!(current.exists() && !orphan.exists() && !nameless.exists() && !staged.exists());
    service.gateway.renew_once().await.unwrap();
    assert!(newer.exists(), "what is of a workspace that is not known is nobody's to remove");
    let (_, answer) = sql(&service, &token, json!({ "sql": "SELECT max(v), count(*) FROM t" })).await;
    assert_eq!(answer["rows"], json!([[4, 204]]), "{answer}");
    assert_eq!(get(&service, &token, &format!("/datasets/{id}/schema")).await.1["row_count"], 204);
}

/// As where DATABASE_URL is forgotten, or the metadata are not restored yet.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_with_other_metadata_is_refused_and_nothing_in_it_is_touched() {
    let data = tempfile::tempdir().unwrap();
    let settings = [("DRAGOMAN_DATA_DIR", data.path().to_str().unwrap())];
    let service = Service::with(&settings).await;
    let org = service.workspace("acme").await;
    let id = import(&service, &org, "t.csv", &content(4)).await;
    let current = versions(&service, &org, &id).remove(0);
    let token = service.token(&org).await;
    service.stop().await;

    let metadata = Db::file(data.path());
    let aside = metadata.with_extension("aside");
    std::fs::rename(&metadata, &aside).unwrap();
    let config =
        || Config::read(|name| (name == "DRAGOMAN_DATA_DIR").then(|| data.path().display().to_string())).unwrap();
    // The second time there are metadata, which are as empty.
    for _ in 0..2 {
        let refused = App::open(config(), Clock::system()).await.err().unwrap().to_string();
        assert!(refused.contains("these are not the metadata of this folder"), "{refused}");
        assert!(current.exists());
    }
    for made in ["sqlite", "sqlite-wal", "sqlite-shm"] {
        drop(std::fs::remove_file(metadata.with_extension(made)));
    }
    std::fs::rename(&aside, &metadata).unwrap();
    let service = Service::with(&settings).await;
    let (_, answer) = sql(&service, &token, json!({ "sql": "SELECT count(*) FROM t" })).await;
    assert_eq!(answer["rows"], json!([[204]]), "{answer}");
    service.stop().await;
}
