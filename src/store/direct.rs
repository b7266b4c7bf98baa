//! SQLite called by hand, for what every request needs of it: the count of a workspace's changes, and the rows of the
//! record. The pool gives each connection a thread, and every statement costs the switch there and back; a count is read
//! in less time than one takes, and a row of the record needs five statements.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};
use tokio::sync::{OwnedMutexGuard, oneshot};

/// How long a writer waits for one of another process.
const BUSY: Duration = Duration::from_secs(10);

/// How every connection is set, the pool's too: an acknowledged write survives a crash, and what is deleted is overwritten
/// with zeros, not only unlinked.
pub(super) const PRAGMAS: [&str; 5] = [
    "PRAGMA busy_timeout = 10000",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
];

/// A transaction that is to be made, holding the writers' turn.
type Order = (OwnedMutexGuard<()>, Box<dyn FnOnce(&mut Connection) + Send>);

/// Two connections to the file: one that reads where it is asked, and one that writes on a thread of its own. Clones
/// share them; the file must have its tables.
#[derive(Clone, Debug)]
pub(super) struct Direct(Arc<Both>);

#[derive(Debug)]
struct Both {
    reader: Mutex<Option<Connection>>,
    orders: Mutex<Option<mpsc::Sender<Order>>>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

impl Direct {
    pub(super) fn open(file: &Path) -> sqlx::Result<Self> {
        let reader = Mutex::new(Some(connect(file).map_err(failed)?));
        let mut writer = connect(file).map_err(failed)?;
        let (orders, ordered) = mpsc::channel::<Order>();
        let (ends, ended) = oneshot::channel();
        std::thread::Builder::new().name("record".into()).spawn(move || {
            for (turn, order) in ordered {
                order(&mut writer);
                drop(turn);
            }
            drop(writer);
            let _nobody_waits = ends.send(());
        })?;
        let (orders, ended) = (Mutex::new(Some(orders)), Mutex::new(Some(ended)));
        Ok(Self(Arc::new(Both { reader, orders, ended })))
    }

    /// The number that a statement finds for a key, by a look now: a few microseconds, and no waiting for writers. `None`
    /// where there is none, or when it cannot be read.
    pub(super) fn number(&self, sql: &'static str, key: &str) -> Option<i64> {
        let reader = self.0.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let look = |reader: &Connection| reader.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional();
        look(reader.as_ref()?).unwrap_or_else(|problem| {
            tracing::warn!(%problem, "a number cannot be read");
            None
        })
    }

    /// Does something in a transaction on the writing thread, in the writers' turn; what it did is durable when this
    /// returns, or none of it is there. Goes on when the caller is dropped.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        turn: OwnedMutexGuard<()>,
        what: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> sqlx::Result<T> {
        let (tell, told) = oneshot::channel();
        let order = move |writer: &mut Connection| {
            let _caller_left = tell.send(transact(writer, what));
        };
        let orders = self.0.orders.lock().unwrap_or_else(PoisonError::into_inner).clone();
        orders.and_then(|orders| orders.send((turn, Box::new(order))).ok()).ok_or(sqlx::Error::PoolClosed)?;
        told.await.map_err(|_| sqlx::Error::WorkerCrashed)?.map_err(failed)
    }

    /// Waits for what is being written, and closes both.
    pub(super) async fn close(&self) {
        self.0.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.0.orders.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            let _or_it_panicked = ended.await;
        }
    }
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY)?;
    for pragma in PRAGMAS {
        // Some answer with a row, which nobody reads.
        connection.prepare(pragma)?.query([])?.next()?;
    }
    Ok(connection)
}

fn transact<T>(
    writer: &mut Connection,
    what: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = what(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// For callers who know the pool's errors alone.
fn failed(problem: rusqlite::Error) -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::other(problem))
}
