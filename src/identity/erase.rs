//! The end of a person: what is theirs goes, and a row without a name or an address stays, to which what they made in a
//! workspace points.

use super::Identity;
use super::members::no_such_person;
use super::roles::lock;
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::error::{Error, Result};
use crate::model::user::User;
use crate::store::{factors, invitations, links, members, orgs, pending, sessions, upstream, users};

impl Identity {
    /// Erases a person for good: address, name, password, second factors, passkeys, sign-ins at other providers and
    /// memberships, with all grants, browser sessions, what waits in them, links and invitations. What they made in a
    /// workspace stays the workspace's, and the record what it is.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such person; `forbidden` (`last_admin`), with nothing changed, for the last
    /// admin of a workspace.
    pub async fn erase_person(&self, user: Id<User>) -> Result<()> {
        let now = self.0.clock.now();
        let mut tx = self.0.db.begin().await?;
        upstream::lock(&mut tx, user).await?;
        let email = users::by_id(&mut *tx, user).await?.ok_or_else(no_such_person)?.email;
        let mut alone = Vec::new();
        for org in members::orgs_of_user(&mut *tx, user).await? {
            lock(&mut tx, org).await?;
            let role = members::kept_role(&mut *tx, org, user).await?;
            if role == Some(Role::Admin) && members::other_admins(&mut *tx, org, user).await? == 0 {
                alone.extend(orgs::by_id(&mut *tx, org).await?.map(|org| org.slug));
            }
            self.part(&mut tx, org, user).await?;
        }
        if !alone.is_empty() {
            let message =
                format!("{email} is the last admin of: {}. Make somebody else an admin there first.", alone.join(", "));
            return Err(Error::forbidden("last_admin", message));
        }
        upstream::delete_of_user(&mut tx, user).await?;
        factors::delete_of_user(&mut tx, user).await?;
        sessions::delete_of_user(&mut tx, user).await?;
        pending::delete_of_user(&mut tx, user).await?;
        links::end_of_user(&mut tx, user, now).await?;
        invitations::delete_for(&mut tx, &email).await?;
        users::erase(&mut tx, user, now).await?;
        tx.commit().await?;
        if !self.0.db.scrub().await? {
            tracing::warn!("the log of the metadata is in use; deleted rows leave it with its next turn");
        }
        Ok(())
    }
}
