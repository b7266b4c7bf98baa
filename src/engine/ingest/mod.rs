//! Files into datasets, all or nothing: read and build in a staging folder, and hand the finished file (or shard) over to
//! be published ([`crate::engine::datasets`]). Whatever fails before leaves nothing that anyone sees.
//!
//! A dataset that exists under the name gets a new version; readers of the version before it finish undisturbed.

mod check;
mod detect;
mod documents;
mod merge;
pub mod sync;
pub mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use check::Found;
pub use detect::{FileKind, kind_of};
pub use documents::Edit;

use self::sync::Places;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::base::secret::{sha256_hex, sha256_of};
use crate::engine::datasets::{Datasets, NewVersion, Staged};
use crate::engine::extract::sheets::Sheet;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::engine::search::SearchEngine;
use crate::engine::sql::{ImportedTable, SqlEngine, TableFormat, TableSource};
use crate::model::column_change::{ColumnChange, Hint};
use crate::model::dataset::{DESCRIPTION, Dataset, IfExists, Kind, NAMES, is_name, readable};
use crate::model::document::{Changes, Document, DocumentRow};
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::version::How;
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
    /// One table file, or any number of documents.
    pub files: Vec<SourceFile>,
    /// The sheet of a workbook, by its place; without it the first that holds something.
    pub sheet: Option<u32>,
    /// Whether external clients may see it at once. `false` leaves an existing publication as it is.
    pub publish: bool,
    pub if_exists: IfExists,
    /// What people corrected of a table's columns.
    pub changes: Vec<ColumnChange>,
}

/// Where the result is ready to be published, in the progress of the whole.
const READY: f64 = 0.97;
/// How long each of several tables may wait to be published, once the first is about to be.
const PUBLISHING: Duration = Duration::from_secs(60);
/// The file of a table in a staging folder.
const TABLE: &str = "table.duckdb";

/// Imports files.
#[derive(Clone)]
pub struct Ingest {
    db: Db,
    clock: Clock,
    files: Files,
    sql: SqlEngine,
    search: SearchEngine,
    datasets: Datasets,
    places: Arc<Places>,
}

/// Names the version files of an import.
struct Version;

/// What an import made.
#[derive(Debug)]
pub struct Imported {
    /// As published in the metadata.
    pub dataset: Dataset,
    /// What became of its documents; `None` for a table.
    pub documents: Option<Changes>,
    /// The datasets into which these very files had come before.
    pub same: Vec<String>,
    /// What could be corrected of a table's columns, and what was left empty in them.
    pub hints: Vec<Hint>,
    /// Why parts of files of documents are not among them, each in a sentence with its name.
    pub skipped: Vec<String>,
}

/// The texts of a version, as the metadata get them.
#[derive(Clone, Copy, Default)]
struct Texts<'a> {
    fresh: &'a [Document],
    shared: &'a [Id<DocumentRow>],
}

/// An import under way.
struct Import {
    /// As it will be; what only the work can tell is added by it.
    dataset: Dataset,
    /// What was under the name when it began.
    over: Option<Id<Dataset>>,
    /// The version of it whose rows come first, or whose texts stay.
    earlier: Option<String>,
    /// The version whose documents give their ids to those of their names.
    replaced: Option<String>,
    how: How,
    /// [`digest`] of the files.
    digest: String,
    request: Request,
}

/// A table that is read, and not published yet.
struct ReadTable {
    import: Import,
    hints: Vec<Hint>,
    /// Holds its file, [`TABLE`].
    staging: tempfile::TempDir,
}

impl Ingest {
    pub fn new(
        (db, clock): (Db, Clock),
        files: Files,
        sql: SqlEngine,
        search: SearchEngine,
        datasets: Datasets,
        places: Places,
    ) -> Self {
        Self { db, clock, files, sql, search, datasets, places: Arc::new(places) }
    }

