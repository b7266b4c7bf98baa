//! Workers that answered a query and may answer the next one of the same principal over the same tables: their engine
//! has the tables open and hot. The least recently used go first; a tenant that does not ask has none.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::process::Process;
use super::wire::Tables;

/// Most workers that are kept, whatever their size.
const MOST: usize = 128;

/// How long one waits for the next query.
const IDLE: Duration = Duration::from_secs(600);

/// Queries in a worker's life: what builds up in it, unseen, is let go.
const QUERIES: u32 = 1_000;

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
    pub queries: u32,
}

struct Kept {
    bound: Bound,
    worker: Bonded,
    memory: u64,
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

    /// The one that was used last, when there is one that lives.
    pub(super) fn take(&self, bound: &Bound) -> Option<Bonded> {
        loop {
            let mut worker = {
                let mut kept = self.kept();
                let place = kept.iter().rposition(|kept| kept.bound == *bound)?;
                kept.remove(place)?.worker
            };
            if worker.process.lives() {
                return Some(worker);
            }
        }
    }

    /// Keeps a worker, unless it served long enough or is too large; lets go of others for it.
    pub(super) fn keep(&self, bound: Bound, worker: Bonded) {
        let Some(memory) = worker.process.own_memory().filter(|size| *size <= self.budget) else { return };
        if worker.queries >= QUERIES {
            return;
        }
        let mut kept = self.kept();
        kept.push_back(Kept { bound, worker, memory, since: Instant::now() });
        let mut total: u64 = kept.iter().map(|kept| kept.memory).sum();
        while kept.len() > MOST || total > self.budget {
            let Some(oldest) = kept.pop_front() else { break };
            total -= oldest.memory;
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
        self.kept().iter().filter_map(|kept| Some((kept.worker.process.id()?, kept.memory))).collect()
    }
}
