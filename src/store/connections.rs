//! Grants as people see them: which program may act for whom, where, since when.

use sqlx::Row as _;
use sqlx::any::{AnyExecutor, AnyRow};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::user::User;

/// A living grant with the names that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub org: Id<Org>,
    pub org_name: String,
    pub id: String,
    pub user: Id<User>,
    pub email: String,
    pub client_id: String,
    /// As the client registered; `None` for one that is known by its document.
    pub client_name: Option<String>,
    /// Names with spaces between.
    pub scopes: String,
    pub redirect_uri: String,
    pub created_at: Millis,
    pub last_used_at: Millis,
    pub ends_at: Millis,
}

/// The grants of a person that can still be used: redeemed, not ended, and used since `since`.
pub async fn of_user(
    on: impl AnyExecutor<'_>,
    user: Id<User>,
    now: Millis,
    since: Millis,
) -> sqlx::Result<Vec<Connection>> {
    let rows = sqlx::query(
        "SELECT g.org_id AS org_id, o.name AS org_name, g.id AS id, g.user_id AS user_id, u.email AS email,
                g.client_id AS client_id, c.name AS client_name, g.scopes AS scopes, g.redirect_uri AS redirect_uri,
                g.created_at AS created_at, g.last_used_at AS last_used_at, g.ends_at AS ends_at
         FROM grants g
         JOIN orgs o ON o.id = g.org_id
         JOIN users u ON u.id = g.user_id
         LEFT JOIN oauth_clients c ON c.id = g.client_id
         WHERE g.user_id = $1 AND g.redeemed_at IS NOT NULL AND g.revoked_at IS NULL AND g.ends_at > $2
           AND g.last_used_at > $3
         ORDER BY g.last_used_at DESC, g.id",
    )
    .bind(user.to_string())
    .bind(now)
    .bind(since)
    .fetch_all(on)
    .await?;
    rows.iter().map(read).collect()
}

fn read(row: &AnyRow) -> sqlx::Result<Connection> {
    Ok(Connection {
        org: text_id(row, "org_id")?,
        org_name: row.try_get("org_name")?,
        id: row.try_get("id")?,
        user: text_id(row, "user_id")?,
        email: row.try_get("email")?,
        client_id: row.try_get("client_id")?,
        client_name: row.try_get("client_name")?,
        scopes: row.try_get("scopes")?,
        redirect_uri: row.try_get("redirect_uri")?,
        created_at: row.try_get("created_at")?,
        last_used_at: row.try_get("last_used_at")?,
        ends_at: row.try_get("ends_at")?,
    })
}

/// Ends a family of the person's own; `None` when it is not theirs, not there, or has ended already.
pub async fn end_own(
    on: impl AnyExecutor<'_>,
    user: Id<User>,
    id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<Option<(Id<Org>, String)>> {
    let row = sqlx::query(
        "UPDATE grants SET revoked_at = $3, revoked_why = $4 WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL
         RETURNING org_id, client_id",
    )
    .bind(user.to_string())
    .bind(id)
    .bind(now)
    .bind(why)
    .fetch_optional(on)
    .await?;
    row.map(|row| Ok((text_id(&row, "org_id")?, row.try_get("client_id")?))).transpose()
}
