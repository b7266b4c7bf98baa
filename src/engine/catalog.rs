//! What a pass can see beyond the datasets that it already carries: the texts of documents.

use std::collections::HashMap;

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::store::documents::Title;
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
        let org = job.pass.org();
        let mut read = self.db.read_tenant(org).await?;
        let dataset = store::documents::dataset_of(&mut read, org, id).await?;
        let dataset = dataset.and_then(|dataset| job.pass.dataset(dataset).ok());
        let Some((dataset, version)) = dataset.and_then(|dataset| Some((dataset.id, dataset.version.as_deref()?)))
        else {
            return Err(Error::document_not_found());
        };
        let found = store::documents::by_id(&mut read, org, dataset, version, id).await?;
        found.ok_or_else(Error::document_not_found)
    }

    /// At most `most` documents of a dataset of the pass after the first `skipped`, by source file, in the version that
    /// the dataset names now.
    ///
    /// # Errors
    /// The database fails.
    pub async fn titles(&self, job: &Job<'_>, dataset: &Dataset, skipped: usize, most: usize) -> Result<Vec<Title>> {
        let Some(version) = dataset.version.as_deref() else { return Ok(Vec::new()) };
        let org = job.pass.org();
        let mut read = self.db.read_tenant(org).await?;
        store::documents::titles(&mut read, org, dataset.id, version, skipped, most).await
    }

    /// The datasets of those of these documents whose datasets the pass covers.
    ///
    /// # Errors
    /// The database fails.
    pub async fn datasets_of(
        &self,
        job: &Job<'_>,
        documents: &[Id<Document>],
    ) -> Result<HashMap<Id<Document>, Id<Dataset>>> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let mut found = HashMap::new();
        for id in documents {
            if found.contains_key(id) {
                continue;
            }
            let dataset = store::documents::dataset_of(&mut read, job.pass.org(), *id).await?;
            if let Some(dataset) = dataset.filter(|dataset| job.pass.dataset(*dataset).is_ok()) {
                found.insert(*id, dataset);
            }
        }
        Ok(found)
    }

    /// How many documents each dataset of the pass has, in the version that it names now.
    ///
    /// # Errors
    /// The database fails.
    pub async fn counts(&self, job: &Job<'_>) -> Result<HashMap<Id<Dataset>, i64>> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let counts = store::documents::counts(&mut read, job.pass.org()).await?;
        let is_current = |dataset: &Id<Dataset>, version: &str| {
            job.pass.dataset(*dataset).is_ok_and(|dataset| dataset.version.as_deref() == Some(version))
        };
        let current = counts.into_iter().filter(|(dataset, version, _)| is_current(dataset, version));
        Ok(current.map(|(dataset, _, count)| (dataset, count)).collect())
    }
}
