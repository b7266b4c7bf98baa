//! Versions of datasets that are kept, and which documents each has.

use std::collections::HashSet;

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::text_id;
use crate::base::id::Id;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::version::{How, Version};
use crate::store::tenant::Scoped;

const COLUMNS: &str = "v.org_id, v.dataset_id, v.version, v.how, v.row_count, v.bytes, v.columns_json, v.source, \
                       v.files, v.made_at, v.made_by, v.current_since, v.current_by";

/// The kept versions of a dataset, which became current last first.
pub async fn list(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>) -> Result<Vec<Version>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM dataset_versions v WHERE v.org_id = $1 AND v.dataset_id = $2 \
         ORDER BY v.current_since DESC, v.version DESC"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(dataset.to_string());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// As [`list`], each with how many documents it has; of a table none. To count them is to read them all.
pub async fn counted(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>) -> Result<Vec<(Version, i64)>> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT COUNT(*) FROM version_documents d WHERE d.org_id = v.org_id \
             AND d.dataset_id = v.dataset_id AND d.version = v.version) AS documents FROM dataset_versions v \
         WHERE v.org_id = $1 AND v.dataset_id = $2 ORDER BY v.current_since DESC, v.version DESC"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(dataset.to_string());
    let rows = query.fetch_all(&mut **on).await?;
    rows.iter().map(|row| Ok((read(row)?, row.try_get("documents")?))).collect()
}

/// As [`list`], of all datasets of a workspace.
pub async fn all(on: &mut Scoped, org: Id<Org>) -> Result<Vec<Version>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM dataset_versions v WHERE v.org_id = $1 \
         ORDER BY v.dataset_id, v.current_since DESC, v.version DESC"
    );
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
    query.fetch_all(&mut **on).await?.iter().map(read).collect()
}

/// Bytes that all versions of a workspace take together.
pub async fn bytes(on: &mut Scoped, org: Id<Org>) -> Result<i64> {
    let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes FROM dataset_versions WHERE org_id = $1";
    Ok(sqlx::query(sql).bind(org.to_string()).fetch_one(&mut **on).await?.try_get("bytes")?)
}

/// Whether a dataset has a version, as the current one or a kept one.
pub async fn is_there(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<bool> {
    let sql = "SELECT version FROM dataset_versions WHERE org_id = $1 AND dataset_id = $2 AND version = $3 \
               UNION SELECT version FROM datasets WHERE org_id = $1 AND id = $2 AND version = $3";
    let query = sqlx::query(sql).bind(org.to_string()).bind(dataset.to_string()).bind(version.to_owned());
    Ok(query.fetch_optional(&mut **on).await?.is_some())
}

/// The names of all versions that datasets of a workspace have, as current ones or kept ones.
pub async fn named(on: &mut Scoped, org: Id<Org>) -> Result<HashSet<(Id<Dataset>, String)>> {
    let sql = "SELECT dataset_id, version FROM dataset_versions WHERE org_id = $1 \
               UNION SELECT id, version FROM datasets WHERE org_id = $1 AND version IS NOT NULL";
    let rows = sqlx::query(sql).bind(org.to_string()).fetch_all(&mut **on).await?;
    rows.iter().map(|row| Ok((text_id(row, "dataset_id")?, row.try_get("version")?))).collect()
}

/// What the metadata say of a version's data on disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnDisk {
    pub org: Id<Org>,
    pub dataset: Id<Dataset>,
    pub version: String,
    /// The length of a table's file; `None` for an index of documents.
    pub bytes: Option<i64>,
}

/// The versions of all workspaces, current ones and kept ones, less those whose index is on a server.
pub async fn on_disk(on: &mut Scoped) -> Result<Vec<OnDisk>> {
    let sql = "SELECT v.org_id, v.dataset_id, v.version, v.bytes, d.kind FROM dataset_versions v \
               JOIN datasets d ON d.org_id = v.org_id AND d.id = v.dataset_id \
               WHERE NOT EXISTS (SELECT 1 FROM cluster_indexes c WHERE c.org_id = v.org_id \
               AND c.dataset_id = v.dataset_id AND c.version = v.version AND c.standing = 'placed') \
               ORDER BY v.org_id, v.dataset_id, v.version";
    let rows = sqlx::query(sql).fetch_all(&mut **on).await?;
    let read = |row: &AnyRow| -> Result<OnDisk> {
        let is_table = row.try_get::<String, _>("kind")? == Kind::Table.name();
        Ok(OnDisk {
            org: text_id(row, "org_id")?,
            dataset: text_id(row, "dataset_id")?,
            version: row.try_get("version")?,
            bytes: if is_table { Some(row.try_get("bytes")?) } else { None },
        })
    };
    rows.iter().map(read).collect()
}

/// Adds a version; of one that is there, when and by whom it became the current one is written anew. Its documents are
/// not among it: [`crate::store::documents`] has them.
pub async fn put(on: &mut Scoped, version: &Version) -> Result<()> {
    let sql = "INSERT INTO dataset_versions (org_id, dataset_id, version, how, row_count, bytes, columns_json, source, \
               files, made_at, made_by, current_since, current_by) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
               ON CONFLICT (org_id, dataset_id, version) DO UPDATE SET current_since = excluded.current_since, \
               current_by = excluded.current_by";
    sqlx::query(sql)
        .bind(version.org.to_string())
        .bind(version.dataset.to_string())
        .bind(version.version.clone())
        .bind(version.how.name())
        .bind(version.row_count)
        .bind(version.bytes)
        .bind(serde_json::to_string(&version.columns).map_err(Error::internal)?)
        .bind(version.source.clone())
        .bind(version.files.clone())
        .bind(version.made_at)
        .bind(version.made_by.clone())
        .bind(version.current_since)
        .bind(version.current_by.clone())
        .execute(&mut **on)
        .await?;
    Ok(())
}

/// Removes a version. [`crate::store::documents::let_go`] takes its documents, which nothing finds any more.
pub async fn remove(on: &mut Scoped, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<()> {
    let sql = "DELETE FROM dataset_versions WHERE org_id = $1 AND dataset_id = $2 AND version = $3";
    let query = sqlx::query(sql).bind(org.to_string()).bind(dataset.to_string()).bind(version.to_owned());
    query.execute(&mut **on).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Version> {
    let how: String = row.try_get("how")?;
    let known = How::ALL.into_iter().find(|known| known.name() == how);
    Ok(Version {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        dataset: row.try_get::<String, _>("dataset_id")?.parse().map_err(Error::internal)?,
        version: row.try_get("version")?,
        how: known.ok_or_else(|| Error::internal(format!("dataset_versions.how is {how}")))?,
        row_count: row.try_get("row_count")?,
        bytes: row.try_get("bytes")?,
        columns: serde_json::from_str(&row.try_get::<String, _>("columns_json")?).map_err(Error::internal)?,
        source: row.try_get("source")?,
        files: row.try_get("files")?,
        made_at: row.try_get("made_at")?,
        made_by: row.try_get("made_by")?,
        current_since: row.try_get("current_since")?,
        current_by: row.try_get("current_by")?,
    })
}
