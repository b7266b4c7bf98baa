//! Imports whose client does not wait for them, and what they leave to others while they run.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman::engine::job::Progress;
use dragoman::gateway::Via;
use dragoman::model::access::Role;
use dragoman::model::error::{Code, Result};
use dragoman::model::org::Org;
use dragoman::ops::import::{Import, Staged};
use dragoman::store;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{files, import, until};
use crate::support::service::{Service, as_json, json_of, operator};
use crate::tenancy::both;

/// A text that makes about so many chunks, each some hundredths of a second of work.
fn text(chunks: usize) -> String {
    "Many planes left late in July because of thunderstorms over the northern hills and valleys. ".repeat(chunks * 5)
}

/// A client that uploads a file and waits for the answer; it hangs up when it is aborted.
fn upload(service: &Service, token: &str, file: &str, content: String) -> JoinHandle<(u16, Value)> {
    let form = Form::new().part("file", Part::bytes(content.into_bytes()).file_name(file.to_owned()));
    let request = service.post("/api/v1/datasets", token).multipart(form);
    tokio::spawn(async move { json_of(request.send().await.unwrap()).await })
}

fn below(service: &Service, org: &Org, folder: &str) -> Vec<PathBuf> {
    files(&service.config.data_dir.join(format!("workspaces/{}/{folder}", org.id)))
}

/// Folders of the shards that are being built.
fn shards(service: &Service, org: &Org) -> Vec<PathBuf> {
    let staging = service.config.data_dir.join(format!("workspaces/{}/staging", org.id));
    let staged = std::fs::read_dir(staging).into_iter().flatten().flatten();
    staged.map(|import| import.path().join("vectors")).filter(|shard| shard.exists()).collect()
}

