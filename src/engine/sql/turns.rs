//! Whose query runs next: no caller and no workspace takes all workers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Permits of a caller, of its workspace, and of the whole.
pub struct Turn {
    _permits: [OwnedSemaphorePermit; 3],
}

/// Who waits for whom.
#[derive(Clone)]
pub struct Turns(Arc<Inner>);

struct Inner {
    all: Arc<Semaphore>,
    workers: usize,
    /// Those of callers and workspaces that run or wait now.
    shares: Mutex<HashMap<String, Weak<Semaphore>>>,
}

impl Turns {
    /// For so many workers at once.
    pub fn new(workers: usize) -> Self {
        Self(Arc::new(Inner { all: Arc::new(Semaphore::new(workers)), workers, shares: Mutex::default() }))
    }

    /// Waits for a worker. One caller has at most half of them, one workspace all but one.
    ///
    /// # Errors
    /// None while the engine lives.
    pub async fn take(&self, caller: &str, workspace: &str) -> Result<Turn, AcquireError> {
        let own = self.share(format!("caller {caller}"), self.0.workers / 2).acquire_owned().await?;
        let common =
            self.share(format!("workspace {workspace}"), self.0.workers.saturating_sub(1)).acquire_owned().await?;
        let any = self.0.all.clone().acquire_owned().await?;
        Ok(Turn { _permits: [own, common, any] })
    }

    fn share(&self, key: String, size: usize) -> Arc<Semaphore> {
        let mut shares = self.0.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&key).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(size.max(1)));
        shares.insert(key, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn now(turns: &Turns, caller: &str, workspace: &str) -> Option<Turn> {
        tokio::time::timeout(Duration::ZERO, turns.take(caller, workspace)).await.ok().map(Result::unwrap)
    }

    #[tokio::test]
    async fn a_caller_and_a_workspace_leave_workers_to_others() {
        let turns = Turns::new(4);
        let (first, second) = (now(&turns, "a", "x").await, now(&turns, "a", "x").await);
        assert!(first.is_some() && second.is_some());
        assert!(now(&turns, "a", "x").await.is_none(), "a has half of all");
        let third = now(&turns, "b", "x").await;
        assert!(third.is_some());
        assert!(now(&turns, "c", "x").await.is_none(), "x has all but one");
        let fourth = now(&turns, "d", "y").await;
        assert!(fourth.is_some());
        assert!(now(&turns, "e", "z").await.is_none(), "all are taken");
        drop(first);
        assert!(now(&turns, "c", "x").await.is_some());
    }

    #[tokio::test]
    async fn one_worker_is_shared_by_all() {
        let turns = Turns::new(1);
        let only = now(&turns, "a", "x").await;
        assert!(only.is_some() && now(&turns, "b", "y").await.is_none());
        drop(only);
        assert!(now(&turns, "b", "y").await.is_some());
    }
}
