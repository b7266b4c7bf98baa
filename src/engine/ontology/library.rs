//! The ontologies of workspaces: texts kept by version, parsed once, and shown to each caller as far as its pass reaches.
//!
//! One gate stands before everything. People in the console and the operator see all data of the workspace, and so all
//! of its ontologies. An external client sees the published datasets alone: of an ontology that names others it gets
//! what [`Covered::part`] leaves (columns that are hidden from clients are such data too), and nothing else that was ever said of it, no text, no history, no attestation, no problem,
//! no trace, nothing remembered; and it can neither judge nor change it ([`Library::owned`]). The refusal is the one
//! for an ontology that does not exist.

mod compare;
mod meant;
mod save;
mod tables;

use std::sync::{Arc, Mutex, PoisonError};

use super::covered::Covered;
use super::read;
use crate::base::bounded::Bounded;
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::base::json::put;
use crate::base::secret::sha256_hex;
use crate::engine::job::Job;
use crate::engine::readers::Readers;
use crate::engine::sql::SqlEngine;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Attestation, Ontology, Status, StoredOntology};
use crate::model::org::Org;
use crate::store::ontologies::Version;
use crate::store::{self, Db};

use compare::Flights;
pub use save::unreadable;
use save::{outdated, summed};

/// Bytes of the parsed documents that are kept.
const ROOM: usize = 256 << 20;

/// Bytes of those of one workspace: others have room too.
const SHARE: usize = 64 << 20;

/// About how many bytes a parsed document takes for each of its text, and at least.
const FOR_EACH: usize = 4;
const LEAST: usize = 1 << 10;

/// Versions before the newest that are looked at for what was taken out.
const EARLIER: usize = 20;

/// Why a text that was once saved cannot be used: its format has become stricter since.
const UNREADABLE: &str = "Its text can no longer be read. Load the text, check it with the editor, and save it anew.";

type Key = (Id<Org>, Id<StoredOntology>, i64);

/// What was read; `None` for texts that can no longer be read.
type Parsed = Bounded<Key, Option<Arc<Ontology>>>;

/// See the module.
#[derive(Clone)]
pub struct Library {
    db: Db,
    clock: Clock,
    sql: SqlEngine,
    readers: Readers,
    flights: Flights,
    parsed: Arc<Mutex<Parsed>>,
}

/// An ontology as a caller may see it.
#[derive(Clone, Debug)]
pub struct Visible {
    pub stored: StoredOntology,
    /// Without what rests on datasets that the pass does not cover.
    pub ontology: Arc<Ontology>,
    /// Whether the pass covers every dataset of it.
    pub whole: bool,
    /// Whether it was compared with the data in the versions that they have now.
    pub compared: bool,
}

/// An ontology and what it said before.
#[derive(Clone, Debug)]
pub struct Standing {
    pub text: String,
    pub ontology: Arc<Ontology>,
    pub earlier: Vec<Arc<Ontology>>,
}

impl Library {
    pub fn new(db: Db, clock: Clock, sql: SqlEngine, readers: Readers) -> Self {
        let parsed = Arc::new(Mutex::new(Bounded::new(ROOM)));
        Self { db, clock, sql, readers, flights: Flights::default(), parsed }
    }

    /// Every ontology of which the caller may see a part, by name. One whose text can no longer be read is not there.
    ///
    /// # Errors
    /// The database fails.
    pub async fn list(&self, job: &Job<'_>) -> Result<Vec<Visible>> {
        let mut visible = Vec::new();
        let (tables, covered) = (self.newest_tables(job.pass.org()).await?, Covered::by(job.pass));
        for stored in self.all(job).await?.into_iter().filter(|stored| !tables.none_seen(&covered, stored.id)) {
            visible.extend(self.seen(job, &covered, stored).await?.filter(|it| !it.ontology.datasets.is_empty()));
        }
        Ok(visible)
    }

