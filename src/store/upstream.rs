//! Who people are at other providers, by issuer and subject; and what decides whether a stranger may have an account.

use sqlx::any::AnyExecutor;
use sqlx::{AnyConnection, Row as _};

use super::{text_id, users};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::user::User;

/// A person's identity at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamIdentity {
    pub issuer: String,
    pub subject: String,
    pub user: Id<User>,
    /// The verified address at the time of linking; may be empty. For people to look at, never to find anybody by.
    pub email: String,
    pub created_at: Millis,
    pub last_used_at: Millis,
}

/// Adds an identity; `false` when it is somebody's already.
pub async fn insert(on: &mut AnyConnection, identity: &UpstreamIdentity) -> sqlx::Result<bool> {
    let sql = "INSERT INTO upstream_identities (issuer, subject, user_id, email, created_at, last_used_at) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (issuer, subject) DO NOTHING";
    let done = sqlx::query(sql)
        .bind(&identity.issuer)
        .bind(&identity.subject)
        .bind(identity.user.to_string())
        .bind(&identity.email)
        .bind(identity.created_at)
        .bind(identity.last_used_at)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Whose identity it is, and whether that person is suspended.
pub async fn find(on: impl AnyExecutor<'_>, issuer: &str, subject: &str) -> sqlx::Result<Option<(User, bool)>> {
    let sql = "SELECT u.id, u.email, u.name, u.created_at, u.suspended_at FROM upstream_identities i \
               JOIN users u ON u.id = i.user_id WHERE i.issuer = $1 AND i.subject = $2";
    let row = sqlx::query(sql).bind(issuer).bind(subject).fetch_optional(on).await?;
    row.map(|row| Ok((users::read(&row)?, row.try_get::<Option<i64>, _>("suspended_at")?.is_some()))).transpose()
}

/// Notes that somebody signed in with it.
pub async fn touch(on: &mut AnyConnection, issuer: &str, subject: &str, now: Millis) -> sqlx::Result<()> {
    let sql = "UPDATE upstream_identities SET last_used_at = $3 WHERE issuer = $1 AND subject = $2";
    sqlx::query(sql).bind(issuer).bind(subject).bind(now).execute(on).await?;
    Ok(())
}

/// A person's identities, oldest first.
pub async fn of_user(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Vec<UpstreamIdentity>> {
    let sql = "SELECT issuer, subject, user_id, email, created_at, last_used_at FROM upstream_identities \
               WHERE user_id = $1 ORDER BY created_at, issuer, subject";
    let rows = sqlx::query(sql).bind(user.to_string()).fetch_all(on).await?;
    rows.iter()
        .map(|row| {
            Ok(UpstreamIdentity {
                issuer: row.try_get("issuer")?,
                subject: row.try_get("subject")?,
                user: text_id(row, "user_id")?,
                email: row.try_get("email")?,
                created_at: row.try_get("created_at")?,
                last_used_at: row.try_get("last_used_at")?,
            })
        })
        .collect()
}

/// Takes an identity from its person; `false` when it is not theirs.
pub async fn delete(on: &mut AnyConnection, user: Id<User>, issuer: &str, subject: &str) -> sqlx::Result<bool> {
    let sql = "DELETE FROM upstream_identities WHERE user_id = $1 AND issuer = $2 AND subject = $3";
    let done = sqlx::query(sql).bind(user.to_string()).bind(issuer).bind(subject).execute(on).await?;
    Ok(done.rows_affected() == 1)
}

/// Takes every identity from a person; returns how many those were.
pub async fn delete_of_user(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<u64> {
    let sql = "DELETE FROM upstream_identities WHERE user_id = $1";
    Ok(sqlx::query(sql).bind(user.to_string()).execute(on).await?.rows_affected())
}

/// Makes others who change how this person signs in wait until the transaction ends.
pub async fn lock(on: &mut AnyConnection, user: Id<User>) -> sqlx::Result<()> {
    sqlx::query("UPDATE users SET name = name WHERE id = $1").bind(user.to_string()).execute(on).await?;
    Ok(())
}

/// Ways to sign in that are not at another provider: the password, and passkeys.
pub async fn own_ways(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<i64> {
    let sql = "SELECT (SELECT COUNT(*) FROM users WHERE id = $1 AND password_hash <> '') \
               + (SELECT COUNT(*) FROM passkeys WHERE user_id = $1)";
    sqlx::query_scalar(sql).bind(user.to_string()).fetch_one(on).await
}

/// Whether a workspace waits for whoever has this address.
pub async fn is_invited(on: impl AnyExecutor<'_>, email: &str, now: Millis) -> sqlx::Result<bool> {
    let sql = "SELECT COUNT(*) FROM invitations i JOIN orgs o ON o.id = i.org_id \
               WHERE i.email = $1 AND i.accepted_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > $2 \
               AND o.suspended_at IS NULL";
    Ok(sqlx::query_scalar::<_, i64>(sql).bind(email).bind(now).fetch_one(on).await? > 0)
}

/// The e-mail domains of each workspace that lists some, as JSON.
pub async fn email_domains(on: impl AnyExecutor<'_>) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("SELECT email_domains FROM orgs WHERE email_domains <> '[]' AND suspended_at IS NULL")
        .fetch_all(on)
        .await
}
