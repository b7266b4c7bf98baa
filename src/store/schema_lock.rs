//! Who works on the tables of a PostgreSQL: every process that has them open holds an advisory lock that it shares with
//! the others, on a connection that does nothing else. Whoever would change the tables needs it alone. The server takes
//! it from who is gone, by no clock.
//!
//! Whoever opens the database has a turn, so that nobody comes while it is found out who is there: of two programs that
//! start at once over an empty database the second finds the tables of the first. The turn and the tables are locks of two
//! keys, the product's and a number of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::{AnyConnection, Connection as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{BOUNDS, Backend, OpenError, POSTGRES, TURN, inspect, migrate};
use crate::base::secret::Secret;

/// How often the connection is tried: for about so long others may change the tables after it was lost.
const LOOK: Duration = Duration::from_secs(2);
/// How long the server may take to answer. Longer than a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who it is, to whoever looks at the server's connections.
const NAME: &str = concat!("SELECT set_config('application_name', 'dragoman ", env!("CARGO_PKG_VERSION"), "', false)");

/// Waits for the turn, for as long as others take to change the tables, and has it until the transaction ends.
const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SELECT pg_advisory_xact_lock(1685217639, 1)";
/// Whether nobody else has the tables; if so, nobody has until the transaction ends.
const ALONE: &str = "SELECT CAST(CASE WHEN pg_try_advisory_xact_lock(1685217639, 2) THEN 1 ELSE 0 END AS BIGINT)";
/// Has the tables until the connection ends.
const SHARE: &str = "SELECT 1 FROM pg_advisory_lock_shared(1685217639, 2)";
const UNSHARE: &str = "SELECT 1 FROM pg_advisory_unlock_shared(1685217639, 2)";
/// Who has the tables. An address is there only over a network.
const HOLDERS: &str = "
    SELECT COALESCE(string_agg(DISTINCT COALESCE(NULLIF(a.application_name, ''), 'a process')
                               || COALESCE(' at ' || host(a.client_addr), ''), ', '), 'a process')
    FROM pg_locks l JOIN pg_database d ON d.oid = l.database JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted
      AND l.classid = 1685217639 AND l.objid = 2 AND l.objsubid = 2";

/// The hold on the tables, until it is released or the last clone of it is dropped.
#[derive(Clone, Debug)]
pub(super) struct SchemaLock(Arc<Mutex<Option<Keeper>>>);

/// The task that has the connection.
#[derive(Debug)]
struct Keeper {
    release: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl SchemaLock {
    /// Brings the tables to what this program knows, and holds them. Needs a runtime.
    ///
    /// # Errors
    /// [`OpenError::InUse`] where tables would change that others have; nothing is changed then.
    pub(super) async fn take(url: &Secret) -> Result<Self, OpenError> {
        let mut connection = connect(url).await?;
        let mut turn = connection.begin_with(BEGIN).await?;
        // Migrations take as long as they take, and wait for those of an older program.
        let unbounded = AnyPoolOptions::new().max_connections(1).acquire_timeout(TURN).connect(url.expose()).await?;
        let standing = inspect::migrations(&mut *unbounded.acquire().await?, Backend::Postgres).await?;
        if !standing.missing.is_empty() && sqlx::query_scalar::<_, i64>(ALONE).fetch_one(&mut *turn).await? == 0 {
            return Err(OpenError::InUse(sqlx::query_scalar(HOLDERS).fetch_one(&mut *turn).await?));
        }
        migrate(&unbounded, POSTGRES).await?;
        unbounded.close().await;
        // Before the turn ends, so that there is no moment between.
        sqlx::query(SHARE).execute(&mut *turn).await?;
        turn.commit().await?;
        let (release, released) = oneshot::channel();
        let ended = tokio::spawn(keep(connection, url.clone(), released));
        Ok(Self(Arc::new(Mutex::new(Some(Keeper { release, ended })))))
    }

    /// Lets the tables go: whoever opens the database after it finds them free.
    pub(super) async fn release(&self) {
        let keeper = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Keeper { release, ended }) = keeper else { return };
        drop(release);
        let _or_it_panicked = ended.await;
    }
}

async fn connect(url: &Secret) -> sqlx::Result<AnyConnection> {
    let connected = tokio::time::timeout(TURN, AnyConnection::connect(url.expose())).await;
    let mut connection = connected.map_err(|_late| sqlx::Error::PoolTimedOut)??;
    for setting in [BOUNDS, NAME] {
        sqlx::query(setting).execute(&mut connection).await?;
    }
    Ok(connection)
}

/// Keeps the hold until it is released, by another connection where one is lost.
async fn keep(connection: AnyConnection, url: Secret, mut released: oneshot::Receiver<()>) {
    let mut held = Some(connection);
    loop {
        tokio::select! {
            _ = &mut released => break,
            () = tokio::time::sleep(LOOK) => {}
        }
        tokio::select! {
            _ = &mut released => break,
            () = look(&mut held, &url) => {}
        }
    }
    if let Some(connection) = held {
        let _or_the_server_sees_the_end_of_it = tokio::time::timeout(PATIENCE, leave(connection)).await;
    }
}

/// Whether the connection still holds; if it does not, tries to take hold again.
async fn look(held: &mut Option<AnyConnection>, url: &Secret) {
    if let Some(connection) = held {
        if let Ok(Ok(())) = tokio::time::timeout(PATIENCE, connection.ping()).await {
            return;
        }
        tracing::warn!(
            "the connection that holds the tables was lost; until it is back, another program could change them"
        );
        *held = None;
    }
    let taken = tokio::time::timeout(PATIENCE, retake(url)).await;
    *held = taken.ok().and_then(Result::ok);
}

/// Takes hold of the tables as they are by now.
async fn retake(url: &Secret) -> sqlx::Result<AnyConnection> {
    let mut connection = connect(url).await?;
    sqlx::query(SHARE).execute(&mut connection).await?;
    let unknown = inspect::migrations(&mut connection, Backend::Postgres).await?.unknown;
    if !unknown.is_empty() {
        tracing::error!(
            migrations = ?unknown,
            "a newer program has changed the tables while nothing held them; restart this service with the newer program"
        );
    }
    tracing::info!("the tables are held again");
    Ok(connection)
}

async fn leave(mut connection: AnyConnection) -> sqlx::Result<()> {
    // A server sees the end of a connection a little later.
    sqlx::query(UNSHARE).execute(&mut connection).await?;
    connection.close().await
}