    /// Where every ontology stands, by name, for those who write them; with the tables that it uses, in small letters, as
    /// far as they are known.
    ///
    /// # Errors
    /// The database fails.
    pub async fn standings(&self, job: &Job<'_>) -> Result<Vec<(StoredOntology, Vec<String>)>> {
        let mut standings = Vec::new();
        let (tables, external) = (self.newest_tables(job.pass.org()).await?, job.pass.is_external());
        let (all, covered) = (self.all(job).await?.into_iter(), Covered::by(job.pass));
        for stored in all.filter(|stored| !external || !tables.some_unseen(&covered, stored.id)) {
            let names = tables.names(stored.id);
            standings.extend(self.let_in(job, stored).await?.map(|stored| (stored, names)));
        }
        Ok(standings)
    }

    /// One ontology, for reading.
    ///
    /// # Errors
    /// `ontology_not_found`, the same for absent and foreign ones and for those of which the caller may see nothing.
    pub async fn one(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Visible> {
        let stored = self.stored(job.pass.org(), id).await?;
        self.seen(job, &Covered::by(job.pass), stored).await?.ok_or_else(Error::ontology_not_found)
    }

    /// One ontology, for reading, when it can be asked. Never compares it with the data.
    ///
    /// # Errors
    /// `ontology_not_found`; `ontology_not_ready` with its status and, where the caller sees all of it, its problem.
    pub async fn readable(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Visible> {
        usable(job, self.one(job, id).await?)
    }

    /// One ontology to be asked. When the data changed since they were last compared with it, they are compared first,
    /// if the caller sees all of them and it does not take long; [`Visible::compared`] says whether they were.
    ///
    /// # Errors
    /// `ontology_not_found`; `ontology_not_ready` with its status and, where the caller sees all of it, its problem.
    pub async fn ready(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Visible> {
        let mut visible = self.one(job, id).await?;
        let mut asked = self.asked(job.pass.org(), id).await?;
        // A draft, and one that failed before the data were asked, waits for a person.
        if asked == Asked::Older && (visible.whole || !job.pass.is_external()) {
            self.caught_up(job, id).await;
            visible = self.one(job, id).await?;
            asked = self.asked(job.pass.org(), id).await?;
        }
        visible.compared = asked == Asked::Newest;
        usable(job, visible)
    }

    /// The text of a version, or of the newest.
    ///
    /// # Errors
    /// `ontology_not_found`; `not_found` for a version that is not kept, and for one that names data which an external
    /// client does not see.
    pub async fn text(
        &self,
        job: &Job<'_>,
        id: Id<StoredOntology>,
        version: Option<i64>,
    ) -> Result<(StoredOntology, String)> {
        let stored = self.owned(job, id).await?;
        let version = version.unwrap_or(stored.version);
        let missing = || Error::not_found("version of this ontology");
        if version != stored.version && !self.may_see(job, &stored, version).await? {
            return Err(missing());
        }
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let text = store::ontologies::text(&mut read, job.pass.org(), id, version).await?;
        Ok((stored, text.ok_or_else(missing)?))
    }

    /// The newest text of an ontology, what it says, and what versions before it said, the newest first.
    ///
    /// # Errors
    /// `ontology_not_found`; `invalid_argument` for a text that can no longer be read.
    pub async fn with_earlier(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Standing> {
        let (stored, text) = self.text(job, id, None).await?;
        let unread = || Error::invalid("ontology_id", UNREADABLE);
        let ontology = self.parsed(&stored).await?.ok_or_else(unread)?;
        let kept = self.history(job, id).await?.into_iter().map(|kept| kept.version);
        let mut earlier = Vec::new();
        for version in kept.filter(|version| *version != stored.version).take(EARLIER) {
            earlier.extend(self.parsed(&StoredOntology { version, ..stored.clone() }).await?);
        }
        Ok(Standing { text, ontology, earlier })
    }

    /// The kept versions, newest first; for external clients those that name nothing which they do not see.
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn history(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Vec<Version>> {
        let stored = self.owned(job, id).await?;
        let kept = {
            let mut read = self.db.read_tenant(job.pass.org()).await?;
            store::ontologies::history(&mut read, job.pass.org(), id).await?
        };
        let mut seen = Vec::new();
        for version in kept {
            if self.may_see(job, &stored, version.version).await? {
                seen.push(version);
            }
        }
        Ok(seen)
    }

    /// What the last comparison with the data found; `None` before the first of this version.
    ///
    /// # Errors
    /// `ontology_not_found`.
    pub async fn attestation(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Option<Attestation>> {
        self.owned(job, id).await?;
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        let attested = store::ontologies::attested(&mut read, job.pass.org(), id).await?;
        let found = attested.ok_or_else(Error::ontology_not_found)?.found;
        found.map(|found| serde_json::from_str(&found).map_err(Error::internal)).transpose()
    }

    /// An ontology for who judges or changes it, or asks what was said of it: see the module. One whose text can no longer
    /// be read is `failed`, and nobody outside sees it.
    ///
    /// # Errors
    /// `ontology_not_found`, the same for absent and foreign ones and for those of which an external client does not see
    /// every dataset.
    pub async fn owned(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<StoredOntology> {
        let stored = self.stored(job.pass.org(), id).await?;
        self.let_in(job, stored).await?.ok_or_else(Error::ontology_not_found)
    }

    async fn let_in(&self, job: &Job<'_>, stored: StoredOntology) -> Result<Option<StoredOntology>> {
        let external = job.pass.is_external();
        Ok(match self.parsed(&stored).await? {
            Some(ontology) => (!external || is_whole(job, &ontology)).then_some(stored),
            None if external => None,
            None => Some(StoredOntology { status: Status::Failed, problem: UNREADABLE.into(), ..stored }),
        })
    }

    /// Whether the caller may see a version that is not the newest.
    async fn may_see(&self, job: &Job<'_>, of: &StoredOntology, version: i64) -> Result<bool> {
        if !job.pass.is_external() {
            return Ok(true);
        }
        let old = StoredOntology { version, ..of.clone() };
        Ok(self.parsed(&old).await?.is_some_and(|ontology| is_whole(job, &ontology)))
    }

    async fn all(&self, job: &Job<'_>) -> Result<Vec<StoredOntology>> {
        let mut read = self.db.read_tenant(job.pass.org()).await?;
        store::ontologies::list(&mut read, job.pass.org()).await
    }

    async fn stored(&self, org: Id<Org>, id: Id<StoredOntology>) -> Result<StoredOntology> {
        let mut read = self.db.read_tenant(org).await?;
        store::ontologies::by_id(&mut read, org, id).await?.ok_or_else(Error::ontology_not_found)
    }

    /// Which data an ontology was last compared with.
    async fn asked(&self, org: Id<Org>, id: Id<StoredOntology>) -> Result<Asked> {
        let stored = self.stored(org, id).await?;
        let Some(ontology) = self.parsed(&stored).await? else { return Ok(Asked::Never) };
        let mut read = self.db.read_tenant(org).await?;
        let attested = store::ontologies::attested_data(&mut read, org, id).await?;
        // All of the workspace, whatever the caller sees: only whether they are the same is told.
        let datasets = store::datasets::list(&mut read, org).await?;
        let ready: Vec<Dataset> = datasets.into_iter().filter(Dataset::is_ready).collect();
        Ok(match attested {
            Some(data) if data == digest(&ontology, &ready) => Asked::Newest,
            Some(data) if !data.is_empty() => Asked::Older,
            _ => Asked::Never,
        })
    }

    /// What the pass lets see of an ontology; `None` when that is nothing.
    async fn seen(&self, job: &Job<'_>, covered: &Covered, mut stored: StoredOntology) -> Result<Option<Visible>> {
        let external = job.pass.is_external();
        let Some(ontology) = self.parsed(&stored).await? else {
            let failed = || StoredOntology { status: Status::Failed, problem: UNREADABLE.into(), ..stored.clone() };
            let ontology = Arc::new(Ontology::default());
            return Ok((!external).then(|| Visible { stored: failed(), ontology, whole: false, compared: false }));
        };
        if covered.has_all(&ontology) {
            return Ok(Some(Visible { stored, ontology, whole: true, compared: false }));
        }
        let ontology = covered.part(&ontology);
        if external {
            if ontology.datasets.is_empty() {
                return Ok(None);
            }
            stored.description.clear();
            stored.problem.clear();
        }
        Ok(Some(Visible { stored, ontology: Arc::new(ontology), whole: false, compared: false }))
    }

    /// The document of a version; `None` when its text can no longer be read.
    async fn parsed(&self, stored: &StoredOntology) -> Result<Option<Arc<Ontology>>> {
        let key = (stored.org, stored.id, stored.version);
        let known = self.cache().get(&key);
        if let Some(known) = known {
            return Ok(known);
        }
        let text = {
            let mut read = self.db.read_tenant(stored.org).await?;
            store::ontologies::text(&mut read, stored.org, stored.id, stored.version).await?
        };
        // Pruned, or deleted, between two looks.
        let Some(text) = text else { return Ok(None) };
        let bytes = LEAST.max(FOR_EACH * text.len());
        let read = tokio::task::spawn_blocking(move || read::read(&text)).await.map_err(Error::internal)?;
        let (ontology, bytes) = match read {
            Ok(document) => (Some(Arc::new(document.ontology)), bytes),
            Err(problems) => {
                let first = problems.first().map(ToString::to_string).unwrap_or_default();
                tracing::warn!(ontology = %stored.id, version = stored.version, problem = first, "a stored ontology cannot be read");
                (None, LEAST)
            }
        };
        keep(&mut self.cache(), key, ontology.clone(), bytes);
        Ok(ontology)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Parsed> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what was read. A workspace's others go when it has had its share.
fn keep(parsed: &mut Parsed, key: Key, ontology: Option<Arc<Ontology>>, bytes: usize) {
    parsed.put(key, ontology, bytes);
    parsed.shrink(SHARE, |(org, ..), _| *org == key.0);
}

/// Which data an ontology was last compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Never,
    Older,
    Newest,
}

/// Whether the pass covers every dataset of an ontology.
fn is_whole(job: &Job<'_>, ontology: &Ontology) -> bool {
    Covered::by(job.pass).has_all(ontology)
}

/// Refuses what cannot be asked.
fn usable(job: &Job<'_>, visible: Visible) -> Result<Visible> {
    let Visible { stored, whole, .. } = &visible;
    let may_know = *whole || !job.pass.is_external();
    let message = match stored.status {
        Status::Ready => return Ok(visible),
        Status::Failed if may_know => format!("This ontology cannot be used: {}", stored.problem),
        Status::Failed => "This ontology cannot be used at the moment.".into(),
        Status::Draft => "This ontology is a draft. Somebody who may write ontologies has to check it first.".into(),
    };
    let mut details = serde_json::json!({ "status": stored.status.name() });
    if may_know {
        put(&mut details, "problem", stored.problem.clone());
    }
    Err(Error::new(Code::OntologyNotReady, message).with(details))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_that_has_had_its_share_takes_nothing_from_others() {
        let clock = Clock::manual(1_790_000_000_000);
        let (mut parsed, ours, theirs) = (Parsed::new(ROOM), Id::new(&clock), Id::new(&clock));
        let (third, id) = (SHARE / 3, Id::new(&clock));
        keep(&mut parsed, (theirs, id, 1), None, third);
        for version in 1..=10 {
            keep(&mut parsed, (ours, id, version), None, third);
        }
        assert!(parsed.get(&(theirs, id, 1)).is_some(), "the longest unused of all, and another's");
        let left: Vec<i64> = (1..=10).filter(|version| parsed.get(&(ours, id, *version)).is_some()).collect();
        assert_eq!(left, [8, 9, 10]);
    }
}
