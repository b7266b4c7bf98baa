//! Datasets once their data are ready: published as a whole, shown to external clients or withdrawn, replaced, erased.
//! A version is there when the metadata name it; until then nobody sees it. When another takes its place, it is kept, so
//! that it can be restored, or stays as long as calls may read it ([`crate::engine::files`]). What has read a dataset and
//! keeps something of it hears of every end here, in one place: [`Datasets::forget`].

pub mod describe;
mod erase;
mod tidy;
mod versions;
pub mod workspace;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::config::Keep;
use crate::engine::agent::conversation::Questions;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::engine::readers::{Readers, Reading};
use crate::engine::search::{Sealed, SearchEngine};
use crate::engine::sql::{Results, SqlEngine};
use crate::model::cluster_index::ClusterIndex;
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::{Document, DocumentRow};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::version::{How, Version};
use crate::store::tenant::Scoped;
use crate::store::{self, Backend, Db};

/// Publishes, withdraws, replaces and erases datasets.
#[derive(Clone)]
pub struct Datasets {
    db: Db,
    clock: Clock,
    files: Files,
    dependents: Dependents,
    readers: Readers,
    keep: Keep,
    /// One publication or erasure at a time, until the metadata name what is new and nothing that is gone: to erase a
    /// dataset must not remove what an import has moved into place and not named yet. No request to a server is within
    /// it, and nobody waits for readers there.
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

/// A version that is ready to be published.
pub struct NewVersion<'a> {
    /// As the metadata will have it.
    pub dataset: &'a Dataset,
    /// Its texts, when it holds documents.
    pub documents: &'a [Document],
    /// The texts that it shares with the version before.
    pub shared: &'a [Id<DocumentRow>],
    /// What made it.
    pub how: How,
    /// What was under its name when the work on it began: it becomes the next version of that dataset and of no other.
    pub over: Option<Id<Dataset>>,
    /// The version of it that it goes on with: another that came meanwhile would be lost.
    pub earlier: Option<String>,
    /// Whether its description is new; that of the version before it stays otherwise, whoever wrote it meanwhile.
    pub is_described: bool,
    /// Whether external clients may see it at once. `false` leaves an existing publication as it is.
    pub publish: bool,
    /// What the files that it came from are known by.
    pub digest: &'a str,
}

/// What a version's data are before it is published.
pub enum Staged<'a> {
    /// The finished file of a table.
    Table(&'a Path),
    /// The index of documents.
    Index(Sealed),
}

/// How far a new version is named.
struct Written {
    /// The dataset as it was.
    before: Option<Dataset>,
    /// The versions that are kept no longer.
    gone: Vec<String>,
    /// What was answered when all of it was to be committed. It may be so without an answer.
    committed: Result<()>,
}

impl Datasets {
    /// `keep`: how many versions of a dataset stay when others have taken their place.
    pub fn new(db: Db, clock: Clock, files: Files, dependents: Dependents, readers: Readers, keep: Keep) -> Self {
        Self { db, clock, files, dependents, readers, keep, turn: Arc::default() }
    }

    /// Begins a call that reads versions; before it looks which there are.
    pub fn read(&self) -> Reading {
        self.readers.enter()
    }

    /// The moment of publication: moves the finished work to its place, then lets the metadata name it in one
    /// transaction. When that fails, what nobody names is removed again; where it cannot be told whether it is named,
    /// it stays until that can ([`Datasets::tidy`]). The version before it is kept; those that are too many or too
    /// large then go when nobody reads them any more.
    ///
    /// # Errors
    /// `invalid_argument` when another dataset has the name by now, or the one that the work began on was deleted, and
    /// then it stays so; `limit_exceeded` for more than the workspace may keep; `service_unavailable` when the disk has
    /// no room for new data; `query_timeout` when the caller has left before.
    pub async fn put(&self, job: &Job<'_>, new: NewVersion<'_>, staged: Staged<'_>) -> Result<()> {
        let turn = job.wait(self.turn.lock()).await?;
        // The last look at who waits: from here on it is published, or fails by itself.
        job.check()?;
        // What it takes is on the disk by now.
        self.files.admit(0).map_err(Error::internal)?;
        let (org, id, version) = (new.dataset.org, new.dataset.id, new.dataset.version.as_deref().unwrap_or_default());
        match staged {
            Staged::Table(file) => {
                self.files.publish(file, &self.files.table(org, id, version)).map_err(Error::internal)?;
            }
            Staged::Index(sealed) => self.dependents.search.put(org, id, version, sealed).await?,
        }
        let by = job.pass.user().map(|user| user.to_string());
        let written = match self.lay(&new).await {
            Ok(laid) => self.write(&new, laid, by).await,
            Err(problem) => Err(problem),
        };
        // What nobody names any more may be on a server, which takes its time: nobody else waits for that.
        drop(turn);
        let problem = match written {
            Ok(Written { committed: Err(problem), .. }) if !self.is_named(org, id, version).await? => problem,
            Ok(Written { before, gone, .. }) => {
                self.retire(new.dataset, before, gone).await;
                return Ok(());
            }
            Err(problem) => problem,
        };
        self.take_away(new.dataset).await?;
        Err(problem)
    }

