//! What a Parquet file says of its columns: descriptions of fields in the Arrow schema that most writers put into it, and
//! the comments of Spark's tables.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use duckdb::Connection;
use serde_json::Value;

use super::columns::columns_of;
use crate::model::source::text_literal;

/// Where writers put what a column is about.
const NAMES: [&str; 3] = ["description", "comment", "doc"];
/// Bytes of what is looked at, and characters of what is kept of one column.
const BYTES: usize = 4 << 20;
const CHARS: usize = 500;

/// The descriptions of the columns of a made table by their names now, of a file that called them otherwise.
pub(super) fn of_table(connection: &Connection, path: &str, named: &[String]) -> HashMap<String, String> {
    let mut said = of_columns(connection, path);
    let now = columns_of(connection, "made", "data").unwrap_or_default();
    named.iter().zip(now).filter_map(|(named, now)| Some((now, said.remove(named)?))).collect()
}

/// The descriptions of columns by their names. What cannot be read says nothing.
fn of_columns(connection: &Connection, path: &str) -> HashMap<String, String> {
    let sql = format!(
        "SELECT CAST(decode(key) AS VARCHAR), value FROM parquet_kv_metadata({})
         WHERE octet_length(value) <= {BYTES} AND key IN ('ARROW:schema'::BLOB, 'org.apache.spark.sql.parquet.row.metadata'::BLOB)",
        text_literal(path)
    );
    let read = || -> duckdb::Result<Vec<(String, Vec<u8>)>> {
        connection.prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let said = read().unwrap_or_default().into_iter().flat_map(|(key, value)| match key.as_str() {
        "ARROW:schema" => of_arrow(&value),
        _ => of_spark(&value),
    });
    said.map(|(name, text)| (name, text.trim().chars().take(CHARS).collect())).collect()
}

fn of_arrow(value: &[u8]) -> Vec<(String, String)> {
    let bytes = STANDARD.decode(value).unwrap_or_default();
    let Ok(schema) = arrow_ipc::convert::try_schema_from_ipc_buffer(&bytes) else { return vec![] };
    let described = schema.fields().iter().filter_map(|field| {
        let said = field.metadata();
        Some((field.name().clone(), NAMES.iter().find_map(|name| said.get(name))?.clone()))
    });
    described.collect()
}

fn of_spark(value: &[u8]) -> Vec<(String, String)> {
    let schema: Value = serde_json::from_slice(value).unwrap_or_default();
    let fields = schema.get("fields").and_then(Value::as_array).into_iter().flatten();
    let of = |field: &Value| {
        let said = field.get("metadata")?;
        let text = NAMES.iter().find_map(|known| said.get(known)?.as_str())?;
        Some((field.get("name")?.as_str()?.to_owned(), text.to_owned()))
    };
    fields.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_spark_are_read_and_anything_else_says_nothing() {
        let spark = r#"{"type":"struct","fields":[
            {"name":"id","type":"long","metadata":{"comment":"Of the order"}},
            {"name":"x","type":"long","metadata":{}},{"name":7,"metadata":{"doc":"y"}}]}"#;
        assert_eq!(of_spark(spark.as_bytes()), [("id".to_owned(), "Of the order".to_owned())]);
        for broken in [&b"{"[..], b"[]", b"\xff", b""] {
            assert!(of_spark(broken).is_empty() && of_arrow(broken).is_empty());
        }
        assert!(of_arrow(STANDARD.encode([0xff; 64]).as_bytes()).is_empty());
    }
}
