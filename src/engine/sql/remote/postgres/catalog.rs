//! The tables and columns that a login can read, from the server's own catalogue.

use std::collections::HashMap;

use serde_json::json;

use super::Trouble;
use super::session::{Caps, Session};
use crate::engine::sql::remote::{Catalogue, FoundTable};
use crate::model::dataset::ColumnInfo;
use crate::model::error::{Code, Error};

/// Tables of one source.
pub(super) const TABLES: usize = 500;
/// Columns of all of them.
const COLUMNS: usize = 20_000;
/// Tables that are named of those that are left out.
const NAMED: usize = 5;
/// What to do about too many.
const ADVICE: &str =
    "Give the login those that are meant to be asked about: a schema of its own with views is a good way.";
/// Bytes of everything that is said about them.
const BYTES: usize = 8 << 20;
/// Examples of a column's values, and the characters of one.
const SAMPLES: usize = 5;
const SAMPLE_CHARS: usize = 80;
/// Characters of a description.
const DESCRIPTION: usize = 2_000;

/// Partitions are seen through the table that they are parts of.
pub(super) const READABLE: &str = "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
     AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)' \
     AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
     AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))";

/// The readable columns of readable tables.
fn readable_columns() -> String {
    format!(
        "FROM pg_catalog.pg_attribute a \
         WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid {READABLE}) \
         AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')"
    )
}

/// How many tables can be read, and in a sentence whether they have more columns than are kept.
pub(super) fn count(session: &mut Session) -> Result<(usize, String), Trouble> {
    let mut counted = |from: &str| {
        let fetched = session.fetch(&format!("SELECT pg_catalog.count(*) {from}"), Caps { rows: 1, bytes: BYTES })?;
        let count = fetched.rows.first().and_then(|row| row.first()?.as_ref()?.parse::<usize>().ok());
        count.ok_or_else(|| Trouble::odd("no count"))
    };
    let (tables, columns) = (counted(READABLE)?, counted(&readable_columns())?);
    let is_whole = columns <= COLUMNS;
    let left_out =
        format!("They have {columns} columns, of which {COLUMNS} are kept: some tables are left out. {ADVICE}");
    Ok((tables, if is_whole { String::new() } else { left_out }))
}

/// The readable tables, each with its readable columns, as long as there are no more columns than are kept.
pub(super) fn tables(session: &mut Session) -> Result<Catalogue, Trouble> {
    let sql = format!(
        "SELECT c.oid, n.nspname, c.relname, c.reltuples::pg_catalog.int8, \
         CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_relation_size(c.oid) END, \
         pg_catalog.obj_description(c.oid, 'pg_class') {READABLE} ORDER BY 2, 3 LIMIT {}",
        TABLES + 1
    );
    let fetched = session.fetch(&sql, Caps { rows: TABLES + 1, bytes: BYTES })?;
    if fetched.is_cut || fetched.rows.len() > TABLES {
        let message = format!("The login can read more than {TABLES} tables. {ADVICE}");
        return Err(Trouble::Told(Error::new(Code::LimitExceeded, message).with(json!({ "limit": "tables" }))));
    }
    let (mut columns, is_cut) = columns(session)?;
    let (mut tables, mut left_out) = (Vec::new(), Vec::new());
    for row in fetched.rows {
        let Ok([oid, schema, table, rows, bytes, description]) = <[_; 6]>::try_from(row) else {
            return Err(Trouble::odd("a table without a name"));
        };
        let number = |text: Option<String>| text.and_then(|text| text.parse::<i64>().ok());
        let columns = columns.remove(&oid.unwrap_or_default()).unwrap_or_default();
        let (schema, table) = (schema.unwrap_or_default(), table.unwrap_or_default());
        if columns.is_empty() {
            left_out.push(format!("{schema}.{table}"));
            continue;
        }
        tables.push(FoundTable {
            schema,
            table,
            columns,
            // Below zero before the first ANALYZE.
            row_count: number(rows).filter(|rows| *rows >= 0),
            bytes: number(bytes),
            description: shortened(&description.unwrap_or_default(), DESCRIPTION),
        });
    }
    samples(session, &mut tables)?;
    // One without columns is no table to ask about, and nothing is said of it.
    let left_out = if is_cut { too_many_columns(&left_out) } else { String::new() };
    Ok(Catalogue { tables, left_out })
}

