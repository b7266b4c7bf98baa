//! Clients that a workspace does not let in.

use sqlx::Row as _;
use sqlx::any::AnyExecutor;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;

/// Blocks a client; `false` when it was blocked already.
pub async fn insert(on: impl AnyExecutor<'_>, org: Id<Org>, client_id: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (org_id, client_id) DO NOTHING",
    )
    .bind(org.to_string())
    .bind(client_id)
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Lets a client in again; `false` when it was not blocked.
pub async fn remove(on: impl AnyExecutor<'_>, org: Id<Org>, client_id: &str) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM client_blocks WHERE org_id = $1 AND client_id = $2")
        .bind(org.to_string())
        .bind(client_id)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Whether a client is blocked in a workspace, or (`-`) in the whole installation.
pub async fn blocked(on: impl AnyExecutor<'_>, org: Id<Org>, client_id: &str) -> sqlx::Result<bool> {
    let row = sqlx::query("SELECT client_id FROM client_blocks WHERE org_id IN ($1, '-') AND client_id = $2")
        .bind(org.to_string())
        .bind(client_id)
        .fetch_optional(on)
        .await?;
    Ok(row.is_some())
}

/// A workspace's blocked clients with the names that they registered, newest first.
pub async fn list(on: impl AnyExecutor<'_>, org: Id<Org>) -> sqlx::Result<Vec<(String, Option<String>, Millis)>> {
    let rows = sqlx::query(
        "SELECT b.client_id AS client_id, c.name AS name, b.created_at AS created_at
         FROM client_blocks b LEFT JOIN oauth_clients c ON c.id = b.client_id
         WHERE b.org_id = $1 ORDER BY b.created_at DESC, b.client_id",
    )
    .bind(org.to_string())
    .fetch_all(on)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("client_id")?, row.try_get("name")?, row.try_get("created_at")?))).collect()
}
