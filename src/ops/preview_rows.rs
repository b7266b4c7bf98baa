//! `dragoman_preview_rows`: the first rows of a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::table::{Column, RowText};

fn ten() -> u32 {
    10
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewRows {
    /// A table's id.
    pub dataset_id: Id<Dataset>,
    /// Rows to return.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    pub limit: u32,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub columns: Vec<Column>,
    /// One array a row, in the order of the columns.
    #[schemars(with = "Vec<Vec<Value>>")]
    pub rows: Vec<RowText>,
    pub row_count: usize,
    /// Whether the table has more rows than these.
    pub truncated: bool,
}

impl Operation for PreviewRows {
    const INFO: Info = Info {
        name: "dragoman_preview_rows",
        title: "Preview a table's rows",
        description: "Returns the first rows of a table as they are stored, to see what values look like. \
                      For anything computed use dragoman_sql.",
        action: Action::ReadSchema,
        toolsets: &[Toolset::Data],
        view: Some("ui://dragoman/table.html"),
        route: Route { method: "GET", path: "/datasets/{dataset_id}/rows" },
        time: |budgets| budgets.sql_time,
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","limit":10}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const LARGE: bool = true;

    fn want(&self) -> Want {
        Want::One(self.dataset_id)
    }

    fn target(&self) -> String {
        self.dataset_id.to_string()
    }

    fn rows(reply: &Reply) -> usize {
        reply.row_count
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        if !(1..=50).contains(&self.limit) {
            return Err(Error::invalid("limit", "limit is a number from 1 to 50."));
        }
        let dataset = job.pass.dataset(self.dataset_id)?;
        if dataset.kind != Kind::Table {
            return Err(Error::invalid(
                "dataset_id",
                "This dataset holds documents. Look into it with dragoman_search.",
            ));
        }
        let table = on.engines.sql.preview(job, dataset, self.limit as usize).await?;
        Ok(Reply { row_count: table.rows.len(), columns: table.columns, rows: table.rows, truncated: table.truncated })
    }
}
