//! What people corrected of a file's columns before it becomes a table. What is given a type is read as text first, so
//! that nothing is lost on the way through the type that was found (the article `1E5` is no 100000), and so that a value
//! that does not fit can be named with its line or its record.

use duckdb::Connection;
use duckdb::types::Value;
use serde_json::json;

use super::columns::{PROBLEMS, TEXT, columns_of, list, more, plain_names, type_of};
use super::instance::internal;
use super::places::Places;
use super::source::Dialect;
use super::{columns, hints, problem, reading};
use crate::engine::sql::TableFormat;
use crate::model::column_change::{ColumnChange, Hint, is_date, unordered};
use crate::model::error::{Code, Error, Result};
use crate::model::source::{quoted, text_literal};

/// What reads the file with the types that its columns are given.
pub(super) fn reader(
    connection: &Connection,
    path: &str,
    (format, dialect): (TableFormat, &Dialect),
    changes: &[ColumnChange],
    reserved: &[String],
) -> Result<String> {
    let path = text_literal(path);
    match format {
        TableFormat::Csv | TableFormat::Sheet(_) => csv(connection, &path, dialect, changes, reserved),
        TableFormat::Json => json(connection, &path, changes, reserved),
        TableFormat::Parquet => Ok(format!("read_parquet({path})")),
    }
}

/// A change, and the name that its column has in the file.
type Named<'c> = (String, &'c ColumnChange);

/// The changes of columns by the names that the file has, where people know those that the table gets.
fn named<'c>(names: &[String], changes: &'c [ColumnChange], reserved: &[String]) -> Result<Vec<Named<'c>>> {
    let plain = plain_names(names, reserved);
    let of = |change: &'c ColumnChange| {
        let at = plain.iter().position(|name| name.eq_ignore_ascii_case(&change.column));
        let name = at.and_then(|at| names.get(at)).ok_or_else(|| unknown(&change.column, &plain))?;
        Ok((name.clone(), change))
    };
    changes.iter().map(of).collect()
}

fn unknown(column: &str, names: &[String]) -> Error {
    let names = names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
    let message = format!("The file has no column {column}. It has: {names}.");
    Error::invalid("columns", message).with(json!({ "field": "columns", "column": column }))
}

/// Whether the reader takes a column as text: that it is given a type, or stays out, and everything fits.
fn is_read_as_text(change: &ColumnChange) -> bool {
    change.leave_out || change.r#type.is_some()
}

/// A file of which one column is said to be text could look as if it had no header: whether it has one is found before.
fn csv(
    connection: &Connection,
    path: &str,
    dialect: &Dialect,
    changes: &[ColumnChange],
    reserved: &[String],
) -> Result<String> {
    let options = columns::csv(dialect);
    let sniff = format!("SELECT HasHeader, Columns FROM sniff_csv({path}, {options})");
    let found = connection.query_row(&sniff, [], |row| Ok((row.get::<_, bool>(0)?, row.get::<_, Value>(1)?)));
    let (has_header, columns) = found.map_err(|cause| problem::of_import(&cause))?;
    let named = named(&names(&columns), changes, reserved)?;
    let texts = named.iter().filter(|(_, change)| is_read_as_text(change));
    let types: Vec<String> = texts.map(|(name, _)| format!("{}: '{TEXT}'", text_literal(name))).collect();
    let types = if types.is_empty() { String::new() } else { format!(", types={{{}}}", types.join(", ")) };
    Ok(format!("read_csv({path}, {options}, header={has_header}{types}, store_rejects=true, rejects_limit={PROBLEMS})"))
}

