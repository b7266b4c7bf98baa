//! `fetch`: what `search` found, as one text that a model reads: of a dataset its columns and first rows, of an ontology
//! what may be asked, of a document its text, or the part of it where a passage is.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Thing, nothing};
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::chunk_id::ChunkId;
use crate::model::dataset::{ColumnInfo, Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::StoredOntology;
use crate::model::table::RowText;
use crate::ops::get_document::GetDocument;
use crate::ops::parts::cut;

/// Rows of a table, and characters of one of their values.
const ROWS: usize = 5;
const CELL: usize = 100;

/// Bytes of what an ontology offers.
const GUIDE: usize = 24 << 10;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// Of a result of search.
    pub id: String,
}

/// The reply, exactly so.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub id: String,
    pub title: String,
    pub text: String,
    /// Its page, for who is signed in.
    pub url: String,
    pub metadata: BTreeMap<String, String>,
}

impl Operation for Fetch {
    const INFO: Info = Info {
        name: "fetch",
        title: "Fetch a result",
        description: "Returns what search found: a dataset's columns and first rows, what an ontology can be asked, a \
                      document's text around a passage; metadata.next is the id of the part after it.",
        action: Action::Search,
        toolsets: &[Toolset::Chatgpt],
        route: Route { method: "POST", path: "/chatgpt/fetch" },
        // The first look at an ontology reads the values of its data.
        time: |_| Duration::from_secs(120),
        example: r#"{"id":"dataset:01936f2e-7c1a-7000-8000-000000000001"}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;
    const EXACT: bool = true;

    fn target(&self) -> String {
        self.id.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let thing = Thing::parse(&self.id)?;
        let told = match thing {
            Thing::Dataset(id) => dataset(on, job, id).await,
            Thing::Ontology(id) => ontology(on, job, id).await,
            Thing::Document(id) => document(on, job, GetDocument::of(id)).await,
            Thing::Passage(ChunkId { document: id, index }) => {
                document(on, job, GetDocument { chunk: Some(index), ..GetDocument::of(id) }).await
            }
            Thing::Part(id, part) => document(on, job, GetDocument { part: Some(part), ..GetDocument::of(id) }).await,
        };
        let told = told.map_err(|error| match error.code {
            Code::DatasetNotFound | Code::OntologyNotFound | Code::DocumentNotFound => nothing(),
            _ => error,
        })?;
        let (text, is_cut) = cut(told.text, on.config.limits.budgets.reply_bytes * 3 / 4);
        let mut metadata: BTreeMap<String, String> =
            told.metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        if is_cut {
            metadata.insert("truncated".into(), "true".into());
        }
        Ok(Reply { id: thing.to_string(), title: told.title, text, url: thing.url(on, job), metadata })
    }
}

/// What is said of a thing.
struct Told {
    title: String,
    text: String,
    metadata: Vec<(&'static str, String)>,
}

fn needs(job: &Job<'_>, action: Action) -> Result<()> {
    if job.pass.rights().allow(action) { Ok(()) } else { Err(nothing()) }
}

async fn dataset(on: &Parts, job: &Job<'_>, id: Id<Dataset>) -> Result<Told> {
    needs(job, Action::ListDatasets)?;
    let dataset = job.pass.dataset(id)?;
    let mut parts = vec![head(dataset)];
    if dataset.kind == Kind::Table && job.pass.rights().allow(Action::ReadSchema) {
        parts.push(columns(dataset));
        parts.push(match on.engines.sql.preview(job, dataset, ROWS).await {
            Ok(table) => rows(table.columns.iter().map(|column| column.name.as_str()), &table.rows)?,
            // The schema is known all the same.
            Err(error) => {
                job.check()?;
                format!("Its rows could not be read: {}", error.message)
            }
        });
    }
    let metadata = vec![("kind", dataset.kind.name().to_owned()), ("rows", dataset.row_count.to_string())];
    Ok(Told { title: dataset.name.clone(), text: parts.join("\n\n"), metadata })
}

fn head(dataset: &Dataset) -> String {
    let what = match dataset.dialect() {
        Some(dialect) => format!(
            "Table {} with {} and {}; for SQL in the dialect {}.",
            dataset.name,
            counted(dataset.row_count, "row"),
            counted(dataset.columns.len(), "column"),
            dialect.name(),
        ),
        None => format!(
            "Documents {} with {}. Search finds the documents by what they say.",
            dataset.name,
            counted(dataset.row_count, "passage")
        ),
    };
    let source = dataset.remote.as_ref().map(|remote| {
        format!("Its rows are in {}: only tables of this source can be joined with it.", remote.source_name)
    });
    let parts = [Some(what), source, Some(dataset.description.clone())];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn columns(dataset: &Dataset) -> String {
    let line = |column: &ColumnInfo| {
        let about = if column.description.is_empty() { String::new() } else { format!(": {}", column.description) };
        format!("\n- {} {}{about}", column.name, column.r#type)
    };
    format!("Columns:{}", dataset.columns.iter().map(line).collect::<String>())
}

/// The first rows as a table of text.
fn rows<'a>(names: impl Iterator<Item = &'a str>, rows: &[RowText]) -> Result<String> {
    let names: Vec<String> = names.map(|name| cell(&name.into())).collect();
    let mut lines = vec!["First rows:".to_owned(), line(&names), line(&vec!["---".to_owned(); names.len()])];
    for row in rows {
        let values: Vec<Value> = serde_json::from_str(row.get()).map_err(Error::internal)?;
        lines.push(line(&values.iter().map(cell).collect::<Vec<_>>()));
    }
    Ok(lines.join("\n"))
}

fn line(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// A value in a table of text; of long ones the beginning.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut shown: String = text.chars().take(CELL).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown.replace('|', "\\|")
}

async fn ontology(on: &Parts, job: &Job<'_>, id: Id<StoredOntology>) -> Result<Told> {
    needs(job, Action::ReadOntologies)?;
    let (visible, guide) = on.engines.questions.guide(job, id, None, GUIDE).await?;
    let stored = visible.stored;
    let head = format!("Ontology {} (ontologyId {id}): what the business's words mean in its data.", stored.name);
    let parts = [head, stored.description, guide.text()];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let datasets = visible.ontology.datasets.iter().filter(|entity| !entity.hidden).count();
    let metadata = vec![("kind", "ontology".to_owned()), ("datasets", datasets.to_string())];
    Ok(Told { title: stored.name, text, metadata })
}

async fn document(on: &Parts, job: &Job<'_>, wanted: GetDocument) -> Result<Told> {
    let id = wanted.document_id;
    let read = wanted.run(on, job).await?;
    let mut metadata = vec![
        ("kind", "document".to_owned()),
        ("dataset", read.dataset_name),
        ("source_file", read.source_file.clone()),
    ];
    if read.parts > 1 {
        metadata.push(("part", format!("{} of {}", read.part, read.parts)));
    }
    if read.truncated {
        metadata.push(("next", Thing::Part(id, read.part + 1).to_string()));
    }
    if let Some(passage) = read.passage {
        metadata.extend(passage.page.map(|page| ("page", page.to_string())));
        metadata.extend(Some(("heading", passage.heading)).filter(|(_, heading)| !heading.is_empty()));
        // In the text that is told.
        let text = |at: usize| at.saturating_sub(read.start).min(read.text.len()).to_string();
        metadata.extend([("passage_start", text(passage.start)), ("passage_end", text(passage.end))]);
    }
    let title = if read.title.is_empty() { read.source_file } else { read.title };
    Ok(Told { title, text: read.text, metadata })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn rows_are_a_table_whatever_is_in_them() {
        let row = |row: Value| RawValue::from_string(row.to_string()).unwrap();
        let long = "x".repeat(CELL + 1);
        let all = [row(json!([1, "a|b\nc", null])), row(json!([0.5, long, { "a": [true] }]))];
        let expected = format!(
            "First rows:\n| n | text | more |\n| --- | --- | --- |\n| 1 | a\\|b c |  |\n| 0.5 | {}… | {{\"a\":[true]}} |",
            "x".repeat(CELL)
        );
        assert_eq!(rows(["n", "text", "more"].into_iter(), &all).unwrap(), expected);
    }
}
