//! Indexes whose vectors are of another encoder, and those that are no good: made anew by the running service.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dragoman::model::access::Role;
use serde_json::{Value, json};

use super::Acme;
use crate::support::service::Service;

/// The manifests of all indexes under a data folder. Beside a running service folders may go while it is looked.
fn manifests(data: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![data.join("workspaces")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                // What was being made when a service stopped is no index.
                true if path.ends_with("staging") => {}
                true => folders.push(path),
                false if path.ends_with("manifest.json") => found.push(path),
                false => {}
            }
        }
    }
    found
}

fn read(manifest: &Path) -> Value {
    serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap()
}

/// Results without the address of the service, which is another after each start.
fn anywhere(mut results: Value) -> Value {
    for hit in results.as_array_mut().unwrap() {
        hit["metadata"].as_object_mut().unwrap().remove("url").unwrap();
    }
    results
}

/// Whether every index is of this encoder; one that goes while it is looked at is not.
fn are_of(encoder: &Value, data: &Path) -> bool {
    let of = |index: &PathBuf| fs::read(index).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    manifests(data).iter().all(|index| of(index).is_some_and(|manifest| manifest["encoder"] == *encoder))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_of_another_encoder_is_made_anew_by_the_running_service() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().display().to_string();
    let acme = Acme::open(Service::with(&[("DRAGOMAN_DATA_DIR", &folder)]).await).await;
    let asked = json!({ "query_text": "bringing things back to the store", "k": 3 });
    let first = acme.ask("rag_search_vector", asked.clone()).await;
    acme.service.stop().await;

    // As an earlier release would have left them.
    let indexes = manifests(data.path());
    assert_eq!(indexes.len(), 3);
    let encoder = read(&indexes[0])["encoder"].clone();
    for index in &indexes {
        let mut manifest = read(index);
        manifest["encoder"] = "an earlier encoder".into();
        fs::write(index, manifest.to_string()).unwrap();
    }
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", &folder)]).await;
    let org = dragoman::store::orgs::by_slug(service.db.pool(), "acme").await.unwrap().unwrap();
    let (_, token) = service.member(&org, "bob@example.com", Role::Contributor).await;
    let acme = Acme { service, org, token };
    let end = Instant::now() + Duration::from_secs(60);
    while !are_of(&encoder, data.path()) {
        let stats = acme.ask("rag_admin_stats", json!({})).await;
        for source in stats["sources"].as_array().unwrap() {
            let told = &source["reembedding"];
            assert!(told.is_null() || told["done"].as_u64() <= told["of"].as_u64(), "{source}");
        }
        let words = acme.ask("rag_search_fts", json!({ "query": "thirty days" })).await;
        assert!(!words["results"].as_array().unwrap().is_empty(), "words are found all the while: {words}");
        assert!(Instant::now() < end, "the indexes are not made anew within a minute");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let again = acme.ask("rag_search_vector", asked).await;
    assert_eq!(anywhere(again["results"].clone()), anywhere(first["results"].clone()), "as before, to the digit");
    assert!(again.get("degraded").is_none_or(Value::is_null), "{again}");
    acme.service.stop().await;
}

/// Takes the last byte of a file of an index away.
fn damage(manifest: &Path) {
    let files = read(manifest)["files"].as_array().unwrap().clone();
    let file = files.iter().find(|file| file[1].as_u64() > Some(0)).unwrap();
    let file = manifest.parent().unwrap().join(file[0].as_str().unwrap());
    let open = fs::OpenOptions::new().write(true).open(file).unwrap();
    open.set_len(open.metadata().unwrap().len() - 1).unwrap();
}

/// What a search finds, once nothing is missing.
async fn whole(acme: &Acme, asked: &Value) -> Value {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let found = acme.ask("rag_search_hybrid", asked.clone()).await;
        let Some(degraded) = found["degraded"].as_str() else { return anywhere(found["results"].clone()) };
        assert!(degraded.contains("made anew of its texts"), "{degraded}");
        assert!(Instant::now() < end, "the index is not made anew within half a minute: {degraded}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_or_cut_otherwise_is_made_anew_of_the_texts_that_are_kept() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().display().to_string();
    let acme = Acme::open(Service::with(&[("DRAGOMAN_DATA_DIR", &folder)]).await).await;
    let asked = json!({ "query": "bringing things back to the store in Zürich", "k": 50 });
    // Nothing was open so far: the damage is seen by who asks, and mended because they ask.
    manifests(data.path()).iter().for_each(|index| damage(index));
    let first = whole(&acme, &asked).await;
    assert_eq!(first.as_array().unwrap().len(), 7, "{first}");
    acme.service.stop().await;

    let indexes = manifests(data.path());
    let [gone, torn, older] = indexes.as_slice() else { panic!("{indexes:?}") };
    fs::remove_dir_all(gone.parent().unwrap()).unwrap();
    fs::write(torn, "{").unwrap();
    let mut manifest = read(older);
    manifest["cutter"] = "an earlier one".into();
    fs::write(older, manifest.to_string()).unwrap();
    let service = Service::with(&[("DRAGOMAN_DATA_DIR", &folder)]).await;
    let org = dragoman::store::orgs::by_slug(service.db.pool(), "acme").await.unwrap().unwrap();
    let (_, token) = service.member(&org, "bob@example.com", Role::Contributor).await;
    let acme = Acme { service, org, token };
    let end = Instant::now() + Duration::from_secs(30);
    let cutter = |index: &PathBuf| fs::read(index).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    while !indexes.iter().all(|index| cutter(index).is_some_and(|it| it["cutter"] != "an earlier one")) {
        assert!(Instant::now() < end, "the indexes are not made anew within half a minute");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(whole(&acme, &asked).await, first, "as before, to the digit");
    acme.service.stop().await;
}
