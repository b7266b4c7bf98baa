//! An uploaded file becomes one immutable table file.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use duckdb::{Connection, ProgressHandle};
use serde_json::json;

use super::changes;
use super::columns::{PROBLEMS, columns_of, csv, plain_names, reserved, type_of};
use super::instance::{self, internal};
use super::misread::{self, Misread};
use super::places::Places;
use super::{hints, problem, profile, said, sheet, source, unclosed};
use crate::engine::sql::wire::TaskLimits;
use crate::engine::sql::{ImportedTable, TableFormat};
use crate::model::column_change::{ColumnChange, Hint};
use crate::model::dataset::ColumnInfo;
use crate::model::error::{Code, Error, Result};
use crate::model::source::{quoted, text_literal};

/// Below this many bytes a file gets small blocks, so that a small table does not take half a megabyte.
const SMALL: u64 = 4 << 20;

/// Distinct values shown of a column, how long each may be, and how many rows are looked at for them.
const SAMPLES: usize = 5;
const SAMPLE_CHARS: usize = 100;
const SAMPLE_ROWS: usize = 50_000;

/// Rows that are shown of what was made, and characters of a value in them.
const FIRST_ROWS: usize = 20;
const FIRST_CHARS: usize = 200;

/// Where the rows are in, and where they are counted, in the progress of the whole; from there on columns are sampled.
const IN: f64 = 0.9;
const COUNTED: f64 = 0.95;

/// How far an import is. The engine begins to count anew with every statement; here each has its share of the whole.
pub(super) struct Progress {
    statement: ProgressHandle,
    share: Mutex<Range<f64>>,
}

impl Progress {
    pub(super) fn new(connection: &Connection) -> Self {
        Self { statement: connection.progress_handle(), share: Mutex::new(0.0..IN) }
    }

    /// 0 to 1. While the engine does not know, a statement is at its beginning.
    pub(super) fn fraction(&self) -> f64 {
        // First the share: together with how far the next statement is, it says too little and never too much.
        let share = self.share().clone();
        let percent = self.statement.query_progress().percentage().unwrap_or(0.0);
        share.start + (share.end - share.start) * (percent / 100.0).clamp(0.0, 1.0)
    }

    fn enter(&self, share: Range<f64>) {
        *self.share() = share;
    }

    fn share(&self) -> MutexGuard<'_, Range<f64>> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is read, and what is written.
pub(super) struct Files<'a> {
    pub(super) source: &'a Path,
    /// A table file whose rows come before those of the source.
    pub(super) earlier: Option<&'a Path>,
    pub(super) destination: &'a Path,
    /// What people corrected.
    pub(super) changes: &'a [ColumnChange],
}

