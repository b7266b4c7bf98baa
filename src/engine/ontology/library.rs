//! The ontologies of workspaces: texts kept by version, parsed once, attested against the data, and shown to each
//! caller as far as its pass reaches.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use super::attest_run::attest;
use super::check;
use super::read;
use super::visible::restricted;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::engine::job::Job;
use crate::engine::sql::SqlEngine;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Attestation, Finding, Ontology, Problem, Severity, Status, StoredOntology};
use crate::model::org::Org;
use crate::store::ontologies::{Attested, Version};
use crate::store::{self, Db};

/// Parsed documents that are kept.
const PARSED: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// Texts of an ontology that are kept.
const KEPT_VERSIONS: i64 = 100;

type Key = (Id<Org>, Id<StoredOntology>, i64);

/// See the module.
#[derive(Clone)]
pub struct Library {
    db: Db,
    clock: Clock,
    sql: SqlEngine,
    parsed: Arc<Mutex<LruCache<Key, Arc<Ontology>>>>,
}

/// An ontology as a caller may see it.
#[derive(Clone, Debug)]
pub struct Visible {
    pub stored: StoredOntology,
    /// Without what rests on datasets that the pass does not cover.
    pub ontology: Arc<Ontology>,
    /// Whether the pass covers every dataset of it.
    pub whole: bool,
}

/// What saving a text came to.
#[derive(Clone, Debug)]
pub struct Saved {
    pub stored: StoredOntology,
    /// What is wrong or doubtful; errors among them make it `failed`.
    pub problems: Vec<Problem>,
}

impl Library {
    pub fn new(db: Db, clock: Clock, sql: SqlEngine) -> Self {
        Self { db, clock, sql, parsed: Arc::new(Mutex::new(LruCache::new(PARSED))) }
    }

