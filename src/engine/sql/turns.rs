//! Whose query runs next: no caller and no workspace takes all workers, and who takes long gives way to who waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// How long a query may keep its worker while others wait for one: less the more wait, since each that waits may
/// have to see several go. And how often it looks.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST_PATIENCE: Duration = Duration::from_secs(5);
const LEAST_PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(100);

fn patience(waiting: usize) -> Duration {
    let share = PATIENCE / u32::try_from(waiting.max(1)).unwrap_or(u32::MAX);
    share.clamp(LEAST_PATIENCE, MOST_PATIENCE)
}

/// Permits of a caller, of its workspace, and of the whole.
pub struct Turn {
    turns: Turns,
    _permits: [OwnedSemaphorePermit; 3],
}

impl Turn {
    /// Ends when this query has had its time and somebody waits for whom nobody else gives way.
    pub async fn wanted(&self) {
        let started = Instant::now();
        loop {
            tokio::time::sleep(LOOK).await;
            let waiting = self.turns.0.waiting.load(Ordering::SeqCst);
            if started.elapsed() >= patience(waiting) && self.turns.give_way() {
                return;
            }
        }
    }
}

/// Somebody who waits for a worker.
struct Waiting<'a>(&'a Inner);

impl<'a> Waiting<'a> {
    fn new(inner: &'a Inner) -> Self {
        inner.waiting.fetch_add(1, Ordering::SeqCst);
        Self(inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        // Nobody need have given way: then there is nothing to take back.
        let _none = self.0.yielded.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1));
    }
}

/// Who waits for whom.
#[derive(Clone)]
pub struct Turns(Arc<Inner>);

struct Inner {
    all: Arc<Semaphore>,
    workers: usize,
    /// Who waits for a worker, and how many queries ended for them.
    waiting: AtomicUsize,
    yielded: AtomicUsize,
    /// Those of callers and workspaces that run or wait now.
    shares: Mutex<HashMap<String, Weak<Semaphore>>>,
}

impl Turns {
    /// For so many workers at once.
    pub fn new(workers: usize) -> Self {
        Self(Arc::new(Inner {
            all: Arc::new(Semaphore::new(workers)),
            workers,
            waiting: AtomicUsize::new(0),
            yielded: AtomicUsize::new(0),
            shares: Mutex::default(),
        }))
    }

    /// Waits for a worker. One caller has at most half of them, one workspace all but one.
    ///
    /// # Errors
    /// None while the engine lives.
    pub async fn take(&self, caller: &str, workspace: &str) -> Result<Turn, AcquireError> {
        let own = self.share(format!("caller {caller}"), self.0.workers / 2).acquire_owned().await?;
        let _waiting = Waiting::new(&self.0);
        let common =
            self.share(format!("workspace {workspace}"), self.0.workers.saturating_sub(1)).acquire_owned().await?;
        let any = self.0.all.clone().acquire_owned().await?;
        Ok(Turn { turns: self.clone(), _permits: [own, common, any] })
    }

    /// Takes it upon the asker to end for one of those who wait; not when others ended for all of them.
    fn give_way(&self) -> bool {
        let waiting = self.0.waiting.load(Ordering::SeqCst);
        let next = |count: usize| (count < waiting).then_some(count + 1);
        self.0.yielded.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).is_ok()
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

    #[test]
    fn patience_ends_sooner_the_more_wait() {
        let millis = [0, 1, 2, 4, 8, 100].map(|waiting| patience(waiting).as_millis());
        assert_eq!(millis, [5_000, 5_000, 5_000, 2_500, 2_000, 2_000]);
    }

    #[tokio::test]
    async fn one_worker_is_shared_by_all() {
        let turns = Turns::new(1);
        let only = now(&turns, "a", "x").await;
        assert!(only.is_some() && now(&turns, "b", "y").await.is_none());
        drop(only);
        assert!(now(&turns, "b", "y").await.is_some());
    }

    #[tokio::test]
    async fn as_many_give_way_as_wait() {
        let turns = Turns::new(2);
        let (first, second) = (now(&turns, "a", "x").await, now(&turns, "b", "y").await);
        assert!(first.is_some() && second.is_some() && !turns.give_way(), "nobody waits");
        {
            let mut waiter = std::pin::pin!(turns.take("c", "z"));
            assert!(tokio::time::timeout(Duration::ZERO, &mut waiter).await.is_err());
            assert!(turns.give_way());
            assert!(!turns.give_way(), "one is enough for one");
            drop(first);
            assert!(waiter.await.is_ok());
        }
        let gone = now(&turns, "d", "z").await;
        assert!(gone.is_some() && !turns.give_way(), "nobody waits any more");
    }
}
