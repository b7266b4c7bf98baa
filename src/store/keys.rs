//! Signing keys; private halves are sealed before they come here.

use sqlx::Row as _;
use sqlx::any::AnyExecutor;

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
}

/// Adds a key; `false` when another node was faster with this generation.
pub async fn insert(on: impl AnyExecutor<'_>, key: &KeyRow) -> sqlx::Result<bool> {
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
        "SELECT kid, generation, sealed, public, created_at, active_from, retired_at FROM signing_keys
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
            })
        })
        .collect()
}
