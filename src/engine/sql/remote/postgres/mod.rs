//! PostgreSQL and whatever speaks its protocol. The client is our own, because the server is a stranger: the drivers at
//! hand allocate what a server announces and compute what it asks for, and a workspace may register any server.
//!
//! 1. [`guard`]: PostgreSQL's own parser and default deny over its tree;
//! 2. [`login`]: a login that can do more than read is not accepted at all;
//! 3. [`session`]: one statement by the extended protocol, in a read-only transaction under settings of ours;
//! 4. [`connect`]: vetted addresses only, TLS that verifies, and a leash by which a session is cut off at any moment.

mod address;
mod catalog;
mod connect;
pub mod guard;
mod keys;
mod login;
mod message;
mod problem;
mod render;
mod scram;
mod session;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use address::Login;

use self::connect::{CancelKey, Leash, Target};
use self::message::ServerError;
use self::session::{Bounds, Caps, Session};
use super::{Catalogue, Declared, Permitted, RemoteLimits};
use crate::base::json;
use crate::base::peers::PrivateHost;
use crate::model::error::{Code, Error, Result};
use crate::model::source::quoted;
use crate::model::table::{Column, Table};

/// How long an idle session stays open.
const IDLE: Duration = Duration::from_secs(60);
/// How often idle sessions are looked at.
const LOOK: Duration = Duration::from_secs(5);
/// How much longer than its time a statement is waited for: the server ends it itself.
const GRACE: Duration = Duration::from_secs(1);
/// When a server is asked to stop, each time after the one before.
const STOP: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];
/// For reading the catalogue.
const CATALOGUE: Bounds = Bounds { time: Duration::from_secs(20), memory_mb: 64 };

/// Why a session is over.
#[derive(Debug)]
enum Trouble {
    /// No connection.
    Unreached(std::io::Error),
    /// The connection ended.
    Lost(std::io::Error),
    Tls(String),
    /// The server wants a way to log in that is not ours.
    Login(&'static str),
    /// The server reported an error.
    Refused(ServerError),
    /// A row has more bytes than a reply.
    RowTooLong,
    /// The server said what no PostgreSQL server says.
    Odd(&'static str),
    /// What was found out by asking.
    Told(Error),
}

impl Trouble {
    fn odd(what: &'static str) -> Self {
        Self::Odd(what)
    }
}

/// A server and the sessions that wait for the next query.
pub struct Postgres {
    login: Login,
    /// Parts of the operator's own network that are open.
    private: Vec<PrivateHost>,
    idle: Arc<Mutex<Idle>>,
}

/// Sessions that wait, each since when.
#[derive(Default)]
struct Idle {
    sessions: Vec<(Session, Instant)>,
    /// Whether somebody sees to their end.
    is_watched: bool,
}

/// What a test of the connection found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// As the server reports it.
    pub version: String,
    /// Tables that the login can read.
    pub tables: usize,
    /// What the catalogue has too much of, in a sentence; empty when it is kept whole.
    pub left_out: String,
}

/// How long asking a server to end a query may take, each time.
const ASKING: Duration = Duration::from_secs(5);

/// Ends a session when what waits for it ends first.
struct Cut {
    leash: Arc<Leash>,
    target: Arc<Target>,
    is_done: bool,
}

impl Drop for Cut {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        if let (Some(key), Ok(runtime)) = (self.leash.cut(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(stop(self.target.clone(), key));
        }
    }
}

/// Asks a server to end what runs, and again a little later: between two messages of a statement, and while it reads one,
/// a server forgets that it was asked. Of a session that has ended it knows the key no more.
async fn stop(target: Arc<Target>, key: CancelKey) {
    for wait in STOP {
        tokio::time::sleep(wait).await;
        let (target, key, leash) = (target.clone(), key.clone(), Arc::<Leash>::default());
        let held = leash.clone();
        let mut asking = tokio::task::spawn_blocking(move || connect::cancel(&target, &key, &held));
        let asked = match tokio::time::timeout(ASKING, &mut asking).await {
            Ok(asked) => asked,
            // A server that drips its bytes must not keep a thread.
            Err(_) => {
                leash.cut();
                asking.await
            }
        };
        if let Ok(Err(problem)) = asked {
            tracing::debug!(?problem, "a remote query could not be cancelled; the server ends it in its time");
        }
    }
}

impl Postgres {
    pub fn new(login: Login, private: Vec<PrivateHost>) -> Self {
        Self { login, private, idle: Arc::default() }
    }

