//! Documents into a dataset, and single ones out of it: what is new is read and indexed, what stays is taken over.

use std::collections::HashSet;
use std::io::Read as _;
use std::sync::Arc;

use super::merge::{Merged, merge, replace};
use super::{FileKind, Import, Ingest, READY, Request, SourceFile, Texts, kind_of, text};
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::engine::datasets::Staged;
use crate::engine::extract::Extracted;
use crate::engine::job::Job;
use crate::engine::search::{Carried, about};
use crate::model::dataset::{Dataset, IfExists, Kind};
use crate::model::document::{Changes, Document, DocumentRow, ParsedDocument, digest};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::DocumentSync;
use crate::model::version::How;
use crate::store;
use crate::store::documents::Outline;

/// Bytes of all texts of one import: they are held in memory while they are indexed.
const TEXT_BYTES: u64 = 64 << 20;

/// Parts of files that could not be read and are told, and characters of each: it has a name in it that is a stranger's.
const SKIPPED: usize = 20;
const TOLD: usize = 2_000;

/// Where documents are read, in the progress of the whole.
const READ: f64 = 0.1;

/// A change of single documents of a dataset.
pub struct Edit {
    /// The dataset's name.
    pub name: String,
    /// Each takes the place of the one that has its `source_file`, and its id, or is new.
    pub texts: Vec<ParsedDocument>,
    /// Those that are there no more.
    pub gone: HashSet<Id<Document>>,
    pub how: How,
    /// Where they come from, in words.
    pub source: String,
    /// The sync that brings it. Who deletes a dataset deletes its sync with it, which then brings nothing back.
    pub sync: Option<DocumentSync>,
}

impl Ingest {
    /// Changes single documents of a dataset, which is made when it is not there. What stays is not encoded anew; the version
    /// before is kept. Ends as [`Ingest::import`] does.
    ///
    /// # Errors
    /// As [`Ingest::import`].
    pub async fn edit(&self, job: &Job<'_>, edit: Edit) -> Result<(Dataset, Changes)> {
        // As an import: something that is dropped in its midst would leave files behind.
        let (this, own) = (self.clone(), job.own());
        let _stops = own.stops();
        tokio::spawn(async move { this.make_edit(&own.job(), edit).await }).await.map_err(Error::internal)?
    }

    async fn make_edit(&self, job: &Job<'_>, edit: Edit) -> Result<(Dataset, Changes)> {
        let _reading = self.datasets.read();
        let Edit { name, texts, gone, how, source, sync } = edit;
        let request = Request {
            name,
            description: String::new(),
            files: vec![],
            sheet: None,
            publish: false,
            if_exists: IfExists::Append,
            changes: vec![],
        };
        let mut import = self.over(job, request, Kind::Documents).await?;
        // What is deleted from here on is missed when the version is published.
        if let Some(sync) = &sync {
            self.held(sync).await?.commit().await?;
        }
        import.how = how;
        import.dataset.source = source;
        let read = texts.into_iter().map(|text| (Id::new(&self.clock), Arc::new(text))).collect();
        self.put_documents(job, import, read, &gone).await
    }

    /// What tells the documents apart that a dataset has now; none when it is not there.
    pub(super) async fn outlines(&self, job: &Job<'_>, name: &str) -> Result<Vec<Outline>> {
        let org = job.pass.org();
        let mut read = self.db.read_tenant(org).await?;
        let dataset = store::datasets::by_name(&mut read, org, name).await?;
        let Some((id, version)) = dataset.and_then(|dataset| Some((dataset.id, dataset.version?))) else {
            return Ok(Vec::new());
        };
        store::documents::outlines(&mut read, org, id, &version).await
    }

    /// With why parts of the files are not among the documents.
    pub(super) async fn documents(&self, job: &Job<'_>, import: Import) -> Result<(Dataset, Changes, Vec<String>)> {
        let (read, skipped) = self.read(&job.part(0.0..READ), &import.request.files).await?;
        let (dataset, changes) = self.put_documents(job, import, read, &HashSet::new()).await?;
        Ok((dataset, changes, skipped))
    }

