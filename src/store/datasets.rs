//! Datasets of a workspace. A version becomes visible by one statement, after its file is in place.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::source::{RemoteTable, SourceEngine};
use crate::store::tenant::Scoped;
use crate::store::{Backend, leases, places};

/// A dataset with the engine that holds its rows. A dataset whose source is gone is read as one without a version.
const SELECT: &str = "SELECT d.org_id, d.id, d.name, d.title, d.description, d.column_texts, d.kind, d.externally_queryable, d.version, \
                      d.row_count, d.bytes, d.columns_json, d.source, d.created_at, d.updated_at, d.source_id, d.hidden_columns, \
                      d.remote_schema, d.remote_table, s.name AS source_name, s.engine AS source_engine \
                      FROM datasets d LEFT JOIN sources s ON s.org_id = d.org_id AND s.id = d.source_id";

/// All datasets of a workspace, by name.
pub async fn list(on: &mut Scoped, org: Id<Org>) -> Result<Vec<Dataset>> {
    let sql = format!("{SELECT} WHERE d.org_id = $1 ORDER BY d.name");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).fetch_all(&mut **on).await?;
    rows.iter().map(read).collect()
}

/// As [`list`], without columns: for who only has to tell whether something has changed.
pub async fn outlines(on: &mut Scoped, org: Id<Org>) -> Result<Vec<Dataset>> {
    let select = SELECT.replace("d.columns_json", "CAST('[]' AS TEXT) AS columns_json");
    let sql = format!("{select} WHERE d.org_id = $1 ORDER BY d.name");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).fetch_all(&mut **on).await?;
    rows.iter().map(read).collect()
}

