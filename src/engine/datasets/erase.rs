//! The end of a dataset: at once in the metadata and in the data folder, and again of what late questions leave.

use super::Datasets;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::cluster_index::ClusterIndex;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store;

impl Datasets {
    /// Erases a dataset of the workspace with everything that came from it: rows, texts, vectors, figures and kept
    /// results. `name` must be the dataset's own, so that no wrong id erases. When this returns, nothing of it is left
    /// in the data folder, but for files that calls have open until they end; what the record says of it stays. An
    /// import of it that is under way does not bring it back ([`Datasets::put`]).
    ///
    /// # Errors
    /// `dataset_not_found`; `invalid_argument` for another name; `service_unavailable` where a server has something of the
    /// workspace's and does not answer: nothing is erased then.
    pub async fn delete(&self, job: &Job<'_>, id: Id<Dataset>, name: &str) -> Result<Dataset> {
        let org = job.pass.org();
        self.dependents.questions.before_erasing(org).await?;
        self.is_erasable(org, id).await?;
        let turn = self.turn.lock().await;
        let mut tx = self.db.tenant_at_length(org).await?;
        // First, as whoever publishes a version or lets its documents go: neither waits for the other in a circle.
        store::datasets::hold_names(&mut tx, org).await?;
        let found = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        if found.name != name {
            let message = "This is not the dataset's name. Give the name as it is listed, to confirm what is deleted.";
            return Err(Error::invalid("name", message));
        }
        store::datasets::delete(&mut tx, org, id).await?;
        store::tasks::forget(&mut tx, org, id).await?;
        self.dependents.questions.erase(&mut tx, &found, true).await?;
        // Whether a server is set now or not: these rows tell what has to go from it, until it has.
        let gone = store::cluster_indexes::retire(&mut tx, org, id, None, self.clock.now()).await?;
        tx.commit().await?;
        drop(turn);
        // To its end, whether the caller waits for it or not.
        let (this, of) = (self.clone(), found.clone());
        let erasing = tokio::spawn(async move { this.erase(&of, &gone).await });
        erasing.await.map_err(Error::internal)??;
        Ok(found)
    }

    /// Erases what is left of a dataset that the metadata name no more, in the data folder and on a server.
    async fn erase(&self, found: &Dataset, gone: &[ClusterIndex]) -> Result<()> {
        let id = found.id;
        // Before its files go: the engine writes to them when it closes them.
        self.close(found).await;
        let turn = self.turn.lock().await;
        self.files.erase(found.org, id).map_err(Error::internal)?;
        drop(turn);
        let earlier = self.readers.now();
        if !earlier.are_gone() {
            let (this, found) = (self.clone(), found.clone());
            tokio::spawn(async move {
                earlier.gone().await;
                this.close(&found).await;
                if let Err(error) = this.erase_again(&found).await {
                    tracing::error!(dataset = %id, %error, "what late questions left of an erased dataset stays");
                }
            });
        }
        if !self.db.scrub().await? {
            tracing::warn!(dataset = %id, "the log of the metadata is in use; deleted rows leave it with its next turn");
        }
        // The last: a server may take longer than the call has. What it still holds then goes with the rows that say so.
        self.dependents.search.clear(gone).await
    }

    /// Whether a server that has the indexes of documents answers, so that what is erased goes at once. Tables have none
    /// there.
    pub(super) async fn is_erasable(&self, org: Id<Org>, id: Id<Dataset>) -> Result<()> {
        let found = store::datasets::by_id(&mut self.db.read_tenant(org).await?, org, id).await?;
        match found.is_some_and(|found| found.kind == Kind::Documents) {
            true => self.dependents.search.is_ready(org).await,
            false => Ok(()),
        }
    }

    /// What questions over an erased dataset left that ended after it.
    async fn erase_again(&self, gone: &Dataset) -> Result<()> {
        let mut tx = self.db.tenant(gone.org).await?;
        self.dependents.questions.erase(&mut tx, gone, false).await?;
        Ok(tx.commit().await?)
    }
}
