//! What waits for a person's next step in the browser: authorization requests, which wait for an answer in one browser
//! session, and what is kept from a form to the page after it. The handle is kept as a digest, and works once, for one
//! person.

use sqlx::{AnyConnection, AnyExecutor, Row as _};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::user::User;

/// Whose request it is: all three must match to see it or to use it up.
#[derive(Clone, Debug)]
pub struct PendingKey {
    /// SHA-256 of the handle.
    pub handle_hash: String,
    /// SHA-256 of the browser session's id; the name of a kind for what outlives a session.
    pub session_hash: String,
    pub user: Id<User>,
}

/// Adds a request; `data` is JSON.
pub async fn create(on: &mut AnyConnection, key: &PendingKey, data: &str, expires_at: Millis) -> sqlx::Result<()> {
    let sql = "INSERT INTO pending_authorizations (handle_hash, session_hash, user_id, data, expires_at) \
               VALUES ($1, $2, $3, $4, $5)";
    sqlx::query(sql)
        .bind(&key.handle_hash)
        .bind(&key.session_hash)
        .bind(key.user.to_string())
        .bind(data)
        .bind(expires_at)
        .execute(on)
        .await?;
    Ok(())
}

/// As [`create`], in the place of all that the person has there.
pub async fn replace(on: &mut AnyConnection, key: &PendingKey, data: &str, expires_at: Millis) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM pending_authorizations WHERE user_id = $1 AND session_hash = $2")
        .bind(key.user.to_string())
        .bind(&key.session_hash)
        .execute(&mut *on)
        .await?;
    create(on, key, data, expires_at).await
}

/// Leaves nothing that waits for this person.
pub async fn delete_of_user(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM pending_authorizations WHERE user_id = $1").bind(user.to_string()).execute(on).await?;
    Ok(())
}

/// The request's data, left in place, unless it has expired at `now`.
pub async fn peek(on: impl AnyExecutor<'_>, key: &PendingKey, now: Millis) -> sqlx::Result<Option<String>> {
    let sql = "SELECT data FROM pending_authorizations \
               WHERE handle_hash = $1 AND session_hash = $2 AND user_id = $3 AND expires_at > $4";
    one(on, sql, key, now).await
}

/// The request's data, used up: of two that ask at once, one gets it.
pub async fn take(on: &mut AnyConnection, key: &PendingKey, now: Millis) -> sqlx::Result<Option<String>> {
    let sql = "DELETE FROM pending_authorizations \
               WHERE handle_hash = $1 AND session_hash = $2 AND user_id = $3 AND expires_at > $4 RETURNING data";
    one(on, sql, key, now).await
}

async fn one(
    on: impl AnyExecutor<'_>,
    sql: &'static str,
    key: &PendingKey,
    now: Millis,
) -> sqlx::Result<Option<String>> {
    let row = sqlx::query(sql)
        .bind(&key.handle_hash)
        .bind(&key.session_hash)
        .bind(key.user.to_string())
        .bind(now)
        .fetch_optional(on)
        .await?;
    row.map(|row| row.try_get(0)).transpose()
}
