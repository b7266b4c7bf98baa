//! How the values of a column become those of a type that it is given, whatever kind of file they came in: texts that say
//! that there is nothing become NULL, decimals may have a comma, and days be written as people write them.

use duckdb::Connection;

use super::columns::TEXT;
use crate::model::column_change::{ORDERS, is_date, unordered};
use crate::model::source::{quoted, text_literal};

/// What people and programs write where there is nothing.
const NOTHING: [&str; 31] = [
    "-", "--", "---", "–", "—", "?", "??", ".", "n/a", "#n/a", "na", "<na>", "n.a.", "n/d", "n.d.", "s/d", "k.a.",
    "k. a.", "nan", "null", "(null)", "\\n", "nil", "none", "unknown", "unbekannt", "leer", "empty", "missing",
    "keine angabe", "inconnu",
];

/// What stands between the parts of a day in digits.
const BETWEEN: [char; 4] = ['.', '/', '-', ' '];
const TIMES: [&str; 5] = ["", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p"];

/// So many times as far apart are days whose year is looked for in the wrong place.
const NEARER: i64 = 5;

/// A way to read a column as values of a type, in SQL over `made.main.data`.
pub(super) struct Reading {
    /// The value; NULL where there is none, and where what is there is none of the type.
    pub(super) value: String,
    /// The order of the parts of a day, where it is not the engine's own.
    pub(super) order: Option<Order>,
    /// How many values there are, and how many are neither that nor say that there is nothing.
    pub(super) fits: i64,
    pub(super) unfit: i64,
    /// Whether what is there says that there is nothing.
    pub(super) is_nothing: String,
    /// Whether they are written as the engine writes them.
    pub(super) is_plain: bool,
    /// Other orders in which as many values are days, and not all the same ones, with what reads them.
    pub(super) rivals: Vec<(Order, String)>,
}

/// An order in which the parts of a day are written, of [`ORDERS`].
pub(super) type Order = &'static str;

struct Way {
    value: String,
    order: Option<Order>,
    is_plain: bool,
}

/// The way that fits most values of a column, which is of the type `known` so far; of two, the first.
///
/// # Errors
/// No value of the one type can become one of the other.
pub(super) fn best(connection: &Connection, column: &str, known: &str, kind: &str) -> duckdb::Result<Reading> {
    let column = quoted(column);
    let (is_nothing, ways) = match known {
        TEXT => (nothing(&column), of_text(&column, kind)),
        _ => ("false".to_owned(), vec![Way { value: plain(&column, kind), order: None, is_plain: true }]),
    };
    let counts: Vec<String> = ways.iter().map(|way| format!("count({})", way.value)).collect();
    let counts =
        format!("SELECT count({column}) FILTER (WHERE NOT {is_nothing}), {} FROM made.main.data", counts.join(", "));
    let (words, counted): (i64, Vec<i64>) = connection.query_row(&counts, [], |row| {
        Ok((row.get(0)?, (1..=ways.len()).map(|at| row.get(at)).collect::<duckdb::Result<_>>()?))
    })?;
    let most = counted.iter().copied().max().unwrap_or_default();
    let ways = ways.into_iter().zip(counted).filter(|(_, fits)| *fits == most).map(|(way, _)| way).collect();
    let mut ways = within_years(connection, ways)?.into_iter();
    let first = ways.next().unwrap_or_else(|| Way { value: "NULL".to_owned(), order: None, is_plain: true });
    let mut rivals = Vec::new();
    for way in ways.filter(|_| most > 0) {
        let differ = format!("SELECT bool_or({} IS DISTINCT FROM {}) FROM made.main.data", first.value, way.value);
        if connection.query_row(&differ, [], |row| row.get::<_, bool>(0))? {
            rivals.extend(way.order.map(|order| (order, way.value)));
        }
    }
    let Way { value, order, is_plain } = first;
    Ok(Reading { value, order, fits: most, unfit: words - most, is_nothing, is_plain, rivals })
}

/// Where a year of two digits could be the first part or the last, the place by which the days are near each other is
/// meant: `31.12.24` and `01.02.24` are of one year rather than thirty years apart. The order of days and months is not
/// told so: the first days of twelve months could be twelve days of January.
fn within_years(connection: &Connection, mut ways: Vec<Way>) -> duckdb::Result<Vec<Way>> {
    let is_first = |way: &Way| way.order.map(|order| order.starts_with('Y'));
    if !(ways.iter().any(|way| is_first(way) == Some(true)) && ways.iter().any(|way| is_first(way) == Some(false))) {
        return Ok(ways);
    }
    let days = |of: &Way| {
        let sql = format!("SELECT coalesce(date_diff('day', min({0}), max({0})), 0) FROM made.main.data", of.value);
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0))
    };
    let apart = ways.iter().map(|way| Ok((is_first(way), days(way)?))).collect::<duckdb::Result<Vec<_>>>()?;
    let least = |first: bool| {
        let days = apart.iter().filter(|(is_first, _)| *is_first == Some(first)).map(|(_, days)| *days);
        days.min().unwrap_or_default()
    };
    let (first, last) = (least(true) + 1, least(false) + 1);
    let is_far = |of: Option<bool>| match of {
        Some(true) => first > last * NEARER,
        Some(false) => last > first * NEARER,
        None => false,
    };
    ways.retain(|way| !is_far(is_first(way)));
    Ok(ways)
}

/// Whether a text says that there is nothing.
pub(super) fn nothing(column: &str) -> String {
    let words: Vec<String> = NOTHING.iter().map(|word| text_literal(word)).collect();
    format!("lower(trim({column})) IN ({})", words.join(", "))
}

