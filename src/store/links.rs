//! Links that people get by e-mail, by the SHA-256 of their secret. A link works once, and until it expires.

use sqlx::{AnyConnection, AnyExecutor};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::user::User;

/// What a link is for: to set a new password.
pub const RESET: &str = "reset";

/// A link as stored.
#[derive(Clone, Debug)]
pub struct LinkRow<'a> {
    pub digest: &'a str,
    pub kind: &'static str,
    pub user: Id<User>,
    pub created_at: Millis,
    pub expires_at: Millis,
}

pub async fn create(on: &mut AnyConnection, link: &LinkRow<'_>) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO email_links (digest, kind, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(link.digest)
        .bind(link.kind)
        .bind(link.user.to_string())
        .bind(link.created_at)
        .bind(link.expires_at)
        .execute(on)
        .await?;
    Ok(())
}

/// Whether the person was sent a link of this kind after `since`, whatever became of it.
pub async fn sent_since(on: impl AnyExecutor<'_>, kind: &str, user: Id<User>, since: Millis) -> sqlx::Result<bool> {
    let row =
        sqlx::query("SELECT digest FROM email_links WHERE user_id = $1 AND kind = $2 AND created_at > $3 LIMIT 1")
            .bind(user.to_string())
            .bind(kind)
            .bind(since)
            .fetch_optional(on)
            .await?;
    Ok(row.is_some())
}

/// Whose link it is, left in place, if it works at `now`.
pub async fn peek(on: impl AnyExecutor<'_>, kind: &str, digest: &str, now: Millis) -> sqlx::Result<Option<Id<User>>> {
    let sql = "SELECT user_id FROM email_links \
               WHERE digest = $1 AND kind = $2 AND used_at IS NULL AND expires_at > $3";
    let row = sqlx::query(sql).bind(digest).bind(kind).bind(now).fetch_optional(on).await?;
    row.map(|row| text_id(&row, "user_id")).transpose()
}

/// Whose link it is, used up: of two that ask at once, one gets it.
pub async fn take(on: &mut AnyConnection, kind: &str, digest: &str, now: Millis) -> sqlx::Result<Option<Id<User>>> {
    let sql = "UPDATE email_links SET used_at = $3 \
               WHERE digest = $1 AND kind = $2 AND used_at IS NULL AND expires_at > $3 RETURNING user_id";
    let row = sqlx::query(sql).bind(digest).bind(kind).bind(now).fetch_optional(on).await?;
    row.map(|row| text_id(&row, "user_id")).transpose()
}

/// Ends every link of a person that still works.
pub async fn end_of_user(on: &mut AnyConnection, user: Id<User>, now: Millis) -> sqlx::Result<()> {
    sqlx::query("UPDATE email_links SET used_at = $2 WHERE user_id = $1 AND used_at IS NULL")
        .bind(user.to_string())
        .bind(now)
        .execute(on)
        .await?;
    Ok(())
}

/// Drops what expired before `now` and was made before `since`; returns how many.
pub async fn sweep(on: &mut AnyConnection, now: Millis, since: Millis) -> sqlx::Result<u64> {
    let done = sqlx::query("DELETE FROM email_links WHERE expires_at <= $1 AND created_at <= $2")
        .bind(now)
        .bind(since)
        .execute(on)
        .await?;
    Ok(done.rows_affected())
}
