//! Passwords: argon2id (RFC 9106) off the async runtime, bounded in number, in the same time for strangers.

pub(super) mod breached;
mod rules;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::rules::MAX_BYTES;
use super::Identity;
use crate::base::id::Id;
use crate::base::secret::{Secret, hmac_hex};
use crate::model::error::{Error, Result};
use crate::model::user::{User, normal_email};
use crate::store::users;

/// OWASP's minimum set: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Log-ins that may wait for a turn.
const MAX_WAITING: usize = 64;

/// A hash of the same cost that no password has: what a log-in of a stranger is compared with.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$ZHJhZ29tYW4tbm9ib2R5$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Turns for hashing: as many as there are cores, so that memory is bounded.
pub(super) struct Hashing {
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
}

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Hashing {
    pub(super) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { turns: Arc::new(Semaphore::new(cores)), waiting: AtomicUsize::new(0) }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit> {
        if let Ok(turn) = self.turns.clone().try_acquire_owned() {
            return Ok(turn);
        }
        let _waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            return Err(Error::unavailable("Too many people are logging in at once. Try again in a moment."));
        }
        self.turns.clone().acquire_owned().await.map_err(Error::internal)
    }

    /// The turn moves into the thread: a caller who hangs up must not free it while the work goes on.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let turn = self.turn().await?;
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(turn);
            result
        });
        done.await.map_err(Error::internal)
    }

    /// The PHC string of a password in its normal form, which the rules have passed.
    async fn hash(&self, password: Secret) -> Result<String> {
        let hash = self.run(move || argon2()?.hash_password(password.expose().as_bytes()).map_err(Error::internal));
        Ok(hash.await??.to_string())
    }

    async fn verify(&self, password: Secret, hash: String) -> Result<bool> {
        let verified = self.run(move || {
            let hash = PasswordHash::new(&hash).map_err(Error::internal)?;
            Ok::<bool, Error>(argon2()?.verify_password(password.expose().as_bytes(), &hash).is_ok())
        });
        verified.await?
    }
}

fn argon2() -> Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(Error::internal)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

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
    use crate::model::error::Code;

    #[tokio::test]
    async fn a_hash_verifies_its_password_only() {
        let hashing = Hashing::new();
        let password = Secret::new("correct horse");
        let hash = hashing.hash(password.clone()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, hashing.hash(password.clone()).await.unwrap(), "each hash has its own salt");
        assert!(hashing.verify(password, hash.clone()).await.unwrap());
        assert!(!hashing.verify(Secret::new("correct horsf"), hash).await.unwrap());
    }

    #[tokio::test]
    async fn the_stranger_hash_is_of_the_same_cost_and_matches_nothing() {
        let parsed = PasswordHash::new(NOBODY).unwrap();
        let params = Params::try_from(&parsed).unwrap();
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (MEMORY_KIB, PASSES, LANES));
        assert!(!Hashing::new().verify(Secret::new(""), NOBODY.into()).await.unwrap());
    }

    #[tokio::test]
    async fn b26_more_than_the_queue_holds_is_refused_at_once() {
        let hashing = Hashing { turns: Arc::new(Semaphore::new(0)), waiting: AtomicUsize::new(MAX_WAITING - 1) };
        let last = hashing.turn();
        tokio::pin!(last);
        assert!(futures_util::poll!(&mut last).is_pending(), "the queue has one place left");
        assert_eq!(hashing.turn().await.unwrap_err().code, Code::ServiceUnavailable);
        hashing.turns.add_permits(1);
        assert!(last.await.is_ok());
        assert_eq!(hashing.waiting.load(Ordering::SeqCst), MAX_WAITING - 1, "who waited or was refused is uncounted");
    }
}
