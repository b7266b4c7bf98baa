//! Passwords: which are good enough, and whose they are, in the same time for strangers.

pub(super) mod breached;
mod hashing;
mod rules;

pub(super) use self::hashing::Hashing;
use self::rules::MAX_BYTES;
use super::Identity;
use crate::base::id::Id;
use crate::base::secret::{Secret, hmac_hex};
use crate::model::error::{Error, Result};
use crate::model::user::{User, normal_email};
use crate::store::users;

/// A hash of the same cost that no password has: what a log-in of a stranger is compared with.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZHJhZ29tYW4tbm9ib2R5$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Whom an address stands for, before anything is proven: perhaps nobody. Looks the same from outside either way.
#[derive(Clone, Debug)]
pub struct Candidate {
    user: Option<User>,
    /// What a password is compared with.
    hash: String,
    /// Changes with the person's password; of nobody it is a constant.
    stamp: String,
}

impl Candidate {
    /// For the record only: nothing that the outside sees may depend on it.
    pub fn principal(&self) -> Option<String> {
        self.user.as_ref().map(|user| format!("user:{}", user.id))
    }

    /// What a session, and a browser's proof of earlier log-ins, are bound to.
    pub fn stamp(&self) -> &str {
        &self.stamp
    }
}

impl Identity {
    /// Whom this address stands for at a log-in. Who is suspended, has no password, or is not there is nobody; all
    /// paths do the same work.
    pub async fn candidate(&self, email: &str) -> Result<Candidate> {
        // An address that cannot be one is looked up all the same.
        let email = normal_email(email).unwrap_or_default();
        let found = users::with_password(self.0.db.pool(), &email).await?.filter(|(_, hash)| !hash.is_empty());
        let (user, hash) = match found {
            Some((user, hash)) => (Some(user), hash),
            None => (None, NOBODY.to_owned()),
        };
        let stamp = self.stamp(user.as_ref(), &hash);
        Ok(Candidate { user, hash, stamp })
    }

    pub(super) fn stamp(&self, user: Option<&User>, hash: &str) -> String {
        let id = user.map_or_else(String::new, |user| user.id.to_string());
        hmac_hex(&self.0.browser_key, format!("{id}:{hash}").as_bytes())
    }

    /// A person who may be signed in now, and the [`Candidate::stamp`] of their password.
    pub async fn active_user(&self, id: Id<User>) -> Result<Option<(User, String)>> {
        let found = users::active(self.0.db.pool(), id).await?;
        Ok(found.map(|(user, hash)| {
            let stamp = self.stamp(Some(&user), &hash);
            (user, stamp)
        }))
    }

    /// The person, when this is their password. A stranger takes the same time as a wrong password.
    ///
    /// # Errors
    /// `service_unavailable` when too many log-ins wait.
    pub async fn prove(&self, candidate: Candidate, password: &Secret) -> Result<Option<User>> {
        // A password that no account can have is a wrong password (B21: one answer for all of them).
        if password.expose().len() > MAX_BYTES {
            return Ok(None);
        }
        let right = self.0.hashing.verify(rules::normal(password), candidate.hash).await?;
        Ok(candidate.user.filter(|_| right))
    }

    /// The person with this address and password.
    ///
    /// # Errors
    /// `service_unavailable` when too many log-ins wait.
    pub async fn log_in(&self, email: &str, password: &Secret) -> Result<Option<User>> {
        self.prove(self.candidate(email).await?, password).await
    }

    /// The hash of a new password for the person with this address.
    ///
    /// # Errors
    /// `invalid_argument` with the reason why it is not good enough.
    pub(super) async fn hash_new(&self, email: &str, password: &Secret) -> Result<String> {
        if password.expose().len() > MAX_BYTES {
            return rules::check(email, password).map(|()| String::new());
        }
        let password = rules::normal(password);
        rules::check(email, &password)?;
        if let Some(breached) = self.0.breached.clone() {
            let password = password.clone();
            let known = tokio::task::spawn_blocking(move || breached.has(password.expose())).await;
            if known.map_err(Error::internal)?.map_err(Error::internal)? {
                return Err(rules::breached());
            }
        }
        self.0.hashing.hash(password).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_stranger_hash_is_of_the_same_cost_and_matches_nothing() {
        let hashing = Hashing::new();
        let somebodys = hashing.hash(Secret::new("correct horse")).await.unwrap();
        let cost = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(cost(NOBODY), cost(&somebodys));
        assert_eq!(NOBODY.len(), NOBODY.rsplit_once('$').unwrap().0.len() + 1 + 43, "32 bytes");
        assert!(!hashing.verify(Secret::new(""), NOBODY.into()).await.unwrap());
    }
}
