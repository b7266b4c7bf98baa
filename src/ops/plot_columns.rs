//! How the values of a table's columns lie between the least and the greatest: small pictures beside the figures of a
//! profile, for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::profile_dataset::ProfileDataset;
use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::job::Job;
use crate::engine::sql::plots::{BINS, Span, spans, statement};
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};

/// Columns with a picture: each is one look at all of its values.
const COLUMNS: usize = 40;

/// Arguments: those of the page of the profile that the pictures belong to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlotColumns {
    /// A table's id.
    pub dataset_id: Id<Dataset>,
    /// next_cursor of a page of dragoman_profile_dataset.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Values of one column in ranges of equal width.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Plot {
    pub column: String,
    /// The edges of the ranges, as texts; one more than there are counts. A value on an edge belongs to the range above.
    pub edges: Vec<String>,
    pub counts: Vec<i64>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Columns of numbers, days and moments; none that likely holds personal data.
    pub plots: Vec<Plot>,
}

impl Operation for PlotColumns {
    const INFO: Info = Info {
        name: "plot_columns",
        title: "Plot the columns of a table",
        description: "Counts the values of each column of numbers or times in 20 ranges of equal width. For people, beside \
                      the figures of dragoman_profile_dataset.",
        action: Action::ReadSchema,
        cost: Cost::Read,
        read_only: true,
        route: Route { method: "GET", path: "/datasets/{dataset_id}/plots" },
        time: |budgets| budgets.sql_time * 3,
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001"}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.dataset_id.to_string()
    }

    fn rows(reply: &Reply) -> usize {
        reply.plots.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        super::for_people(job)?;
        let dataset = job.pass.dataset(self.dataset_id)?;
        let profile = ProfileDataset { dataset_id: self.dataset_id, cursor: self.cursor }.run(on, job).await?;
        let spans: Vec<Span> = spans(&profile.columns).into_iter().take(COLUMNS).collect();
        if spans.is_empty() {
            return Ok(Reply { plots: Vec::new() });
        }
        let budget = Budgets { sql_chars: usize::MAX, sql_rows: spans.len() * BINS, ..job.budget.clone() };
        let answer = on.engines.sql.query(&job.within(&budget), &statement(&dataset.name, &spans)).await?;
        let mut plots: Vec<Plot> = spans
            .iter()
            .map(|span| Plot { column: span.column.clone(), edges: span.edges(), counts: vec![0; BINS] })
            .collect();
        for row in &answer.table.rows {
            let [plot, bin, count] = row.as_slice() else { continue };
            let place = |value: &Value| value.as_u64().and_then(|at| usize::try_from(at).ok());
            let plot = place(plot).and_then(|at| plots.get_mut(at));
            let bin = plot.and_then(|plot| plot.counts.get_mut(place(bin)?));
            let bin = bin.ok_or_else(|| Error::internal("a count of no range"))?;
            *bin = count.as_i64().unwrap_or_default();
        }
        Ok(Reply { plots })
    }
}
