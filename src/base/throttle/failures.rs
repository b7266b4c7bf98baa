//! Failures by address: the fifth in a minute, say, blocks it for five.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;

use super::{Wait, subscriber};
use crate::base::clock::{Clock, Millis, millis};

/// Addresses whose failures are remembered, the latest.
const FAILING: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// The window of failures.
const WINDOW: Millis = 60_000;

/// Failures of one sort.
#[derive(Debug)]
pub(super) struct Failures {
    limit: usize,
    block: Millis,
    clock: Clock,
    failing: Mutex<LruCache<IpAddr, Failing>>,
}

#[derive(Debug, Default)]
struct Failing {
    /// When the failures of the last minute happened.
    at: Vec<Millis>,
    blocked_until: Millis,
    /// What is being compared at this moment.
    trying: usize,
}

/// A try whose outcome is not known yet; counts as a failure until it is known to be none.
#[derive(Debug)]
pub struct Trying<'a> {
    failures: &'a Failures,
    ip: IpAddr,
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.failures.failing().get_mut(&self.ip) {
            entry.trying = entry.trying.saturating_sub(1);
        }
    }
}

impl Failures {
    /// The `limit`th failure of a minute blocks an address for `block`.
    pub(super) fn new(limit: u32, block: Duration, clock: &Clock) -> Self {
        Self {
            limit: limit as usize,
            block: millis(block),
            clock: clock.clone(),
            failing: Mutex::new(LruCache::new(FAILING)),
        }
    }

    /// Whether the address is blocked.
    ///
    /// # Errors
    /// Seconds until it is free.
    pub(super) fn check(&self, ip: IpAddr) -> Result<(), Wait> {
        let now = self.clock.now();
        match self.failing().get(&subscriber(ip)) {
            Some(entry) if entry.blocked_until > now => {
                Err(u64::try_from(entry.blocked_until - now).unwrap_or(0).div_ceil(1000))
            }
            _ => Ok(()),
        }
    }

    /// Begins a try. Those of an address that run at once are no more than those it may get wrong.
    ///
    /// # Errors
    /// Seconds to wait.
    pub(super) fn begin(&self, ip: IpAddr) -> Result<Trying<'_>, Wait> {
        self.check(ip)?;
        let (ip, now) = (subscriber(ip), self.clock.now());
        let mut failing = self.failing();
        let entry = failing.get_or_insert_mut(ip, Failing::default);
        entry.at.retain(|at| *at > now - WINDOW);
        if entry.at.len() + entry.trying >= self.limit {
            return Err(1);
        }
        entry.trying += 1;
        Ok(Trying { failures: self, ip })
    }

    /// Counts a failure. The block starts with the one that reaches the limit.
    pub(super) fn record(&self, ip: IpAddr) {
        let now = self.clock.now();
        let mut failing = self.failing();
        let entry = failing.get_or_insert_mut(subscriber(ip), Failing::default);
        entry.at.retain(|at| *at > now - WINDOW);
        entry.at.push(now);
        if entry.at.len() >= self.limit {
            entry.at.clear();
            entry.blocked_until = now + self.block;
        }
    }

    fn failing(&self) -> MutexGuard<'_, LruCache<IpAddr, Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(clock: &Clock) -> Failures {
        Failures::new(5, Duration::from_secs(300), clock)
    }

    #[test]
    fn the_fifth_failure_of_a_minute_blocks_for_five_minutes() {
        let clock = Clock::manual(1_700_000_000_000);
        let failures = failures(&clock);
        let (ip, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for _ in 0..4 {
            failures.record(ip);
        }
        assert_eq!(failures.check(ip), Ok(()));
        failures.record(ip);
        assert_eq!(failures.check(ip), Err(300));
        assert_eq!(failures.check(other), Ok(()));
        clock.advance(Duration::from_secs(299));
        assert_eq!(failures.check(ip), Err(1));
        clock.advance(Duration::from_secs(1));
        assert_eq!(failures.check(ip), Ok(()));
    }

    #[test]
    fn passwords_that_are_tried_at_once_count_before_they_are_known_to_be_wrong() {
        let clock = Clock::manual(1_700_000_000_000);
        let failures = failures(&clock);
        let ip = IpAddr::from([192, 0, 2, 1]);
        failures.record(ip);
        let mut trying: Vec<_> = (0..4).map(|_| failures.begin(ip).unwrap()).collect();
        assert_eq!(failures.begin(ip).unwrap_err(), 1);
        trying.pop();
        trying.push(failures.begin(ip).unwrap());
        for wrong in trying {
            failures.record(ip);
            drop(wrong);
        }
        assert_eq!(failures.begin(ip).unwrap_err(), 300);
    }

    #[test]
    fn failures_a_minute_apart_do_not_add_up() {
        let clock = Clock::manual(1_700_000_000_000);
        let failures = failures(&clock);
        let ip = IpAddr::from([192, 0, 2, 1]);
        for _ in 0..20 {
            failures.record(ip);
            clock.advance(Duration::from_secs(20));
        }
        assert_eq!(failures.check(ip), Ok(()));
    }
}
