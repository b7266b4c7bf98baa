//! How often: per token, per token and kind of call, per person, per workspace. How many at once: per token and per
//! person, and for the instance, of which each workspace has its share. The numbers are [`crate::config::Rates`]; those
//! by network address are kept by `base/throttle.rs`, and whose query runs next is decided in `engine/turns.rs`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::shares::{Full, Key, Share, Shares};
use crate::base::throttle::Rate;
use crate::config::Rates;
use crate::gateway::operation::Cost;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};

/// The limits of one node.
pub(super) struct Limiter {
    rates: Rates,
    token: Rate<String>,
    kinds: HashMap<Cost, Rate<String>>,
    workspace: Rate<String>,
    requests: Rate<String>,
    sessions: Rate<String>,
    calls: Arc<Shares>,
    uploads: Arc<Shares>,
    streams: Arc<Shares>,
}

/// What a request is, before anything of it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knock {
    /// Any message or call.
    Request,
    /// A message that opens an MCP session.
    Session,
}

impl Limiter {
    pub(super) fn new(rates: Rates, clock: &Clock) -> Self {
        let rate = |per_minute| Rate::new(per_minute, clock);
        Self {
            token: rate(rates.token),
            kinds: [Cost::Resource, Cost::Sql, Cost::Ask, Cost::Manage]
                .map(|cost| (cost, rate(cost.per_minute(&rates))))
                .into(),
            workspace: rate(rates.workspace),
            requests: rate(rates.requests),
            sessions: rate(rates.sessions),
            calls: Shares::new(rates.instance_in_flight),
            uploads: Shares::new(rates.instance_uploads),
            streams: Shares::new(rates.instance_streams),
            rates,
        }
    }

    /// Counts a request of whatever kind: also what never becomes a call costs something, and leaves a row.
    ///
    /// # Errors
    /// `rate_limited` with the limit that was met, its number, and `retry_after`.
    pub(super) fn knock(&self, caller: &Caller, knock: Knock) -> Result<()> {
        let person = caller.person();
        check(&self.requests, &person, "requests", self.rates.requests)?;
        match knock {
            Knock::Request => Ok(()),
            Knock::Session => check(&self.sessions, &person, "sessions", self.rates.sessions),
        }
    }

    /// Takes one call of the caller's, or says when to come back.
    ///
    /// # Errors
    /// `rate_limited` with the limit that was met, its number, and `retry_after`; `service_unavailable`.
    pub(super) fn take(&self, caller: &Caller, cost: Cost) -> Result<Share> {
        let credential = caller.credential();
        match cost {
            Cost::Resource => self.draw(cost, &credential)?,
            Cost::Manage => {
                self.draw(cost, &credential)?;
                return self.call(caller, format!("{credential}:manage"));
            }
            Cost::Read => check(&self.token, &credential, "token", self.rates.token)?,
            Cost::Sql | Cost::Ask => {
                self.draw(cost, &credential)?;
                check(&self.token, &credential, "token", self.rates.token)?;
            }
        }
        check(&self.workspace, &caller.org.to_string(), "workspace", self.rates.workspace)?;
        self.call(caller, credential)
    }

    /// A place for an upload on its way in, besides those for calls.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub(super) fn upload(&self, caller: &Caller) -> Result<Share> {
        let keys = [Key::at_most(caller.person(), self.rates.in_flight), workspace(caller)];
        enter(&self.uploads, &keys, "uploads", self.rates.in_flight)
    }

    /// A place for an answer that stays open, besides those for calls.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub(super) fn stream(&self, caller: &Caller) -> Result<Share> {
        let keys = [Key::at_most(caller.credential(), self.rates.streams), workspace(caller)];
        enter(&self.streams, &keys, "streams", self.rates.streams)
    }

    fn call(&self, caller: &Caller, key: String) -> Result<Share> {
        // One person with many clients leaves room for colleagues, as one workspace does for others.
        let person = Key::part(format!("{}:all", caller.person()), 2);
        let keys = [Key::at_most(key, self.rates.in_flight), person, workspace(caller)];
        enter(&self.calls, &keys, "in_flight", self.rates.in_flight)
    }

    fn draw(&self, cost: Cost, key: &str) -> Result<()> {
        let (name, number) = match cost {
            Cost::Resource => ("token_resources", self.rates.resources),
            Cost::Sql => ("token_sql", self.rates.sql),
            Cost::Ask => ("token_ask", self.rates.ask),
            Cost::Read => ("token", self.rates.token),
            Cost::Manage => ("management", self.rates.workspace),
        };
        self.kinds.get(&cost).map_or(Ok(()), |rate| check(rate, key, name, number))
    }
}

/// `keys`: first the one that is bounded by `most`, then those that are bounded by what is free.
fn enter(places: &Arc<Shares>, keys: &[Key], what: &str, most: usize) -> Result<Share> {
    places.enter(keys).map_err(|full| {
        let (message, details) = match full {
            Full { key: None } => return Error::unavailable("The service is busy. Try again in a moment."),
            Full { key: Some(0) } => (
                format!("{most} at once are open already ({what}). Wait for one to end."),
                serde_json::json!({ "limit": what, "at_once": most }),
            ),
            Full { key: Some(_) } => (
                format!(
                    "You, or your workspace, have your share of what this service does at once ({what}). Try again."
                ),
                serde_json::json!({ "limit": format!("workspace_{what}") }),
            ),
        };
        Error::new(Code::RateLimited, message).with(details).retry_after(1)
    })
}

fn check(rate: &Rate<String>, key: &str, name: &str, number: u32) -> Result<()> {
    rate.check(&key.to_owned()).map_err(|wait| {
        let message = format!("The limit of {number} a minute ({name}) is reached. Try again in {wait} s.");
        let details = serde_json::json!({ "limit": name, "per_minute": number });
        Error::new(Code::RateLimited, message).with(details).retry_after(wait)
    })
}

/// A workspace has as many places as are left for others.
fn workspace(caller: &Caller) -> Key {
    Key::part(caller.org.to_string(), 1)
}

#[cfg(test)]
mod tests;
