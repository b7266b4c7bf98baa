//! Worker processes: spare ones, started ahead of need, and warm ones, which hold a caller's tables.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::attend::{Attended, Running, attend, cancelled, resume};
use super::process::{Process, Spawner};
use super::warm::{Bonded, Bound, Warm};
use super::wire::{self, Order, Outcome, Rows, Task, TaskLimits};
use crate::engine::job::OnProgress;
use crate::model::error::{Error, Result};

/// Spare workers that wait for a task.
const SPARE: usize = 3;

/// What lies between one try to start a worker and the next. A want of processes, memory or files passes, or does not.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// When a caller for whom no worker could be started may ask again, in seconds.
const RETRY: u64 = 5;

/// How often warm workers are looked through for those that waited too long.
const SWEEP: Duration = Duration::from_secs(60);

/// Starts, keeps and ends the workers of a process.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    program: PathBuf,
    /// Nothing until the first start.
    spawner: Mutex<Option<Spawner>>,
    spare: Mutex<Vec<Process>>,
    is_filling: AtomicBool,
    warm: Warm,
    running: AtomicUsize,
    cores: usize,
    is_sweeping: AtomicBool,
    confinement_told: AtomicBool,
}

impl Pool {
    /// `program` is this program; `warm_bytes` the most memory of workers that wait for their caller's next query.
    /// Workers start with the first call of [`Pool::warm_up`] or of a task.
    pub(super) fn new(program: PathBuf, warm_bytes: u64) -> Self {
        Self(Arc::new(Inner {
            program,
            spawner: Mutex::default(),
            spare: Mutex::default(),
            is_filling: AtomicBool::new(false),
            warm: Warm::new(warm_bytes),
            running: AtomicUsize::new(0),
            cores: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            is_sweeping: AtomicBool::new(false),
            confinement_told: AtomicBool::new(false),
        }))
    }

    /// Starts spare workers in the background until enough are ready: one after the other, so that they take no
    /// processor from queries that begin now. Needs a runtime.
    pub(super) fn warm_up(&self) {
        if self.spare().len() >= SPARE || self.0.is_filling.swap(true, Ordering::SeqCst) {
            return;
        }
        let filling = Filling(self.clone());
        tokio::spawn(async move {
            let pool = filling.0.clone();
            while pool.spare().len() < SPARE {
                match pool.start().await {
                    Ok(process) => pool.spare().push(process),
                    Err(cause) => {
                        // The next query tries again.
                        tracing::warn!(%cause, "no spare SQL worker could be started");
                        return;
                    }
                }
            }
            drop(filling);
            // Who took one just before relied on this.
            pool.warm_up();
        });
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Process>> {
        self.0.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawner(&self) -> io::Result<Spawner> {
        let mut spawner = self.0.spawner.lock().unwrap_or_else(PoisonError::into_inner);
        match &*spawner {
            Some(spawner) => Ok(spawner.clone()),
            None => Ok(spawner.insert(Spawner::new(self.0.program.clone())?).clone()),
        }
    }

    async fn start(&self) -> io::Result<Process> {
        let process = self.spawner()?.start().await?;
        let wire::Confinement { landlock, seccomp } = process.confinement;
        let is_whole = landlock && seccomp;
        if !is_whole && !self.0.confinement_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                landlock,
                seccomp,
                "this kernel does not enforce all layers; SQL workers are confined by the engine's locks, limits and \
                 what is left of these"
            );
        }
        Ok(process)
    }

    /// A fresh worker that has the task. One that cannot be started, or ends before it begins, is tried again as long as
    /// that may help and the caller has `patience`.
    ///
    /// # Errors
    /// `service_unavailable`; `query_timeout` when the caller cancelled.
    async fn begin(&self, task: &Task, patience: Duration, cancel: &CancellationToken) -> Result<Process> {
        let frame = wire::encode(task).map_err(Error::internal)?;
        let tries = async {
            for pause in PAUSES {
                match self.attempt(&frame).await {
                    Ok(process) => return Ok(process),
                    Err(cause) if !can_pass(&cause) => return Err(cause),
                    Err(cause) => tracing::warn!(%cause, "an SQL worker did not start; it is tried again"),
                }
                tokio::time::sleep(pause).await;
            }
            self.attempt(&frame).await
        };
        let begun = tokio::select! {
            begun = tokio::time::timeout(patience, tries) => begun,
            () = cancel.cancelled() => return Err(cancelled()),
        };
        let cause = match begun {
            Ok(Ok(process)) => return Ok(process),
            Ok(Err(cause)) => cause,
            Err(_) => io::Error::new(io::ErrorKind::TimedOut, "the time of the call is over"),
        };
        tracing::error!(%cause, "no SQL worker could be started for a query");
        let message = "The SQL engine could not start, most likely because the machine is short of processes, memory or \
                       files. Try again in a few seconds.";
        Err(Error::unavailable(message).retry_after(RETRY))
    }

    /// One try. A spare worker that died while it waited is replaced: it cannot have begun.
    async fn attempt(&self, frame: &[u8]) -> io::Result<Process> {
        loop {
            let waiting = self.spare().pop();
            let was_waiting = waiting.is_some();
            let mut process = match waiting {
                Some(process) => process,
                None => self.start().await?,
            };
            match process.begin(frame).await {
                Ok(()) => {
                    self.warm_up();
                    return Ok(process);
                }
                Err(problem) if was_waiting => tracing::warn!(%problem, "an SQL worker died while it waited"),
                Err(problem) => return Err(problem),
            }
        }
    }

