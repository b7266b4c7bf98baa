//! `dragoman_sql`: one read-only query of the caller's own making.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::table::Column;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sql {
    /// One SELECT statement in DuckDB's dialect over the tables of dragoman_list_datasets, by name.
    #[schemars(length(min = 1, max = 4096))]
    pub sql: String,
    /// When given, only this table can be used.
    #[serde(default)]
    pub dataset_id: Option<Id<Dataset>>,
}

/// The limits under which the query ran.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LimitsApplied {
    pub max_rows: usize,
    pub max_runtime_ms: u64,
    pub max_memory_mb: u64,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub columns: Vec<Column>,
    /// One array a row, in the order of the columns. Decimals, dates, times, intervals, NaN, infinities and whole
    /// numbers beyond 2^53 are texts; times with a zone are in UTC and end with Z; binary values are base64; maps with
    /// keys that are no texts are lists of {key, value}.
    pub rows: Vec<Vec<Value>>,
    /// Rows in this reply.
    pub row_count: usize,
    /// Whether there were more rows than max_rows (or than fit into a reply): aggregate, filter or LIMIT.
    pub truncated: bool,
    pub execution_ms: u64,
    pub limits_applied: LimitsApplied,
}

impl Operation for Sql {
    const INFO: Info = Info {
        name: "dragoman_sql",
        title: "Run a SQL query",
        description: "Runs one read-only SELECT (also WITH, FROM-first, DESCRIBE, SUMMARIZE) in DuckDB's dialect over \
                      the tables of dragoman_list_datasets, joined freely by their names. No files, no settings, no \
                      changes. Times are in UTC; lambdas are written lambda x: x + 1; PIVOT needs an IN list. Aggregate, do not fetch \
                      rows: at most 500 rows come back, and truncated says whether there were more.",
        action: Action::RunSql,
        cost: Cost::Sql,
        read_only: true,
        sensitive: false,
        recorded_as: None,
        surface: Surface::Tool,
        route: Route { method: "POST", path: "/sql" },
        time: |budgets| budgets.sql_time,
        example: r#"{"sql":"SELECT carrier, count(*) AS flights FROM flights GROUP BY carrier ORDER BY flights DESC"}"#,
    };
    type Reply = Reply;

    fn want(&self) -> Want {
        self.dataset_id.map_or(Want::All, Want::One)
    }

    fn target(&self) -> String {
        self.sql.clone()
    }

    fn rows(reply: &Reply) -> usize {
        reply.row_count
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        if let Some(id) = self.dataset_id
            && job.pass.dataset(id)?.kind != Kind::Table
        {
            return Err(Error::invalid(
                "dataset_id",
                "This dataset holds documents. Look into it with dragoman_search.",
            ));
        }
        let answer = on.engines.sql.query(job, &self.sql).await?;
        let budgets = &on.config.limits.budgets;
        Ok(Reply {
            row_count: answer.table.rows.len(),
            columns: answer.table.columns,
            rows: answer.table.rows,
            truncated: answer.table.truncated,
            execution_ms: answer.execution_ms,
            limits_applied: LimitsApplied {
                max_rows: budgets.sql_rows,
                max_runtime_ms: u64::try_from(budgets.sql_time.as_millis()).unwrap_or(u64::MAX),
                max_memory_mb: budgets.sql_memory_mb,
            },
        })
    }
}