/// One dataset of the workspace, if it is there.
pub async fn by_id(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>) -> Result<Option<Dataset>> {
    let sql = format!("{SELECT} WHERE d.org_id = $1 AND d.id = $2");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(id.to_string());
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// One dataset by its name in the workspace.
pub async fn by_name(on: &mut Scoped, org: Id<Org>, name: &str) -> Result<Option<Dataset>> {
    let sql = format!("{SELECT} WHERE d.org_id = $1 AND d.name = $2");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(name.to_owned());
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// Holds the names of a workspace until the transaction ends: whoever else would give one waits, so that one that is
/// free stays free. A row that is not there yet cannot be held.
pub async fn hold_names(on: &mut Scoped, org: Id<Org>) -> Result<()> {
    leases::lock(on, &format!("names of datasets {org}")).await?;
    Ok(())
}

/// As [`by_name`], and holds it until the transaction ends, or its absence: whoever makes, changes or deletes it waits.
pub async fn hold_by_name(on: &mut Scoped, backend: Backend, org: Id<Org>, name: &str) -> Result<Option<Dataset>> {
    let lock = match backend {
        // Whoever writes is alone.
        Backend::Sqlite => "",
        Backend::Postgres => " FOR UPDATE OF d",
    };
    // A statement of its own and the first: the next one sees what another has named meanwhile.
    hold_names(on, org).await?;
    let sql = format!("{SELECT} WHERE d.org_id = $1 AND d.name = $2{lock}");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(name.to_owned());
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// Inserts the dataset, or replaces everything but its id, creation time, publication, title, and what people wrote of
/// its columns and hid of them: a re-import neither publishes nor withdraws. What a person wrote of a remote table stays too; of others
/// the dataset itself says what their description is now.
pub async fn put(on: &mut Scoped, dataset: &Dataset) -> Result<()> {
    let sql = "INSERT INTO datasets (org_id, id, name, description, kind, externally_queryable, version, row_count, \
               bytes, columns_json, source, created_at, updated_at, source_id, remote_schema, remote_table) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
               ON CONFLICT (org_id, id) DO UPDATE SET description = CASE WHEN datasets.described = 1 \
               AND datasets.source_id IS NOT NULL THEN datasets.description ELSE excluded.description END, \
               kind = excluded.kind, \
               version = excluded.version, row_count = excluded.row_count, bytes = excluded.bytes, \
               columns_json = excluded.columns_json, source = excluded.source, updated_at = excluded.updated_at";
    sqlx::query(sql)
        .bind(dataset.org.to_string())
        .bind(dataset.id.to_string())
        .bind(dataset.name.clone())
        .bind(dataset.description.clone())
        .bind(dataset.kind.name())
        .bind(i64::from(dataset.externally_queryable))
        .bind(dataset.version.clone())
        .bind(dataset.row_count)
        .bind(dataset.bytes)
        .bind(serde_json::to_string(&dataset.columns).map_err(Error::internal)?)
        .bind(dataset.source.clone())
        .bind(dataset.created_at)
        .bind(dataset.updated_at)
        .bind(dataset.remote.as_ref().map(|remote| remote.source.to_string()))
        .bind(dataset.remote.as_ref().map(|remote| remote.schema.clone()))
        .bind(dataset.remote.as_ref().map(|remote| remote.table.clone()))
        .execute(&mut **on)
        .await?;
    Ok(())
}

/// Publishes to external clients, or withdraws; `false` when there is no such dataset.
pub async fn publish(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>, published: bool, now: Millis) -> Result<bool> {
    let sql = "UPDATE datasets SET externally_queryable = $1, updated_at = $2 WHERE org_id = $3 AND id = $4";
    let query = sqlx::query(sql).bind(i64::from(published)).bind(now).bind(org.to_string()).bind(id.to_string());
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Chunks and bytes of a version, current or kept, whose index was made anew; `false` when the dataset has it no more.
pub async fn recount(
    on: &mut Scoped,
    org: Id<Org>,
    id: Id<Dataset>,
    version: &str,
    (rows, bytes): (i64, i64),
) -> Result<bool> {
    let mut changed = 0;
    for sql in [
        "UPDATE dataset_versions SET row_count = $1, bytes = $2 WHERE org_id = $3 AND dataset_id = $4 AND version = $5",
        "UPDATE datasets SET row_count = $1, bytes = $2 WHERE org_id = $3 AND id = $4 AND version = $5",
    ] {
        let query = sqlx::query(sql).bind(rows).bind(bytes).bind(org.to_string()).bind(id.to_string());
        changed += query.bind(version.to_owned()).execute(&mut **on).await?.rows_affected();
    }
    Ok(changed > 0)
}

/// What people wrote of the columns of a dataset, those that its version does not have included; holds the names of the
/// workspace, so that who writes next sees what was written now.
pub async fn column_texts(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>) -> Result<BTreeMap<String, String>> {
    hold_names(on, org).await?;
    let query = sqlx::query("SELECT column_texts FROM datasets WHERE org_id = $1 AND id = $2");
    let row = query.bind(org.to_string()).bind(id.to_string()).fetch_optional(&mut **on).await?;
    row.map_or_else(|| Ok(BTreeMap::new()), |row| texts(&row))
}

/// Keeps what people wrote of a dataset: its title and description as `dataset` has them, and the texts of its columns.
pub async fn describe(on: &mut Scoped, dataset: &Dataset, columns: &BTreeMap<String, String>) -> Result<()> {
    // Without a description of a person's, that of the source comes back when its catalogue is read again.
    let described = i64::from(!dataset.description.is_empty());
    let sql = "UPDATE datasets SET title = $1, description = $2, described = $3, column_texts = $4, updated_at = $5 \
               WHERE org_id = $6 AND id = $7";
    let query = sqlx::query(sql)
        .bind(dataset.title.clone())
        .bind(dataset.description.clone())
        .bind(described)
        .bind(serde_json::to_string(columns).map_err(Error::internal)?)
        .bind(dataset.updated_at)
        .bind(dataset.org.to_string())
        .bind(dataset.id.to_string());
    query.execute(&mut **on).await?;
    Ok(())
}

/// Keeps which columns of a dataset are hidden from external clients.
pub async fn hide(on: &mut Scoped, dataset: &Dataset) -> Result<()> {
    let sql = "UPDATE datasets SET hidden_columns = $1, updated_at = $2 WHERE org_id = $3 AND id = $4";
    let query = sqlx::query(sql)
        .bind(serde_json::to_string(&dataset.hidden).map_err(Error::internal)?)
        .bind(dataset.updated_at)
        .bind(dataset.org.to_string())
        .bind(dataset.id.to_string());
    query.execute(&mut **on).await?;
    Ok(())
}

/// Keeps by which digest the files that came last into a dataset are known again.
pub async fn keep_files(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>, digest: &str) -> Result<()> {
    let query = sqlx::query("UPDATE datasets SET last_files = $1 WHERE org_id = $2 AND id = $3");
    query.bind(digest.to_owned()).bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    Ok(())
}

/// The datasets into which files of this digest came last, by name; with whether each is published.
pub async fn by_files(on: &mut Scoped, org: Id<Org>, digest: &str) -> Result<Vec<(String, bool)>> {
    let sql = "SELECT name, externally_queryable FROM datasets WHERE org_id = $1 AND last_files = $2 ORDER BY name";
    let rows = sqlx::query(sql).bind(org.to_string()).bind(digest.to_owned()).fetch_all(&mut **on).await?;
    rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get::<i64, _>("externally_queryable")? != 0))).collect()
}

/// Removes a dataset with its documents; `false` when there is no such dataset.
pub async fn delete(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>) -> Result<bool> {
    let documents = sqlx::query("DELETE FROM documents WHERE org_id = $1 AND dataset_id = $2");
    documents.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    // What keeps it from something else would bring it back.
    let sync = "DELETE FROM document_syncs WHERE org_id = $1 AND name = (SELECT name FROM datasets WHERE org_id = $1 AND id = $2)";
    sqlx::query(sync).bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    let dataset = sqlx::query("DELETE FROM datasets WHERE org_id = $1 AND id = $2");
    let done = dataset.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    Ok(done.rows_affected() == 1)
}

/// Whether datasets are all there, and holds them until the transaction ends: whoever deletes one waits for it.
pub async fn hold(on: &mut Scoped, backend: Backend, org: Id<Org>, ids: &[Id<Dataset>]) -> Result<bool> {
    const AT_ONCE: usize = 500;
    // In one order, so that of two none waits for the other in a circle. Whoever writes SQLite is alone.
    let mut ids: Vec<String> = ids.iter().map(Id::to_string).collect();
    ids.sort();
    ids.dedup();
    let held = if backend == Backend::Postgres { "ORDER BY id FOR KEY SHARE" } else { "" };
    for ids in ids.chunks(AT_ONCE) {
        let sql = format!("SELECT id FROM datasets WHERE org_id = $1 AND id IN ({}) {held}", places(2, ids.len()));
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string());
        let found = ids.iter().fold(query, |query, id| query.bind(id.clone())).fetch_all(&mut **on).await?;
        if found.len() < ids.len() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes one dataset of a source.
pub async fn remove(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>) -> Result<()> {
    let query = sqlx::query("DELETE FROM datasets WHERE org_id = $1 AND id = $2 AND source_id IS NOT NULL");
    query.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Dataset> {
    let kind: String = row.try_get("kind")?;
    let mut columns: Vec<ColumnInfo> =
        serde_json::from_str(&row.try_get::<String, _>("columns_json")?).map_err(Error::internal)?;
    let mut texts = texts(row)?;
    for column in &mut columns {
        column.description = texts.remove(&column.name).unwrap_or_else(|| std::mem::take(&mut column.description));
    }
    let remote = remote(row)?;
    let is_orphan = remote.is_none() && row.try_get::<Option<String>, _>("source_id")?.is_some();
    Ok(Dataset {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        id: row.try_get::<String, _>("id")?.parse().map_err(Error::internal)?,
        name: row.try_get("name")?,
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        kind: match kind.as_str() {
            "table" => Kind::Table,
            "documents" => Kind::Documents,
            other => return Err(Error::internal(format!("datasets.kind is {other}"))),
        },
        externally_queryable: row.try_get::<i64, _>("externally_queryable")? != 0,
        version: if is_orphan { None } else { row.try_get("version")? },
        row_count: row.try_get("row_count")?,
        bytes: row.try_get("bytes")?,
        columns,
        hidden: serde_json::from_str(&row.try_get::<String, _>("hidden_columns")?).map_err(Error::internal)?,
        source: row.try_get("source")?,
        remote,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

fn texts(row: &AnyRow) -> Result<BTreeMap<String, String>> {
    serde_json::from_str(&row.try_get::<String, _>("column_texts")?).map_err(Error::internal)
}

fn remote(row: &AnyRow) -> Result<Option<RemoteTable>> {
    let Some(engine) = row.try_get::<Option<String>, _>("source_engine")? else { return Ok(None) };
    let engine = SourceEngine::parse(&engine).ok_or_else(|| Error::internal(format!("sources.engine is {engine}")))?;
    Ok(Some(RemoteTable {
        source: row.try_get::<String, _>("source_id")?.parse().map_err(Error::internal)?,
        source_name: row.try_get("source_name")?,
        engine,
        schema: row.try_get("remote_schema")?,
        table: row.try_get("remote_table")?,
    }))
}
