//! What was read of a workspace and is used again for as long as it is still so. Triggers count the changes of each
//! workspace in the transactions that make them (`migrations/0019_freshness.sql`), whoever writes and on whichever node.
//! Whoever asks for something is given what was read before only when a count that was read after they asked is the one
//! that it was read with: what is withdrawn is gone for every request that begins after the withdrawal was answered.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;
use sqlx::any::AnyRow;
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, Row as _};
use tokio::sync::{mpsc, oneshot};

use crate::base::id::Id;
use crate::model::org::Org;
use crate::store::direct::Direct;
use crate::store::{Backend, Db, places};

/// Counts that are asked for in one statement.
const AT_ONCE: usize = 64;
/// Those who may wait for the next statement before others have to wait to ask.
const QUEUE: usize = 1024;
/// How long counts are waited for: a host that is gone answers nothing, and hangs up nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the count of one workspace.
const COUNT: &str = "SELECT generation FROM freshness WHERE org_id = $1";

/// How often a workspace has changed.
pub type Generation = i64;

/// A workspace, and what its count was when something of it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub org: Id<Org>,
    pub generation: Generation,
}

impl Stamp {
    /// From the column `generation` of a statement that reads something else of the workspace too; `None` for a workspace
    /// that has no count.
    pub(super) fn of(row: &AnyRow, org: Id<Org>) -> sqlx::Result<Option<Self>> {
        Ok(row.try_get::<Option<Generation>, _>("generation")?.map(|generation| Self { org, generation }))
    }
}

/// The count of a workspace now, for who reads more than one statement can after it.
///
/// # Errors
/// The database fails.
pub async fn stamp(on: &mut AnyConnection, org: Id<Org>) -> sqlx::Result<Option<Stamp>> {
    let found = counts(on, &[org]).await?;
    Ok(found.get(&org).map(|generation| Stamp { org, generation: *generation }))
}

/// Holds the counts of workspaces of PostgreSQL, in their order, until the transaction ends: of two that change several,
/// neither waits for the other in a circle. It comes last before the commit, which counts: whoever waits for anything else
/// must not hold them.
pub(super) async fn hold(on: &mut AnyConnection, mut orgs: Vec<String>) -> sqlx::Result<()> {
    orgs.sort_unstable();
    orgs.dedup();
    if orgs.is_empty() {
        return Ok(());
    }
    let marks = places(1, orgs.len());
    let sql = format!("SELECT org_id FROM freshness WHERE org_id IN ({marks}) ORDER BY org_id FOR UPDATE");
    let query = sqlx::query(AssertSqlSafe(sql));
    orgs.into_iter().fold(query, sqlx::query::Query::bind).execute(on).await?;
    Ok(())
}

/// As for some workspaces of PostgreSQL, for all: for a change whose workspaces come in no order.
pub async fn hold_all(on: &mut AnyConnection, backend: Backend) -> sqlx::Result<()> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT org_id FROM freshness ORDER BY org_id FOR UPDATE").execute(on).await?;
    }
    Ok(())
}

async fn counts(on: &mut AnyConnection, orgs: &[Id<Org>]) -> sqlx::Result<HashMap<Id<Org>, Generation>> {
    let mut found = HashMap::with_capacity(orgs.len());
    for orgs in orgs.chunks(AT_ONCE) {
        // A few texts for all numbers of workspaces: the engines keep statements by their text.
        let marks = orgs.len().next_power_of_two();
        let sql = format!("SELECT org_id, generation FROM freshness WHERE org_id IN ({})", places(1, marks));
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for at in 0..marks {
            query = query.bind(orgs.get(at).or(orgs.first()).map(ToString::to_string));
        }
        for row in query.fetch_all(&mut *on).await? {
            found.insert(super::text_id(&row, "org_id")?, row.try_get("generation")?);
        }
    }
    Ok(found)
}

/// Who asks for a count, and waits for it; `None` when it cannot be had.
type Asked = (Id<Org>, oneshot::Sender<Option<Generation>>);

/// Reads counts. Clones share it.
#[derive(Clone, Debug)]
pub(super) enum Gate {
    /// From SQLite, each where it is asked.
    Direct(Direct),
    /// From PostgreSQL, for all who ask at a time together.
    Together(mpsc::Sender<Asked>),
}

