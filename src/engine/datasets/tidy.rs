//! What is left of versions that no dataset has any more: of a call or a process that ended between two steps, and of
//! what another process has erased or replaced that has the same metadata and a data folder of its own. It is looked
//! for from time to time.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Datasets;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::store;

/// How often it is looked for, and how long calls are waited for that may read it.
const EVERY: Duration = Duration::from_secs(60);

/// Versions that are in place and that nothing names.
#[derive(Default)]
struct Unnamed {
    /// Of datasets that are no more.
    erased: Vec<Dataset>,
    /// Of those that have others.
    replaced: Vec<Dataset>,
}

impl Datasets {
    /// Until it is told to stop: tidies up, and again after a while. What fails is logged, and tried again then.
    pub async fn keep_tidying(&self, stop: &CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                done = self.tidy() => if let Err(problem) = done {
                    tracing::warn!(%problem, "what no dataset has any more could not be removed");
                },
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Removes what no dataset and no workspace has any more, from a server and from the data folder, once. Gives how many
    /// indexes went from the server.
    ///
    /// # Errors
    /// The data folder or the metadata cannot be read.
    pub async fn tidy(&self) -> Result<usize> {
        let removed = self.dependents.search.tidy().await?;
        self.clear_erased().await?;
        let Unnamed { erased, replaced } = self.unnamed().await?;
        self.remove(&erased).await;
        // A call that began before may be about to open one of these. Where one takes longer, they go the next time.
        if !replaced.is_empty() && tokio::time::timeout(EVERY, self.readers.now().gone()).await.is_ok() {
            self.remove(&replaced).await;
        }
        Ok(removed)
    }

    async fn unnamed(&self) -> Result<Unnamed> {
        let files = self.files.clone();
        let read = move || -> io::Result<Vec<_>> {
            files.orgs()?.into_iter().map(|org| Ok((org, files.versions(org)?))).collect()
        };
        let here = tokio::task::spawn_blocking(read).await.map_err(Error::internal)?.map_err(Error::internal)?;
        let mut candidates = Vec::new();
        for (org, mut versions) in here.into_iter().filter(|(_, versions)| !versions.is_empty()) {
            let named = store::dataset_versions::named(&mut self.db.read_tenant(org).await?, org).await?;
            versions.retain(|of| !named.contains(&(of.id, of.version.clone().unwrap_or_default())));
            candidates.extend(versions);
        }
        let mut unnamed = Unnamed::default();
        if candidates.is_empty() {
            return Ok(unnamed);
        }
        // One that is not known was erased, or is of other metadata.
        let known = store::orgs::list(self.db.pool()).await?.into_iter().map(|org| org.id).collect::<HashSet<_>>();
        candidates.retain(|version| known.contains(&version.org));
        // Whoever had moved one into place has named it by now, or never will.
        let _turn = self.turn.lock().await;
        for version in candidates {
            let (org, id) = (version.org, version.id);
            if self.is_named(org, id, version.version.as_deref().unwrap_or_default()).await? {
                continue;
            }
            let now = store::datasets::by_id(&mut self.db.read_tenant(org).await?, org, id).await?;
            match now {
                None => unnamed.erased.push(version),
                Some(_) => unnamed.replaced.push(version),
            }
        }
        Ok(unnamed)
    }
}
