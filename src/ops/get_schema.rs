//! `dragoman_get_schema`: the columns of a table, with types and examples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::{Action, Want};
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::Result;
use crate::model::source::Dialect;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSchema {
    /// A dataset's id, from dragoman_list_datasets.
    pub dataset_id: Id<Dataset>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    /// The name to use in SQL; for documents the dataset's name.
    pub table_name: String,
    pub r#type: Kind,
    /// For tables, the SQL to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// The remote source that holds the table's rows: only its own tables can be joined with this one. Absent for what
    /// the service holds itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub description: String,
    pub row_count: i64,
    /// Empty for documents: use dragoman_search.
    pub columns: Vec<ColumnInfo>,
}

impl Operation for GetSchema {
    const INFO: Info = Info {
        name: "dragoman_get_schema",
        title: "Get a dataset's schema",
        description: "Returns a table's name for SQL, its columns with types and sample values, and its row count. \
                      Call it before writing SQL, so that names and types are right.",
        action: Action::ReadSchema,
        cost: Cost::Read,
        read_only: true,
        sensitive: false,
        recorded_as: None,
        surface: Surface::Tool,
        view: None,
        route: Route { method: "GET", path: "/datasets/{dataset_id}/schema" },
        time: super::quick,
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001"}"#,
    };
    type Reply = Reply;

    fn want(&self) -> Want {
        Want::One(self.dataset_id)
    }

    fn target(&self) -> String {
        self.dataset_id.to_string()
    }

    fn rows(reply: &Reply) -> usize {
        reply.columns.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let dataset = job.pass.dataset(self.dataset_id)?;
        Ok(Reply {
            dataset_id: dataset.id,
            table_name: dataset.name.clone(),
            r#type: dataset.kind,
            dialect: dataset.dialect(),
            source: dataset.remote.as_ref().map(|remote| remote.source_name.clone()),
            description: dataset.description.clone(),
            row_count: dataset.row_count,
            columns: super::shown(on, &dataset.columns)?,
        })
    }
}
