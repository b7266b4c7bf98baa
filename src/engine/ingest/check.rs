//! What an import would make, without making it: the file is read as the import reads it, and what came of it is told and
//! thrown away.

use super::{Ingest, Request, TABLE};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::sql::ImportedTable;
use crate::model::column_change::Hint;
use crate::model::dataset::{ColumnInfo, Dataset, IfExists, Kind};
use crate::model::error::{Error, Result};
use crate::store;

/// What was found in files.
#[derive(Debug)]
pub struct Found {
    pub kind: Kind,
    /// Rows of a table file; texts of documents.
    pub rows: i64,
    pub columns: Vec<ColumnInfo>,
    /// The first rows of a table as text.
    pub first: Vec<Vec<Option<String>>>,
    /// The titles of texts.
    pub titles: Vec<String>,
    /// The datasets into which these very files came last.
    pub same: Vec<String>,
    /// What could be corrected of a table's columns.
    pub hints: Vec<Hint>,
    /// Why parts of files of documents are not among the texts.
    pub skipped: Vec<String>,
}

impl Ingest {
    /// Reads as [`Ingest::import`] does, and keeps nothing. A dataset that has the name already is no error here.
    ///
    /// # Errors
    /// As [`Ingest::import`].
    pub async fn check(&self, job: &Job<'_>, mut request: Request) -> Result<Found> {
        if request.if_exists == IfExists::Refuse {
            request.if_exists = IfExists::Replace;
        }
        // As an import: something that is dropped in its midst would leave files behind.
        let (this, own) = (self.clone(), job.own());
        let _stops = own.stops();
        tokio::spawn(async move { this.look(&own.job(), request).await }).await.map_err(Error::internal)?
    }

    async fn look(&self, job: &Job<'_>, request: Request) -> Result<Found> {
        let _reading = (request.if_exists == IfExists::Append).then(|| self.datasets.read());
        let (import, format) = self.begin(job, request).await?;
        let found = Found {
            kind: import.dataset.kind,
            rows: 0,
            columns: vec![],
            first: vec![],
            titles: vec![],
            same: self.same(job, &import.digest).await?,
            hints: vec![],
            skipped: vec![],
        };
        let Some(format) = format else {
            let (documents, skipped) = self.read(job, &import.request.files).await?;
            let titles: Vec<String> = documents.iter().map(|(_, document)| document.title.clone()).collect();
            return Ok(Found { rows: i64::try_from(titles.len()).unwrap_or(i64::MAX), titles, skipped, ..found });
        };
        // The rows that it is added to come before those of the file.
        let known = self.known(job, import.over).await?;
        let staging = self.staging(import.dataset.org)?;
        let made = self.read_table(job, &import, format, &staging.path().join(TABLE)).await?;
        let ImportedTable { row_count, columns, rows, hints, .. } = made;
        let is_added_to = |known: &Dataset| import.earlier.is_some() && known.version == import.earlier;
        let before = known.filter(is_added_to).map_or(0, |known| known.row_count);
        Ok(Found { rows: row_count - before, columns, first: rows, hints, ..found })
    }

    /// The datasets that have these names, in the order of the names, also those that the caller does not see: an import of
    /// that name is told the same.
    ///
    /// # Errors
    /// The database fails.
    pub async fn taken(&self, job: &Job<'_>, names: &[String]) -> Result<Vec<Dataset>> {
        let org = job.pass.org();
        let mut read = self.db.read_tenant(org).await?;
        let mut taken = Vec::new();
        for name in names {
            taken.extend(store::datasets::by_name(&mut read, org, name).await?);
        }
        Ok(taken)
    }

    /// The datasets into which files of this digest came last, as far as the caller sees them.
    pub(super) async fn same(&self, job: &Job<'_>, digest: &str) -> Result<Vec<String>> {
        let org = job.pass.org();
        let known = store::datasets::by_files(&mut self.db.read_tenant(org).await?, org, digest).await?;
        let seen = known.into_iter().filter(|(_, is_published)| *is_published || !job.pass.is_external());
        Ok(seen.map(|(name, _)| name).collect())
    }

    async fn known(&self, job: &Job<'_>, id: Option<Id<Dataset>>) -> Result<Option<Dataset>> {
        let Some(id) = id else { return Ok(None) };
        store::datasets::by_id(&mut self.db.read_tenant(job.pass.org()).await?, job.pass.org(), id).await
    }
}
