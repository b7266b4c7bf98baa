//! A dataset of documents that follows a table: rows that are new or changed are read and indexed under their key's name,
//! documents whose rows are gone go too. What was published of a run that broke off is found again by the next, and not
//! encoded twice.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Edit, Ingest};
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::datasets::column;
use crate::engine::job::Job;
use crate::engine::sql::browse::{Keyed, facts, keyed};
use crate::model::dataset::{Dataset, Kind, NAMES, is_name};
use crate::model::document::{Changes, Document, Facts, Markup, ParsedDocument};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::{DocumentSync, Mapping};
use crate::model::version::How;
use crate::store;

/// Rows of a table that may be kept as documents.
const MOST: usize = 200_000;
/// Keys that are read at once, rows, and rows that are asked for by name.
const KEYS: usize = 20_000;
const ROWS: usize = 1_000;
const NAMED: usize = 500;
/// Bytes of texts that are published together, and documents.
const BATCH_BYTES: usize = 32 << 20;
const BATCH: usize = 20_000;
/// Bytes of rows that are read at once.
const PAGE_BYTES: usize = 16 << 20;
/// Where all rows are read and indexed, in the progress of the whole.
const COUNTED: f64 = 0.02;

/// What a run came to.
#[derive(Debug)]
pub struct Synced {
    pub changes: Changes,
    /// Up to where changes are known now.
    pub cursor: Option<String>,
}

/// A run under way.
struct Run<'a> {
    table: &'a Dataset,
    mapping: Mapping,
    name: &'a str,
    /// For statements of ours.
    budget: Budgets,
    /// Rows that were looked at, and all that there are to look at.
    done: usize,
    of: usize,
    batch: Vec<ParsedDocument>,
    bytes: usize,
    /// The documents that came of the table before, by key.
    known: HashMap<String, Id<Document>>,
    /// Keys of rows that are not known and were not read yet.
    missing: HashSet<String>,
    /// Those that are to go.
    gone: HashSet<Id<Document>>,
    changes: Changes,
}

/// The table of a mapping and the mapping with its columns as the table has them: what the pass does not see is not there.
///
/// # Errors
/// `invalid_argument` in the name of what is wrong, with the nearest that there is.
pub fn checked<'a>(job: &'a Job<'_>, mapping: &Mapping) -> Result<(&'a Dataset, Mapping)> {
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

impl Ingest {
    /// Brings a dataset of documents up to its table.
    ///
    /// # Errors
    /// `invalid_argument` for a key that is none, and for columns that are there no more; `limit_exceeded` for more than
    /// 200,000 rows; those of the table's engine, and of [`Ingest::import`]. What was published before stays.
    pub async fn sync(&self, job: &Job<'_>, sync: &DocumentSync) -> Result<Synced> {
        if !is_name(&sync.name) {
            return Err(Error::invalid("name", NAMES));
        }
        let (table, mapping) = checked(job, &sync.mapping)?;
        let budget = Budgets { sql_chars: usize::MAX, sql_rows: KEYS, reply_bytes: PAGE_BYTES, ..job.budget.clone() };
        let (name, changes) = (sync.name.as_str(), Changes::default());
        let mut run = Run {
            table,
            name,
            budget,
            done: 0,
            of: 0,
            batch: vec![],
            bytes: 0,
            known: self.known_rows(job, &sync.name, &mapping.prefix()).await?,
            missing: HashSet::new(),
            gone: HashSet::new(),
            changes,
            mapping,
        };
        let cursor = run.count(self, job).await?;
        let keys = run.keys(self, job).await?;
        let is_there: HashSet<&str> = keys.iter().map(String::as_str).collect();
        run.gone = run.known.iter().filter(|(key, _)| !is_there.contains(key.as_str())).map(|(_, id)| *id).collect();
        // Who began a transaction early may end it late, with a time that is over: rows that are not known are read whatever
        // they say.
        let since = sync.cursor.as_deref().filter(|_| !run.known.is_empty());
        if since.is_some() {
            run.missing = keys.into_iter().filter(|key| !run.known.contains_key(key)).collect();
        }
        run.read(self, job, since, None).await?;
        let missing: Vec<String> = run.missing.iter().cloned().collect();
        for some in missing.chunks(NAMED) {
            run.read(self, job, None, Some(some)).await?;
        }
        run.publish(self, job, true).await?;
        Ok(Synced { changes: run.changes, cursor })
    }

    /// The documents of a dataset that came of a table before, by key.
    async fn known_rows(&self, job: &Job<'_>, name: &str, prefix: &str) -> Result<HashMap<String, Id<Document>>> {
        let org = job.pass.org();
        let mut read = self.db.read_tenant(org).await?;
        let dataset = store::datasets::by_name(&mut read, org, name).await?;
        let Some((id, version)) = dataset.and_then(|dataset| Some((dataset.id, dataset.version?))) else {
            return Ok(HashMap::new());
        };
        let outlines = store::documents::outlines(&mut read, org, id, &version).await?;
        let key = |name: &str| name.strip_prefix(prefix).map(str::to_owned);
        Ok(outlines.into_iter().filter_map(|outline| Some((key(&outline.source_file)?, outline.id))).collect())
    }
}

impl Run<'_> {
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
        self.of = rows;
        Ok(found.get(2).and_then(text))
    }

    /// The keys of all rows.
    async fn keys(&self, on: &Ingest, job: &Job<'_>) -> Result<Vec<String>> {
        let mut keys: Vec<String> = Vec::with_capacity(self.of);
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
            self.done += 1;
            if let Some(key) = row.first().and_then(text) {
                self.missing.remove(&key);
            }
            let Some(document) = self.document(&row) else {
                // What had a text before has none now.
                let key = row.first().and_then(text);
                self.gone.extend(key.and_then(|key| self.known.get(&key)));
                continue;
            };
            self.bytes += document.text.len();
            self.batch.push(document);
            if self.bytes >= BATCH_BYTES || self.batch.len() >= BATCH {
                self.publish(on, job, false).await?;
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

    /// Publishes what was read, and with the first of it what is gone.
    async fn publish(&mut self, on: &Ingest, job: &Job<'_>, is_last: bool) -> Result<()> {
        let (texts, gone) = (std::mem::take(&mut self.batch), std::mem::take(&mut self.gone));
        self.bytes = 0;
        if is_last && texts.is_empty() && gone.is_empty() {
            job.says(1.0, "Nothing changed");
            return Ok(());
        }
        let reached = self.done as f64 / self.of.max(1) as f64;
        let before = (self.done - texts.len().min(self.done)) as f64 / self.of.max(1) as f64;
        let at = |share: f64| COUNTED + (1.0 - COUNTED) * share.min(1.0);
        let part = job.part(at(before)..if is_last { 1.0 } else { at(reached) });
        let source = format!("the table {}", self.table.name);
        let edit = Edit { name: self.name.to_owned(), texts, gone, how: How::Sync, source };
        let (_, made) = on.edit(&part, edit).await?;
        self.changes.added += made.added;
        self.changes.replaced += made.replaced;
        self.changes.unchanged += made.unchanged;
        self.changes.removed += made.removed;
        self.changes.total = made.total;
        Ok(())
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