    /// A private folder for bytes on their way in; removed when dropped.
    ///
    /// # Errors
    /// `service_unavailable` when the disk has no room for new data; the folder cannot be made.
    pub fn staging(&self, org: Id<Org>) -> Result<tempfile::TempDir> {
        self.files.staging(org).map_err(Error::internal)
    }

    /// Whether the disk has room for so many bytes on their way in.
    ///
    /// # Errors
    /// `service_unavailable`: it has not.
    pub fn admit(&self, bytes: u64) -> Result<()> {
        self.files.admit(bytes).map_err(Error::internal)
    }

    /// The sheets of a workbook, where that is what the only file is; none of anything else.
    ///
    /// # Errors
    /// As [`Ingest::import`], for a file that cannot be read.
    pub async fn sheets(&self, job: &Job<'_>, files: &[SourceFile]) -> Result<Vec<Sheet>> {
        let [file] = files else { return Ok(Vec::new()) };
        match kinds(files).await?.as_slice() {
            [FileKind::Workbook] => {
                self.sql.sheets(job, &file.path, &file.name).await.map_err(|error| named(file, error))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Imports into the workspace of the job's pass, and returns what came of it. It ends soon
    /// after the caller has left, or the time is over, and leaves nothing behind then; but what is about to be
    /// published is published whole.
    ///
    /// # Errors
    /// `invalid_argument` with the row and column, line, or name that is wrong; `limit_exceeded` for what cannot be
    /// done in the time or memory; `query_timeout`; and those of [`Datasets::put`]. Nothing is left behind.
    pub async fn import(&self, job: &Job<'_>, request: Request) -> Result<Imported> {
        // A task of its own, which is told to stop when nobody waits for it any more: dropped in its midst it would
        // leave files behind that something still writes, or a version that is in place and not named.
        let (this, own) = (self.clone(), job.own());
        let _stops = own.stops();
        tokio::spawn(async move { this.make(&own.job(), request).await }).await.map_err(Error::internal)?
    }

    /// As [`Ingest::import`], for requests each of which makes a table of another name: all are checked and read before the
    /// first is published. Only what other calls make of a name or take of the room meanwhile can still part them.
    ///
    /// # Errors
    /// As [`Ingest::import`].
    pub async fn import_together(&self, job: &Job<'_>, requests: Vec<Request>) -> Result<Vec<Imported>> {
        let (this, own) = (self.clone(), job.own());
        let _stops = own.stops();
        tokio::spawn(async move { this.make_all(&own.job(), requests).await }).await.map_err(Error::internal)?
    }

    async fn make_all(&self, job: &Job<'_>, requests: Vec<Request>) -> Result<Vec<Imported>> {
        let _reading = requests.iter().any(|one| one.if_exists == IfExists::Append).then(|| self.datasets.read());
        let mut begun = Vec::with_capacity(requests.len());
        for request in requests {
            let (import, format) = self.begin(job, request).await?;
            begun.push((import, format.ok_or_else(|| Error::internal("texts are one dataset"))?));
        }
        let share = READY / begun.len().max(1) as f64;
        let mut read = Vec::with_capacity(begun.len());
        for (at, (import, format)) in begun.into_iter().enumerate() {
            let same = self.same(job, &import.digest).await?;
            let part = job.part(share * at as f64..share * (at + 1) as f64);
            read.push((same, self.staged(&part, import, format).await?));
        }
        self.datasets.has_room(job, read.iter().map(|(_, table)| table.import.dataset.bytes).sum()).await?;
        job.check()?;
        // From here on nobody who leaves, and no time that ends, comes between the first and the last.
        let mut made = Vec::with_capacity(read.len());
        for (same, table) in read {
            let one = Job::new(job.pass, job.budget, PUBLISHING, CancellationToken::new(), job.on_progress());
            let (dataset, hints) = self.publish_table(&one, table).await?;
            made.push(Imported { dataset, documents: None, same, hints, skipped: vec![] });
        }
        Ok(made)
    }

    async fn make(&self, job: &Job<'_>, request: Request) -> Result<Imported> {
        // From before the look at the metadata: the version that rows are added to must stay as long as it is read.
        let _reading = (request.if_exists == IfExists::Append).then(|| self.datasets.read());
        let (import, format) = self.begin(job, request).await?;
        let same = self.same(job, &import.digest).await?;
        match format {
            Some(format) => {
                let table = self.staged(&job.part(0.0..READY), import, format).await?;
                let (dataset, hints) = self.publish_table(job, table).await?;
                Ok(Imported { dataset, documents: None, same, hints, skipped: vec![] })
            }
            None => {
                let (dataset, changes, skipped) = self.documents(job, import).await?;
                Ok(Imported { dataset, documents: Some(changes), same, hints: vec![], skipped })
            }
        }
    }

    /// What is asked for, checked against itself and against what is there.
    async fn begin(&self, job: &Job<'_>, mut request: Request) -> Result<(Import, Option<TableFormat>)> {
        if !is_name(&request.name) {
            return Err(Error::invalid("name", NAMES));
        }
        readable("description", &request.description, DESCRIPTION)?;
        let (kind, format) = match kinds(&request.files).await?.as_slice() {
            [] => return Err(Error::invalid("file", "Give at least one file.")),
            [FileKind::Table(format)] => (Kind::Table, Some(*format)),
            [FileKind::Workbook] => (Kind::Table, Some(TableFormat::Sheet(request.sheet))),
            kinds if kinds.iter().all(|kind| kind.is_document()) => (Kind::Documents, None),
            _ => {
                let message = "One dataset is made of one table file, or of documents only. Import them one by one.";
                return Err(Error::invalid("file", message));
            }
        };
        request.changes = ColumnChange::checked(&request.changes)?;
        if format.is_none() && !request.changes.is_empty() {
            return Err(Error::invalid("columns", "Texts have no columns that could be changed."));
        }
        Ok((self.over(job, request, kind).await?, format))
    }

    /// What is asked for, over what has its name now.
    async fn over(&self, job: &Job<'_>, request: Request, kind: Kind) -> Result<Import> {
        let org = job.pass.org();
        let before = store::datasets::by_name(&mut self.db.read_tenant(org).await?, org, &request.name).await?;
        if before.is_some() && request.if_exists == IfExists::Refuse {
            let message = format!("There is a dataset {} already. Replace it, or choose another name.", request.name);
            let details = serde_json::json!({ "field": "name", "exists": request.name });
            return Err(Error::invalid("name", message).with(details));
        }
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
        if request.if_exists == IfExists::Append
            && job.pass.is_external()
            && before.as_ref().is_some_and(|before| !before.hidden.is_empty())
        {
            // What fits would tell of columns that the client does not see.
            let message = "Rows of this dataset are added in the console alone: not all of it is open to clients.";
            return Err(Error::forbidden("dataset", message));
        }
        let dataset = self.blank(org, kind, &request, before.as_ref());
        let appended = before.as_ref().filter(|_| request.if_exists == IfExists::Append);
        let earlier = appended.and_then(|before| before.version.clone());
        let replaced = before.as_ref().filter(|_| earlier.is_none()).and_then(|before| before.version.clone());
        let how = if earlier.is_some() { How::Append } else { How::Import };
        let (over, digest) = (before.map(|before| before.id), digest(&request.files).await?);
        Ok(Import { dataset, over, earlier, replaced, how, digest, request })
    }

    /// The dataset as it will be, less what only the import can tell.
    fn blank(&self, org: Id<Org>, kind: Kind, request: &Request, before: Option<&Dataset>) -> Dataset {
        let now = self.clock.now();
        let id = before.map_or_else(|| Id::new(&self.clock), |before| before.id);
        let kept = before.map(|before| before.description.clone()).unwrap_or_default();
        Dataset {
            title: before.map(|before| before.title.clone()).unwrap_or_default(),
            description: if request.description.is_empty() { kept } else { request.description.clone() },
            externally_queryable: request.publish || before.is_some_and(|before| before.externally_queryable),
            version: Some(Id::<Version>::new(&self.clock).to_string()),
            hidden: before.map(|before| before.hidden.clone()).unwrap_or_default(),
            source: request.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", "),
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            ..Dataset::new(id, org, request.name.as_str(), kind)
        }
    }

    async fn staged(&self, job: &Job<'_>, mut import: Import, format: TableFormat) -> Result<ReadTable> {
        let staging = self.staging(import.dataset.org)?;
        let made = self.read_table(job, &import, format, &staging.path().join(TABLE)).await?;
        import.dataset.row_count = made.row_count;
        import.dataset.bytes = made.bytes;
        import.dataset.columns = made.columns;
        Ok(ReadTable { import, hints: made.hints, staging })
    }

    async fn publish_table(&self, job: &Job<'_>, table: ReadTable) -> Result<(Dataset, Vec<Hint>)> {
        let ReadTable { import, hints, staging } = table;
        let file = staging.path().join(TABLE);
        Ok((self.publish(job, import, Texts::default(), Staged::Table(&file)).await?, hints))
    }

    /// The table that the file makes, with the rows before it where it adds to them.
    async fn read_table(
        &self,
        job: &Job<'_>,
        import: &Import,
        format: TableFormat,
        staged: &Path,
    ) -> Result<ImportedTable> {
        let [file] = import.request.files.as_slice() else {
            return Err(Error::internal("a table is made of one file"));
        };
        let source = TableSource { path: &file.path, format, changes: &import.request.changes };
        match &import.earlier {
            None => self.sql.import(job, source, staged).await,
            Some(version) => {
                let earlier = self.files.table(import.dataset.org, import.dataset.id, version);
                self.sql.append(job, source, &earlier, staged).await
            }
        }
    }

    async fn publish(&self, job: &Job<'_>, import: Import, texts: Texts<'_>, staged: Staged<'_>) -> Result<Dataset> {
        job.says(READY, "Publishing");
        let Import { dataset, over, earlier, how, digest, request, .. } = import;
        let Texts { fresh: documents, shared } = texts;
        let is_described = !request.description.is_empty();
        let publish = request.publish;
        let new = NewVersion {
            dataset: &dataset,
            documents,
            shared,
            how,
            over,
            earlier,
            is_described,
            publish,
            digest: &digest,
        };
        self.datasets.put(job, new, staged).await?;
        Ok(dataset)
    }
}

/// What files are known by when they come again, whatever they are called then: SHA-256 of their contents in order.
async fn digest(files: &[SourceFile]) -> Result<String> {
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    let summed = tokio::task::spawn_blocking(move || -> std::io::Result<String> {
        let mut sums = Vec::new();
        for path in paths {
            sums.extend(sha256_of(&mut std::fs::File::open(path)?)?);
        }
        Ok(sha256_hex(&sums))
    });
    summed.await.map_err(Error::internal)?.map_err(Error::internal)
}

/// What each file is.
async fn kinds(files: &[SourceFile]) -> Result<Vec<FileKind>> {
    let files = files.to_vec();
    let look = move || files.iter().map(|file| kind_of(&file.path, &file.name)).collect();
    tokio::task::spawn_blocking(look).await.map_err(Error::internal)?
}

/// An error of a reader that does not know what people call the file.
fn named(file: &SourceFile, error: Error) -> Error {
    match error.message.contains("cannot be imported") || error.code == Code::QueryTimeout {
        true => error,
        false => Error { message: format!("{} cannot be imported: {}", file.name, error.message), ..error },
    }
}

fn other(kind: Kind) -> &'static str {
    match kind {
        Kind::Table => "documents",
        Kind::Documents => "a table",
    }
}
