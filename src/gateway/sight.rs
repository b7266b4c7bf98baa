//! What there is to see in a workspace, and that it has changed. Whoever listens is told of nothing but the difference
//! between what they saw and what they see: what they may not see tells them nothing, neither by coming nor by going.
//!
//! The metadata are looked at again, so it does not matter who changed them. A change through this gateway is looked for
//! at once. One by a command beside the service, by another node, by somebody on a page, or with time alone is found
//! within [`LOOK`].

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Gateway;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::access::{Action, Catalogue, Want, authorize};
use crate::model::caller::Caller;
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Status, StoredOntology};
use crate::model::org::Org;
use crate::store;

/// How long a change may be unseen that did not come through this gateway.
pub const LOOK: Duration = Duration::from_secs(5);
/// How old a look at a workspace may be that several listeners share.
const FRESH: Duration = Duration::from_secs(1);
/// The longest that a look may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Something that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// The list of datasets.
    Datasets,
    /// A dataset, its rows and its documents.
    Dataset(Id<Dataset>),
    /// The list of ontologies.
    Ontologies,
    Ontology(Id<StoredOntology>),
}

/// What a caller may see, as far as it takes to tell it from what they saw before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    listed: u64,
    datasets: BTreeMap<Id<Dataset>, u64>,
    ontologies: BTreeMap<Id<StoredOntology>, u64>,
}

impl Sight {
    /// Another number for another list of what can be read.
    pub fn list(&self) -> u64 {
        self.listed
    }

    /// Another number for another content; `None` where the caller sees nothing.
    pub fn of(&self, thing: &Thing) -> Option<u64> {
        match thing {
            Thing::Datasets => Some(digest(&self.datasets)),
            Thing::Dataset(id) => self.datasets.get(id).copied(),
            Thing::Ontologies => Some(digest(&self.ontologies)),
            Thing::Ontology(id) => self.ontologies.get(id).copied(),
        }
    }
}

fn digest(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What the metadata say of a workspace, without what only a reader of one dataset needs.
#[derive(Clone, Debug, PartialEq)]
struct Outline {
    /// `None` when the operator has suspended it.
    org: Option<Org>,
    datasets: Vec<Dataset>,
    ontologies: Vec<StoredOntology>,
}

/// A workspace that somebody listens to.
struct Workspace {
    /// Counts the changes that came through this gateway.
    changes: watch::Sender<u64>,
    looked: tokio::sync::Mutex<Looked>,
}

#[derive(Default)]
struct Looked {
    /// When, and how many changes there had been.
    at: Option<(Instant, u64)>,
    outline: Option<Outline>,
    /// By what decides about it: whether the caller is outside, may list datasets, and may read ontologies.
    sights: Vec<([bool; 3], Arc<Sight>)>,
}

/// The workspaces that are listened to.
#[derive(Default)]
pub(super) struct Sights(Mutex<HashMap<Id<Org>, Weak<Workspace>>>);

impl Sights {
    fn workspaces(&self) -> std::sync::MutexGuard<'_, HashMap<Id<Org>, Weak<Workspace>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, org: Id<Org>) -> Arc<Workspace> {
        let mut all = self.workspaces();
        if let Some(known) = all.get(&org).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, workspace| workspace.strong_count() > 0);
        let new = Arc::new(Workspace { changes: watch::Sender::new(0), looked: Default::default() });
        all.insert(org, Arc::downgrade(&new));
        new
    }

    /// Something in a workspace may look different from now on.
    pub(super) fn changed(&self, org: Id<Org>) {
        let listened = self.workspaces().get(&org).and_then(Weak::upgrade);
        if let Some(workspace) = listened {
            workspace.changes.send_modify(|changes| *changes += 1);
        }
    }
}

/// Somebody who listens to a workspace.
pub struct Listening {
    workspace: Arc<Workspace>,
    changes: watch::Receiver<u64>,
}

impl Listening {
    /// Waits until it is worth another look: when something was changed here, and every [`LOOK`].
    pub async fn pause(&mut self) {
        // The sender lives as long as the workspace that is held here.
        let _either = tokio::time::timeout(LOOK, self.changes.changed()).await;
    }
}

impl Gateway {
    /// Begins to listen to the caller's workspace.
    pub fn listen(&self, caller: &Caller) -> Listening {
        let workspace = self.sights.enter(caller.org);
        let changes = workspace.changes.subscribe();
        Listening { workspace, changes }
    }

