//! Grants as people see them: which program may act for whom, where, since when; for its owner, and for the admins of a
//! workspace.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::user::User;

/// A grant that is in force, with the names that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedRow {
    pub org: Id<Org>,
    pub org_name: String,
    pub id: String,
    pub client_id: String,
    /// As it registered; `None` for a client that is known by its document.
    pub client_name: Option<String>,
    pub user: Id<User>,
    pub email: String,
    /// Their names with spaces between.
    pub scopes: String,
    pub redirect_uri: String,
    pub created_at: Millis,
    pub last_used_at: Millis,
    pub ends_at: Millis,
}

macro_rules! in_force {
    ($rest:literal) => {
        concat!(
            "SELECT o.id AS org_id, o.name AS org_name, g.id AS id, g.client_id AS client_id, c.name AS client_name,
                    u.id AS user_id, u.email AS email, g.scopes AS scopes, g.redirect_uri AS redirect_uri,
                    g.created_at AS created_at, g.last_used_at AS last_used_at, g.ends_at AS ends_at
             FROM grants g JOIN orgs o ON o.id = g.org_id JOIN users u ON u.id = g.user_id
             LEFT JOIN oauth_clients c ON c.id = g.client_id
             WHERE g.revoked_at IS NULL AND g.redeemed_at IS NOT NULL AND g.ends_at > $2 AND ",
            $rest
        )
    };
}

/// A workspace's grants in force, the last used first; at most `limit`, from the `skip`th on.
pub async fn list(
    on: impl AnyExecutor<'_>,
    org: Id<Org>,
    now: Millis,
    skip: i64,
    limit: i64,
) -> sqlx::Result<Vec<ConnectedRow>> {
    let rows = sqlx::query(in_force!("g.org_id = $1 ORDER BY g.last_used_at DESC, g.id LIMIT $4 OFFSET $3"))
        .bind(org.to_string())
        .bind(now)
        .bind(skip)
        .bind(limit)
        .fetch_all(on)
        .await?;
    rows.iter().map(read).collect()
}

/// A person's grants in force that were used since `since`, in all their workspaces, the last used first.
pub async fn of_user(
    on: impl AnyExecutor<'_>,
    user: Id<User>,
    now: Millis,
    since: Millis,
) -> sqlx::Result<Vec<ConnectedRow>> {
    let rows = sqlx::query(in_force!("g.user_id = $1 AND g.last_used_at > $3 ORDER BY g.last_used_at DESC, g.id"))
        .bind(user.to_string())
        .bind(now)
        .bind(since)
        .fetch_all(on)
        .await?;
    rows.iter().map(read).collect()
}

/// Whose grant has just ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub org: Id<Org>,
    pub user: Id<User>,
    pub client_id: String,
}

/// Ends one grant of a workspace; `None` when it has no such grant in force.
pub async fn end(
    on: &mut AnyConnection,
    org: Id<Org>,
    id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<Option<Ended>> {
    let sql = "UPDATE grants SET revoked_at = $3, revoked_why = $4 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL
               RETURNING org_id, user_id, client_id";
    let row = sqlx::query(sql).bind(org.to_string()).bind(id).bind(now).bind(why).fetch_optional(on).await?;
    row.as_ref().map(ended).transpose()
}

/// The workspace of a grant of a person's own that has not ended.
pub async fn org_of_own(on: impl AnyExecutor<'_>, user: Id<User>, id: &str) -> sqlx::Result<Option<Id<Org>>> {
    let query = sqlx::query("SELECT org_id FROM grants WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL");
    let row = query.bind(user.to_string()).bind(id).fetch_optional(on).await?;
    row.as_ref().map(|row| text_id(row, "org_id")).transpose()
}

/// Ends one grant of a person's own; `None` when they have no such grant in force.
pub async fn end_own(
    on: &mut AnyConnection,
    user: Id<User>,
    id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<Option<Ended>> {
    let sql =
        "UPDATE grants SET revoked_at = $3, revoked_why = $4 WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL
               RETURNING org_id, user_id, client_id";
    let row = sqlx::query(sql).bind(user.to_string()).bind(id).bind(now).bind(why).fetch_optional(on).await?;
    row.as_ref().map(ended).transpose()
}

fn ended(row: &AnyRow) -> sqlx::Result<Ended> {
    Ok(Ended { org: text_id(row, "org_id")?, user: text_id(row, "user_id")?, client_id: row.try_get("client_id")? })
}

fn read(row: &AnyRow) -> sqlx::Result<ConnectedRow> {
    Ok(ConnectedRow {
        org: text_id(row, "org_id")?,
        org_name: row.try_get("org_name")?,
        id: row.try_get("id")?,
        client_id: row.try_get("client_id")?,
        client_name: row.try_get("client_name")?,
        user: text_id(row, "user_id")?,
        email: row.try_get("email")?,
        scopes: row.try_get("scopes")?,
        redirect_uri: row.try_get("redirect_uri")?,
        created_at: row.try_get("created_at")?,
        last_used_at: row.try_get("last_used_at")?,
        ends_at: row.try_get("ends_at")?,
    })
}
