//! How often and how many at once: per token, per token and kind of call, per workspace, per instance.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use governor::clock::Clock as GovernorClock;
use governor::nanos::Nanos;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::clock::Clock;
use crate::config::Rates;
use crate::gateway::operation::Cost;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};

/// Our clock in the form that `governor` takes.
#[derive(Clone, Debug)]
struct Ticks(Clock);

impl GovernorClock for Ticks {
    type Instant = Nanos;
    fn now(&self) -> Nanos {
        Nanos::from(u64::try_from(self.0.now()).unwrap_or(0).saturating_mul(1_000_000))
    }
}

type Buckets = RateLimiter<String, DefaultKeyedStateStore<String>, Ticks>;

/// The limits of one node.
pub struct Limiter {
    rates: Rates,
    clock: Ticks,
    token: Buckets,
    kinds: HashMap<Cost, Buckets>,
    workspace: Buckets,
    in_flight: Arc<Mutex<HashMap<String, usize>>>,
    instance: Arc<Semaphore>,
}

/// The right to run one call; ends with it.
#[derive(Debug)]
pub struct Permit {
    key: String,
    in_flight: Arc<Mutex<HashMap<String, usize>>>,
    _instance: OwnedSemaphorePermit,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut running = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.key);
            }
        }
    }
}

impl Limiter {
    pub fn new(rates: Rates, clock: Clock) -> Self {
        let clock = Ticks(clock);
        let buckets = |per_minute: u32| {
            let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
            RateLimiter::new(quota, DefaultKeyedStateStore::default(), clock.clone())
        };
        Self {
            token: buckets(rates.token),
            kinds: [Cost::Resource, Cost::Sql].map(|cost| (cost, buckets(cost.per_minute(&rates)))).into(),
            workspace: buckets(rates.workspace),
            in_flight: Arc::default(),
            instance: Arc::new(Semaphore::new(rates.instance_in_flight)),
            clock,
            rates,
        }
    }

    /// Takes one call of the caller's, or says when to come back.
    ///
    /// # Errors
    /// `rate_limited` with the limit that was met, its number, and `retry_after`.
    pub fn take(&self, caller: &Caller, cost: Cost) -> Result<Permit> {
        let credential = caller.credential();
        match cost {
            Cost::Resource => self.draw(cost, &credential)?,
            Cost::Read => self.check(&self.token, &credential, "token", self.rates.token)?,
            Cost::Sql => {
                self.draw(cost, &credential)?;
                self.check(&self.token, &credential, "token", self.rates.token)?;
            }
        }
        self.check(&self.workspace, &caller.org.to_string(), "workspace", self.rates.workspace)?;
        self.enter(credential)
    }

    fn draw(&self, cost: Cost, key: &str) -> Result<()> {
        let (name, number) = match cost {
            Cost::Resource => ("token_resources", self.rates.resources),
            Cost::Sql => ("token_sql", self.rates.sql),
            Cost::Read => ("token", self.rates.token),
        };
        self.kinds.get(&cost).map_or(Ok(()), |buckets| self.check(buckets, key, name, number))
    }

    fn check(&self, buckets: &Buckets, key: &str, name: &str, number: u32) -> Result<()> {
        buckets.check_key(&key.to_owned()).map_err(|not_until| {
            let wait = not_until.wait_time_from(self.clock.now()).as_millis().div_ceil(1000);
            let wait = u64::try_from(wait).unwrap_or(60).max(1);
            Error::new(
                Code::RateLimited,
                format!("The limit of {number} calls a minute ({name}) is reached. Try again in {wait} s."),
            )
            .with(serde_json::json!({ "limit": name, "per_minute": number }))
            .retry_after(wait)
        })
    }

    fn enter(&self, key: String) -> Result<Permit> {
        let Ok(instance) = self.instance.clone().try_acquire_owned() else {
            return Err(Error::unavailable("The service is busy. Try again in a moment."));
        };
        let mut running = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(key.clone()).or_default();
        if *count >= self.rates.in_flight {
            let most = self.rates.in_flight;
            let message = format!("{most} calls of this token are running already. Wait for one to end.");
            let details = serde_json::json!({ "limit": "in_flight", "at_once": most });
            return Err(Error::new(Code::RateLimited, message).with(details).retry_after(1));
        }
        *count += 1;
        Ok(Permit { key, in_flight: self.in_flight.clone(), _instance: instance })
    }

    /// Forgets buckets that are full again, so that memory follows use.
    pub fn sweep(&self) {
        for buckets in self.kinds.values().chain([&self.token, &self.workspace]) {
            buckets.retain_recent();
        }
    }
}

#[cfg(test)]
mod tests;