impl Gate {
    /// One for PostgreSQL, which ends with the pool. Needs a runtime.
    pub(super) fn start(pool: AnyPool) -> Self {
        let (asking, asked) = mpsc::channel(QUEUE);
        tokio::spawn(answer(pool, asked));
        Self::Together(asking)
    }

    /// The count by a look that begins after the call; `None` for a workspace that has none, or when nothing can be said.
    async fn now(&self, org: Id<Org>) -> Option<Generation> {
        match self {
            Self::Direct(direct) => direct.number(COUNT, &org.to_string()),
            Self::Together(asking) => {
                let (told, count) = oneshot::channel();
                asking.send((org, told)).await.ok()?;
                count.await.ok()?
            }
        }
    }
}

async fn answer(pool: AnyPool, mut asked: mpsc::Receiver<Asked>) {
    // Its own for good: borrowing costs more than reading.
    let mut connection = None;
    let mut waiting = Vec::with_capacity(AT_ONCE);
    loop {
        tokio::select! {
            biased;
            () = pool.close_event() => return,
            received = asked.recv_many(&mut waiting, QUEUE) => if received == 0 { return },
        }
        let mut orgs: Vec<Id<Org>> = waiting.iter().map(|(org, _)| *org).collect();
        orgs.sort_unstable();
        orgs.dedup();
        let read = tokio::time::timeout(PATIENCE, read(&pool, &mut connection, &orgs)).await;
        let found = read.unwrap_or(Err(sqlx::Error::PoolTimedOut)).unwrap_or_else(|problem| {
            // The next one gets another connection, this one nobody; until then everything is read as if nothing were
            // known.
            tracing::warn!(%problem, "the counts of changes cannot be read");
            drop(connection.take().map(PoolConnection::detach));
            HashMap::new()
        });
        for (org, told) in waiting.drain(..) {
            let _left = told.send(found.get(&org).copied());
        }
    }
}

async fn read(
    pool: &AnyPool,
    connection: &mut Option<PoolConnection<Any>>,
    orgs: &[Id<Org>],
) -> sqlx::Result<HashMap<Id<Org>, Generation>> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(pool.acquire().await?),
    };
    counts(connection, orgs).await
}

/// Values by their key, the most recently used ones, each as long as nothing of its workspace has changed.
pub struct Fresh<K: Hash + Eq, V> {
    gate: Gate,
    weigh: fn(&V) -> usize,
    most: usize,
    kept: Mutex<Kept<K, V>>,
}

struct Kept<K: Hash + Eq, V> {
    values: LruCache<K, (Stamp, Arc<V>)>,
    weight: usize,
}

impl<K: Hash + Eq, V> Fresh<K, V> {
    /// Values that weigh at most so much together; one alone may weigh more.
    pub fn new(db: &Db, most: usize, weigh: fn(&V) -> usize) -> Self {
        let kept = Mutex::new(Kept { values: LruCache::unbounded(), weight: 0 });
        Self { gate: db.gate.clone(), weigh, most, kept }
    }

    /// The value that is kept, if it is still so.
    pub async fn known(&self, key: &K) -> Option<Arc<V>> {
        let (stamp, value) = self.kept().values.get(key).cloned()?;
        (self.gate.now(stamp.org).await == Some(stamp.generation)).then_some(value)
    }

    /// Keeps what was read, when it was read with a count.
    pub fn keep(&self, key: K, stamp: Option<Stamp>, value: V) -> Arc<V> {
        let value = Arc::new(value);
        let Some(stamp) = stamp else { return value };
        let mut kept = self.kept();
        kept.weight += (self.weigh)(&value);
        let before = kept.values.push(key, (stamp, value.clone()));
        kept.weight -= before.map_or(0, |(_, (_, value))| (self.weigh)(&value));
        while kept.weight > self.most && kept.values.len() > 1 {
            let Some((_, (_, oldest))) = kept.values.pop_lru() else { break };
            kept.weight -= (self.weigh)(&oldest);
        }
        value
    }

    fn kept(&self) -> MutexGuard<'_, Kept<K, V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq, V> fmt::Debug for Fresh<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fresh").field("values", &self.kept().values.len()).finish()
    }
}
