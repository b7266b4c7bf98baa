//! Columns that the engine's reader took for what their text is not: account numbers for powers of ten, `31.12.24` for a
//! day of 2031. They are read again as text; then it is found how their days are written.

use duckdb::Connection;

use super::columns::{TEXT, columns_of, csv, plain_names};
use super::hints;
use super::instance::internal;
use super::reading::{Order, best};
use super::source::Dialect;
use crate::engine::sql::TableFormat;
use crate::model::column_change::{ColumnChange, is_date};
use crate::model::error::Result;
use crate::model::source::{quoted, text_literal};

/// A column that is better read as text, and what the reader took it for.
pub(super) struct Misread {
    pub(super) column: String,
    kind: String,
}

impl Misread {
    pub(super) fn as_text(&self) -> ColumnChange {
        ColumnChange { column: self.column.clone(), r#type: Some(TEXT.to_owned()), ..ColumnChange::default() }
    }
}

/// What the reader misread of the file that is in `made.main.data`, by the names that its columns get.
pub(super) fn found(
    connection: &Connection,
    path: &str,
    (format, dialect): (TableFormat, &Dialect),
    reserved: &[String],
) -> Result<Vec<Misread>> {
    let path = text_literal(path);
    let text = |header: bool, columns: &[String]| match format {
        TableFormat::Json => {
            let columns: Vec<String> = columns.iter().map(|name| format!("{}: '{TEXT}'", text_literal(name))).collect();
            format!("read_json({path}, format='auto', columns={{{}}})", columns.join(", "))
        }
        _ => format!("read_csv({path}, {}, header={header}, all_varchar=true, ignore_errors=true)", csv(dialect)),
    };
    let mut misread = match format {
        TableFormat::Csv => codes(connection, &text)?,
        TableFormat::Json | TableFormat::Parquet | TableFormat::Sheet(_) => vec![],
    };
    if matches!(format, TableFormat::Csv | TableFormat::Json) {
        misread.extend(days(connection, &text)?);
    }
    let columns = columns_of(connection, "made", "data").map_err(|cause| internal(&cause))?;
    let plain = plain_names(&columns, reserved);
    for misread in &mut misread {
        if let Some((_, plain)) = columns.iter().zip(&plain).find(|(name, _)| **name == misread.column) {
            misread.column.clone_from(plain);
        }
    }
    Ok(misread)
}

/// What reads columns of the file as text, with a line of names or without.
type Text<'t> = dyn Fn(bool, &[String]) -> String + 't;

/// Numbers that are codes, as `411E123` among account numbers is no 4.11e125: where a column of numbers has no fraction,
/// some values have an exponent and no point, and others are plain.
fn codes(connection: &Connection, text: &Text<'_>) -> Result<Vec<Misread>> {
    let numbers = of_types(connection, "'DOUBLE'")?;
    let numbers: Vec<String> = numbers.into_iter().map(|(name, _)| name).collect();
    let is_whole = |name: &String| format!("coalesce(bool_and({name} = floor({name})), false)", name = quoted(name));
    let whole = which(connection, &numbers, &is_whole, "made.main.data").map_err(|cause| internal(&cause))?;
    let is_mixed = |name: &String| {
        let name = quoted(name);
        let some = |pattern| format!("coalesce(bool_or(regexp_full_match({name}, '{pattern}')), false)");
        format!("{} AND {}", some("[0-9]+[eE][0-9]+"), some("[0-9]+"))
    };
    // A file without a header has no columns of those names: what they were read as stays.
    let codes = which(connection, &whole, &is_mixed, &text(true, &whole)).unwrap_or_default();
    Ok(codes.into_iter().map(|column| Misread { column, kind: "DOUBLE".to_owned() }).collect())
}

/// Days that are not written year first with four digits: the reader knows one way for the whole file, takes `31.12.24`
/// for a day of 2031, and `01/02/2024` for the first of two that it could be. All values of a column are written alike, so
/// that the first tells.
fn days(connection: &Connection, text: &Text<'_>) -> Result<Vec<Misread>> {
    let dates = of_types(connection, "'DATE', 'TIMESTAMP'")?;
    if dates.is_empty() {
        return Ok(vec![]);
    }
    let names: Vec<String> = dates.iter().map(|(name, _)| name.clone()).collect();
    let firsts: Vec<String> =
        names.iter().map(|name| format!("min(rowid) FILTER (WHERE {} IS NOT NULL)", quoted(name))).collect();
    let firsts = format!("SELECT list_max([{}]) FROM made.main.data", firsts.join(", "));
    let last: Option<i64> = connection.query_row(&firsts, [], |row| row.get(0)).map_err(|cause| internal(&cause))?;
    let is_other = |name: &String| {
        let name = quoted(name);
        format!("coalesce(bool_or(trim({name}) <> '' AND NOT regexp_matches(trim({name}), '^[0-9]{{4}}')), false)")
    };
    let until = |header| {
        let text = text(header, &names);
        format!("(SELECT * FROM {text} LIMIT {})", last.unwrap_or_default() + 1)
    };
    let others = which(connection, &names, &is_other, &until(true))
        .or_else(|_| which(connection, &names, &is_other, &until(false)))
        .map_err(|cause| internal(&cause))?;
    let is_other = |(column, _): &(String, String)| others.contains(column);
    Ok(dates.into_iter().filter(is_other).map(|(column, kind)| Misread { column, kind }).collect())
}

/// The columns of some types, with these.
fn of_types(connection: &Connection, types: &str) -> Result<Vec<(String, String)>> {
    let sql = format!(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'made' AND table_name = 'data' \
         AND data_type IN ({types}) ORDER BY column_index"
    );
    let read = || -> duckdb::Result<Vec<(String, String)>> {
        let mut statement = connection.prepare(&sql)?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    read().map_err(|cause| internal(&cause))
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

/// What people corrected, and the days that the reader misread, where all of a column are some. It knows one order for a
/// file and leaves days in another as texts: where it found some, those are days too.
pub(super) fn settled(
    connection: &Connection,
    changes: &[ColumnChange],
    misread: &[Misread],
) -> Result<Vec<ColumnChange>> {
    let mut changes = changes.to_vec();
    let dates = misread.iter().filter(|misread| is_date(&misread.kind));
    let mut dates: Vec<(String, String)> = dates.map(|date| (date.column.clone(), date.kind.clone())).collect();
    if !dates.is_empty() {
        let texts = hints::candidates(connection, &changes)?;
        dates.extend(texts.into_iter().filter(|(_, is_day)| *is_day).map(|(column, _)| (column, "DATE".to_owned())));
    }
    for (column, kind) in dates {
        let fits = |kind: &&str| best(connection, &column, TEXT, kind).is_ok_and(|reading| reading.unfit == 0);
        let Some(kind) = [kind.as_str(), "TIMESTAMP"].into_iter().find(fits).map(str::to_owned) else { continue };
        match changes.iter_mut().find(|change| change.column.eq_ignore_ascii_case(&column)) {
            Some(change) if change.r#type.is_none() => change.r#type = Some(kind),
            Some(_) => {}
            None => changes.push(ColumnChange { column, r#type: Some(kind), ..ColumnChange::default() }),
        }
    }
    in_one_order(connection, &mut changes);
    Ok(changes)
}

/// One file writes its days in one order: what is sure of one column decides for another that could be read in several.
fn in_one_order(connection: &Connection, changes: &mut [ColumnChange]) {
    let mut sure: Vec<Order> = Vec::new();
    let mut unsure: Vec<(&mut ColumnChange, Vec<Order>)> = Vec::new();
    for change in changes.iter_mut().filter(|change| !change.leave_out) {
        let Some(kind) = change.r#type.as_deref().filter(|kind| is_date(kind)) else { continue };
        let Ok(reading) = best(connection, &change.column, TEXT, kind) else { continue };
        let rivals: Vec<Order> = reading.rivals.iter().map(|(order, _)| *order).collect();
        match reading.order {
            Some(order) if rivals.is_empty() => sure.push(order),
            Some(order) => unsure.push((change, [vec![order], rivals].concat())),
            None => {}
        }
    }
    sure.sort_unstable();
    sure.dedup();
    let [order] = sure.as_slice() else { return };
    for (change, _) in unsure.into_iter().filter(|(_, orders)| orders.contains(order)) {
        change.r#type = change.r#type.as_deref().map(|kind| format!("{kind}({order})"));
    }
}
