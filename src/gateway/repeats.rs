//! Refusals that cost their sender nothing (no credential, a bad one, over a limit, arguments that cannot be read) could
//! fill the record faster than anybody reads it. The first of a kind have rows of their own, durable before the answer
//! leaves; what follows within [`WINDOW`] is counted, and becomes one row. Memory, and with it rows a minute, are bounded
//! whatever strangers do: beyond [`KINDS`] of one sender their targets are counted together, and beyond [`SENDERS`] the
//! senders.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::base::throttle::subscriber;
use crate::model::audit::Entry;
use crate::model::org::Org;

/// How long repeats are counted for one row, and so the longest that a count waits to be durable.
const WINDOW: Millis = 60_000;
/// Rows of their own that the first of a kind have: as many as somebody gets by mistake, or by guessing before they are
/// slowed down. In a crowd of senders only the very first has one.
const OWN: usize = 5;
const CROWD: usize = 100;
/// Senders that are told apart.
const SENDERS: usize = 1_000;
/// Kinds of refusals of one sender that are told apart.
const KINDS: usize = 8;

/// The refusals of the last minute.
#[derive(Clone, Debug)]
pub(super) struct Repeats {
    clock: Clock,
    open: Arc<Mutex<HashMap<Sender, HashMap<Kind, Open>>>>,
}

/// Workspace, principal and network address.
type Sender = (Option<Id<Org>>, String, String);
/// Action, outcome and target.
type Kind = (String, String, String);

/// A kind of refusal whose first row was written.
#[derive(Debug)]
struct Open {
    since: Millis,
    /// Rows of their own so far.
    own: usize,
    /// The latest, with the number of those that have no row yet.
    last: Option<Box<Entry>>,
}

impl Repeats {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, open: Arc::default() }
    }

    /// The row to write for a refusal; `None` when it is counted for a later one.
    pub(super) fn note(&self, mut entry: Entry) -> Option<Entry> {
        let now = self.clock.now();
        let mut open = self.open();
        let own = if open.len() > CROWD { 1 } else { OWN };
        let known = place(&mut open, &mut entry, now);
        if now - known.since >= WINDOW {
            (known.since, known.own) = (now, 0);
        }
        entry.count += known.last.take().map_or(0, |last| last.count);
        if known.own < own {
            known.own += 1;
            return Some(entry);
        }
        known.last = Some(Box::new(entry));
        None
    }

    /// The rows of all windows that are over. What was silent is forgotten.
    pub(super) fn due(&self) -> Vec<Entry> {
        let latest = self.clock.now() - WINDOW;
        self.take(|open| open.since <= latest)
    }

    /// The rows of all that were counted.
    pub(super) fn all(&self) -> Vec<Entry> {
        self.take(|_| true)
    }

    /// Counts rows again that could not be written.
    pub(super) fn put_back(&self, rows: Vec<Entry>) {
        let now = self.clock.now();
        let mut open = self.open();
        for mut row in rows {
            let known = place(&mut open, &mut row, now);
            let before = known.last.take().map_or(0, |last| last.count);
            known.last = Some(Box::new(Entry { count: row.count + before, ..row }));
        }
    }

    fn take(&self, is_over: impl Fn(&Open) -> bool) -> Vec<Entry> {
        let mut rows = Vec::new();
        self.open().retain(|_, kinds| {
            kinds.retain(|_, open| {
                let over = is_over(open);
                if over {
                    rows.extend(open.last.take().map(|last| *last));
                }
                !over
            });
            !kinds.is_empty()
        });
        rows
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Sender, HashMap<Kind, Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a refusal is counted: beside others, where no more are told apart.
fn place<'o>(open: &'o mut HashMap<Sender, HashMap<Kind, Open>>, entry: &mut Entry, now: Millis) -> &'o mut Open {
    if open.len() >= SENDERS && !open.contains_key(&sender(entry)) {
        entry.principal.clear();
        entry.ip.clear();
    }
    let kinds = open.entry(sender(entry)).or_default();
    if kinds.len() >= KINDS && !kinds.contains_key(&kind(entry)) {
        entry.target.clear();
    }
    kinds.entry(kind(entry)).or_insert(Open { since: now, own: 0, last: None })
}

fn sender(entry: &Entry) -> Sender {
    let address = entry.ip.parse::<IpAddr>().map(|ip| subscriber(ip).to_string());
    (entry.org, entry.principal.clone(), address.unwrap_or_default())
}