/// Reads `source`, writes `destination` with the table `main.data`, closed and on disk when this returns.
pub(super) fn run(
    connection: Connection,
    files: &Files<'_>,
    format: TableFormat,
    limits: &TaskLimits,
    progress: &Progress,
) -> Result<ImportedTable> {
    let Files { source, earlier, destination, changes } = files;
    let size = std::fs::metadata(source).map_err(|cause| internal(&cause))?.len();
    if size == 0 {
        return Err(Error::invalid("file", "The file is empty."));
    }
    let readable = source::readable(source, format, destination)?;
    let from = readable.path.to_str().ok_or_else(|| internal(&"the source's path is not UTF-8"))?;
    let to = destination.to_str().ok_or_else(|| internal(&"the destination's path is not UTF-8"))?;
    let block_size = if size < SMALL && earlier.is_none() { "(BLOCK_SIZE 16384)" } else { "" };
    let attached = match earlier.map(|earlier| earlier.to_str().ok_or_else(|| internal(&"a path is not UTF-8"))) {
        Some(earlier) => format!("ATTACH {} AS earlier (READ_ONLY);", text_literal(earlier?)),
        None => String::new(),
    };
    instance::limit(&connection, limits)
        .and_then(|()| connection.set_query_progress_tracking(true))
        .and_then(|()| {
            connection.execute_batch(&format!(
                "{attached} ATTACH {} AS made {block_size}; USE made; SET allowed_paths=[{}];
                 SET enable_external_access=false; SET lock_configuration=true;",
                text_literal(to),
                text_literal(from)
            ))
        })
        .map_err(|cause| internal(&cause))?;

    let reserved = reserved(&connection)?;
    let mut misread = Vec::new();
    match format {
        TableFormat::Sheet(index) => sheet::load(&connection, source, index)?,
        TableFormat::Csv | TableFormat::Json | TableFormat::Parquet => {
            let reader = match changes.is_empty() {
                true => reader(from, format, &readable.dialect),
                false => changes::reader(&connection, from, (format, &readable.dialect), changes, &reserved)?,
            };
            let create = |reader: &str| {
                let sql = format!("CREATE OR REPLACE TABLE made.main.data AS SELECT * FROM {reader}");
                connection.execute_batch(&sql).map_err(|cause| problem::of_import(&cause))
            };
            create(&reader)?;
            misread = misread::found(&connection, from, (format, &readable.dialect), &reserved)?;
            if !misread.is_empty() {
                let all: Vec<ColumnChange> =
                    changes.iter().cloned().chain(misread.iter().map(Misread::as_text)).collect();
                create(&changes::reader(&connection, from, (format, &readable.dialect), &all, &reserved)?)?;
            }
        }
    }
    progress.enter(IN..IN);
    if format == TableFormat::Csv {
        no_rejects(&connection)?;
    }
    let named = columns_of(&connection, "made", "data").map_err(|cause| internal(&cause))?;
    if format == TableFormat::Csv {
        unclosed::refuse(&readable.path, &named, readable.dialect.quote)?;
    }
    name_columns(&connection, &reserved)?;
    let mut said = match format {
        TableFormat::Parquet => said::of_table(&connection, from, &named),
        TableFormat::Csv | TableFormat::Json | TableFormat::Sheet(_) => HashMap::new(),
    };
    let places = match format {
        TableFormat::Csv => Places::lines(&connection, &readable.path, &readable.dialect),
        TableFormat::Json | TableFormat::Parquet | TableFormat::Sheet(_) => Ok(Places::Records),
    };
    let places = places.map_err(|cause| internal(&cause))?;
    let changes = misread::settled(&connection, changes, &misread)?;
    let mut told = match (format, earlier) {
        // Somebody else said what its columns are.
        (TableFormat::Parquet, _) | (_, Some(_)) => vec![],
        _ => hints::found(&connection, &changes, &places)?,
    };
    told.extend(changes::make(&connection, &changes, &reserved, &places)?);
    if earlier.is_some() {
        told.extend(append(&connection, &places)?);
    }
    let (row_count, mut columns) = describe(&connection, progress).map_err(|cause| internal(&cause))?;
    columns.iter_mut().for_each(|column| column.description = said.remove(&column.name).unwrap_or_default());
    let rows = first_rows(&connection).map_err(|cause| internal(&cause))?;
    connection.execute_batch("USE memory; CHECKPOINT made; DETACH made;").map_err(|cause| internal(&cause))?;
    drop(connection);

    let file = std::fs::File::open(destination).map_err(|cause| internal(&cause))?;
    file.sync_all().map_err(|cause| internal(&cause))?;
    let bytes = file.metadata().map_err(|cause| internal(&cause))?.len();
    Ok(ImportedTable { row_count, bytes: i64::try_from(bytes).unwrap_or(i64::MAX), columns, rows, hints: told })
}

/// The whole file decides about types, so that a late row cannot fail; quoting is fixed, since a guess at it would
/// hide a missing quote.
fn reader(path: &str, format: TableFormat, dialect: &source::Dialect) -> String {
    let path = text_literal(path);
    match format {
        TableFormat::Csv | TableFormat::Sheet(_) => {
            format!("read_csv({path}, {}, store_rejects=true, rejects_limit={PROBLEMS})", csv(dialect))
        }
        TableFormat::Json => format!("read_json({path}, sample_size=-1, format='auto')"),
        TableFormat::Parquet => format!("read_parquet({path})"),
    }
}

/// A row that was set aside.
struct Reject {
    line: i64,
    index: i64,
    column: Option<String>,
    what: &'static str,
    value: Option<String>,
}

