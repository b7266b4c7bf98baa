//! What a person changes about themselves: how they are called, and their password.

use super::Identity;
use super::members::{checked_name, no_such_person};
use crate::base::id::Id;
use crate::base::secret::{Secret, same};
use crate::model::error::Result;
use crate::model::user::User;
use crate::store::{links, sessions, users};

impl Identity {
    /// Changes how a person is called.
    ///
    /// # Errors
    /// `invalid_argument` for a bad name or when there is no such person.
    pub async fn set_name(&self, user: Id<User>, name: &str) -> Result<()> {
        let name = checked_name(name)?;
        if users::set_name(&mut *self.0.db.writer().await?, user, &name).await? {
            Ok(())
        } else {
            Err(no_such_person())
        }
    }

    /// Whether a person has a password; who signs in with another provider or a passkey may have none.
    pub async fn has_password(&self, user: Id<User>) -> Result<bool> {
        Ok(users::has_password(self.0.db.pool(), user).await?)
    }

    /// Replaces a person's password, signs them out of every browser, and ends the links that they were sent. Browsers
    /// that they used before are strangers again.
    ///
    /// # Errors
    /// `invalid_argument` for a password that is not good enough, or when there is no such person.
    pub async fn set_password(&self, user: Id<User>, password: &Secret) -> Result<()> {
        let email = self.user(user).await?.ok_or_else(no_such_person)?.email;
        let hash = self.hash_new(&email, password).await?;
        let mut tx = self.0.db.begin().await?;
        if !users::set_password(&mut tx, user, &hash).await? {
            return Err(no_such_person());
        }
        sessions::delete_of_user(&mut tx, user).await?;
        links::end_of_user(&mut tx, user, self.0.clock.now()).await?;
        Ok(tx.commit().await?)
    }

    /// As [`Identity::set_password`], by the person, who has proved the password that `stamp` stands for: they are told
    /// by e-mail. Returns the stamp of the new one; `None`, with nothing changed, when another password was set
    /// meanwhile (a reset by its owner must not be undone by who knows the old one).
    ///
    /// # Errors
    /// `invalid_argument` for a password that is not good enough.
    pub async fn change_password(&self, user: &User, stamp: &str, password: &Secret) -> Result<Option<String>> {
        let hash = self.hash_new(&user.email, password).await?;
        let mut tx = self.0.db.begin().await?;
        // Holds the row: of a change and a reset at once, the second sees what the first did.
        let locked = users::lock_active(&mut tx, &user.email).await?;
        let found = users::active(&mut *tx, user.id).await?.filter(|_| locked.is_some());
        let Some((now, before)) = found else { return Ok(None) };
        if !same(self.stamp(Some(&now), &before).as_bytes(), stamp.as_bytes()) {
            return Ok(None);
        }
        users::set_password(&mut tx, user.id, &hash).await?;
        sessions::delete_of_user(&mut tx, user.id).await?;
        links::end_of_user(&mut tx, user.id, self.0.clock.now()).await?;
        tx.commit().await?;
        self.mail_password_changed(user);
        Ok(Some(self.stamp(Some(&now), &hash)))
    }
}
