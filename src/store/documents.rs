//! Documents: the whole texts behind a documents dataset. A version's documents are written before the dataset
//! names the version, and removed after it names another.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store::tenant::Scoped;

/// Adds one document.
pub async fn insert(on: &mut Scoped, document: &Document) -> Result<()> {
    let sql = "INSERT INTO documents (org_id, id, dataset_id, version, title, source_file, body, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    sqlx::query(sql)
        .bind(document.org.to_string())
        .bind(document.id.to_string())
        .bind(document.dataset.to_string())
        .bind(document.version.clone())
        .bind(document.title.clone())
        .bind(document.source_file.clone())
        .bind(document.text.clone())
        .bind(document.created_at)
        .execute(&mut **on)
        .await?;
    Ok(())
}

/// One document of the workspace, if it is there.
pub async fn by_id(on: &mut Scoped, org: Id<Org>, id: Id<Document>) -> Result<Option<Document>> {
    let sql = "SELECT org_id, id, dataset_id, version, title, source_file, body, created_at FROM documents \
               WHERE org_id = $1 AND id = $2";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.as_ref().map(read).transpose()
}

/// The dataset of one document of the workspace, if it is there.
pub async fn dataset_of(on: &mut Scoped, org: Id<Org>, id: Id<Document>) -> Result<Option<Id<Dataset>>> {
    let query = sqlx::query("SELECT dataset_id FROM documents WHERE org_id = $1 AND id = $2");
    let row = query.bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.map(|row| row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)).transpose()
}

/// The documents of a dataset's version, by source file.
pub async fn list(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<Vec<Document>> {
    let sql = "SELECT org_id, id, dataset_id, version, title, source_file, body, created_at FROM documents \
               WHERE org_id = $1 AND dataset_id = $2 AND version = $3 ORDER BY source_file, id";
    let query = sqlx::query(sql).bind(org.to_string()).bind(dataset.to_string()).bind(version.to_owned());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// How many documents each version of each dataset of the workspace has.
pub async fn counts(on: &mut Scoped, org: Id<Org>) -> Result<Vec<(Id<Dataset>, String, i64)>> {
    let sql = "SELECT dataset_id, version, COUNT(*) AS documents FROM documents WHERE org_id = $1 \
               GROUP BY dataset_id, version";
    let rows = sqlx::query(sql).bind(org.to_string()).fetch_all(&mut **on).await?;
    let count = |row: &AnyRow| {
        let dataset = row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)?;
        Ok((dataset, row.try_get("version")?, row.try_get("documents")?))
    };
    rows.iter().map(count).collect()
}

/// Removes every document of a dataset but those of `version`.
pub async fn keep_only(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<()> {
    let sql = "DELETE FROM documents WHERE org_id = $1 AND dataset_id = $2 AND version <> $3";
    let query = sqlx::query(sql).bind(org.to_string()).bind(dataset.to_string()).bind(version.to_owned());
    query.execute(&mut **on).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Document> {
    Ok(Document {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        id: row.try_get::<String, _>("id")?.parse().map_err(Error::internal)?,
        dataset: row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)?,
        version: row.try_get("version")?,
        title: row.try_get("title")?,
        source_file: row.try_get("source_file")?,
        text: row.try_get("body")?,
        created_at: row.try_get("created_at")?,
    })
}
