//! Browser sessions, by the SHA-256 of their id.

use sqlx::{AnyExecutor, Row as _};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::user::User;

/// A session as stored.
#[derive(Clone, Debug)]
pub struct SessionRow {
    pub id_hash: String,
    /// The person, once known; what "sign out everywhere" deletes by.
    pub user_id: Option<String>,
    /// JSON.
    pub data: String,
    pub expires_at: Millis,
}

/// Adds a session; `false` when the id is taken.
pub async fn create(on: impl AnyExecutor<'_>, row: &SessionRow) -> sqlx::Result<bool> {
    let sql = "INSERT INTO browser_sessions (id_hash, user_id, data, expires_at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (id_hash) DO NOTHING";
    let query = sqlx::query(sql).bind(&row.id_hash).bind(&row.user_id).bind(&row.data).bind(row.expires_at);
    Ok(query.execute(on).await?.rows_affected() == 1)
}

/// Changes a session that exists. One that was deleted meanwhile (a log-out in another tab) stays deleted.
pub async fn save(on: impl AnyExecutor<'_>, row: &SessionRow) -> sqlx::Result<()> {
    sqlx::query("UPDATE browser_sessions SET user_id = $2, data = $3, expires_at = $4 WHERE id_hash = $1")
        .bind(&row.id_hash)
        .bind(&row.user_id)
        .bind(&row.data)
        .bind(row.expires_at)
        .execute(on)
        .await?;
    Ok(())
}

/// A session's data and expiry, unless it has expired at `now`.
pub async fn load(on: impl AnyExecutor<'_>, id_hash: &str, now: Millis) -> sqlx::Result<Option<(String, Millis)>> {
    let row = sqlx::query("SELECT data, expires_at FROM browser_sessions WHERE id_hash = $1 AND expires_at > $2")
        .bind(id_hash)
        .bind(now)
        .fetch_optional(on)
        .await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

/// Whether a session has neither been ended nor has expired at `now`.
pub async fn lives(on: impl AnyExecutor<'_>, id_hash: &str, now: Millis) -> sqlx::Result<bool> {
    Ok(load(on, id_hash, now).await?.is_some())
}

pub async fn delete(on: impl AnyExecutor<'_>, id_hash: &str) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM browser_sessions WHERE id_hash = $1").bind(id_hash).execute(on).await?;
    Ok(())
}

/// Signs a person out everywhere.
pub async fn delete_of_user(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM browser_sessions WHERE user_id = $1").bind(user.to_string()).execute(on).await?;
    Ok(())
}
