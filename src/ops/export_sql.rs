//! Rows of a query as a file of comma-separated values (RFC 4180), for people who take them elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::csv::cell;
use crate::config::Budgets;
use crate::engine::agent::compiler::MAX_BYTES;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::error::{Error, Result};

/// Rows of a file, and bytes of their JSON.
const ROWS: usize = 100_000;
const BYTES: usize = 8 << 20;
/// How long the query may take at least: it reads more than one whose rows a model reads.
const SECONDS: u64 = 60;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportSql {
    /// One SELECT statement.
    #[schemars(length(min = 1, max = 4096))]
    pub sql: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// RFC 4180, with a line of names. NULL is empty, an empty text is `""`.
    pub csv: String,
    pub row_count: usize,
    /// Whether there were more rows than a file has: 100,000, or 8 MiB.
    pub truncated: bool,
}

impl Operation for ExportSql {
    const INFO: Info = Info {
        name: "export_sql",
        title: "Run a SQL query into a CSV file",
        description: "Runs one read-only SELECT as dragoman_sql does, and returns its rows as CSV: at most 100,000. For \
                      people and programs that take rows elsewhere; not for models.",
        action: Action::RunSql,
        cost: Cost::Sql,
        read_only: true,
        route: Route { method: "POST", path: "/sql/csv" },
        time: |budgets| budgets.sql_time.max(std::time::Duration::from_secs(SECONDS)),
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
        let budget = Budgets {
            sql_rows: ROWS,
            reply_bytes: BYTES,
            // The same for each: a worker gives no more than the query that it began with.
            sql_time: (Self::INFO.time)(job.budget),
            // Statements that `browse_rows` and answers wrote are longer than those of people.
            sql_chars: MAX_BYTES,
            ..job.budget.clone()
        };
        let answer = on.engines.sql.query_text(&job.within(&budget), &self.sql).await?;
        let names: Vec<String> = answer.table.columns.iter().map(|column| cell(&column.name)).collect();
        let mut csv = names.join(",") + "\r\n";
        for row in &answer.table.rows {
            let values: Vec<Value> = serde_json::from_str(row.get()).map_err(Error::internal)?;
            let cells: Vec<String> = values.iter().map(written).collect();
            csv.push_str(&cells.join(","));
            csv.push_str("\r\n");
        }
        Ok(Reply { csv, row_count: answer.table.rows.len(), truncated: answer.table.truncated })
    }
}

/// As it is stored: what begins like a formula stays what it was, for who reads it back.
fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.is_empty() => "\"\"".into(),
        Value::String(text) => cell(text),
        other => cell(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_so_that_they_can_be_read_back() {
        for (value, expected) in [
            (json!(null), ""),
            (json!(""), "\"\""),
            (json!("a,b"), "\"a,b\""),
            (json!("say \"hi\""), "\"say \"\"hi\"\"\""),
            (json!(-1.5), "-1.5"),
            (json!("=1+1"), "=1+1"),
            (json!([1, "x"]), "\"[1,\"\"x\"\"]\""),
        ] {
            assert_eq!(written(&value), expected);
        }
    }
}