fn kind(entry: &Entry) -> Kind {
    (entry.action.clone(), entry.outcome.clone(), entry.target.clone())
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;

    pub(in crate::gateway) fn refusal(ip: &str, target: &str) -> Entry {
        Entry {
            at: 0,
            org: None,
            principal: String::new(),
            client: String::new(),
            client_version: String::new(),
            session: String::new(),
            ip: ip.into(),
            request_id: String::new(),
            action: "auth.refused".into(),
            target: target.into(),
            outcome: "auth_missing".into(),
            duration_ms: 0,
            rows: 0,
            bytes: 0,
            count: 1,
        }
    }

    fn counts(rows: &[Entry]) -> Vec<i64> {
        rows.iter().map(|row| row.count).collect()
    }

    #[test]
    fn the_first_have_rows_at_once_and_a_minute_of_others_has_one() {
        let clock = Clock::manual(0);
        let repeats = Repeats::new(clock.clone());
        let mut rows: Vec<Entry> = Vec::new();
        for _ in 0..180 {
            rows.extend(repeats.note(refusal("192.0.2.1", "/mcp")));
            rows.extend(repeats.due());
            clock.advance(Duration::from_secs(1));
        }
        rows.extend(repeats.all());
        assert_eq!(rows.iter().map(|row| row.count).sum::<i64>(), 180, "every one is counted");
        assert!(rows.len() <= 3 * (OWN + 1) && rows[..OWN].iter().all(|row| row.count == 1), "{:?}", counts(&rows));
        assert!(repeats.open().is_empty());
    }

    #[test]
    fn what_could_not_be_written_is_counted_with_what_comes_after_it() {
        let repeats = Repeats::new(Clock::manual(0));
        let noted = |times: usize| (0..times).filter_map(|_| repeats.note(refusal("192.0.2.1", "/mcp"))).count();
        assert_eq!(noted(OWN + 2), OWN);
        let counted = repeats.all();
        repeats.put_back(counted);
        assert_eq!((noted(1), counts(&repeats.all())), (1, Vec::new()), "the first after them has them");
        assert_eq!(noted(OWN + 1), OWN);
        let counted = repeats.all();
        repeats.put_back(counted.clone());
        repeats.put_back(counted);
        assert_eq!(counts(&repeats.all()), [2]);
    }

    #[test]
    fn who_goes_on_gets_rows_each_minute_the_first_with_those_before() {
        let clock = Clock::manual(0);
        let repeats = Repeats::new(clock.clone());
        let noted = |times: usize| (0..times).filter_map(|_| repeats.note(refusal("192.0.2.1", "/mcp"))).collect();
        let rows: Vec<Entry> = noted(50);
        assert_eq!(counts(&rows), [1; OWN]);
        clock.advance(Duration::from_secs(60));
        let rows: Vec<Entry> = noted(50);
        assert_eq!(counts(&rows), [46, 1, 1, 1, 1]);
        assert_eq!(counts(&repeats.all()), [45]);
    }

    #[test]
    fn one_subscriber_is_one_sender_and_others_have_their_own_rows() {
        let repeats = Repeats::new(Clock::manual(0));
        for host in 0..OWN {
            assert!(repeats.note(refusal(&format!("2001:db8::{host}"), "/mcp")).is_some());
        }
        assert!(repeats.note(refusal("2001:db8::ffff", "/mcp")).is_none());
        assert!(repeats.note(refusal("2001:db8::ffff", "/api/v1/ext/datasets")).is_some());
        assert!(repeats.note(refusal("2001:db8:0:1::2", "/mcp")).is_some());
        assert!(repeats.note(refusal("192.0.2.1", "/mcp")).is_some());
    }

    #[test]
    fn rows_are_bounded_whatever_one_sender_writes_and_however_many_they_are() {
        let repeats = Repeats::new(Clock::manual(0));
        let one = (0..1_000).filter_map(|n| repeats.note(refusal("192.0.2.1", &format!("/{n}")))).count();
        assert_eq!(one, KINDS + OWN, "the first of each kind that is told apart, and those of all the others");
        let repeats = Repeats::new(Clock::manual(0));
        let address = |n: usize| format!("10.0.{}.{}", n / 250, n % 250);
        let many = (0..5_000).filter_map(|n| repeats.note(refusal(&address(n), "/mcp"))).count();
        assert_eq!(many, SENDERS + 1, "one row each, and one for all the others");
        let again = (100..1_000).filter_map(|n| repeats.note(refusal(&address(n), "/mcp"))).count();
        assert_eq!(again, 0, "in a crowd");
        let others: Vec<Entry> = repeats.all().into_iter().filter(|row| row.ip.is_empty()).collect();
        assert_eq!((counts(&others), others[0].target.as_str()), (vec![3_999], "/mcp"));
    }
}
