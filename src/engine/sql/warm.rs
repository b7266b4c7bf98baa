//! Workers that answered a query and may answer the next one of the same principal over the same tables: their engine
//! has the tables open and hot. The least recently used go first; a tenant that does not ask has none.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::process::Process;
use super::wire::{Tables, TaskLimits};

/// Most workers that are kept, whatever their size.
const MOST: usize = 512;

/// How long one waits for the next query.
const IDLE: Duration = Duration::from_secs(600);

/// How long a worker may live: what builds up in it, unseen, is let go.
const LIFE: Duration = Duration::from_secs(3_600);

/// What a worker may hold beside the memory that its queries may use: its program's data and its statements.
const OVERHEAD: u64 = 64 << 20;

/// After so many queries, or bytes of rows, the memory of a worker is looked at again.
const QUERIES: u32 = 64;
const BYTES: usize = 1 << 20;

/// For whom a worker works: it never serves anybody else, and never other files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub workspace: String,
    pub principal: String,
    pub tables: Tables,
}

/// A worker that has had queries. Which tables it holds, it alone knows.
pub(super) struct Bonded {
    pub process: Process,
    /// How many threads its engine has, and how many milliseconds it gives a query at most, for all of its life.
    pub threads: u32,
    time_ms: u64,
    wear: Wear,
}

impl Bonded {
    /// A new one, whose queries may use so much.
    pub(super) fn new(process: Process, limits: &TaskLimits) -> Self {
        let TaskLimits { threads, time_ms, .. } = *limits;
        Self { process, threads, time_ms, wear: Wear::new(limits.memory_mb, Instant::now()) }
    }

    /// It has answered with so many bytes of rows.
    pub(super) fn served(&mut self, bytes: usize) {
        self.wear.served(bytes, || self.process.own_memory());
    }
}

/// What has built up in a worker.
struct Wear {
    /// Its own memory in bytes when it was last looked at, and the most that it may have.
    memory: u64,
    most: u64,
    born: Instant,
    /// Queries, and bytes of their rows, since its memory was looked at.
    queries: u32,
    bytes: usize,
}

impl Wear {
    fn new(memory_mb: u64, born: Instant) -> Self {
        Self { memory: 0, most: (memory_mb << 20) + OVERHEAD, born, queries: QUERIES, bytes: 0 }
    }

    fn served(&mut self, bytes: usize, look: impl FnOnce() -> Option<u64>) {
        self.queries += 1;
        self.bytes += bytes;
        if self.queries >= QUERIES || self.bytes >= BYTES {
            // One of which nothing is known is not kept.
            self.memory = look().unwrap_or(u64::MAX);
            (self.queries, self.bytes) = (0, 0);
        }
    }

    fn is_spent(&self, now: Instant) -> bool {
        self.memory > self.most || now.saturating_duration_since(self.born) > LIFE
    }
}

struct Kept {
    bound: Bound,
    worker: Bonded,
    since: Instant,
}

/// The workers that wait for the next query.
pub(super) struct Warm {
    kept: Mutex<VecDeque<Kept>>,
    /// Most memory of all together, in bytes.
    budget: u64,
}

impl Warm {
    pub(super) fn new(budget: u64) -> Self {
        Self { kept: Mutex::default(), budget }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that was used last, of those with so many threads where there are such, when there is one that lives and
    /// gives a query as much time.
    pub(super) fn take(&self, bound: &Bound, threads: u32, time_ms: u64) -> Option<Bonded> {
        loop {
            let mut worker = {
                let mut kept = self.kept();
                let serves = |kept: &Kept| kept.bound == *bound && kept.worker.time_ms >= time_ms;
                let of = kept.iter().enumerate().rev().filter(|(_, kept)| serves(kept));
                let places: Vec<_> = of.map(|(place, kept)| (place, kept.worker.threads)).collect();
                let place = fitting(&places, threads)?;
                kept.remove(place)?.worker
            };
            if worker.process.lives() {
                return Some(worker);
            }
        }
    }

    /// Keeps a worker, unless it lived long enough or has become too large; lets go of others for it.
    pub(super) fn keep(&self, bound: Bound, worker: Bonded) {
        if worker.wear.is_spent(Instant::now()) || worker.wear.memory > self.budget {
            return;
        }
        let mut kept = self.kept();
        kept.push_back(Kept { bound, worker, since: Instant::now() });
        let mut total: u64 = kept.iter().map(|kept| kept.worker.wear.memory).sum();
        while kept.len() > MOST || total > self.budget {
            let Some(oldest) = kept.pop_front() else { break };
            total -= oldest.worker.wear.memory;
        }
    }

    /// Lets go of those that waited too long. Answers whether any are left.
    pub(super) fn expire(&self) -> bool {
        let mut kept = self.kept();
        kept.retain(|kept| kept.since.elapsed() < IDLE);
        !kept.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept().is_empty()
    }

    /// Lets go of those that hold a file in this folder, so that what is erased is gone from the disk.
    pub(super) fn forget(&self, folder: &Path) {
        self.kept().retain(|kept| !kept.bound.tables.iter().any(|table| table.file.starts_with(folder)));
    }

    /// Their process ids and memory in bytes, the least recently used first.
    pub(super) fn sizes(&self) -> Vec<(u32, u64)> {
        self.kept().iter().filter_map(|kept| Some((kept.worker.process.id()?, kept.worker.wear.memory))).collect()
    }
}

/// The first of some places, of those with so many threads where there are such.
fn fitting(places: &[(usize, u32)], threads: u32) -> Option<usize> {
    places.iter().find(|(_, own)| *own == threads).or(places.first()).map(|(place, _)| *place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_with_the_wanted_threads_goes_before_one_that_was_used_later() {
        let kept = [(7, 2), (4, 1), (1, 1)];
        assert_eq!((fitting(&kept, 2), fitting(&kept, 1)), (Some(7), Some(4)));
        assert_eq!((fitting(&kept, 8), fitting(&[], 1)), (Some(7), None), "any other rather than a new one");
    }

    #[test]
    fn a_worker_that_grew_or_aged_is_let_go_of_and_a_hot_one_is_not() {
        let born = Instant::now();
        let mut wear = Wear::new(256, born);
        wear.served(10, || Some(40 << 20));
        for _ in 1..QUERIES {
            wear.served(10, || unreachable!("its memory was looked at just now"));
        }
        for _ in 0..5_000 {
            wear.served(10, || Some(300 << 20));
        }
        assert!(!wear.is_spent(born), "however many queries it answered");
        wear.served(BYTES, || Some((320 << 20) + 1));
        assert!(wear.is_spent(born), "many rows are looked at at once");
        wear.served(BYTES, || Some(40 << 20));
        assert!(!wear.is_spent(born + LIFE) && wear.is_spent(born + LIFE + Duration::from_secs(1)));
        wear.served(BYTES, || None);
        assert!(wear.is_spent(born), "nothing is known of it");
    }
}