/// The reader sets broken rows aside; here one is enough to refuse the file.
fn no_rejects(connection: &Connection) -> Result<()> {
    let mut rejects = rejects(connection).map_err(|cause| internal(&cause))?;
    let least = if rejects.len() < PROBLEMS { "" } else { "at least " };
    // Each surplus value of a line is one.
    rejects.dedup_by_key(|reject| reject.line);
    let Some(first) = rejects.first() else { return Ok(()) };
    let Reject { line, index, column, what, value } = first;
    let place = column.as_ref().map_or_else(|| format!("column {index}"), |name| format!("column {name}"));
    let said = value.as_ref().map_or_else(String::new, |value| format!(" ({value:?})"));
    let problems = rejects.iter().map(
        |reject| json!({ "line": reject.line, "column": reject.column, "value": reject.value, "what": reject.what }),
    );
    let details = json!({
        "field": "file", "line": line, "column": column.clone().map_or(json!(index), Into::into),
        "problems": problems.collect::<Vec<_>>(),
    });
    let more = match rejects.len() - 1 {
        0 => String::new(),
        more => format!(" More lines that do not fit: {least}{more}."),
    };
    let message = format!("The file cannot be imported: line {line}, {place}: {what}{said}.{more}");
    Err(Error::new(Code::InvalidArgument, message).with(details))
}

fn rejects(connection: &Connection) -> duckdb::Result<Vec<Reject>> {
    let sql = format!(
        "SELECT line, column_idx, column_name, CAST(error_type AS VARCHAR), error_message FROM temp.reject_errors
         ORDER BY line, column_idx LIMIT {PROBLEMS}"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let what = match row.get::<_, String>(3)?.as_str() {
            "TOO MANY COLUMNS" => "it has more columns than the header",
            "MISSING COLUMNS" => "it has fewer columns than the header",
            "UNQUOTED VALUE" => "a quote is not closed",
            "INVALID ENCODING" => "it is not UTF-8 text",
            "LINE SIZE OVER MAXIMUM" => "it is too long",
            _ => "a value does not fit the type of its column",
        };
        let message: Option<String> = row.get(4)?;
        let value = message.as_deref().and_then(|text| {
            let (_, rest) = text.split_once("Could not convert string \"")?;
            let (value, _) = rest.rsplit_once("\" to '")?;
            Some(value.chars().take(SAMPLE_CHARS).collect())
        });
        Ok(Reject { line: row.get(0)?, index: row.get(1)?, column: row.get(2)?, what, value })
    })?;
    rows.collect()
}

/// The first rows as text.
fn first_rows(connection: &Connection) -> duckdb::Result<Vec<Vec<Option<String>>>> {
    let names = columns_of(connection, "made", "data")?;
    let cells: Vec<String> =
        names.iter().map(|name| format!("left(CAST({} AS VARCHAR), {FIRST_CHARS})", quoted(name))).collect();
    let mut statement =
        connection.prepare(&format!("SELECT {} FROM made.main.data LIMIT {FIRST_ROWS}", cells.join(", ")))?;
    let rows = statement.query_map([], |row| (0..names.len()).map(|at| row.get(at)).collect())?;
    rows.collect()
}

/// A name stays as it is when it can be written without quotes; another becomes lower-case words joined by `_`,
/// made unique by a number.
fn name_columns(connection: &Connection, reserved: &[String]) -> Result<()> {
    let names = columns_of(connection, "made", "data").map_err(|cause| internal(&cause))?;
    if names.iter().any(|name| name.contains('\0')) {
        return Err(Error::invalid(
            "file",
            "The file cannot be imported: it is not text, a column's name contains NUL.",
        ));
    }
    let mut renames = String::new();
    for (old, new) in names.iter().zip(plain_names(&names, reserved)).filter(|(old, new)| *old != new) {
        renames += &format!("ALTER TABLE made.main.data RENAME COLUMN {} TO {};", quoted(old), quoted(&new));
    }
    connection.execute_batch(&renames).map_err(|cause| internal(&cause))
}