fn too_many_columns(left_out: &[String]) -> String {
    let named = left_out.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if left_out.len() > NAMED { " and others" } else { "" };
    format!(
        "The tables of its login have more than {COLUMNS} columns: {} of them are left out, {named}{more}. {ADVICE}",
        left_out.len()
    )
}

/// The columns of whole tables by the table's number, and whether there are tables beyond.
fn columns(session: &mut Session) -> Result<(HashMap<String, Vec<ColumnInfo>>, bool), Trouble> {
    let sql = format!(
        "SELECT a.attrelid, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, \
         pg_catalog.col_description(a.attrelid, a.attnum) {} \
         ORDER BY a.attrelid, a.attnum LIMIT {}",
        readable_columns(),
        COLUMNS + 1
    );
    let fetched = session.fetch(&sql, Caps { rows: COLUMNS + 1, bytes: BYTES })?;
    if fetched.is_cut {
        return Err(Trouble::odd("more about its tables than can be kept"));
    }
    // The table of the first column that is too many is not whole.
    let beyond = fetched.rows.get(COLUMNS).and_then(|row| row.first()).map(|table| table.clone().unwrap_or_default());
    let mut columns: HashMap<String, Vec<ColumnInfo>> = HashMap::new();
    for row in fetched.rows {
        let Ok([table, name, kind, not_null, description]) = <[_; 5]>::try_from(row) else {
            return Err(Trouble::odd("a column without a name"));
        };
        columns.entry(table.unwrap_or_default()).or_default().push(ColumnInfo {
            name: name.unwrap_or_default(),
            r#type: kind.unwrap_or_default(),
            nullable: not_null.as_deref() != Some("t"),
            description: shortened(&description.unwrap_or_default(), DESCRIPTION),
            sample_values: Vec::new(),
            ..ColumnInfo::default()
        });
    }
    if let Some(beyond) = &beyond {
        columns.remove(beyond);
    }
    Ok((columns, beyond.is_some()))
}

/// The most common values as the server's own statistics have them: to whom row-level security hides rows, the server
/// hides these too.
fn samples(session: &mut Session, tables: &mut [FoundTable]) -> Result<(), Trouble> {
    let sql = format!(
        "SELECT s.schemaname, s.tablename, s.attname, pg_catalog.left(v.value, {SAMPLE_CHARS}) \
         FROM pg_catalog.pg_stats s, \
         LATERAL pg_catalog.unnest((s.most_common_vals::pg_catalog.text::pg_catalog.text[])[1:{SAMPLES}]) \
         WITH ORDINALITY AS v(value, n) \
         WHERE s.schemaname <> 'pg_catalog' AND s.schemaname <> 'information_schema' AND v.value IS NOT NULL \
         ORDER BY 1, 2, 3, v.n LIMIT {}",
        COLUMNS * SAMPLES
    );
    let fetched = match session.fetch(&sql, Caps { rows: COLUMNS * SAMPLES, bytes: BYTES }) {
        Ok(fetched) => fetched,
        // Examples are no reason to do without the tables.
        Err(Trouble::Refused(problem)) => {
            tracing::debug!(?problem, "a source gives no statistics");
            return Ok(());
        }
        Err(other) => return Err(other),
    };
    let mut values: HashMap<(String, String, String), Vec<String>> = HashMap::new();
    for row in fetched.rows {
        if let Ok([schema, table, column, Some(value)]) = <[_; 4]>::try_from(row) {
            let place = (schema.unwrap_or_default(), table.unwrap_or_default(), column.unwrap_or_default());
            values.entry(place).or_default().push(value);
        }
    }
    for table in tables {
        for column in &mut table.columns {
            let key = (table.schema.clone(), table.table.clone(), column.name.clone());
            column.sample_values = values.remove(&key).unwrap_or_default();
        }
    }
    Ok(())
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).take(most).collect()
}
