//! Names and types of columns on their way into a table: what an import and what people correct of it have in common.

use duckdb::Connection;

use super::instance::internal;
use super::source::Dialect;
use crate::model::error::Result;
use crate::model::source::text_literal;

/// The type of texts.
pub(super) const TEXT: &str = "VARCHAR";

/// Values that are named of those that do not fit.
pub(super) const PROBLEMS: usize = 10;

/// Bytes of a column's name, less a number that makes it unique: every answer about the table repeats it.
const NAME: usize = 255;

/// How CSV is read, whoever says what its columns are.
pub(super) fn csv(dialect: &Dialect) -> String {
    let quote = text_literal(&dialect.quote.to_string());
    let separator = dialect.separator.map(|sign| format!(", delim={}", text_literal(&sign.to_string())));
    format!("sample_size=-1, quote={quote}, escape={quote}{}, comment=''", separator.unwrap_or_default())
}

/// What is said of those besides the first, where no more than so many were looked for; nothing where there are none.
pub(super) fn more(found: usize) -> String {
    match found {
        0 | 1 => String::new(),
        2 => " 1 more is like it.".to_owned(),
        PROBLEMS.. => format!(" At least {} more are like it.", PROBLEMS - 1),
        _ => format!(" {} more are like it.", found - 1),
    }
}

/// Words that cannot be a name without quotes.
pub(super) fn reserved(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')";
    list(connection, sql).map_err(|cause| internal(&cause))
}

/// The columns of a table, in order.
pub(super) fn columns_of(connection: &Connection, database: &str, table: &str) -> duckdb::Result<Vec<String>> {
    let sql = format!(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = '{database}' AND table_name = '{table}' \
         ORDER BY column_index"
    );
    list(connection, &sql)
}

pub(super) fn list(connection: &Connection, sql: &str) -> duckdb::Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

pub(super) fn plain_names(names: &[String], reserved: &[String]) -> Vec<String> {
    let is_plain = |name: &str| {
        name.len() <= NAME
            && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !reserved.contains(&name.to_ascii_lowercase())
    };
    let mut taken: Vec<String> = names.iter().filter(|name| is_plain(name)).map(|name| name.to_lowercase()).collect();
    let mut given = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if is_plain(name) {
            given.push(name.clone());
            continue;
        }
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut base = words.collect::<Vec<_>>().join("_").to_lowercase();
        base.truncate(base.floor_char_boundary(NAME));
        if base.is_empty() {
            base = format!("column_{}", index + 1);
        } else if !base.starts_with(char::is_alphabetic) || reserved.contains(&base) {
            base = format!("c_{base}");
        }
        let mut unique = base.clone();
        let mut number = 2;
        while taken.contains(&unique) {
            unique = format!("{base}_{number}");
            number += 1;
        }
        taken.push(unique.clone());
        given.push(unique);
    }
    given
}

/// The type of a column of a table, as SQL writes it.
pub(super) fn type_of(
    connection: &Connection,
    (database, table): (&str, &str),
    column: &str,
) -> duckdb::Result<String> {
    let sql = "SELECT data_type FROM duckdb_columns() WHERE database_name = ? AND table_name = ? AND column_name = ?";
    connection.query_row(sql, [database, table, column], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_work_stay_and_others_become_words() {
        let names = ["Year", "dep time", "order", "", "2013", "%", "dep_time", "Größe", "dep.time"].map(str::to_owned);
        let given = plain_names(&names, &["order".to_owned()]);
        let expected =
            ["Year", "dep_time_2", "c_order", "column_4", "c_2013", "column_6", "dep_time", "Größe", "dep_time_3"];
        assert_eq!(given, expected);
        let long = ["é".repeat(200), format!("{}!", "x".repeat(300)), "x".repeat(300)];
        let expected = ["é".repeat(127), "x".repeat(255), format!("{}_2", "x".repeat(255))];
        assert_eq!(plain_names(&long, &[]), expected);
    }
}
