//! Files into datasets, all or nothing: read and build in a staging folder, move the finished file (or shard) to its
//! place, then let the metadata name it in one transaction. Whatever fails before leaves nothing that anyone sees.
//!
//! A dataset that exists under the name gets a new version; readers of the version before it finish undisturbed, and
//! then it goes.

mod detect;
mod table;
pub mod text;
pub(in crate::engine) mod turns;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use detect::{FileKind, kind_of};

use tokio::sync::Mutex;

use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::engine::agent::ask::Questions;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::engine::readers::Readers;
use crate::engine::search::SearchEngine;
use crate::engine::sql::{Results, SqlEngine, TableFormat};
use crate::model::dataset::{Dataset, Kind, is_name};
use crate::model::document::{Document, ParsedDocument};
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::store::{self, Db};

/// A file that was handed in: the name that a person gave it, and where its bytes are now.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub path: PathBuf,
}

/// What to import, under which name.
#[derive(Clone, Debug)]
pub struct Request {
    /// The dataset's name; an existing one of the same kind gets a new version.
    pub name: String,
    pub description: String,
    /// One table file, or any number of text files.
    pub files: Vec<SourceFile>,
    /// Whether external clients may see it at once. `false` leaves an existing publication as it is.
    pub publish: bool,
}

/// Characters of a description.
const DESCRIPTION: usize = 2_000;
/// Bytes of all texts of one import: they are held in memory while they are indexed.
const TEXT_BYTES: u64 = 64 << 20;

/// Where texts are read, and where the result is ready to be published, in the progress of the whole.
const READ: f64 = 0.02;
const READY: f64 = 0.97;

/// Imports files.
#[derive(Clone)]
pub struct Ingest {
    db: Db,
    clock: Clock,
    files: Files,
    on: Dependents,
    readers: Readers,
    /// One publication at a time; see [`Ingest::finish`].
    turn: Arc<Mutex<()>>,
}

/// What reads datasets, and keeps something of what it read.
#[derive(Clone)]
pub struct Dependents {
    pub sql: SqlEngine,
    pub search: SearchEngine,
    pub results: Results,
    pub questions: Questions,
}

/// Names the version files of an import.
struct Version;

impl Ingest {
    pub fn new(db: Db, clock: Clock, files: Files, on: Dependents, readers: Readers) -> Self {
        Self { db, clock, files, on, readers, turn: Arc::default() }
    }

