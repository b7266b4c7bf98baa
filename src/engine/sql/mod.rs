//! Untrusted SQL over the tables of a pass. The layers, each enough for its own class of attack:
//!
//! 1. [`text`]: length and nesting, before any parser;
//! 2. [`guard`]: default deny over the tree of the engine's own parser;
//! 3. an engine instance for one query that holds views of the tables that the query names, and a locked door;
//! 4. a process that can be killed, with limits on memory, time and files ([`worker`], [`pool`]), of which no caller
//!    can have all ([`turns`]).

mod bounded;
mod estimate;
pub mod guard;
mod pool;
mod profiles;
mod results;
mod text;
mod turns;
mod wire;
pub mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

pub use estimate::Estimate;
pub(in crate::engine) use pool::Pool;
pub use pool::SUBCOMMAND;
pub use results::{Facts, Page, Results, gone};
pub(in crate::engine) use wire::{Outcome, Task, TaskLimits};

use self::profiles::Profiles;
use self::results::RESULT_BYTES;
use self::turns::Turns;
use crate::config::Budgets;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::table::Table;

/// What a query gave.
#[derive(Clone, Debug)]
pub struct Answer {
    pub table: Table,
    /// In the engine, without waiting for a worker.
    pub execution_ms: u64,
    /// The tables that the statement reads, by name.
    pub used: Vec<String>,
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
    profiles: Profiles,
}

impl SqlEngine {
    /// `worker` is the program that knows the sub-command [`SUBCOMMAND`]: this one.
    pub fn new(worker: PathBuf, files: Files, budgets: Budgets) -> Self {
        let pool = Pool::new(worker);
        if tokio::runtime::Handle::try_current().is_ok() {
            pool.warm();
        }
        Self {
            pool,
            turns: Turns::new(budgets.sql_workers),
            imports: Arc::new(Semaphore::new(1)),
            budgets,
            files,
            profiles: Profiles::new(),
        }
    }

    /// Judges and runs one statement over the tables of the pass, under their names. The rows may be more than one
    /// reply holds.
    ///
    /// # Errors
    /// `sql_too_long`; `forbidden_sql` with `rule`, `name` and `hint`; `invalid_argument` for SQL that cannot be
    /// parsed, resolved or computed; `query_timeout`; `limit_exceeded` for memory or a row that is too wide;
    /// `service_unavailable` when no worker gets free in time. Refusals for time and memory say what the statement
    /// would have read ([`Estimate`]).
    pub async fn query(&self, job: &Job<'_>, sql: &str) -> Result<Answer> {
        text::check(sql, job.budget.sql_chars)?;
        let tables = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
        let tables = tables.map(|dataset| Ok((dataset.name.clone(), self.file(dataset)?))).collect::<Result<_>>()?;
        let limits = limits(job, job.budget.sql_rows, RESULT_BYTES.max(job.budget.reply_bytes));
        let answer = self.rows(job, Task::Query { tables, sql: sql.to_owned(), limits }).await;
        answer.map_err(|error| estimate::explained(error, job.pass.datasets(), sql))
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
        let task = Task::Preview { file: self.file(dataset)?, limits: limits(job, limit, job.budget.reply_bytes) };
        Ok(self.rows(job, task).await?.table)
    }

    fn file(&self, dataset: &Dataset) -> Result<PathBuf> {
        let version = dataset.version.as_deref().ok_or_else(Error::dataset_not_found)?;
        Ok(self.files.table(dataset.org, dataset.id, version))
    }

    async fn rows(&self, job: &Job<'_>, task: Task) -> Result<Answer> {
        match self.outcome(job, &task, time(job)).await? {
            Outcome::Rows { table, execution_ms, used } => Ok(Answer { table, execution_ms, used }),
            _ => Err(Error::internal("a worker did another task than it was asked for rows")),
        }
    }

    async fn outcome(&self, job: &Job<'_>, task: &Task, time: Duration) -> Result<Outcome> {
        job.check()?;
        let workspace = job.pass.org().to_string();
        let next = self.turns.take(job.pass.credential(), &workspace);
        let busy = || Error::unavailable("Too many queries are running. Try again in a moment.");
        let turn = tokio::select! {
            slot = tokio::time::timeout(job.time_left(), next) => {
                slot.map_err(|_| busy())?.map_err(Error::internal)?
            }
            () = job.cancel.cancelled() => return Err(Error::new(Code::QueryTimeout, "The call was cancelled.")),
        };
        job.check()?;
        tokio::select! {
            outcome = self.pool.run(task, time.min(job.time_left()), &job.cancel, None) => {
                // Erased between the look at the metadata and the opening of the file.
                let erased = |error: &Error| error.code == Code::InternalError && !task.files().iter().all(|file| file.exists());
                outcome.map_err(|error| if erased(&error) { Error::dataset_not_found() } else { error })
            }
            () = turn.wanted() => {
                let message = "Others wait for a worker and this query takes long, so that it was stopped. \
                               Try again in a moment, or read fewer rows.";
                Err(Error::unavailable(message))
            }
        }
    }

    /// The process ids of idle workers, for tests and diagnosis.
    pub fn idle_workers(&self) -> Vec<u32> {
        self.pool.waiting()
    }
}

fn time(job: &Job<'_>) -> Duration {
    job.budget.sql_time.min(job.time_left())
}

fn limits(job: &Job<'_>, rows: usize, bytes: usize) -> TaskLimits {
    TaskLimits {
        memory_mb: job.budget.sql_memory_mb,
        threads: job.budget.sql_threads,
        time_ms: u64::try_from(time(job).as_millis()).unwrap_or(u64::MAX),
        rows,
        bytes,
    }
}
