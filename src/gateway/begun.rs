//! What begins and ends on the record, whatever it is that ends it. From before the row of its beginning until after that of
//! its end there is a file for it in the data folder, which one process uses: what is there when the next one takes the
//! folder was left by a process that was killed, and gets its end then. A process killed in the very moment of an end may
//! so leave two rows of it, and none that was begun is without.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::Gateway;
use crate::model::audit::{Entry, clip};
use crate::model::caller::Caller;
use crate::model::error::{Error, Result};

impl Gateway {
    /// Records that a session of the caller's begins.
    ///
    /// # Errors
    /// It could not be kept, or not be recorded: whoever asked must not hear of the session.
    pub async fn begin(&self, caller: &Caller, action: &'static str, target: &str) -> Result<()> {
        let entry = Entry { target: clip(target), outcome: "ok".into(), ..self.entry(caller, action) };
        let text = serde_json::to_vec(&entry).map_err(Error::internal)?;
        let file = self.begun(&entry.session);
        tokio::task::spawn_blocking(move || keep(&file, &text))
            .await
            .map_err(Error::internal)?
            .map_err(Error::internal)?;
        self.audit.record(entry).await
    }

    /// Records that a session ends.
    ///
    /// # Errors
    /// It could not be recorded; the next start tries again.
    pub async fn end(&self, caller: &Caller, action: &'static str, target: &str) -> Result<()> {
        self.record(caller, action, target).await?;
        forget(&self.begun(caller.session.as_deref().unwrap_or_default())).await.map_err(Error::internal)
    }

    /// Records the ends of sessions that another process left, before this one begins any; returns how many.
    ///
    /// # Errors
    /// They cannot be read or recorded; the next start tries again.
    pub async fn end_left(&self, action: &'static str, target: &str) -> Result<usize> {
        let mut ended = 0;
        let mut left = match tokio::fs::read_dir(self.begun("")).await {
            Err(none) if none.kind() == ErrorKind::NotFound => return Ok(0),
            left => left.map_err(Error::internal)?,
        };
        while let Some(file) = left.next_entry().await.map_err(Error::internal)? {
            let text = tokio::fs::read(file.path()).await.map_err(Error::internal)?;
            // A machine that went down may leave an empty one.
            if let Ok(begun) = serde_json::from_slice::<Entry>(&text) {
                let (at, action) = (self.clock.now(), action.into());
                self.audit.record(Entry { at, action, target: target.into(), ..begun }).await?;
                ended += 1;
            }
            forget(&file.path()).await.map_err(Error::internal)?;
        }
        Ok(ended)
    }

    fn begun(&self, session: &str) -> PathBuf {
        self.parts.config.data_dir.join("sessions").join(session)
    }
}

fn keep(file: &Path, text: &[u8]) -> io::Result<()> {
    match std::fs::write(file, text) {
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(file, text)
        }
        written => written,
    }
}

async fn forget(file: &Path) -> io::Result<()> {
    match tokio::fs::remove_file(file).await {
        Err(gone) if gone.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
