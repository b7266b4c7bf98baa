//! Files of others into documents, and what workbooks hold: as with tables ([`super::import`]), only a worker process reads
//! them. It has the file and nothing else, writes nowhere, and what it says comes back as text.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::import::memory_mb;
use super::{Outcome, SqlEngine, Task, TaskLimits};
use crate::base::clock::whole_millis;
use crate::engine::extract::Found;
use crate::engine::extract::bucket::Said;
use crate::engine::extract::sheets::Sheet;
use crate::engine::extract::sitemap::Sitemap;
use crate::engine::job::Job;
use crate::model::error::{Code, Error, Result};

/// The longest that one file is read.
const TIME: Duration = Duration::from_secs(180);

impl SqlEngine {
    /// The documents in a file, which people call `name`.
    ///
    /// # Errors
    /// `invalid_argument` with the file, and where it is wrong, for one that cannot be read; `limit_exceeded` for one that
    /// takes too much text, memory or time; `query_timeout` when the caller has left or the job's time is over.
    pub async fn documents(&self, job: &Job<'_>, source: &Path, name: &str) -> Result<Found> {
        let task = |source, limits| Task::Documents { source, name: name.to_owned(), limits };
        match self.read_in_worker(job, source, name, task).await? {
            Outcome::Found(found) => Ok(found),
            other => Err(Error::internal(format!("a worker answered a file with {other:?}"))),
        }
    }

    /// The sheets of a workbook that hold something, in their order.
    ///
    /// # Errors
    /// As [`SqlEngine::documents`].
    pub async fn sheets(&self, job: &Job<'_>, source: &Path, name: &str) -> Result<Vec<Sheet>> {
        let task = |source, limits| Task::Sheets { source, limits };
        match self.read_in_worker(job, source, name, task).await? {
            Outcome::Sheets(sheets) => Ok(sheets),
            other => Err(Error::internal(format!("a worker answered a workbook with {other:?}"))),
        }
    }

    /// The addresses that a sitemap names; `name` is its own.
    ///
    /// # Errors
    /// As [`SqlEngine::documents`].
    pub async fn sitemap(&self, job: &Job<'_>, source: &Path, name: &str) -> Result<Sitemap> {
        let task = |source, limits| Task::Sitemap { source, limits };
        match self.read_in_worker(job, source, name, task).await? {
            Outcome::Sitemap(sitemap) => Ok(sitemap),
            other => Err(Error::internal(format!("a worker answered a sitemap with {other:?}"))),
        }
    }

    /// What a server says of the bucket `name`.
    ///
    /// # Errors
    /// As [`SqlEngine::documents`].
    pub async fn bucket(&self, job: &Job<'_>, source: &Path, name: &str) -> Result<Said> {
        let task = |source, limits| Task::Bucket { source, limits };
        match self.read_in_worker(job, source, name, task).await? {
            Outcome::Bucket(said) => Ok(said),
            other => Err(Error::internal(format!("a worker answered the list of a bucket with {other:?}"))),
        }
    }

    async fn read_in_worker(
        &self,
        job: &Job<'_>,
        source: &Path,
        name: &str,
        task: impl FnOnce(std::path::PathBuf, TaskLimits) -> Task,
    ) -> Result<Outcome> {
        let workspace = job.pass.org().to_string();
        let _turn = job.wait(self.imports.take(&workspace, &workspace)).await??;
        // The worker runs elsewhere and must not follow links out of what it may read.
        let source = source.canonicalize().map_err(Error::internal)?;
        let time = job.time_left().min(TIME);
        let limits = TaskLimits {
            memory_mb: memory_mb(&self.budgets),
            threads: 1,
            time_ms: whole_millis(time),
            rows: 0,
            bytes: 0,
        };
        let read = self.pool.alone(&task(source, limits), time, &job.cancel, None).await;
        match read {
            Err(error) => job.check().and(Err(explained(error, name, memory_mb(&self.budgets)))),
            read => read,
        }
    }
}

/// What the end of a worker means for the file that it read.
fn explained(error: Error, name: &str, memory: u64) -> Error {
    let limit = error.details.get("limit").and_then(serde_json::Value::as_str);
    match (error.code, limit) {
        (Code::LimitExceeded, Some("memory")) => {
            let message = format!(
                "{name} cannot be imported: reading it takes more than the {memory} MB of memory that one file may have. It \
                 unpacks to far more than its size, or is damaged."
            );
            Error::new(Code::LimitExceeded, message).with(json!({ "limit": "memory", "max_mb": memory, "file": name }))
        }
        (Code::QueryTimeout, _) => {
            let message = format!(
                "{name} cannot be imported: reading it takes longer than {} s. Split it, or save it more simply.",
                TIME.as_secs()
            );
            Error::new(Code::LimitExceeded, message)
                .with(json!({ "limit": "time", "max_seconds": TIME.as_secs(), "file": name }))
        }
        // Its reader gave up in a way that nobody foresaw; that was logged, and the server is not concerned.
        (Code::InternalError, _) => {
            let message = format!(
                "{name} cannot be imported: its reader failed on it, so that it is most likely damaged. Open it in the \
                 program that made it, and save it anew."
            );
            Error::invalid("file", message).with(json!({ "field": "file", "file": name, "reason": "reader_failed" }))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_worker_is_told_as_what_the_file_is() {
        let memory = Error::new(Code::LimitExceeded, "x").with(json!({ "limit": "memory" }));
        for (error, code, word) in [
            (memory, Code::LimitExceeded, "1024 MB"),
            (Error::new(Code::QueryTimeout, "x"), Code::LimitExceeded, "180 s"),
            (Error::new(Code::InternalError, "x"), Code::InvalidArgument, "damaged"),
        ] {
            let told = explained(error, "a.pdf", 1_024);
            assert_eq!(told.code, code);
            assert!(
                told.message.starts_with("a.pdf cannot be imported") && told.message.contains(word),
                "{}",
                told.message
            );
        }
        let own = Error::invalid("file", "a.pdf is wrong");
        assert_eq!(explained(own, "a.pdf", 1).message, "a.pdf is wrong");
    }
}