/// What the record says of the imports of a workspace, once there are so many.
async fn outcomes(service: &Service, org: &Org, count: usize) -> Vec<String> {
    let recorded = async {
        loop {
            let entries = store::audit::newest(&service.db, Some(org.id), 100).await.unwrap().into_iter();
            let imports = entries.filter(|(_, entry)| entry.target.starts_with("import_dataset"));
            let outcomes: Vec<String> = imports.map(|(_, entry)| entry.outcome).collect();
            if outcomes.len() >= count {
                return outcomes;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), recorded).await.expect("the imports are not on the record")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_import_whose_client_hangs_up_ends_and_leaves_nothing() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let client = upload(&service, &token, "long.txt", text(3_000));
        until("its shard is begun", || !shards(&service, &org).is_empty()).await;
        client.abort();
        assert_eq!(outcomes(&service, &org, 1).await, ["query_timeout"]);
        until("its files are gone", || below(&service, &org, "").is_empty()).await;

        let short = upload(&service, &token, "short.txt", text(3)).await.unwrap();
        assert_eq!((short.0, &short.1["name"]), (200, &json!("short")), "{}", short.1);
        let listed = store::datasets::list(&mut service.db.read_tenant(org.id).await.unwrap(), org.id).await.unwrap();
        assert_eq!(listed.iter().map(|dataset| dataset.name.as_str()).collect::<Vec<_>>(), ["short"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_import_whose_client_hangs_up_lets_the_next_one_begin() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let (_, next_token) = service.member(&org, "bob@example.com", Role::Contributor).await;
        let rows = "1234567,89,some longer text to read\n".repeat(1_500_000);
        let client = upload(&service, &token, "long.csv", format!("id,number,words\n{rows}"));
        let is_table = |file: &PathBuf| file.ends_with("table.duckdb");
        until("the worker writes", || below(&service, &org, "staging").iter().any(is_table)).await;
        // Of one workspace: the second waits for the place of the first, which nobody needs any more.
        let next = upload(&service, &next_token, "small.csv", "a\n1\n".to_owned());
        client.abort();
        let (status, body) = next.await.unwrap();
        assert_eq!((status, &body["row_count"]), (200, &json!(1)), "{body}");
        let mut outcomes = outcomes(&service, &org, 2).await;
        outcomes.sort();
        assert_eq!(outcomes, ["ok", "query_timeout"]);
        let place = format!("tables/{}", body["dataset_id"].as_str().unwrap());
        until("only the second's file is left", || below(&service, &org, "") == below(&service, &org, &place)).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_and_imports_of_others_are_answered_while_long_imports_run() {
    both(&[], async |service| {
        let (org, other) = (service.workspace("acme").await, service.workspace("other").await);
        import(&service, &org, "notes.md", b"# Notes\n\nThe pump in the cellar leaks.\n").await;
        let (_, token) = service.member(&org, "ann@example.com", Role::Contributor).await;
        let (_, other_token) = service.member(&other, "bob@example.com", Role::Contributor).await;
        let reader = service.token(&org).await;
        let long = [1, 2].map(|number| upload(&service, &token, &format!("long{number}.txt"), text(3_000)));
        until("both are begun", || shards(&service, &org).len() == 2).await;
        let (failed, found) =
            service.tool(&reader, "dragoman_search", json!({ "query": "water below the house" })).await;
        assert!(!failed && found["count"] == 1 && found["degraded"].is_null(), "{found}");
        let (status, body) = upload(&service, &other_token, "short.txt", text(10)).await.unwrap();
        assert_eq!(status, 200, "{body}");
        assert!(long.iter().all(|client| !client.is_finished()), "they are still running");
        long.iter().for_each(JoinHandle::abort);
        let outcomes = outcomes(&service, &org, 3).await;
        assert_eq!(outcomes, ["query_timeout", "query_timeout", "ok"], "the newest first");
    })
    .await;
}

/// An import of texts as the operator, and what makes its caller leave.
fn begin(service: &Service, org: &Org, name: &str, text: &str) -> (JoinHandle<Result<Value>>, CancellationToken) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, text).unwrap();
    let files = vec![Staged { name: format!("{name}.md"), path }];
    let op = Import { publish: true, files, ..Import::default() };
    let (gateway, caller, via) = (service.gateway.clone(), operator(org), Via::new("admin.call"));
    let leaves = via.cancel.clone();
    let call = tokio::spawn(async move {
        let reply = as_json(gateway.call(&caller, op, via).await);
        drop(folder);
        reply
    });
    (call, leaves)
}

/// Over SQLite alone: there the test can keep the writer, and so an import between its place and its name.
#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_amid_the_publication_gets_all_of_it_and_who_leaves_before_gets_nothing() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let writer = service.db.begin().await.unwrap();
    let (amid, leaves_amid) = begin(&service, &org, "amid", "# Amid\n\nzebra");
    until("it is in its place", || !below(&service, &org, "vectors").is_empty()).await;
    let (before, leaves_before) = begin(&service, &org, "before", "# Before\n\nzebra");
    let is_sealed = |shard: &PathBuf| shard.join("manifest.json").exists();
    until("the other is ready to be published", || shards(&service, &org).iter().any(is_sealed)).await;
    leaves_amid.cancel();
    leaves_before.cancel();
    drop(writer);
    assert_eq!(amid.await.unwrap().unwrap()["name"], "amid");
    assert_eq!(before.await.unwrap().unwrap_err().code, Code::QueryTimeout);
    assert_eq!(below(&service, &org, "staging"), Vec::<PathBuf>::new());
    let (failed, found) =
        service.tool(&service.token(&org).await, "dragoman_search", json!({ "query": "zebra" })).await;
    assert!(!failed && found["count"] == 1 && found["degraded"].is_null(), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_rises_over_all_files_and_phases_of_an_import() {
    let service = Service::start().await;
    let org = service.workspace("acme").await;
    let folder = tempfile::tempdir().unwrap();
    let files = ["a", "b", "c"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, text(48)).unwrap();
        Staged { name: format!("{name}.txt"), path }
    });
    let seen = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let sink = seen.clone();
    let mut via = Via::new("admin.call");
    via.on_progress = Some(Arc::new(move |progress: Progress| sink.lock().unwrap().push(progress)));
    let op = Import { publish: true, files: files.into(), ..Import::default() };
    service.gateway.call(&operator(&org), op, via).await.unwrap();
    let seen = seen.lock().unwrap();
    let fractions: Vec<f64> = seen.iter().map(|progress| progress.fraction.unwrap()).collect();
    assert!(fractions.is_sorted() && fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)), "{fractions:?}");
    assert!(fractions.iter().filter(|fraction| (0.1..0.9).contains(*fraction)).count() >= 5, "{fractions:?}");
    let mut phases: Vec<&str> = seen.iter().map(|progress| progress.message.split(' ').next().unwrap()).collect();
    phases.dedup();
    assert_eq!(phases, ["Reading", "Indexing", "Publishing"]);
}
