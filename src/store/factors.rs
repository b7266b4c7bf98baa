//! What people prove themselves with besides a password: one-time passwords, recovery codes, passkeys. A code is used
//! up by the statement that finds it unused, so that of two uses at once one fails.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::user::User;

/// A key for one-time passwords as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TotpRow {
    /// In lower-case hex.
    pub sealed: String,
    pub confirmed_at: Option<Millis>,
}

/// A passkey as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyRow {
    /// URL-safe base64; unique over the installation.
    pub credential_id: String,
    pub user: Id<User>,
    pub name: String,
    /// JSON of the public half.
    pub data: String,
    pub created_at: Millis,
    pub last_used_at: Option<Millis>,
}

/// How many of each a person has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Confirmed keys for one-time passwords: none or one.
    pub totp: i64,
    pub passkeys: i64,
    pub recovery_codes: i64,
    /// Of these, the ones that still work.
    pub recovery_codes_left: i64,
}

pub async fn counts(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Counts> {
    let row = sqlx::query(
        "SELECT (SELECT COUNT(*) FROM totp WHERE user_id = $1 AND confirmed_at IS NOT NULL) AS totp,
                (SELECT COUNT(*) FROM passkeys WHERE user_id = $1) AS passkeys,
                (SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1) AS codes,
                (SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL) AS codes_left",
    )
    .bind(user.to_string())
    .fetch_one(on)
    .await?;
    Ok(Counts {
        totp: row.try_get("totp")?,
        passkeys: row.try_get("passkeys")?,
        recovery_codes: row.try_get("codes")?,
        recovery_codes_left: row.try_get("codes_left")?,
    })
}

/// Counts a try in the window that the first try of a minute opens; gives how many it has now, and when it opened.
pub async fn count_try(
    on: &mut AnyConnection,
    user: Id<User>,
    now: Millis,
    window: Millis,
) -> sqlx::Result<(i64, Millis)> {
    let row = sqlx::query(
        "INSERT INTO factor_tries (user_id, started_at, tries) VALUES ($1, $2, 1)
         ON CONFLICT (user_id) DO UPDATE SET
             tries = CASE WHEN factor_tries.started_at <= $3 THEN 1 ELSE factor_tries.tries + 1 END,
             started_at = CASE WHEN factor_tries.started_at <= $3 THEN $2 ELSE factor_tries.started_at END
         RETURNING tries, started_at",
    )
    .bind(user.to_string())
    .bind(now)
    .bind(now - window)
    .fetch_one(on)
    .await?;
    Ok((row.try_get("tries")?, row.try_get("started_at")?))
}

/// Keeps a new key, not yet confirmed; `false` when the person has a confirmed one, which stays.
pub async fn put_totp(on: &mut AnyConnection, user: Id<User>, sealed: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO totp (user_id, sealed, created_at, last_step) VALUES ($1, $2, $3, 0)
         ON CONFLICT (user_id) DO UPDATE SET sealed = $2, created_at = $3, last_step = 0
         WHERE totp.confirmed_at IS NULL",
    )
    .bind(user.to_string())
    .bind(sealed)
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub async fn totp(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Option<TotpRow>> {
    let row = sqlx::query("SELECT sealed, confirmed_at FROM totp WHERE user_id = $1")
        .bind(user.to_string())
        .fetch_optional(on)
        .await?;
    row.map(|row| Ok(TotpRow { sealed: row.try_get("sealed")?, confirmed_at: row.try_get("confirmed_at")? }))
        .transpose()
}

/// Uses up a time step of this very key; `false` when it, or a later one, was used already, or the key is another now.
pub async fn use_totp_step(
    on: &mut AnyConnection,
    user: Id<User>,
    sealed: &str,
    step: i64,
    now: Millis,
) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE totp SET last_step = $3, confirmed_at = COALESCE(confirmed_at, $4)
         WHERE user_id = $1 AND sealed = $2 AND last_step < $3",
    )
    .bind(user.to_string())
    .bind(sealed)
    .bind(step)
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

pub async fn delete_totp(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<bool> {
    let done = sqlx::query("DELETE FROM totp WHERE user_id = $1").bind(user.to_string()).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// Replaces a person's recovery codes.
pub async fn put_recovery_codes(on: &mut AnyConnection, user: Id<User>, digests: &[String]) -> sqlx::Result<()> {
    delete_recovery_codes(&mut *on, user).await?;
    for digest in digests {
        sqlx::query("INSERT INTO recovery_codes (user_id, digest) VALUES ($1, $2)")
            .bind(user.to_string())
            .bind(digest)
            .execute(&mut *on)
            .await?;
    }
    Ok(())
}

/// Uses a code up; `false` when there is no such code, or it was used.
pub async fn use_recovery_code(
    on: &mut AnyConnection,
    user: Id<User>,
    digest: &str,
    now: Millis,
) -> sqlx::Result<bool> {
    let sql = "UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND digest = $2 AND used_at IS NULL";
    let done = sqlx::query(sql).bind(user.to_string()).bind(digest).bind(now).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

pub async fn delete_recovery_codes(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM recovery_codes WHERE user_id = $1").bind(user.to_string()).execute(on).await?;
    Ok(())
}

/// Adds a passkey; `false` when somebody has this credential already.
pub async fn insert_passkey(on: &mut AnyConnection, passkey: &PasskeyRow) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "INSERT INTO passkeys (credential_id, user_id, name, data, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (credential_id) DO NOTHING",
    )
    .bind(passkey.credential_id.as_str())
    .bind(passkey.user.to_string())
    .bind(passkey.name.as_str())
    .bind(passkey.data.as_str())
    .bind(passkey.created_at)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// A person's passkeys, oldest first.
pub async fn passkeys(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Vec<PasskeyRow>> {
    let rows = sqlx::query(
        "SELECT credential_id, user_id, name, data, created_at, last_used_at FROM passkeys WHERE user_id = $1
         ORDER BY created_at, credential_id",
    )
    .bind(user.to_string())
    .fetch_all(on)
    .await?;
    rows.iter().map(read).collect()
}

pub async fn passkey(on: impl AnyExecutor<'_>, credential_id: &str) -> sqlx::Result<Option<PasskeyRow>> {
    let row = sqlx::query(
        "SELECT credential_id, user_id, name, data, created_at, last_used_at FROM passkeys WHERE credential_id = $1",
    )
    .bind(credential_id)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Writes what a use changed (the counter); `false` when another use was faster, or the passkey is gone.
pub async fn passkey_used(on: &mut AnyConnection, before: &PasskeyRow, data: &str, now: Millis) -> sqlx::Result<bool> {
    let sql = "UPDATE passkeys SET data = $3, last_used_at = $4 WHERE credential_id = $1 AND data = $2";
    let query = sqlx::query(sql).bind(before.credential_id.as_str()).bind(before.data.as_str()).bind(data).bind(now);
    Ok(query.execute(on).await?.rows_affected() == 1)
}

pub async fn rename_passkey(
    on: &mut AnyConnection,
    user: Id<User>,
    credential_id: &str,
    name: &str,
) -> sqlx::Result<bool> {
    let sql = "UPDATE passkeys SET name = $3 WHERE user_id = $1 AND credential_id = $2";
    let done = sqlx::query(sql).bind(user.to_string()).bind(credential_id).bind(name).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

pub async fn delete_passkey(on: &mut AnyConnection, user: Id<User>, credential_id: &str) -> sqlx::Result<bool> {
    let sql = "DELETE FROM passkeys WHERE user_id = $1 AND credential_id = $2";
    let done = sqlx::query(sql).bind(user.to_string()).bind(credential_id).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// All that a person proves themselves with besides a password.
pub async fn delete_of_user(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<()> {
    delete_totp(on, user).await?;
    delete_recovery_codes(on, user).await?;
    sqlx::query("DELETE FROM passkeys WHERE user_id = $1").bind(user.to_string()).execute(on).await?;
    Ok(())
}

/// Uses a challenge up; `false` when it was. Those that can no longer be answered are forgotten.
pub async fn use_challenge(
    on: &mut AnyConnection,
    digest: &str,
    expires_at: Millis,
    now: Millis,
) -> sqlx::Result<bool> {
    sqlx::query("DELETE FROM used_challenges WHERE expires_at <= $1").bind(now).execute(&mut *on).await?;
    let sql = "INSERT INTO used_challenges (digest, expires_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
    let done = sqlx::query(sql).bind(digest).bind(expires_at).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

fn read(row: &AnyRow) -> sqlx::Result<PasskeyRow> {
    Ok(PasskeyRow {
        credential_id: row.try_get("credential_id")?,
        user: text_id(row, "user_id")?,
        name: row.try_get("name")?,
        data: row.try_get("data")?,
        created_at: row.try_get("created_at")?,
        last_used_at: row.try_get("last_used_at")?,
    })
}