    /// Whether the metadata name a version, once nobody is about to name it.
    async fn is_named(&self, org: Id<Org>, id: Id<Dataset>, version: &str) -> Result<bool> {
        let mut tx = self.db.tenant(org).await?;
        store::datasets::hold_names(&mut tx, org).await?;
        store::dataset_versions::is_there(&mut tx, org, id, version).await
    }

    /// Writes many documents of a version before anything names it, in turns between which others write: on SQLite every
    /// answer waits for one writer. Those of a new dataset, which is not there to have any, come with it. Gives whether they
    /// are there.
    async fn lay(&self, new: &NewVersion<'_>) -> Result<bool> {
        let few = new.documents.len() + new.shared.len() <= store::documents::AT_ONCE;
        if new.over.is_none() || few || self.db.backend() == Backend::Postgres {
            return Ok(false);
        }
        let dataset = new.dataset;
        let version = dataset.version.as_deref().unwrap_or_default();
        self.standing(&mut self.db.tenant(dataset.org).await?, new).await?;
        let fresh = new.documents.chunks(store::documents::AT_ONCE).map(|some| (some, [].as_slice()));
        let shared = new.shared.chunks(store::documents::AT_ONCE).map(|some| ([].as_slice(), some));
        for (fresh, shared) in fresh.chain(shared) {
            let mut tx = self.db.tenant(dataset.org).await?;
            store::documents::add(&mut tx, dataset.org, dataset.id, version, fresh, shared).await?;
            tx.commit().await?;
        }
        Ok(true)
    }

    /// The dataset as it is under the name of a new version, held until the transaction ends.
    ///
    /// # Errors
    /// It is not what the work on the version began with.
    async fn standing(&self, tx: &mut Scoped, new: &NewVersion<'_>) -> Result<Option<Dataset>> {
        let dataset = new.dataset;
        let now = store::datasets::hold_by_name(tx, self.db.backend(), dataset.org, &dataset.name).await?;
        if now.as_ref().map(|now| now.id) != new.over {
            return Err(overtaken(&dataset.name, now.is_some()));
        }
        if new.earlier.is_some() && now.as_ref().map(|now| &now.version) != Some(&new.earlier) {
            return Err(overtaken(&dataset.name, true));
        }
        Ok(now)
    }

    /// Names it in the metadata, with its documents where they are not `laid` there.
    ///
    /// # Errors
    /// As [`Datasets::put`]; then it is not named.
    async fn write(&self, new: &NewVersion<'_>, laid: bool, by: Option<String>) -> Result<Written> {
        let dataset = new.dataset;
        let version = dataset.version.clone().unwrap_or_default();
        let fresh: &[Document] = if laid { &[] } else { new.documents };
        let shared: &[Id<DocumentRow>] = if laid { &[] } else { new.shared };
        let mut tx = self.db.tenant_at_length(dataset.org).await?;
        // Texts take the longest, and nobody else has these: they come before the names are held, for which whoever
        // describes a dataset waits.
        if !fresh.is_empty() {
            store::documents::come_first(&mut tx, self.db.backend()).await?;
            store::documents::add(&mut tx, dataset.org, dataset.id, &version, fresh, &[]).await?;
        }
        let now = self.standing(&mut tx, new).await?;
        let kept = now.as_ref().filter(|_| !new.is_described).map(|now| now.description.clone());
        let description = kept.unwrap_or_else(|| dataset.description.clone());
        store::datasets::put(&mut tx, &Dataset { description, ..dataset.clone() }).await?;
        // While the names are held, none of these goes with the last version that has it.
        store::documents::add(&mut tx, dataset.org, dataset.id, &version, &[], shared).await?;
        let version = Version {
            org: dataset.org,
            dataset: dataset.id,
            version,
            how: new.how,
            row_count: dataset.row_count,
            bytes: dataset.bytes,
            columns: dataset.columns.clone(),
            source: dataset.source.clone(),
            files: new.digest.to_owned(),
            made_at: dataset.updated_at,
            made_by: by.clone(),
            current_since: dataset.updated_at,
            current_by: by,
        };
        let gone = self.follows(&mut tx, version, now.as_ref()).await?;
        self.is_within(&mut tx, new).await?;
        store::datasets::keep_files(&mut tx, dataset.org, dataset.id, new.digest).await?;
        if new.publish {
            store::datasets::publish(&mut tx, dataset.org, dataset.id, true, dataset.updated_at).await?;
        }
        let committed = tx.commit().await.map_err(Error::from);
        Ok(Written { before: now, gone, committed })
    }

