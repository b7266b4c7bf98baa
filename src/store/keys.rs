//! Signing keys; private halves are sealed before they come here.

use sqlx::any::AnyExecutor;
use sqlx::{AnyConnection, Row as _};

use crate::base::clock::Millis;

/// A signing key as stored; binary values are in lower-case hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRow {
    pub kid: String,
    /// Counts keys from 1; unique.
    pub generation: i64,
    pub sealed: String,
    pub public: String,
    pub created_at: Millis,
    /// Signs from then on; published before.
    pub active_from: Millis,
    /// Signs no longer; still verifies what it signed while that lives.
    pub retired_at: Option<Millis>,
    /// Leaked: verifies nothing any more.
    pub withdrawn_at: Option<Millis>,
}

/// Adds a key; `false` when another node was faster with this generation.
pub async fn insert(on: &mut AnyConnection, key: &KeyRow) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO signing_keys (kid, generation, sealed, public, created_at, active_from, retired_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (generation) DO NOTHING",
    )
    .bind(key.kid.as_str())
    .bind(key.generation)
    .bind(key.sealed.as_str())
    .bind(key.public.as_str())
    .bind(key.created_at)
    .bind(key.active_from)
    .bind(key.retired_at)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// All keys, oldest first.
pub async fn list(on: impl AnyExecutor<'_>) -> sqlx::Result<Vec<KeyRow>> {
    let rows = sqlx::query(
        "SELECT kid, generation, sealed, public, created_at, active_from, retired_at, withdrawn_at FROM signing_keys
         ORDER BY generation",
    )
    .fetch_all(on)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(KeyRow {
                kid: row.try_get("kid")?,
                generation: row.try_get("generation")?,
                sealed: row.try_get("sealed")?,
                public: row.try_get("public")?,
                created_at: row.try_get("created_at")?,
                active_from: row.try_get("active_from")?,
                retired_at: row.try_get("retired_at")?,
                withdrawn_at: row.try_get("withdrawn_at")?,
            })
        })
        .collect()
}

/// Lets every key before `generation` that has no end yet sign until `at` only.
pub async fn retire_before(on: &mut AnyConnection, generation: i64, at: Millis) -> sqlx::Result<()> {
    let sql =
        "UPDATE signing_keys SET retired_at = $2 WHERE generation < $1 AND (retired_at IS NULL OR retired_at > $2)";
    sqlx::query(sql).bind(generation).bind(at).execute(on).await?;
    Ok(())
}

/// Moves the moment from which a key signs.
pub async fn activate(on: &mut AnyConnection, kid: &str, at: Millis) -> sqlx::Result<()> {
    sqlx::query("UPDATE signing_keys SET active_from = $2 WHERE kid = $1").bind(kid).bind(at).execute(on).await?;
    Ok(())
}

/// Withdraws a key; `false` when there is none that was not withdrawn.
pub async fn withdraw(on: &mut AnyConnection, kid: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE signing_keys SET withdrawn_at = $2 WHERE kid = $1 AND withdrawn_at IS NULL")
        .bind(kid)
        .bind(now)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes a retirement back that was to come at `at` for the sake of a successor that will not sign.
pub async fn go_on_after(on: &mut AnyConnection, at: Millis) -> sqlx::Result<()> {
    sqlx::query("UPDATE signing_keys SET retired_at = NULL WHERE retired_at = $1").bind(at).execute(on).await?;
    Ok(())
}

/// Drops at most `limit` keys that ended (retired or withdrawn) by `before`; the newest stays, whatever it is, so that
/// no generation comes twice. Returns how many went.
pub async fn sweep(on: &mut AnyConnection, before: Millis, limit: i64) -> sqlx::Result<u64> {
    let done = sqlx::query(
        "DELETE FROM signing_keys WHERE kid IN (
             SELECT kid FROM signing_keys
             WHERE (retired_at <= $1 OR withdrawn_at <= $1)
               AND generation < (SELECT MAX(generation) FROM signing_keys)
             LIMIT $2)",
    )
    .bind(before)
    .bind(limit)
    .execute(on)
    .await?;
    Ok(done.rows_affected())
}
