//! Uploaded files into tables. The file is hostile: only a worker process reads it, which can read nothing else and
//! write nowhere but beside the destination.

use std::path::{Path, PathBuf};

use crate::engine::job::Job;
use crate::engine::sql::{ImportedTable, Outcome, SqlEngine, TableFormat, Task, TaskLimits};
use crate::model::error::{Error, Result};

/// The least memory of an import; wide Parquet files need some whatever a query may have.
const MEMORY_MB: u64 = 1_024;

impl SqlEngine {
    /// Reads `source` into a new table file at `destination`, whose folder holds nothing of value to others. The
    /// table is `main.data`; the file is closed and synced when this returns. A failed import, and one whose future
    /// is dropped, leave no file. Neither path may hold `*`, `?` or `[`, which readers take for patterns.
    ///
    /// # Errors
    /// `invalid_argument` with `line` or `row`, and `column` where it is known, for a file that cannot be read;
    /// `limit_exceeded` when it needs too much memory; `query_timeout` when the caller has left or the job's time is
    /// over, waiting for other imports included: the worker is gone when this returns.
    pub async fn import(
        &self,
        job: &Job<'_>,
        source: &Path,
        format: TableFormat,
        destination: &Path,
    ) -> Result<ImportedTable> {
        let _turn = job.wait(self.imports.take(job.pass.org())).await??;
        // The worker runs elsewhere and must not follow links out of what it may read.
        let source = source.canonicalize().map_err(Error::internal)?;
        let folder = destination.parent().ok_or_else(|| Error::internal("a destination has a folder"))?;
        let folder = folder.canonicalize().map_err(Error::internal)?;
        let name = destination.file_name().ok_or_else(|| Error::internal("a destination has a name"))?;
        let destination = folder.join(name);
        if destination.exists() {
            return Err(Error::internal("the destination of an import exists already"));
        }
        let time = job.time_left();
        let limits = TaskLimits {
            memory_mb: self.budgets.sql_memory_mb.max(MEMORY_MB),
            threads: self.budgets.sql_threads,
            time_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            rows: 0,
            bytes: 0,
        };
        let unfinished = Unfinished(Some(destination.clone()));
        let task = Task::Import { source, format, destination, limits };
        match self.pool.alone(&task, time, &job.cancel, job.on_progress()).await {
            Ok(Outcome::Imported(table)) => {
                unfinished.keep();
                Ok(table)
            }
            Ok(other) => Err(Error::internal(format!("a worker answered an import with {other:?}"))),
            // One that was stopped may have found anything, a broken file too.
            Err(error) => job.check().and(Err(error)),
        }
    }
}

/// A file that is removed, with its log, unless it is kept.
struct Unfinished(Option<PathBuf>);

impl Unfinished {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(file) = &self.0 else { return };
        for suffix in ["", ".wal", ".wal.checkpoint", ".wal.recovery"] {
            let mut path = file.clone().into_os_string();
            path.push(suffix);
            match std::fs::remove_file(&path) {
                Err(problem) if problem.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(%problem, "an unfinished table file cannot be removed");
                }
                _ => {}
            }
        }
    }
}
