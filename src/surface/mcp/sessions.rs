//! Sessions of the older protocol era belong to whoever opened them: another principal who presents the id gets the
//! same answer as for an id that never was. Idle ones end; a principal's oldest makes room for a new one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base::clock::{Clock, Millis};

/// What is remembered of a session.
#[derive(Clone, Debug)]
struct Bound {
    principal: String,
    /// The revision that it was opened with.
    version: String,
    used: Millis,
}

/// All sessions of the node.
pub struct Sessions {
    clock: Clock,
    idle: Duration,
    most: usize,
    bound: Mutex<HashMap<String, Bound>>,
}

impl Sessions {
    /// `most` sessions a principal, each living `idle` without use.
    pub fn new(clock: Clock, idle: Duration, most: usize) -> Self {
        Self { clock, idle, most, bound: Mutex::default() }
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<String, Bound>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Binds a new session; returns those that must be closed to stay within the limit.
    pub fn open(&self, id: &str, principal: &str, version: &str) -> Vec<String> {
        let mut table = self.table();
        let mut own: Vec<(Millis, String)> = table
            .iter()
            .filter(|(_, bound)| bound.principal == principal)
            .map(|(id, bound)| (bound.used, id.clone()))
            .collect();
        own.sort();
        let surplus = (own.len() + 1).saturating_sub(self.most);
        let closed: Vec<String> = own.into_iter().take(surplus).map(|(_, id)| id).collect();
        for id in &closed {
            table.remove(id);
        }
        let bound = Bound { principal: principal.into(), version: version.into(), used: self.clock.now() };
        table.insert(id.into(), bound);
        closed
    }

    /// The revision of the principal's own session, marked as used; `None` for any other id.
    pub fn touch(&self, id: &str, principal: &str) -> Option<String> {
        let now = self.clock.now();
        let mut table = self.table();
        let bound = table.get_mut(id).filter(|bound| bound.principal == principal)?;
        if now - bound.used > i64::try_from(self.idle.as_millis()).unwrap_or(i64::MAX) {
            return None;
        }
        bound.used = now;
        Some(bound.version.clone())
    }

    /// Forgets a session.
    pub fn close(&self, id: &str) {
        self.table().remove(id);
    }

    /// Forgets idle sessions and returns their ids.
    pub fn sweep(&self) -> Vec<String> {
        let oldest = self.clock.now() - i64::try_from(self.idle.as_millis()).unwrap_or(i64::MAX);
        let mut ended = Vec::new();
        self.table().retain(|id, bound| {
            let lives = bound.used >= oldest;
            if !lives {
                ended.push(id.clone());
            }
            lives
        });
        ended
    }

    /// Open sessions.
    pub fn count(&self) -> usize {
        self.table().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(clock: &Clock) -> Sessions {
        Sessions::new(clock.clone(), Duration::from_secs(60), 2)
    }

    /// J04: an id alone opens nothing.
    #[test]
    fn a_session_answers_its_owner_only() {
        let sessions = sessions(&Clock::manual(0));
        sessions.open("s1", "ann", "2025-11-25");
        assert_eq!(sessions.touch("s1", "ann").as_deref(), Some("2025-11-25"));
        assert_eq!(sessions.touch("s1", "bob"), None);
        assert_eq!(sessions.touch("never", "ann"), None);
        sessions.close("s1");
        assert_eq!(sessions.touch("s1", "ann"), None);
    }

    #[test]
    fn the_least_used_session_makes_room() {
        let clock = Clock::manual(0);
        let sessions = sessions(&clock);
        for id in ["s1", "s2"] {
            clock.advance(Duration::from_secs(1));
            assert!(sessions.open(id, "ann", "v").is_empty());
        }
        clock.advance(Duration::from_secs(1));
        sessions.touch("s1", "ann");
        assert!(sessions.open("b1", "bob", "v").is_empty());
        assert_eq!(sessions.open("s3", "ann", "v"), ["s2"]);
        assert_eq!(sessions.count(), 3);
    }

    #[test]
    fn idle_sessions_end() {
        let clock = Clock::manual(0);
        let sessions = sessions(&clock);
        sessions.open("s1", "ann", "v");
        clock.advance(Duration::from_secs(61));
        assert_eq!(sessions.touch("s1", "ann"), None);
        assert_eq!(sessions.sweep(), ["s1"]);
    }
}
