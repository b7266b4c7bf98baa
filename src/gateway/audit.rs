//! The audit log's writer: callers wait until their row is durable; rows that wait together share one transaction,
//! so that the cost of a commit is divided under load.

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::model::audit::Entry;
use crate::model::error::{Error, Result};
use crate::store::{self, Db};

/// Most rows in one transaction.
const BATCH: usize = 256;
/// Rows that may wait before callers are turned away.
const QUEUE: usize = 4096;

type Waiting = (Entry, oneshot::Sender<bool>);

/// Hands entries to the writer.
#[derive(Clone, Debug)]
pub struct AuditLog {
    queue: mpsc::Sender<Waiting>,
}

/// The writer's end of life.
pub struct AuditWriter {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl AuditWriter {
    /// Writes out what waits, takes no more, and ends.
    pub async fn finish(self) {
        self.stop.cancel();
        if self.task.await.is_err() {
            tracing::error!("the audit writer failed");
        }
    }
}

impl AuditLog {
    /// Starts the writer.
    pub fn start(db: Db) -> (Self, AuditWriter) {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let stop = CancellationToken::new();
        let task = tokio::spawn(write(db, waiting, stop.clone()));
        (Self { queue }, AuditWriter { stop, task })
    }

    /// Returns when the entry is durable.
    ///
    /// # Errors
    /// It could not be written: the answer must not leave.
    pub async fn record(&self, entry: Entry) -> Result<()> {
        let (done, written) = oneshot::channel();
        self.queue.send((entry, done)).await.map_err(|_| Error::internal("the audit writer has stopped"))?;
        match written.await {
            Ok(true) => Ok(()),
            _ => Err(Error::unavailable("The answer could not be recorded, so it was not given. Try again later.")),
        }
    }
}

async fn write(db: Db, mut waiting: mpsc::Receiver<Waiting>, stop: CancellationToken) {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        tokio::select! {
            biased;
            // Closed, the queue takes no more, and ends when what is in it was received.
            () = stop.cancelled(), if !waiting.is_closed() => waiting.close(),
            received = waiting.recv_many(&mut batch, BATCH) => {
                if received == 0 {
                    return;
                }
                let (entries, done): (Vec<Entry>, Vec<oneshot::Sender<bool>>) = batch.drain(..).unzip();
                let written = store::audit::append(&db, &entries).await.is_ok();
                metrics::counter!("dragoman_audit_rows_total").increment(entries.len() as u64);
                for done in done {
                    let _caller_left = done.send(written);
                }
            }
        }
    }
}
