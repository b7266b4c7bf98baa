//! `dragoman_sql`: one read-only query of the caller's own making.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::whole_millis;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::sql::{Facts, Page, gone};
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::source::Dialect;
use crate::model::table::{Column, RowText};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sql {
    /// One SELECT statement.
    #[schemars(length(min = 1, max = 4096))]
    pub sql: String,
    /// Only this table can be used.
    #[serde(default)]
    pub dataset_id: Option<Id<Dataset>>,
    /// next_cursor of the reply before, with the same sql: its next rows.
    #[serde(default)]
    pub cursor: Option<String>,
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
    #[schemars(with = "Vec<Vec<Value>>")]
    pub rows: Vec<RowText>,
    /// Rows in this reply.
    pub row_count: usize,
    /// Whether there were more rows than max_rows (or than can be kept): aggregate, filter or LIMIT.
    pub truncated: bool,
    /// Rows of the whole result, where it has several pages and was not truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rows: Option<usize>,
    /// Present when the rows are more bytes than one reply holds: call again with it and the same sql.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    pub execution_ms: u64,
    /// The SQL of the engine that ran it, where that is not DuckDB's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Where a limit cut the result: which limits hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits_applied: Option<LimitsApplied>,
}

impl Operation for Sql {
    const INFO: Info = Info {
        name: "dragoman_sql",
        title: "Run a SQL query",
        description: "Runs one read-only SELECT (also WITH, FROM-first, PIVOT, DESCRIBE, SUMMARIZE) over tables of \
                      dragoman_list_datasets, by name. The dialect is DuckDB's, unless the list says PostgreSQL's or \
                      ClickHouse's of a table; only tables of the same source can be joined. In DuckDB times are in \
                      UTC, and lambdas are lambda x: x + 1. Aggregate, do not fetch rows: at most 500 come back \
                      (truncated: there were more); a large reply goes on with next_cursor.",
        action: Action::RunSql,
        cost: Cost::Sql,
        toolsets: &[Toolset::Data],
        view: Some("ui://dragoman/table.html"),
        route: Route { method: "POST", path: "/sql" },
        time: |budgets| budgets.sql_time,
        example: r#"{"sql":"SELECT carrier, count(*) AS flights FROM flights GROUP BY carrier ORDER BY flights DESC"}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const LARGE: bool = true;

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
        let budgets = &on.config.limits.budgets;
        let results = &on.engines.results;
        // A cursor is worth something only to whom it was given.
        let scope = format!("{}:sql:{}", job.pass.org(), job.pass.credential());
        let Page { facts, rows, next } = match &self.cursor {
            None => {
                let answer = on.engines.sql.query_text(job, &self.sql).await?;
                results.first(job.pass, &self.sql, answer, budgets.reply_bytes)?
            }
            Some(cursor) => {
                let position = on.cursors.read(&scope, cursor).ok_or_else(gone)?;
                results.next(job.pass, &self.sql, &position, budgets.reply_bytes)?
            }
        };
        let Facts { columns, truncated, rows: total, execution_ms, dialect } = facts;
        let limits = || LimitsApplied {
            max_rows: budgets.sql_rows,
            max_runtime_ms: whole_millis(budgets.sql_time),
            max_memory_mb: budgets.sql_memory_mb,
        };
        Ok(Reply {
            row_count: rows.len(),
            total_rows: (!truncated && total > rows.len()).then_some(total),
            limits_applied: truncated.then(limits),
            columns,
            rows,
            truncated,
            next_cursor: next.map(|position| on.cursors.make(&scope, &position)),
            execution_ms,
            dialect: (dialect != Dialect::DuckDb).then_some(dialect),
        })
    }
}
