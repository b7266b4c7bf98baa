//! Who reads data now. A call learns from the metadata which version to read, and opens its file a moment later; a
//! version that was replaced in between must still be there. It may go when every call that began before the
//! replacement has ended.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The calls that read; clones share them.
#[derive(Clone, Default)]
pub struct Readers(Arc<Inner>);

#[derive(Default)]
struct Inner {
    calls: Mutex<Calls>,
    ended: Notify,
}

#[derive(Default)]
struct Calls {
    /// Number of the next call.
    next: u64,
    running: BTreeSet<u64>,
}

/// A call that reads, until it is dropped.
pub struct Reading {
    readers: Readers,
    number: u64,
}

/// The calls that had begun at some moment.
pub struct Earlier {
    readers: Readers,
    before: u64,
}

impl Readers {
    /// Begins a call; before it looks at the metadata.
    pub fn enter(&self) -> Reading {
        let mut calls = self.calls();
        let number = calls.next;
        calls.next += 1;
        calls.running.insert(number);
        Reading { readers: self.clone(), number }
    }

    /// All that have begun by now.
    pub fn now(&self) -> Earlier {
        Earlier { readers: self.clone(), before: self.calls().next }
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Calls> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Earlier {
    /// Whether none of them runs any more.
    pub fn are_gone(&self) -> bool {
        self.readers.calls().running.first().is_none_or(|first| *first >= self.before)
    }

    /// Waits until none of them runs any more.
    pub async fn gone(self) {
        loop {
            let mut ended = std::pin::pin!(self.readers.0.ended.notified());
            // Registered before the look, so that no end in between is missed.
            ended.as_mut().enable();
            if self.are_gone() {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.readers.calls().running.remove(&self.number);
        self.readers.0.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn only_those_who_began_before_are_waited_for() {
        let readers = Readers::default();
        assert!(readers.now().are_gone());
        let (first, second) = (readers.enter(), readers.enter());
        let early = readers.now();
        let third = readers.enter();
        let late = readers.now();
        drop(second);
        assert!(!early.are_gone());
        let mut waiting = std::pin::pin!(early.gone());
        assert!(tokio::time::timeout(Duration::ZERO, &mut waiting).await.is_err());
        drop(first);
        waiting.await;
        assert!(!late.are_gone(), "the third began before it");
        drop(third);
        late.gone().await;
    }
}
