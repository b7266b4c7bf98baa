//! Rows of a table: each is a document under its key's name. Where a column tells of changes, only rows that changed since
//! the last run are read.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Ingest, Run, Synced};
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::datasets::column;
use crate::engine::job::Job;
use crate::engine::sql::browse::{Keyed, facts, keyed};
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::{Document, Facts, Markup, ParsedDocument};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::Mapping;
use crate::store;

/// Rows of a table that may be kept as documents.
const MOST: usize = 200_000;
/// Keys that are read at once, rows, and rows that are asked for by name.
const KEYS: usize = 20_000;
const ROWS: usize = 1_000;
const NAMED: usize = 500;
/// Bytes of rows that are read at once.
const PAGE_BYTES: usize = 16 << 20;

/// A run over a table.
struct Rows<'a> {
    table: &'a Dataset,
    mapping: Mapping,
    /// For statements of ours.
    budget: Budgets,
    /// The documents that came of the table before, by key.
    known: HashMap<String, Id<Document>>,
    /// Keys of rows that are not known and were not read yet.
    missing: HashSet<String>,
    run: Run<'a>,
}

/// The table of a mapping and the mapping with its columns as the table has them: what the pass does not see is not there.
///
/// # Errors
/// `invalid_argument` in the name of what is wrong, with the nearest that there is.
pub(super) fn checked<'a>(job: &'a Job<'_>, mapping: &Mapping) -> Result<(&'a Dataset, Mapping)> {
    let tables = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Table);
    let mut tables = tables.filter(|table| table.name.eq_ignore_ascii_case(mapping.table.trim()));
    let table = tables.next().ok_or_else(|| {
        let name: String = mapping.table.chars().take(64).collect();
        Error::invalid(
            "table",
            format!("There is no table {name:?} here. The list of datasets names those that there are."),
        )
    })?;
    if mapping.text.is_empty() || mapping.text.len() > 20 {
        return Err(Error::invalid("text", "Name 1 to 20 columns that make the text."));
    }
    if mapping.metadata.len() > 20 {
        return Err(Error::invalid("metadata", "Name at most 20 columns that filters may ask for."));
    }
    let own = |field: &str, name: &String| column(&table.columns, field, name).map(str::to_owned);
    let checked = Mapping {
        table: table.name.clone(),
        key: own("key", &mapping.key)?,
        title: mapping.title.as_ref().map(|name| own("title", name)).transpose()?,
        text: mapping.text.iter().map(|name| own("text", name)).collect::<Result<_>>()?,
        changed: mapping.changed.as_ref().map(|name| own("changed", name)).transpose()?,
        markdown: mapping.markdown,
        created: mapping.created.as_ref().map(|name| own("created", name)).transpose()?,
        tags: mapping.tags.as_ref().map(|name| own("tags", name)).transpose()?,
        metadata: mapping.metadata.iter().map(|name| own("metadata", name)).collect::<Result<_>>()?,
    };
    Ok((table, checked))
}

/// Brings documents up to their rows; `cursor` is up to where changes are known.
pub(super) async fn follow(
    on: &Ingest,
    job: &Job<'_>,
    run: Run<'_>,
    mapping: &Mapping,
    cursor: Option<&str>,
) -> Result<Synced> {
    let (table, mapping) = checked(job, mapping)?;
    let followed = follow_rows(on, job, run, (table, mapping), cursor).await;
    // Of a table that was erased or replaced meanwhile, the run may have left something since it was forgotten.
    let now = async { store::datasets::by_id(&mut on.db.read_tenant(table.org).await?, table.org, table.id).await };
    if !matches!(now.await, Ok(Some(now)) if now.version == table.version) {
        on.datasets.forget(table);
    }
    followed
}

