//! A dataset of documents that follows its origin: what is new or changed there is read and indexed, and the documents of
//! what is gone go too. What was published of a run that broke off is found again by the next, and not encoded twice.
//!
//! ```text
//! table    rows, told apart by a key
//! place    what is listed and then read one by one: what such origins share
//!   site     pages of a web site, as far as robots lets them be read
//!   folder   files of a folder of the operator's
//!   bucket   objects of a bucket of S3
//! ```

mod bucket;
mod folder;
mod place;
pub mod robots;
mod site;
mod table;

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use self::bucket::Objects;
use self::folder::Shelf;
pub use self::place::Places;
use self::site::Visit;
use super::{Edit, Ingest};
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::Secret;
use crate::engine::job::Job;
use crate::model::dataset::{NAMES, is_name};
use crate::model::document::{Changes, Document, ParsedDocument};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::{Checked, DocumentSync, Origin};
use crate::model::version::How;
use crate::store;
use crate::store::tenant::Scoped;

/// Bytes of texts that are published together, and documents.
const BATCH_BYTES: usize = 32 << 20;
const BATCH: usize = 20_000;
/// Where all is known and is read and indexed, in the progress of the whole.
const COUNTED: f64 = 0.02;
/// The longest that it may take to list what there is: others wait meanwhile.
const LISTING: Duration = Duration::from_secs(20 * 60);
/// How long it is read until others go first: two that are slow would keep all lanes otherwise.
const TURN: Millis = 10 * 60_000;

/// What a run came to.
#[derive(Debug)]
pub struct Synced {
    /// Up to where changes are known now, or where the run goes on.
    pub cursor: Option<String>,
    /// What could not be read, in words; empty when all was.
    pub message: String,
    /// Where there is more to read, and others go first: how far it is, 0 to 1. [`Ingest::sync`] goes on from there.
    pub left_at: Option<f64>,
}

/// A run under way: what was read waits in it until it is published.
struct Run<'a> {
    sync: &'a DocumentSync,
    /// Things that were looked at, and all that there are to look at.
    done: usize,
    of: usize,
    batch: Vec<ParsedDocument>,
    bytes: usize,
    /// Those that are to go.
    gone: HashSet<Id<Document>>,
    changes: &'a mut Changes,
}

impl Ingest {
    /// An origin as it will be kept: names as they are written where it is, addresses in full, and the `secret` of a bucket's
    /// access key sealed.
    ///
    /// # Errors
    /// `invalid_argument` in the name of what is wrong, with the nearest that there is.
    pub async fn checked_origin(&self, job: &Job<'_>, origin: &Origin, secret: Option<&Secret>) -> Result<Checked> {
        let origin = match origin {
            Origin::Bucket(bucket) => return bucket::checked(self, job, bucket, secret).await,
            _ if secret.is_some() => {
                let message = "A secret is that of a bucket's access key, and no bucket is named.";
                return Err(Error::invalid("secret_access_key", message));
            }
            Origin::Table(mapping) => Origin::Table(table::checked(job, mapping)?.1),
            Origin::Site(site) => Origin::Site(site::checked(self, job, site).await?),
            Origin::Folder(name) => Origin::Folder(folder::checked(self, job, name).await?),
        };
        Ok(Checked { origin, sealed_secret: None })
    }

    /// What the folders are called that the operator gave to the workspace.
    ///
    /// # Errors
    /// The database fails.
    pub async fn folders(&self, job: &Job<'_>) -> Result<Vec<String>> {
        Ok(folder::own(self, job).await?.into_iter().map(|folder| folder.name).collect())
    }

    /// A transaction until whose end nobody sets the sync anew or deletes it.
    ///
    /// # Errors
    /// `service_unavailable` when somebody has: what was read is of what is followed no more.
    pub(super) async fn held(&self, sync: &DocumentSync) -> Result<Scoped> {
        let mut tx = self.db.tenant(sync.org).await?;
        if !store::syncs::is_running(&mut tx, sync).await? {
            return Err(Error::unavailable(format!("What {} is kept from was set anew or deleted.", sync.name)));
        }
        Ok(tx)
    }

