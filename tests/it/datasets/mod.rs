//! Datasets from the outside, over the life that they have: imported, profiled, read page by page, replaced, erased.

mod added;
mod erasure;
mod hidden;
mod kept;
mod leaving;
mod lost;
mod overtaken;
mod pages;
mod profiles;
mod unanswered;
mod upgraded;
mod versions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman::model::org::Org;
use serde_json::Value;

use crate::support::service::{Service, json_of};

/// A GET of the external tier.
async fn get(service: &Service, token: &str, path: &str) -> (u16, Value) {
    json_of(service.get(&format!("/api/v1/ext{path}"), token).send().await.unwrap()).await
}

async fn sql(service: &Service, token: &str, body: Value) -> (u16, Value) {
    json_of(service.post("/api/v1/ext/sql", token).json(&body).send().await.unwrap()).await
}

/// Imports and publishes; the dataset's id.
async fn import(service: &Service, org: &Org, file: &str, content: &[u8]) -> String {
    let made = service.import(org, file, content, true).await.unwrap();
    made["dataset_id"].as_str().unwrap().to_owned()
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() { found.extend(files(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

/// Waits, not longer than a minute, for what another process or task is about to do.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap_or_else(|_| panic!("never {what}"));
}

/// The versions in place of a table.
fn versions(service: &Service, org: &Org, dataset: &str) -> Vec<PathBuf> {
    files(&service.config.data_dir.join(format!("workspaces/{}/tables/{dataset}", org.id)))
}
