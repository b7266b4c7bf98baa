//! `dragoman_profile_dataset`: what the columns of a table hold, in figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::base::json;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::profile::ColumnProfile;

/// Bytes of a reply besides its columns.
const ENVELOPE: usize = 4_096;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileDataset {
    /// A table's id.
    pub dataset_id: Id<Dataset>,
    /// next_cursor of the page before, for tables of very many columns.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub dataset_id: Id<Dataset>,
    /// The name to use in SQL.
    pub table_name: String,
    pub row_count: i64,
    /// Columns of the table, on all pages together.
    pub column_count: usize,
    /// Whether a figure of these columns is an estimate or of a sample; each column says which.
    pub approximate: bool,
    /// Rows of the sample, where figures are of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_rows: Option<i64>,
    pub columns: Vec<ColumnProfile>,
    /// Present when columns likely hold personal data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Present when there are more columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for ProfileDataset {
    const INFO: Info = Info {
        name: "dragoman_profile_dataset",
        title: "Profile a table",
        description: "Nulls, distinct values, range, mean, median and most frequent values of each column, and which \
                      columns likely hold personal data (their values are masked). Call it to judge data before \
                      analysing them. The reply says which figures are estimates.",
        action: Action::ReadSchema,
        toolsets: &[Toolset::Data],
        route: Route { method: "GET", path: "/datasets/{dataset_id}/profile" },
        time: |budgets| budgets.sql_time * 3,
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001"}"#,
        ..Info::READ
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
        let version = dataset.version.as_deref().unwrap_or_default();
        let scope = format!("{}:profile:{}:{version}", job.pass.org(), dataset.id);
        let from = super::position(on, &scope, self.cursor.as_deref())?;
        let from: usize = from.map_or(Ok(0), |at| at.parse()).map_err(Error::internal)?;
        let profile = on.engines.sql.profile(job, dataset).await?;

        let mut room = on.config.limits.budgets.reply_bytes.saturating_sub(ENVELOPE);
        let mut columns: Vec<ColumnProfile> = Vec::new();
        for column in profile.columns.iter().skip(from) {
            let size = json::size(column).map_err(Error::internal)? + 1;
            if size > room && !columns.is_empty() {
                break;
            }
            room = room.saturating_sub(size);
            columns.push(column.clone());
        }
        let next = from + columns.len();
        let next_cursor = (next < profile.columns.len()).then(|| on.cursors.make(&scope, &next.to_string()));
        Ok(Reply {
            dataset_id: dataset.id,
            table_name: dataset.name.clone(),
            row_count: profile.row_count,
            column_count: profile.columns.len(),
            approximate: columns.iter().any(|column| !column.approximate.is_empty()),
            sampled_rows: profile.sampled_rows,
            note: note(&columns),
            columns,
            next_cursor,
        })
    }
}

fn note(columns: &[ColumnProfile]) -> Option<String> {
    let personal = columns.iter().filter(|column| column.likely_personal_data.is_some()).count();
    (personal > 0).then(|| {
        let hold = if personal == 1 { "holds" } else { "hold" };
        format!(
            "{personal} of these columns likely {hold} personal data: such values are masked here. It is a likelihood \
             by names and shapes, and columns that are not marked can be personal too."
        )
    })
}