async fn follow_rows(
    on: &Ingest,
    job: &Job<'_>,
    run: Run<'_>,
    (table, mapping): (&Dataset, Mapping),
    cursor: Option<&str>,
) -> Result<Synced> {
    let budget = Budgets { sql_chars: usize::MAX, sql_rows: KEYS, reply_bytes: PAGE_BYTES, ..job.budget.clone() };
    let known = known_rows(on, job, &run.sync.name, &mapping.prefix()).await?;
    let mut rows = Rows { table, mapping, budget, known, missing: HashSet::new(), run };
    let reached = rows.count(on, job).await?;
    let keys = rows.keys(on, job).await?;
    let is_there: HashSet<&str> = keys.iter().map(String::as_str).collect();
    let gone = rows.known.iter().filter(|(key, _)| !is_there.contains(key.as_str()));
    rows.run.gone = gone.map(|(_, id)| *id).collect();
    // Who began a transaction early may end it late, with a time that is over: rows that are not known are read whatever
    // they say.
    let since = cursor.filter(|_| !rows.known.is_empty());
    if since.is_some() {
        rows.missing = keys.into_iter().filter(|key| !rows.known.contains_key(key)).collect();
    }
    rows.read(on, job, since, None).await?;
    let missing: Vec<String> = rows.missing.iter().cloned().collect();
    for some in missing.chunks(NAMED) {
        rows.read(on, job, None, Some(some)).await?;
    }
    rows.run.publish(on, job, true).await?;
    Ok(Synced { changes: rows.run.changes, cursor: reached, message: String::new(), left_at: None })
}

/// The documents of a dataset that came of a table before, by key.
async fn known_rows(on: &Ingest, job: &Job<'_>, name: &str, prefix: &str) -> Result<HashMap<String, Id<Document>>> {
    let outlines = on.outlines(job, name).await?.into_iter();
    let key = |name: &str| name.strip_prefix(prefix).map(str::to_owned);
    Ok(outlines.filter_map(|outline| Some((key(&outline.source_file)?, outline.id))).collect())
}

