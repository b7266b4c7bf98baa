//! Grants and their refresh tokens. The row of a grant is the lock of its family: redeeming, rotating and revoking
//! begin by updating it, so that on both engines the second of two waits and then sees what the first did. Whoever ends
//! more of a workspace than one family has locked the workspace before ([`orgs::lock`]), of several in their order: rows
//! are locked as they are found, and two that found them in different orders would wait for each other.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::freshness::Stamp;
use super::{orgs, text_id};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::acr::Acr;
use crate::model::org::Org;
use crate::model::user::User;

/// A grant as stored. Scopes are their names with spaces between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    pub org: Id<Org>,
    pub id: String,
    pub user: Id<User>,
    pub client_id: String,
    pub scopes: String,
    pub resource: String,
    pub redirect_uri: String,
    pub code_digest: String,
    pub code_challenge: String,
    pub code_expires_at: Millis,
    pub auth_time: Millis,
    pub acr: Acr,
    pub created_at: Millis,
    pub redeemed_at: Option<Millis>,
    /// Whatever is issued under the grant ends by then.
    pub ends_at: Millis,
    pub revoked_at: Option<Millis>,
    /// SHA-256 of the id of the browser session that approved.
    pub session_hash: Option<String>,
}

/// A refresh token as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshRow {
    pub digest: String,
    pub grant_id: String,
    /// Counts the tokens of a family from 1.
    pub generation: i64,
    pub issued_at: Millis,
    pub expires_at: Millis,
    pub superseded_at: Option<Millis>,
}

/// Adds an approved grant with its code.
pub async fn insert(on: &mut AnyConnection, grant: &GrantRow) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO grants (org_id, id, user_id, client_id, scopes, resource, redirect_uri, code_digest,
                             code_challenge, code_expires_at, auth_time, created_at, last_used_at, ends_at,
                             session_hash, acr)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15)",
    )
    .bind(grant.org.to_string())
    .bind(grant.id.as_str())
    .bind(grant.user.to_string())
    .bind(grant.client_id.as_str())
    .bind(grant.scopes.as_str())
    .bind(grant.resource.as_str())
    .bind(grant.redirect_uri.as_str())
    .bind(grant.code_digest.as_str())
    .bind(grant.code_challenge.as_str())
    .bind(grant.code_expires_at)
    .bind(grant.auth_time)
    .bind(grant.created_at)
    .bind(grant.ends_at)
    .bind(grant.session_hash.clone())
    .bind(grant.acr.name())
    .execute(on)
    .await?;
    Ok(())
}

