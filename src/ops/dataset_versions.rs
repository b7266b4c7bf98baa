//! The versions of a dataset: which are kept, an earlier one as the current one again, and the end of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::Action;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::Result;
use crate::model::version::{Difference, How, Version};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListVersions {
    pub dataset_id: Id<Dataset>,
}

/// A kept version.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kept {
    pub version: String,
    /// Whether it is the one that is read now.
    pub current: bool,
    /// `import` when files took the place of what was there, `append` when they were added to it, `sync` when rows of a
    /// table were taken over as documents, `remove` when documents were removed.
    pub how: How,
    /// The files that it came from.
    pub source: String,
    /// Rows of a table, searchable chunks of documents.
    pub row_count: i64,
    /// Of documents, how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_count: Option<i64>,
    /// On disk.
    pub bytes: i64,
    /// RFC 3339.
    pub made_at: String,
    /// A person's id; absent for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// Of an earlier version that was restored: when and by whom it last became the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_by: Option<String>,
    /// How its columns differ from those of the current version; absent where they do not.
    #[serde(skip_serializing_if = "Difference::is_empty")]
    #[schemars(with = "Option<Difference>")]
    pub columns: Difference,
}

impl Kept {
    /// As a caller sees it: of columns that are hidden from clients, clients hear nothing.
    fn of((version, documents): (Version, i64), dataset: &Dataset, external: bool) -> Self {
        let seen = |columns: Vec<_>| Dataset { columns, ..dataset.clone() }.seen(external).columns;
        let columns = Difference::between(&seen(dataset.columns.clone()), &seen(version.columns));
        let is_restored = version.current_since > version.made_at;
        Self {
            current: Some(&version.version) == dataset.version.as_ref(),
            version: version.version,
            how: version.how,
            source: version.source,
            row_count: version.row_count,
            document_count: (dataset.kind == Kind::Documents).then_some(documents),
            bytes: version.bytes,
            made_at: rfc3339(version.made_at),
            made_by: version.made_by,
            restored_at: is_restored.then(|| rfc3339(version.current_since)),
            restored_by: version.current_by.filter(|_| is_restored),
            columns,
        }
    }
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Versions {
    pub dataset_id: Id<Dataset>,
    pub name: String,
    /// The current one, then those that were it before, the last first.
    pub versions: Vec<Kept>,
    /// How many are kept at most, the current one included.
    pub versions_max: usize,
    /// Bytes that those before the current one may take together.
    pub bytes_max: i64,
    /// Bytes that all versions of all datasets of the workspace take together.
    pub workspace_bytes: i64,
    /// Bytes that these may take; absent where there is no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_bytes_max: Option<i64>,
}

impl Operation for ListVersions {
    const INFO: Info = Info {
        name: "list_dataset_versions",
        title: "List the versions of a dataset",
        description: "Lists the kept versions of a dataset: when and by whom each was made, of which files, its size, how its \
                      columns differ from the current one's, and which is the current one.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        read_only: true,
        route: Route { method: "GET", path: "/datasets/{dataset_id}/versions" },
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001"}"#,
        ..Info::MANAGE
    };
    type Reply = Versions;

    fn target(&self) -> String {
        self.dataset_id.to_string()
    }

    fn rows(reply: &Versions) -> usize {
        reply.versions.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Versions> {
        let (dataset, versions) = on.engines.datasets.versions(job, self.dataset_id).await?;
        let external = job.pass.is_external();
        let keep = on.config.limits.budgets.keep;
        Ok(Versions {
            dataset_id: dataset.id,
            name: dataset.name.clone(),
            versions: versions.into_iter().map(|version| Kept::of(version, &dataset, external)).collect(),
            versions_max: keep.versions,
            bytes_max: i64::try_from(keep.bytes).unwrap_or(i64::MAX),
            workspace_bytes: on.engines.datasets.bytes(job).await?,
            workspace_bytes_max: keep.workspace.map(|most| i64::try_from(most.get()).unwrap_or(i64::MAX)),
        })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreVersion {
    pub dataset_id: Id<Dataset>,
    /// As it is listed.
    pub version: Id<Version>,
}

/// The reply: the dataset as it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Restored {
    pub dataset_id: Id<Dataset>,
    pub name: String,
    pub version: String,
    pub row_count: i64,
    pub column_count: usize,
    /// Whether AI clients see it: as before.
    pub published: bool,
}

impl Operation for RestoreVersion {
    const INFO: Info = Info {
        name: "restore_dataset_version",
        title: "Restore a version of a dataset",
        description: "Makes a kept version of a dataset the current one again. It holds at once, for every session. What it \
                      replaces is kept as an earlier version. Descriptions, publication and hidden columns stay as they are.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        route: Route { method: "POST", path: "/datasets/{dataset_id}/versions/{version}/restore" },
        time: |_| std::time::Duration::from_secs(60),
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","version":"01936f2e-7c1a-7000-8000-000000000003"}"#,
        ..Info::MANAGE
    };
    type Reply = Restored;

    fn target(&self) -> String {
        format!("{} {}", self.dataset_id, self.version)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Restored> {
        let (dataset, version) = on.engines.datasets.restore(job, self.dataset_id, &self.version.to_string()).await?;
        let dataset = dataset.seen(job.pass.is_external());
        Ok(Restored {
            dataset_id: dataset.id,
            column_count: dataset.columns.len(),
            published: dataset.externally_queryable,
            name: dataset.name,
            version: version.version,
            row_count: version.row_count,
        })
    }
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteVersion {
    pub dataset_id: Id<Dataset>,
    /// As it is listed; not the current one.
    pub version: Id<Version>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted {
    pub dataset_id: Id<Dataset>,
    pub version: String,
    /// Rows of the table, or chunks of the documents, that are gone.
    pub row_count: i64,
    /// Always true.
    pub deleted: bool,
}

impl Operation for DeleteVersion {
    const INFO: Info = Info {
        name: "delete_dataset_version",
        title: "Delete a version of a dataset",
        description: "Erases an earlier version of a dataset for good: its rows or texts, and its index. The current version \
                      stays. It needs a recent sign-in. There is no way back.",
        action: Action::DeleteDatasets,
        cost: Cost::Read,
        sensitive: true,
        recorded_as: Some("admin.dataset.delete"),
        route: Route { method: "DELETE", path: "/datasets/{dataset_id}/versions/{version}" },
        time: |_| std::time::Duration::from_secs(60),
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","version":"01936f2e-7c1a-7000-8000-000000000003"}"#,
        ..Info::MANAGE
    };
    type Reply = Deleted;

    fn target(&self) -> String {
        format!("{} {}", self.dataset_id, self.version)
    }

    fn rows(reply: &Deleted) -> usize {
        usize::try_from(reply.row_count).unwrap_or_default()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Deleted> {
        let version = self.version.to_string();
        let gone = on.engines.datasets.delete_version(job, self.dataset_id, &version).await?;
        Ok(Deleted { dataset_id: gone.dataset, version: gone.version, row_count: gone.row_count, deleted: true })
    }
}
