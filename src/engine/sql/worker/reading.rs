//! How the values of a column become those of a type that it is given, whatever kind of file they came in: texts that say
//! that there is nothing become NULL, decimals may have a comma, and days be written as people write them.

use duckdb::Connection;

use super::columns::TEXT;
use crate::model::source::{quoted, text_literal};

/// What people and programs write where there is nothing.
const NOTHING: [&str; 31] = [
    "-",
    "--",
    "---",
    "–",
    "—",
    "?",
    "??",
    ".",
    "n/a",
    "#n/a",
    "na",
    "<na>",
    "n.a.",
    "n/d",
    "n.d.",
    "s/d",
    "k.a.",
    "k. a.",
    "nan",
    "null",
    "(null)",
    "\\n",
    "nil",
    "none",
    "unknown",
    "unbekannt",
    "leer",
    "empty",
    "missing",
    "keine angabe",
    "inconnu",
];

/// How a day is written beside the one way that the engine knows by itself; where two fit, the first.
const DAYS: [&str; 9] =
    ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%m.%d.%Y", "%Y.%m.%d", "%d %m %Y", "%m %d %Y"];
const TIMES: [&str; 5] = ["", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p"];

/// A way to read a column as values of a type, in SQL over `made.main.data`.
pub(super) struct Reading {
    /// The value; NULL where there is none, and where what is there is none of the type.
    pub(super) value: String,
    /// Whether what is there says that there is nothing.
    pub(super) is_nothing: String,
    /// How many values there are.
    pub(super) fits: i64,
    /// Whether they are written as the engine writes them.
    pub(super) is_plain: bool,
}

/// The way that fits most values of a column, which is of the type `known` so far.
///
/// # Errors
/// No value of the one type can become one of the other.
pub(super) fn best(connection: &Connection, column: &str, known: &str, kind: &str) -> duckdb::Result<Reading> {
    let column = quoted(column);
    let (is_nothing, ways) = match known {
        TEXT => (nothing(&column), of_text(&column, kind)),
        _ => ("false".to_owned(), vec![plain(&column, kind)]),
    };
    let counts: Vec<String> = ways.iter().map(|value| format!("count({value})")).collect();
    let counts = format!("SELECT {} FROM made.main.data", counts.join(", "));
    let counted: Vec<i64> = connection.query_row(&counts, [], |row| (0..ways.len()).map(|at| row.get(at)).collect())?;
    let mut best = Reading { value: "NULL".to_owned(), is_nothing, fits: -1, is_plain: true };
    for (at, (value, fits)) in ways.into_iter().zip(counted).enumerate() {
        if fits > best.fits {
            best = Reading { value, fits, is_plain: at == 0, ..best };
        }
    }
    Ok(best)
}

/// Whether a text says that there is nothing.
pub(super) fn nothing(column: &str) -> String {
    let words: Vec<String> = NOTHING.iter().map(|word| text_literal(word)).collect();
    format!("lower(trim({column})) IN ({})", words.join(", "))
}

fn of_text(column: &str, kind: &str) -> Vec<String> {
    let text = format!("CASE WHEN {} THEN NULL ELSE trim({column}) END", nothing(column));
    // A year of two digits would be one of the Roman empire.
    let dated = |value: String| format!("CASE WHEN regexp_matches({column}, '[0-9]{{4}}') THEN {value} END");
    let by_format = |format: &str| match kind {
        "DATE" => dated(format!("CAST(try_strptime({text}, '{format}') AS DATE)")),
        _ => {
            let formats: Vec<String> = TIMES.iter().map(|time| format!("'{format}{time}'")).collect();
            dated(format!("try_strptime({text}, [{}])", formats.join(", ")))
        }
    };
    match kind {
        "DATE" | "TIMESTAMP" => {
            [dated(plain(&text, kind))].into_iter().chain(DAYS.iter().copied().map(by_format)).collect()
        }
        _ if kind == "DOUBLE" || kind.starts_with("DECIMAL") => {
            // Where a comma is the decimal point, a point is something else.
            let comma = format!("CASE WHEN contains({column}, '.') THEN NULL ELSE replace({text}, ',', '.') END");
            vec![plain(&text, kind), plain(&comma, kind)]
        }
        _ => vec![plain(&text, kind)],
    }
}

/// As the engine converts, but that no whole number is made of a part of another.
fn plain(value: &str, kind: &str) -> String {
    let cast = format!("TRY_CAST({value} AS {kind})");
    match kind.ends_with("INT") || kind == "INTEGER" {
        true => format!("CASE WHEN {cast} = TRY_CAST({value} AS DOUBLE) THEN {cast} END"),
        false => cast,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a column of texts becomes; `None` for NULL.
    fn read(kind: &str, texts: &[&str]) -> Vec<Option<String>> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("ATTACH ':memory:' AS made; CREATE TABLE made.main.data (x VARCHAR)").unwrap();
        for text in texts {
            connection.execute("INSERT INTO made.main.data VALUES (?)", [text]).unwrap();
        }
        let value = best(&connection, "x", TEXT, kind).unwrap().value;
        let sql = format!("SELECT CAST({value} AS VARCHAR) FROM made.main.data ORDER BY rowid");
        let mut statement = connection.prepare(&sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<duckdb::Result<_>>().unwrap()
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        for (kind, texts, values) in [
            ("BIGINT", &["7", " N/A ", "-3", "1.5", "1.0", "?"][..], &["7", "", "-3", "", "1", ""][..]),
            ("DOUBLE", &["1,5", "22,25", "2", "–", "1.234"], &["1.5", "22.25", "2.0", "", ""]),
            ("DOUBLE", &["1.5", "2", "1,5"], &["1.5", "2.0", ""]),
            ("DECIMAL(18,2)", &["1,50", "n/a"], &["1.50", ""]),
            ("DATE", &["2024-12-31", "null", "31.12.2024"], &["2024-12-31", "", ""]),
            ("DATE", &["31.12.2024", "1.2.2024", "unknown"], &["2024-12-31", "2024-02-01", ""]),
            ("DATE", &["12/31/2024", "01/02/2024"], &["2024-12-31", "2024-01-02"]),
            ("DATE", &["31.12.24", "31-12-24"], &["", ""]),
            ("TIMESTAMP", &["31.12.2024 10:30", "1.1.2024"], &["2024-12-31 10:30:00", "2024-01-01 00:00:00"]),
            ("BOOLEAN", &["yes", "no", "unknown"], &["true", "false", ""]),
        ] {
            let read: Vec<String> = read(kind, texts).into_iter().map(Option::unwrap_or_default).collect();
            assert_eq!(read, values, "{kind} {texts:?}");
        }
    }
}
