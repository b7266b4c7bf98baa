//! Documents added to those that are there: what stays, what is replaced, and what is there already.

use std::collections::BTreeSet;
use std::time::Duration;

use dragoman::model::access::Role;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::get;
use crate::support::service::{Service, json_of};
use crate::tenancy::both;

async fn bring(service: &Service, token: &str, how: &str, files: &[(&str, &str)]) -> (u16, Value) {
    let form = Form::new().text("name", "notes").text("if_exists", how.to_owned()).text("publish", "true");
    let part = |content: &str, name: &str| Part::bytes(content.as_bytes().to_vec()).file_name(name.to_owned());
    let form = files.iter().fold(form, |form, (name, content)| form.part("file", part(content, name)));
    json_of(service.http.post(service.url("/api/v1/datasets")).bearer_auth(token).multipart(form).send().await.unwrap())
        .await
}

/// The best match: its document, and its text.
async fn best(service: &Service, token: &str, query: &str) -> (String, String) {
    let (failed, found) = service.tool(token, "dragoman_search", json!({ "query": query })).await;
    assert!(!failed, "{found}");
    let best = &found["matches"][0];
    let document = best["id"].as_str().unwrap().split('#').next().unwrap().to_owned();
    (document, best["text"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn added_texts_come_beside_those_that_are_there_and_ids_stay() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let reader = service.token(&org).await;
        let peat = ("tower.md", "# Tower\n\nThe tower is heated with peat.\n");
        let bread = ("bread.md", "# Bread\n\nThe bread of the house has rye in it.\n");
        let (status, made) = bring(&service, &writer, "replace", &[peat, bread]).await;
        assert_eq!((status, &made["documents"]["added"]), (200, &json!(2)), "{made}");
        let id = made["dataset_id"].as_str().unwrap();
        let (tower, _) = best(&service, &reader, "peat tower").await;
        let (rye, _) = best(&service, &reader, "rye bread").await;

        // One is new, one has another text, one is there already under another name.
        let wood = ("tower.md", "# Tower\n\nThe tower is heated with wood of the tower hill.\n");
        let ferry = ("ferry.md", "# Ferry\n\nThe ferry leaves the pier at noon.\n");
        let (status, made) = bring(&service, &writer, "append", &[wood, ferry, ("copy.md", bread.1)]).await;
        let changes = json!({ "added": 1, "replaced": 1, "unchanged": 1, "removed": 0, "total": 3 });
        assert_eq!((status, &made["documents"], &made["dataset_id"]), (200, &changes, &json!(id)), "{made}");
        let (now, text) = best(&service, &reader, "tower heated").await;
        assert_eq!(now, tower, "a text that is replaced keeps its id");
        assert!(text.contains("wood") && !text.contains("peat"), "{text}");
        let (_, whole) = get(&service, &reader, &format!("/documents/{tower}")).await;
        assert!(whole.to_string().contains("wood") && !whole.to_string().contains("peat"), "{whole}");
        assert_eq!(best(&service, &reader, "rye bread").await.0, rye, "one that stays too");
        let (_, read) = service.tool(&reader, "rag_get_chunks", json!({ "chunk_ids": [format!("{rye}#0")] })).await;
        assert!(read["chunks"][0]["body"].as_str().unwrap().contains("rye"), "{read}");
        assert!(best(&service, &reader, "ferry at noon").await.1.contains("pier"));
        let (_, stats) = service.tool(&reader, "rag_admin_stats", json!({})).await;
        assert_eq!(stats["sources"][0]["docs"], json!(3), "{stats}");

        // The same again is no new version.
        let listed = async || {
            let (_, body) = service.manage(&writer, "GET", &format!("/datasets/{id}/versions"), None).await;
            body["versions"].as_array().unwrap().clone()
        };
        let kept = listed().await;
        assert_eq!((kept.len(), &kept[0]["how"], &kept[0]["document_count"]), (2, &json!("append"), &json!(3)));
        let again = Form::new().text("name", "notes").text("if_exists", "append");
        let again = again.part("file", Part::bytes(ferry.1.as_bytes().to_vec()).file_name("ferry.md"));
        let sent = service.http.post(service.url("/api/v1/datasets")).bearer_auth(&writer).multipart(again);
        let (status, made) = json_of(sent.send().await.unwrap()).await;
        let changes = json!({ "added": 0, "replaced": 0, "unchanged": 1, "removed": 0, "total": 3 });
        assert_eq!((status, &made["documents"]), (200, &changes), "{made}");
        assert_eq!(listed().await.len(), 2);

        // The version before has the text of before, under the same id.
        let path = format!("/datasets/{id}/versions/{}/restore", kept[1]["version"].as_str().unwrap());
        assert_eq!(service.manage(&writer, "POST", &path, Some(json!({}))).await.0, 200);
        let (_, whole) = get(&service, &reader, &format!("/documents/{tower}")).await;
        assert!(whole.to_string().contains("peat"), "{whole}");
        assert!(best(&service, &reader, "tower heated").await.1.contains("peat"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_replaces_all_keeps_the_ids_of_its_names_and_the_same_files_are_told() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let reader = service.token(&org).await;
        let bread = ("bread.md", "# Bread\n\nThe bread of the house has rye in it.\n");
        let files = [("tower.md", "# Tower\n\nThe tower is heated with peat.\n"), bread];
        let (_, made) = bring(&service, &writer, "replace", &files).await;
        assert_eq!((&made["documents"]["added"], made.get("same_files")), (&json!(2), None), "{made}");
        let (tower, _) = best(&service, &reader, "peat tower").await;
        let (rye, _) = best(&service, &reader, "rye bread").await;

        let wood = ("tower.md", "# Tower\n\nThe tower is heated with wood.\n");
        let copy = ("copy.md", bread.1);
        let (_, made) = bring(&service, &writer, "replace", &[copy, wood]).await;
        let changes = json!({ "added": 1, "replaced": 1, "unchanged": 0, "removed": 1, "total": 2 });
        assert_eq!(made["documents"], changes, "{made}");
        let (now, text) = best(&service, &reader, "tower heated").await;
        assert!(now == tower && text.contains("wood"), "{text}");
        assert_ne!(best(&service, &reader, "rye bread").await.0, rye, "what has another name is another");
        assert_eq!(get(&service, &reader, &format!("/documents/{rye}")).await.0, 404);

        let (_, made) = bring(&service, &writer, "replace", &[copy, wood]).await;
        assert_eq!((&made["same_files"], &made["documents"]["unchanged"]), (&json!(["notes"]), &json!(2)), "{made}");
        assert_eq!(best(&service, &reader, "tower heated").await.0, tower);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_file_among_those_that_are_added_changes_nothing() {
    both(&[], async |service| {
        let org = service.workspace("acme").await;
        let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
        let reader = service.token(&org).await;
        bring(&service, &writer, "replace", &[("a.md", "# A\n\nThe quay is of granite.\n")]).await;
        let files = [("b.md", "# B\n\nThe mole is of oak.\n"), ("c.pdf", "%PDF-1.7\nbroken")];
        let (status, refused) = bring(&service, &writer, "append", &files).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("c.pdf"), "{refused}");
        assert!(best(&service, &reader, "mole of oak").await.1.contains("granite"), "b is not there");
        let (_, stats) = service.tool(&reader, "rag_admin_stats", json!({})).await;
        assert_eq!(stats["sources"][0]["docs"], json!(1), "{stats}");
    })
    .await;
}

/// How many documents each version has, of those that are not all there; in a turn of its own at writing.
async fn between(service: &Service, all: i64) -> Vec<(String, i64)> {
    let mut turn = service.db.begin().await.unwrap();
    let sql = "SELECT version, COUNT(*) FROM version_documents GROUP BY version";
    let counts: Vec<(String, i64)> = sqlx::query_as(sql).fetch_all(&mut *turn).await.unwrap();
    counts.into_iter().filter(|(_, count)| (2..all).contains(count)).collect()
}

/// SQLite has one writer, and no call is answered before its row of the record is written.
#[tokio::test(flavor = "multi_thread")]
async fn others_write_while_a_version_of_many_documents_comes_and_another_goes() {
    let service = Service::with(&[("DRAGOMAN_VERSIONS", "1")]).await;
    let org = service.workspace("acme").await;
    let (_, writer) = service.member(&org, "ada@example.com", Role::Contributor).await;
    bring(&service, &writer, "replace", &[("first.md", "# First\n\nThe first of many.\n")]).await;
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO documents (org_id, id, dataset_id, version, title, source_file, body, created_at, document_id, digest)
        SELECT org_id, printf('%08d', i) || substr(id, 9), dataset_id, version, '', i || '.md', 'text', 0,
               printf('%08d', i) || substr(document_id, 9), '' FROM documents, n";
    let kept = "INSERT INTO version_documents (org_id, dataset_id, version, row_id)
        SELECT org_id, dataset_id, version, id FROM documents WHERE source_file <> 'first.md'";
    let mut written = service.db.begin().await.unwrap();
    for sql in [many, kept] {
        sqlx::query(sql).execute(&mut *written).await.unwrap();
    }
    written.commit().await.unwrap();

    let second = [("second.md", "# Second\n\nAnother one.\n")];
    let mut seen = BTreeSet::new();
    let bringing = bring(&service, &writer, "append", &second);
    tokio::pin!(bringing);
    let (status, made) = loop {
        tokio::select! {
            brought = &mut bringing => break brought,
            counts = between(&service, 2_001) => seen.extend(counts),
        }
    };
    assert_eq!((status, &made["documents"]["total"]), (200, &json!(2_002)), "{made}");
    // What was read until then goes when it is read no more.
    let left = || sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM version_documents").fetch_one(service.db.pool());
    let gone = async {
        while left().await.unwrap() > 2_002 {
            seen.extend(between(&service, 2_001).await);
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("the version before goes");
    let versions: BTreeSet<&String> = seen.iter().map(|(version, _)| version).collect();
    assert_eq!(versions.len(), 2, "one was seen to come and one to go: {seen:?}");
}