    /// Runs one query, in a worker that has the tables already or else in a fresh one, which may take `patience` to
    /// start. `time` is the query's own, once a worker has it, and ends with the patience; the rows come as an Arrow
    /// stream.
    ///
    /// # Errors
    /// What the worker found; `service_unavailable` when none could be started; `query_timeout` when `time` is over (the
    /// query is interrupted, and killed a second later) or the caller cancelled; `limit_exceeded` when memory ran out;
    /// `internal_error` when the worker died otherwise.
    pub(super) async fn query(
        &self,
        bound: Bound,
        sql: &str,
        limits: &TaskLimits,
        time: Duration,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<(Rows, Vec<u8>)> {
        let deadline = Instant::now() + patience;
        let running = Running::new(&self.0.running);
        let threads = threads(self.0.cores, running.count(), limits.threads);
        let mut also = Vec::new();
        if let Some(mut worker) = self.0.warm.take(&bound, threads, limits.time_ms) {
            let limits = TaskLimits { threads: worker.threads, ..limits.clone() };
            let frame = wire::encode(&Order::Query { sql: sql.to_owned(), limits }).map_err(Error::internal)?;
            let time = time.min(patience);
            if let Some(attended) = resume(&mut worker.process, &running, &frame, time, cancel).await? {
                match attended.outcome {
                    Ok(Outcome::Unattached { needed }) => also = needed,
                    _ => return self.answered(bound, attended, worker),
                }
            }
        }
        let limits = TaskLimits { threads, ..limits.clone() };
        let task = Task::Query { tables: bound.tables.clone(), also, sql: sql.to_owned(), limits: limits.clone() };
        let mut process = self.begin(&task, left(deadline), cancel).await?;
        let attended = attend(&mut process, &running, time.min(left(deadline)), cancel, None).await?;
        self.answered(bound, attended, Bonded::new(process, &limits))
    }

    /// The rows; the worker is kept for the next query when it may serve on.
    fn answered(&self, bound: Bound, attended: Attended, mut worker: Bonded) -> Result<(Rows, Vec<u8>)> {
        let Attended { serves_on, outcome, payload } = attended;
        if serves_on {
            worker.served(payload.len());
            self.0.warm.keep(bound, worker);
            self.sweep();
        }
        match outcome? {
            Outcome::Rows(rows) => Ok((rows, payload)),
            other => Err(Error::internal(format!("a worker answered a query with {other:?}"))),
        }
    }

    /// Runs one task in a worker of its own. `time` is that of the start and the task together.
    ///
    /// # Errors
    /// As [`Pool::query`].
    pub(super) async fn alone(
        &self,
        task: &Task,
        time: Duration,
        cancel: &CancellationToken,
        on_progress: Option<OnProgress>,
    ) -> Result<Outcome> {
        let deadline = Instant::now() + time;
        let mut process = self.begin(task, time, cancel).await?;
        let running = Running::new(&self.0.running);
        let attended = attend(&mut process, &running, left(deadline), cancel, on_progress).await;
        drop(running);
        // It may have written to files of the caller's: from here on nobody does.
        process.end().await;
        attended?.outcome
    }

    /// Looks through the warm workers now and then, as long as there are any.
    fn sweep(&self) {
        if self.0.is_sweeping.swap(true, Ordering::SeqCst) {
            return;
        }
        let pool = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(pool) = pool.upgrade() else { return };
                if !pool.warm.expire() {
                    // Whoever keeps a worker from here on starts the next sweep; who did just before relied on this.
                    pool.is_sweeping.store(false, Ordering::SeqCst);
                    if pool.warm.is_empty() || pool.is_sweeping.swap(true, Ordering::SeqCst) {
                        return;
                    }
                }
            }
        });
    }

    /// Lets go of warm workers that hold a file in this folder.
    pub(super) fn forget(&self, folder: &Path) {
        self.0.warm.forget(folder);
    }

    /// The process ids of the workers that wait for a task.
    pub(super) fn waiting(&self) -> Vec<u32> {
        self.spare().iter().filter_map(Process::id).collect()
    }

    /// Process ids and memory in bytes of the workers that wait for their caller's next query.
    pub(super) fn warm(&self) -> Vec<(u32, u64)> {
        self.0.warm.sizes()
    }
}

/// Whether another try to start a worker may go better: not where there is no such program, or none that may be run,
/// nor where one try took as long as all may.
fn can_pass(cause: &io::Error) -> bool {
    !matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::TimedOut)
}

/// Threads for a query, where as many run as these: its part of the cores. More would only take turns, and each statement
/// wakes all of them, however small it is.
fn threads(cores: usize, running: usize, most: u32) -> u32 {
    let part = u32::try_from(cores / running.max(1)).unwrap_or(most);
    part.clamp(1, most.max(1))
}

/// What is left of a time; zero when it is over.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Who starts spare workers: nobody else does until it is dropped.
struct Filling(Pool);

impl Drop for Filling {
    fn drop(&mut self) {
        self.0.0.is_filling.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_alone_has_all_threads_that_it_may_have_and_one_in_a_crowd_its_part() {
        let on = |cores: usize| [1, 2, 3, 4, 16].map(|running| threads(cores, running, 2));
        assert_eq!(on(2), [2, 1, 1, 1, 1]);
        assert_eq!(on(8), [2, 2, 2, 2, 1]);
        assert_eq!((threads(1, 1, 2), threads(64, 1, 8), threads(0, 0, 0)), (1, 8, 1));
    }
}
