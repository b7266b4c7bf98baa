//! The audit log's writer: callers wait until their row is durable; rows that wait together share one transaction,
//! so that the cost of a commit is divided under load. Refusals that repeat are counted first ([`super::repeats`]). The
//! end of the service waits for who has begun and has no row yet ([`AuditLog::end`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::repeats::Repeats;
use crate::base::clock::Clock;
use crate::identity::uses::Uses;
use crate::model::audit::Entry;
use crate::model::error::{Error, Result};
use crate::store::{self, Db};

/// Most rows in one transaction.
const BATCH: usize = 256;
/// Rows that may wait for the writer; who comes after them waits for a place.
const QUEUE: usize = 4096;
/// How often it is looked whether counted repeats are due, and uses of tokens, where nothing else is written; and where
/// the last row could not be written, whether the next could.
const LOOK: Duration = Duration::from_secs(5);
/// How often uses of tokens are written with rows.
const USES: Duration = Duration::from_secs(1);
/// How long the end of the service waits for the rows of calls that it told to stop.
const END: Duration = Duration::from_secs(5);

/// An entry, and who waits for it; nobody, for one that stands for repeats.
type Waiting = (Entry, Option<oneshot::Sender<bool>>);

/// Hands entries to the writer.
#[derive(Clone, Debug)]
pub struct AuditLog {
    queue: mpsc::Sender<Waiting>,
    repeats: Repeats,
    /// Whether what was to be written last is written.
    is_written: Arc<AtomicBool>,
    /// The calls, and what is answered without one, that have no row yet.
    calls: TaskTracker,
    ending: CancellationToken,
}

/// The writer's end of life.
pub struct AuditWriter {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl AuditWriter {
    /// Writes out what waits and what is counted, takes no more, and ends.
    pub async fn finish(self) {
        self.stop.cancel();
        if self.task.await.is_err() {
            tracing::error!("the audit writer failed");
        }
    }
}

impl AuditLog {
    /// Starts the writer; it writes the uses of tokens too.
    pub fn start(db: Db, clock: Clock, uses: Uses) -> (Self, AuditWriter) {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let stop = CancellationToken::new();
        let (repeats, is_written) = (Repeats::new(clock), Arc::new(AtomicBool::new(true)));
        let book = Book { db, uses, used: Instant::now(), repeats: repeats.clone(), is_written: is_written.clone() };
        let task = tokio::spawn(write(book, waiting, stop.clone()));
        let log = Self { queue, repeats, is_written, calls: TaskTracker::new(), ending: CancellationToken::new() };
        (log, AuditWriter { stop, task })
    }

    /// Begins a call, or an answer without one, that will have a row; what this gives is dropped when the row is
    /// durable.
    ///
    /// # Errors
    /// `service_unavailable`: the service ends.
    pub fn begin(&self) -> Result<TaskTrackerToken> {
        let call = self.calls.token();
        // Looked at afterwards: the end waits for whoever does not see it here.
        match self.ending.is_cancelled() {
            true => Err(Error::unavailable("The service is stopping. Try again in a moment.")),
            false => Ok(call),
        }
    }

    /// Whether rows can be written, as far as is known: an answer without its row is not given.
    pub fn is_written(&self) -> bool {
        self.is_written.load(Ordering::Relaxed)
    }

    /// How many have begun and have no row yet.
    pub(super) fn under_way(&self) -> usize {
        self.calls.len()
    }

    /// Ready when the service ends.
    pub async fn ending(&self) {
        self.ending.cancelled().await;
    }

    /// For the end of the service: no call begins any more, and those that have begun are told to stop and waited for, so
    /// that what they have changed is on the record.
    pub async fn end(&self) {
        self.ending.cancel();
        self.calls.close();
        if tokio::time::timeout(END, self.calls.wait()).await.is_err() {
            tracing::warn!("{} calls go on after they were told to stop, and have no row", self.calls.len());
        }
    }

    /// Returns when the entry is durable.
    ///
    /// # Errors
    /// It could not be written: the answer must not leave.
    pub async fn record(&self, entry: Entry) -> Result<()> {
        let (done, written) = oneshot::channel();
        let stopped = |_| Error::internal("the audit writer has stopped");
        self.queue.send((entry, Some(done))).await.map_err(stopped)?;
        match written.await {
            Ok(true) => Ok(()),
            _ => Err(Error::unavailable("The answer could not be recorded, so it was not given. Try again later.")),
        }
    }

    /// As [`AuditLog::record`], for a refusal that anybody can have as often as they like: the first few of a kind, five
    /// in a minute, have rows of their own, and those that follow are counted for one that is written later.
    ///
    /// # Errors
    /// As [`AuditLog::record`].
    pub async fn refused(&self, entry: Entry) -> Result<()> {
        match self.repeats.note(entry) {
            Some(row) => self.record(row).await,
            None => Ok(()),
        }
    }
}

async fn write(mut book: Book, mut waiting: mpsc::Receiver<Waiting>, stop: CancellationToken) {
    let mut look = tokio::time::interval(LOOK);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        tokio::select! {
            biased;
            // Closed, the queue takes no more, and ends when what is in it was received.
            () = stop.cancelled(), if !waiting.is_closed() => waiting.close(),
            _ = look.tick() => book.look().await,
            received = waiting.recv_many(&mut batch, BATCH) => {
                if received == 0 {
                    return book.append(book.repeats.all().into_iter().map(|entry| (entry, None))).await;
                }
                book.append(batch.drain(..)).await;
            }
        }
    }
}