    /// Logs in, looks at what the login may do, and counts what it can read.
    ///
    /// # Errors
    /// `source_unavailable` with `step` for what does not work; `forbidden` with the rule `login_can_write`, what the
    /// login can do, and the statements that make a right one.
    pub async fn probe(&self, cancel: &CancellationToken) -> Result<Found> {
        let (user, database) = (self.login.user.clone(), self.login.database.clone());
        let work = move |session: &mut Session| {
            login::check(session, &user, &database)?;
            let (tables, left_out) = catalog::count(session)?;
            Ok(Found { version: session.version.clone(), tables, left_out })
        };
        self.within(CATALOGUE, cancel, work).await
    }

    /// The tables that the login can read.
    ///
    /// # Errors
    /// As for [`Postgres::probe`]; `limit_exceeded` when there are too many.
    pub async fn tables(&self, cancel: &CancellationToken) -> Result<Catalogue> {
        self.within(CATALOGUE, cancel, catalog::tables).await
    }

    /// What the catalogue declares of the tables that the login can read.
    ///
    /// # Errors
    /// As for [`Postgres::probe`].
    pub async fn declared(&self, cancel: &CancellationToken) -> Result<Declared> {
        self.within(CATALOGUE, cancel, keys::declared).await
    }

    /// Judges and runs a caller's statement over the permitted tables.
    ///
    /// # Errors
    /// Those of [`guard::wrapped`]; `invalid_argument` for what the server cannot resolve or compute; `query_timeout`;
    /// `limit_exceeded`; `source_unavailable`.
    pub async fn query(
        &self,
        sql: &str,
        permitted: &[Permitted],
        limits: &RemoteLimits,
        cancel: &CancellationToken,
    ) -> Result<Table> {
        let (sql, permitted) = (sql.to_owned(), permitted.to_vec());
        let judged = tokio::task::spawn_blocking(move || guard::wrapped(&sql, &permitted)).await;
        self.run(judged.map_err(Error::internal)??, limits, cancel).await
    }

    /// The first rows of a table.
    ///
    /// # Errors
    /// As for [`Postgres::query`].
    pub async fn preview(&self, table: &Permitted, limits: &RemoteLimits, cancel: &CancellationToken) -> Result<Table> {
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
        let sql = format!(
            "SELECT {} FROM {}.{} LIMIT {}",
            columns.join(", "),
            quoted(&table.schema),
            quoted(&table.table),
            limits.rows.saturating_add(1)
        );
        self.run(sql, limits, cancel).await
    }

    /// Runs a text that was judged, or made here.
    async fn run(&self, sql: String, limits: &RemoteLimits, cancel: &CancellationToken) -> Result<Table> {
        let bounds = Bounds { time: limits.time, memory_mb: limits.memory_mb };
        let (rows, bytes) = (limits.rows, limits.bytes);
        self.within(bounds, cancel, move |session| answer(session, &sql, rows, bytes, bounds)).await
    }