    /// What the caller sees now. It is no answer, gives nothing away, and leaves no row in the record.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub async fn sight(&self, listening: &Listening, caller: &Caller) -> Result<Arc<Sight>> {
        let mut looked = listening.workspace.looked.lock().await;
        let changes = *listening.workspace.changes.borrow();
        let is_fresh = |(at, seen): &(Instant, u64)| *seen == changes && at.elapsed() < FRESH;
        if !looked.at.as_ref().is_some_and(is_fresh) {
            let outline = self.outline(caller.org).await?;
            if looked.outline.as_ref() != Some(&outline) {
                looked.sights.clear();
                looked.outline = Some(outline);
            }
            looked.at = Some((Instant::now(), changes));
        }
        let rights = [Action::ListDatasets, Action::ReadOntologies].map(|action| caller.rights.allow(action));
        let [lists, reads] = rights;
        let key = [caller.is_external(), lists, reads];
        if let Some((_, known)) = looked.sights.iter().find(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let Some(outline) = &looked.outline else { return Ok(Arc::default()) };
        let sight = Arc::new(self.seen(caller, outline).await?);
        looked.sights.push((key, sight.clone()));
        Ok(sight)
    }

    /// The dataset that a document belongs to, if the caller sees it.
    ///
    /// # Errors
    /// `document_not_found`; the metadata cannot be read.
    pub async fn dataset_of(&self, sight: &Sight, caller: &Caller, document: Id<Document>) -> Result<Id<Dataset>> {
        let mut read = self.db.read_tenant(caller.org).await?;
        let dataset = store::documents::dataset_of(&mut read, caller.org, document).await?;
        dataset.filter(|id| sight.datasets.contains_key(id)).ok_or_else(Error::document_not_found)
    }

    async fn outline(&self, org: Id<Org>) -> Result<Outline> {
        let mut read = self.db.read_tenant(org).await?;
        Ok(Outline {
            org: store::orgs::active(&mut *read, org).await?,
            datasets: store::datasets::outlines(&mut read, org).await?,
            ontologies: store::ontologies::list(&mut read, org).await?,
        })
    }

    async fn seen(&self, caller: &Caller, outline: &Outline) -> Result<Sight> {
        let Some(org) = &outline.org else { return Ok(Sight::default()) };
        let catalogue = Catalogue::new(org.clone(), outline.datasets.clone());
        let pass = |action| authorize(caller, &catalogue, action, &Want::All);
        // Whoever is refused sees nothing, whatever the reason.
        let datasets = pass(Action::ListDatasets).map(|pass| pass.datasets().to_vec()).unwrap_or_default();
        let ontologies = match pass(Action::ReadOntologies) {
            Ok(pass) => {
                let budgets = &self.parts.config.limits.budgets;
                let job = Job::new(&pass, budgets, LONGEST, CancellationToken::new(), None);
                self.parts.engines.library.list(&job).await?
            }
            Err(_) => Vec::new(),
        };
        let ontologies = ontologies.into_iter().filter(|visible| visible.stored.status == Status::Ready);
        let mut listed = Vec::new();
        let mut sight = Sight::default();
        for dataset in datasets {
            let Dataset { id, name, title, description, version, row_count, updated_at, .. } = dataset;
            sight.datasets.insert(id, digest(&(&name, &description, version, row_count, updated_at)));
            listed.push((id.uuid(), name, format!("{title}\n{description}")));
        }
        for visible in ontologies {
            // Of what it is made of, and not of its version: that counts what was changed out of sight too.
            let text = serde_json::to_string(&*visible.ontology).map_err(Error::internal)?;
            let (id, name) = (visible.stored.id, visible.stored.name);
            sight.ontologies.insert(id, digest(&(&name, &visible.stored.description, text)));
            listed.push((id.uuid(), name, String::new()));
        }
        sight.listed = digest(&(caller.rights.allow(Action::ReadOntologies), org.connectivity_enabled, listed));
        Ok(sight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    #[tokio::test]
    async fn a_listener_wakes_for_its_own_workspace() {
        let (sights, clock) = (Sights::default(), Clock::manual(0));
        let (ours, theirs) = (Id::<Org>::new(&clock), Id::<Org>::new(&clock));
        let workspace = sights.enter(ours);
        let mut listening = Listening { changes: workspace.changes.subscribe(), workspace };
        let other = sights.enter(theirs);
        sights.changed(theirs);
        assert!(tokio::time::timeout(Duration::from_millis(50), listening.pause()).await.is_err());
        sights.changed(ours);
        assert!(tokio::time::timeout(LOOK / 2, listening.pause()).await.is_ok());
        drop(other);
    }

    #[test]
    fn nothing_is_kept_of_a_workspace_that_nobody_listens_to() {
        let (sights, clock) = (Sights::default(), Clock::manual(0));
        let (first, second) = (Id::<Org>::new(&clock), Id::<Org>::new(&clock));
        let listened = sights.enter(first);
        assert!(Arc::ptr_eq(&listened, &sights.enter(first)), "all who listen share one look");
        drop(listened);
        let _kept = sights.enter(second);
        assert_eq!(sights.workspaces().keys().collect::<Vec<_>>(), [&second]);
    }
}
