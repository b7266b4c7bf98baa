//! Datasets of documents that are kept from a table: each row is a document, and follows its row.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::document::Changes;
use crate::model::org::Org;

/// How a row becomes a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The table: a dataset of the workspace, imported or of a source.
    pub table: String,
    /// The column that tells rows apart; each document is known by it for as long as the row is there.
    pub key: String,
    /// The column that says what the document is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The columns of the text, one below the other; what is empty is left out.
    #[schemars(length(min = 1, max = 20))]
    pub text: Vec<String>,
    /// The column that rises whenever a row changes (a time or a number): later runs read only what changed since. Without it
    /// every run reads all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    /// Whether the text is Markdown; by default it is plain.
    #[serde(default)]
    pub markdown: bool,
    /// The column that says when a document was written; filters of time ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The column of a document's tags: a list, or one text with commas, spaces or `<…>` around each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
    /// Columns that filters may ask for by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub metadata: Vec<String>,
}

impl Mapping {
    /// What a row's document is known by, like the ids of `rag_fetch_from_source`.
    pub fn document(&self, key: &str) -> String {
        format!("{}{key}", self.prefix())
    }

    /// How the names of all documents of the table begin.
    pub fn prefix(&self) -> String {
        format!("{}:", self.table)
    }

    /// The key of the row that a document of this name is of; `None` for those of other tables.
    pub fn key_of<'n>(&self, document: &'n str) -> Option<&'n str> {
        document.strip_prefix(&self.prefix())
    }

    /// Every column that it names, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = vec![self.key.as_str()];
        for column in self
            .title
            .iter()
            .chain(&self.text)
            .chain(&self.changed)
            .chain(&self.created)
            .chain(&self.tags)
            .chain(&self.metadata)
        {
            if !columns.contains(&column.as_str()) {
                columns.push(column);
            }
        }
        columns
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It begins as soon as a process is free.
    Waiting,
    Running,
    Done,
    Failed,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
        }
    }

    /// Whether there is something to wait for.
    pub fn is_ahead(self) -> bool {
        matches!(self, State::Waiting | State::Running)
    }
}

impl FromStr for State {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let all = [State::Waiting, State::Running, State::Done, State::Failed];
        let state = all.into_iter().find(|state| state.name() == text);
        state.ok_or_else(|| format!("unknown state of a run {text:?}"))
    }
}

/// A dataset that is kept from a table, and how its last run went.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSync {
    pub org: Id<Org>,
    /// The dataset of documents.
    pub name: String,
    pub mapping: Mapping,
    /// From the end of one run to the next; `None`: when somebody asks.
    pub every_minutes: Option<i64>,
    /// Up to where changes are known, as the engine writes the value; `None` before the first run has ended.
    pub cursor: Option<String>,
    pub run: Run,
    pub created_at: Millis,
    /// The end of the last run that worked.
    pub synced_at: Option<Millis>,
}

/// The mapping and the key of the row that a document is of, by its dataset's name and its own; `None` where it is of none.
pub fn row_of<'a>(syncs: &'a [DocumentSync], dataset: &str, document: &'a str) -> Option<(&'a Mapping, &'a str)> {
    let mapping = &syncs.iter().find(|sync| sync.name == dataset)?.mapping;
    Some((mapping, mapping.key_of(document)?))
}

/// A run: wanted, under way, or over.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub job_id: String,
    pub state: State,
    /// What it is doing, or why it failed; for people.
    pub message: String,
    /// 0 to 1.
    pub progress: f64,
    /// What it changed, once it is done.
    pub changes: Option<Changes>,
    pub requested_at: Millis,
    pub ended_at: Option<Millis>,
}

impl Run {
    /// One that begins as soon as a process is free.
    pub fn wanted(job_id: String, at: Millis) -> Self {
        Self {
            job_id,
            state: State::Waiting,
            message: String::new(),
            progress: 0.0,
            changes: None,
            requested_at: at,
            ended_at: None,
        }
    }
}
