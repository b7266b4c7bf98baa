//! Who may change who belongs where. Each change is one transaction that first locks the workspace, so that of two at
//! once the second sees what the first did, and checks again that whoever asks still may. So does whatever ends grants or
//! approvals of a workspace; a person's own row, where it is locked, comes before.

use super::Identity;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::members::MemberRow;
use crate::store::{Tx, consents, grants, invitations, members, orgs};

impl Identity {
    /// A workspace's members by address: at most `limit` whose address comes after `after`.
    pub async fn member_page(&self, org: Id<Org>, after: &str, limit: usize) -> Result<Vec<MemberRow>> {
        let limit = i64::try_from(limit).map_err(Error::internal)?;
        Ok(members::page(self.0.db.pool(), org, after, limit).await?)
    }

    /// Changes what a member is. `by` is the admin who does it, `None` for the operator.
    ///
    /// # Errors
    /// `forbidden` for a role above one's own (`role_above_own`), and for the last admin's (`last_admin`); `not_found`
    /// when they are no member.
    pub async fn change_role(&self, org: Id<Org>, by: Option<Id<User>>, user: Id<User>, role: Role) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        let own = role_under_lock(&mut tx, org, by).await?;
        let before = members::kept_role(&mut *tx, org, user).await?.ok_or_else(|| Error::not_found("member"))?;
        if role > own || before > own {
            return Err(Error::forbidden("role_above_own", "You cannot give or change a role above your own."));
        }
        let now = self.0.clock.now();
        if role < Role::Admin {
            keep_an_admin(&mut tx, org, user, before).await?;
            invitations::revoke_by(&mut tx, org, user, now).await?;
        }
        members::set(&mut tx, org, user, role, now).await?;
        Ok(tx.commit().await?)
    }

    /// Ends a membership with every grant that the person gave for this workspace. Everybody may leave; only an admin
    /// may remove others.
    ///
    /// # Errors
    /// As [`Identity::change_role`].
    pub async fn expel(&self, org: Id<Org>, by: Option<Id<User>>, user: Id<User>) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        if by == Some(user) {
            lock(&mut tx, org).await?;
        } else {
            role_under_lock(&mut tx, org, by).await?;
        }
        let role = members::kept_role(&mut *tx, org, user).await?.ok_or_else(|| Error::not_found("member"))?;
        keep_an_admin(&mut tx, org, user, role).await?;
        self.part(&mut tx, org, user).await?;
        Ok(tx.commit().await?)
    }

    /// Ends a membership, its grants, and the invitations that the person sent, in a workspace that is locked.
    pub(super) async fn part(&self, tx: &mut Tx, org: Id<Org>, user: Id<User>) -> Result<bool> {
        let now: Millis = self.0.clock.now();
        let was = members::remove(tx, org, user).await?;
        grants::revoke_of_member(tx, org, user, "member_removed", now).await?;
        invitations::revoke_by(tx, org, user, now).await?;
        consents::forget_of_member(tx, org, user).await?;
        Ok(was)
    }
}

pub(super) async fn lock(tx: &mut Tx, org: Id<Org>) -> Result<()> {
    if orgs::lock(tx, org).await? { Ok(()) } else { Err(Error::not_found("workspace")) }
}

/// Locks the workspace, and says what the one who asks is in it now: between a request's check and this lock, another
/// admin may have removed them.
pub(super) async fn role_under_lock(tx: &mut Tx, org: Id<Org>, by: Option<Id<User>>) -> Result<Role> {
    lock(tx, org).await?;
    let Some(by) = by else { return Ok(Role::Admin) };
    match members::role(&mut **tx, org, by).await? {
        Some(Role::Admin) => Ok(Role::Admin),
        _ => Err(Error::forbidden("not_an_admin", "You are not an admin of this workspace any more.")),
    }
}

/// A workspace without an admin could only be helped by the operator (K09).
async fn keep_an_admin(tx: &mut Tx, org: Id<Org>, user: Id<User>, role: Role) -> Result<()> {
    if role == Role::Admin && members::other_admins(&mut **tx, org, user).await? == 0 {
        let message = "This is the last admin of the workspace. Make somebody else an admin first.";
        return Err(Error::forbidden("last_admin", message));
    }
    Ok(())
}
