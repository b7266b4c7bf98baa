//! How often: per credential, per credential and kind of call, per person, per workspace; connectivity tokens less often
//! than clients with a person in front of them. How many at once: per credential and per person, and for the instance, of
//! which each workspace has its share. The numbers are [`crate::config::Rates`]; those by network address are kept by
//! `base/throttle.rs`, and whose query runs next is decided in `engine/turns.rs`.

use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::shares::{Full, Key, Share, Shares};
use crate::base::throttle::Rate;
use crate::config::{CallRates, Rates};
use crate::gateway::operation::Cost;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};

/// The limits of one node.
pub(super) struct Limiter {
    rates: Rates,
    token: Buckets,
    client: Buckets,
    manage: Rate<String>,
    workspace: Rate<String>,
    instance: Option<Rate<String>>,
    requests: Rate<String>,
    sessions: Rate<String>,
    calls: Arc<Shares>,
    uploads: Arc<Shares>,
    bodies: Arc<Shares>,
    streams: Arc<Shares>,
}

/// What one kind of credential may call.
struct Buckets {
    rates: CallRates,
    calls: Rate<String>,
    sql: Rate<String>,
    ask: Rate<String>,
    resources: Rate<String>,
}

impl Buckets {
    fn new(rates: CallRates, clock: &Clock) -> Self {
        let rate = |per_minute| Rate::new(per_minute, clock);
        let CallRates { calls, sql, ask, resources } = rates;
        Self { rates, calls: rate(calls), sql: rate(sql), ask: rate(ask), resources: rate(resources) }
    }
}

/// What is counted of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knock {
    /// Any message or call, before anything of it is looked at.
    Request,
    /// Besides, that it opens an MCP session.
    Session,
}

impl Limiter {
    pub(super) fn new(rates: Rates, clock: &Clock) -> Self {
        let rate = |per_minute| Rate::new(per_minute, clock);
        Self {
            token: Buckets::new(rates.token, clock),
            client: Buckets::new(rates.client, clock),
            manage: rate(rates.manage),
            workspace: rate(rates.workspace),
            instance: rates.instance.map(|instance| rate(instance.get())),
            requests: rate(rates.requests),
            sessions: rate(rates.sessions),
            calls: Shares::new("calls", rates.instance_in_flight),
            uploads: Shares::new("uploads", rates.instance_uploads),
            bodies: Shares::new("large_requests", rates.instance_uploads),
            streams: Shares::new("streams", rates.instance_streams),
            rates,
        }
    }

    /// Counts a request of whatever kind: also what never becomes a call costs something, and leaves a row.
    ///
    /// # Errors
    /// `rate_limited` with the limit that was met, its number, and `retry_after`.
    pub(super) fn knock(&self, caller: &Caller, knock: Knock) -> Result<()> {
        let person = caller.person();
        if knock == Knock::Session {
            return check(&self.sessions, &person, "sessions", self.rates.sessions);
        }
        check(&self.requests, &person, "requests", self.rates.requests)?;
        // The last: what somebody's own limit refuses takes nothing from the others.
        match (&self.instance, self.rates.instance) {
            (Some(instance), Some(number)) if caller.is_external() => check(instance, "", "instance", number.get()),
            _ => Ok(()),
        }
    }

    /// Takes one call of the caller's, or says when to come back.
    ///
    /// # Errors
    /// `rate_limited` with the limit that was met, its number, and `retry_after`; `service_unavailable`.
    pub(super) fn take(&self, caller: &Caller, cost: Cost) -> Result<Share> {
        let credential = caller.credential();
        let is_token = caller.proof.is_connectivity_token();
        let (of, name) = if is_token { (&self.token, "token") } else { (&self.client, "client") };
        let all = || check(&of.calls, &credential, name, of.rates.calls);
        let kind = |rate, kind: &str, number| check(rate, &credential, &format!("{name}_{kind}"), number);
        match cost {
            Cost::Resource => kind(&of.resources, "resources", of.rates.resources)?,
            Cost::Manage => {
                check(&self.manage, &credential, "management", self.rates.manage)?;
                return self.call(caller, format!("{credential}:manage"));
            }
            Cost::Read => all()?,
            Cost::Sql => kind(&of.sql, "sql", of.rates.sql).and_then(|()| all())?,
            Cost::Ask => kind(&of.ask, "ask", of.rates.ask).and_then(|()| all())?,
        }
        check(&self.workspace, &caller.org.to_string(), "workspace", self.rates.workspace)?;
        self.call(caller, credential)
    }

    /// A place for an upload on its way in, besides those for calls.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub(super) fn upload(&self, caller: &Caller) -> Result<Share> {
        self.brought(&self.uploads, caller, "uploads")
    }

    /// A place for a request that is more than a few kilobytes, while it comes.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub(super) fn body(&self, caller: &Caller) -> Result<Share> {
        self.brought(&self.bodies, caller, "large_requests")
    }

    /// A place for an answer that stays open, besides those for calls.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub(super) fn stream(&self, caller: &Caller) -> Result<Share> {
        let keys = [Key::at_most(caller.credential(), self.rates.streams), workspace(caller)];
        enter(&self.streams, &keys, "streams", self.rates.streams)
    }

    /// A place for what a person brings.
    fn brought(&self, places: &Arc<Shares>, caller: &Caller, what: &str) -> Result<Share> {
        let keys = [Key::at_most(caller.person(), self.rates.in_flight), workspace(caller)];
        enter(places, &keys, what, self.rates.in_flight)
    }

    fn call(&self, caller: &Caller, key: String) -> Result<Share> {
        // One person with many clients leaves room for colleagues, as one workspace does for others.
        let person = Key::part(format!("{}:all", caller.person()), 2);
        let keys = [Key::at_most(key, self.rates.in_flight), person, workspace(caller)];
        enter(&self.calls, &keys, "in_flight", self.rates.in_flight)
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
