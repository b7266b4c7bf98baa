//! People.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::user::User;

/// Adds a person; `false` when the address is taken.
pub async fn insert(on: &mut AnyConnection, user: &User, password_hash: &str) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO users (id, email, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (email) DO NOTHING",
    )
    .bind(user.id.to_string())
    .bind(user.email.as_str())
    .bind(user.name.as_str())
    .bind(password_hash)
    .bind(user.created_at)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub async fn by_id(on: impl AnyExecutor<'_>, id: Id<User>) -> sqlx::Result<Option<User>> {
    let row = sqlx::query("SELECT id, email, name, created_at FROM users WHERE id = $1")
        .bind(id.to_string())
        .fetch_optional(on)
        .await?;
    row.as_ref().map(read).transpose()
}

/// By an address in its stored form.
pub async fn by_email(on: impl AnyExecutor<'_>, email: &str) -> sqlx::Result<Option<User>> {
    let row = sqlx::query("SELECT id, email, name, created_at FROM users WHERE email = $1")
        .bind(email)
        .fetch_optional(on)
        .await?;
    row.as_ref().map(read).transpose()
}

/// A person who is not suspended, with the hash of their password (empty when there is none), for a log-in.
pub async fn with_password(on: impl AnyExecutor<'_>, email: &str) -> sqlx::Result<Option<(User, String)>> {
    let sql = "SELECT id, email, name, created_at, password_hash FROM users \
               WHERE email = $1 AND suspended_at IS NULL";
    let row = sqlx::query(sql).bind(email).fetch_optional(on).await?;
    row.as_ref().map(|row| Ok((read(row)?, row.try_get("password_hash")?))).transpose()
}

/// By an address in its stored form, unless suspended; holds the row until the transaction ends.
pub async fn lock_active(on: &mut AnyConnection, email: &str) -> sqlx::Result<Option<User>> {
    // An update that changes nothing locks the row on both engines.
    let sql = "UPDATE users SET email = email WHERE email = $1 AND suspended_at IS NULL \
               RETURNING id, email, name, created_at";
    let row = sqlx::query(sql).bind(email).fetch_optional(on).await?;
    row.as_ref().map(read).transpose()
}

/// A person who is not suspended, with the hash of their password (empty when there is none).
pub async fn active(on: impl AnyExecutor<'_>, id: Id<User>) -> sqlx::Result<Option<(User, String)>> {
    let sql = "SELECT id, email, name, created_at, password_hash FROM users WHERE id = $1 AND suspended_at IS NULL";
    let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(on).await?;
    row.as_ref().map(|row| Ok((read(row)?, row.try_get("password_hash")?))).transpose()
}

/// All people by address, without those who were erased.
pub async fn list(on: impl AnyExecutor<'_>) -> sqlx::Result<Vec<User>> {
    let sql = "SELECT id, email, name, created_at FROM users WHERE email <> id ORDER BY email";
    let rows = sqlx::query(sql).fetch_all(on).await?;
    rows.iter().map(read).collect()
}

/// Leaves nothing of a person but the id, which stands in the place of an address and can be none, and locks it out.
pub async fn erase(on: &mut AnyConnection, id: Id<User>, now: Millis) -> sqlx::Result<()> {
    let sql = "UPDATE users SET email = id, name = 'Somebody who has left', password_hash = '', settings = '{}', \
               suspended_at = $2 WHERE id = $1";
    sqlx::query(sql).bind(id.to_string()).bind(now).execute(on).await?;
    Ok(())
}

/// Replaces the hash; `false` when there is no such person.
pub async fn set_password(on: &mut AnyConnection, id: Id<User>, password_hash: &str) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE users SET password_hash = $2 WHERE id = $1")
        .bind(id.to_string())
        .bind(password_hash)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Changes how the person is called; `false` when there is no such person.
pub async fn set_name(on: &mut AnyConnection, id: Id<User>, name: &str) -> sqlx::Result<bool> {
    let done =
        sqlx::query("UPDATE users SET name = $2 WHERE id = $1").bind(id.to_string()).bind(name).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// What the person set for themselves, as JSON; `None` when there is no such person.
pub async fn settings(on: impl AnyExecutor<'_>, id: Id<User>) -> sqlx::Result<Option<String>> {
    let row = sqlx::query("SELECT settings FROM users WHERE id = $1").bind(id.to_string()).fetch_optional(on).await?;
    row.map(|row| row.try_get("settings")).transpose()
}

/// Replaces what was `before`; `false` when somebody else has replaced it meanwhile, or there is no such person.
pub async fn set_settings(on: &mut AnyConnection, id: Id<User>, before: &str, settings: &str) -> sqlx::Result<bool> {
    let query = sqlx::query("UPDATE users SET settings = $3 WHERE id = $1 AND settings = $2");
    Ok(query.bind(id.to_string()).bind(before).bind(settings).execute(on).await?.rows_affected() == 1)
}

/// Whether the person has a password.
pub async fn has_password(on: impl AnyExecutor<'_>, id: Id<User>) -> sqlx::Result<bool> {
    let row = sqlx::query("SELECT id FROM users WHERE id = $1 AND password_hash <> ''")
        .bind(id.to_string())
        .fetch_optional(on)
        .await?;
    Ok(row.is_some())
}

/// A person from the columns `id, email, name, created_at`.
pub(super) fn read(row: &AnyRow) -> sqlx::Result<User> {
    Ok(User {
        id: text_id(row, "id")?,
        email: row.try_get("email")?,
        name: row.try_get("name")?,
        created_at: row.try_get("created_at")?,
    })
}
