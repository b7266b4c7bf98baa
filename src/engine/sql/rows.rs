//! The Arrow stream of a worker becomes a table: rows of JSON values, or of the text that callers get, written once.

use arrow_ipc::reader::StreamReader;
use duckdb::arrow::record_batch::RecordBatch;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::render::{Cell, Shape};
use super::wire::Rows;
use crate::base::json;
use crate::model::dataset::ColumnInfo;
use crate::model::error::{Code, Error, Result};
use crate::model::table::{Column, RowText, Table};

/// A row as whoever asked needs it: its values, or the text of its JSON.
pub trait Row: Sized + Send + 'static {
    /// From what is an array of JSON; with its bytes as text.
    ///
    /// # Errors
    /// A value has no JSON form: the error says its type.
    fn of(row: &impl Serialize) -> serde_json::Result<(Self, usize)>;

    /// Its values.
    ///
    /// # Errors
    /// The text is no array of JSON.
    fn values(&self) -> serde_json::Result<Vec<Value>>;

    /// From values.
    ///
    /// # Errors
    /// As [`Row::of`].
    fn of_values(values: Vec<Value>) -> serde_json::Result<Self>;
}

impl Row for Vec<Value> {
    fn of(row: &impl Serialize) -> serde_json::Result<(Self, usize)> {
        let Value::Array(values) = serde_json::to_value(row)? else {
            return Err(serde_json::Error::custom("a row that is no list"));
        };
        let bytes = json::size(&values)?;
        Ok((values, bytes))
    }

    fn values(&self) -> serde_json::Result<Vec<Value>> {
        Ok(self.clone())
    }

    fn of_values(values: Vec<Value>) -> serde_json::Result<Self> {
        Ok(values)
    }
}

impl Row for RowText {
    fn of(row: &impl Serialize) -> serde_json::Result<(Self, usize)> {
        let text = to_raw_value(row)?;
        let bytes = text.get().len();
        Ok((text, bytes))
    }

    fn values(&self) -> serde_json::Result<Vec<Value>> {
        serde_json::from_str(self.get())
    }

    fn of_values(values: Vec<Value>) -> serde_json::Result<Self> {
        to_raw_value(&values)
    }
}

/// A row where it lies in a batch.
struct Unread<'a> {
    batch: &'a RecordBatch,
    row: usize,
    shapes: &'a [Shape],
}

impl Serialize for Unread<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let columns = self.batch.columns().iter().zip(self.shapes);
        to.collect_seq(columns.map(|(array, shape)| Cell { array, row: self.row, shape: Some(shape) }))
    }
}

/// Reads a whole stream, whose every buffer is checked: a worker may have been taken over by what it ran. Arrow's reader
/// panics on some of what no engine would write; that is an error like another. Rows beyond `max_bytes` of JSON are cut
/// off, and the table says so.
///
/// # Errors
/// `invalid_argument` for a type that has no JSON form; `limit_exceeded` when the first row alone is too large;
/// `internal_error` when the bytes are no stream.
pub fn table<R: Row>(rows: &Rows, payload: &[u8], max_bytes: usize) -> Result<Table<R>> {
    std::panic::catch_unwind(|| read(rows, payload, max_bytes))
        .unwrap_or_else(|_| Err(Error::internal("a worker's rows are no Arrow stream: its reader panicked")))
}

fn read<R: Row>(rows: &Rows, payload: &[u8], max_bytes: usize) -> Result<Table<R>> {
    let stream = StreamReader::try_new(payload, None).map_err(Error::internal)?;
    let schema = stream.schema();
    if schema.fields().len() != rows.shapes.len() || rows.names.len() != rows.shapes.len() {
        return Err(Error::internal("a worker's rows do not have the columns that it named"));
    }
    let named = rows.names.iter().zip(&rows.shapes);
    let columns: Vec<Column> =
        named.map(|(name, shape)| Column { name: name.clone(), r#type: shape.name().to_owned() }).collect();
    let mut bytes = json::size(&columns).map_err(Error::internal)?;
    if bytes > max_bytes / 2 {
        let message = "The names and types of the columns alone take half of a reply. Select fewer columns.";
        return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "columns" })));
    }
    let mut table = Table { columns, rows: vec![], truncated: rows.truncated };
    for batch in stream {
        let batch: RecordBatch = batch.map_err(Error::internal)?;
        for row in 0..batch.num_rows() {
            let unread = Unread { batch: &batch, row, shapes: &rows.shapes };
            let (row, size) = R::of(&unread).map_err(|r#type| unreadable(&r#type.to_string()))?;
            bytes += size + 1;
            if bytes > max_bytes {
                if table.rows.is_empty() {
                    return Err(too_wide(None, max_bytes));
                }
                table.truncated = true;
                return Ok(table);
            }
            table.rows.push(row);
        }
    }
    Ok(table)
}

/// The same table with rows as whoever asked needs them.
///
/// # Errors
/// `internal_error`.
pub fn as_rows<R: Row>(table: Table) -> Result<Table<R>> {
    let Table { columns, rows, truncated } = table;
    let rows = rows.into_iter().map(R::of_values).collect::<serde_json::Result<_>>().map_err(Error::internal)?;
    Ok(Table { columns, rows, truncated })
}

/// Puts into the rows of a table's `DESCRIBE` what is known of NULLs in its columns: of the view that it describes, the
/// engine says of every column that it may have some.
///
/// # Errors
/// `internal_error`.
pub fn say_nulls<R: Row>(table: &mut Table<R>, columns: &[ColumnInfo]) -> Result<()> {
    let at = |name: &str| table.columns.iter().position(|column| column.name == name);
    let (Some(name), Some(null)) = (at("column_name"), at("null")) else { return Ok(()) };
    for row in &mut table.rows {
        let mut values = row.values().map_err(Error::internal)?;
        let known = values.get(name).and_then(Value::as_str);
        let is_filled = columns.iter().any(|column| Some(column.name.as_str()) == known && !column.nullable);
        if is_filled && let Some(cell) = values.get_mut(null) {
            *cell = "NO".into();
            *row = R::of_values(values).map_err(Error::internal)?;
        }
    }
    Ok(())
}

fn unreadable(r#type: &str) -> Error {
    let message = format!("Values of type {type} cannot be returned. Convert them: CAST(… AS VARCHAR).");
    Error::new(Code::InvalidArgument, message).with(json!({ "type": r#type }))
}

/// One row is larger than a whole reply may be: where it is known, the one at this place.
pub fn too_wide(at: Option<usize>, limit: usize) -> Error {
    let row = at.map(|at| at + 1);
    let which = row.map_or_else(|| "A single row".to_owned(), |row| format!("Row {row} of the result alone"));
    let message =
        format!("{which} is larger than {limit} bytes. Select fewer columns, or shorten texts: left(c, 200).");
    let mut details = json!({ "limit": "bytes", "bytes": limit });
    if let Some(row) = row {
        json::put(&mut details, "row", row);
    }
    Error::new(Code::LimitExceeded, message).with(details)
}

#[cfg(test)]
mod tests;
