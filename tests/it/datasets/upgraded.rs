//! What was there before versions were kept is found as before, as the one version of its dataset.

use std::path::PathBuf;

use dragoman::base::clock::Clock;
use dragoman::base::id::Id;
use dragoman::base::secret::Secret;
use dragoman::model::dataset::{Dataset, Kind};
use dragoman::model::document::Document;
use dragoman::model::org::Org;
use dragoman::store::{self, Db};
use sqlx::AssertSqlSafe;

use crate::support::databases::postgres_url;

/// What takes the metadata back to before.
const BACK: [&str; 7] = [
    "DROP TABLE version_documents",
    "DROP TABLE dataset_versions",
    "DROP INDEX documents_by_document",
    "ALTER TABLE documents DROP COLUMN document_id",
    "ALTER TABLE documents DROP COLUMN digest",
    "DELETE FROM _sqlx_migrations WHERE version = 17",
    "DELETE FROM _sqlx_migrations WHERE version = 1007",
];

async fn keeps_what_was_there(open: impl AsyncFn() -> Db) {
    let clock = Clock::manual(1_790_000_000_000);
    let (org, id, text) = (Id::<Org>::new(&clock), Id::<Dataset>::new(&clock), Id::<Document>::new(&clock));
    let db = open().await;
    let (slug, name) = ("acme".to_owned(), "Acme".to_owned());
    let acme = Org { id: org, slug, name, connectivity_enabled: true, created_at: 0 };
    store::orgs::insert(&mut db.writer().await.unwrap(), &acme).await.unwrap();
    let dataset = Dataset {
        externally_queryable: true,
        version: Some("v1".into()),
        row_count: 3,
        bytes: 9,
        source: "plans.md".into(),
        created_at: 5,
        updated_at: 7,
        ..Dataset::new(id, org, "plans", Kind::Documents)
    };
    let mut tx = db.tenant(org).await.unwrap();
    store::datasets::put(&mut tx, &dataset).await.unwrap();
    tx.commit().await.unwrap();
    for statement in BACK {
        sqlx::query(statement).execute(db.pool()).await.unwrap();
    }
    let sql = format!(
        "INSERT INTO documents (org_id, id, dataset_id, version, title, source_file, body, created_at) \
         VALUES ('{org}', '{text}', '{id}', 'v1', 'Plans', 'plans.md', 'The plan', 5)"
    );
    let mut tx = db.tenant(org).await.unwrap();
    sqlx::query(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    db.close().await;

    let db = open().await;
    let mut read = db.read_tenant(org).await.unwrap();
    let kept = store::dataset_versions::counted(&mut read, org, id).await.unwrap();
    let [(one, documents)] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((one.version.as_str(), one.row_count, *documents, one.made_at), ("v1", 3, 1, 7));
    assert_eq!(store::documents::dataset_of(&mut read, org, text).await.unwrap(), Some(id));
    let found = store::documents::by_id(&mut read, org, id, "v1", text).await.unwrap().unwrap();
    assert_eq!((found.id, found.text.as_str()), (text, "The plan"));
}

#[tokio::test]
async fn data_of_before_are_a_version_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("metadata.db");
    keeps_what_was_there(async || Db::open_sqlite(&file).await.unwrap()).await;
}

#[tokio::test]
async fn data_of_before_are_a_version_in_postgresql_behind_its_wall() {
    let url = postgres_url().await;
    keeps_what_was_there(async || Db::open_postgres(&Secret::new(url.clone())).await.unwrap()).await;
}
