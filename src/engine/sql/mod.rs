//! Untrusted SQL over the tables of a pass. The layers, each enough for its own class of attack:
//!
//! 1. [`text`]: length and nesting, before any parser;
//! 2. [`guard`]: default deny over the tree of the engine's own parser;
//! 3. an engine instance of one caller that holds views of the tables that its queries name, and a locked door;
//! 4. a process that can be killed, with limits on memory, time, files and system calls ([`worker`], [`pool`]), of
//!    which no caller can have all ([`turns`]).

pub mod guard;
mod pool;
mod process;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod text;
mod turns;
mod warm;
mod wire;
pub mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

pub(in crate::engine) use pool::Pool;
pub use process::SUBCOMMAND;
pub(in crate::engine) use wire::{Task, TaskLimits};

use self::turns::Turns;
use self::warm::Bound;
use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::table::Table;

/// What a query gave.
#[derive(Clone, Debug)]
pub struct Answer {
    pub table: Table,
    /// In the engine, without waiting for a worker.
    pub execution_ms: u64,
    /// The tables that the statement reads, by name.
    pub used: Vec<String>,
    /// What judging the statement took, in microseconds.
    pub judged_us: u64,
}

/// A file that can become a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableFormat {
    /// With or without a header; separators are found out.
    Csv,
    /// An array of objects, or one object a line.
    Json,
    Parquet,
}

/// A table file that an import made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedTable {
    pub row_count: i64,
    /// Size of the file.
    pub bytes: i64,
    pub columns: Vec<ColumnInfo>,
}

/// Runs SQL and reads table files, in worker processes.
#[derive(Clone)]
pub struct SqlEngine {
    pub(in crate::engine) pool: Pool,
    pub(in crate::engine) budgets: Budgets,
    /// One import at a time: it may use much more memory than a query.
    pub(in crate::engine) imports: Arc<Semaphore>,
    turns: Turns,
    files: Files,
}

impl SqlEngine {
    /// `worker` is the program that knows the sub-command [`SUBCOMMAND`]: this one.
    pub fn new(worker: PathBuf, files: Files, budgets: Budgets) -> Self {
        // Workers that run and workers that wait for their caller have the same share of the node's memory.
        let pool = Pool::new(worker, (budgets.sql_workers as u64 * budgets.sql_memory_mb) << 20);
        if tokio::runtime::Handle::try_current().is_ok() {
            pool.warm_up();
        }
        Self { pool, turns: Turns::new(budgets.sql_workers), imports: Arc::new(Semaphore::new(1)), budgets, files }
    }

    /// Judges and runs one statement over the tables of the pass, under their names.
    ///
    /// # Errors
    /// `sql_too_long`; `forbidden_sql` with `rule`, `name` and `hint`; `invalid_argument` for SQL that cannot be
    /// parsed, resolved or computed; `query_timeout`; `limit_exceeded` for memory or a row that is too wide;
    /// `service_unavailable` when no worker gets free in time.
    pub async fn query(&self, job: &Job<'_>, sql: &str) -> Result<Answer> {
        text::check(sql, job.budget.sql_chars)?;
        self.run(job, sql, limits(job, job.budget.sql_rows)).await
    }

    /// The first rows of a table, in the file's order.
    ///
    /// # Errors
    /// `dataset_not_found` unless the pass covers it and it is a table; the limits as for [`SqlEngine::query`].
    pub async fn preview(&self, job: &Job<'_>, dataset: &Dataset, limit: usize) -> Result<Table> {
        let dataset = job.pass.dataset(dataset.id)?;
        if dataset.kind != Kind::Table {
            return Err(Error::invalid("dataset_id", "This dataset holds documents; only tables have rows."));
        }
        let sql = format!("FROM \"{}\"", dataset.name.replace('"', "\"\""));
        Ok(self.run(job, &sql, limits(job, limit)).await?.table)
    }

    /// Lets go of every open file of a dataset, so that its space is free once it is removed.
    pub fn forget(&self, org: Id<Org>, dataset: Id<Dataset>) {
        self.pool.forget(&self.files.tables(org, dataset));
    }

    /// The tables of the pass by public name, in lower case as the engine compares names.
    fn bound(&self, job: &Job<'_>) -> Result<Bound> {
        let datasets = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
        let tables = datasets.map(|dataset| {
            let version = dataset.version.as_deref().ok_or_else(Error::dataset_not_found)?;
            Ok((dataset.name.to_ascii_lowercase(), self.files.table(dataset.org, dataset.id, version)))
        });
        Ok(Bound {
            workspace: job.pass.org().to_string(),
            principal: job.pass.credential().to_owned(),
            tables: Arc::new(tables.collect::<Result<_>>()?),
        })
    }

    async fn run(&self, job: &Job<'_>, sql: &str, limits: TaskLimits) -> Result<Answer> {
        job.check()?;
        let bound = self.bound(job)?;
        let next = self.turns.take(job.pass.credential(), &bound.workspace);
        let busy = || Error::unavailable("Too many queries are running. Try again in a moment.");
        let turn = tokio::select! {
            slot = tokio::time::timeout(job.time_left(), next) => {
                slot.map_err(|_| busy())?.map_err(Error::internal)?
            }
            () = job.cancel.cancelled() => return Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
        };
        job.check()?;
        let (rows, payload) = tokio::select! {
            answer = self.pool.query(bound, sql, &limits, time(job), &job.cancel) => answer?,
            () = turn.wanted() => {
                let message = "Others wait for a worker and this query takes long, so that it was stopped. \
                               Try again in a moment, or read fewer rows.";
                return Err(Error::unavailable(message));
            }
        };
        drop(turn);
        Ok(Answer {
            table: rows::table(&rows, &payload, limits.bytes)?,
            execution_ms: rows.execution_us / 1_000,
            used: rows.used,
            judged_us: rows.judged_us,
        })
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

fn time(job: &Job<'_>) -> Duration {
    job.budget.sql_time.min(job.time_left())
}

fn limits(job: &Job<'_>, rows: usize) -> TaskLimits {
    TaskLimits {
        memory_mb: job.budget.sql_memory_mb,
        threads: job.budget.sql_threads,
        time_ms: u64::try_from(job.budget.sql_time.as_millis()).unwrap_or(u64::MAX),
        rows,
        bytes: job.budget.reply_bytes,
    }
}