    async fn put_documents(
        &self,
        job: &Job<'_>,
        mut import: Import,
        read: Vec<(Id<Document>, Arc<ParsedDocument>)>,
        gone: &HashSet<Id<Document>>,
    ) -> Result<(Dataset, Changes)> {
        let Merged { kept, fresh, changes } = self.merged(job, &import, read, gone).await?;
        let (org, id) = (import.dataset.org, import.dataset.id);
        let asks = import.request.publish || !import.request.description.is_empty();
        if import.earlier.is_some() && fresh.is_empty() && changes.removed == 0 && !asks {
            // Nothing is new: the version that is there says it all.
            let now = store::datasets::by_id(&mut self.db.read_tenant(org).await?, org, id).await?;
            let dataset = now.ok_or_else(Error::dataset_not_found)?;
            return Ok((dataset, changes));
        }
        let dataset = &mut import.dataset;
        let stay: HashSet<Id<Document>> = kept.iter().map(|(id, _)| *id).collect();
        let carried = import.earlier.as_deref().map(|version| Carried { version, documents: &stay });
        let indexing = job.part(READ..READY);
        let version = dataset.version.clone().unwrap_or_default();
        let indexed = self.search.index_over(&indexing, (dataset.id, &version), carried, &fresh).await?;
        dataset.row_count = indexed.chunks()?;
        dataset.bytes = indexed.bytes()?;
        let rows = fresh.into_iter().map(|(id, parsed)| {
            let ParsedDocument { title, text, source_file, markup, facts } = Arc::unwrap_or_clone(parsed);
            Document {
                id,
                row: Id::new(&self.clock),
                org: dataset.org,
                dataset: dataset.id,
                version: version.clone(),
                title,
                source_file,
                text,
                markup,
                facts,
                created_at: dataset.updated_at,
            }
        });
        let fresh: Vec<Document> = rows.collect();
        let shared: Vec<Id<DocumentRow>> = kept.iter().map(|(_, row)| *row).collect();
        let dataset =
            self.publish(job, import, Texts { fresh: &fresh, shared: &shared }, Staged::Index(indexed)).await?;
        Ok((dataset, changes))
    }

    /// What was read, beside what stays of the version that it is added to, or in the place of what it replaces.
    async fn merged(
        &self,
        job: &Job<'_>,
        import: &Import,
        read: Vec<(Id<Document>, Arc<ParsedDocument>)>,
        gone: &HashSet<Id<Document>>,
    ) -> Result<Merged> {
        let Some(version) = import.earlier.as_ref().or(import.replaced.as_ref()) else {
            return Ok(replace(Vec::new(), read));
        };
        let (org, dataset) = (job.pass.org(), import.dataset.id);
        let mut on = self.db.read_tenant(org).await?;
        let mut known = store::documents::outlines(&mut on, org, dataset, version).await?;
        let names: HashSet<&str> = read.iter().map(|(_, document)| document.source_file.as_str()).collect();
        for one in known.iter_mut().filter(|one| one.digest.is_empty() && names.contains(one.source_file.as_str())) {
            // Of before there were digests.
            let text = store::documents::by_id(&mut on, org, dataset, version, one.id).await?;
            one.digest = text.map(|document| digest(&document.text, &document.facts)).unwrap_or_default();
        }
        Ok(match import.earlier {
            Some(_) => merge(known, read, gone, import.how.twins()),
            None => replace(known, read),
        })
    }

    /// The documents of the files, in their order: one of a text, any number of an archive; and why parts of them are none,
    /// the first of these.
    pub(super) async fn read(
        &self,
        job: &Job<'_>,
        files: &[SourceFile],
    ) -> Result<(Vec<(Id<Document>, Arc<ParsedDocument>)>, Vec<String>)> {
        let (mut documents, mut skipped) = (Vec::with_capacity(files.len()), Vec::new());
        let mut left = TEXT_BYTES;
        for (index, file) in files.iter().enumerate() {
            job.check()?;
            job.says(index as f64 / files.len() as f64, format!("Reading {}", file.name));
            let looked_at = file.clone();
            let kind = tokio::task::spawn_blocking(move || kind_of(&looked_at.path, &looked_at.name));
            let read = match kind.await.map_err(Error::internal)?? {
                FileKind::Text => {
                    let file = file.clone();
                    let read = tokio::task::spawn_blocking(move || parsed(&file, left));
                    vec![read.await.map_err(Error::internal)??]
                }
                _ => {
                    let found = self.sql.documents(job, &file.path, &file.name).await?;
                    skipped.extend(found.skipped.iter().map(|told| told.chars().take(TOLD).collect::<String>()));
                    found.documents.into_iter().map(of_extracted).collect()
                }
            };
            for (mut document, bytes) in read {
                left = left.checked_sub(bytes).ok_or_else(too_much_text)?;
                // Each of its chunks has a copy of these.
                document.source_file = ParsedDocument::name(document.source_file);
                document.facts = about::kept(&document.facts);
                documents.push((Id::new(&self.clock), Arc::new(document)));
            }
        }
        if skipped.len() > SKIPPED {
            let more = skipped.split_off(SKIPPED).len();
            skipped.push(format!("{} more could not be read.", counted(more, "part")));
        }
        Ok((documents, skipped))
    }
}

/// A document that a reader found, and the bytes of its text. One that does not say what it is called has its file's name.
fn of_extracted(Extracted { name, title, text, markup, facts }: Extracted) -> (ParsedDocument, u64) {
    let stem = || {
        let file = name.rsplit('/').next().unwrap_or(&name);
        file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned()
    };
    let title = if title.trim().is_empty() { stem() } else { title };
    let title = title.chars().take(ParsedDocument::TITLE_CHARS).collect();
    let bytes = text.len() as u64;
    (ParsedDocument { title, source_file: name, text, markup, facts }, bytes)
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