/// Locks the grant of a code for its own client; another client's call finds and changes nothing.
pub async fn lock_by_code(
    on: &mut AnyConnection,
    code_digest: &str,
    client_id: &str,
    now: Millis,
) -> sqlx::Result<Option<GrantRow>> {
    let row = sqlx::query(
        "UPDATE grants SET last_used_at = $3 WHERE code_digest = $1 AND client_id = $2
         RETURNING org_id, id, user_id, client_id, scopes, resource, redirect_uri, code_digest, code_challenge,
                   code_expires_at, auth_time, acr, created_at, redeemed_at, ends_at, revoked_at, session_hash",
    )
    .bind(code_digest)
    .bind(client_id)
    .bind(now)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Locks a grant by its id.
pub async fn lock(on: &mut AnyConnection, org: Id<Org>, id: &str, now: Millis) -> sqlx::Result<Option<GrantRow>> {
    let row = sqlx::query(
        "UPDATE grants SET last_used_at = $3 WHERE org_id = $1 AND id = $2
         RETURNING org_id, id, user_id, client_id, scopes, resource, redirect_uri, code_digest, code_challenge,
                   code_expires_at, auth_time, acr, created_at, redeemed_at, ends_at, revoked_at, session_hash",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(now)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Locks the grant of a refresh token for its own client; another client's call finds and changes nothing.
pub async fn lock_by_refresh(
    on: &mut AnyConnection,
    digest: &str,
    client_id: &str,
    now: Millis,
) -> sqlx::Result<Option<GrantRow>> {
    let row = sqlx::query(
        "UPDATE grants SET last_used_at = $3
         WHERE id = (SELECT grant_id FROM refresh_tokens WHERE digest = $1) AND client_id = $2
         RETURNING org_id, id, user_id, client_id, scopes, resource, redirect_uri, code_digest, code_challenge,
                   code_expires_at, auth_time, acr, created_at, redeemed_at, ends_at, revoked_at, session_hash",
    )
    .bind(digest)
    .bind(client_id)
    .bind(now)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Uses the code up; `false` when it already was.
pub async fn mark_redeemed(on: &mut AnyConnection, org: Id<Org>, id: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE grants SET redeemed_at = $3
         WHERE org_id = $1 AND id = $2 AND redeemed_at IS NULL AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Ends a family for ever; the first reason stays.
pub async fn revoke(on: &mut AnyConnection, id: &str, why: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE grants SET revoked_at = $2, revoked_why = $3 WHERE id = $1 AND revoked_at IS NULL")
        .bind(id)
        .bind(now)
        .bind(why)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// A family that has just been ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub org: Id<Org>,
    pub user: Id<User>,
}

/// Ends the family of a living or replaced refresh token for its own client; another client's call changes nothing.
pub async fn revoke_by_refresh(
    on: &mut AnyConnection,
    digest: &str,
    client_id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<Option<Ended>> {
    let row = sqlx::query(
        "UPDATE grants SET revoked_at = $3, revoked_why = $4
         WHERE id = (SELECT grant_id FROM refresh_tokens WHERE digest = $1 AND expires_at > $3)
           AND client_id = $2 AND revoked_at IS NULL
         RETURNING org_id, user_id",
    )
    .bind(digest)
    .bind(client_id)
    .bind(now)
    .bind(why)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(ended).transpose()
}

/// Ends the family that an access token names, for its own client; another client's call changes nothing.
pub async fn revoke_by_access(
    on: &mut AnyConnection,
    org: Id<Org>,
    id: &str,
    client_id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<Option<Ended>> {
    let row = sqlx::query(
        "UPDATE grants SET revoked_at = $4, revoked_why = $5
         WHERE org_id = $1 AND id = $2 AND client_id = $3 AND revoked_at IS NULL
         RETURNING org_id, user_id",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(client_id)
    .bind(now)
    .bind(why)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(ended).transpose()
}

fn ended(row: &AnyRow) -> sqlx::Result<Ended> {
    Ok(Ended { org: text_id(row, "org_id")?, user: text_id(row, "user_id")? })
}

/// Ends every family of a person in a workspace, which is locked.
pub async fn revoke_of_member(
    on: &mut AnyConnection,
    org: Id<Org>,
    user: Id<User>,
    why: &str,
    now: Millis,
) -> sqlx::Result<u64> {
    let done = sqlx::query(
        "UPDATE grants SET revoked_at = $3, revoked_why = $4
         WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(user.to_string())
    .bind(now)
    .bind(why)
    .execute(on)
    .await?;
    Ok(done.rows_affected())
}

/// The workspaces in which a person has families that have not ended, or approvals that are remembered, always in the
/// same order.
pub async fn orgs_of_user(on: impl AnyExecutor<'_>, user: Id<User>) -> sqlx::Result<Vec<Id<Org>>> {
    let sql = "SELECT org_id FROM grants WHERE user_id = $1 AND revoked_at IS NULL
               UNION SELECT org_id FROM consents WHERE user_id = $1 ORDER BY org_id";
    let rows = sqlx::query(sql).bind(user.to_string()).fetch_all(on).await?;
    rows.iter().map(|row| text_id(row, "org_id")).collect()
}

/// Ends every family of a client, workspace after workspace, each of which it locks.
pub async fn revoke_of_client(on: &mut AnyConnection, client_id: &str, why: &str, now: Millis) -> sqlx::Result<()> {
    let sql = "SELECT DISTINCT org_id FROM grants WHERE client_id = $1 AND revoked_at IS NULL ORDER BY org_id";
    for row in sqlx::query(sql).bind(client_id).fetch_all(&mut *on).await? {
        let org = text_id(&row, "org_id")?;
        orgs::lock(on, org).await?;
        sqlx::query(
            "UPDATE grants SET revoked_at = $3, revoked_why = $4
             WHERE org_id = $1 AND client_id = $2 AND revoked_at IS NULL",
        )
        .bind(org.to_string())
        .bind(client_id)
        .bind(now)
        .bind(why)
        .execute(&mut *on)
        .await?;
    }
    Ok(())
}

/// Ends every family that a person gave a client in a workspace, which is locked.
pub async fn revoke_given(
    on: &mut AnyConnection,
    org: Id<Org>,
    user: Id<User>,
    client_id: &str,
    why: &str,
    now: Millis,
) -> sqlx::Result<u64> {
    let done = sqlx::query(
        "UPDATE grants SET revoked_at = $4, revoked_why = $5
         WHERE org_id = $1 AND user_id = $2 AND client_id = $3 AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(user.to_string())
    .bind(client_id)
    .bind(now)
    .bind(why)
    .execute(on)
    .await?;
    Ok(done.rows_affected())
}

/// What a verifier needs to know of a family, as it is now.
#[derive(Clone, Debug)]
pub struct FamilyState {
    pub revoked_at: Option<Millis>,
    /// The client may not be used, here or anywhere.
    pub client_blocked: bool,
    /// `None` for one who is no longer a member.
    pub role: Option<Role>,
    pub org: Org,
    pub user: User,
    /// As the client registered; `None` for one that did not.
    pub client_name: Option<String>,
}

/// The state of a family in one read; `None` unless workspace, family, person and client belong together. Who is
/// suspended, or whose workspace is, counts as no member.
pub async fn state(
    on: impl AnyExecutor<'_>,
    org: Id<Org>,
    id: &str,
    user: Id<User>,
    client_id: &str,
) -> sqlx::Result<Option<(Option<Stamp>, FamilyState)>> {
    let row = sqlx::query(
        "SELECT g.revoked_at AS revoked_at, m.role AS role, c.name AS client_name, f.generation AS generation,
                o.slug AS org_slug, o.name AS org_name, o.connectivity_enabled AS org_on, o.created_at AS org_at,
                u.email AS user_email, u.name AS user_name, u.created_at AS user_at,
                (SELECT COUNT(*) FROM client_blocks b
                 WHERE b.client_id = g.client_id AND b.org_id IN ('-', g.org_id)) AS blocks
         FROM grants g
         JOIN orgs o ON o.id = g.org_id
         JOIN users u ON u.id = g.user_id
         LEFT JOIN memberships m ON m.org_id = g.org_id AND m.user_id = g.user_id
              AND o.suspended_at IS NULL AND u.suspended_at IS NULL
         LEFT JOIN oauth_clients c ON c.id = g.client_id
         LEFT JOIN freshness f ON f.org_id = g.org_id
         WHERE g.org_id = $1 AND g.id = $2 AND g.user_id = $3 AND g.client_id = $4",
    )
    .bind(org.to_string())
    .bind(id)
    .bind(user.to_string())
    .bind(client_id)
    .fetch_optional(on)
    .await?;
    row.map(|row| {
        let role = row.try_get::<Option<String>, _>("role")?.map(|role| role.parse()).transpose();
        let state = FamilyState {
            revoked_at: row.try_get("revoked_at")?,
            client_blocked: row.try_get::<i64, _>("blocks")? > 0,
            role: role.map_err(|problem: String| sqlx::Error::Decode(problem.into()))?,
            org: orgs::joined(&row, org)?,
            user: User {
                id: user,
                email: row.try_get("user_email")?,
                name: row.try_get("user_name")?,
                created_at: row.try_get("user_at")?,
            },
            client_name: row.try_get("client_name")?,
        };
        Ok((Stamp::of(&row, org)?, state))
    })
    .transpose()
}

/// Adds a refresh token.
pub async fn insert_refresh(on: &mut AnyConnection, token: &RefreshRow) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO refresh_tokens (digest, grant_id, generation, issued_at, expires_at)
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(token.digest.as_str())
    .bind(token.grant_id.as_str())
    .bind(token.generation)
    .bind(token.issued_at)
    .bind(token.expires_at)
    .execute(on)
    .await?;
    Ok(())
}

/// A refresh token of a family; read it under the family's lock.
pub async fn refresh(on: &mut AnyConnection, grant_id: &str, digest: &str) -> sqlx::Result<Option<RefreshRow>> {
    let row = sqlx::query(
        "SELECT digest, grant_id, generation, issued_at, expires_at, superseded_at FROM refresh_tokens
         WHERE grant_id = $1 AND digest = $2",
    )
    .bind(grant_id)
    .bind(digest)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read_refresh).transpose()
}

/// A refresh token of a client with its family, as they are; not for use, since nothing is locked. The two
/// tables have no name of a column in common.
pub async fn peek_refresh(
    on: impl AnyExecutor<'_>,
    digest: &str,
    client_id: &str,
) -> sqlx::Result<Option<(GrantRow, RefreshRow)>> {
    let row = sqlx::query(
        "SELECT g.*, r.* FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id
         WHERE r.digest = $1 AND g.client_id = $2",
    )
    .bind(digest)
    .bind(client_id)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(|row| Ok((read(row)?, read_refresh(row)?))).transpose()
}

/// Marks a refresh token as replaced; `false` when it already was.
pub async fn supersede(on: &mut AnyConnection, digest: &str, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query("UPDATE refresh_tokens SET superseded_at = $2 WHERE digest = $1 AND superseded_at IS NULL")
        .bind(digest)
        .bind(now)
        .execute(on)
        .await?;
    Ok(done.rows_affected() == 1)
}

fn read_refresh(row: &AnyRow) -> sqlx::Result<RefreshRow> {
    Ok(RefreshRow {
        digest: row.try_get("digest")?,
        grant_id: row.try_get("grant_id")?,
        generation: row.try_get("generation")?,
        issued_at: row.try_get("issued_at")?,
        expires_at: row.try_get("expires_at")?,
        superseded_at: row.try_get("superseded_at")?,
    })
}

fn read(row: &AnyRow) -> sqlx::Result<GrantRow> {
    Ok(GrantRow {
        org: text_id(row, "org_id")?,
        id: row.try_get("id")?,
        user: text_id(row, "user_id")?,
        client_id: row.try_get("client_id")?,
        scopes: row.try_get("scopes")?,
        resource: row.try_get("resource")?,
        redirect_uri: row.try_get("redirect_uri")?,
        code_digest: row.try_get("code_digest")?,
        code_challenge: row.try_get("code_challenge")?,
        code_expires_at: row.try_get("code_expires_at")?,
        auth_time: row.try_get("auth_time")?,
        acr: Acr::parse(&row.try_get::<String, _>("acr")?)
            .ok_or_else(|| sqlx::Error::Decode("not an acr of ours".into()))?,
        created_at: row.try_get("created_at")?,
        redeemed_at: row.try_get("redeemed_at")?,
        ends_at: row.try_get("ends_at")?,
        revoked_at: row.try_get("revoked_at")?,
        session_hash: row.try_get("session_hash")?,
    })
}
