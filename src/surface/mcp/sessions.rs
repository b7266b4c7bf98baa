//! Sessions of the older protocol era belong to whoever opened them: another principal who presents the id gets the
//! same answer as for an id that never was. Idle ones end. A principal has so many, and the least recently used of them
//! makes room for a new one; when the instance has as many as it may, the one of whoever has most does.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::clock::{Clock, Millis};

/// What is remembered of a session.
#[derive(Debug)]
struct Bound {
    principal: Arc<str>,
    /// The revision that it was opened with.
    version: &'static str,
    used: Millis,
}

/// All sessions of the node.
pub(super) struct Sessions {
    clock: Clock,
    idle: Duration,
    most: usize,
    instance: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    bound: HashMap<Arc<str>, Bound>,
    /// The sessions of each principal, the least recently used first.
    of: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// How many each principal has.
    counts: BTreeSet<(usize, Arc<str>)>,
}

impl Sessions {
    /// `most` sessions a principal and `instance` in all, each living `idle` without use.
    pub(super) fn new(clock: Clock, idle: Duration, most: usize, instance: usize) -> Self {
        Self { clock, idle, most, instance, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Binds a new session; returns the one that must be closed to stay within the limits.
    pub(super) fn open(&self, id: &str, principal: &str, version: &'static str) -> Option<Arc<str>> {
        let mut table = self.table();
        let own = table.of.get(principal).map_or(0, Vec::len);
        // Whoever asks for one more counts with it.
        let richest = table.counts.last().filter(|(count, _)| *count > own).map(|(_, richest)| richest.clone());
        let gives = match (own >= self.most, table.bound.len() >= self.instance) {
            (true, _) => Some(principal.into()),
            (false, true) => Some(richest.unwrap_or_else(|| principal.into())),
            (false, false) => None,
        };
        let closed = gives.and_then(|gives: Arc<str>| table.of.get(&gives)?.first().cloned());
        if let Some(id) = &closed {
            table.remove(id);
        }
        table.insert(id.into(), Bound { principal: principal.into(), version, used: self.clock.now() });
        closed
    }

    /// The revision of the principal's own session, marked as used; `None` for any other id.
    pub(super) fn touch(&self, id: &str, principal: &str) -> Option<&'static str> {
        let now = self.clock.now();
        let mut table = self.table();
        let bound = table.bound.get_mut(id).filter(|bound| *bound.principal == *principal)?;
        if now - bound.used > self.idle() {
            return None;
        }
        bound.used = now;
        let version = bound.version;
        if let Some(own) = table.of.get_mut(principal)
            && let Some(at) = own.iter().position(|own| **own == *id)
            && let Some(from_there) = own.get_mut(at..)
        {
            from_there.rotate_left(1);
        }
        Some(version)
    }

    fn idle(&self) -> Millis {
        Millis::try_from(self.idle.as_millis()).unwrap_or(Millis::MAX)
    }

    /// Forgets a session.
    pub(super) fn close(&self, id: &str) {
        self.table().remove(id);
    }

    /// Forgets idle sessions and returns their ids.
    pub(super) fn sweep(&self) -> Vec<Arc<str>> {
        let oldest = self.clock.now() - self.idle();
        let mut table = self.table();
        let ended: Vec<Arc<str>> =
            table.bound.iter().filter(|(_, bound)| bound.used < oldest).map(|(id, _)| id.clone()).collect();
        for id in &ended {
            table.remove(id);
        }
        ended
    }

    /// Open sessions.
    pub(super) fn count(&self) -> usize {
        self.table().bound.len()
    }
}

impl Table {
    fn insert(&mut self, id: Arc<str>, bound: Bound) {
        let principal = bound.principal.clone();
        let own = self.of.entry(principal.clone()).or_default();
        own.push(id.clone());
        let count = own.len();
        self.recount(&principal, count - 1, count);
        self.bound.insert(id, bound);
    }

    fn remove(&mut self, id: &str) {
        let Some(Bound { principal, .. }) = self.bound.remove(id) else { return };
        let Some(own) = self.of.get_mut(&principal) else { return };
        let before = own.len();
        own.retain(|own| **own != *id);
        let count = own.len();
        if count == 0 {
            self.of.remove(&principal);
        }
        self.recount(&principal, before, count);
    }

    fn recount(&mut self, principal: &Arc<str>, before: usize, count: usize) {
        self.counts.remove(&(before, principal.clone()));
        if count > 0 {
            self.counts.insert((count, principal.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: &str = "2025-11-25";

    fn sessions(clock: &Clock) -> Sessions {
        Sessions::new(clock.clone(), Duration::from_secs(60), 2, 5)
    }

    /// J04: an id alone opens nothing.
    #[test]
    fn a_session_answers_its_owner_only() {
        let sessions = sessions(&Clock::manual(0));
        sessions.open("s1", "ann", VERSION);
        assert_eq!(sessions.touch("s1", "ann"), Some(VERSION));
        assert_eq!(sessions.touch("s1", "bob"), None);
        assert_eq!(sessions.touch("never", "ann"), None);
        sessions.close("s1");
        assert_eq!(sessions.touch("s1", "ann"), None);
    }

    #[test]
    fn the_least_used_session_makes_room() {
        let sessions = sessions(&Clock::manual(0));
        for id in ["s1", "s2"] {
            assert_eq!(sessions.open(id, "ann", VERSION), None);
        }
        sessions.touch("s1", "ann");
        assert_eq!(sessions.open("b1", "bob", VERSION), None);
        assert_eq!(sessions.open("s3", "ann", VERSION).as_deref(), Some("s2"));
        assert_eq!(sessions.open("s4", "ann", VERSION).as_deref(), Some("s1"));
        assert_eq!(sessions.count(), 3);
    }

    #[test]
    fn when_the_instance_is_full_whoever_has_most_makes_room() {
        let sessions = sessions(&Clock::manual(0));
        for (id, principal) in [("a1", "ann"), ("a2", "ann"), ("b1", "bob"), ("c1", "cid"), ("d1", "dan")] {
            assert_eq!(sessions.open(id, principal, VERSION), None);
        }
        sessions.touch("a1", "ann");
        assert_eq!(sessions.open("e1", "eve", VERSION).as_deref(), Some("a2"), "a newcomer is let in");
        // Nobody has more than those who want a second: their own first goes.
        assert_eq!(sessions.open("b2", "bob", VERSION).as_deref(), Some("b1"));
        // All have one. A newcomer has none, and is let in.
        assert!(sessions.open("f1", "fay", VERSION).is_some());
        assert_eq!((sessions.count(), sessions.touch("f1", "fay")), (5, Some(VERSION)));
    }

    #[test]
    fn nothing_is_remembered_of_who_has_none() {
        let clock = Clock::manual(0);
        let sessions = sessions(&clock);
        sessions.open("s1", "ann", VERSION);
        sessions.open("s2", "ann", VERSION);
        sessions.close("s1");
        assert_eq!(sessions.table().counts.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [1]);
        clock.advance(Duration::from_secs(61));
        assert_eq!(sessions.sweep().len(), 1);
        let table = sessions.table();
        assert!(table.bound.is_empty() && table.of.is_empty() && table.counts.is_empty());
    }

    #[test]
    fn idle_sessions_end() {
        let clock = Clock::manual(0);
        let sessions = sessions(&clock);
        sessions.open("s1", "ann", VERSION);
        clock.advance(Duration::from_secs(61));
        assert_eq!(sessions.touch("s1", "ann"), None);
        assert_eq!(sessions.sweep().iter().map(|id| &**id).collect::<Vec<_>>(), ["s1"]);
    }
}
