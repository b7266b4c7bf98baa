//! The versions of datasets: which are kept, how an earlier one becomes the current one again, and how they end.
//!
//! A version is never changed: to restore one is to name it again, in one transaction, with all that follows a
//! replacement. So it costs nothing but that, and what was the current one until then is kept as an earlier one.

use std::collections::{HashMap, HashSet};

use super::{Datasets, NewVersion};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::version::{Version, beyond};
use crate::store;
use crate::store::tenant::Scoped;

impl Datasets {
    /// A dataset and its kept versions, each with how many documents it has: the current one, then those that were it
    /// before, the last first.
    ///
    /// # Errors
    /// `dataset_not_found`; `invalid_argument` for one whose rows are in a source.
    pub async fn versions(&self, job: &Job<'_>, id: Id<Dataset>) -> Result<(Dataset, Vec<(Version, i64)>)> {
        let org = job.pass.org();
        let mut read = self.db.read_tenant(org).await?;
        let dataset = own(&mut read, org, id).await?;
        let mut versions = store::dataset_versions::counted(&mut read, org, id).await?;
        // Stable: the others stay in their order.
        versions.sort_by_key(|(version, _)| Some(&version.version) != dataset.version.as_ref());
        Ok((dataset, versions))
    }

    /// Bytes that all versions of all datasets of the workspace take together.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub async fn bytes(&self, job: &Job<'_>) -> Result<i64> {
        let org = job.pass.org();
        store::dataset_versions::bytes(&mut self.db.read_tenant(org).await?, org).await
    }

    /// Makes a kept version the current one again, for all who read from then on. What people wrote, its publication and
    /// which columns are hidden stay as they are.
    ///
    /// # Errors
    /// `dataset_not_found`; `not_found` for a version that is not kept; `invalid_argument` for the current one, and for a
    /// dataset whose rows are in a source.
    pub async fn restore(&self, job: &Job<'_>, id: Id<Dataset>, version: &str) -> Result<(Dataset, Version)> {
        let turn = job.wait(self.turn.lock()).await?;
        job.check()?;
        let (org, now) = (job.pass.org(), self.clock.now());
        let mut tx = self.db.tenant(org).await?;
        store::datasets::hold_names(&mut tx, org).await?;
        let before = own(&mut tx, org, id).await?;
        let wanted = find(&mut tx, &before, version).await?;
        if before.version.as_deref() == Some(version) {
            return Err(Error::invalid("version", "This version is the current one already."));
        }
        let dataset = Dataset {
            version: Some(version.to_owned()),
            row_count: wanted.row_count,
            bytes: wanted.bytes,
            columns: wanted.columns.clone(),
            source: wanted.source.clone(),
            updated_at: now,
            ..before.clone()
        };
        let is_there = match dataset.kind {
            Kind::Table => self.files.table(org, id, version).exists(),
            Kind::Documents => self.dependents.search.holds(org, id, version).await?,
        };
        if !is_there {
            let missing = format!("version {version} of dataset {id} is in the metadata and not in the folder");
            return Err(Error::internal(missing));
        }
        store::datasets::put(&mut tx, &dataset).await?;
        store::datasets::keep_files(&mut tx, org, id, &wanted.files).await?;
        store::syncs::look_again(&mut tx, org, &dataset.name).await?;
        let by = job.pass.user().map(|user| user.to_string());
        let restored = Version { current_since: now, current_by: by, ..wanted };
        let gone = self.follows(&mut tx, restored.clone(), Some(&before)).await?;
        tx.commit().await?;
        drop(turn);
        self.retire(&dataset, Some(before), gone).await;
        Ok((dataset, restored))
    }

    /// Erases a kept version that is not the current one, with the texts that it alone has. When this returns, nothing
    /// of it is left in the data folder.
    ///
    /// # Errors
    /// As [`Datasets::restore`].
    pub async fn delete_version(&self, job: &Job<'_>, id: Id<Dataset>, version: &str) -> Result<Version> {
        self.is_erasable(job.pass.org(), id).await?;
        let turn = job.wait(self.turn.lock()).await?;
        let org = job.pass.org();
        let mut tx = self.db.tenant(org).await?;
        store::datasets::hold_names(&mut tx, org).await?;
        let dataset = own(&mut tx, org, id).await?;
        let wanted = find(&mut tx, &dataset, version).await?;
        if dataset.version.as_deref() == Some(version) {
            let message = "This is the current version. Restore another before, or delete the whole dataset.";
            return Err(Error::invalid("version", message));
        }
        store::dataset_versions::remove(&mut tx, org, id, version).await?;
        tx.commit().await?;
        drop(turn);
        let gone = Dataset { version: Some(version.to_owned()), ..dataset };
        self.forget(&gone);
        self.take_away(&gone).await?;
        if !self.db.scrub().await? {
            tracing::warn!(dataset = %id, "the log of the metadata is in use; deleted rows leave it with its next turn");
        }
        Ok(wanted)
    }

    /// Writes that a version is the current one from now on, and removes those from the metadata that are kept no longer.
    /// Gives their names.
    pub(super) async fn follows(
        &self,
        tx: &mut Scoped,
        version: Version,
        before: Option<&Dataset>,
    ) -> Result<Vec<String>> {
        let (org, dataset) = (version.org, version.dataset);
        let known = store::dataset_versions::list(tx, org, dataset).await?;
        // Within one millisecond the order would be left to chance.
        let after = known.first().map_or(0, |last| last.current_since + 1);
        let version = Version { current_since: version.current_since.max(after), ..version };
        store::dataset_versions::put(tx, &version).await?;
        let earlier: Vec<Version> = known.into_iter().filter(|known| known.version != version.version).collect();
        let beyond = beyond(self.keep.versions, self.keep.bytes, &earlier);
        let mut gone: Vec<String> = beyond.iter().map(|gone| gone.version.clone()).collect();
        let replaced = before.and_then(|before| before.version.clone());
        gone.extend(replaced.filter(|replaced| earlier.iter().all(|known| known.version != *replaced)));
        for version in &gone {
            store::dataset_versions::remove(tx, org, dataset, version).await?;
        }
        Ok(gone)
    }

    /// That a workspace keeps no more than it may, once a new version is written and others have gone for it. Where
    /// documents only go, it may come all the same: they must not stay for want of room.
    ///
    /// # Errors
    /// `limit_exceeded`.
    pub(super) async fn is_within(&self, tx: &mut Scoped, new: &NewVersion<'_>) -> Result<()> {
        let only_goes = new.dataset.kind == Kind::Documents && new.documents.is_empty();
        match only_goes || self.keep.workspace.is_none() {
            true => Ok(()),
            false => self.may_keep(store::dataset_versions::bytes(tx, new.dataset.org).await?),
        }
    }

    /// That a workspace may keep so many bytes more, before the first of several versions is published.
    ///
    /// # Errors
    /// `limit_exceeded`.
    pub(in crate::engine) async fn has_room(&self, job: &Job<'_>, bytes: i64) -> Result<()> {
        self.may_keep(self.bytes(job).await?.saturating_add(bytes))
    }

    fn may_keep(&self, was: i64) -> Result<()> {
        let Some(most) = self.keep.workspace.map(u64::from) else { return Ok(()) };
        if u64::try_from(was).unwrap_or_default() <= most {
            return Ok(());
        }
        let message = format!(
            "With this the datasets of the workspace and their earlier versions would take {was} bytes, and they may \
             take {most}. Delete datasets, or versions, that nobody needs."
        );
        let details = serde_json::json!({ "limit": "workspace_bytes", "max": most, "was": was });
        Err(Error::new(Code::LimitExceeded, message).with(details))
    }

    /// After another version took the place of `before`: what keeps something of it lets go, and the versions that are
    /// kept no longer are removed, at once when no call can be about to read one, otherwise when the last such call has
    /// ended.
    pub(super) async fn retire(&self, of: &Dataset, before: Option<Dataset>, gone: Vec<String>) {
        let Some(before) = before else { return };
        let gone: Vec<Dataset> =
            gone.into_iter().map(|version| Dataset { version: Some(version), ..of.clone() }).collect();
        let earlier = self.readers.now();
        if earlier.are_gone() {
            self.close(&before).await;
            return self.remove(&gone).await;
        }
        self.forget(&before);
        let this = self.clone();
        tokio::spawn(async move {
            earlier.gone().await;
            this.close(&before).await;
            this.remove(&gone).await;
        });
    }

    /// Removes versions that no dataset has any more. What fails is logged, and tried again ([`Datasets::tidy`]).
    pub(super) async fn remove(&self, gone: &[Dataset]) {
        for version in gone {
            self.forget(version);
            if let Err(problem) = self.take_away(version).await {
                tracing::warn!(dataset = %version.id, %problem, "an old version could not be removed");
            }
        }
    }

    /// Removes what no dataset keeps: staging of interrupted imports, versions that were moved into place but never
    /// named, those that are too many since the settings were changed, the documents of all these, and what the log of the
    /// metadata still has of rows that were deleted. Only for the start of the process, when nobody reads. What is of
    /// workspaces that the metadata do not know stays: it is of other metadata, or goes with the next look
    /// ([`Datasets::tidy`]).
    ///
    /// # Errors
    /// The data folder or the metadata cannot be read.
    pub async fn sweep(&self) -> Result<()> {
        self.files.sweep_staging().map_err(Error::internal)?;
        // Of those too that have all of their indexes on a server, and nothing in the folder.
        for Org { id: org, .. } in store::orgs::list(self.db.pool()).await? {
            let kept = self.kept(org).await?;
            for Dataset { id, version, kind, .. } in self.files.versions(org).map_err(Error::internal)? {
                let version = version.unwrap_or_default();
                if kept.contains(&(id, version.clone())) {
                    continue;
                }
                tracing::info!(dataset = %id, version, "removing a version that no dataset keeps");
                // Nobody asks an index. What of it is on a server goes from there when the service runs, in its own time.
                if kind == Kind::Table {
                    self.files.remove(&self.files.table(org, id, &version)).map_err(Error::internal)?;
                } else if let Err(problem) = self.take_index(org, id, &version, 0).await {
                    tracing::warn!(dataset = %id, version, %problem, "it stays for now");
                }
            }
        }
        // A process that dies after it deleted rows has not emptied the log.
        if !self.db.scrub().await? {
            tracing::warn!("the log of the metadata is in use; deleted rows leave it with its next turn");
        }
        Ok(())
    }

    /// The versions of a workspace, after those that are too many have left the metadata.
    async fn kept(&self, org: Id<Org>) -> Result<HashSet<(Id<Dataset>, String)>> {
        let mut tx = self.db.tenant(org).await?;
        let mut earlier: HashMap<Id<Dataset>, Vec<Version>> = HashMap::new();
        for version in store::dataset_versions::all(&mut tx, org).await? {
            earlier.entry(version.dataset).or_default().push(version);
        }
        for dataset in store::datasets::outlines(&mut tx, org).await? {
            let mut earlier = earlier.remove(&dataset.id).unwrap_or_default();
            earlier.retain(|version| Some(&version.version) != dataset.version.as_ref());
            for gone in beyond(self.keep.versions, self.keep.bytes, &earlier) {
                store::dataset_versions::remove(&mut tx, org, dataset.id, &gone.version).await?;
            }
        }
        let kept = store::dataset_versions::named(&mut tx, org).await?;
        let with_documents = store::documents::counts(&mut tx, org).await?;
        tx.commit().await?;
        for (dataset, version, _) in with_documents {
            // Another node may have named it since the versions were read.
            if !kept.contains(&(dataset, version.clone())) && !self.is_named(org, dataset, &version).await? {
                self.let_documents_go(org, dataset, &version).await?;
            }
        }
        Ok(kept)
    }
}

/// A dataset of the workspace whose data the service holds itself.
async fn own(on: &mut Scoped, org: Id<Org>, id: Id<Dataset>) -> Result<Dataset> {
    let found = store::datasets::by_id(on, org, id).await?.ok_or_else(Error::dataset_not_found)?;
    match &found.remote {
        None => Ok(found),
        Some(remote) => {
            let message = format!(
                "Its rows are in the source {}, and are as they are there: no versions of them are kept here.",
                remote.source_name
            );
            Err(Error::invalid("dataset_id", message))
        }
    }
}

/// A kept version of a dataset.
async fn find(on: &mut Scoped, dataset: &Dataset, version: &str) -> Result<Version> {
    let known = store::dataset_versions::list(on, dataset.org, dataset.id).await?;
    known.into_iter().find(|known| known.version == version).ok_or_else(|| Error::not_found("version"))
}
