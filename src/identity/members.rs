//! Workspaces, people, and who belongs where as what.

use super::Identity;
use crate::base::id::Id;
use crate::base::secret::Secret;
use crate::model::access::Role;
use crate::model::error::{Error, Result};
use crate::model::name;
use crate::model::org::{Org, is_slug};
use crate::model::user::{Membership, User, checked_email, normal_email};
use crate::store::{members, orgs, users};

/// Longest name of a workspace or a person, in characters.
pub(super) const MAX_NAME: usize = 100;

impl Identity {
    /// A new workspace, closed to external clients.
    ///
    /// # Errors
    /// `invalid_argument` for a slug that is malformed or taken, or a name that is empty or too long.
    pub async fn create_org(&self, slug: &str, name: &str) -> Result<Org> {
        if !is_slug(slug) {
            return Err(Error::invalid("slug", "A slug has 2 to 40 of a-z, 0-9 and '-', and no '-' at its ends."));
        }
        let now = self.0.clock.now();
        let org = Org {
            id: Id::new(&self.0.clock),
            slug: slug.to_owned(),
            name: checked_name(name)?,
            connectivity_enabled: false,
            created_at: now,
        };
        if !orgs::insert(&mut *self.0.db.writer().await?, &org).await? {
            return Err(Error::invalid("slug", format!("There is a workspace {slug} already.")));
        }
        Ok(org)
    }

    pub async fn org(&self, id: Id<Org>) -> Result<Option<Org>> {
        Ok(orgs::by_id(self.0.db.pool(), id).await?)
    }

    pub async fn org_by_slug(&self, slug: &str) -> Result<Option<Org>> {
        Ok(orgs::by_slug(self.0.db.pool(), slug).await?)
    }

    /// All workspaces by name.
    pub async fn list_orgs(&self) -> Result<Vec<Org>> {
        Ok(orgs::list(self.0.db.pool()).await?)
    }

    /// Opens or closes a workspace to external clients.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such workspace.
    pub async fn set_connectivity(&self, org: Id<Org>, on: bool) -> Result<()> {
        if orgs::set_connectivity(&mut *self.0.db.writer().await?, org, on).await? {
            Ok(())
        } else {
            Err(no_such_org())
        }
    }

    /// A new person, member of nothing.
    ///
    /// # Errors
    /// `invalid_argument` for an address that is malformed or taken, a bad name or a bad password.
    pub async fn create_user(&self, email: &str, name: &str, password: &Secret) -> Result<User> {
        let email = checked_email(email)?;
        let name = checked_name(name)?;
        let hash = self.hash_new(&email, password).await?;
        let user = User { id: Id::new(&self.0.clock), email, name, created_at: self.0.clock.now() };
        if !users::insert(&mut *self.0.db.writer().await?, &user, &hash).await? {
            return Err(Error::invalid("email", format!("There is a person {} already.", user.email)));
        }
        Ok(user)
    }

    pub async fn user(&self, id: Id<User>) -> Result<Option<User>> {
        Ok(users::by_id(self.0.db.pool(), id).await?)
    }

    pub async fn user_by_email(&self, email: &str) -> Result<Option<User>> {
        let Some(email) = normal_email(email) else { return Ok(None) };
        Ok(users::by_email(self.0.db.pool(), &email).await?)
    }

    /// All people by address.
    pub async fn list_users(&self) -> Result<Vec<User>> {
        Ok(users::list(self.0.db.pool()).await?)
    }

    /// Makes a person a member, or changes what they are. The operator's way: admins have [`Identity::change_role`],
    /// which keeps the workspace's rules.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such workspace or person.
    pub async fn set_role(&self, org: Id<Org>, user: Id<User>, role: Role) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        if orgs::by_id(&mut *tx, org).await?.is_none() {
            return Err(no_such_org());
        }
        if users::by_id(&mut *tx, user).await?.is_none() {
            return Err(no_such_person());
        }
        members::set(&mut tx, org, user, role, self.0.clock.now()).await?;
        Ok(tx.commit().await?)
    }

    /// Ends a membership, and with it every grant that the person gave for this workspace and what is remembered of
    /// their consent: who is taken back later starts anew. The operator's way: admins have [`Identity::expel`].
    ///
    /// # Errors
    /// `invalid_argument` when the person is no member.
    pub async fn remove_member(&self, org: Id<Org>, user: Id<User>) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        if !orgs::lock(&mut tx, org).await? || !self.part(&mut tx, org, user).await? {
            return Err(Error::invalid("user", "This person is not a member of the workspace."));
        }
        Ok(tx.commit().await?)
    }

    /// A person's workspaces by name.
    pub async fn memberships(&self, user: Id<User>) -> Result<Vec<Membership>> {
        Ok(members::of_user(self.0.db.pool(), user).await?)
    }

    /// What a person is in a workspace now.
    pub async fn role(&self, org: Id<Org>, user: Id<User>) -> Result<Option<Role>> {
        Ok(members::role(self.0.db.pool(), org, user).await?)
    }

    /// A workspace's people by address.
    pub async fn members(&self, org: Id<Org>) -> Result<Vec<(User, Role)>> {
        Ok(members::of_org(self.0.db.pool(), org).await?)
    }
}

/// The name of a workspace or a person as it is kept.
pub(super) fn checked_name(name: &str) -> Result<String> {
    name::checked("name", name, MAX_NAME)
}

pub(super) fn no_such_org() -> Error {
    Error::invalid("workspace", "There is no such workspace.")
}

pub(super) fn no_such_person() -> Error {
    Error::invalid("user", "There is no such person.")
}
