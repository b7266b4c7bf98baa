//! The rows of a table page by page, for people: sorted by a column, and those that say something.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::job::Job;
use crate::engine::sql::browse::{Selection, page, statement};
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::table::{Column, RowText};

/// Rows of a page, and how far pages go: engines count to a page from the first row.
const ROWS: usize = 50;
const PAGES: u32 = 20_000;
/// Characters that are looked for.
const TEXT: usize = 200;

fn first() -> u32 {
    1
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrowseRows {
    /// A table's id.
    pub dataset_id: Id<Dataset>,
    /// The column to sort by; as they are stored when absent.
    #[serde(default)]
    pub sort: Option<String>,
    /// Whether the greatest comes first.
    #[serde(default)]
    pub descending: bool,
    /// The column to look into, where `contains` is given.
    #[serde(default)]
    pub column: Option<String>,
    /// What the value says anywhere; upper and lower case are the same.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub contains: Option<String>,
    /// From 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 20_000))]
    pub page: u32,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub columns: Vec<Column>,
    /// One array a row, in the order of the columns.
    #[schemars(with = "Vec<Vec<Value>>")]
    pub rows: Vec<RowText>,
    /// The number of the first of them, from 1.
    pub first: usize,
    /// Whether there is a page after this one.
    pub more: bool,
    /// The statement for all of these rows, in the table's dialect.
    pub sql: String,
}

impl Operation for BrowseRows {
    const INFO: Info = Info {
        name: "browse_rows",
        title: "Look through a table",
        description: "Returns a page of 50 rows of a table, sorted by a column, and those alone that say something in a \
                      column, with the SQL for all of them. For people; programs write SQL.",
        action: Action::RunSql,
        cost: Cost::Sql,
        read_only: true,
        route: Route { method: "GET", path: "/datasets/{dataset_id}/browse" },
        time: |budgets| budgets.sql_time,
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","sort":"amount","descending":true,"page":2}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        let sort = self.sort.as_ref().map(|sort| format!(" sort {sort}")).unwrap_or_default();
        let contains = self.column.as_ref().map(|column| format!(" column {column}")).unwrap_or_default();
        format!("{}{sort}{contains} page {}", self.dataset_id, self.page)
    }

    fn rows(reply: &Reply) -> usize {
        reply.rows.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        super::for_people(job)?;
        let dataset = job.pass.dataset(self.dataset_id)?;
        if dataset.kind != Kind::Table {
            return Err(Error::invalid("dataset_id", "This dataset holds documents; only tables have rows."));
        }
        if !(1..=PAGES).contains(&self.page) {
            let message = format!("Pages go from 1 to {PAGES}. Look for something, or write SQL.");
            return Err(Error::invalid("page", message));
        }
        let contains = self.contains.as_deref().filter(|text| !text.is_empty());
        if contains.is_some_and(|text| text.chars().count() > TEXT) {
            return Err(Error::invalid("contains", format!("At most {TEXT} characters are looked for.")));
        }
        let selection = Selection {
            contains: match (contains, self.column.as_deref()) {
                (None, _) => None,
                (Some(text), Some(name)) => Some((column(dataset, "column", name)?, text)),
                (Some(_), None) => return Err(Error::invalid("column", "Name the column to look into.")),
            },
            sort: match self.sort.as_deref() {
                Some(name) => Some((column(dataset, "sort", name)?, self.descending)),
                None => None,
            },
        };
        let sql = statement(dataset, &selection);
        let offset = (self.page as usize - 1) * ROWS;
        // Its length is ours and not the caller's.
        let budget = Budgets { sql_chars: usize::MAX, sql_rows: ROWS + 1, ..job.budget.clone() };
        let answer = on.engines.sql.query_text(&job.within(&budget), &page(&sql, ROWS + 1, offset)).await?;
        let mut rows = answer.table.rows;
        let more = rows.len() > ROWS || answer.table.truncated;
        rows.truncate(ROWS);
        Ok(Reply { columns: answer.table.columns, rows, first: offset + 1, more, sql })
    }
}

/// A column of the table by its name.
fn column<'d>(dataset: &'d Dataset, argument: &str, name: &str) -> Result<&'d str> {
    let found = dataset.columns.iter().find(|column| column.name == name);
    let missing = || {
        let names: Vec<&str> = dataset.columns.iter().take(20).map(|column| column.name.as_str()).collect();
        let message = format!("There is no column {name:?} in {}. It has: {}.", dataset.name, names.join(", "));
        Error::invalid(argument, message).with(json!({ "field": argument, "columns": names }))
    };
    found.map(|column| column.name.as_str()).ok_or_else(missing)
}
