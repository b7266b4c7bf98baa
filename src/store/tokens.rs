//! Connectivity tokens; of the secret only a keyed digest is kept.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::freshness::Stamp;
use super::tenant::Scoped;
use super::{orgs, text_id};
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
    /// The public id of the token that was made in its place; it counts no more among those in force, and ends soon.
    pub replaced_by: Option<String>,
}

/// Uses of a token, and when the last of them was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub org: Id<Org>,
    /// The eight public characters.
    pub token: String,
    pub count: i64,
    pub last: Millis,
}

/// Adds a token; `false` when its public id is taken.
pub async fn insert(on: &mut Scoped, token: &TokenRow) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO connectivity_tokens
         (org_id, id, label, scopes, digest, last_four, created_at, expires_at, revoked_at, last_used_at, use_count,
          replaced_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING",
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
    .bind(token.replaced_by.as_deref())
    .execute(&mut **on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// How many tokens of a workspace are neither revoked nor expired: those that were replaced, or the others.
pub async fn count_active(on: &mut Scoped, org: Id<Org>, replaced: bool, now: Millis) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT COUNT(*) FROM connectivity_tokens
         WHERE org_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
           AND (CASE WHEN replaced_by IS NULL THEN 0 ELSE 1 END) = $3",
    )
    .bind(org.to_string())
    .bind(now)
    .bind(i64::from(replaced))
    .fetch_one(&mut **on)
    .await
}

/// A token, with its workspace unless the operator has suspended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub token: TokenRow,
    pub org: Option<Org>,
}

/// By public id alone: the one look-up that precedes the tenant, which the token itself names.
pub async fn by_public_id(on: &mut Scoped, id: &str) -> sqlx::Result<Option<(Option<Stamp>, Found)>> {
    let row = sqlx::query(
        "SELECT t.org_id AS org_id, t.id AS id, t.label AS label, t.scopes AS scopes, t.digest AS digest,
                t.last_four AS last_four, t.created_at AS created_at, t.expires_at AS expires_at,
                t.revoked_at AS revoked_at, t.last_used_at AS last_used_at, t.use_count AS use_count,
                t.replaced_by AS replaced_by,
                o.slug AS org_slug, o.name AS org_name, o.connectivity_enabled AS org_on, o.created_at AS org_at,
                f.generation AS generation
         FROM connectivity_tokens t LEFT JOIN orgs o ON o.id = t.org_id AND o.suspended_at IS NULL
         LEFT JOIN freshness f ON f.org_id = t.org_id
         WHERE t.id = $1",
    )
    .bind(id)
    .fetch_optional(&mut **on)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let token = read(&row)?;
    let is_there = row.try_get::<Option<String>, _>("org_slug")?.is_some();
    let org = is_there.then(|| orgs::joined(&row, token.org)).transpose()?;
    Ok(Some((Stamp::of(&row, token.org)?, Found { token, org })))
}

/// A workspace's tokens, newest first.
pub async fn list(on: &mut Scoped, org: Id<Org>) -> sqlx::Result<Vec<TokenRow>> {
    let rows = sqlx::query(
        "SELECT org_id, id, label, scopes, digest, last_four, created_at, expires_at, revoked_at, last_used_at,
                use_count, replaced_by
         FROM connectivity_tokens WHERE org_id = $1 ORDER BY created_at DESC, id",
    )
    .bind(org.to_string())
    .fetch_all(&mut **on)
    .await?;
    rows.iter().map(read).collect()
}

const ADD_USES: &str = "UPDATE connectivity_tokens SET use_count = use_count + $3,
                last_used_at = CASE WHEN last_used_at > $4 THEN last_used_at ELSE $4 END
         WHERE org_id = $1 AND id = $2";

/// Adds uses to those of a token.
pub async fn add_uses(on: &mut Scoped, uses: &Use) -> sqlx::Result<()> {
    sqlx::query(ADD_USES)
        .bind(uses.org.to_string())
        .bind(uses.token.as_str())
        .bind(uses.count)
        .bind(uses.last)
        .execute(&mut **on)
        .await?;
    Ok(())
}

/// As [`add_uses`], in SQLite called by hand.
pub(super) fn add_uses_directly(on: &rusqlite::Transaction<'_>, uses: &Use) -> rusqlite::Result<()> {
    let places = rusqlite::named_params! {
        "$1": uses.org.to_string(), "$2": uses.token, "$3": uses.count, "$4": uses.last,
    };
    on.prepare_cached(ADD_USES)?.execute(places)?;
    Ok(())
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

/// Has a token end when another has taken its place, if it would not sooner; `false` when there is none in force that was
/// not replaced before.
pub async fn replace(
    on: &mut Scoped,
    org: Id<Org>,
    id: &str,
    by: &str,
    ends_at: Millis,
    now: Millis,
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE connectivity_tokens
         SET replaced_by = $3, expires_at = CASE WHEN expires_at < $4 THEN expires_at ELSE $4 END
         WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL AND replaced_by IS NULL
           AND (expires_at IS NULL OR expires_at > $5)",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(by)
    .bind(ends_at)
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
        replaced_by: row.try_get("replaced_by")?,
    })
}
