//! What people write of datasets and of their columns, and which columns are hidden from external clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Datasets;
use crate::base::id::Id;
use crate::base::nearest::nearest;
use crate::engine::job::Job;
use crate::model::dataset::{COLUMN_DESCRIPTION, ColumnInfo, DESCRIPTION, Dataset, TITLE, readable};
use crate::model::error::{Error, Result};
use crate::model::meanwhile::Meanwhile;
use crate::store;

/// What people write of a dataset; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    pub title: Option<String>,
    pub description: Option<String>,
    /// By the names of columns.
    pub columns: BTreeMap<String, String>,
    /// Whether columns are hidden from external clients, by name.
    pub hidden: BTreeMap<String, bool>,
}

/// Bytes of what is written of all columns of a table: a schema is read by models, in one reply.
const COLUMN_TEXTS: usize = 32 << 10;

impl Datasets {
    /// Keeps what people write of a dataset: what is absent stays, an empty text takes back what was written. The texts of
    /// columns outlive imports, by name. `seen` is what these were for who writes.
    ///
    /// # Errors
    /// `dataset_not_found`; `invalid_argument` for a text that is too long, for a column that is not there, and for a text
    /// that others have changed since it was seen.
    pub async fn describe(&self, job: &Job<'_>, id: Id<Dataset>, words: Words, seen: &Words) -> Result<Dataset> {
        let org = job.pass.org();
        let mut tx = self.db.tenant(org).await?;
        let mut texts = store::datasets::column_texts(&mut tx, org, id).await?;
        let found = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        let external = job.pass.is_external();
        let mut dataset = found.clone().seen(external);
        as_seen(&words, seen, &dataset)?;
        if let Some(title) = words.title {
            dataset.title = readable("title", &title, TITLE)?;
        }
        if let Some(description) = words.description {
            dataset.description = readable("description", &description, DESCRIPTION)?;
        }
        for (name, text) in words.columns {
            let column = column(&dataset.columns, "columns", &name)?;
            match readable(&format!("columns.{column}"), &text, COLUMN_DESCRIPTION)? {
                text if text.is_empty() => texts.remove(column),
                text => texts.insert(column.to_owned(), text),
            };
        }
        let bytes: usize = texts.values().map(String::len).sum();
        if bytes > COLUMN_TEXTS {
            let message = format!(
                "The descriptions of a table's columns have at most {COLUMN_TEXTS} bytes together; these have {bytes}."
            );
            return Err(Error::invalid("columns", message));
        }
        dataset.updated_at = self.clock.now();
        store::datasets::describe(&mut tx, &dataset, &texts).await?;
        for (name, hide) in words.hidden {
            if external {
                let message = "Which columns clients see is decided in the console, not by clients.";
                return Err(Error::forbidden("hidden", message));
            }
            let column = column(&dataset.columns, "columns", &name)?.to_lowercase();
            dataset.hidden.retain(|known| *known != column);
            if hide {
                dataset.hidden.push(column);
            }
        }
        let is_hidden_anew = dataset.hidden != found.hidden;
        if dataset.columns.iter().all(|column| dataset.hides(&column.name)) && is_hidden_anew {
            let message = "Every column would be hidden; withdraw the dataset instead, or leave one.";
            return Err(Error::invalid("hidden", message));
        }
        if is_hidden_anew {
            store::datasets::hide(&mut tx, &dataset).await?;
        }
        let now = store::datasets::by_id(&mut tx, org, id).await?.ok_or_else(Error::dataset_not_found)?;
        tx.commit().await?;
        if is_hidden_anew {
            // Pages of results and values that are kept were made of what was seen before.
            self.forget(&now);
        }
        Ok(now.seen(external))
    }
}

/// The name of a column as the table has it.
///
/// # Errors
/// `invalid_argument` in the name of `field`, with the nearest one.
pub(in crate::engine) fn column<'c>(columns: &'c [ColumnInfo], field: &str, name: &str) -> Result<&'c str> {
    let names = || columns.iter().map(|column| column.name.as_str());
    let exact = names().find(|known| *known == name);
    if let Some(known) = exact.or_else(|| names().find(|known| known.eq_ignore_ascii_case(name))) {
        return Ok(known);
    }
    let name: String = name.chars().take(64).collect();
    let hint = nearest(&name, names()).map_or_else(String::new, |near| format!(" Did you mean {near}?"));
    Err(Error::invalid(field, format!("There is no column {name:?} in this dataset.{hint}")))
}

/// Refuses to write over what others wrote since somebody saw a dataset.
fn as_seen(words: &Words, seen: &Words, now: &Dataset) -> Result<()> {
    let mut meanwhile = Meanwhile::default();
    meanwhile.compare("title", "the title", seen.title.as_deref(), &now.title, words.title.as_deref());
    let (before, wanted) = (seen.description.as_deref(), words.description.as_deref());
    meanwhile.compare("description", "the description", before, &now.description, wanted);
    for ColumnInfo { name, description, .. } in &now.columns {
        let (before, wanted) = (seen.columns.get(name), words.columns.get(name));
        let (field, what) = (format!("columns.{name}"), format!("the description of {name}"));
        meanwhile.compare(&field, &what, before.map(String::as_str), description, wanted.map(String::as_str));
    }
    meanwhile.refused()
}
