//! Grants as the admins of their workspace see and end them.

use sqlx::Row as _;
use sqlx::any::{AnyExecutor, AnyRow};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::user::User;

/// A grant that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedRow {
    pub id: String,
    pub client_id: String,
    /// As it registered; `None` for a client that is known by its document.
    pub client_name: Option<String>,
    pub user: Id<User>,
    pub email: String,
    /// Their names with spaces between.
    pub scopes: String,
    pub created_at: Millis,
    pub last_used_at: Millis,
    pub ends_at: Millis,
}

/// A workspace's grants in force, the last used first; at most `limit`, from the `skip`th on.
pub async fn list(
    on: impl AnyExecutor<'_>,
    org: Id<Org>,
    now: Millis,
    skip: i64,
    limit: i64,
) -> sqlx::Result<Vec<ConnectedRow>> {
    let rows = sqlx::query(
        "SELECT g.id AS id, g.client_id AS client_id, c.name AS client_name, u.id AS user_id, u.email AS email,
                g.scopes AS scopes, g.created_at AS created_at, g.last_used_at AS last_used_at, g.ends_at AS ends_at
         FROM grants g JOIN users u ON u.id = g.user_id LEFT JOIN oauth_clients c ON c.id = g.client_id
         WHERE g.org_id = $1 AND g.revoked_at IS NULL AND g.redeemed_at IS NOT NULL AND g.ends_at > $2
         ORDER BY g.last_used_at DESC, g.id LIMIT $4 OFFSET $3",
    )
    .bind(org.to_string())
    .bind(now)
    .bind(skip)
    .bind(limit)
    .fetch_all(on)
    .await?;
    rows.iter().map(read).collect()
}

/// Ends one grant of a workspace; `false` when it has no such grant in force.
pub async fn revoke(on: impl AnyExecutor<'_>, org: Id<Org>, id: &str, why: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE grants SET revoked_at = $3, revoked_why = $4 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(now)
    .bind(why)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Ends every grant of a client in a workspace; returns how many.
pub async fn revoke_of_client(
    on: impl AnyExecutor<'_>,
    org: Id<Org>,
    client_id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<u64> {
    let done = sqlx::query(
        "UPDATE grants SET revoked_at = $3, revoked_why = $4
         WHERE org_id = $1 AND client_id = $2 AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(client_id)
    .bind(now)
    .bind(why)
    .execute(on)
    .await?;
    Ok(done.rows_affected())
}

fn read(row: &AnyRow) -> sqlx::Result<ConnectedRow> {
    Ok(ConnectedRow {
        id: row.try_get("id")?,
        client_id: row.try_get("client_id")?,
        client_name: row.try_get("client_name")?,
        user: text_id(row, "user_id")?,
        email: row.try_get("email")?,
        scopes: row.try_get("scopes")?,
        created_at: row.try_get("created_at")?,
        last_used_at: row.try_get("last_used_at")?,
        ends_at: row.try_get("ends_at")?,
    })
}
