//! Publication: whether external clients may see a dataset.

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
pub struct Publish {
    pub dataset_id: Id<Dataset>,
    /// `true` publishes, `false` withdraws.
    pub externally_queryable: bool,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    pub externally_queryable: bool,
}

impl Operation for Publish {
    const INFO: Info = Info {
        name: "publish_dataset",
        title: "Publish or withdraw a dataset",
        description: "Says whether external clients may see a dataset. It holds at once, for every session.",
        action: Action::WriteDatasets,
        cost: Cost::Read,
        route: Route { method: "PATCH", path: "/datasets/{dataset_id}" },
        example: r#"{"externally_queryable":true}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;

    fn target(&self) -> String {
        format!("{} {}", self.dataset_id, self.externally_queryable)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        on.engines.datasets.publish(job, self.dataset_id, self.externally_queryable).await?;
        Ok(Reply { dataset_id: self.dataset_id, externally_queryable: self.externally_queryable })
    }
}
