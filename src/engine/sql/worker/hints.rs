//! What is told of columns whose values are not all of one kind: a few words among numbers make texts of them all.

use duckdb::Connection;
use duckdb::types::Value;

use super::columns::{TEXT, list};
use super::instance::internal;
use super::places::Places;
use super::reading::{Order, Reading, best, nothing};
use crate::model::column_change::{ColumnChange, Hint, ORDERS};
use crate::model::error::Result;
use crate::model::source::quoted;

/// Rows that are looked at for columns that are worth reading as a whole, and columns in one look.
const LOOK: usize = 10_000;
const GROUP: usize = 40;
/// Most columns that are told of.
const HINTS: usize = 20;
/// Values that are named, places of each, and characters of one.
const VALUES: usize = 3;
const PLACES: usize = 3;
const CHARS: usize = 60;
/// For each value that says something else there are so many that fit.
const FITTING: i64 = 9;

/// Numbers as people write them, without zeros before them: those are codes.
const NUMBER: &str = "[+-]?((0|[1-9][0-9]*)([.,][0-9]*)?|[.,][0-9]+)([eE][+-][0-9]+)?";
/// What looks like a number and is more: codes, numbers that no number here holds, and thousands with commas.
const CODE: &str = "[+-]?0[0-9].*|[0-9]+[eE][0-9]+|[0-9]{16,}|[+-]?[0-9]{1,3}(,[0-9]{3})+([.].*)?";
const DAY: &str =
    "[0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}([ T].*)?|[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ]([0-9]{2}|[0-9]{4})( .*)?";

/// The columns of texts in `made.main.data` that could be numbers or days, but for those of which people said what they
/// are.
pub(super) fn found(connection: &Connection, changes: &[ColumnChange], places: &Places<'_>) -> Result<Vec<Hint>> {
    let mut hints = Vec::new();
    for (column, is_day) in candidates(connection, changes)? {
        if hints.len() < HINTS {
            hints.extend(told(connection, &column, is_day, places)?);
        }
    }
    Ok(hints)
}

/// Columns of texts of which nobody said what they are, most of whose first values look like numbers, or like days.
pub(super) fn candidates(connection: &Connection, changes: &[ColumnChange]) -> Result<Vec<(String, bool)>> {
    let sql = format!(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = 'made' AND table_name = 'data' \
         AND data_type = '{TEXT}' ORDER BY column_index"
    );
    let is_said = |change: &ColumnChange, name: &String| {
        (change.r#type.is_some() || change.leave_out) && change.column.eq_ignore_ascii_case(name)
    };
    let mut texts = list(connection, &sql).map_err(|cause| internal(&cause))?;
    texts.retain(|name| !changes.iter().any(|change| is_said(change, name)));
    let looked = texts.chunks(GROUP).map(|group| worth(connection, group).map_err(|cause| internal(&cause)));
    Ok(looked.collect::<Result<Vec<_>>>()?.concat())
}

/// The columns most of whose first values look like numbers, or like days.
fn worth(connection: &Connection, columns: &[String]) -> duckdb::Result<Vec<(String, bool)>> {
    let counts = columns.iter().map(|name| {
        let name = quoted(name);
        let like = |pattern| format!("count(*) FILTER (WHERE regexp_full_match(trim({name}), '{pattern}'))");
        format!("{}, {}, count(*) FILTER (WHERE NOT {})", like(NUMBER), like(DAY), nothing(&name))
    });
    let sql = format!(
        "SELECT {} FROM (SELECT {} FROM made.main.data LIMIT {LOOK})",
        counts.collect::<Vec<_>>().join(", "),
        columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
    );
    connection.query_row(&sql, [], |row| {
        let mut worth = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let count = |place: usize| row.get::<_, i64>(at * 3 + place);
            let (numbers, days, words) = (count(0)?, count(1)?, count(2)?);
            let are_most = |some: i64| some > 0 && (words - some) * FITTING <= some;
            if are_most(numbers) || are_most(days) {
                worth.push((column.clone(), !are_most(numbers)));
            }
        }
        Ok(worth)
    })
}

