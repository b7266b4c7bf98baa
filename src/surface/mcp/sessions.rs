//! Sessions of the older protocol era belong to whoever opened them: another principal who presents the id gets the
//! same answer as for an id that never was. Idle ones end, and those whose credential is no more. A principal has so many,
//! and the least recently used of them makes room for a new one; when the instance has as many as it may, the one of
//! whoever has most does. Every end is on the record ([`Why`]); those of a process that is killed when the next one takes
//! its data folder.
//!
//! They live in the memory of one node. A load balancer before several has to send the requests of one `Mcp-Session-Id`
//! to the node that gave it (or every request of one client to one node, by its `Authorization`); the era without sessions
//! needs nothing of that kind. A request that reaches another node is answered as for an id that never was, with 404,
//! whereupon clients initialize anew (2025-11-25, transports: session management): a node that goes costs a client one more
//! request, and no answer.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::news::Ear;
use crate::base::clock::{Clock, Millis, millis};
use crate::model::access::Rights;
use crate::model::caller::Caller;

/// Why a session ended, in the word of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Its client said so.
    Client,
    /// Nobody used it.
    Idle,
    /// It made room for another.
    Room,
    /// What it was opened with is revoked or past its time, or whoever opened it is locked out.
    Revoked,
    /// The service stops.
    Stop,
    /// The library gave it up.
    Lost,
    /// Its process was killed.
    Killed,
}

impl Why {
    pub(super) fn name(self) -> &'static str {
        match self {
            Why::Client => "client",
            Why::Idle => "idle",
            Why::Room => "room",
            Why::Revoked => "revoked",
            Why::Stop => "stop",
            Why::Lost => "lost",
            Why::Killed => "killed",
        }
    }
}

/// What is remembered of a session.
struct Bound {
    principal: Arc<str>,
    /// As of its last request.
    owner: Caller,
    /// What its owner might do when it began: its upper bound for good.
    captured: Rights,
    /// The revision that it was opened with.
    version: &'static str,
    used: Millis,
    ear: Arc<Ear>,
}

/// A session that has ended, and whose it was.
#[derive(Debug)]
pub(super) struct Ended {
    pub id: Arc<str>,
    pub owner: Caller,
}

/// What a session knows of who listens in it.
#[derive(Clone)]
pub(super) struct Heard {
    pub ear: Arc<Ear>,
    pub captured: Rights,
}

/// All sessions of the node.
pub(super) struct Sessions {
    clock: Clock,
    idle: Duration,
    most: usize,
    instance: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
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
    pub(super) fn open(&self, id: &str, owner: &Caller, version: &'static str) -> Option<Ended> {
        let principal = owner.principal();
        let mut table = self.table();
        let own = table.of.get(principal.as_str()).map_or(0, Vec::len);
        // Whoever asks for one more counts with it.
        let richest = table.counts.last().filter(|(count, _)| *count > own).map(|(_, richest)| richest.clone());
        let gives = match (own >= self.most, table.bound.len() >= self.instance) {
            (true, _) => Some(principal.as_str().into()),
            (false, true) => Some(richest.unwrap_or_else(|| principal.as_str().into())),
            (false, false) => None,
        };
        let closed = gives.and_then(|gives: Arc<str>| table.of.get(&gives)?.first().cloned());
        let closed = closed.and_then(|id| table.remove(&id));
        let owner = Caller { session: Some(id.to_owned()), ..owner.clone() };
        let (captured, used) = (owner.rights, self.clock.now());
        let principal = principal.into();
        table.insert(id.into(), Bound { principal, owner, captured, version, used, ear: Arc::default() });
        closed
    }

