//! Tokens of each workspace and day (UTC). Kept in memory: a restart forgets the day's use, and every node of an
//! installation counts for itself. Prices are not known here; the account at the provider has the last word on cost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::ask::LlmError;
use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::model::org::Org;

const DAY: Millis = 86_400_000;

pub(super) struct Budget {
    /// Tokens of one workspace and day, of prompts and answers together.
    most: u64,
    clock: Clock,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    day: Millis,
    tokens: HashMap<Id<Org>, u64>,
}

/// Tokens set aside for a call. Dropped without [`Reserved::settle`], the call was given up half way: what was sent
/// counts.
pub(super) struct Reserved<'a> {
    budget: &'a Budget,
    org: Id<Org>,
    day: Millis,
    whole: u64,
    /// What stays of it: at first a guess at what is sent.
    counts: u64,
}

impl Budget {
    pub(super) fn new(most: u64, clock: Clock) -> Self {
        Self { most, clock, used: Mutex::default() }
    }

    /// Sets the largest cost of a call aside, so that calls at the same time cannot overdraw together.
    ///
    /// # Errors
    /// [`LlmError::BudgetExceeded`].
    pub(super) fn reserve(&self, org: Id<Org>, input: u64, output: u64) -> Result<Reserved<'_>, LlmError> {
        let now = self.clock.now();
        let (day, whole) = (now.div_euclid(DAY), input + output);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.day != day {
            *used = Used { day, tokens: HashMap::new() };
        }
        let tokens = used.tokens.entry(org).or_default();
        if *tokens + whole > self.most {
            let left = u64::try_from((day + 1) * DAY - now).unwrap_or(0);
            return Err(LlmError::BudgetExceeded { resets_in: Duration::from_millis(left) });
        }
        *tokens += whole;
        Ok(Reserved { budget: self, org, day, whole, counts: input })
    }
}

impl Reserved<'_> {
    /// Takes what was used; `None` where nobody counted takes all that was set aside.
    pub(super) fn settle(mut self, tokens: Option<u64>) {
        self.counts = tokens.unwrap_or(self.whole);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut used = self.budget.used.lock().unwrap_or_else(PoisonError::into_inner);
        // After midnight the day it belongs to is forgotten.
        if used.day == self.day
            && let Some(tokens) = used.tokens.get_mut(&self.org)
        {
            *tokens = (*tokens + self.counts).saturating_sub(self.whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One second before midnight UTC.
    const LATE: Millis = 20_000 * DAY - 1_000;

    fn full(budget: &Budget, org: Id<Org>, tokens: u64) -> bool {
        match budget.reserve(org, tokens, 0) {
            Ok(reserved) => {
                reserved.settle(Some(0));
                false
            }
            Err(_) => true,
        }
    }

    #[test]
    fn what_is_set_aside_counts_until_it_is_settled() {
        let clock = Clock::manual(LATE);
        let (org, other) = (Id::new(&clock), Id::new(&clock));
        let budget = Budget::new(100, clock);
        let first = budget.reserve(org, 10, 50).unwrap();
        assert!(full(&budget, org, 41) && !full(&budget, org, 40));
        assert!(!full(&budget, other, 100), "each workspace has its own");
        first.settle(Some(20));
        assert!(full(&budget, org, 81) && !full(&budget, org, 80));
        budget.reserve(org, 10, 50).unwrap().settle(None);
        assert!(full(&budget, org, 21) && !full(&budget, org, 20), "uncounted is all that was set aside");
    }

    #[test]
    fn a_call_that_was_given_up_counts_what_was_sent() {
        let clock = Clock::manual(LATE);
        let org = Id::new(&clock);
        let budget = Budget::new(100, clock);
        drop(budget.reserve(org, 30, 50).unwrap());
        assert!(full(&budget, org, 71) && !full(&budget, org, 70));
    }

    #[test]
    fn the_day_ends_at_midnight_utc() {
        let clock = Clock::manual(LATE);
        let org = Id::new(&clock);
        let budget = Budget::new(100, clock.clone());
        let yesterday = budget.reserve(org, 100, 0).unwrap();
        let refused = budget.reserve(org, 1, 0).map(|_| ()).unwrap_err();
        assert_eq!(refused, LlmError::BudgetExceeded { resets_in: Duration::from_secs(1) });
        clock.advance(Duration::from_secs(1));
        budget.reserve(org, 60, 0).unwrap().settle(Some(60));
        yesterday.settle(Some(100));
        assert!(full(&budget, org, 41) && !full(&budget, org, 40), "yesterday's does not count today");
    }
}
