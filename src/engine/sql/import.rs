//! Files of others into tables. The file is hostile: only a worker process reads it, which can read nothing else and
//! write nowhere but beside the destination. What the worker does is in `worker/import.rs`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Outcome, SqlEngine, Task, TaskLimits};
use crate::base::clock::whole_millis;
use crate::config::Budgets;
use crate::engine::job::Job;
use crate::model::column_change::{ColumnChange, Hint};
use crate::model::dataset::ColumnInfo;
use crate::model::error::{Error, Result};

/// The least memory of an import; wide Parquet files need some whatever a query may have.
const MEMORY_MB: u64 = 1_024;

/// What one import may use.
pub(super) fn memory_mb(budgets: &Budgets) -> u64 {
    budgets.sql_memory_mb.max(MEMORY_MB)
}

/// A file that can become a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableFormat {
    /// With or without a header; separators, quotes and encoding are found out.
    Csv,
    /// An array of objects, or one object a line.
    Json,
    Parquet,
    /// A sheet of a workbook, by its place from 0; without one the first that holds something.
    Sheet(Option<u32>),
}

/// A table file that an import made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedTable {
    pub row_count: i64,
    /// Size of the file.
    pub bytes: i64,
    pub columns: Vec<ColumnInfo>,
    /// The first of them as text.
    pub rows: Vec<Vec<Option<String>>>,
    /// Columns that could be of another type, and what a type left empty.
    pub hints: Vec<Hint>,
}

/// A file of others that becomes a table.
#[derive(Clone, Copy, Debug)]
pub struct TableSource<'a> {
    pub path: &'a Path,
    pub format: TableFormat,
    /// What people corrected of its columns, checked.
    pub changes: &'a [ColumnChange],
}

impl SqlEngine {
    /// Reads `source` into a new table file at `destination`, whose folder holds nothing of value to others. The
    /// table is `main.data`; the file is closed and synced when this returns. A failed import, and one whose future
    /// is dropped, leave no file. Neither path may hold `*`, `?` or `[`, which readers take for patterns.
    ///
    /// # Errors
    /// `invalid_argument` with `line` or `row`, `column` and `problems` where they are known, for a file that cannot be read;
    /// `limit_exceeded` when it needs too much memory; `query_timeout` when the caller has left or the job's time is
    /// over, waiting for other imports included (of a workspace one runs at a time, and all workspaces together have
    /// as many as the node bears): the worker is gone when this returns.
    pub async fn import(&self, job: &Job<'_>, source: TableSource<'_>, destination: &Path) -> Result<ImportedTable> {
        self.load(job, source, None, destination).await
    }

    /// As [`SqlEngine::import`], below the rows of an earlier table file, which stays as it is. Its columns and their types
    /// hold for the new rows.
    ///
    /// # Errors
    /// As [`SqlEngine::import`]; `invalid_argument` with `column` for a column that the earlier table does not have, or a
    /// value that is not of its type.
    pub async fn append(
        &self,
        job: &Job<'_>,
        source: TableSource<'_>,
        earlier: &Path,
        destination: &Path,
    ) -> Result<ImportedTable> {
        self.load(job, source, Some(earlier), destination).await
    }

    async fn load(
        &self,
        job: &Job<'_>,
        TableSource { path, format, changes }: TableSource<'_>,
        earlier: Option<&Path>,
        destination: &Path,
    ) -> Result<ImportedTable> {
        let workspace = job.pass.org().to_string();
        let _turn = job.wait(self.imports.take(&workspace, &workspace)).await??;
        // The worker runs elsewhere and must not follow links out of what it may read.
        let source = path.canonicalize().map_err(Error::internal)?;
        let earlier = earlier.map(Path::canonicalize).transpose().map_err(|_| Error::dataset_not_found())?;
        let folder = destination.parent().ok_or_else(|| Error::internal("a destination has a folder"))?;
        let folder = folder.canonicalize().map_err(Error::internal)?;
        let name = destination.file_name().ok_or_else(|| Error::internal("a destination has a name"))?;
        let destination = folder.join(name);
        if destination.exists() {
            return Err(Error::internal("the destination of an import exists already"));
        }
        let time = job.time_left();
        let limits = TaskLimits {
            memory_mb: memory_mb(&self.budgets),
            threads: self.budgets.sql_threads,
            time_ms: whole_millis(time),
            rows: 0,
            bytes: 0,
        };
        let unfinished = Unfinished(Some(destination.clone()));
        let task = Task::Import { source, format, earlier, destination, changes: changes.to_vec(), limits };
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
