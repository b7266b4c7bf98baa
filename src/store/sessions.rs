//! Browser sessions, by the SHA-256 of their id.

use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AnyExecutor, Row as _};

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
    /// What its owner sees of it.
    pub trace: Option<Trace>,
}

/// Where and when a session is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Public; names the session in pages.
    pub id: String,
    pub created_at: Millis,
    /// The last use, to the minute.
    pub seen_at: Millis,
    /// Where the last use came from.
    pub ip: String,
    /// What the browser called itself.
    pub agent: String,
}

/// A person's session, as they see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserSession {
    pub id_hash: String,
    pub trace: Trace,
}

/// Adds a session; `false` when the id is taken.
pub async fn create(on: &mut AnyConnection, row: &SessionRow) -> sqlx::Result<bool> {
    let sql = "INSERT INTO browser_sessions (id_hash, user_id, data, expires_at, id, created_at, seen_at, ip, agent) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id_hash) DO NOTHING";
    Ok(written(on, sql, row).await? == 1)
}

/// Changes a session that exists. One that was deleted meanwhile (a log-out in another tab) stays deleted.
pub async fn save(on: &mut AnyConnection, row: &SessionRow) -> sqlx::Result<()> {
    let sql = "UPDATE browser_sessions SET user_id = $2, data = $3, expires_at = $4, id = $5, created_at = $6, \
               seen_at = $7, ip = $8, agent = $9 WHERE id_hash = $1";
    written(on, sql, row).await.map(drop)
}

async fn written(on: &mut AnyConnection, sql: &'static str, row: &SessionRow) -> sqlx::Result<u64> {
    let trace = row.trace.as_ref();
    let done = sqlx::query(sql)
        .bind(&row.id_hash)
        .bind(&row.user_id)
        .bind(&row.data)
        .bind(row.expires_at)
        .bind(trace.map(|trace| trace.id.clone()))
        .bind(trace.map(|trace| trace.created_at))
        .bind(trace.map(|trace| trace.seen_at))
        .bind(trace.map(|trace| trace.ip.clone()))
        .bind(trace.map(|trace| trace.agent.clone()))
        .execute(on)
        .await?;
    Ok(done.rows_affected())
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

pub async fn delete(on: &mut AnyConnection, id_hash: &str) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM browser_sessions WHERE id_hash = $1").bind(id_hash).execute(on).await?;
    Ok(())
}

/// Signs a person out everywhere.
pub async fn delete_of_user(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM browser_sessions WHERE user_id = $1").bind(user.to_string()).execute(on).await?;
    Ok(())
}

/// A person's sessions that have not expired at `now`, the last used first.
pub async fn of_user(on: impl AnyExecutor<'_>, user: Id<User>, now: Millis) -> sqlx::Result<Vec<BrowserSession>> {
    let sql = "SELECT id_hash, id, created_at, seen_at, ip, agent FROM browser_sessions \
               WHERE user_id = $1 AND expires_at > $2 AND id IS NOT NULL ORDER BY seen_at DESC, id DESC";
    let rows = sqlx::query(sql).bind(user.to_string()).bind(now).fetch_all(on).await?;
    let read = |row: &AnyRow| {
        let trace = Trace {
            id: row.try_get("id")?,
            created_at: row.try_get("created_at")?,
            seen_at: row.try_get("seen_at")?,
            ip: row.try_get("ip")?,
            agent: row.try_get("agent")?,
        };
        Ok(BrowserSession { id_hash: row.try_get("id_hash")?, trace })
    };
    rows.iter().map(read).collect()
}

/// Ends one session of a person by its public id; `false` when it is not theirs.
pub async fn delete_one_of_user(on: &mut AnyConnection, user: Id<User>, id: &str) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM browser_sessions WHERE user_id = $1 AND id = $2")
        .bind(user.to_string())
        .bind(id)
        .execute(on)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Ends every session of a person but one; returns how many.
pub async fn delete_others_of_user(on: &mut AnyConnection, user: Id<User>, keep: &str) -> sqlx::Result<u64> {
    let done = sqlx::query("DELETE FROM browser_sessions WHERE user_id = $1 AND id_hash <> $2")
        .bind(user.to_string())
        .bind(keep)
        .execute(on)
        .await?;
    Ok(done.rows_affected())
}