    /// Every ontology of which the caller may see a part, by name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn list(&self, job: &Job<'_>) -> Result<Vec<Visible>> {
        let stored = {
            let mut read = self.db.read_tenant(job.pass.org()).await?;
            store::ontologies::list(&mut read, job.pass.org()).await?
        };
        let mut visible = Vec::new();
        for stored in stored {
            visible.extend(self.seen(job, stored).await?);
        }
        Ok(visible)
    }

    /// One ontology.
    ///
    /// # Errors
    /// `ontology_not_found`, the same for absent and foreign ones and for those of which the caller may see nothing.
    pub async fn one(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Visible> {
        let stored = self.stored(job, id).await?;
        self.seen(job, stored).await?.ok_or_else(Error::ontology_not_found)
    }

    /// One ontology that can be asked. When the data changed since they were last compared with it, and the pass covers
    /// all of them, they are compared first.
    ///
    /// # Errors
    /// `ontology_not_found`; `ontology_not_ready` with its status and problem.
    pub async fn ready(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Visible> {
        let mut visible = self.one(job, id).await?;
        let was_compared = matches!(visible.stored.status, Status::Ready | Status::Failed);
        if visible.whole && was_compared {
            let attested = {
                let mut read = self.db.read_tenant(job.pass.org()).await?;
                store::ontologies::attested(&mut read, job.pass.org(), id).await?
            };
            let data = digest(&visible.ontology, job.pass.datasets());
            if attested.is_some_and(|attested| !attested.data.is_empty() && attested.data != data) {
                visible.stored = self.attest(job, id).await?.0;
            }
        }
        match visible.stored.status {
            Status::Ready => Ok(visible),
            status => {
                let message = match status {
                    Status::Failed => format!("This ontology cannot be used: {}", visible.stored.problem),
                    Status::Checking => "This ontology is being compared with the data. Try again in a moment.".into(),
                    Status::Draft | Status::Ready => {
                        "This ontology is a draft. Somebody who may write ontologies has to check it first.".into()
                    }
                };
                let details = serde_json::json!({ "status": status.name(), "problem": visible.stored.problem });
                Err(Error::new(Code::OntologyNotReady, message).with(details))
            }
        }
    }

    /// The text of a version, or of the newest.
    ///
    /// # Errors
    /// `ontology_not_found`; `not_found` for a version that is not kept.
    pub async fn text(
        &self,
        job: &Job<'_>,
        id: Id<StoredOntology>,
        version: Option<i64>,
    ) -> Result<(StoredOntology, String)> {
        let stored = self.stored(job, id).await?;
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let version = version.unwrap_or(stored.version);
        let text = store::ontologies::text(&mut read, job.pass.org(), id, version).await?;
        Ok((stored, text.ok_or_else(|| Error::not_found("version of this ontology"))?))
    }

    /// The kept versions, newest first.
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn history(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Vec<Version>> {
        self.stored(job, id).await?;
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        store::ontologies::history(&mut read, job.pass.org(), id).await
    }

    /// What the last comparison with the data found.
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn attestation(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Option<Attestation>> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let attested = store::ontologies::attested(&mut read, job.pass.org(), id).await?;
        let found = attested.ok_or_else(Error::ontology_not_found)?.found;
        found.map(|found| serde_json::from_str(&found).map_err(Error::internal)).transpose()
    }

    /// Keeps a text as a new ontology, or as the next version of `id`. `before` is the version that it was made from.
    ///
    /// # Errors
    /// `invalid_argument` with every problem of a text that cannot be read, or for a name that is taken or a version
    /// that is not the newest; `ontology_not_found`.
    pub async fn save(
        &self,
        job: &Job<'_>,
        id: Option<Id<StoredOntology>>,
        text: &str,
        before: Option<i64>,
        summary: &str,
    ) -> Result<Saved> {
        let document = read::read(text).map_err(|problems| unreadable(&problems))?;
        let checked = document.place(check::check(&document.ontology, job.pass.datasets()));
        let ontology = document.ontology;
        let mut problems = document.warnings;
        problems.extend(checked);
        let errors: Vec<&Problem> = problems.iter().filter(|it| it.severity == Severity::Error).collect();
        let (status, problem) = match errors.first() {
            None => (Status::Draft, String::new()),
            Some(first) => (Status::Failed, summed(first, errors.len())),
        };
        let now = self.clock.now();
        let old = match id {
            Some(id) => Some(self.stored(job, id).await?),
            None => None,
        };
        if let (Some(old), Some(before)) = (&old, before)
            && old.version != before
        {
            return Err(outdated(old.version));
        }
        let stored = StoredOntology {
            id: old.as_ref().map_or_else(|| Id::new(&self.clock), |old| old.id),
            org: job.pass.org(),
            name: ontology.name.clone(),
            description: ontology.description.clone(),
            status,
            problem,
            version: old.as_ref().map_or(1, |old| old.version + 1),
            dataset_count: count(ontology.datasets.len()),
            field_count: count(ontology.datasets.iter().map(|entity| entity.fields.len()).sum()),
            created_at: old.as_ref().map_or(now, |old| old.created_at),
            updated_at: now,
        };
        let mut tx = self.db.tenant(job.pass.org()).await?;
        let taken = || {
            let message = format!("This workspace has another ontology of the name {:?}. Choose another.", stored.name);
            Error::invalid("name", message)
        };
        match &old {
            None if !store::ontologies::insert(&mut tx, &stored).await? => return Err(taken()),
            Some(old) => {
                let named = store::ontologies::list(&mut tx, stored.org).await?;
                if named.iter().any(|other| other.id != stored.id && other.name == stored.name) {
                    return Err(taken());
                }
                if !store::ontologies::replace(&mut tx, &stored, old.version).await? {
                    return Err(outdated(stored.version));
                }
            }
            None => {}
        }
        let by = job.pass.user().map(|user| user.to_string());
        store::ontologies::keep(&mut tx, &stored, text, summary, by).await?;
        store::ontologies::prune(&mut tx, stored.org, stored.id, stored.version, KEPT_VERSIONS).await?;
        tx.commit().await?;
        Ok(Saved { stored, problems })
    }

    /// Compares an ontology with the data, and says whether it can be asked from now on.
    ///
    /// # Errors
    /// `ontology_not_found`; whatever the SQL engine refuses for time and load.
    pub async fn attest(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<(StoredOntology, Attestation)> {
        let mut stored = self.stored(job, id).await?;
        let ontology = self.parsed(&stored).await?;
        let before = stored.clone();
        stored.status = Status::Checking;
        self.set_status(&stored, None).await?;
        let found = match attest(&self.sql, job, &ontology, self.clock.now()).await {
            Ok(found) => found,
            Err(error) => {
                self.set_status(&before, None).await?;
                return Err(error);
            }
        };
        let broken: Vec<Problem> = check::check(&ontology, job.pass.datasets());
        let errors: Vec<&Problem> = broken.iter().filter(|it| it.severity == Severity::Error).collect();
        let failed = |finding: &&Finding| !finding.passed && finding.severity == Severity::Error;
        let failure = found.findings.iter().find(failed).map(|it| format!("{}: {}", it.what, it.says));
        (stored.status, stored.problem) = match (errors.first(), failure) {
            (Some(first), _) => (Status::Failed, summed(first, errors.len())),
            (None, Some(failure)) => (Status::Failed, failure),
            (None, None) => (Status::Ready, String::new()),
        };
        let attested = Attested {
            found: Some(serde_json::to_string(&found).map_err(Error::internal)?),
            data: digest(&ontology, job.pass.datasets()),
        };
        if !self.set_status(&stored, Some(&attested)).await? {
            return Err(outdated(stored.version + 1));
        }
        Ok((stored, found))
    }

    /// Removes an ontology with its history, its conversations and what was remembered of it.
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn delete(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<()> {
        let mut tx = self.db.tenant(job.pass.org()).await?;
        if !store::ontologies::delete(&mut tx, job.pass.org(), id).await? {
            return Err(Error::ontology_not_found());
        }
        Ok(tx.commit().await?)
    }

    async fn set_status(&self, stored: &StoredOntology, attested: Option<&Attested>) -> Result<bool> {
        let mut tx = self.db.tenant(stored.org).await?;
        let set = store::ontologies::set_status(&mut tx, stored, attested).await?;
        tx.commit().await?;
        Ok(set)
    }

    async fn stored(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<StoredOntology> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let stored = store::ontologies::by_id(&mut read, job.pass.org(), id).await?;
        stored.ok_or_else(Error::ontology_not_found)
    }

    /// What the pass lets see of an ontology; `None` when that is nothing.
    async fn seen(&self, job: &Job<'_>, stored: StoredOntology) -> Result<Option<Visible>> {
        let ontology = self.parsed(&stored).await?;
        let covered =
            |source: &str| job.pass.datasets().iter().any(|dataset| dataset.name.eq_ignore_ascii_case(source));
        let whole = ontology.datasets.iter().all(|entity| covered(entity.table()));
        if whole {
            return Ok(Some(Visible { stored, ontology, whole }));
        }
        let ontology = restricted(&ontology, covered);
        let some = !ontology.datasets.is_empty();
        Ok(some.then(|| Visible { stored, ontology: Arc::new(ontology), whole }))
    }

    async fn parsed(&self, stored: &StoredOntology) -> Result<Arc<Ontology>> {
        let key = (stored.org, stored.id, stored.version);
        if let Some(ontology) = self.cache().get(&key) {
            return Ok(ontology.clone());
        }
        let text = {
            let mut read = self.db.read_tenant(stored.org).await?;
            store::ontologies::text(&mut read, stored.org, stored.id, stored.version).await?
        };
        let text = text.ok_or_else(|| Error::internal("an ontology without a text"))?;
        let read = tokio::task::spawn_blocking(move || read::read(&text)).await.map_err(Error::internal)?;
        let ontology = Arc::new(read.map_err(|problems| unreadable(&problems))?.ontology);
        self.cache().put(key, ontology.clone());
        Ok(ontology)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, LruCache<Key, Arc<Ontology>>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which data an ontology is about now.
fn digest(ontology: &Ontology, datasets: &[Dataset]) -> String {
    let mut lines: Vec<String> = ontology
        .datasets
        .iter()
        .filter_map(|entity| datasets.iter().find(|dataset| dataset.name.eq_ignore_ascii_case(entity.table())))
        .map(|dataset| format!("{} {}\n", dataset.id, dataset.version.as_deref().unwrap_or_default()))
        .collect();
    lines.sort();
    lines.dedup();
    sha256_hex(lines.concat().as_bytes())
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// One problem stands for all in a status line.
fn summed(first: &Problem, all: usize) -> String {
    match all {
        1 => format!("{}: {}", first.path, first.message),
        all => format!("{}: {} (and {} more)", first.path, first.message, all - 1),
    }
}

fn outdated(newest: i64) -> Error {
    let message = format!("Somebody saved version {newest} meanwhile. Load it, and put your changes on top of it.");
    Error::invalid("version", message)
}

/// A text that is no ontology: every problem with its place.
pub fn unreadable(problems: &[Problem]) -> Error {
    let first = problems.first().map(|first| summed(first, problems.len())).unwrap_or_default();
    let details = serde_json::json!({ "field": "text", "problems": problems.iter().take(50).collect::<Vec<_>>() });
    Error::new(Code::InvalidArgument, format!("This is no ontology: {first}")).with(details)
}
