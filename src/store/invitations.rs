//! Invitations into a workspace. Of the link only a digest is kept.

use sqlx::any::{AnyExecutor, AnyRow};
use sqlx::{AnyConnection, Row as _};

use super::text_id;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::org::Org;
use crate::model::user::User;

/// An invitation as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationRow {
    pub org: Id<Org>,
    pub id: Id<InvitationRow>,
    /// In its stored form.
    pub email: String,
    pub role: Role,
    pub digest: String,
    /// The admin's id, or `local` for the operator.
    pub invited_by: String,
    pub created_at: Millis,
    pub expires_at: Millis,
}

/// Adds an open invitation.
pub async fn insert(on: &mut AnyConnection, invitation: &InvitationRow) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO invitations (org_id, id, email, role, digest, invited_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(invitation.org.to_string())
    .bind(invitation.id.to_string())
    .bind(invitation.email.as_str())
    .bind(invitation.role.name())
    .bind(invitation.digest.as_str())
    .bind(invitation.invited_by.as_str())
    .bind(invitation.created_at)
    .bind(invitation.expires_at)
    .execute(on)
    .await?;
    Ok(())
}

/// A workspace's open invitations, newest first.
pub async fn open(on: impl AnyExecutor<'_>, org: Id<Org>, now: Millis) -> sqlx::Result<Vec<InvitationRow>> {
    let rows = sqlx::query(
        "SELECT org_id, id, email, role, digest, invited_by, created_at, expires_at FROM invitations
         WHERE org_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2
         ORDER BY created_at DESC, id DESC",
    )
    .bind(org.to_string())
    .bind(now)
    .fetch_all(on)
    .await?;
    rows.iter().map(read).collect()
}

/// The open invitation of a link: the one look-up that precedes the tenant, which the link itself names.
pub async fn by_digest(on: impl AnyExecutor<'_>, digest: &str, now: Millis) -> sqlx::Result<Option<InvitationRow>> {
    let row = sqlx::query(
        "SELECT org_id, id, email, role, digest, invited_by, created_at, expires_at FROM invitations
         WHERE digest = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2",
    )
    .bind(digest)
    .bind(now)
    .fetch_optional(on)
    .await?;
    row.as_ref().map(read).transpose()
}

/// Uses an open invitation up: of two that try at once, one succeeds.
pub async fn accept(on: &mut AnyConnection, org: Id<Org>, id: Id<InvitationRow>, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE invitations SET accepted_at = $3
         WHERE org_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $3",
    )
    .bind(org.to_string())
    .bind(id.to_string())
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes an open invitation back; `false` when the workspace has none with this id.
pub async fn revoke(on: &mut AnyConnection, org: Id<Org>, id: Id<InvitationRow>, now: Millis) -> sqlx::Result<bool> {
    let done = sqlx::query(
        "UPDATE invitations SET revoked_at = $3
         WHERE org_id = $1 AND id = $2 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $3",
    )
    .bind(org.to_string())
    .bind(id.to_string())
    .bind(now)
    .execute(on)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes back what is open for an address.
pub async fn revoke_for(on: &mut AnyConnection, org: Id<Org>, email: &str, now: Millis) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE invitations SET revoked_at = $3
         WHERE org_id = $1 AND email = $2 AND accepted_at IS NULL AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(email)
    .bind(now)
    .execute(on)
    .await?;
    Ok(())
}

/// Removes every invitation of an address, whatever became of it.
pub async fn delete_for(on: &mut AnyConnection, email: &str) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM invitations WHERE email = $1").bind(email).execute(on).await?;
    Ok(())
}

/// Takes back what a person has sent: one who may not invite any more must not come back through a link of their own.
pub async fn revoke_by(on: &mut AnyConnection, org: Id<Org>, by: Id<User>, now: Millis) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE invitations SET revoked_at = $3
         WHERE org_id = $1 AND invited_by = $2 AND accepted_at IS NULL AND revoked_at IS NULL",
    )
    .bind(org.to_string())
    .bind(by.to_string())
    .bind(now)
    .execute(on)
    .await?;
    Ok(())
}

fn read(row: &AnyRow) -> sqlx::Result<InvitationRow> {
    let role = row.try_get::<String, _>("role")?.parse();
    Ok(InvitationRow {
        org: text_id(row, "org_id")?,
        id: text_id(row, "id")?,
        email: row.try_get("email")?,
        role: role.map_err(|problem: String| sqlx::Error::Decode(problem.into()))?,
        digest: row.try_get("digest")?,
        invited_by: row.try_get("invited_by")?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
    })
}