/// Puts the rows that were read below those of the earlier table, whose columns and types stay. A column that the file
/// does not have is NULL in its rows; one that only the file has is refused, since nobody said what it would be above.
/// Tells of values that a type left empty.
fn append(connection: &Connection, places: &Places<'_>) -> Result<Vec<Hint>> {
    let columns = |database| columns_of(connection, database, "data").map_err(|cause| internal(&cause));
    let (earlier, added) = (columns("earlier")?, columns("made")?);
    let mut told = Vec::new();
    for name in &added {
        let Some(kept) = earlier.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            let message = format!(
                "The file cannot be added: the table has no column {name}. It has: {}.",
                earlier.iter().take(20).cloned().collect::<Vec<_>>().join(", ")
            );
            return Err(Error::invalid("file", message).with(json!({ "field": "file", "column": name })));
        };
        let kind = type_of(connection, ("earlier", "data"), kept).map_err(|cause| internal(&cause))?;
        told.extend(changes::retype(connection, name, &kind, places)?);
    }
    connection
        .execute_batch(
            "ALTER TABLE made.main.data RENAME TO added; CREATE TABLE made.main.data AS FROM earlier.main.data;
             INSERT INTO made.main.data BY NAME FROM made.main.added; DROP TABLE made.main.added;",
        )
        .map_err(|cause| problem::of_import(&cause))?;
    Ok(told)
}

/// How many rows there are, and the columns with a few of their values. A column without NULL is not nullable.
fn describe(connection: &Connection, progress: &Progress) -> duckdb::Result<(i64, Vec<ColumnInfo>)> {
    let mut statement = connection.prepare(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'made' AND table_name = 'data'
         ORDER BY column_index",
    )?;
    let typed: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<duckdb::Result<_>>()?;
    let counts: Vec<String> = typed.iter().map(|(name, _)| format!("count({})", quoted(name))).collect();
    let counts = format!("SELECT count(*), [{}] FROM made.main.data", counts.join(", "));
    progress.enter(IN..COUNTED);
    let (row_count, filled): (i64, Vec<i64>) = connection.query_row(&counts, [], |row| {
        let filled = match row.get::<_, duckdb::types::Value>(1)? {
            duckdb::types::Value::List(list) => list
                .into_iter()
                .map(|value| if let duckdb::types::Value::BigInt(count) = value { count } else { 0 })
                .collect(),
            _ => vec![],
        };
        Ok((row.get(0)?, filled))
    })?;
    let mut columns = Vec::new();
    let all = typed.len() as f64;
    let sampled = |columns: usize| COUNTED + (1.0 - COUNTED) * columns as f64 / all;
    for (index, (name, r#type)) in typed.into_iter().enumerate() {
        progress.enter(sampled(index)..sampled(index + 1));
        let column = quoted(&name);
        let samples = format!(
            "SELECT DISTINCT left(CAST({column} AS VARCHAR), {SAMPLE_CHARS}) AS sample
             FROM (SELECT {column} FROM made.main.data WHERE {column} IS NOT NULL LIMIT {SAMPLE_ROWS})
             ORDER BY sample LIMIT {}",
            SAMPLES + 1
        );
        let mut statement = connection.prepare(&samples)?;
        let mut sample_values: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<duckdb::Result<_>>()?;
        let filled = filled.get(index).copied().unwrap_or_default();
        let samples_are_all = are_all(connection, &column, filled, &sample_values)?;
        sample_values.truncate(SAMPLES);
        let likely_personal_data = profile::personal_kind(connection, "made.main.data", &name, &r#type, filled)?;
        let (nullable, description) = (filled != row_count, String::new());
        columns.push(ColumnInfo {
            name,
            r#type,
            nullable,
            description,
            sample_values,
            samples_are_all,
            likely_personal_data,
        });
    }
    Ok((row_count, columns))
}

/// Whether a column has no other values than these samples of its first ones.
fn are_all(connection: &Connection, column: &str, filled: i64, samples: &[String]) -> duckdb::Result<bool> {
    let is_cut = samples.iter().any(|sample| sample.chars().count() >= SAMPLE_CHARS);
    if samples.is_empty() || samples.len() > SAMPLES || is_cut {
        return Ok(false);
    }
    if usize::try_from(filled).is_ok_and(|filled| filled <= SAMPLE_ROWS) {
        return Ok(true);
    }
    let known: Vec<String> = samples.iter().map(|sample| text_literal(sample)).collect();
    // Ends at the first other value.
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM made.main.data WHERE CAST({column} AS VARCHAR) NOT IN ({}) LIMIT 1)",
        known.join(", ")
    );
    connection.query_row(&sql, [], |row| Ok(row.get::<_, i64>(0)? == 0))
}
