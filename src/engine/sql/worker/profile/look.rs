//! Values of columns, to find out whether they say something of people.

use duckdb::Connection;

use super::class::{Class, finite};
use crate::model::personal::{self, Content};
use crate::model::source::quoted;

/// Values of a column that are looked at, and characters of each.
const VALUES: i64 = 1_000;
const LOOK_CHARS: usize = 500;

/// A sample of a column's values, to be looked at for personal data.
pub(super) fn looked_at(
    connection: &Connection,
    table: &str,
    column: &str,
    class: Class,
    filled: i64,
) -> duckdb::Result<Vec<String>> {
    let step = (filled / VALUES).max(1);
    let value = match class {
        Class::Float | Class::Decimal => {
            format!("coalesce(TRY_CAST({column} AS HUGEINT)::VARCHAR, {column}::VARCHAR)")
        }
        _ => format!("CAST({column} AS VARCHAR)"),
    };
    let sql = format!(
        "SELECT left({value}, {LOOK_CHARS}) FROM {table} WHERE {column} IS NOT NULL AND hash(rowid) % {step} = 0
         LIMIT {VALUES}"
    );
    let mut statement = connection.prepare(&sql)?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// What a column of a new table seems to say of people: what its profile will say of it. `filled` are its values.
pub(in super::super) fn personal_kind(
    connection: &Connection,
    table: &str,
    name: &str,
    r#type: &str,
    filled: i64,
) -> duckdb::Result<Option<personal::Kind>> {
    let (class, column) = (Class::of(r#type), quoted(name));
    let greatest: Option<String> = match class.content() {
        Content::Whole => {
            let sql = format!("SELECT CAST(max({}) AS VARCHAR) FROM {table}", finite(class, &column));
            connection.query_row(&sql, [], |row| row.get(0))?
        }
        _ => None,
    };
    let values = match filled > 0 && class.could_be_personal(greatest.as_deref()) {
        true => looked_at(connection, table, &column, class, filled)?,
        false => Vec::new(),
    };
    Ok(personal::judge_column(name, r#type, &values).map(|finding| finding.kind))
}