fn of_text(column: &str, kind: &str) -> Vec<Way> {
    let text = format!("CASE WHEN {} THEN NULL ELSE trim({column}) END", nothing(column));
    let (kind, order) = unordered(kind);
    let way = |value, order, is_plain| Way { value, order, is_plain };
    if is_date(kind) {
        // A year of two digits would be one of the Roman empire.
        let value = format!("CASE WHEN regexp_matches({text}, '^[0-9]{{4}}') THEN {} END", plain(&text, kind));
        let own = way(value, None, true);
        let said = ORDERS.into_iter().filter(|(known, _)| order.is_none_or(|order| order == *known));
        let ordered = said.map(|(order, _)| way(day(&text, kind, order), Some(order), false));
        return [own].into_iter().chain(ordered).collect();
    }
    let mut ways = vec![way(plain(&text, kind), None, true)];
    if kind == "DOUBLE" || kind.starts_with("DECIMAL") {
        // Where a comma is the decimal point, a point is something else.
        let comma = format!("CASE WHEN contains({column}, '.') THEN NULL ELSE replace({text}, ',', '.') END");
        ways.push(way(plain(&comma, kind), None, false));
    }
    ways
}

/// A text as the day or the time whose parts are digits in an order, with a year of four of them or of two.
fn day(text: &str, kind: &str, order: Order) -> String {
    let times: &[&str] = if kind == "DATE" { &[""] } else { &TIMES };
    let of_year = |year: &str, digits: u8| {
        let part = |part| if part == 'Y' { format!("[0-9]{{{digits}}}") } else { "[0-9]{1,2}".to_owned() };
        let looks: Vec<String> = order.chars().map(part).collect();
        let format = |between: char| {
            let parts = order.chars().map(|part| match part {
                'Y' => year,
                'M' => "%m",
                _ => "%d",
            });
            parts.collect::<Vec<_>>().join(&between.to_string())
        };
        let formats: Vec<String> = BETWEEN
            .iter()
            .flat_map(|between| times.iter().map(|time| format!("'{}{time}'", format(*between))))
            .collect();
        format!(
            "WHEN regexp_full_match({text}, '{}( .*)?') THEN CAST(try_strptime({text}, [{}]) AS {kind})",
            looks.join("[-./ ]"),
            formats.join(", ")
        )
    };
    format!("CASE {} {} END", of_year("%Y", 4), of_year("%y", 2))
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

    fn column(texts: &[&str]) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("ATTACH ':memory:' AS made; CREATE TABLE made.main.data (x VARCHAR)").unwrap();
        for text in texts {
            connection.execute("INSERT INTO made.main.data VALUES (?)", [text]).unwrap();
        }
        connection
    }

    /// What a column of texts becomes; `None` for NULL.
    fn read(kind: &str, texts: &[&str]) -> Vec<Option<String>> {
        let connection = column(texts);
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
            ("DATE", &["31.12.24", "1.2.24"], &["2024-12-31", "2024-02-01"]),
            ("DATE", &["12/31/99", "1/2/2024"], &["1999-12-31", "2024-01-02"]),
            ("DATE", &["24-12-31", "24-02-01"], &["2024-12-31", "2024-02-01"]),
            ("DATE", &["1-2-3", "4.5.6"], &["", ""]),
            ("DATE(MDY)", &["01/02/2024", "31.12.2024"], &["2024-01-02", ""]),
            ("DATE(YMD)", &["10.11.12"], &["2010-11-12"]),
            ("TIMESTAMP(MDY)", &["1/2/24 1:30 PM", "n/a"], &["2024-01-02 13:30:00", ""]),
            ("TIMESTAMP", &["31.12.2024 10:30", "1.1.2024"], &["2024-12-31 10:30:00", "2024-01-01 00:00:00"]),
            ("BOOLEAN", &["yes", "no", "unknown"], &["true", "false", ""]),
        ] {
            let read: Vec<String> = read(kind, texts).into_iter().map(Option::unwrap_or_default).collect();
            assert_eq!(read, values, "{kind} {texts:?}");
        }
    }

    #[test]
    fn days_that_could_be_others_have_rivals() {
        for (kind, texts, order, rivals) in [
            ("DATE", &["01/02/2024", "n/a"][..], Some("DMY"), &["MDY"][..]),
            ("DATE", &["01/02/2024", "12/31/2024"], Some("MDY"), &[]),
            ("DATE", &["10.11.12"], Some("DMY"), &["MDY", "YMD"]),
            ("DATE", &["02/02/2024"], Some("DMY"), &[]),
            ("DATE", &["10.11.12", "12.11.12"], Some("DMY"), &["MDY"]),
            ("DATE", &["10-11-12", "10-11-14"], Some("YMD"), &[]),
            ("DATE", &["2024-02-01", "2024/02/03"], None, &[]),
            ("DATE(MDY)", &["01/02/2024"], Some("MDY"), &[]),
            ("TIMESTAMP", &["01/02/2024 10:30"], Some("DMY"), &["MDY"]),
            ("DOUBLE", &["1", "2"], None, &[]),
        ] {
            let reading = best(&column(texts), "x", TEXT, kind).unwrap();
            let found: Vec<Order> = reading.rivals.iter().map(|(order, _)| *order).collect();
            assert_eq!((reading.order, found.as_slice()), (order, rivals), "{kind} {texts:?}");
            assert_eq!(reading.unfit, 0, "{kind} {texts:?}");
        }
    }
}
