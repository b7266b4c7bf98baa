//! Clients that may not be used: in one workspace, or in the whole installation. A block outlives the client's row, and
//! may name a client that has none (one that is known by its document).

use sqlx::any::AnyExecutor;
use sqlx::{AnyConnection, Row as _};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;

/// Stands for the whole installation where a workspace's id would be. No id is spelled so.
const EVERYWHERE: &str = "-";

fn place(org: Option<Id<Org>>) -> String {
    org.map_or_else(|| EVERYWHERE.to_owned(), |org| org.to_string())
}

/// A client that may not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub client_id: String,
    /// As it registered, when it did.
    pub name: Option<String>,
    pub created_at: Millis,
}

/// Blocks a client in a workspace, or without one everywhere; `false` when it already is.
pub async fn insert(on: &mut AnyConnection, org: Option<Id<Org>>, client_id: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO client_blocks (org_id, client_id, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (org_id, client_id) DO NOTHING",
    )
    .bind(place(org))
    .bind(client_id)
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes one block away; `false` when there is none in this very place.
pub async fn remove(on: &mut AnyConnection, org: Option<Id<Org>>, client_id: &str) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM client_blocks WHERE org_id = $1 AND client_id = $2")
        .bind(place(org))
        .bind(client_id)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes every block of a client away.
pub async fn remove_of_client(on: &mut AnyConnection, client_id: &str) -> sqlx::Result<u64> {
    let done = sqlx::query("DELETE FROM client_blocks WHERE client_id = $1").bind(client_id).execute(on).await?;
    Ok(done.rows_affected())
}

/// The blocks of a workspace, or those of the whole installation; by client.
pub async fn list(on: impl AnyExecutor<'_>, org: Option<Id<Org>>) -> sqlx::Result<Vec<Block>> {
    let rows = sqlx::query(
        "SELECT b.client_id AS client_id, c.name AS name, b.created_at AS created_at
         FROM client_blocks b LEFT JOIN oauth_clients c ON c.id = b.client_id
         WHERE b.org_id = $1 ORDER BY b.client_id",
    )
    .bind(place(org))
    .fetch_all(on)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(Block {
                client_id: row.try_get("client_id")?,
                name: row.try_get("name")?,
                created_at: row.try_get("created_at")?,
            })
        })
        .collect()
}

/// Whether a client is blocked everywhere or, when one is named, in this workspace.
pub async fn is_blocked(on: impl AnyExecutor<'_>, org: Option<Id<Org>>, client_id: &str) -> sqlx::Result<bool> {
    let blocks: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM client_blocks WHERE client_id = $2 AND org_id IN ($1, $3)")
            .bind(place(org))
            .bind(client_id)
            .bind(EVERYWHERE)
            .fetch_one(on)
            .await?;
    Ok(blocks > 0)
}