/// The names in what the reader found out of a file's columns.
fn names(columns: &Value) -> Vec<String> {
    let Value::List(columns) = columns else { return vec![] };
    let name = |column: &Value| match column {
        Value::Struct(fields) => match fields.get(&"name".to_owned()) {
            Some(Value::Text(name)) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    columns.iter().filter_map(name).collect()
}

fn json(connection: &Connection, path: &str, changes: &[ColumnChange], reserved: &[String]) -> Result<String> {
    let sniff = format!("DESCRIBE SELECT * FROM read_json({path}, sample_size=-1, format='auto')");
    let read = || -> duckdb::Result<Vec<(String, String)>> {
        let mut statement = connection.prepare(&sniff)?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let found = read().map_err(|cause| problem::of_import(&cause))?;
    let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
    let named = named(&names, changes, reserved)?;
    let kind = |name: &String, found: &String| match named.iter().find(|(known, _)| known == name) {
        // Days are read in our way, whatever the reader makes of them.
        Some((_, change)) if is_read_as_text(change) && (change.r#type.as_ref() != Some(found) || is_date(found)) => {
            TEXT.to_owned()
        }
        _ => found.clone(),
    };
    let columns =
        found.iter().map(|(name, found)| format!("{}: {}", text_literal(name), text_literal(&kind(name, found))));
    Ok(format!("read_json({path}, format='auto', columns={{{}}})", columns.collect::<Vec<_>>().join(", ")))
}

/// The changes to the table that was read: what stays out goes, the others get their types and then their names. Tells
/// of what a type left empty.
pub(super) fn make(
    connection: &Connection,
    changes: &[ColumnChange],
    reserved: &[String],
    places: &Places<'_>,
) -> Result<Vec<Hint>> {
    let mut told = Vec::new();
    if changes.is_empty() {
        return Ok(told);
    }
    let columns = || columns_of(connection, "made", "data").map_err(|cause| internal(&cause));
    let found = columns()?;
    let mut renames = Vec::new();
    let mut left_out = Vec::new();
    for change in changes {
        let known = found.iter().find(|name| name.eq_ignore_ascii_case(&change.column));
        let column = known.ok_or_else(|| unknown(&change.column, &found))?;
        if change.leave_out {
            left_out.push(column);
            continue;
        }
        if let Some(kind) = &change.r#type {
            told.extend(retype(connection, column, kind, places)?);
        }
        if let Some(name) = change.name.as_ref().filter(|name| *name != column) {
            renames.push((column, name));
        }
    }
    if left_out.len() == found.len() {
        return Err(Error::invalid("columns", "Every column is left out; at least one stays."));
    }
    for column in left_out {
        run(connection, &format!("ALTER TABLE made.main.data DROP COLUMN {}", quoted(column)))?;
    }
    rename(connection, &renames, reserved)?;
    Ok(told)
}

/// First out of the way, then to their places: names may change places.
fn rename(connection: &Connection, renames: &[(&String, &String)], reserved: &[String]) -> Result<()> {
    let alter = |old: &str, new: &str| {
        let sql = format!("ALTER TABLE made.main.data RENAME COLUMN {} TO {}", quoted(old), quoted(new));
        run(connection, &sql)
    };
    for (at, (column, name)) in renames.iter().enumerate() {
        if reserved.contains(&name.to_ascii_lowercase()) {
            return Err(Error::invalid(
                "columns",
                format!("{name} is a word of SQL. Choose another name for {column}."),
            ));
        }
        alter(column, &format!(" {at}"))?;
    }
    for (at, (column, name)) in renames.iter().enumerate() {
        let taken = columns_of(connection, "made", "data").map_err(|cause| internal(&cause))?;
        if taken.iter().any(|known| known.to_lowercase() == name.to_lowercase()) {
            let message = format!("Two columns cannot have the name {name}. Choose another for {column}.");
            return Err(Error::invalid("columns", message).with(json!({ "field": "columns", "column": column })));
        }
        alter(&format!(" {at}"), name)?;
    }
    Ok(())
}

/// Gives a column of `made.main.data` a type. Tells of values that it left empty, and of days that could be others.
///
/// # Errors
/// `invalid_argument` with the line or the record of a value that is none of the type.
pub(super) fn retype(connection: &Connection, column: &str, kind: &str, places: &Places<'_>) -> Result<Vec<Hint>> {
    let known = type_of(connection, ("made", "data"), column).map_err(|cause| internal(&cause))?;
    let (plain, _) = unordered(kind);
    if known == plain {
        return Ok(vec![]);
    }
    let name = quoted(column);
    // Nothing of some types can become some others: then it fails for all values alike.
    let reading = reading::best(connection, column, &known, kind).map_err(|_| no_way(column, &known, kind))?;
    let kind = plain;
    let unfit = format!(
        "SELECT concat(rowid, ' ', left(CAST({name} AS VARCHAR), 100)) FROM made.main.data \
         WHERE {name} IS NOT NULL AND NOT {} AND {} IS NULL ORDER BY rowid LIMIT {PROBLEMS}",
        reading.is_nothing, reading.value
    );
    let unfit = list(connection, &unfit).map_err(|cause| internal(&cause))?;
    let unfit: Vec<(u64, &str)> = unfit
        .iter()
        .filter_map(|text| text.split_once(' ').and_then(|(row, value)| Some((row.parse().ok()?, value))))
        .collect();
    if unfit.is_empty() {
        let emptied = hints::emptied(connection, column, kind, &reading, places)?;
        let told = emptied.into_iter().chain(hints::rivals(connection, column, kind, &reading, places)?).collect();
        run(connection, &format!("ALTER TABLE made.main.data ALTER {name} TYPE {kind} USING {}", reading.value))?;
        return Ok(told);
    }
    let (noun, at) = places.of(&unfit.iter().map(|(row, _)| *row).collect::<Vec<_>>())?;
    let key = if noun == "line" { "line" } else { "row" };
    let problem = |((_, value), at): (&(u64, &str), &u64)| {
        let what = format!("it is no {kind}");
        json!({ key: at, "column": column, "value": value, "what": what })
    };
    let problems: Vec<_> = unfit.iter().zip(&at).map(problem).collect();
    let (first, value) = (at.first().copied().unwrap_or_default(), unfit.first().map_or("", |(_, value)| *value));
    let message = format!(
        "The file cannot be imported: {noun} {first}, column {column}: {value:?} is no {kind}.{}",
        more(unfit.len())
    );
    let details = json!({ "field": "file", key: first, "column": column, "problems": problems });
    Err(Error::new(Code::InvalidArgument, message).with(details))
}

fn no_way(column: &str, known: &str, kind: &str) -> Error {
    let message =
        format!("The column {column} is {known}, which cannot become {kind}. Choose another type, or VARCHAR.");
    Error::invalid("columns", message).with(json!({ "field": "columns", "column": column }))
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    connection.execute_batch(sql).map_err(|cause| problem::of_import(&cause))
}
