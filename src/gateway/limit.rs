//! How often and how many at once: per token, per token and kind of call, per workspace, per instance.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::base::clock::Clock;
use crate::base::throttle::Rate;
use crate::config::Rates;
use crate::gateway::operation::Cost;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};

/// The limits of one node.
pub struct Limiter {
    rates: Rates,
    token: Rate<String>,
    kinds: HashMap<Cost, Rate<String>>,
    workspace: Rate<String>,
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
    pub fn new(rates: Rates, clock: &Clock) -> Self {
        let rate = |per_minute| Rate::new(per_minute, clock);
        Self {
            token: rate(rates.token),
            kinds: [Cost::Resource, Cost::Sql, Cost::Ask, Cost::Manage]
                .map(|cost| (cost, rate(cost.per_minute(&rates))))
                .into(),
            workspace: rate(rates.workspace),
            in_flight: Arc::default(),
            instance: Arc::new(Semaphore::new(rates.instance_in_flight)),
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
            Cost::Manage => {
                self.draw(cost, &credential)?;
                return self.enter(format!("{credential}:manage"));
            }
            Cost::Read => self.check(&self.token, &credential, "token", self.rates.token)?,
            Cost::Sql | Cost::Ask => {
                self.draw(cost, &credential)?;
                self.check(&self.token, &credential, "token", self.rates.token)?;
            }
        }
        self.check(&self.workspace, &caller.org.to_string(), "workspace", self.rates.workspace)?;
        self.enter(credential)
    }

    /// A place for an upload on its way in, besides those for calls: as many at once for each token.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub fn upload(&self, caller: &Caller) -> Result<Permit> {
        self.enter(format!("{}:upload", caller.credential()))
    }

    fn draw(&self, cost: Cost, key: &str) -> Result<()> {
        let (name, number) = match cost {
            Cost::Resource => ("token_resources", self.rates.resources),
            Cost::Sql => ("token_sql", self.rates.sql),
            Cost::Ask => ("token_ask", self.rates.ask),
            Cost::Read => ("token", self.rates.token),
            Cost::Manage => ("management", self.rates.workspace),
        };
        self.kinds.get(&cost).map_or(Ok(()), |rate| self.check(rate, key, name, number))
    }

    fn check(&self, rate: &Rate<String>, key: &str, name: &str, number: u32) -> Result<()> {
        rate.check(&key.to_owned()).map_err(|wait| {
            let message = format!("The limit of {number} calls a minute ({name}) is reached. Try again in {wait} s.");
            let details = serde_json::json!({ "limit": name, "per_minute": number });
            Error::new(Code::RateLimited, message).with(details).retry_after(wait)
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
}

#[cfg(test)]
mod tests;