    /// Lets external clients see a dataset of the workspace, or withdraws it from them.
    ///
    /// # Errors
    /// `dataset_not_found`.
    pub async fn publish(&self, job: &Job<'_>, id: Id<Dataset>, published: bool) -> Result<()> {
        let (org, now) = (job.pass.org(), self.clock.now());
        let mut tx = self.db.tenant(org).await?;
        let found = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        store::datasets::publish(&mut tx, org, id, published, now).await?;
        tx.commit().await?;
        if !published {
            self.forget(&found);
        }
        Ok(())
    }

    /// As [`Datasets::forget`], and lets go of an open shard too, once nobody searches or copies it any more.
    async fn close(&self, of: &Dataset) {
        self.forget(of);
        let Some(version) = of.version.clone() else { return };
        let (search, org, id) = (self.dependents.search.clone(), of.org, of.id);
        let closed = tokio::task::spawn_blocking(move || search.forget(org, id, &version)).await;
        if let Err(problem) = closed {
            tracing::warn!(dataset = %id, %problem, "an index could not be closed");
        }
    }

    /// Whatever keeps something of a dataset lets go of it: pages of results, open files and figures, and the values by
    /// which questions know it. It costs whoever may still read it no more than doing that again. Calls that had begun
    /// before may leave something once more.
    pub fn forget(&self, of: &Dataset) {
        let Dependents { sql, results, questions, .. } = &self.dependents;
        results.forget(of.org, of.id);
        sql.forget(of.org, of.id);
        questions.let_go(of);
    }

    /// Removes the data of a dataset's version; absent is fine.
    async fn take_away(&self, dataset: &Dataset) -> Result<()> {
        let (org, id, version) = (dataset.org, dataset.id, dataset.version.as_deref().unwrap_or_default());
        match dataset.kind {
            Kind::Table => self.files.remove(&self.files.table(org, id, version)).map_err(Error::internal),
            Kind::Documents => {
                self.let_documents_go(org, id, version).await?;
                let gone = self.take_index(org, id, version, self.clock.now()).await?;
                self.dependents.search.clear(&gone).await
            }
        }
    }

    /// Removes the documents that a version alone has, in turns between which others write.
    async fn let_documents_go(&self, org: Id<Org>, id: Id<Dataset>, version: &str) -> Result<()> {
        loop {
            let mut tx = self.db.tenant_at_length(org).await?;
            // Of two versions that go at once, each would leave the other what both have.
            store::datasets::hold_names(&mut tx, org).await?;
            let some = store::documents::let_go(&mut tx, org, id, version).await?;
            tx.commit().await?;
            if !some {
                return Ok(());
            }
        }
    }

    /// Removes what is here of a version's index. Gives what is still to be removed from a server, which the metadata say.
    async fn take_index(
        &self,
        org: Id<Org>,
        id: Id<Dataset>,
        version: &str,
        since: Millis,
    ) -> Result<Vec<ClusterIndex>> {
        let mut tx = self.db.tenant(org).await?;
        let gone = store::cluster_indexes::retire(&mut tx, org, id, Some(version), since).await?;
        tx.commit().await?;
        self.dependents.search.remove(org, id, version).await?;
        Ok(gone)
    }
}

/// Why finished work is not published.
fn overtaken(name: &str, is_there: bool) -> Error {
    let message = match is_there {
        true => format!("Another import has just made {name:?}. Import again for a new version."),
        false => {
            format!("{name:?} was deleted while it was imported, and stays deleted. Import again to make it anew.")
        }
    };
    Error::invalid("name", message)
}