    /// Does something within a transaction, in a thread of its own: the connection is cut when the time is over or
    /// nobody waits any more, and the server is told to stop. A session is kept only after a clean end.
    async fn within<T: Send + 'static>(
        &self,
        bounds: Bounds,
        cancel: &CancellationToken,
        work: impl FnOnce(&mut Session) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T> {
        let reused = self.take();
        let leash = reused.as_ref().map_or_else(Arc::default, |session| session.leash.clone());
        let target = match &reused {
            Some(session) => session.target.clone(),
            None => Arc::new(self.login.target(&self.private).await?),
        };
        let mut cut = Cut { leash: leash.clone(), target: target.clone(), is_done: false };
        let task = tokio::task::spawn_blocking(move || -> Result<_, Trouble> {
            let mut session = begun(reused, target, leash, bounds)?;
            let done = work(&mut session)?;
            // A failed end costs the session, not the answer.
            let session = session.end().is_ok().then_some(session);
            Ok((done, session))
        });
        let late = || problem::too_slow(bounds.time);
        let ended = tokio::select! {
            ended = tokio::time::timeout(bounds.time + GRACE, task) => ended.map_err(|_| late())?.map_err(Error::internal)?,
            () = cancel.cancelled() => return Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
        };
        let (done, session) = match ended {
            Ok(done) => done,
            Err(trouble) => return Err(problem::error(trouble, bounds.time)),
        };
        if let Some(session) = session {
            cut.is_done = true;
            self.keep(session);
        }
        Ok(done)
    }

    fn take(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((session, since)) = idle.sessions.pop() {
            if since.elapsed() < IDLE && session.is_alive() {
                return Some(session);
            }
        }
        None
    }

    /// Keeps a session for the next query, and sees to its end.
    fn keep(&self, session: Session) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.sessions.push((session, Instant::now()));
        let is_watched = std::mem::replace(&mut idle.is_watched, true);
        drop(idle);
        if is_watched {
            return;
        }
        let watched = Arc::downgrade(&self.idle);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(idle) = watched.upgrade() else { return };
                let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.sessions.retain(|(_, since)| since.elapsed() < IDLE);
                idle.is_watched = !idle.sessions.is_empty();
                if !idle.is_watched {
                    return;
                }
            }
        });
    }
}

/// A session within a transaction: the one at hand, or a new one when the server has closed that meanwhile.
fn begun(reused: Option<Session>, target: Arc<Target>, leash: Arc<Leash>, bounds: Bounds) -> Result<Session, Trouble> {
    if let Some(mut session) = reused {
        match session.begin(bounds) {
            Ok(()) => return Ok(session),
            Err(Trouble::Lost(_)) => {}
            // The server says good-bye before it closes.
            Err(Trouble::Refused(error)) if error.code.starts_with("57P") => {}
            Err(other) => return Err(other),
        }
    }
    let mut session = Session::open(target, leash)?;
    session.begin(bounds)?;
    Ok(session)
}

fn answer(session: &mut Session, sql: &str, rows: usize, bytes: usize, bounds: Bounds) -> Result<Table, Trouble> {
    // No limit is given to the server: it would do without its parallel workers then. What is beyond is not read.
    let fetched = session.fetch(sql, Caps { rows, bytes })?;
    if fetched.is_cut {
        session.reopen(bounds)?;
    }
    let types = session.types(&fetched.columns)?;
    let columns = fetched.columns.iter().zip(&types);
    let columns = columns.map(|(column, known)| Column { name: column.name.clone(), r#type: known.name.clone() });
    let mut table = Table { columns: columns.collect(), rows: Vec::new(), truncated: fetched.is_cut };
    let mut used = 0;
    for row in fetched.rows {
        let cells = row.iter().zip(fetched.columns.iter().zip(&types));
        let row: Vec<Value> =
            cells.map(|(text, (column, known))| render::value(text.as_deref(), column.oid, known)).collect();
        used += json::size(&row).map_or(usize::MAX, |bytes| bytes + 1);
        if used > bytes {
            if table.rows.is_empty() {
                return Err(Trouble::RowTooLong);
            }
            table.truncated = true;
            break;
        }
        table.rows.push(row);
    }
    Ok(table)
}
