//! What people approved once. Whether that still holds is asked anew each time.

use sqlx::{AnyConnection, AnyExecutor, Row as _};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::user::User;

/// What must be the same for an approval to be the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentKey {
    pub user: Id<User>,
    pub client_id: String,
    pub redirect_uri: String,
    pub resource: String,
}

/// An approval as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsentRow {
    pub org: Id<Org>,
    /// Names with spaces between.
    pub scopes: String,
    /// Digest of all redirect addresses that the client had.
    pub addresses: String,
    /// The client may not be used in this workspace, or anywhere.
    pub blocked: bool,
}

/// Keeps an approval; a later one for the same replaces it.
pub async fn remember(
    on: &mut AnyConnection,
    org: Id<Org>,
    key: &ConsentKey,
    scopes: &str,
    addresses: &str,
    now: Millis,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO consents (org_id, user_id, client_id, redirect_uri, resource, scopes, addresses, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (org_id, user_id, client_id, redirect_uri, resource)
         DO UPDATE SET scopes = excluded.scopes, addresses = excluded.addresses, created_at = excluded.created_at",
    )
    .bind(org.to_string())
    .bind(key.user.to_string())
    .bind(key.client_id.as_str())
    .bind(key.redirect_uri.as_str())
    .bind(key.resource.as_str())
    .bind(scopes)
    .bind(addresses)
    .bind(now)
    .execute(on)
    .await?;
    Ok(())
}

/// A person's approvals of the same request, one a workspace that they belong to. One from before their membership
/// began is none: who was removed and taken back starts anew.
pub async fn of_request(on: impl AnyExecutor<'_>, key: &ConsentKey) -> sqlx::Result<Vec<ConsentRow>> {
    let rows = sqlx::query(
        "SELECT c.org_id AS org_id, c.scopes AS scopes, c.addresses AS addresses,
                (SELECT COUNT(*) FROM client_blocks b
                 WHERE b.client_id = c.client_id AND b.org_id IN (c.org_id, '-')) AS blocks
         FROM consents c
         JOIN memberships m ON m.org_id = c.org_id AND m.user_id = c.user_id AND m.created_at <= c.created_at
         WHERE c.user_id = $1 AND c.client_id = $2 AND c.redirect_uri = $3 AND c.resource = $4",
    )
    .bind(key.user.to_string())
    .bind(key.client_id.as_str())
    .bind(key.redirect_uri.as_str())
    .bind(key.resource.as_str())
    .fetch_all(on)
    .await?;
    let read = |row: &sqlx::any::AnyRow| {
        Ok(ConsentRow {
            org: text_id(row, "org_id")?,
            scopes: row.try_get("scopes")?,
            addresses: row.try_get("addresses")?,
            blocked: row.try_get::<i64, _>("blocks")? > 0,
        })
    };
    rows.iter().map(read).collect()
}

/// Forgets what a person approved for a client in a workspace, which is locked; returns how many approvals that were.
pub async fn forget(on: &mut AnyConnection, org: Id<Org>, user: Id<User>, client_id: &str) -> sqlx::Result<u64> {
    let done = sqlx::query("DELETE FROM consents WHERE org_id = $1 AND user_id = $2 AND client_id = $3")
        .bind(org.to_string())
        .bind(user.to_string())
        .bind(client_id)
        .execute(on)
        .await?;
    Ok(done.rows_affected())
}

/// Forgets everything that a person approved in a workspace, which is locked.
pub async fn forget_of_member(on: &mut AnyConnection, org: Id<Org>, user: Id<User>) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM consents WHERE org_id = $1 AND user_id = $2")
        .bind(org.to_string())
        .bind(user.to_string())
        .execute(on)
        .await?;
    Ok(())
}
