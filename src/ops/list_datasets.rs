//! `dragoman_list_datasets`: what there is to ask about.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::base::json;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};
use crate::model::source::Dialect;

/// Datasets on one page.
const PAGE: usize = 200;
/// Bytes that the columns of a page take together, and characters of a type.
const COLUMN_BYTES: usize = 24_000;
const TYPE_CHARS: usize = 60;

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDatasets {
    /// next_cursor of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Which of them pages list; never taken from a request.
    #[serde(skip)]
    #[schemars(skip)]
    pub only: Only,
}

/// Which datasets a page lists: those to which all of this applies.
#[derive(Clone, Debug, Default)]
pub struct Only {
    /// They say it in their name, title or description, in small letters or large; empty for all.
    pub text: String,
    /// They are published, or they are not.
    pub published: Option<bool>,
    /// They are among these; empty for all.
    pub ids: BTreeSet<Id<Dataset>>,
}

impl Only {
    fn has(&self, dataset: &Dataset) -> bool {
        let text = self.text.to_lowercase();
        let says = |own: &String| own.to_lowercase().contains(&text);
        (text.is_empty() || [&dataset.name, &dataset.title, &dataset.description].into_iter().any(says))
            && self.published.is_none_or(|published| published == dataset.externally_queryable)
            && (self.ids.is_empty() || self.ids.contains(&dataset.id))
    }
}

/// One dataset in the list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    pub id: Id<Dataset>,
    /// For tables also the name to use in SQL.
    pub name: String,
    /// What people call it, where they call it otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub title: String,
    pub description: String,
    /// False where AI clients do not see it; absent otherwise.
    #[serde(skip_serializing_if = "Clone::clone")]
    #[schemars(with = "Option<bool>")]
    pub published: bool,
    pub r#type: Kind,
    /// What the files were that it was made of: csv, parquet, pdf.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub file_types: Vec<String>,
    /// For tables, the SQL to write; a query joins tables of one dialect and source only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// The remote source that holds the table's rows; absent for what the service holds itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Rows of a table (an estimate for one of a remote source), searchable chunks of documents.
    pub row_count: i64,
    pub column_count: usize,
    /// The first columns of a table, each with its type: `amount DECIMAL(10,2)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// How many more columns the table has: dragoman_get_schema shows all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_left_out: Option<usize>,
    /// RFC 3339.
    pub created_at: String,
    /// Whether dragoman_search looks into it.
    pub has_vectors: bool,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub datasets: Vec<Listed>,
    /// Datasets on this page.
    pub count: usize,
    /// Present when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Why there is nothing, where there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

const NOTHING: &str = "Nothing is published to you yet. A person who may write publishes a dataset on its page in the console, or \
                       with `dragoman import --publish`.";

impl Operation for ListDatasets {
    const INFO: Info = Info {
        name: "dragoman_list_datasets",
        title: "List datasets",
        description: "Lists the datasets that you may use, with their columns: tables for dragoman_sql, documents for \
                      dragoman_search. Then call dragoman_get_schema.",
        action: Action::ListDatasets,
        toolsets: &[Toolset::Data, Toolset::Rag],
        route: Route { method: "GET", path: "/datasets" },
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn rows(reply: &Reply) -> usize {
        reply.count
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let Self { cursor, only } = self;
        let scope = format!("{}:datasets", job.pass.org());
        let after = super::position(on, &scope, cursor.as_deref())?;
        let is_after = |dataset: &Dataset| after.as_ref().is_none_or(|after| dataset.name > *after);
        let rest = job.pass.datasets().iter().filter(|dataset| is_after(dataset) && only.has(dataset));
        // Descriptions may be long: a page ends early, so that it always fits into a reply.
        let mut room = on.config.limits.budgets.reply_bytes / 2;
        let shown = COLUMN_BYTES / rest.clone().count().clamp(1, PAGE);
        let mut datasets: Vec<Listed> = Vec::new();
        let mut next_cursor = None;
        for dataset in rest {
            let next = listed(dataset, shown);
            let size = json::size(&next).map_err(Error::internal)?;
            if let Some(last) = datasets.last()
                && (datasets.len() == PAGE || size > room)
            {
                next_cursor = Some(on.cursors.make(&scope, &last.name));
                break;
            }
            room = room.saturating_sub(size);
            datasets.push(next);
        }
        let note = (datasets.is_empty() && after.is_none()).then_some(NOTHING);
        Ok(Reply { count: datasets.len(), datasets, next_cursor, note })
    }
}

/// `room`: about how many bytes its columns may take.
fn listed(dataset: &Dataset, mut room: usize) -> Listed {
    let mut columns = Vec::new();
    for column in &dataset.columns {
        // A type can be as long as a struct has parts.
        let r#type: String = column.r#type.chars().take(TYPE_CHARS).collect();
        let cut = if r#type.len() < column.r#type.len() { "…" } else { "" };
        let next = format!("{} {type}{cut}", column.name);
        let Some(left) = room.checked_sub(next.len() + 3) else { break };
        room = left;
        columns.push(next);
    }
    Listed {
        columns_left_out: Some(dataset.columns.len() - columns.len()).filter(|left_out| *left_out > 0),
        columns,
        id: dataset.id,
        name: dataset.name.clone(),
        title: dataset.title.clone(),
        published: dataset.externally_queryable,
        description: dataset.description.clone(),
        r#type: dataset.kind,
        file_types: dataset.file_types(),
        dialect: dataset.dialect(),
        source: dataset.remote.as_ref().map(|remote| remote.source_name.clone()),
        row_count: dataset.row_count,
        column_count: dataset.columns.len(),
        created_at: rfc3339(dataset.created_at),
        has_vectors: dataset.kind == Kind::Documents,
    }
}
