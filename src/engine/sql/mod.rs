//! Untrusted SQL over the tables of a pass. The layers, each enough for its own class of attack:
//!
//! 1. [`text`]: length and nesting, before any parser;
//! 2. [`guard`]: default deny over the tree of the engine's own parser;
//! 3. an engine instance of one caller that holds views of the tables that its queries name, and a locked door;
//! 4. a process that can be killed, with limits on memory, time, files and system calls ([`worker`], [`pool`]), of
//!    which no caller keeps all from others ([`crate::engine::turns`]).
//!
//! Files of others become tables in such a process too ([`import`]).

mod attend;
pub mod browse;
mod documents;
mod estimate;
pub mod guard;
mod import;
mod known;
mod missing;
pub mod plots;
mod pool;
mod process;
mod profiles;
pub mod remote;
mod render;
mod results;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod text;
mod warm;
mod wire;
pub mod worker;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use lru::LruCache;
use serde_json::Value;

pub use import::{ImportedTable, TableFormat, TableSource};
pub use process::SUBCOMMAND;
pub use results::{Facts, Page, Results, gone};

use self::known::Known;
use self::pool::Pool;
use self::profiles::Profiles;
use self::remote::route::{Place, place};
use self::remote::sources::Sources;
use self::results::RESULT_BYTES;
use self::rows::Row;
use self::warm::Bound;
use self::wire::{Outcome, Rows, TableFile, Tables, Task, TaskLimits};
use crate::base::clock::whole_millis;
use crate::base::memory;
use crate::config::Budgets;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::engine::turns::Turns;
use crate::model::access::Pass;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::source::{Dialect, quoted};
use crate::model::table::{RowText, Table};
use crate::store::{self, Db};

/// Bytes of rows that are read at once: handing them to another thread would take longer.
const READ_HERE: usize = 16 << 10;
/// How far a query is that has its worker, as is told: nobody knows how long it will take.
const RUNS: f64 = 0.1;
/// Seconds after which it is worth asking again for data that are not on this node.
const AWAY: u64 = 60;

/// What a query gave.
#[derive(Clone, Debug)]
pub struct Answer<R = Vec<Value>> {
    pub table: Table<R>,
    /// In the engine, without waiting for a worker.
    pub execution_ms: u64,
    /// The tables that the statement reads, by name.
    pub used: Vec<String>,
    /// What judging the statement took, in microseconds.
    pub judged_us: u64,
    /// What the engine that ran it speaks.
    pub dialect: Dialect,
}

/// Workspaces whose tables are not written out anew, each for both kinds of callers.
const SEEN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

/// What callers see, and the tables of it.
type Seen = (Weak<[Dataset]>, Tables);

/// Runs SQL and reads table files, in worker processes.
#[derive(Clone)]
pub struct SqlEngine {
    pool: Pool,
    budgets: Budgets,
    turns: Turns,
    /// Of each workspace one at a time.
    imports: Turns,
    files: Files,
    /// The tables of what callers saw last, by where it lies in memory; a place is not taken anew while it is known.
    seen: Arc<Mutex<LruCache<usize, Seen>>>,
    profiles: Profiles,
    known: Known,
    /// Engines of others; without them every table is here.
    sources: Option<Sources>,
    /// Which versions there are; without them a table that has no file is none.
    metadata: Option<Db>,
}

