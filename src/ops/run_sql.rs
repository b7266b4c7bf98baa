//! One read-only query of a person's own making, with what a page shows of it: rows, the tables behind them, a chart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::chart::{Theme, plain, svg};
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::error::{Error, Result};
use crate::model::source::Dialect;
use crate::model::table::{Column, RowText};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSql {
    /// One SELECT statement.
    #[schemars(length(min = 1, max = 4096))]
    pub sql: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub columns: Vec<Column>,
    /// One array a row, in the order of the columns; as dragoman_sql writes them.
    #[schemars(with = "Vec<Vec<Value>>")]
    pub rows: Vec<RowText>,
    pub row_count: usize,
    /// Whether there were more rows than may come back.
    pub truncated: bool,
    pub execution_ms: u64,
    /// The tables that the statement reads, by name.
    pub tables: Vec<String>,
    pub dialect: Dialect,
    /// A picture (SVG), where rows of this form have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
}

impl Operation for RunSql {
    const INFO: Info = Info {
        name: "run_sql",
        title: "Run a SQL query and draw it",
        description: "Runs one read-only SELECT as dragoman_sql does, and adds the tables that it read and a chart where \
                      its rows have one. For people.",
        action: Action::RunSql,
        cost: Cost::Sql,
        read_only: true,
        route: Route { method: "POST", path: "/sql" },
        time: |budgets| budgets.sql_time,
        example: r#"{"sql":"SELECT carrier, count(*) AS flights FROM flights GROUP BY carrier"}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.sql.clone()
    }

    fn rows(reply: &Reply) -> usize {
        reply.row_count
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        super::for_people(job)?;
        let answer = on.engines.sql.query_text(job, &self.sql).await?;
        let table = answer.table;
        let values = table.rows.iter().map(|row| serde_json::from_str(row.get())).collect::<Result<Vec<_>, _>>();
        let values: Vec<Vec<Value>> = values.map_err(Error::internal)?;
        let chart = plain(&table.columns, &values, table.truncated);
        Ok(Reply {
            row_count: table.rows.len(),
            columns: table.columns,
            rows: table.rows,
            truncated: table.truncated,
            execution_ms: answer.execution_ms,
            tables: answer.used,
            dialect: answer.dialect,
            svg: chart.map(|spec| svg(&spec, Theme::Auto)),
        })
    }
}
