//! Rows of a table: each is a document under its key's name. Where a column tells of changes, only rows that changed since
//! the last run are read. A run that lets others go first goes on behind the last row that it read.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::too_many;
use super::{Ingest, LISTING, Run, Synced, TURN, too_long};
use crate::base::clock::{Millis, millis};
use crate::base::counted::counted;
use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::datasets::describe::column;
use crate::engine::job::Job;
use crate::engine::search::about;
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
/// Bytes of rows that are read at once, and of all keys.
const PAGE_BYTES: usize = 16 << 20;
const KEY_BYTES: usize = 64 << 20;

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
    at: Position,
    /// When keys, and then rows, began to be read in this turn.
    began_at: Millis,
    run: Run<'a>,
}

/// How far a run is: in the place of the cursor, while it lets others go first.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Position {
    /// The id of its job.
    run: String,
    /// Up to where changes were known before it, and are when it has ended.
    since: Option<String>,
    reached: Option<String>,
    /// The key of the row that was read last, and whether it is one of those that were missing, which come last.
    after: Option<String>,
    is_missing: bool,
    /// Rows that were read.
    done: usize,
}

impl Position {
    /// Where a run goes on. One of another run tells up to where changes are known, and no more.
    fn read(cursor: Option<&str>, run: &str) -> Self {
        let left = cursor.and_then(|cursor| serde_json::from_str::<Self>(cursor).ok());
        match left {
            Some(left) if left.run == run => left,
            Some(left) => Self { run: run.to_owned(), since: left.since, ..Self::default() },
            None => Self { run: run.to_owned(), since: cursor.map(str::to_owned), ..Self::default() },
        }
    }
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

/// Brings documents up to their rows; `cursor` is up to where changes are known, or a [`Position`].
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
    let mut at = Position::read(cursor, &run.sync.run.job_id);
    // Who began a transaction early may end it late, with a time that is over: rows that are not known are read whatever
    // they say.
    at.since = at.since.filter(|_| !known.is_empty());
    let run = Run { done: at.done, ..run };
    let mut rows = Rows { table, mapping, budget, known, missing: HashSet::new(), at, began_at: on.clock.now(), run };
    let reached = rows.count(on, job).await?;
    if rows.at.after.is_none() {
        rows.at.reached = reached;
    }
    let keys = rows.keys(on, job).await?;
    rows.are_short(&keys)?;
    let is_there: HashSet<&str> = keys.iter().map(String::as_str).collect();
    let gone = rows.known.iter().filter(|(key, _)| !is_there.contains(key.as_str()));
    rows.run.gone = gone.map(|(_, id)| *id).collect();
    if rows.at.since.is_some() {
        rows.missing = keys.iter().filter(|key| !rows.known.contains_key(*key)).cloned().collect();
    }
    rows.began_at = on.clock.now();
    let is_read = rows.read_all(on, job, keys).await?;
    rows.run.publish(on, job, is_read).await?;
    let Rows { run, at, .. } = rows;
    if !is_read {
        let at = Position { done: run.done, ..at };
        return Ok(run.left(Some(serde_json::to_string(&at).map_err(Error::internal)?)));
    }
    Ok(Synced { cursor: at.reached, message: String::new(), left_at: None })
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

    /// The keys of all rows. What a server counts need not be what it gives.
    async fn keys(&self, on: &Ingest, job: &Job<'_>) -> Result<Vec<String>> {
        let mut keys: Vec<String> = Vec::with_capacity(self.run.of);
        let mut bytes = 0;
        loop {
            let after = keys.last().map(String::as_str);
            let key = self.mapping.key.as_str();
            let page = Keyed { key, columns: &[], after, since: None, among: None, limit: KEYS };
            let rows = self.rows(on, job, &keyed(self.table, page)).await?;
            if last_key(&self.mapping, &rows, after)?.is_none() {
                return Ok(keys);
            }
            let page: Vec<String> = rows.iter().filter_map(|row| text(row.first()?)).collect();
            bytes += page.iter().map(String::len).sum::<usize>();
            keys.extend(page);
            if keys.len() > MOST {
                return Err(self.too_many_rows());
            }
            if bytes > KEY_BYTES {
                let message =
                    format!("The keys of {} have more than {KEY_BYTES} bytes together: name another.", self.table.name);
                return Err(too_many("sync_key_bytes", message, KEY_BYTES));
            }
            if on.clock.now() - self.began_at >= millis(LISTING) {
                return Err(too_long());
            }
        }
    }

    fn too_many_rows(&self) -> Error {
        let message = format!("{} gives more than {MOST} rows, which are kept as documents at most.", self.table.name);
        too_many("sync_rows", message, MOST)
    }

    /// Each chunk has the name of its document, and by that the document finds its row: it cannot be cut.
    fn are_short(&self, keys: &[String]) -> Result<()> {
        let most = ParsedDocument::NAME_BYTES.saturating_sub(self.mapping.prefix().len());
        let Some(was) = keys.iter().map(String::len).find(|bytes| *bytes > most) else { return Ok(()) };
        let message = format!(
            "{} of {} has a value of {was} bytes; a key has at most {most}. Name a column of short values.",
            self.mapping.key, self.table.name
        );
        let details = serde_json::json!({ "limit": "key_bytes", "max": most, "was": was });
        Err(Error::new(Code::LimitExceeded, message).with(details))
    }

