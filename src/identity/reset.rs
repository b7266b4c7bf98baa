//! A forgotten password: a link by e-mail that works once. A person who never had a password gets their first one the
//! same way.

use super::Identity;
use crate::base::clock::millis;
use crate::base::secret::{Secret, random_token, sha256_hex};
use crate::model::error::Result;
use crate::model::user::{User, normal_email};
use crate::store::links::{self, LinkRow, RESET};
use crate::store::{sessions, users};

impl Identity {
    /// Sends a link to the person with this address; nothing to a stranger, to who is suspended, and to who was sent one
    /// that still works. Whoever asks must not see the difference. Returns whom it was sent to, for the record.
    pub async fn send_reset_link(&self, email: &str) -> Result<Option<User>> {
        let Some(email) = normal_email(email) else { return Ok(None) };
        let (now, token) = (self.0.clock.now(), random_token(""));
        let life = millis(self.0.config.limits.lifetimes.link);
        let mut tx = self.0.db.begin().await?;
        links::sweep(&mut tx, now, now - life).await?;
        // Two that ask at once take turns at the person's row.
        let Some(user) = users::lock_active(&mut tx, &email).await? else { return Ok(None) };
        if links::sent_since(&mut *tx, RESET, user.id, now - life).await? {
            return Ok(None);
        }
        let digest = sha256_hex(token.expose().as_bytes());
        let expires_at = now.saturating_add(life);
        links::create(&mut tx, &LinkRow { digest: &digest, kind: RESET, user: user.id, created_at: now, expires_at })
            .await?;
        tx.commit().await?;
        self.mail_reset_link(&user, &token);
        Ok(Some(user))
    }

    /// Whether a link would work now. Uses nothing up: programs that look at mails follow links too (B30).
    pub async fn reset_link_works(&self, token: &Secret) -> Result<bool> {
        let digest = sha256_hex(token.expose().as_bytes());
        Ok(links::peek(self.0.db.pool(), RESET, &digest, self.0.clock.now()).await?.is_some())
    }

    /// Sets the password of the link's person, uses the link up, ends their other links, and signs them out of every
    /// browser. `None` when the link does not work, or no longer.
    ///
    /// # Errors
    /// `invalid_argument` for a password that is not good enough; the link works still.
    pub async fn reset_password(&self, token: &Secret, password: &Secret) -> Result<Option<User>> {
        let digest = sha256_hex(token.expose().as_bytes());
        let Some(user) = links::peek(self.0.db.pool(), RESET, &digest, self.0.clock.now()).await? else {
            return Ok(None);
        };
        let Some(user) = self.user(user).await? else { return Ok(None) };
        let hash = self.hash_new(&user.email, password).await?;
        let now = self.0.clock.now();
        let mut tx = self.0.db.begin().await?;
        let active = users::lock_active(&mut tx, &user.email).await?.is_some_and(|active| active.id == user.id);
        if !active || links::take(&mut tx, RESET, &digest, now).await? != Some(user.id) {
            return Ok(None);
        }
        users::set_password(&mut tx, user.id, &hash).await?;
        sessions::delete_of_user(&mut tx, user.id).await?;
        links::end_of_user(&mut tx, user.id, now).await?;
        tx.commit().await?;
        self.mail_password_changed(&user);
        Ok(Some(user))
    }
}
