//! Datasets once their data are ready: published as a whole, shown to external clients or withdrawn, replaced, erased.
//! A version is there when the metadata name it; until then nobody sees it. When another takes its place, it is kept, so
//! that it can be restored, or stays as long as calls may read it ([`crate::engine::files`]). What has read a dataset and keeps something of it hears of every end here,
//! in one place: [`Datasets::forget`].

mod tidy;
mod versions;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::base::nearest::nearest;
use crate::config::Keep;
use crate::engine::agent::conversation::Questions;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::engine::readers::{Readers, Reading};
use crate::engine::search::{Sealed, SearchEngine};
use crate::engine::sql::{Results, SqlEngine};
use crate::model::cluster_index::ClusterIndex;
use crate::model::dataset::{COLUMN_DESCRIPTION, ColumnInfo, DESCRIPTION, Dataset, Kind, TITLE, readable};
use crate::model::document::{Document, DocumentRow};
use crate::model::error::{Error, Result};
use crate::model::meanwhile::Meanwhile;
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

/// What people write of a dataset; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    pub title: Option<String>,
    pub description: Option<String>,
    /// By the names of columns.
    pub columns: BTreeMap<String, String>,
    /// Whether columns are hidden from external clients, by name.
    pub hidden: BTreeMap<String, bool>,
}

/// Bytes of what is written of all columns of a table: a schema is read by models, in one reply.
const COLUMN_TEXTS: usize = 32 << 10;

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
    /// then it stays so; `query_timeout` when the caller has left before.
    pub async fn put(&self, job: &Job<'_>, new: NewVersion<'_>, staged: Staged<'_>) -> Result<()> {
        let turn = job.wait(self.turn.lock()).await?;
        // The last look at who waits: from here on it is published, or fails by itself.
        job.check()?;
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
        let mut tx = self.db.tenant(dataset.org).await?;
        let now = self.standing(&mut tx, new).await?;
        let kept = now.as_ref().filter(|_| !new.is_described).map(|now| now.description.clone());
        let description = kept.unwrap_or_else(|| dataset.description.clone());
        store::datasets::put(&mut tx, &Dataset { description, ..dataset.clone() }).await?;
        let version = dataset.version.clone().unwrap_or_default();
        if !laid {
            store::documents::add(&mut tx, dataset.org, dataset.id, &version, new.documents, new.shared).await?;
        }
        let version = Version {
            org: dataset.org,
            dataset: dataset.id,
            version,
            how: new.how,
            row_count: dataset.row_count,
            bytes: dataset.bytes,
            documents: 0,
            columns: dataset.columns.clone(),
            source: dataset.source.clone(),
            files: new.digest.to_owned(),
            made_at: dataset.updated_at,
            made_by: by.clone(),
            current_since: dataset.updated_at,
            current_by: by,
        };
        let gone = self.follows(&mut tx, version, now.as_ref()).await?;
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

    /// Keeps what people write of a dataset: what is absent stays, an empty text takes back what was written. The texts of
    /// columns outlive imports, by name. `seen` is what these were for who writes.
    ///
    /// # Errors
    /// `dataset_not_found`; `invalid_argument` for a text that is too long, for a column that is not there, and for a text
    /// that others have changed since it was seen.
    pub async fn describe(&self, job: &Job<'_>, id: Id<Dataset>, words: Words, seen: &Words) -> Result<Dataset> {
        let org = job.pass.org();
        let mut tx = self.db.tenant(org).await?;
        let mut texts = store::datasets::column_texts(&mut tx, org, id).await?;
        let found = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        let external = job.pass.is_external();
        let mut dataset = found.clone().seen(external);
        as_seen(&words, seen, &dataset)?;
        if let Some(title) = words.title {
            dataset.title = readable("title", &title, TITLE)?;
        }
        if let Some(description) = words.description {
            dataset.description = readable("description", &description, DESCRIPTION)?;
        }
        for (name, text) in words.columns {
            let column = column(&dataset.columns, "columns", &name)?;
            match readable(&format!("columns.{column}"), &text, COLUMN_DESCRIPTION)? {
                text if text.is_empty() => texts.remove(column),
                text => texts.insert(column.to_owned(), text),
            };
        }
        let bytes: usize = texts.values().map(String::len).sum();
        if bytes > COLUMN_TEXTS {
            let message = format!(
                "The descriptions of a table's columns have at most {COLUMN_TEXTS} bytes together; these have {bytes}."
            );
            return Err(Error::invalid("columns", message));
        }
        dataset.updated_at = self.clock.now();
        store::datasets::describe(&mut tx, &dataset, &texts).await?;
        for (name, hide) in words.hidden {
            if external {
                let message = "Which columns clients see is decided in the console, not by clients.";
                return Err(Error::forbidden("hidden", message));
            }
            let column = column(&dataset.columns, "columns", &name)?.to_lowercase();
            dataset.hidden.retain(|known| *known != column);
            if hide {
                dataset.hidden.push(column);
            }
        }
        let is_hidden_anew = dataset.hidden != found.hidden;
        if dataset.columns.iter().all(|column| dataset.hides(&column.name)) && is_hidden_anew {
            let message = "Every column would be hidden; withdraw the dataset instead, or leave one.";
            return Err(Error::invalid("hidden", message));
        }
        if is_hidden_anew {
            store::datasets::hide(&mut tx, &dataset).await?;
        }
        let now = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        tx.commit().await?;
        if is_hidden_anew {
            // Pages of results and values that are kept were made of what was seen before.
            self.forget(&now);
        }
        Ok(now.seen(external))
    }

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
        let mut tx = self.db.tenant(org).await?;
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
    async fn is_erasable(&self, org: Id<Org>, id: Id<Dataset>) -> Result<()> {
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
            let mut tx = self.db.tenant(org).await?;
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

/// The name of a column as the table has it.
///
/// # Errors
/// `invalid_argument` in the name of `field`, with the nearest one.
pub(super) fn column<'c>(columns: &'c [ColumnInfo], field: &str, name: &str) -> Result<&'c str> {
    let names = || columns.iter().map(|column| column.name.as_str());
    let exact = names().find(|known| *known == name);
    if let Some(known) = exact.or_else(|| names().find(|known| known.eq_ignore_ascii_case(name))) {
        return Ok(known);
    }
    let name: String = name.chars().take(64).collect();
    let hint = nearest(&name, names()).map_or_else(String::new, |near| format!(" Did you mean {near}?"));
    Err(Error::invalid(field, format!("There is no column {name:?} in this dataset.{hint}")))
}

/// Refuses to write over what others wrote since somebody saw a dataset.
fn as_seen(words: &Words, seen: &Words, now: &Dataset) -> Result<()> {
    let mut meanwhile = Meanwhile::default();
    meanwhile.compare("title", "the title", seen.title.as_deref(), &now.title, words.title.as_deref());
    let (before, wanted) = (seen.description.as_deref(), words.description.as_deref());
    meanwhile.compare("description", "the description", before, &now.description, wanted);
    for ColumnInfo { name, description, .. } in &now.columns {
        let (before, wanted) = (seen.columns.get(name), words.columns.get(name));
        let (field, what) = (format!("columns.{name}"), format!("the description of {name}"));
        meanwhile.compare(&field, &what, before.map(String::as_str), description, wanted.map(String::as_str));
    }
    meanwhile.refused()
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