impl SqlEngine {
    /// `worker` is the program that knows the sub-command [`SUBCOMMAND`]: this one.
    pub fn new(worker: PathBuf, files: Files, budgets: Budgets) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let share = share(memory::available(), cores, &budgets);
        if share.workers < budgets.sql_workers {
            tracing::warn!(
                workers = share.workers,
                "the memory of this machine suffices for fewer queries at the same time than are set"
            );
        }
        let pool = Pool::new(worker, share.warm_bytes);
        if tokio::runtime::Handle::try_current().is_ok() {
            pool.warm_up();
        }
        Self {
            pool,
            turns: Turns::of_queries(share.workers).lending(),
            imports: Turns::of_imports(share.imports, 1),
            known: Known::new(budgets.sql_known_mb.saturating_mul(1 << 20)),
            budgets,
            files,
            seen: Arc::new(Mutex::new(LruCache::new(SEEN))),
            profiles: Profiles::new(),
            sources: None,
            metadata: None,
        }
    }

    /// Reads tables of remote engines too.
    #[must_use]
    pub fn with_sources(mut self, sources: Sources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Tells a table that was erased from one whose data are not here.
    #[must_use]
    pub fn with_metadata(mut self, db: Db) -> Self {
        self.metadata = Some(db);
        self
    }

    fn sources(&self) -> Result<&Sources> {
        self.sources.as_ref().ok_or_else(|| Error::internal("a remote table without remote engines"))
    }

    /// Judges and runs one statement over the tables of the pass, under their names, for whoever computes with its rows.
    ///
    /// # Errors
    /// `sql_too_long`; `forbidden_sql` with `rule`, `name` and `hint`; `invalid_argument` for SQL that cannot be
    /// parsed, resolved or computed; `query_timeout`; `limit_exceeded` for memory or a row that is too wide;
    /// `service_unavailable` when no worker gets free or can be started in time, and for a table whose data are not on this
    /// node. Refusals for time and memory say what the statement would have read.
    pub async fn query(&self, job: &Job<'_>, sql: &str) -> Result<Answer> {
        // It is a step of something that tells of its own progress.
        self.ask(&job.quiet(), sql).await
    }

    /// As [`SqlEngine::query`], for a caller, whose rows are written once. They may be more than one reply holds.
    ///
    /// # Errors
    /// As [`SqlEngine::query`].
    pub async fn query_text(&self, job: &Job<'_>, sql: &str) -> Result<Answer<RowText>> {
        self.ask(job, sql).await
    }

    async fn ask<R: Row>(&self, job: &Job<'_>, sql: &str) -> Result<Answer<R>> {
        text::check(sql, job.budget.sql_chars)?;
        let (tables, limits) = match place(job.pass.datasets(), sql)? {
            Place::Here(tables) => (tables, limits(job, job.budget.sql_rows, RESULT_BYTES.max(job.budget.reply_bytes))),
            Place::There(source, tables) => {
                job.says(RUNS, "Running the query");
                let (table, execution_ms) = match self.sources()?.query(job, source, &tables, sql).await {
                    Ok(answer) => answer,
                    Err(error) => return Err(explained(job.pass, error, sql).await),
                };
                let table = rows::as_rows(table)?;
                let dialect = tables.first().and_then(|dataset| dataset.dialect()).unwrap_or(Dialect::PostgreSql);
                let used = tables.iter().map(|dataset| dataset.name.clone()).collect();
                return Ok(Answer { table, execution_ms, used, judged_us: 0, dialect });
            }
        };
        match self.run(job, self.bound_to_all(job, &tables)?, &tables, sql, limits).await {
            Err(error) => Err(explained(job.pass, error, sql).await),
            answer => answer,
        }
    }

    /// The first rows of a table, in the file's order.
    ///
    /// # Errors
    /// `dataset_not_found` unless the pass covers it and it is a table; the limits as for [`SqlEngine::query`].
    pub async fn preview(&self, job: &Job<'_>, dataset: &Dataset, limit: usize) -> Result<Table<RowText>> {
        let dataset = job.pass.dataset(dataset.id)?;
        if dataset.kind != Kind::Table {
            return Err(Error::invalid("dataset_id", "This dataset holds documents; only tables have rows."));
        }
        if let Some(remote) = &dataset.remote {
            return rows::as_rows(self.sources()?.preview(job, dataset, remote, limit).await?);
        }
        let sql = format!("FROM {}", quoted(&dataset.name));
        let limits = limits(job, limit, job.budget.reply_bytes);
        Ok(self.run(job, self.bound(job, &[dataset])?, &[dataset], &sql, limits).await?.table)
    }

    /// A caller with some tables of the pass.
    fn bound(&self, job: &Job<'_>, tables: &[&Dataset]) -> Result<Bound> {
        Ok(bound(job, self.files_of(tables)?))
    }

    /// A caller with all tables of the pass that are here. What the last callers of a workspace saw is not written out
    /// anew for each.
    fn bound_to_all(&self, job: &Job<'_>, tables: &[&Dataset]) -> Result<Bound> {
        let Some(seen) = job.pass.whole() else { return self.bound(job, tables) };
        let place = seen.as_ptr() as usize;
        let known = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, files)) = known().get(&place)
            && of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, seen))
        {
            return Ok(bound(job, files.clone()));
        }
        let files = self.files_of(tables)?;
        known().put(place, (Arc::downgrade(seen), files.clone()));
        Ok(bound(job, files))
    }

    /// Tables by public name, in lower case as the engine compares names.
    fn files_of(&self, tables: &[&Dataset]) -> Result<Tables> {
        let tables = tables.iter().map(|dataset| {
            let shown = || dataset.columns.iter().map(|column| column.name.clone()).collect();
            let columns = (!dataset.hidden.is_empty()).then(shown);
            Ok(TableFile { name: dataset.name.to_ascii_lowercase(), file: self.file(dataset)?, columns })
        });
        Ok(Arc::new(tables.collect::<Result<_>>()?))
    }

    fn file(&self, dataset: &Dataset) -> Result<PathBuf> {
        let version = dataset.version.as_deref().ok_or_else(Error::dataset_not_found)?;
        Ok(self.files.table(dataset.org, dataset.id, version))
    }

    async fn run<R: Row>(
        &self,
        job: &Job<'_>,
        bound: Bound,
        tables: &[&Dataset],
        sql: &str,
        limits: TaskLimits,
    ) -> Result<Answer<R>> {
        let (pool, known, limits, bound) = (&self.pool, &self.known, &limits, &bound);
        let query = || async move {
            job.says(RUNS, "Running the query");
            let (rows, payload) =
                pool.query(bound.clone(), sql, limits, time(job), job.time_left(), &job.cancel).await?;
            known.keep(bound, sql, limits, &rows, &payload);
            // As JSON the rows are many times as large: within the turn, and not where others wait for the thread.
            read(rows, payload, limits.bytes).await
        };
        let answer = match known.find(bound, sql, limits) {
            Some(given) => read(given.rows.clone(), given.payload.clone(), limits.bytes).await,
            None => {
                job.says(0.0, "Waiting for a worker");
                self.in_turn(job, query).await
            }
        };
        let (rows, mut table) = match answer {
            Ok(answer) => answer,
            Err(error) => return Err(self.or_gone(error, tables, sql).await),
        };
        let described = rows.described.and_then(|name| tables.iter().find(|it| it.name.eq_ignore_ascii_case(&name)));
        if let Some(dataset) = described {
            rows::say_nulls(&mut table, &dataset.columns)?;
        }
        Ok(Answer {
            table,
            execution_ms: rows.execution_us / 1_000,
            used: rows.used,
            judged_us: rows.judged_us,
            dialect: Dialect::DuckDb,
        })
    }

    /// Runs a task of a caller over one table, in a worker of its own.
    async fn outcome(&self, job: &Job<'_>, task: &Task, table: &Dataset, time: Duration) -> Result<Outcome> {
        let time = time.min(job.time_left());
        match self.in_turn(job, || self.pool.alone(task, time, &job.cancel, None)).await {
            Err(error) => Err(self.or_gone(error, &[table], "").await),
            outcome => outcome,
        }
    }

    /// Why a worker failed that found no file: the table was erased between the look at the metadata and the opening of its
    /// file, or the metadata name it still, and its data are not here.
    async fn or_gone(&self, error: Error, tables: &[&Dataset], sql: &str) -> Error {
        if error.code != Code::InternalError {
            return error;
        }
        let gone = tables.iter().filter(|table| self.file(table).is_ok_and(|file| !file.exists()));
        // Of several the one that the statement names.
        let Some(gone) = gone.max_by_key(|table| estimate::names(sql, &table.name)) else { return error };
        match self.is_named(gone).await {
            Ok(false) => Error::dataset_not_found(),
            Ok(true) => {
                tracing::error!(dataset = %gone.id, "the metadata name a version whose file is not in the data folder");
                let message = format!(
                    "The data of {} are not on this node of the service. Tell who runs it: they are on another node, or \
                     were lost.",
                    gone.name
                );
                Error::unavailable(message).retry_after(AWAY)
            }
            Err(problem) => problem,
        }
    }

    /// Whether the metadata name the version of a table now.
    async fn is_named(&self, table: &Dataset) -> Result<bool> {
        let (Some(db), Some(version)) = (&self.metadata, &table.version) else { return Ok(false) };
        let mut read = db.read_tenant(table.org).await?;
        store::dataset_versions::is_there(&mut read, table.org, table.id, version).await
    }

    /// Waits for a worker to be free for this caller, then works with it, unless it should give way to others. Work in a
    /// turn that was only lent begins again, in one of its own.
    async fn in_turn<T, W>(&self, job: &Job<'_>, work: impl Fn() -> W) -> Result<T>
    where
        W: Future<Output = Result<T>>,
    {
        let workspace = job.pass.org().to_string();
        let mut may_borrow = true;
        loop {
            job.check()?;
            let next = self.turns.queue(job.pass.credential(), &workspace, may_borrow);
            let busy = || Error::unavailable("Too many queries are running. Try again in a moment.");
            let turn = tokio::select! {
                slot = tokio::time::timeout(job.time_left(), next) => slot.map_err(|_| busy())??,
                () = job.cancel.cancelled() => return Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
            };
            job.check()?;
            tokio::select! {
                done = work() => return done,
                () = turn.wanted() => {}
            }
            if !turn.is_lent() {
                let message = "Others wait for a worker and this query takes long, so that it was stopped. \
                               Try again in a moment, or read fewer rows.";
                return Err(Error::unavailable(message));
            }
            may_borrow = false;
        }
    }

    /// The process ids of idle workers, for tests and diagnosis.
    pub fn idle_workers(&self) -> Vec<u32> {
        self.pool.waiting()
    }

    /// Process ids and memory in bytes of the workers that keep their caller's tables open.
    pub fn warm_workers(&self) -> Vec<(u32, u64)> {
        self.pool.warm()
    }
}

