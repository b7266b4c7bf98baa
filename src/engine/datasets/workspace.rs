//! The end of a workspace, with everything that it has. It is locked first, on every node, and its row in the metadata is
//! the last that goes: what ends half way is ended by the same call. Other nodes clear their own folders
//! ([`Datasets::tidy`]), as this one does of what calls leave that were under way.

use serde::{Deserialize, Serialize};

use super::Datasets;
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store;
use crate::store::erasure::TABLES;

/// A workspace that is no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// The addresses of the people who belonged to no other: they have their accounts still.
    pub people: Vec<String>,
    /// How many indexes a Qdrant server still has to remove.
    pub indexes_left: usize,
}

impl Datasets {
    /// Erases a workspace for good: data, ontologies, sources, credentials, memberships and settings, and its name, which
    /// is free from then on. The record of it stays. Goes on when the caller is dropped.
    ///
    /// # Errors
    /// `not_found`; what fails half way leaves the workspace locked, and is ended by another call.
    pub async fn erase_workspace(&self, org: Id<Org>) -> Result<Erased> {
        let this = self.clone();
        let erasing = tokio::spawn(async move { this.erase_all(org).await });
        erasing.await.map_err(Error::internal)?
    }

    async fn erase_all(&self, org: Id<Org>) -> Result<Erased> {
        if !store::erasure::begin(&mut *self.db.writer().await?, org, self.clock.now()).await? {
            return Err(Error::not_found("workspace"));
        }
        let datasets = store::datasets::outlines(&mut self.db.read_tenant(org).await?, org).await?;
        for table in &TABLES {
            loop {
                // A transaction of its own: whoever waits to write comes in between.
                let mut tx = self.db.tenant_at_length(org).await?;
                let is_more = store::erasure::some(&mut tx, org, table).await?;
                tx.commit().await?;
                if !is_more {
                    break;
                }
            }
        }
        let earlier = self.readers.now();
        self.let_go(&datasets).await;
        self.clear_folder(org).await?;
        if !earlier.are_gone() {
            let this = self.clone();
            tokio::spawn(async move {
                earlier.gone().await;
                this.let_go(&datasets).await;
            });
        }
        let mut tx = self.db.tenant_at_length(org).await?;
        // First, as whoever publishes a version or deletes a dataset.
        store::datasets::hold_names(&mut tx, org).await?;
        let gone = store::cluster_indexes::retire_workspace(&mut tx, org, self.clock.now()).await?;
        let people = store::erasure::end(&mut tx, self.db.backend(), org).await?;
        tx.commit().await?;
        // Of calls that published meanwhile. What of theirs comes later goes with the next look, as this where it fails.
        if let Err(problem) = self.clear_folder(org).await {
            tracing::warn!(%problem, "files of an erased workspace stay for now");
        }
        if !self.db.scrub().await? {
            tracing::warn!("the log of the metadata is in use; deleted rows leave it with its next turn");
        }
        // The rows of those that are not removed stay, and say that they are to be.
        if let Err(problem) = self.dependents.search.clear(&gone).await {
            tracing::warn!(%problem, "indexes of an erased workspace stay on the server for now");
        }
        let left = store::cluster_indexes::of_workspace(&mut self.db.read_tenant(org).await?, org).await?;
        Ok(Erased { people, indexes_left: left.len() })
    }

    /// Clears the data folder of workspaces that were erased: by a process that died, or by another node; and of what calls
    /// left there that were under way. The record is what tells them from those of other metadata.
    pub(super) async fn clear_erased(&self) -> Result<()> {
        let files = self.files.clone();
        let here = tokio::task::spawn_blocking(move || files.orgs()).await.map_err(Error::internal)?;
        // After the look into the folder: no new workspace is missing.
        let erased = store::audit::erased(&self.db).await?;
        for org in here.map_err(Error::internal)?.into_iter().filter(|org| erased.contains(org)) {
            // What fails is tried again with the next look, and keeps nobody else's from being cleared.
            if let Err(problem) = self.clear_folder(org).await {
                tracing::warn!(%problem, "files of an erased workspace stay for now");
            }
        }
        Ok(())
    }

    /// Removes the folder of a workspace whose datasets the metadata do not name any more.
    async fn clear_folder(&self, org: Id<Org>) -> Result<()> {
        let files = self.files.clone();
        let read = tokio::task::spawn_blocking(move || files.versions(org)).await.map_err(Error::internal)?;
        // Before the files go: the engine writes to them when it closes them.
        self.let_go(&read.map_err(Error::internal)?).await;
        let _turn = self.turn.lock().await;
        let files = self.files.clone();
        let removed = tokio::task::spawn_blocking(move || files.erase_workspace(org)).await.map_err(Error::internal)?;
        removed.map_err(Error::internal)
    }

    async fn let_go(&self, of: &[Dataset]) {
        for dataset in of {
            self.close(dataset).await;
        }
    }
}