    /// Reads what this turn is to read, of rows of these keys; `false` where others go first.
    async fn read_all(&mut self, on: &Ingest, job: &Job<'_>, keys: Vec<String>) -> Result<bool> {
        if !self.at.is_missing && !self.read(on, job, None).await? {
            return Ok(false);
        }
        let last = self.at.after.as_ref().filter(|_| self.at.is_missing);
        let begin = last.and_then(|last| keys.iter().position(|key| key == last)).map_or(0, |at| at + 1);
        let missing: Vec<String> = keys.into_iter().skip(begin).filter(|key| self.missing.contains(key)).collect();
        self.at.is_missing = true;
        for some in missing.chunks(NAMED) {
            if !self.read(on, job, Some(some)).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads rows: of these keys, or of those that changed since, or all; `false` where others go first.
    async fn read(&mut self, on: &Ingest, job: &Job<'_>, among: Option<&[String]>) -> Result<bool> {
        let mapping = self.mapping.clone();
        let since = self.at.since.clone().filter(|_| among.is_none());
        let since = mapping.changed.as_deref().zip(since.as_deref());
        // Those that were missing come on top of all others.
        let most = if among.is_none() { MOST } else { 2 * MOST };
        let said = mapping.created.iter().chain(&mapping.tags).chain(&mapping.metadata);
        let columns: Vec<&str> = mapping.title.iter().chain(&mapping.text).chain(said).map(String::as_str).collect();
        // Fewer than asked for may fit into an answer: none is the end.
        let mut after = self.at.after.clone().filter(|_| among.is_none());
        loop {
            let (key, after_key) = (mapping.key.as_str(), after.as_deref());
            let page = Keyed { key, columns: &columns, after: after_key, since, among, limit: ROWS };
            let rows = self.rows(on, job, &keyed(self.table, page)).await?;
            let Some(last) = last_key(&mapping, &rows, after_key)? else { return Ok(true) };
            if self.run.done + rows.len() > most {
                return Err(self.too_many_rows());
            }
            self.take(on, job, rows).await?;
            self.at.after = Some(last.clone());
            after = Some(last);
            if on.clock.now() - self.began_at >= TURN {
                return Ok(false);
            }
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

/// The key of the last of rows, which come behind the one of `after`; `None` of none.
///
/// # Errors
/// `invalid_argument` for rows that do not: they would come without end.
fn last_key(mapping: &Mapping, rows: &[Vec<Value>], after: Option<&str>) -> Result<Option<String>> {
    let Some(last) = rows.last() else { return Ok(None) };
    let last = last.first().and_then(text).filter(|last| Some(last.as_str()) != after);
    last.map(Some).ok_or_else(|| {
        let Mapping { table, key, .. } = mapping;
        let message = format!("The rows of {table} do not come in the order of {key}. Name another column as the key.");
        Error::invalid("key", message)
    })
}

/// What a row says of itself beside its text, under the names that filters have.
fn facts_of(mapping: &Mapping, said: &[Value]) -> Facts {
    let created = mapping.created.iter().map(|_| "created_at");
    let tags = mapping.tags.iter().map(|_| "tags");
    let named = created.chain(tags).chain(mapping.metadata.iter().map(String::as_str)).zip(said);
    // Read from behind: the column of the moment is not another's of that name.
    let named = named.collect::<Vec<_>>().into_iter().rev();
    let is_said = |value: &Value| !value.is_null() && !value.is_object();
    let said: Facts =
        named.filter(|(_, value)| is_said(value)).map(|(name, value)| (name.to_owned(), value.clone())).collect();
    about::kept(&said)
}

/// A value as a text; none of nothing.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_where_it_was_and_another_begins_at_what_was_known_before() {
        let left = Position {
            run: "sync-1".into(),
            since: Some("2024".into()),
            reached: Some("2025".into()),
            after: Some("7".into()),
            is_missing: true,
            done: 7,
        };
        let kept = serde_json::to_string(&left).unwrap();
        assert_eq!(Position::read(Some(&kept), "sync-1"), left);
        let begun = |since: Option<&str>| Position {
            run: "sync-2".into(),
            since: since.map(str::to_owned),
            ..Position::default()
        };
        assert_eq!(Position::read(Some(&kept), "sync-2"), begun(Some("2024")));
        for cursor in [None, Some("2024-01-01"), Some("7"), Some("{}"), Some("null")] {
            assert_eq!(Position::read(cursor, "sync-2"), begun(cursor));
        }
    }

    #[test]
    fn rows_that_do_not_rise_are_an_error() {
        let mapping: Mapping = serde_json::from_str(r#"{"table":"posts","key":"id","text":["body"]}"#).unwrap();
        let rows = [vec![Value::from(1)], vec![Value::from(2)]];
        assert_eq!(last_key(&mapping, &[], Some("1")).unwrap(), None);
        assert_eq!(last_key(&mapping, &rows, Some("1")).unwrap(), Some("2".to_owned()));
        let wrong: [&[Vec<Value>]; 3] = [&rows, &[vec![Value::Null]], &[vec![]]];
        for rows in wrong {
            let error = last_key(&mapping, rows, Some("2")).unwrap_err();
            assert!(error.message.contains("posts do not come in the order of id"), "{error:?}");
        }
    }
}
