//! `rag_fetch_from_source`: rows of tables as they are now, by their primary keys and in named columns. What goes wrong
//! with one leaves the others.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Stats, TOOL, checked_ids, room};
use crate::base::id::Id;
use crate::base::json;
use crate::base::nearest::nearest;
use crate::config::Budgets;
use crate::engine::job::Job;
use crate::engine::ontology::about;
use crate::engine::sql::browse::by_key;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::audit::clip;
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::Document;
use crate::model::error::{Code, Error, Result};
use crate::model::sync;

/// Columns in one call.
const COLUMNS: usize = 100;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchFromSource {
    /// Each a table's name, a colon and the primary key: posts:12345, or lines:{"order":7,"line":2}; or the doc_id of a
    /// document that is kept from a table.
    #[schemars(length(min = 1, max = 50))]
    pub doc_ids: Vec<String>,
    /// The columns that are wanted; no other is read.
    #[schemars(length(min = 1, max = 100))]
    pub columns: Vec<String>,
    #[serde(default)]
    pub limits: Limits,
}

/// How much is wanted at most.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    #[schemars(range(min = 1, max = 50))]
    pub max_rows: Option<u32>,
    /// Of the rows as JSON.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
}

/// One row, or why there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fetched {
    /// As it was asked for.
    pub doc_id: String,
    /// The table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// The engine that has it: duckdb, postgres or clickhouse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
}

/// Why a row could not be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Problem {
    pub code: String,
    pub message: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// One for each id, in the order of the ids.
    pub rows: Vec<Fetched>,
    /// Whether the limits cut some off.
    pub truncated: bool,
    pub stats: Stats,
}

impl Operation for FetchFromSource {
    const INFO: Info = Info {
        name: "rag_fetch_from_source",
        title: "Read rows by key",
        description: "Returns rows of tables as they are now, by primary key and in the columns that you name. For anything \
                      else about tables use dragoman_sql.",
        action: Action::RunSql,
        cost: Cost::Sql,
        route: Route { method: "POST", path: "/rag/fetch_from_source" },
        time: |budgets| budgets.sql_time,
        example: r#"{"doc_ids":["posts:12345"],"columns":["Id","Title"],"limits":{"max_rows":10,"max_bytes":200000}}"#,
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        format!("{} ({})", self.doc_ids.join(" "), self.columns.join(", "))
    }

    fn rows(reply: &Reply) -> usize {
        reply.rows.iter().filter(|fetched| fetched.row.is_some()).count()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let began = Instant::now();
        let ids = checked_ids("doc_ids", &self.doc_ids)?;
        if self.columns.is_empty() || self.columns.len() > COLUMNS {
            let message = format!("Name 1 to {COLUMNS} columns. dragoman_get_schema shows those of a table.");
            return Err(Error::invalid("columns", message));
        }
        let most = self.limits.max_rows.map_or(ids.len(), |rows| rows as usize);
        if most == 0 {
            return Err(Error::invalid("limits", "limits.max_rows is a number from 1 to 50."));
        }
        let bytes = self.limits.max_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut left = bytes.min(room(job));
        let mut truncated = ids.len() > most;
        let mut asked = Vec::new();
        for id in ids.into_iter().take(most) {
            asked.push(Asked::read(on, job, id).await?);
        }
        let tables = asked.iter().filter_map(|asked| Some(asked.row.as_ref().ok()?.table)).collect();
        let keys = keys(on, job, tables).await?;
        let mut rows = Vec::new();
        for asked in asked {
            job.check()?;
            let fetched = self.fetch(on, job, &keys, asked).await?;
            let size = json::size(&fetched).map_err(Error::internal)?;
            if size > left {
                truncated = true;
                break;
            }
            left -= size;
            rows.push(fetched);
        }
        Ok(Reply { rows, truncated, stats: Stats::since(began) })
    }
}

/// Tables with the columns of their primary keys; none where it is not known.
type Keys<'d> = Vec<(&'d Dataset, Vec<String>)>;

