//! What a pass can see beyond the datasets that it already carries: the texts of documents.

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::store::{self, Db};

/// Reads documents within a pass.
#[derive(Clone)]
pub struct Catalog {
    db: Db,
}

impl Catalog {
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// A document of a dataset that the pass covers, in the version that the dataset names now.
    ///
    /// # Errors
    /// `document_not_found`, the same for absent, replaced, unpublished and foreign ones.
    pub async fn document(&self, job: &Job<'_>, id: Id<Document>) -> Result<Document> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let found = store::documents::by_id(&mut read, job.pass.org(), id).await?;
        found
            .filter(|document| {
                job.pass.datasets().iter().any(|dataset| {
                    dataset.id == document.dataset && dataset.version.as_ref() == Some(&document.version)
                })
            })
            .ok_or_else(Error::document_not_found)
    }
}
