//! Profiles of tables. A version never changes, so a profile is computed once and kept while there is room.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Outcome, SqlEngine, Task, TaskLimits, limits};
use crate::base::bounded::Bounded;
use crate::base::clock::whole_millis;
use crate::base::id::Id;
use crate::base::json;
use crate::engine::job::Job;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::profile::Profile;

/// Bytes of kept profiles, as JSON.
const ROOM: usize = 16 << 20;

/// Workspace, dataset, version.
type Key = (Id<Org>, Id<Dataset>, String);

/// Kept profiles; clones share them.
#[derive(Clone)]
pub(super) struct Profiles(Arc<Mutex<Bounded<Key, Arc<Profile>>>>);

impl Profiles {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Bounded::new(ROOM))))
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Bounded<Key, Arc<Profile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqlEngine {
    /// What the columns of a table hold, in figures.
    ///
    /// # Errors
    /// `dataset_not_found` unless the pass covers it; `invalid_argument` for documents; the limits as for
    /// [`SqlEngine::query`].
    pub async fn profile(&self, job: &Job<'_>, dataset: &Dataset) -> Result<Arc<Profile>> {
        let dataset = job.pass.dataset(dataset.id)?;
        let profile = self.whole_profile(job, dataset).await?;
        if dataset.hidden.is_empty() {
            return Ok(profile);
        }
        let mut profile = Arc::unwrap_or_clone(profile);
        profile.columns.retain(|column| dataset.columns.iter().any(|seen| seen.name == column.name));
        Ok(Arc::new(profile))
    }

    /// Of all columns, whoever sees them.
    async fn whole_profile(&self, job: &Job<'_>, dataset: &Dataset) -> Result<Arc<Profile>> {
        if dataset.kind != Kind::Table {
            return Err(Error::invalid("dataset_id", "This dataset holds documents; only tables have columns."));
        }
        if let Some(remote) = &dataset.remote {
            let message = format!(
                "This table lives in the source {}; profiles are of tables in the service itself. Ask for what you need \
                 with dragoman_sql.",
                remote.source_name
            );
            return Err(Error::invalid("dataset_id", message));
        }
        let version = dataset.version.clone().ok_or_else(Error::dataset_not_found)?;
        let key = (dataset.org, dataset.id, version);
        let kept = self.profiles.kept().get(&key);
        if let Some(kept) = kept {
            return Ok(kept);
        }
        // All the time of the call: no text of a caller's runs here.
        let time = job.time_left();
        let time_ms = whole_millis(time);
        let limits = TaskLimits { time_ms, ..limits(job, 0, 0) };
        let task = Task::Profile { file: self.file(dataset)?, limits };
        let Outcome::Profiled(profile) = self.outcome(job, &task, dataset, time).await? else {
            return Err(Error::internal("a worker did another task than the profile"));
        };
        let profile = Arc::new(profile);
        // One for which there was no time is worth another try.
        if profile.columns.iter().all(|column| column.not_computed.is_empty() || column.is_counted_only()) {
            let bytes = json::size(&*profile).map_err(Error::internal)?;
            self.profiles.kept().put(key, profile.clone(), bytes);
        }
        Ok(profile)
    }

    /// Forgets the profiles of a dataset, in whatever version, and lets go of its open files, so that their space is
    /// free once they are removed.
    pub fn forget(&self, org: Id<Org>, dataset: Id<Dataset>) {
        let folder = self.files.tables(org, dataset);
        self.pool.forget(&folder);
        self.known.forget(&folder);
        self.profiles.kept().retain(|(of, id, _), _| (*of, *id) != (org, dataset));
    }
}
