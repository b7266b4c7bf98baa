//! Workspaces.

use std::collections::HashSet;

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Row as _};

use super::{Backend, places, text_id};
use crate::base::id::Id;
use crate::model::org::Org;

/// Ids in one statement.
const MOST_AT_ONCE: usize = 500;

/// Adds a workspace; `false` when its slug is taken.
pub async fn insert(on: &mut AnyConnection, org: &Org) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO orgs (id, slug, name, connectivity_enabled, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (slug) DO NOTHING",
    )
    .bind(org.id.to_string())
    .bind(org.slug.as_str())
    .bind(org.name.as_str())
    .bind(i64::from(org.connectivity_enabled))
    .bind(org.created_at)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub async fn by_id(on: impl AnyExecutor<'_>, id: Id<Org>) -> sqlx::Result<Option<Org>> {
    let row = sqlx::query("SELECT id, slug, name, connectivity_enabled, created_at FROM orgs WHERE id = $1")
        .bind(id.to_string())
        .fetch_optional(on)
        .await?;
    row.as_ref().map(read).transpose()
}

/// As [`by_id`], unless the operator has suspended it.
pub async fn active(on: impl AnyExecutor<'_>, id: Id<Org>) -> sqlx::Result<Option<Org>> {
    let row = sqlx::query(
        "SELECT id, slug, name, connectivity_enabled, created_at FROM orgs WHERE id = $1 AND suspended_at IS NULL",
    )
    .bind(id.to_string())
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

pub async fn by_slug(on: impl AnyExecutor<'_>, slug: &str) -> sqlx::Result<Option<Org>> {
    let row = sqlx::query("SELECT id, slug, name, connectivity_enabled, created_at FROM orgs WHERE slug = $1")
        .bind(slug)
        .fetch_optional(on)
        .await?;
    row.as_ref().map(read).transpose()
}

/// All workspaces by name.
pub async fn list(on: impl AnyExecutor<'_>) -> sqlx::Result<Vec<Org>> {
    let rows = sqlx::query("SELECT id, slug, name, connectivity_enabled, created_at FROM orgs ORDER BY name, id")
        .fetch_all(on)
        .await?;
    rows.iter().map(read).collect()
}

/// Turns external clients on or off; `false` when there is no such workspace.
pub async fn set_connectivity(on: &mut AnyConnection, id: Id<Org>, enabled: bool) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE orgs SET connectivity_enabled = $2 WHERE id = $1")
        .bind(id.to_string())
        .bind(i64::from(enabled))
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Which of these workspaces are closed to external clients, by their own switch or by the operator, or are no more.
pub async fn closed(on: &AnyPool, ids: &[Id<Org>]) -> sqlx::Result<Vec<Id<Org>>> {
    let mut closed = Vec::new();
    for ids in ids.chunks(MOST_AT_ONCE) {
        let sql = format!(
            "SELECT id FROM orgs WHERE connectivity_enabled = 1 AND suspended_at IS NULL AND id IN ({})",
            places(1, ids.len())
        );
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for id in ids {
            query = query.bind(id.to_string());
        }
        let rows = query.fetch_all(on).await?;
        let open = rows.iter().map(|row| text_id(row, "id")).collect::<sqlx::Result<HashSet<Id<Org>>>>()?;
        closed.extend(ids.iter().filter(|id| !open.contains(*id)));
    }
    Ok(closed)
}

/// Whether any workspace lets external clients in.
pub async fn any_open(on: impl AnyExecutor<'_>) -> sqlx::Result<bool> {
    let sql =
        "SELECT COUNT(*) FROM (SELECT 1 FROM orgs WHERE connectivity_enabled = 1 AND suspended_at IS NULL LIMIT 1) o";
    Ok(sqlx::query_scalar::<_, i64>(sql).fetch_one(on).await? > 0)
}

/// Makes other writers of this workspace wait until the transaction ends; `false` when there is no such workspace.
pub async fn lock(on: &mut AnyConnection, id: Id<Org>) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE orgs SET name = name WHERE id = $1").bind(id.to_string()).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// As [`lock`], before it is deleted: those too wait who add a row that needs it, and find it gone.
pub(super) async fn hold(on: &mut AnyConnection, backend: Backend, id: Id<Org>) -> sqlx::Result<()> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT id FROM orgs WHERE id = $1 FOR UPDATE").bind(id.to_string()).execute(on).await?;
    }
    Ok(())
}

/// A workspace whose id is known from the columns `org_slug, org_name, org_on, org_at` of a statement about something
/// else.
pub(super) fn joined(row: &AnyRow, id: Id<Org>) -> sqlx::Result<Org> {
    Ok(Org {
        id,
        slug: row.try_get("org_slug")?,
        name: row.try_get("org_name")?,
        connectivity_enabled: row.try_get::<i64, _>("org_on")? != 0,
        created_at: row.try_get("org_at")?,
    })
}

/// A workspace from the columns `id, slug, name, connectivity_enabled, created_at`.
pub(super) fn read(row: &AnyRow) -> sqlx::Result<Org> {
    Ok(Org {
        id: text_id(row, "id")?,
        slug: row.try_get("slug")?,
        name: row.try_get("name")?,
        connectivity_enabled: row.try_get::<i64, _>("connectivity_enabled")? != 0,
        created_at: row.try_get("created_at")?,
    })
}
