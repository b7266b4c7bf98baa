//! The Arrow stream of a worker becomes a table of JSON values.

use arrow_ipc::reader::StreamReader;
use duckdb::arrow::record_batch::RecordBatch;
use serde_json::{Value, json};

use super::wire::Rows;
use super::worker::render;
use crate::model::error::{Code, Error, Result};
use crate::model::table::{Column, Table};

/// Reads a whole stream, whose every buffer is checked: a worker may have been taken over by what it ran. Arrow's reader
/// panics on some of what no engine would write; that is an error like another. Rows beyond `max_bytes` of JSON are cut
/// off, and the table says so.
///
/// # Errors
/// `invalid_argument` for a type that has no JSON form; `limit_exceeded` when the first row alone is too large;
/// `internal_error` when the bytes are no stream.
pub fn table(rows: &Rows, payload: &[u8], max_bytes: usize) -> Result<Table> {
    std::panic::catch_unwind(|| read(rows, payload, max_bytes))
        .unwrap_or_else(|_| Err(Error::internal("a worker's rows are no Arrow stream: its reader panicked")))
}

fn read(rows: &Rows, payload: &[u8], max_bytes: usize) -> Result<Table> {
    let stream = StreamReader::try_new(payload, None).map_err(Error::internal)?;
    let schema = stream.schema();
    if schema.fields().len() != rows.shapes.len() || rows.names.len() != rows.shapes.len() {
        return Err(Error::internal("a worker's rows do not have the columns that it named"));
    }
    let named = rows.names.iter().zip(&rows.shapes);
    let columns: Vec<Column> =
        named.map(|(name, shape)| Column { name: name.clone(), r#type: shape.name().to_owned() }).collect();
    let mut bytes = serde_json::to_vec(&columns).map_or(usize::MAX, |text| text.len());
    if bytes > max_bytes / 2 {
        let message = "The names and types of the columns alone take half of a reply. Select fewer columns.";
        return Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "columns" })));
    }
    let mut table = Table { columns, rows: vec![], truncated: rows.truncated };
    for batch in stream {
        let batch: RecordBatch = batch.map_err(Error::internal)?;
        for index in 0..batch.num_rows() {
            let cells = batch.columns().iter().zip(&rows.shapes);
            let row = cells.map(|(column, shape)| render::value(column, index, Some(shape)));
            let row: Vec<Value> = row.collect::<std::result::Result<_, _>>().map_err(|r#type| unreadable(&r#type))?;
            bytes += serde_json::to_vec(&row).map_or(usize::MAX, |text| text.len() + 1);
            if bytes > max_bytes {
                if table.rows.is_empty() {
                    return Err(too_wide(max_bytes));
                }
                table.truncated = true;
                return Ok(table);
            }
            table.rows.push(row);
        }
    }
    Ok(table)
}

fn unreadable(r#type: &str) -> Error {
    let message = format!("Values of type {type} cannot be returned. Convert them: CAST(… AS VARCHAR).");
    Error::new(Code::InvalidArgument, message).with(json!({ "type": r#type }))
}

/// One row is larger than a whole reply may be.
pub fn too_wide(limit: usize) -> Error {
    let message =
        format!("A single row is larger than {limit} bytes. Select fewer columns, or shorten texts: left(c, 200).");
    Error::new(Code::LimitExceeded, message).with(json!({ "limit": "bytes", "bytes": limit }))
}
