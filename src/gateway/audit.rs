//! The audit log's writer: callers wait until their row is durable; rows that wait together share one transaction,
//! so that the cost of a commit is divided under load.

use tokio::sync::{mpsc, oneshot};

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

impl AuditLog {
    /// Starts the writer; it ends when the last handle is dropped and its queue is written.
    pub fn start(db: Db) -> (Self, tokio::task::JoinHandle<()>) {
        let (queue, waiting) = mpsc::channel(QUEUE);
        (Self { queue }, tokio::spawn(write(db, waiting)))
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

async fn write(db: Db, mut waiting: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        let (entries, done): (Vec<Entry>, Vec<oneshot::Sender<bool>>) = batch.drain(..).unzip();
        let written = store::audit::append(&db, &entries).await.is_ok();
        metrics::counter!("dragoman_audit_rows_total").increment(entries.len() as u64);
        for done in done {
            let _caller_left = done.send(written);
        }
    }
}