    /// Brings a dataset of documents up to its origin, or a long way there: an origin is read for ten minutes at once, and
    /// the next call goes on with what was not looked at since the run was asked for. What is published counts in
    /// `changes`, also where an error ends it.
    ///
    /// # Errors
    /// `invalid_argument` for what is not there any more, for a key that is none, and for a list that names nothing;
    /// `limit_exceeded` for more than 200,000 rows or 20,000 pages, files or objects, for keys of more than 64 MiB, and for
    /// a list that takes longer than 20 minutes; `source_unavailable` for a site that does not answer, a folder that cannot
    /// be read and a bucket that cannot be listed; `service_unavailable` when the sync was set anew or deleted meanwhile;
    /// those of the table's engine, and of [`Ingest::import`]. What was published before stays.
    pub async fn sync(&self, job: &Job<'_>, sync: &DocumentSync, changes: &mut Changes) -> Result<Synced> {
        if !is_name(&sync.name) {
            return Err(Error::invalid("name", NAMES));
        }
        let run = Run { sync, done: 0, of: 0, batch: vec![], bytes: 0, gone: HashSet::new(), changes };
        match &sync.origin {
            Origin::Table(mapping) => table::follow(self, job, run, mapping, sync.cursor.as_deref()).await,
            Origin::Site(site) => {
                let mut visit = Visit::begin(self, job, site).await?;
                let listed = in_time(job, visit.list(self, &job.within(job.budget).at_most(LISTING)).await)?;
                place::follow(self, job, run, &mut visit, listed).await
            }
            Origin::Folder(name) => {
                let mut shelf = Shelf::open(self, job, name).await?;
                let listed = in_time(job, shelf.list(&job.within(job.budget).at_most(LISTING)).await)?;
                place::follow(self, job, run, &mut shelf, listed).await
            }
            Origin::Bucket(bucket) => {
                let mut objects = Objects::open(self, job, bucket, sync.sealed_secret.as_deref()).await?;
                let listed = in_time(job, objects.list(self, &job.within(job.budget).at_most(LISTING)).await)?;
                place::follow(self, job, run, &mut objects, listed).await
            }
        }
    }
}

impl Run<'_> {
    /// How far it is, in the progress of the whole, when so many things were looked at.
    fn share(&self, done: usize) -> f64 {
        COUNTED + (1.0 - COUNTED) * (done as f64 / self.of.max(1) as f64).min(1.0)
    }

    fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES || self.batch.len() >= BATCH
    }

    fn take(&mut self, document: ParsedDocument) {
        self.bytes += document.text.len();
        self.batch.push(document);
    }

    /// Ends a turn of it: others go first.
    fn left(self, cursor: Option<String>) -> Synced {
        let (done, of) = (self.done, self.of);
        let message = format!("{done} of {of} were looked at. It goes on when others have had their turn.");
        Synced { cursor, message, left_at: Some(self.share(done)) }
    }

    /// Publishes what was read, and with the first of it what is gone.
    ///
    /// # Errors
    /// Those of [`Ingest::edit`].
    async fn publish(&mut self, on: &Ingest, job: &Job<'_>, is_last: bool) -> Result<()> {
        let (texts, gone) = (std::mem::take(&mut self.batch), std::mem::take(&mut self.gone));
        self.bytes = 0;
        if texts.is_empty() && gone.is_empty() {
            if is_last {
                job.says(1.0, "Nothing changed");
            }
            return Ok(());
        }
        let before = self.share(self.done.saturating_sub(texts.len()));
        let part = job.part(before..if is_last { 1.0 } else { self.share(self.done) });
        let (name, source) = (self.sync.name.clone(), self.sync.origin.to_string());
        let edit = Edit { name, texts, gone, how: How::Sync, source, sync: Some(self.sync.clone()) };
        let (_, made) = on.edit(&part, edit).await?;
        *self.changes = self.changes.and(made);
        Ok(())
    }
}

/// What a place listed, where it did not take longer than [`LISTING`].
fn in_time<T>(job: &Job<'_>, listed: Result<T>) -> Result<T> {
    listed.or_else(|error| {
        job.check()?;
        Err(if error.code == Code::QueryTimeout { too_long() } else { error })
    })
}

/// A list that takes longer than [`LISTING`].
fn too_long() -> Error {
    let minutes = LISTING.as_secs() / 60;
    let message = format!("What there is could not be listed within {minutes} minutes. Name a part of it.");
    Error::new(Code::LimitExceeded, message).with(json!({ "limit": "sync_list_minutes", "max": minutes }))
}
