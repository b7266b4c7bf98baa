//! The open shards: opened by the first query, closed when others need the memory, or when told. The engine lets a
//! shard be open only once, so each has a lock of its own: queries share it, opening and closing have it alone.
//!
//! What is counted is memory: hundreds of small ones stay open, and a search over all of them opens none. Each maps 60 to
//! 100 files, of which Linux lets a process have 65,530 (`vm.max_map_count`), and keeps one open, of which it often has
//! 1,024, so that their number has an end too.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use lru::LruCache;

use crate::engine::search::backend::Key;
use crate::engine::search::manifest::Fault;
use crate::engine::search::shard::Shard;

/// Bytes of memory that an open shard takes, and each of its chunks, rounded up: `tests/bench/retrieval` measures them.
const SHARD: u64 = 1 << 20;
const CHUNK: u64 = 2 << 10;

/// Most shards that are open, however small.
const MOST: usize = 400;

type Slot = Arc<RwLock<Option<Shard>>>;

/// Open shards of at most `capacity` bytes together, and one that is larger by itself (a few more while queries end).
#[derive(Debug)]
pub(super) struct OpenShards {
    capacity: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// A key keeps its slot when its shard is closed, so that there is never a second lock for one shard.
    slots: HashMap<Key, Slot>,
    /// Those that are open, with their bytes.
    recent: LruCache<Key, u64>,
    bytes: u64,
}

/// Bytes that an open shard of so many chunks counts for.
pub(super) const fn bytes_of(chunks: u64) -> u64 {
    SHARD + chunks * CHUNK
}

impl OpenShards {
    pub(super) fn new(capacity: u64) -> Self {
        let inner = Inner { slots: HashMap::new(), recent: LruCache::unbounded(), bytes: 0 };
        Self { capacity, inner: Mutex::new(inner) }
    }

    /// Runs `work` on a shard, opening it when it is closed. Blocks.
    ///
    /// # Errors
    /// The shard cannot be opened; the next call tries again.
    pub(super) fn with<T>(
        &self,
        key: &Key,
        folder: &Path,
        work: impl FnOnce(&Shard) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let slot = self.touch(key);
        {
            let open = slot.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(shard) = open.as_ref() {
                return work(shard);
            }
        }
        let mut open = alone(&slot);
        let mut evicted = Vec::new();
        if open.is_none() {
            let shard = Shard::open(folder, key.owner)?;
            evicted = self.admit(key, bytes_of(shard.chunks()));
            *open = Some(shard);
        }
        let open = RwLockWriteGuard::downgrade(open);
        let done = match open.as_ref() {
            Some(shard) => work(shard),
            None => Err(Fault::Damaged("the shard closed while it was opened".into())),
        };
        drop(open);
        // Only now: who waited for the lock of another while holding one could wait for whoever waits for it.
        for (key, slot) in evicted {
            self.evict(&key, &slot);
        }
        done
    }

    /// Whether a shard is open now.
    pub(super) fn is_open(&self, key: &Key) -> bool {
        self.inner().recent.contains(key)
    }

    /// Closes a shard; waits for its queries. Its slot goes too, unless a query is about to open it there again.
    pub(super) fn close(&self, key: &Key) {
        let slot = {
            let mut inner = self.inner();
            inner.forget(key);
            inner.slots.get(key).cloned()
        };
        let Some(slot) = slot else { return };
        *alone(&slot) = None;
        drop(slot);
        let mut inner = self.inner();
        if inner.slots.get(key).is_some_and(|slot| Arc::strong_count(slot) == 1) {
            inner.slots.remove(key);
        }
    }

    /// Runs `work` while a shard is closed and nobody can open it; the next query opens what is there then.
    pub(super) fn replace<T>(&self, key: &Key, work: impl FnOnce() -> T) -> T {
        let slot = self.touch(key);
        let mut open = alone(&slot);
        self.inner().forget(key);
        *open = None;
        work()
    }

    /// The slot of a key, which is now the most recent.
    fn touch(&self, key: &Key) -> Slot {
        let mut inner = self.inner();
        inner.recent.promote(key);
        inner.slots.entry(key.clone()).or_default().clone()
    }

    /// Counts a shard that is being opened; gives those that must make room for it, the longest unused first.
    fn admit(&self, key: &Key, bytes: u64) -> Vec<(Key, Slot)> {
        let mut inner = self.inner();
        inner.forget(key);
        let mut evicted = Vec::new();
        while (inner.bytes + bytes > self.capacity || inner.recent.len() >= MOST)
            && let Some((oldest, freed)) = inner.recent.pop_lru()
        {
            inner.bytes -= freed;
            evicted.extend(inner.slots.get(&oldest).cloned().map(|slot| (oldest, slot)));
        }
        inner.recent.put(key.clone(), bytes);
        inner.bytes += bytes;
        evicted
    }

    /// Closes one that made room, unless it was opened again meanwhile.
    fn evict(&self, key: &Key, slot: &Slot) {
        let mut open = alone(slot);
        if !self.is_open(key) {
            *open = None;
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are open now.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.inner().slots.values().filter(|slot| slot.read().unwrap().is_some()).count()
    }

    /// What they count for.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.inner().bytes
    }
}

impl Inner {
    fn forget(&mut self, key: &Key) {
        self.bytes -= self.recent.pop(key).unwrap_or(0);
    }
}

/// A panic in the engine while a shard is opened leaves the slot empty, so the lock is good.
fn alone(slot: &Slot) -> RwLockWriteGuard<'_, Option<Shard>> {
    slot.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;
    use crate::engine::search::manifest::Owner;

    #[test]
    fn small_shards_make_room_for_others_too() {
        let clock = Clock::system();
        let open = OpenShards::new(u64::MAX);
        let admitted = || {
            let key = Key { owner: Owner { org: Id::new(&clock), dataset: Id::new(&clock) }, version: "1".into() };
            drop(open.touch(&key));
            (open.admit(&key, 1), key)
        };
        let (_, first) = admitted();
        for _ in 1..MOST {
            assert!(admitted().0.is_empty());
        }
        let evicted = admitted().0;
        assert_eq!(evicted.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), [first]);
    }
}
