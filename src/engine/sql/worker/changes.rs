//! What people corrected of a file's columns before it becomes a table. Types of CSV and JSON are given to the reader, so
//! that nothing is lost on the way through the type that was found (the article `1E5` is no 100000); a value that does not fit is named
//! with its line or its record.

use duckdb::Connection;
use duckdb::types::Value;
use serde_json::json;

use super::columns::{PROBLEMS, columns_of, list, more, plain_names, type_of};
use super::instance::internal;
use super::source::Dialect;
use super::{columns, problem};
use crate::engine::sql::TableFormat;
use crate::model::column_change::ColumnChange;
use crate::model::error::{Code, Error, Result};
use crate::model::source::{quoted, text_literal};

const TEXT: &str = "VARCHAR";

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

/// The type that the reader gives a column: what stays out is text, which everything fits.
fn read_as(change: &ColumnChange) -> Option<&str> {
    if change.leave_out { Some(TEXT) } else { change.r#type.as_deref() }
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
    let typed = |read: &dyn Fn(&ColumnChange) -> Option<String>| {
        let types = named
            .iter()
            .filter_map(|(name, change)| Some(format!("{}: {}", text_literal(name), text_literal(&read(change)?))));
        let types = types.collect::<Vec<_>>().join(", ");
        let types = if types.is_empty() { types } else { format!(", types={{{types}}}") };
        format!("read_csv({path}, {options}, header={has_header}{types}")
    };
    let comma = match has_decimal_comma(connection, &named, &typed(&|change| read_as(change).map(|_| TEXT.into())))? {
        true => ", decimal_separator=','",
        false => "",
    };
    let read = typed(&|change| read_as(change).map(str::to_owned));
    Ok(format!("{read}{comma}, store_rejects=true, rejects_limit={PROBLEMS})"))
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

/// Whether more values of the columns that are to be numbers are some when a comma is their decimal point. `read` reads
/// them as text, but for its closing parenthesis.
fn has_decimal_comma(connection: &Connection, named: &[Named<'_>], read: &str) -> Result<bool> {
    let is_number = |change: &ColumnChange| {
        let named = change.r#type.as_deref().unwrap_or_default();
        !change.leave_out && (named == "DOUBLE" || named.starts_with("DECIMAL"))
    };
    let numbers: Vec<String> =
        named.iter().filter(|(_, change)| is_number(change)).map(|(name, _)| quoted(name)).collect();
    if numbers.is_empty() {
        return Ok(false);
    }
    let count = |text: &dyn Fn(&String) -> String| {
        numbers.iter().map(|name| format!("count(TRY_CAST({} AS DOUBLE))", text(name))).collect::<Vec<_>>().join(" + ")
    };
    let (points, commas) = (count(&String::clone), count(&|name| format!("replace({name}, ',', '.')")));
    let sql = format!("SELECT {commas} > {points} FROM {read}, ignore_errors=true)");
    connection.query_row(&sql, [], |row| row.get(0)).map_err(|cause| problem::of_import(&cause))
}

/// What is given a type is read as text first, and turned into it where the record can be named ([`make`]).
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
        Some((_, change)) if read_as(change).is_some_and(|kind| kind != found) => TEXT.to_owned(),
        _ => found.clone(),
    };
    let columns =
        found.iter().map(|(name, found)| format!("{}: {}", text_literal(name), text_literal(&kind(name, found))));
    Ok(format!("read_json({path}, format='auto', columns={{{}}})", columns.collect::<Vec<_>>().join(", ")))
}

/// The columns of a CSV file that were read as numbers, and hold codes that only look like some: `411E123` among account
/// numbers is no 4.11e125. Where a column of numbers has no fraction, its text tells: some values have an exponent and no
/// point, and others are plain.
pub(super) fn codes(
    connection: &Connection,
    path: &str,
    dialect: &Dialect,
    reserved: &[String],
) -> Result<Vec<ColumnChange>> {
    let columns = columns_of(connection, "made", "data").map_err(|cause| internal(&cause))?;
    let plain = plain_names(&columns, reserved);
    let numbers = "SELECT column_name FROM duckdb_columns() WHERE database_name = 'made' AND table_name = 'data' \
                   AND data_type = 'DOUBLE' ORDER BY column_index";
    let numbers = list(connection, numbers).map_err(|cause| internal(&cause))?;
    let is_whole = |name: &String| format!("coalesce(bool_and({name} = floor({name})), false)", name = quoted(name));
    let whole = which(connection, &numbers, &is_whole, "made.main.data").map_err(|cause| internal(&cause))?;
    let is_mixed = |name: &String| {
        let name = quoted(name);
        let some = |pattern| format!("coalesce(bool_or(regexp_full_match({name}, '{pattern}')), false)");
        format!("{} AND {}", some("[0-9]+[eE][0-9]+"), some("[0-9]+"))
    };
    let options = super::columns::csv(dialect);
    let text =
        format!("read_csv({}, {options}, header=true, all_varchar=true, ignore_errors=true)", text_literal(path));
    // A file without a header has no columns of those names: what they were read as stays.
    let codes = which(connection, &whole, &is_mixed, &text).unwrap_or_default();
    let known = |code: String| {
        columns.iter().zip(&plain).find(|(name, _)| **name == code).map_or(code.clone(), |(_, plain)| plain.clone())
    };
    let change = |code| ColumnChange { column: known(code), r#type: Some(TEXT.to_owned()), ..ColumnChange::default() };
    Ok(codes.into_iter().map(change).collect())
}

/// The columns of a relation of which a condition holds, in one reading.
fn which(
    connection: &Connection,
    columns: &[String],
    holds: &dyn Fn(&String) -> String,
    relation: &str,
) -> duckdb::Result<Vec<String>> {
    if columns.is_empty() {
        return Ok(vec![]);
    }
    let conditions = columns.iter().map(holds).collect::<Vec<_>>().join(", ");
    connection.query_row(&format!("SELECT {conditions} FROM {relation}"), [], |row| {
        let mut of = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            if row.get(at)? {
                of.push(column.clone());
            }
        }
        Ok(of)
    })
}

/// The changes to the table that was read: what stays out goes, the others get their types and then their names.
pub(super) fn make(connection: &Connection, changes: &[ColumnChange], reserved: &[String]) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
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
            retype(connection, column, kind)?;
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
    rename(connection, &renames, reserved)
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

fn retype(connection: &Connection, column: &str, kind: &str) -> Result<()> {
    let known = type_of(connection, ("made", "data"), column).map_err(|cause| internal(&cause))?;
    if known == kind {
        return Ok(());
    }
    let name = quoted(column);
    let unfit = format!(
        "SELECT concat(rowid + 1, ' ', left(CAST({name} AS VARCHAR), 100)) FROM made.main.data \
         WHERE {name} IS NOT NULL AND TRY_CAST({name} AS {kind}) IS NULL ORDER BY rowid LIMIT {PROBLEMS}"
    );
    // Nothing of some types can become some others: then it fails for all values alike.
    let unfit = list(connection, &unfit).map_err(|_| no_way(column, &known, kind))?;
    let unfit: Vec<(&str, &str)> = unfit.iter().filter_map(|text| text.split_once(' ')).collect();
    if let Some((record, value)) = unfit.first() {
        let others = if unfit.len() > 1 { format!(" {} more are like it.", more(unfit.len())) } else { String::new() };
        let message =
            format!("The file cannot be imported: record {record}, column {column}: {value:?} is no {kind}.{others}");
        let problems: Vec<_> = unfit
            .iter()
            .map(|(record, value)| json!({ "row": record.parse::<u64>().ok(), "column": column, "value": value }))
            .collect();
        let details =
            json!({ "field": "file", "row": record.parse::<u64>().ok(), "column": column, "problems": problems });
        return Err(Error::new(Code::InvalidArgument, message).with(details));
    }
    run(connection, &format!("ALTER TABLE made.main.data ALTER {name} TYPE {kind}"))
}

fn no_way(column: &str, known: &str, kind: &str) -> Error {
    let message =
        format!("The column {column} is {known}, which cannot become {kind}. Choose another type, or VARCHAR.");
    Error::invalid("columns", message).with(json!({ "field": "columns", "column": column }))
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    connection.execute_batch(sql).map_err(|cause| problem::of_import(&cause))
}
