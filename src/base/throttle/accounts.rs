//! Slows down who guesses at one account from many addresses. Failures of an account count from wherever they come;
//! beyond a limit the next try has to wait, twice as long each time, never longer than [`LONGEST`], and never for ever:
//! an account cannot be locked by who is not its owner.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;

use super::Wait;
use crate::base::clock::{Clock, Millis};
use crate::base::secret::hmac_hex;

/// Accounts whose failures are remembered, the latest.
const FAILING: NonZeroUsize = NonZeroUsize::MIN.saturating_add(49_999);
/// The window of failures.
const WINDOW: Millis = 15 * 60_000;
/// The first wait.
const SHORTEST: Millis = 5_000;
/// The longest wait.
const LONGEST: Millis = 5 * 60_000;

/// Failures by account. An account is a text that need not exist: strangers count as well, so that nobody learns who is
/// there. Only keyed digests are kept.
#[derive(Debug)]
pub struct Accounts {
    limit: usize,
    clock: Clock,
    key: [u8; 32],
    failing: Mutex<LruCache<String, Failing>>,
}

#[derive(Debug, Default)]
struct Failing {
    at: Vec<Millis>,
    free_at: Millis,
    /// Passwords that are being compared at this moment.
    trying: usize,
}

/// A password that is being compared; it counts against the limit until it is dropped.
#[derive(Debug)]
pub struct TryingAccount<'a> {
    accounts: &'a Accounts,
    key: String,
}

impl Drop for TryingAccount<'_> {
    fn drop(&mut self) {
        let mut failing = self.accounts.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = failing.get_mut(&self.key) {
            entry.trying = entry.trying.saturating_sub(1);
        }
    }
}

impl Accounts {
    /// `limit` failures in a quarter of an hour are not slowed down.
    pub fn new(limit: u32, clock: Clock) -> Self {
        let key = crate::base::secret::random_bytes();
        Self { limit: limit as usize, clock, key, failing: Mutex::new(LruCache::new(FAILING)) }
    }

    /// Before a password of this account is compared. Beyond the limit one is compared at a time.
    ///
    /// # Errors
    /// Seconds to wait.
    pub fn begin(&self, account: &str) -> Result<TryingAccount<'_>, Wait> {
        let (key, now) = (self.digest(account), self.clock.now());
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = failing.get_or_insert_mut(key.clone(), Failing::default);
        entry.at.retain(|at| *at > now - WINDOW);
        if entry.free_at > now && entry.at.len() >= self.limit {
            return Err(u64::try_from(entry.free_at - now).unwrap_or(0).div_ceil(1000));
        }
        if entry.trying > 0 && entry.at.len() + entry.trying >= self.limit {
            return Err(1);
        }
        entry.trying += 1;
        Ok(TryingAccount { accounts: self, key })
    }

    /// Counts a wrong password for this account.
    pub fn record_failure(&self, account: &str) {
        let (key, now) = (self.digest(account), self.clock.now());
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = failing.get_or_insert_mut(key, Failing::default);
        entry.at.retain(|at| *at > now - WINDOW);
        entry.at.push(now);
        let over = entry.at.len().saturating_sub(self.limit);
        if entry.at.len() >= self.limit {
            let doubled = SHORTEST.saturating_mul(1 << over.min(16));
            entry.free_at = now.saturating_add(doubled.min(LONGEST));
        }
    }

    fn digest(&self, account: &str) -> String {
        hmac_hex(&self.key, account.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn accounts(limit: u32) -> (Accounts, Clock) {
        let clock = Clock::manual(1_700_000_000_000);
        (Accounts::new(limit, clock.clone()), clock)
    }

    /// Tries, fails, and says how long the next one has to wait.
    fn fail(accounts: &Accounts, who: &str) -> Wait {
        drop(accounts.begin(who).unwrap());
        accounts.record_failure(who);
        accounts.begin(who).map_or_else(|wait| wait, |_| 0)
    }

    #[test]
    fn b23_waits_double_up_to_five_minutes_and_end() {
        let (accounts, clock) = accounts(3);
        assert_eq!((fail(&accounts, "ann"), fail(&accounts, "ann")), (0, 0));
        let mut waits = Vec::new();
        for _ in 0..9 {
            let wait = fail(&accounts, "ann");
            waits.push(wait);
            assert!(accounts.begin("bob").is_ok(), "only this account");
            clock.advance(Duration::from_millis(wait * 1000 - 1));
            assert_eq!(accounts.begin("ann").unwrap_err(), 1);
            clock.advance(Duration::from_millis(1));
        }
        assert_eq!(waits[..7], [5, 10, 20, 40, 80, 160, 300]);
        assert!(waits.iter().all(|wait| *wait <= 300), "{waits:?}");
        clock.advance(Duration::from_secs(900));
        assert_eq!(fail(&accounts, "ann"), 0, "a quarter of an hour later it is as before");
    }

    #[test]
    fn b24_tries_at_once_are_no_more_than_the_limit() {
        let (accounts, _) = accounts(3);
        let mut trying: Vec<_> = (0..3).map(|_| accounts.begin("ann").unwrap()).collect();
        assert_eq!(accounts.begin("ann").unwrap_err(), 1);
        trying.pop();
        trying.push(accounts.begin("ann").unwrap());
        for wrong in trying {
            accounts.record_failure("ann");
            drop(wrong);
        }
        assert_eq!(accounts.begin("ann").unwrap_err(), 5);
    }

    #[test]
    fn memory_is_bounded_and_names_are_not_kept() {
        let (accounts, _) = accounts(3);
        for at in 0..FAILING.get() + 10 {
            accounts.record_failure(&format!("{at}@example.com"));
        }
        let failing = accounts.failing.lock().unwrap();
        assert_eq!(failing.len(), FAILING.get());
        assert!(failing.iter().all(|(key, _)| key.len() == 64 && !key.contains('@')));
    }
}