async fn keys<'d>(on: &Parts, job: &Job<'d>, mut tables: Vec<&'d Dataset>) -> Result<Keys<'d>> {
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    tables.dedup_by_key(|table| table.id);
    // A source that is down does not hide the tables of the others: what it declares is missing, and is said then.
    let (declared, _notes) = about::declared_of(&on.engines.sources, job, &tables).await?;
    let visible = on.engines.library.list(job).await?;
    let key = |table: &'d Dataset| {
        let said = about::said(table, job.pass.datasets(), declared.get(&table.id), &visible);
        (table, said.primary_key)
    };
    Ok(tables.into_iter().map(key).collect())
}

/// A table that the caller may see, by its name.
fn table<'d>(job: &Job<'d>, name: &str) -> Option<&'d Dataset> {
    let tables = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
    tables.into_iter().find(|dataset| dataset.name.eq_ignore_ascii_case(name.trim()))
}

/// An id that is asked for, and the row that it names, or why it names none.
struct Asked<'d, 'i> {
    id: &'i str,
    row: Result<Row<'d>>,
}

struct Row<'d> {
    table: &'d Dataset,
    value: String,
    /// The column of the value, where it is not for the table to say which its key is.
    key: Option<String>,
}

impl<'d, 'i> Asked<'d, 'i> {
    /// # Errors
    /// The database fails.
    async fn read(on: &Parts, job: &Job<'d>, id: &'i str) -> Result<Self> {
        if let Some((name, value)) = id.split_once(':')
            && let Some(table) = table(job, name)
        {
            return Ok(Self { id, row: Ok(Row { table, value: value.to_owned(), key: None }) });
        }
        let Ok(document) = id.parse::<Id<Document>>() else { return Ok(Self { id, row: Err(unknown(job, id)) }) };
        let row = match on.engines.catalog.document(job, document).await {
            Ok(document) => of_document(on, job, &document).await?,
            Err(error) if error.code == Code::DocumentNotFound => Err(error),
            Err(error) => return Err(error),
        };
        Ok(Self { id, row })
    }
}

/// The row that a document is kept from.
async fn of_document<'d>(on: &Parts, job: &Job<'d>, document: &Document) -> Result<Result<Row<'d>>> {
    let syncs = on.engines.syncs.list(job.pass.org()).await?;
    let dataset = job.pass.dataset(document.dataset)?;
    let row = sync::row_of(&syncs, &dataset.name, &document.source_file).and_then(|(mapping, value)| {
        let key = Some(mapping.key.clone());
        Some(Row { table: table(job, &mapping.table)?, value: value.to_owned(), key })
    });
    Ok(row.ok_or_else(|| {
        let message = format!(
            "This document was imported from {}, and has no row in a table that you may see. Read it with rag_get_docs.",
            document.source_file
        );
        Error::invalid("doc_ids", message)
    }))
}

impl FetchFromSource {
    /// # Errors
    /// Only what ends the whole call: its time is over.
    async fn fetch(&self, on: &Parts, job: &Job<'_>, keys: &Keys<'_>, asked: Asked<'_, '_>) -> Result<Fetched> {
        let table = asked.row.as_ref().ok().map(|row| row.table);
        let found = match asked.row {
            Ok(Row { table, value, key: Some(key) }) => self.row(on, job, table, &[key], &value).await,
            Ok(Row { table, value, key: None }) => {
                let key = keys.iter().find(|(known, _)| known.id == table.id).map(|(_, key)| key.as_slice());
                self.row(on, job, table, key.unwrap_or_default(), &value).await
            }
            Err(error) => Err(error),
        };
        let (row, error) = match found {
            Ok(row) => (Some(row), None),
            Err(error) if error.code == Code::QueryTimeout => return Err(error),
            Err(error) => (None, Some(Problem { code: error.code.info().name.to_owned(), message: error.message })),
        };
        Ok(Fetched {
            doc_id: clip(asked.id),
            source_name: table.map(|table| table.name.clone()),
            backend_type: table.map(|table| table.remote.as_ref().map_or("duckdb", |remote| remote.engine.name())),
            row,
            error,
        })
    }