    /// A private folder for bytes on their way in; removed when dropped.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn staging(&self, org: Id<Org>) -> Result<tempfile::TempDir> {
        self.files.staging(org).map_err(Error::internal)
    }

    /// Imports into the workspace of the job's pass, and returns the dataset as published in the metadata. It ends soon
    /// after the caller has left, or the time is over, and leaves nothing behind then; but what is about to be
    /// published is published whole.
    ///
    /// # Errors
    /// `invalid_argument` with the row and column, line, or name that is wrong; `limit_exceeded` for what cannot be
    /// done in the time or memory; `query_timeout`. Nothing is left behind.
    pub async fn import(&self, job: &Job<'_>, request: Request) -> Result<Dataset> {
        let (this, pass, budget) = (self.clone(), job.pass.clone(), job.budget.clone());
        let (time, cancel, on_progress) = (job.time_left(), job.cancel.child_token(), job.on_progress());
        // A task of its own, which is told to stop when nobody waits for it any more: dropped in its midst it would
        // leave files behind that something still writes, or a version that is in place and not named.
        let _stops = cancel.clone().drop_guard();
        let import = async move { this.make(&Job::new(&pass, &budget, time, cancel, on_progress), request).await };
        tokio::spawn(import).await.map_err(Error::internal)?
    }

    async fn make(&self, job: &Job<'_>, request: Request) -> Result<Dataset> {
        if !is_name(&request.name) {
            let message = "A dataset's name has 1 to 63 characters of a–z, 0–9 and _, and does not start with a digit.";
            return Err(Error::invalid("name", message));
        }
        // PostgreSQL keeps no NUL, and no page or terminal is helped by other control characters.
        let odd = |c: char| c.is_control() && !"\n\r\t".contains(c);
        if request.description.chars().count() > DESCRIPTION || request.description.contains(odd) {
            let message = format!("A description has at most {DESCRIPTION} printable characters.");
            return Err(Error::invalid("description", message));
        }
        let kinds = request.files.iter().map(|file| kind_of(&file.name)).collect::<Result<Vec<_>>>()?;
        let (kind, format) = match kinds.as_slice() {
            [] => return Err(Error::invalid("file", "Give at least one file.")),
            [FileKind::Table(format)] => (Kind::Table, Some(*format)),
            kinds if kinds.iter().all(|kind| *kind == FileKind::Text) => (Kind::Documents, None),
            _ => {
                let message = "One dataset is made of one table file, or of text files only. Import them one by one.";
                return Err(Error::invalid("file", message));
            }
        };
        let org = job.pass.org();
        let before = store::datasets::by_name(&mut self.db.read_tenant(org).await?, org, &request.name).await?;
        if before.as_ref().is_some_and(|before| before.kind != kind) {
            let message = format!("{:?} exists and holds {}. Choose another name.", request.name, other(kind));
            return Err(Error::invalid("name", message));
        }
        if let Some(remote) = before.as_ref().and_then(|before| before.remote.as_ref()) {
            let message = format!(
                "{:?} is a table of the source {}: its rows are there. Choose another name.",
                request.name, remote.source_name
            );
            return Err(Error::invalid("name", message));
        }
        let dataset = self.blank(org, kind, &request, before.as_ref());
        match format {
            Some(format) => self.table(job, dataset, &request, format).await,
            None => self.documents(job, dataset, &request).await,
        }
    }

    /// Publishes a dataset of the workspace to external clients, or withdraws it.
    ///
    /// # Errors
    /// `dataset_not_found`.
    pub async fn publish(&self, job: &Job<'_>, id: Id<Dataset>, published: bool) -> Result<()> {
        let now = self.clock.now();
        let mut tx = self.db.tenant(job.pass.org()).await?;
        let found = store::datasets::publish(&mut tx, job.pass.org(), id, published, now).await?;
        tx.commit().await?;
        if !published {
            self.on.results.forget(job.pass.org(), id);
        }
        if found { Ok(()) } else { Err(Error::dataset_not_found()) }
    }

    /// Erases a dataset of the workspace with everything that came from it: rows, texts, vectors, figures and kept
    /// results. `name` must be the dataset's own, so that no wrong id erases. When this returns, nothing of it is left in the
    /// data folder, but for files that calls have open until they end; what the record says of it stays.
    ///
    /// # Errors
    /// `dataset_not_found`; `invalid_argument` for another name.
    pub async fn delete(&self, job: &Job<'_>, id: Id<Dataset>, name: &str) -> Result<Dataset> {
        let org = job.pass.org();
        self.on.questions.before_erasing(org).await?;
        let _turn = self.turn.lock().await;
        let mut tx = self.db.tenant(org).await?;
        let found = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        if found.name != name {
            let message = "This is not the dataset's name. Give the name as it is listed, to confirm what is deleted.";
            return Err(Error::invalid("name", message));
        }
        store::datasets::delete(&mut tx, org, id).await?;
        self.on.questions.erase(&mut tx, &found, true).await?;
        tx.commit().await?;
        self.on.questions.let_go(&found);
        self.on.results.forget(org, id);
        self.on.sql.forget(org, id);
        if let Some(version) = &found.version {
            self.on.search.forget(org, id, version);
        }
        self.files.erase(org, id).map_err(Error::internal)?;
        // Calls that had begun before may leave something once more.
        let (this, earlier, gone) = (self.clone(), self.readers.now(), found.clone());
        let is_late = !earlier.are_gone();
        tokio::spawn(async move {
            earlier.gone().await;
            this.on.results.forget(org, id);
            this.on.sql.forget(org, id);
            this.on.questions.let_go(&gone);
            if is_late && let Err(error) = this.erase_again(&gone).await {
                tracing::error!(dataset = %id, %error, "what late questions left of an erased dataset stays");
            }
        });
        if !self.db.scrub().await? {
            tracing::warn!(dataset = %id, "the log of the metadata is in use; deleted rows leave it with its next turn");
        }
        Ok(found)
    }

    /// What questions over an erased dataset left that ended after it.
    async fn erase_again(&self, gone: &Dataset) -> Result<()> {
        let mut tx = self.db.tenant(gone.org).await?;
        self.on.questions.erase(&mut tx, gone, false).await?;
        Ok(tx.commit().await?)
    }

    /// Removes what no dataset names: staging of interrupted imports, and versions that were moved into place but
    /// never named. Only for the start of the process, when nobody reads.
    ///
    /// # Errors
    /// The data folder or the metadata cannot be read.
    pub async fn sweep(&self) -> Result<()> {
        self.files.sweep_staging().map_err(Error::internal)?;
        for (org, place) in self.files.versions().map_err(Error::internal)? {
            let named = store::datasets::list(&mut self.db.read_tenant(org).await?, org).await?;
            let current = named.iter().any(|dataset| self.place(dataset) == place);
            if !current {
                tracing::info!(path = %place.display(), "removing a version that no dataset names");
                self.files.remove(&place).map_err(Error::internal)?;
            }
        }
        Ok(())
    }

    /// Where the dataset's current version lives.
    fn place(&self, dataset: &Dataset) -> PathBuf {
        let version = dataset.version.as_deref().unwrap_or_default();
        match dataset.kind {
            Kind::Table => self.files.table(dataset.org, dataset.id, version),
            Kind::Documents => self.files.vectors(dataset.org, dataset.id, version),
        }
    }

    /// The dataset as it will be, less what only the import can tell.
    fn blank(&self, org: Id<Org>, kind: Kind, request: &Request, before: Option<&Dataset>) -> Dataset {
        let now = self.clock.now();
        let kept = before.map(|before| before.description.clone()).unwrap_or_default();
        Dataset {
            id: before.map_or_else(|| Id::new(&self.clock), |before| before.id),
            org,
            name: request.name.clone(),
            description: if request.description.is_empty() { kept } else { request.description.clone() },
            kind,
            externally_queryable: request.publish,
            version: Some(Id::<Version>::new(&self.clock).to_string()),
            row_count: 0,
            bytes: 0,
            columns: Vec::new(),
            source: request.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", "),
            remote: None,
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
        }
    }

    async fn table(
        &self,
        job: &Job<'_>,
        mut dataset: Dataset,
        request: &Request,
        format: TableFormat,
    ) -> Result<Dataset> {
        let [file] = request.files.as_slice() else {
            return Err(Error::internal("a table is made of one file"));
        };
        let staging = self.staging(dataset.org)?;
        let staged = staging.path().join("table.duckdb");
        let imported = self.on.sql.import(&job.part(0.0..READY), &file.path, format, &staged).await?;
        dataset.row_count = imported.row_count;
        dataset.bytes = imported.bytes;
        dataset.columns = imported.columns;
        self.finish(job, &dataset, &[], request.publish, &staged).await?;
        Ok(dataset)
    }

    async fn documents(&self, job: &Job<'_>, mut dataset: Dataset, request: &Request) -> Result<Dataset> {
        let documents = self.read(&job.part(0.0..READ), &request.files).await?;
        let staging = self.staging(dataset.org)?;
        let staged = staging.path().join("vectors");
        let indexed = self.on.search.index(&job.part(READ..READY), dataset.id, &documents, &staged).await?;
        dataset.row_count = indexed.chunks;
        dataset.bytes = indexed.bytes;
        let version = dataset.version.clone().unwrap_or_default();
        let rows = documents.into_iter().zip(&request.files).map(|((id, parsed), file)| {
            let ParsedDocument { title, text, .. } = Arc::unwrap_or_clone(parsed);
            Document {
                id,
                org: dataset.org,
                dataset: dataset.id,
                version: version.clone(),
                title,
                source_file: file.name.clone(),
                text,
                created_at: dataset.updated_at,
            }
        });
        let rows: Vec<Document> = rows.collect();
        self.finish(job, &dataset, &rows, request.publish, &staged).await?;
        Ok(dataset)
    }

    /// The texts of the files, in their order.
    async fn read(&self, job: &Job<'_>, files: &[SourceFile]) -> Result<Vec<(Id<Document>, Arc<ParsedDocument>)>> {
        let mut documents = Vec::with_capacity(files.len());
        let mut left = TEXT_BYTES;
        for (index, file) in files.iter().enumerate() {
            job.check()?;
            job.says(index as f64 / files.len() as f64, format!("Reading {}", file.name));
            let file = file.clone();
            let read = tokio::task::spawn_blocking(move || parsed(&file, left));
            let (document, bytes) = read.await.map_err(Error::internal)??;
            left -= bytes;
            documents.push((Id::new(&self.clock), Arc::new(document)));
        }
        Ok(documents)
    }

    /// The moment of publication. When it fails, the file that nobody names is removed again.
    ///
    /// One at a time: tidying up after one import must not remove what another has moved into place and not named
    /// yet, nor the version that another has named since; and of two that make a new name, the second must see it.
    async fn finish(
        &self,
        job: &Job<'_>,
        dataset: &Dataset,
        rows: &[Document],
        publish: bool,
        staged: &Path,
    ) -> Result<()> {
        job.says(READY, "Publishing");
        let _turn = job.wait(self.turn.lock()).await?;
        let mut read = self.db.read_tenant(dataset.org).await?;
        let before = store::datasets::by_name(&mut read, dataset.org, &dataset.name).await?;
        drop(read);
        if before.as_ref().is_some_and(|before| before.id != dataset.id) {
            let message = format!("Another import has just made {:?}. Import again for a new version.", dataset.name);
            return Err(Error::invalid("name", message));
        }
        // The last look at who waits: from here on it is published, or fails by itself.
        job.check()?;
        let place = self.place(dataset);
        self.files.publish(staged, &place).map_err(Error::internal)?;
        if let Err(problem) = self.write(dataset, rows, publish).await {
            self.files.remove(&place).map_err(Error::internal)?;
            return Err(problem);
        }
        if let Some(before) = before {
            self.retire(before);
        }
        Ok(())
    }

    async fn write(&self, dataset: &Dataset, rows: &[Document], publish: bool) -> Result<()> {
        let version = dataset.version.as_deref().unwrap_or_default();
        let mut tx = self.db.tenant(dataset.org).await?;
        store::datasets::put(&mut tx, dataset).await?;
        for row in rows {
            store::documents::insert(&mut tx, row).await?;
        }
        store::documents::keep_only(&mut tx, dataset.org, dataset.id, version).await?;
        if publish {
            store::datasets::publish(&mut tx, dataset.org, dataset.id, true, dataset.updated_at).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Removes a version that the metadata no longer name: at once when no call can be about to read it, otherwise
    /// when the last such call has ended.
    fn retire(&self, before: Dataset) {
        self.on.results.forget(before.org, before.id);
        self.on.sql.forget(before.org, before.id);
        let earlier = self.readers.now();
        if earlier.are_gone() {
            return self.remove(&before);
        }
        let this = self.clone();
        tokio::spawn(async move {
            earlier.gone().await;
            this.remove(&before);
        });
    }

    fn remove(&self, dataset: &Dataset) {
        let Some(version) = &dataset.version else { return };
        self.on.search.forget(dataset.org, dataset.id, version);
        // The last who read it may have left a worker that holds it, and rows of it.
        self.on.results.forget(dataset.org, dataset.id);
        self.on.sql.forget(dataset.org, dataset.id);
        // Should it fail, the next start tries again.
        if let Err(problem) = self.files.remove(&self.place(dataset)) {
            tracing::warn!(dataset = %dataset.id, %problem, "an old version could not be removed");
        }
    }
}

/// One text, and how many bytes it had; at most `most`. Blocks.
fn parsed(file: &SourceFile, most: u64) -> Result<(ParsedDocument, u64)> {
    let source = std::fs::File::open(&file.path).map_err(Error::internal)?;
    let size = source.metadata().map_err(Error::internal)?.len();
    if size > most {
        return Err(too_much_text());
    }
    let mut bytes = Vec::new();
    // What the operator names may be written to while it is read, or be a device that has no end.
    source.take(size + 1).read_to_end(&mut bytes).map_err(Error::internal)?;
    if bytes.len() as u64 != size {
        return Err(Error::invalid("file", format!("{} changed while it was read. Import it again.", file.name)));
    }
    Ok((text::parse(&file.name, &bytes)?, size))
}

fn too_much_text() -> Error {
    let message = format!("The texts of one import have at most {TEXT_BYTES} bytes together. Split them.");
    Error::new(Code::FileTooLarge, message).with(serde_json::json!({ "limit": "text_bytes", "max": TEXT_BYTES }))
}

fn other(kind: Kind) -> &'static str {
    match kind {
        Kind::Table => "documents",
        Kind::Documents => "a table",
    }
}
