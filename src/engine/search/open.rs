//! The open shards: opened by the first query, closed when others were used since, or when told. The engine lets a
//! shard be open only once, so each has a lock of its own: queries share it, opening and closing have it alone.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use lru::LruCache;

use crate::engine::search::backend::Key;
use crate::engine::search::manifest::Fault;
use crate::engine::search::shard::Shard;

type Slot = Arc<RwLock<Option<Shard>>>;

/// At most `capacity` open shards (a few more while queries on evicted ones end).
#[derive(Debug)]
pub(super) struct OpenShards {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// A key keeps its slot when its shard is closed, so that there is never a second lock for one shard.
    slots: HashMap<Key, Slot>,
    recent: LruCache<Key, ()>,
}

impl OpenShards {
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self { inner: Mutex::new(Inner { slots: HashMap::new(), recent: LruCache::new(capacity) }) }
    }

    /// Runs `work` on a shard, opening it when it is closed. Blocks.
    ///
    /// # Errors
    /// The shard cannot be opened; the next call tries again.
    pub(super) fn with<T>(
        &self,
        key: &Key,
        folder: &Path,
        encoder: &str,
        work: impl FnOnce(&Shard) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let (slot, evicted) = self.touch(key);
        if let Some(evicted) = evicted {
            *alone(&evicted) = None;
        }
        {
            let open = slot.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(shard) = open.as_ref() {
                return work(shard);
            }
        }
        let mut open = alone(&slot);
        if open.is_none() {
            *open = Some(Shard::open(folder, key.owner, encoder)?);
        }
        let open = RwLockWriteGuard::downgrade(open);
        match open.as_ref() {
            Some(shard) => work(shard),
            None => Err(Fault::Damaged("the shard closed while it was opened".into())),
        }
    }

    /// Closes a shard; waits for its queries. Its slot goes too, unless a query is about to open it there again.
    pub(super) fn close(&self, key: &Key) {
        let slot = {
            let mut inner = self.inner();
            inner.recent.pop(key);
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

    /// The slot of a key, which is now the most recent, and the slot that it pushes out.
    fn touch(&self, key: &Key) -> (Slot, Option<Slot>) {
        let mut inner = self.inner();
        let slot = inner.slots.entry(key.clone()).or_default().clone();
        let pushed = inner.recent.push(key.clone(), ()).map(|(pushed, ())| pushed).filter(|pushed| pushed != key);
        let evicted = pushed.and_then(|pushed| inner.slots.get(&pushed).cloned());
        (slot, evicted)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are open now.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.inner().slots.values().filter(|slot| slot.read().unwrap().is_some()).count()
    }
}

/// A panic in the engine while a shard is opened leaves the slot empty, so the lock is good.
fn alone(slot: &Slot) -> RwLockWriteGuard<'_, Option<Shard>> {
    slot.write().unwrap_or_else(PoisonError::into_inner)
}