/// What is written to, and what is written with it now and then.
struct Book {
    db: Db,
    uses: Uses,
    used: Instant,
    repeats: Repeats,
    is_written: Arc<AtomicBool>,
}

impl Book {
    /// Writes what is due. Where the last row could not be written, finds out whether the next could: while the service
    /// is not ready, nobody may come who brings one.
    async fn look(&mut self) {
        let due = self.repeats.due();
        self.append(due.into_iter().map(|entry| (entry, None))).await;
        if !self.is_written.load(Ordering::Relaxed) {
            self.is_written.store(store::audit::try_writing(&self.db).await.is_ok(), Ordering::Relaxed);
        }
    }

    async fn append(&mut self, batch: impl Iterator<Item = Waiting>) {
        let (entries, done): (Vec<Entry>, Vec<_>) = batch.unzip();
        let uses = if self.used.elapsed() < USES && !entries.is_empty() { Vec::new() } else { self.uses.take() };
        if !uses.is_empty() {
            self.used = Instant::now();
        }
        if entries.is_empty() && uses.is_empty() {
            return;
        }
        // Of a row that somebody waits for, those that were counted before it.
        let before = |(entry, done): (&Entry, &Option<_>)| {
            let count = entry.count - i64::from(done.is_some());
            (count > 0).then(|| Entry { count, ..entry.clone() })
        };
        let counted: Vec<Entry> = entries.iter().zip(&done).filter_map(before).collect();
        metrics::counter!("dragoman_audit_rows_total").increment(entries.len() as u64);
        let written = store::audit::append(&self.db, entries, uses.clone()).await.is_ok();
        self.is_written.store(written, Ordering::Relaxed);
        if !written {
            self.uses.put_back(uses);
            self.repeats.put_back(counted);
        }
        for done in done.into_iter().flatten() {
            let _caller_left = done.send(written);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::gateway::repeats::tests::refusal;

    #[tokio::test]
    async fn the_end_waits_for_the_rows_of_calls_that_have_begun() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
        let (audit, writer) = AuditLog::start(db.clone(), Clock::manual(0), Uses::default());
        let call = audit.begin().unwrap();
        let mut end = std::pin::pin!(audit.end());
        assert!(end.as_mut().now_or_never().is_none(), "a call has no row yet");
        assert!(audit.ending().now_or_never().is_some() && audit.begin().is_err());
        audit.record(refusal("192.0.2.1", "/mcp")).await.unwrap();
        drop(call);
        end.await;
        writer.finish().await;
        assert_eq!(store::audit::newest(&db, None, 10).await.unwrap().len(), 1);
    }

    fn book(db: &Db, repeats: &Repeats) -> Book {
        let is_written = Arc::new(AtomicBool::new(true));
        Book { db: db.clone(), uses: Uses::default(), used: Instant::now(), repeats: repeats.clone(), is_written }
    }

    #[tokio::test]
    async fn where_a_row_could_not_be_written_it_is_found_out_when_the_next_can() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
        let run = async |sql: &'static str| sqlx::query(sql).execute(db.pool()).await.unwrap();
        let mut book = book(&db, &Repeats::new(Clock::manual(0)));
        let is_written = book.is_written.clone();
        book.append([(refusal("192.0.2.1", "/mcp"), None)].into_iter()).await;
        assert!(is_written.load(Ordering::Relaxed));
        run("CREATE TRIGGER full BEFORE UPDATE ON audit_heads BEGIN SELECT RAISE(ABORT, 'disk full'); END").await;
        book.append([(refusal("192.0.2.1", "/mcp"), None)].into_iter()).await;
        book.look().await;
        assert!(!is_written.load(Ordering::Relaxed), "nobody brings a row, and none could be written");
        run("DROP TRIGGER full").await;
        book.look().await;
        assert!(is_written.load(Ordering::Relaxed));
        assert_eq!(store::audit::newest(&db, None, 10).await.unwrap().len(), 1, "it brings no row itself");
    }

    #[tokio::test]
    async fn refusals_that_were_counted_are_not_lost_when_the_database_fails() {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open_sqlite(&folder.path().join("metadata.sqlite")).await.unwrap();
        let run = async |sql: &'static str| sqlx::query(sql).execute(db.pool()).await.unwrap();
        let repeats = Repeats::new(Clock::manual(0));
        let mut book = book(&db, &repeats);
        let rows: Vec<Entry> = (0..7).filter_map(|_| repeats.note(refusal("192.0.2.1", "/mcp"))).collect();
        book.append(rows.into_iter().map(|row| (row, None))).await;

        run("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'disk full'); END").await;
        let counted = repeats.all();
        assert_eq!(counted.len(), 1);
        book.append(counted.into_iter().map(|row| (row, None))).await;
        assert!(!book.is_written.load(Ordering::Relaxed));
        run("DROP TRIGGER full").await;
        let counted = repeats.all();
        book.append(counted.into_iter().map(|row| (row, None))).await;
        let kept = store::audit::newest(&db, None, 10).await.unwrap();
        assert_eq!(kept.iter().map(|(_, row)| row.count).sum::<i64>(), 7);
    }
}