/// What is told of a column, if all of it bears out what its beginning promised.
fn told(connection: &Connection, column: &str, is_day: bool, places: &Places<'_>) -> Result<Option<Hint>> {
    let name = quoted(column);
    let find = || -> duckdb::Result<Option<(&'static str, Reading, i64, i64)>> {
        let sql = format!(
            "SELECT count({name}), count(*) FILTER (WHERE {}), bool_or(regexp_full_match(trim({name}), '{CODE}')),
             bool_or(contains({name}, ':')) FROM made.main.data",
            nothing(&name)
        );
        let (values, nothings, has_code, has_time): (i64, i64, bool, bool) =
            connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        let (kind, reading) = match (is_day, has_time) {
            (true, true) => ("TIMESTAMP", best(connection, column, TEXT, "TIMESTAMP")?),
            (true, false) => ("DATE", best(connection, column, TEXT, "DATE")?),
            (false, _) => {
                let number = best(connection, column, TEXT, "DOUBLE")?;
                match best(connection, column, TEXT, "BIGINT")? {
                    whole if whole.fits == number.fits => ("BIGINT", whole),
                    _ => ("DOUBLE", number),
                }
            }
        };
        let fits = reading.fits;
        let is_text = (!is_day && has_code)
            || fits < 2
            || reading.unfit * FITTING > fits
            // What a file holds as texts on purpose: keys in quotes.
            || (fits == values && reading.is_plain);
        Ok((!is_text).then_some((kind, reading, values, nothings)))
    };
    let Some((kind, reading, values, nothings)) = find().map_err(|cause| internal(&cause))? else { return Ok(None) };
    let (fits, others) = (reading.fits, values - reading.fits);
    let are = match kind {
        "BIGINT" => "whole numbers",
        "DOUBLE" if reading.is_plain => "numbers",
        "DOUBLE" => "numbers with a decimal comma",
        "DATE" => "days",
        _ => "days and times",
    };
    let unfit = format!("{name} IS NOT NULL AND {} IS NULL", reading.value);
    let odd = named(connection, column, &unfit, others, places)?;
    let (not, these) = if others == 1 { ("is not", "this one") } else { ("are not", "these") };
    let says = match (others, others - nothings) {
        (0, _) => format!("all {values} values are {are}. It is text until you give it the type {kind}."),
        (_, 0) => format!(
            "{fits} of {values} values are {are}; {others} {not}: {odd}. It is text until you give it the type {kind}, \
             which leaves {these} empty."
        ),
        _ => format!(
            "{fits} of {values} values are {are}; {others} {not}: {odd}. It is text; before you give it the type {kind}, \
             mend in the file what says something else."
        ),
    };
    Ok(Some(Hint { column: column.to_owned(), r#type: kind.to_owned(), says: format!("{column}: {says}") }))
}

/// What is told of a column whose words for nothing its type leaves empty; nothing where it has none.
pub(super) fn emptied(
    connection: &Connection,
    column: &str,
    kind: &str,
    reading: &Reading,
    places: &Places<'_>,
) -> Result<Option<Hint>> {
    let sql =
        format!("SELECT count({}), count(*) FILTER (WHERE {}) FROM made.main.data", quoted(column), reading.is_nothing);
    let counted = connection.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
    let (values, nothings) = counted.map_err(|cause| internal(&cause))?;
    if nothings == 0 {
        return Ok(None);
    }
    let odd = named(connection, column, &reading.is_nothing, nothings, places)?;
    let says = match nothings {
        1 => format!("{column}: 1 of {values} values says nothing and is left empty: {odd}."),
        _ => format!("{column}: {nothings} of {values} values say nothing and are left empty: {odd}."),
    };
    Ok(Some(Hint { column: column.to_owned(), r#type: kind.to_owned(), says }))
}

/// What is told of days that could be others, because all of them could be written in another order.
pub(super) fn rivals(
    connection: &Connection,
    column: &str,
    kind: &str,
    reading: &Reading,
    places: &Places<'_>,
) -> Result<Option<Hint>> {
    let (Some(order), Some((rival, other))) = (reading.order, reading.rivals.first()) else { return Ok(None) };
    let Reading { value, fits, .. } = reading;
    let sql = format!(
        "SELECT left(trim({}), {CHARS}), strftime({value}, '%-d %B %Y'), rowid FROM made.main.data
         WHERE {value} IS DISTINCT FROM {other} ORDER BY rowid LIMIT 1",
        quoted(column)
    );
    let first = connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (text, day, row): (String, String, u64) = first.map_err(|cause| internal(&cause))?;
    let (noun, at) = places.of(&[row])?;
    let place = placed(noun, at.iter().map(u64::to_string).collect(), 1);
    let called = |order: Order| ORDERS.iter().find(|(known, _)| *known == order).map_or("", |(_, called)| *called);
    let orders = reading.rivals.iter().map(|(order, _)| called(order)).collect::<Vec<_>>().join(" or ");
    let types = reading.rivals.iter().map(|(order, _)| format!("{kind}({order})")).collect::<Vec<_>>().join(" or ");
    let could = match fits {
        1 => "it could".to_owned(),
        _ => format!("all {fits} values could"),
    };
    let says = format!(
        "{column}: {text:?} ({place}) was read as {day}, {}; {could} be {orders} too. If they are, give it the type {types}.",
        called(order)
    );
    Ok(Some(Hint { column: column.to_owned(), r#type: format!("{kind}({rival})"), says }))
}

/// The most frequent values among those of `all` rows of which a condition holds, with their places.
fn named(connection: &Connection, column: &str, holds: &str, all: i64, places: &Places<'_>) -> Result<String> {
    let sql = format!(
        "SELECT left({}, {CHARS}), count(*), min(rowid, {PLACES}) FROM made.main.data WHERE {holds}
         GROUP BY 1 ORDER BY 2 DESC, min(rowid) LIMIT {VALUES}",
        quoted(column)
    );
    let read = || -> duckdb::Result<Vec<(String, i64, Vec<u64>)>> {
        let mut statement = connection.prepare(&sql)?;
        let rows = statement.query_map([], |row| {
            let rows = match row.get::<_, Value>(2)? {
                Value::List(rows) => rows,
                _ => vec![],
            };
            let row_of = |row: Value| if let Value::BigInt(row) = row { u64::try_from(row).ok() } else { None };
            Ok((row.get(0)?, row.get(1)?, rows.into_iter().filter_map(row_of).collect()))
        })?;
        rows.collect()
    };
    let found = read().map_err(|cause| internal(&cause))?;
    let rows: Vec<u64> = found.iter().flat_map(|(_, _, rows)| rows.clone()).collect();
    let (noun, at) = places.of(&rows)?;
    let mut at = at.into_iter();
    let mut left = all;
    let mut said: Vec<String> = Vec::new();
    for (value, count, rows) in found {
        let shown = at.by_ref().take(rows.len()).map(|place| place.to_string()).collect();
        said.push(format!("{value:?} ({})", placed(noun, shown, count)));
        left -= count;
    }
    if left > 0 {
        said.push(format!("and {left} more"));
    }
    Ok(said.join(", "))
}

/// `line 17`, `lines 17 and 230`, `lines 3, 5, 7 and 90 more`.
fn placed(noun: &str, mut shown: Vec<String>, count: i64) -> String {
    let more = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(shown.len());
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    match shown.as_slice() {
        [one] => format!("{noun} {one}"),
        [first @ .., last] => format!("{noun}s {} and {last}", first.join(", ")),
        [] => String::new(),
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

    #[test]
    fn a_few_words_among_numbers_or_days_are_told() {
        let says = |texts: &[&str]| {
            let hints = found(&column(texts), &[], &Places::Records).unwrap();
            hints.into_iter().map(|hint| format!("{} {}", hint.r#type, hint.says)).collect::<Vec<_>>().join("; ")
        };
        for (texts, expected) in [
            (
                &["1", "n/a", "2", "-", "N/A", "n/a", "n/a", "n/a"][..],
                "BIGINT x: 2 of 8 values are whole numbers; 6 are not: \"n/a\" (records 2, 6, 7 and 1 more), \"-\" \
                 (record 4), \"N/A\" (record 5). It is text until you give it the type BIGINT, which leaves these empty.",
            ),
            (
                &["1.5", "2", "?"],
                "DOUBLE x: 2 of 3 values are numbers; 1 is not: \"?\" (record 3). It is text until you give it the type \
                 DOUBLE, which leaves this one empty.",
            ),
            (
                &["1", "2", "3", "4", "5", "6", "7", "8", "9", "oops"],
                "BIGINT x: 9 of 10 values are whole numbers; 1 is not: \"oops\" (record 10). It is text; before you give \
                 it the type BIGINT, mend in the file what says something else.",
            ),
            (
                &["1,5", "22,25"],
                "DOUBLE x: all 2 values are numbers with a decimal comma. It is text until you give it the type DOUBLE.",
            ),
            (
                &["2024-01-01", "2024-01-02", "unknown"],
                "DATE x: 2 of 3 values are days; 1 is not: \"unknown\" (record 3). It is text until you give it the type \
                 DATE, which leaves this one empty.",
            ),
            (
                &["31.12.2024 10:00", "1.1.2025 10:30"],
                "TIMESTAMP x: all 2 values are days and times. It is text until you give it the type TIMESTAMP.",
            ),
            // Keys in quotes, codes, thousands, and texts.
            (&["1", "2", "3"], ""),
            (&["01234", "99999", "12", "n/a"], ""),
            (&["411E123", "411000", "411001", "n/a"], ""),
            (&["1,234", "2,345", "n/a"], ""),
            (&["1", "2", "Graz", "Linz"], ""),
            (&["1", "n/a"], ""),
        ] {
            assert_eq!(says(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn who_said_what_a_column_is_is_told_nothing_and_many_values_are_counted() {
        let texts: Vec<String> =
            (0..100).map(|row| if row < 90 { row.to_string() } else { format!("a{row}") }).collect();
        let column = column(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let hints = found(&column, &[], &Places::Records).unwrap();
        assert!(
            hints[0]
                .says
                .contains("10 are not: \"a90\" (record 91), \"a91\" (record 92), \"a92\" (record 93), and 7 more.")
        );
        let said = ColumnChange { column: "X".into(), r#type: Some("VARCHAR".into()), ..ColumnChange::default() };
        assert_eq!(found(&column, &[said], &Places::Records).unwrap(), []);
    }
}