impl Rows<'_> {
    async fn rows(&self, on: &Ingest, job: &Job<'_>, sql: &str) -> Result<Vec<Vec<Value>>> {
        Ok(on.sql.query(&job.within(&self.budget), sql).await?.table.rows)
    }

    /// Looks whether the key is one, and up to where changes are known when all is read.
    async fn count(&mut self, on: &Ingest, job: &Job<'_>) -> Result<Option<String>> {
        job.says(0.0, format!("Counting the rows of {}", self.table.name));
        let (key, changed) = (self.mapping.key.as_str(), self.mapping.changed.as_deref());
        let found = self.rows(on, job, &facts(self.table, key, changed)).await?;
        let found = found.into_iter().next().unwrap_or_default();
        let number = |at: usize| found.get(at).and_then(text).and_then(|number| number.parse::<usize>().ok());
        let (Some(rows), Some(different)) = (number(0), number(1)) else {
            return Err(Error::internal("a count is no number"));
        };
        if rows != different {
            let message = format!(
                "{key} is no key of {}: in {rows} rows it has {}. Name a column that differs in every row.",
                self.table.name,
                counted(different, "different value")
            );
            return Err(Error::invalid("key", message));
        }
        if rows > MOST {
            let message = format!("{} has {rows} rows; at most {MOST} are kept as documents.", self.table.name);
            let details = serde_json::json!({ "limit": "sync_rows", "max": MOST, "was": rows });
            return Err(Error::new(Code::LimitExceeded, message).with(details));
        }
        self.run.of = rows;
        Ok(found.get(2).and_then(text))
    }

    /// The keys of all rows.
    async fn keys(&self, on: &Ingest, job: &Job<'_>) -> Result<Vec<String>> {
        let mut keys: Vec<String> = Vec::with_capacity(self.run.of);
        loop {
            let after = keys.last().map(String::as_str);
            let key = self.mapping.key.as_str();
            let page = Keyed { key, columns: &[], after, since: None, among: None, limit: KEYS };
            let rows = self.rows(on, job, &keyed(self.table, page)).await?;
            if rows.is_empty() {
                return Ok(keys);
            }
            keys.extend(rows.into_iter().filter_map(|row| text(row.first()?)));
        }
    }

    /// Reads rows: of these keys, of those that changed since, or all.
    async fn read(&mut self, on: &Ingest, job: &Job<'_>, since: Option<&str>, among: Option<&[String]>) -> Result<()> {
        let mapping = self.mapping.clone();
        let since = mapping.changed.as_deref().zip(since);
        let said = mapping.created.iter().chain(&mapping.tags).chain(&mapping.metadata);
        let columns: Vec<&str> = mapping.title.iter().chain(&mapping.text).chain(said).map(String::as_str).collect();
        // Fewer than asked for may fit into an answer: none is the end.
        let mut after: Option<String> = None;
        loop {
            let (key, after_key) = (mapping.key.as_str(), after.as_deref());
            let page = Keyed { key, columns: &columns, after: after_key, since, among, limit: ROWS };
            let rows = self.rows(on, job, &keyed(self.table, page)).await?;
            let Some(last) = rows.last().and_then(|row| text(row.first()?)) else { return Ok(()) };
            after = Some(last);
            self.take(on, job, rows).await?;
        }
    }

    async fn take(&mut self, on: &Ingest, job: &Job<'_>, rows: Vec<Vec<Value>>) -> Result<()> {
        for row in rows {
            self.run.done += 1;
            if let Some(key) = row.first().and_then(text) {
                self.missing.remove(&key);
            }
            let Some(document) = self.document(&row) else {
                // What had a text before has none now.
                let key = row.first().and_then(text);
                self.run.gone.extend(key.and_then(|key| self.known.get(&key)));
                continue;
            };
            self.run.take(document);
            if self.run.is_full() {
                self.run.publish(on, job, false).await?;
            }
        }
        Ok(())
    }

    /// The document of a row; none where it has no text.
    fn document(&self, row: &[Value]) -> Option<ParsedDocument> {
        let key = text(row.first()?)?;
        let (_, values) = row.split_at_checked(1 + usize::from(self.mapping.title.is_some()))?;
        let (texts, said) = values.split_at_checked(self.mapping.text.len())?;
        let texts: Vec<String> =
            texts.iter().filter_map(text).map(|text| text.replace("\r\n", "\n").replace('\0', "")).collect();
        let body =
            texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        let title =
            self.mapping.title.as_ref().and_then(|_| text(row.get(1)?)).filter(|title| !title.trim().is_empty());
        let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        if body.is_empty() && title.is_none() {
            return None;
        }
        let source_file = self.mapping.document(&key);
        // What it is called is found too.
        let (text, markup) = match (&title, self.mapping.markdown) {
            (Some(title), true) => (format!("# {title}\n\n{body}"), Markup::Markdown),
            (Some(title), false) => (format!("{title}\n\n{body}"), Markup::Plain),
            (None, true) => (body, Markup::Markdown),
            (None, false) => (body, Markup::Plain),
        };
        let title = title.unwrap_or_else(|| source_file.clone()).chars().take(ParsedDocument::TITLE_CHARS).collect();
        Some(ParsedDocument { title, source_file, text, markup, facts: facts_of(&self.mapping, said) })
    }
}

/// What a row says of itself beside its text, under the names that filters have.
fn facts_of(mapping: &Mapping, said: &[Value]) -> Facts {
    let created = mapping.created.iter().map(|_| "created_at");
    let tags = mapping.tags.iter().map(|_| "tags");
    let named = created.chain(tags).chain(mapping.metadata.iter().map(String::as_str)).zip(said);
    // Read from behind: the column of the moment is not another's of that name.
    let named = named.collect::<Vec<_>>().into_iter().rev();
    let is_said = |value: &Value| !value.is_null() && !value.is_object();
    named.filter(|(_, value)| is_said(value)).map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// A value as a text; none of nothing.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
