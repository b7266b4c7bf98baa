//! Erasure of a dataset, with everything that came from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::Action;
use crate::model::dataset::Dataset;
use crate::model::error::Result;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteDataset {
    pub dataset_id: Id<Dataset>,
    /// The dataset's name, to confirm what is deleted.
    pub name: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    pub name: String,
    /// Rows of the table, or chunks of the documents, that are gone.
    pub row_count: i64,
    /// Always true.
    pub deleted: bool,
}

impl Operation for DeleteDataset {
    const INFO: Info = Info {
        name: "delete_dataset",
        title: "Delete a dataset",
        description: "Erases a dataset for good: its rows or texts, vectors, figures, results kept for later pages, and how questions over \
                      it were answered. What people wrote into ontologies stays. \
                      It needs the dataset's name besides its id, and a recent sign-in. There is no way back.",
        action: Action::DeleteDatasets,
        cost: Cost::Read,
        sensitive: true,
        recorded_as: Some("admin.dataset.delete"),
        route: Route { method: "DELETE", path: "/datasets/{dataset_id}" },
        time: |_| std::time::Duration::from_secs(60),
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","name":"sales"}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;

    fn target(&self) -> String {
        format!("{} {}", self.dataset_id, self.name)
    }

    fn rows(reply: &Reply) -> usize {
        usize::try_from(reply.row_count).unwrap_or_default()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let gone = on.engines.datasets.delete(job, self.dataset_id, &self.name).await?;
        Ok(Reply { dataset_id: gone.id, name: gone.name, row_count: gone.row_count, deleted: true })
    }
}
