//! People and workspaces that the operator has locked out.

use std::collections::HashSet;

use sqlx::any::AnyExecutor;
use sqlx::{AnyConnection, Row as _};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::user::User;

/// Locks a person out (`Some`), or lets them in again; `false` when there is no such person.
pub async fn set_person(on: &mut AnyConnection, user: Id<User>, at: Option<Millis>) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE users SET suspended_at = $2 WHERE id = $1")
        .bind(user.to_string())
        .bind(at)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// As [`set_person`], for a workspace with everybody in it; `false` also for one that is being erased.
pub async fn set_org(on: &mut AnyConnection, org: Id<Org>, at: Option<Millis>) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE orgs SET suspended_at = $2 WHERE id = $1 AND erased_at IS NULL")
        .bind(org.to_string())
        .bind(at)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Ids of everybody and everything that is locked out.
pub async fn all(on: impl AnyExecutor<'_>) -> sqlx::Result<HashSet<String>> {
    let sql = "SELECT id FROM users WHERE suspended_at IS NOT NULL
               UNION ALL SELECT id FROM orgs WHERE suspended_at IS NOT NULL";
    ids(on, sql).await
}

/// Ids of the workspaces whose erasure has begun and has not come to its end.
pub async fn erasing(on: impl AnyExecutor<'_>) -> sqlx::Result<HashSet<String>> {
    ids(on, "SELECT id FROM orgs WHERE erased_at IS NOT NULL").await
}

async fn ids(on: impl AnyExecutor<'_>, sql: &'static str) -> sqlx::Result<HashSet<String>> {
    let rows = sqlx::query(sql).fetch_all(on).await?;
    rows.iter().map(|row| row.try_get("id")).collect()
}