fn bound(job: &Job<'_>, tables: Tables) -> Bound {
    Bound { workspace: job.pass.org().to_string(), principal: job.pass.credential().to_owned(), tables }
}

/// A table of rows as they came; of many where nobody waits for the thread.
async fn read<R: Row>(rows: Rows, payload: Vec<u8>, most: usize) -> Result<(Rows, Table<R>)> {
    let is_small = payload.len() <= READ_HERE;
    let read = move || rows::table(&rows, &payload, most).map(|table| (rows, table));
    match is_small {
        true => read(),
        false => tokio::task::spawn_blocking(read).await.map_err(Error::internal)?,
    }
}

/// How workers divide the memory of the node.
#[derive(Debug, PartialEq, Eq)]
struct Share {
    /// Queries at the same time.
    workers: usize,
    /// Memory of the workers that wait for their caller's next query, all together.
    warm_bytes: u64,
    /// Imports of tables at the same time.
    imports: usize,
}

/// The workers of queries together get 60 % of the memory: first those that run, then up to four times as much for those
/// that wait, of which a hundred tenants need more than a gigabyte: who asks a worker that was let go of pays for a start. Imports get a quarter, since one may use much more than a query; and there are no more of them than cores,
/// each of which one import keeps busy: more would only make all of them slower. The rest is for this process. One
/// query and one import run however small the node is.
fn share(memory: Option<u64>, cores: usize, budgets: &Budgets) -> Share {
    let fitting = |bytes: u64, one: u64| usize::try_from(bytes / one).unwrap_or(usize::MAX);
    let one = budgets.sql_memory_mb.max(1) << 20;
    let all = memory.map_or(u64::MAX, |memory| memory / 5 * 3);
    let workers = budgets.sql_workers.min(fitting(all, one)).max(1);
    let running = workers as u64 * one;
    let imports = fitting(memory.map_or(u64::MAX, |memory| memory / 4), import::memory_mb(budgets) << 20);
    Share { workers, warm_bytes: (4 * running).min(all.saturating_sub(running)), imports: imports.min(cores).max(1) }
}

