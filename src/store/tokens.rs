//! Connectivity tokens; of the secret only a keyed digest is kept.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::tenant::Scoped;
use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;

/// A connectivity token as stored. Scopes are their names with spaces between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub org: Id<Org>,
    /// The eight public characters.
    pub id: String,
    pub label: String,
    pub scopes: String,
    pub digest: String,
    pub last_four: String,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub revoked_at: Option<Millis>,
    pub last_used_at: Option<Millis>,
    pub use_count: i64,
}

/// Adds a token; `false` when its public id is taken.
pub async fn insert(on: &mut Scoped, token: &TokenRow) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO connectivity_tokens
         (org_id, id, label, scopes, digest, last_four, created_at, expires_at, revoked_at, last_used_at, use_count)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING",
    )
    .bind(token.org.to_string())
    .bind(token.id.as_str())
    .bind(token.label.as_str())
    .bind(token.scopes.as_str())
    .bind(token.digest.as_str())
    .bind(token.last_four.as_str())
    .bind(token.created_at)
    .bind(token.expires_at)
    .bind(token.revoked_at)
    .bind(token.last_used_at)
    .bind(token.use_count)
    .execute(&mut **on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// How many tokens of a workspace are neither revoked nor expired.
pub async fn count_active(on: &mut Scoped, org: Id<Org>, now: Millis) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT COUNT(*) FROM connectivity_tokens
         WHERE org_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)",
    )
    .bind(org.to_string())
    .bind(now)
    .fetch_one(&mut **on)
    .await
}

/// By public id alone: the one look-up that precedes the tenant, which the token itself names.
pub async fn by_public_id(on: &mut Scoped, id: &str) -> sqlx::Result<Option<TokenRow>> {
    let row = sqlx::query(
        "SELECT org_id, id, label, scopes, digest, last_four, created_at, expires_at, revoked_at, last_used_at,
                use_count
         FROM connectivity_tokens WHERE id = $1",
    )
    .bind(id)
    .fetch_optional(&mut **on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// A workspace's tokens, newest first.
pub async fn list(on: &mut Scoped, org: Id<Org>) -> sqlx::Result<Vec<TokenRow>> {
    let rows = sqlx::query(
        "SELECT org_id, id, label, scopes, digest, last_four, created_at, expires_at, revoked_at, last_used_at,
                use_count
         FROM connectivity_tokens WHERE org_id = $1 ORDER BY created_at DESC, id",
    )
    .bind(org.to_string())
    .fetch_all(&mut **on)
    .await?;
    rows.iter().map(read).collect()
}

/// Counts a use; `false` when the token was revoked in the meantime.
pub async fn count_use(on: &mut Scoped, org: Id<Org>, id: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE connectivity_tokens SET last_used_at = $3, use_count = use_count + 1
         WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(now)
    .execute(&mut **on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Revokes a token; `false` when there is none that was still in force.
pub async fn revoke(on: &mut Scoped, org: Id<Org>, id: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE connectivity_tokens SET revoked_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(now)
    .execute(&mut **on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Removes a token.
pub async fn remove(on: &mut Scoped, org: Id<Org>, id: &str) -> sqlx::Result<()> {
    let sql = "DELETE FROM connectivity_tokens WHERE org_id = $1 AND id = $2";
    sqlx::query(sql).bind(org.to_string()).bind(id).execute(&mut **on).await?;
    Ok(())
}

fn read(row: &AnyRow) -> sqlx::Result<TokenRow> {
    Ok(TokenRow {
        org: text_id(row, "org_id")?,
        id: row.try_get("id")?,
        label: row.try_get("label")?,
        scopes: row.try_get("scopes")?,
        digest: row.try_get("digest")?,
        last_four: row.try_get("last_four")?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        revoked_at: row.try_get("revoked_at")?,
        last_used_at: row.try_get("last_used_at")?,
        use_count: row.try_get("use_count")?,
    })
}
