//! Remote engines of a workspace.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::source::{Source, SourceEngine};
use crate::store::tenant::Scoped;

const COLUMNS: &str = "org_id, id, name, engine, address, ca, sealed_password, created_by, created_at, updated_at, \
                       checked_at, problem, left_out";

/// All sources of a workspace, by name.
pub async fn list(on: &mut Scoped, org: Id<Org>) -> Result<Vec<Source>> {
    let sql = format!("SELECT {COLUMNS} FROM sources WHERE org_id = $1 ORDER BY name");
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).fetch_all(&mut **on).await?;
    rows.iter().map(read).collect()
}

/// One source of the workspace, if it is there.
pub async fn by_id(on: &mut Scoped, org: Id<Org>, id: Id<Source>) -> Result<Option<Source>> {
    let sql = format!("SELECT {COLUMNS} FROM sources WHERE org_id = $1 AND id = $2");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(org.to_string()).bind(id.to_string());
    query.fetch_optional(&mut **on).await?.as_ref().map(read).transpose()
}

/// Adds a source; `false` when the workspace has one of this name.
pub async fn insert(on: &mut Scoped, source: &Source) -> Result<bool> {
    let sql = "INSERT INTO sources (org_id, id, name, engine, address, ca, sealed_password, created_by, created_at, \
               updated_at, checked_at, problem, left_out) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
               ON CONFLICT (org_id, name) DO NOTHING";
    let query = sqlx::query(sql)
        .bind(source.org.to_string())
        .bind(source.id.to_string())
        .bind(source.name.clone())
        .bind(source.engine.name())
        .bind(source.address.clone())
        .bind(source.ca.clone())
        .bind(source.sealed_password.clone())
        .bind(source.created_by.map(|user| user.to_string()))
        .bind(source.created_at)
        .bind(source.updated_at)
        .bind(source.checked_at)
        .bind(source.problem.clone())
        .bind(source.left_out.clone());
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Keeps what a check found; `false` when the source is gone.
pub async fn checked(on: &mut Scoped, org: Id<Org>, id: Id<Source>, now: Millis, problem: &str) -> Result<bool> {
    let sql = "UPDATE sources SET checked_at = $1, problem = $2 WHERE org_id = $3 AND id = $4";
    let query = sqlx::query(sql).bind(now).bind(problem.to_owned()).bind(org.to_string()).bind(id.to_string());
    Ok(query.execute(&mut **on).await?.rows_affected() == 1)
}

/// Keeps what was left out of its catalogue.
pub async fn left_out(on: &mut Scoped, org: Id<Org>, id: Id<Source>, left_out: &str) -> Result<()> {
    let query = sqlx::query("UPDATE sources SET left_out = $1 WHERE org_id = $2 AND id = $3");
    query.bind(left_out.to_owned()).bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    Ok(())
}

/// Removes a source with its datasets; `false` when there is none.
pub async fn remove(on: &mut Scoped, org: Id<Org>, id: Id<Source>) -> Result<bool> {
    let datasets = sqlx::query("DELETE FROM datasets WHERE org_id = $1 AND source_id = $2");
    datasets.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    let source = sqlx::query("DELETE FROM sources WHERE org_id = $1 AND id = $2");
    let removed = source.bind(org.to_string()).bind(id.to_string()).execute(&mut **on).await?;
    Ok(removed.rows_affected() == 1)
}

fn read(row: &AnyRow) -> Result<Source> {
    let engine: String = row.try_get("engine")?;
    Ok(Source {
        org: row.try_get::<String, _>("org_id")?.parse().map_err(Error::internal)?,
        id: row.try_get::<String, _>("id")?.parse().map_err(Error::internal)?,
        name: row.try_get("name")?,
        engine: SourceEngine::parse(&engine).ok_or_else(|| Error::internal(format!("sources.engine is {engine}")))?,
        address: row.try_get("address")?,
        ca: row.try_get("ca")?,
        sealed_password: row.try_get("sealed_password")?,
        created_by: match row.try_get::<Option<String>, _>("created_by")? {
            Some(user) => Some(user.parse().map_err(Error::internal)?),
            None => None,
        },
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        checked_at: row.try_get("checked_at")?,
        problem: row.try_get("problem")?,
        left_out: row.try_get("left_out")?,
    })
}