    async fn row(
        &self,
        on: &Parts,
        job: &Job<'_>,
        table: &Dataset,
        key: &[String],
        value: &str,
    ) -> Result<Map<String, Value>> {
        let values = values(table, key, value)?;
        let columns = self.columns.iter().map(|name| column(table, name)).collect::<Result<Vec<&str>>>()?;
        let pairs: Vec<(&str, &str)> = key.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
        // Its length is ours and not the caller's. Two rows of one key would be no key.
        let budget = Budgets { sql_chars: usize::MAX, sql_rows: 2, ..job.budget.clone() };
        let answer = on.engines.sql.query(&job.within(&budget), &by_key(table, &columns, &pairs)).await;
        let answer = answer.map_err(|error| match error.code {
            // What does not become a value of the key's type is no key.
            Code::InvalidArgument | Code::ForbiddenSql => no_row(table, value),
            _ => error,
        })?;
        match <[Vec<Value>; 1]>::try_from(answer.table.rows) {
            Ok([row]) => Ok(columns.into_iter().map(str::to_owned).zip(row).collect()),
            Err(rows) if rows.is_empty() => Err(no_row(table, value)),
            Err(_) => {
                let message = format!("Several rows of {} have this key: it is not one.", table.name);
                Err(Error::invalid("doc_ids", message))
            }
        }
    }
}

fn no_row(table: &Dataset, value: &str) -> Error {
    Error::new(Code::DocumentNotFound, format!("There is no row {} in {}.", clip(value), table.name))
}

/// Why an id names no row of a table.
fn unknown(job: &Job<'_>, id: &str) -> Error {
    let Some((name, _)) = id.split_once(':') else {
        let message = "An id is a table's name, a colon and the primary key: posts:12345; or the doc_id of a document.";
        return Error::invalid("doc_ids", message);
    };
    let tables = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
    let near = nearest(name, tables.map(|table| table.name.as_str()));
    let mut error = Error::dataset_not_found();
    if let Some(near) = near {
        error.message = format!("There is no table {}. Did you mean {near}?", clip(name));
    }
    error
}

/// A column of the table, as the table spells it: what it does not show is not there.
fn column<'d>(table: &'d Dataset, name: &str) -> Result<&'d str> {
    let names = || table.columns.iter().map(|column| column.name.as_str());
    let found = names().find(|known| *known == name).or_else(|| names().find(|known| known.eq_ignore_ascii_case(name)));
    found.ok_or_else(|| {
        let hint = nearest(name, names()).map_or_else(String::new, |near| format!(" Did you mean {near}?"));
        Error::invalid("columns", format!("There is no column {} in {}.{hint}", clip(name), table.name))
    })
}

/// The values of a key's columns, as texts that the engine reads in the columns' own types.
fn values(table: &Dataset, key: &[String], given: &str) -> Result<Vec<String>> {
    let wrong = |message: String| Err(Error::invalid("doc_ids", message));
    let name = &table.name;
    match key {
        [] => wrong(format!(
            "No primary key is known of {name}: its database declares none, and no ontology gives it a primary_key."
        )),
        [_] if !given.starts_with('{') && !given.is_empty() => Ok(vec![given.to_owned()]),
        columns => {
            let members: Map<String, Value> = serde_json::from_str(given).unwrap_or_default();
            let value = |column: &String| match members.get(column)? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                Value::Bool(truth) => Some(truth.to_string()),
                _ => None,
            };
            match columns.iter().map(value).collect::<Option<Vec<String>>>() {
                Some(values) if members.len() == columns.len() => Ok(values),
                _ => {
                    let parts: Vec<String> = columns.iter().map(|column| format!("{column:?}:…")).collect();
                    wrong(format!("A key of {name} is written {name}:{{{}}}.", parts.join(",")))
                }
            }
        }
    }
}
