//! What is known of the pages and files that datasets of documents are kept from, since they were read. A row says too that
//! the documents of its item are of this sync, and not of an import into the same dataset.

use std::collections::HashMap;

use sqlx::Row as _;

use super::tenant::Scoped;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::sync::Mark;

/// Those of a sync, by item.
pub async fn list(on: &mut Scoped, org: Id<Org>, name: &str) -> Result<HashMap<String, Mark>> {
    let query = sqlx::query("SELECT item, mark FROM document_sync_marks WHERE org_id = $1 AND name = $2");
    let rows = query.bind(org.to_string()).bind(name).fetch_all(&mut **on).await?;
    let read = |row: &sqlx::any::AnyRow| {
        let mark = serde_json::from_str(&row.try_get::<String, _>("mark")?).map_err(Error::internal)?;
        Ok((row.try_get("item")?, mark))
    };
    rows.iter().map(read).collect()
}

/// Keeps one, in the place of what was known before.
pub async fn put(on: &mut Scoped, org: Id<Org>, name: &str, item: &str, mark: &Mark) -> Result<()> {
    let sql = "INSERT INTO document_sync_marks (org_id, name, item, mark) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (org_id, name, item) DO UPDATE SET mark = excluded.mark";
    let query = sqlx::query(sql).bind(org.to_string()).bind(name).bind(item);
    query.bind(serde_json::to_string(mark).map_err(Error::internal)?).execute(&mut **on).await?;
    Ok(())
}

/// Forgets one; nothing where there is none.
pub async fn remove(on: &mut Scoped, org: Id<Org>, name: &str, item: &str) -> Result<()> {
    let query = sqlx::query("DELETE FROM document_sync_marks WHERE org_id = $1 AND name = $2 AND item = $3");
    query.bind(org.to_string()).bind(name).bind(item).execute(&mut **on).await?;
    Ok(())
}

/// Forgets all of a sync.
pub async fn clear(on: &mut Scoped, org: Id<Org>, name: &str) -> Result<()> {
    let query = sqlx::query("DELETE FROM document_sync_marks WHERE org_id = $1 AND name = $2");
    query.bind(org.to_string()).bind(name).execute(&mut **on).await?;
    Ok(())
}