    /// The revision of the caller's own session, marked as used by them; `None` for any other id.
    pub(super) fn touch(&self, id: &str, caller: &Caller) -> Option<&'static str> {
        let now = self.clock.now();
        let principal = caller.principal();
        let mut table = self.table();
        let bound = table.bound.get_mut(id).filter(|bound| *bound.principal == *principal)?;
        if now - bound.used > millis(self.idle) {
            return None;
        }
        bound.used = now;
        bound.owner = Caller { session: bound.owner.session.take(), ..caller.clone() };
        let version = bound.version;
        if let Some(own) = table.of.get_mut(principal.as_str())
            && let Some(at) = own.iter().position(|own| **own == *id)
            && let Some(later) = own.get_mut(at..)
        {
            later.rotate_left(1);
        }
        Some(version)
    }

    /// What is listened to in a session.
    pub(super) fn heard(&self, id: &str) -> Option<Heard> {
        let table = self.table();
        let bound = table.bound.get(id)?;
        Some(Heard { ear: bound.ear.clone(), captured: bound.captured })
    }

    /// Forgets a session; `None` when it is forgotten already: its end is recorded once.
    pub(super) fn close(&self, id: &str) -> Option<Ended> {
        self.table().remove(id)
    }

    /// Forgets idle sessions.
    pub(super) fn sweep(&self) -> Vec<Ended> {
        let oldest = self.clock.now() - millis(self.idle);
        self.forget(|bound| bound.used < oldest)
    }

    /// Forgets the sessions whose owner's credential is among these.
    pub(super) fn disown(&self, credentials: &BTreeSet<String>) -> Vec<Ended> {
        self.forget(|bound| credentials.contains(&bound.owner.credential()))
    }

    /// Forgets all.
    pub(super) fn clear(&self) -> Vec<Ended> {
        self.forget(|_| true)
    }

    fn forget(&self, which: impl Fn(&Bound) -> bool) -> Vec<Ended> {
        let mut table = self.table();
        let ended: Vec<Arc<str>> =
            table.bound.iter().filter(|(_, bound)| which(bound)).map(|(id, _)| id.clone()).collect();
        ended.iter().filter_map(|id| table.remove(id)).collect()
    }

    /// One owner for each credential that sessions were last used with.
    pub(super) fn owners(&self) -> HashMap<String, Caller> {
        self.table().bound.values().map(|bound| (bound.owner.credential(), bound.owner.clone())).collect()
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

    fn remove(&mut self, id: &str) -> Option<Ended> {
        let (id, Bound { principal, owner, .. }) = self.bound.remove_entry(id)?;
        if let Some(own) = self.of.get_mut(&principal) {
            let before = own.len();
            own.retain(|own| *own != id);
            let count = own.len();
            if count == 0 {
                self.of.remove(&principal);
            }
            self.recount(&principal, before, count);
        }
        Some(Ended { id, owner })
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
    use crate::model::access::Role;
    use crate::model::caller::{Client, Proof};

    const VERSION: &str = "2025-11-25";

    /// Somebody with one client.
    fn who(name: &str) -> Caller {
        let org = "01936f2e-7c1a-7000-8000-000000000001".parse().unwrap();
        Caller {
            role: Role::Viewer,
            rights: Rights::NONE,
            proof: Proof::ConnectivityToken { id: name.into() },
            client: Client::default(),
            ..Caller::operator(org, String::new())
        }
    }

    /// Opens one; gives the id of the one that made room.
    fn open(sessions: &Sessions, id: &str, name: &str) -> Option<String> {
        sessions.open(id, &who(name), VERSION).map(|ended| ended.id.to_string())
    }

    fn sessions(clock: &Clock) -> Sessions {
        Sessions::new(clock.clone(), Duration::from_secs(60), 2, 5)
    }

    /// J04: an id alone opens nothing.
    #[test]
    fn a_session_answers_its_owner_only() {
        let sessions = sessions(&Clock::manual(0));
        open(&sessions, "s1", "ann");
        assert_eq!(sessions.touch("s1", &who("ann")), Some(VERSION));
        assert_eq!(sessions.touch("s1", &who("bob")), None);
        assert_eq!(sessions.touch("never", &who("ann")), None);
        sessions.close("s1");
        assert_eq!(sessions.touch("s1", &who("ann")), None);
    }

    #[test]
    fn the_least_used_session_makes_room() {
        let sessions = sessions(&Clock::manual(0));
        for id in ["s1", "s2"] {
            assert_eq!(open(&sessions, id, "ann"), None);
        }
        sessions.touch("s1", &who("ann"));
        assert_eq!(open(&sessions, "b1", "bob"), None);
        assert_eq!(open(&sessions, "s3", "ann").as_deref(), Some("s2"));
        assert_eq!(open(&sessions, "s4", "ann").as_deref(), Some("s1"));
        assert_eq!(sessions.count(), 3);
    }

    #[test]
    fn when_the_instance_is_full_whoever_has_most_makes_room() {
        let sessions = sessions(&Clock::manual(0));
        for (id, principal) in [("a1", "ann"), ("a2", "ann"), ("b1", "bob"), ("c1", "cid"), ("d1", "dan")] {
            assert_eq!(open(&sessions, id, principal), None);
        }
        sessions.touch("a1", &who("ann"));
        assert_eq!(open(&sessions, "e1", "eve").as_deref(), Some("a2"), "a newcomer is let in");
        // Nobody has more than those who want a second: their own first goes.
        assert_eq!(open(&sessions, "b2", "bob").as_deref(), Some("b1"));
        // All have one. A newcomer has none, and is let in.
        assert!(open(&sessions, "f1", "fay").is_some());
        assert_eq!((sessions.count(), sessions.touch("f1", &who("fay"))), (5, Some(VERSION)));
    }

    #[test]
    fn nothing_is_remembered_of_who_has_none() {
        let clock = Clock::manual(0);
        let sessions = sessions(&clock);
        open(&sessions, "s1", "ann");
        open(&sessions, "s2", "ann");
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
        open(&sessions, "s1", "ann");
        clock.advance(Duration::from_secs(61));
        assert_eq!(sessions.touch("s1", &who("ann")), None);
        let ended = sessions.sweep();
        assert_eq!(ended.iter().map(|ended| &*ended.id).collect::<Vec<_>>(), ["s1"]);
        assert_eq!(ended[0].owner.session.as_deref(), Some("s1"), "the record says which");
        assert!(sessions.close("s1").is_none() && sessions.sweep().is_empty(), "a session ends once");
    }

    #[test]
    fn the_sessions_of_a_credential_end_with_it_and_others_stay() {
        let sessions = sessions(&Clock::manual(0));
        for (id, name) in [("a1", "ann"), ("a2", "ann"), ("b1", "bob")] {
            open(&sessions, id, name);
        }
        assert_eq!(sessions.owners().len(), 2, "one look for each credential");
        let mut ended: Vec<String> =
            sessions.disown(&[who("ann").credential()].into()).iter().map(|ended| ended.id.to_string()).collect();
        ended.sort();
        assert_eq!(ended, ["a1", "a2"]);
        assert_eq!(sessions.touch("b1", &who("bob")), Some(VERSION));
    }

    /// What the look for idle sessions costs, of one owner who has them all: printed, and bounded.
    #[test]
    fn a_thousand_idle_sessions_are_swept_in_no_time() {
        let clock = Clock::manual(0);
        let sessions = Sessions::new(clock.clone(), Duration::from_secs(60), 1_000, 1_000);
        for number in 0..1_000 {
            assert_eq!(open(&sessions, &format!("6f1c9d4e-0000-4000-8000-{number:012}"), "ann"), None);
        }
        let started = std::time::Instant::now();
        assert!(sessions.sweep().is_empty());
        let looked = started.elapsed();
        clock.advance(Duration::from_secs(61));
        let started = std::time::Instant::now();
        assert_eq!(sessions.sweep().len(), 1_000);
        let swept = started.elapsed();
        eprintln!("1,000 idle sessions: a look that finds nothing {looked:?}, their end {swept:?}");
        assert!(looked < Duration::from_millis(50) && swept < Duration::from_millis(500), "{looked:?} {swept:?}");
    }
}
