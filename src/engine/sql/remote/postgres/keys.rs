//! What a server's catalogue declares of tables: keys, references to other tables, and the values of enumerations.

use std::collections::BTreeMap;

use super::Trouble;
use super::catalog::READABLE;
use super::session::{Caps, Session};
use crate::engine::sql::remote::{Declared, FoundKeys, FoundReference};

/// Keys of all tables of a source, references, and enumerations.
const KEYS: usize = 20_000;
/// One more is asked for, so that it is known whether there are more.
const BEYOND: usize = KEYS + 1;
/// Bytes of all that is said of them.
const BYTES: usize = 8 << 20;

/// What is declared of the readable tables.
pub(super) fn declared(session: &mut Session) -> Result<Declared, Trouble> {
    let mut left_out = Vec::new();
    let mut found: BTreeMap<(String, String), FoundKeys> = BTreeMap::new();
    // Of unique indexes those that hold for all rows and compare columns as they are.
    let keys = rows(
        session,
        "keys",
        &mut left_out,
        &format!(
            "SELECT n.nspname, c.relname, i.indisprimary, {} FROM pg_catalog.pg_index i \
             JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL \
             AND c.oid IN (SELECT c.oid {READABLE}) ORDER BY 1, 2, 3 DESC, i.indexrelid LIMIT {BEYOND}",
            names("i.indrelid", "(i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1]")
        ),
    )?;
    for row in keys {
        let [schema, table, primary, columns] = row.as_slice() else {
            return Err(Trouble::odd("a key without a table"));
        };
        let keys = found.entry((schema.clone(), table.clone())).or_default();
        match primary.as_str() {
            "t" => keys.primary = list(columns)?,
            _ => keys.unique.push(list(columns)?),
        }
    }
    let references = rows(
        session,
        "references",
        &mut left_out,
        &format!(
            "SELECT n.nspname, c.relname, {}, fn.nspname, fc.relname, {} FROM pg_catalog.pg_constraint k \
             JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_catalog.pg_class fc ON fc.oid = k.confrelid \
             JOIN pg_catalog.pg_namespace fn ON fn.oid = fc.relnamespace \
             WHERE k.contype = 'f' AND k.convalidated AND c.oid IN (SELECT c.oid {READABLE}) \
             AND fc.oid IN (SELECT c.oid {READABLE}) ORDER BY 1, 2, k.oid LIMIT {BEYOND}",
            names("k.conrelid", "k.conkey"),
            names("k.confrelid", "k.confkey")
        ),
    )?;
    for row in references {
        let [schema, table, columns, to_schema, to_table, to_columns] = row.as_slice() else {
            return Err(Trouble::odd("a reference without a table"));
        };
        let keys = found.entry((schema.clone(), table.clone())).or_default();
        keys.references.push(FoundReference {
            columns: list(columns)?,
            schema: to_schema.clone(),
            table: to_table.clone(),
            to_columns: list(to_columns)?,
        });
    }
    let values = rows(
        session,
        "enumerations",
        &mut left_out,
        &format!(
            "SELECT n.nspname, c.relname, a.attname, pg_catalog.array_to_json(ARRAY(SELECT e.enumlabel::pg_catalog.text \
             FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder)) \
             FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
             JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE t.typtype = 'e' AND a.attnum > 0 AND NOT a.attisdropped AND c.oid IN (SELECT c.oid {READABLE}) \
             AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') ORDER BY 1, 2, a.attnum LIMIT {BEYOND}"
        ),
    )?;
    for row in values {
        let [schema, table, column, values] = row.as_slice() else {
            return Err(Trouble::odd("values without a column"));
        };
        let keys = found.entry((schema.clone(), table.clone())).or_default();
        keys.values.insert(column.clone(), list(values)?);
    }
    Ok(Declared { keys: found, left_out })
}

/// The names of a table's columns by their numbers, in that order, as a JSON list.
fn names(table: &str, numbers: &str) -> String {
    format!(
        "pg_catalog.array_to_json(ARRAY(SELECT a.attname::pg_catalog.text \
         FROM pg_catalog.unnest({numbers}) WITH ORDINALITY AS u(number, place) \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = {table} AND a.attnum = u.number ORDER BY u.place))"
    )
}

fn rows(session: &mut Session, what: &str, left_out: &mut Vec<String>, sql: &str) -> Result<Vec<Vec<String>>, Trouble> {
    let mut fetched = session.fetch(sql, Caps { rows: BEYOND, bytes: BYTES })?;
    if fetched.is_cut {
        return Err(Trouble::odd("more about its keys than can be kept"));
    }
    if fetched.rows.len() > KEYS {
        fetched.rows.truncate(KEYS);
        left_out.push(format!("It declares more than {KEYS} {what}: the others are left out."));
    }
    Ok(fetched.rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect())
}

fn list(text: &str) -> Result<Vec<String>, Trouble> {
    serde_json::from_str(text).map_err(|_| Trouble::odd("a list that is none"))
}