/// A failure with what is known of columns and tables. One source alone may have 20,000 columns, and a name is compared
/// with each in up to 64 times 64 steps: not where others wait for the thread.
async fn explained(pass: &Pass, error: Error, sql: &str) -> Error {
    let (pass, sql) = (pass.clone(), sql.to_owned());
    let explained = tokio::task::spawn_blocking(move || match place(pass.datasets(), &sql) {
        Ok(Place::Here(tables)) => estimate::explained(missing::explained(error, &tables), pass.datasets(), &sql),
        Ok(Place::There(_, tables)) => missing::of_server(error, &tables),
        Err(_) => error,
    });
    explained.await.unwrap_or_else(Error::internal)
}

fn time(job: &Job<'_>) -> Duration {
    job.budget.sql_time.min(job.time_left())
}

fn limits(job: &Job<'_>, rows: usize, bytes: usize) -> TaskLimits {
    TaskLimits {
        memory_mb: job.budget.sql_memory_mb,
        threads: job.budget.sql_threads,
        time_ms: whole_millis(job.budget.sql_time),
        rows,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use serde_json::json;

    use super::*;
    use crate::base::clock::Clock;
    use crate::base::id::Id;
    use crate::config::Limits;
    use crate::model::access::{Action, Catalogue, Want, authorize};
    use crate::model::caller::Caller;
    use crate::model::dataset::ColumnInfo;
    use crate::model::org::Org;

    /// While the only thread for long work is taken, nothing of it is done on the one that others wait for.
    #[test]
    fn the_nearest_column_is_looked_for_where_nobody_waits() {
        let clock = Clock::manual(0);
        let id = Id::new(&clock);
        let org = Org { id, slug: "acme".into(), name: "Acme".into(), connectivity_enabled: true, created_at: 0 };
        let columns = vec![ColumnInfo { name: "amount".into(), ..ColumnInfo::default() }];
        let version = Some("v1".into());
        let sales = Dataset { version, columns, ..Dataset::new(Id::new(&clock), id, "sales", Kind::Table) };
        let catalogue = Catalogue::new(org, vec![sales]);
        let pass = authorize(&Caller::operator(id, "r".into()), &catalogue, Action::RunSql, &Want::All).unwrap();
        let details = json!({ "missing_column": "amuont", "used": ["sales"] });
        let error = Error::new(Code::InvalidArgument, "x").with(details);
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let (go, gate) = std::sync::mpsc::channel();
            let taken = tokio::task::spawn_blocking(move || gate.recv());
            let mut explained = std::pin::pin!(explained(&pass, error, "SELECT amuont FROM sales"));
            assert!(explained.as_mut().now_or_never().is_none());
            go.send(()).unwrap();
            taken.await.unwrap().unwrap();
            let error = explained.await;
            assert!(error.message.contains("Did you mean amount?"), "{error}");
        });
    }

    #[test]
    fn memory_is_divided_and_never_overcommitted() {
        let budgets = Limits::default().budgets;
        assert_eq!((budgets.sql_workers, budgets.sql_memory_mb), (4, 256));
        let share = |gigabytes: Option<u64>| share(gigabytes.map(|it| it << 30), 8, &budgets);
        assert_eq!(share(None), Share { workers: 4, warm_bytes: 4 << 30, imports: 8 });
        assert_eq!(share(Some(24)), Share { workers: 4, warm_bytes: 4 << 30, imports: 6 });
        let small = share(Some(1));
        assert_eq!(small.workers, 2, "60 % of 1 GiB are 614 MiB");
        assert!(small.warm_bytes < 103 << 20, "what is left of them");
        assert_eq!(share(Some(0)), Share { workers: 1, warm_bytes: 0, imports: 1 });
    }
}
