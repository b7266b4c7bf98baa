//! Times that are written as numbers and as texts: 20240131, 202401, "31.01.2024", "1/31/2024 8:05", or counted in
//! seconds or milliseconds since 1970 began in Greenwich.
//!
//! What the values that are known look like says which way of writing it may be, and where that is no proof, what the
//! column is called; all values together, read by the engine, say whether it is.

use crate::engine::ontology::draft::kinds::any;
use crate::engine::ontology::draft::names::key_stem;
use crate::engine::ontology::draft::{DraftTable, identifier};
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::{DataType, in_words};
use crate::model::source::quoted;

/// Years that dates of people's data have; the last stands for "never".
const YEARS: std::ops::RangeInclusive<u32> = 1800..=2200;
const NEVER: u32 = 9999;
/// The first seconds of 1990 and of 2100, since 1970: lengths of time and codes begin lower, and most end higher.
const SINCE_1970: [i64; 2] = [631_152_000, 4_102_444_800];

/// Words of columns of months, and of times that are counted.
const MONTHS: &[&str] = &["month", "yearmonth", "yyyymm", "ym", "period", "date", "monat", "mois", "mes", "maand"];
const COUNTED: &[&str] = &[
    "at", "on", "date", "datetime", "ts", "epoch", "unix", "utc", "since", "until", "created", "updated", "modified",
    "changed", "deleted", "expires", "start", "end",
];

/// A way to write a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written(Way);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Digits(Digits),
    /// So many in a second, since 1970 began in Greenwich, with 0 where there is none.
    Counted(i64),
}

/// In which order there are year, month and day; a month is its first day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
    YearMonth,
    MonthYear,
}

/// A year, a month and a day, written one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Digits {
    order: Order,
    /// Between year, month and day; nothing where the digits follow each other.
    sign: Option<char>,
    /// Hours and minutes, or seconds too, follow after a space.
    clock: Option<Clock>,
    /// As a number, with 0 where there is none.
    number: bool,
    /// As a text, with zeros where there is none: 0000-00-00.
    zeros: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Clock {
    Minutes,
    Seconds,
}

/// A column that may hold times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeCandidate {
    pub table: String,
    pub column: String,
    pub written: Written,
}

/// The columns whose known values are written as times are.
pub fn time_candidates(tables: &[DraftTable]) -> Vec<TimeCandidate> {
    let mut found = Vec::new();
    for table in tables {
        for column in &table.columns {
            let written = Written::of(column, &known(table, column));
            // Only the service's own engine reads digits that may be no time without failing.
            let written = written.filter(|written| table.place.is_none() || matches!(written.0, Way::Counted(_)));
            found.extend(written.map(|written| TimeCandidate {
                table: table.name.clone(),
                column: column.name.clone(),
                written,
            }));
        }
    }
    found
}

fn known<'a>(table: &'a DraftTable, column: &'a ColumnInfo) -> Vec<&'a str> {
    let figures = table.figures(&column.name);
    let bounds = figures.into_iter().flat_map(|figures| [&figures.min, &figures.max]).flatten();
    let values = column.sample_values.iter().chain(bounds).map(|value| value.trim());
    values.filter(|value| !value.is_empty()).collect()
}

impl TimeCandidate {
    /// The question in words.
    pub(super) fn said(&self) -> String {
        format!("whether {}.{} holds times", self.table, self.column)
    }

    /// How many values are no time in this way of writing; 0 when all are.
    pub fn sql(&self) -> String {
        let (table, column) = (quoted(&self.table), quoted(&self.column));
        let against = match self.written.0 {
            Way::Digits(digits) => digits.against(&column),
            Way::Counted(second) => {
                let [from, to] = SINCE_1970.map(|seconds| seconds * second);
                format!("{column} <> 0 AND NOT ({column} BETWEEN {from} AND {to})")
            }
        };
        format!("SELECT count(*) AS against FROM {table} WHERE {against}")
    }
}

impl Written {
    fn of(column: &ColumnInfo, values: &[&str]) -> Option<Self> {
        let words: Vec<String> = in_words(&column.name).split(' ').map(str::to_owned).collect();
        let counted = counted(column, &words, values).map(Way::Counted);
        counted.or_else(|| Digits::of(column, &words, values).map(Way::Digits)).map(Self)
    }

    pub(super) fn datatype(self) -> DataType {
        match self.0 {
            Way::Digits(Digits { clock: None, .. }) => DataType::Date,
            Way::Digits(_) => DataType::DateTime,
            Way::Counted(_) => DataType::DateTimeTz,
        }
    }

    /// The time as an expression over the column.
    pub(super) fn expression(self, column: &str) -> String {
        let name = identifier(column);
        match self.0 {
            Way::Digits(digits) => digits.expression(&name),
            Way::Counted(1) => format!("TO_TIMESTAMP(NULLIF({name}, 0))"),
            Way::Counted(second) => format!("TO_TIMESTAMP(NULLIF({name}, 0) / {second})"),
        }
    }
}

/// How many there are in a second of what a column counts since 1970, by its name and by the years of its values.
fn counted(column: &ColumnInfo, words: &[String], values: &[&str]) -> Option<i64> {
    let when = |word: &String| word.ends_with("time") || word.ends_with("timestamp");
    let called = (any(words, COUNTED) || words.iter().any(when)) && key_stem(words).is_none();
    if !called || !datatype_of(&column.r#type).is_number() {
        return None;
    }
    let numbers: Vec<f64> = values.iter().map(|value| value.parse::<f64>().ok()).collect::<Option<_>>()?;
    let numbers: Vec<f64> = numbers.into_iter().filter(|number| *number != 0.0).collect();
    #[expect(clippy::cast_precision_loss, reason = "only the year matters")]
    let within = |second: i64| {
        let [from, to] = SINCE_1970.map(|seconds| (seconds * second) as f64);
        numbers.iter().all(|number| (from..=to).contains(number))
    };
    [1, 1_000].into_iter().find(|second| !numbers.is_empty() && within(*second))
}

impl Digits {
    fn of(column: &ColumnInfo, words: &[String], values: &[&str]) -> Option<Self> {
        let datatype = datatype_of(&column.r#type);
        let number = datatype == DataType::Integer;
        if !(number || datatype == DataType::String) {
            return None;
        }
        let values: Vec<&str> = values.iter().filter(|value| !(number && **value == "0")).copied().collect();
        let none = |value: &str| value.contains('0') && !value.contains(|c: char| c.is_alphanumeric() && c != '0');
        let zeros = values.iter().any(|value| none(value));
        let first = values.iter().find(|value| !none(value))?;
        let (date, time) = first.split_once(' ').map_or((*first, None), |(date, time)| (date, Some(time)));
        let sign = date.chars().find(|c| !c.is_ascii_digit());
        let clock = match time.map(|time| time.matches(':').count()) {
            None => None,
            Some(1) => Some(Clock::Minutes),
            Some(2) => Some(Clock::Seconds),
            Some(_) => return None,
        };
        // With "-" and the year first the engine reads them as times anyway.
        if sign.is_some_and(|sign| !matches!(sign, '/' | '.' | '-')) || number && sign.is_some() {
            return None;
        }
        let orders: &[Order] = match sign {
            None => &[Order::YearMonthDay, Order::YearMonth],
            Some(_) => {
                &[Order::YearMonthDay, Order::DayMonthYear, Order::MonthDayYear, Order::YearMonth, Order::MonthYear]
            }
        };
        // Codes of six digits, and the season of 2011/12, look like months.
        let called = |order: Order| !order.is_month() || clock.is_none() && any(words, MONTHS);
        let way = |&order: &Order| Self { order, sign, clock, number, zeros };
        let ways = orders.iter().filter(|order| called(**order)).map(way);
        let fit: Vec<Self> = ways.filter(|way| values.iter().all(|value| way.fits(value))).collect();
        // Whether "1/2/2024" is in January or in February nobody knows.
        if let [only] = fit[..] { Some(only) } else { None }
    }

    fn fits(self, value: &str) -> bool {
        if self.zeros && value == self.none() {
            return true;
        }
        let (date, time) = value.split_once(' ').map_or((value, None), |(date, time)| (date, Some(time)));
        let colons = time.map(|time| time.matches(':').count());
        let clock = match self.clock {
            None => None,
            Some(Clock::Minutes) => Some(1),
            Some(Clock::Seconds) => Some(2),
        };
        let parts: Vec<&str> = match self.sign {
            Some(sign) => date.split(sign).collect(),
            None => match (date.len(), date.get(..4), date.get(4..6), date.get(6..)) {
                (8, Some(year), Some(month), Some(day)) => vec![year, month, day],
                (6, Some(year), Some(month), _) => vec![year, month],
                _ => return false,
            },
        };
        let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
        let (year, month, day) = match (self.order, numbers.as_deref().unwrap_or_default()) {
            (Order::YearMonthDay, &[year, month, day])
            | (Order::DayMonthYear, &[day, month, year])
            | (Order::MonthDayYear, &[month, day, year]) => (year, month, day),
            (Order::YearMonth, &[year, month]) | (Order::MonthYear, &[month, year]) => (year, month, 1),
            _ => return false,
        };
        colons == clock
            && (YEARS.contains(&year) || year == NEVER)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
    }

    /// As `strptime` has it.
    fn format(self) -> String {
        let sign = self.sign.map(String::from).unwrap_or_default();
        let parts: &[&str] = match self.order {
            Order::YearMonthDay => &["%Y", "%m", "%d"],
            Order::DayMonthYear => &["%d", "%m", "%Y"],
            Order::MonthDayYear => &["%m", "%d", "%Y"],
            Order::YearMonth => &["%Y", "%m"],
            Order::MonthYear => &["%m", "%Y"],
        };
        let clock = match self.clock {
            None => "",
            Some(Clock::Minutes) => " %H:%M",
            Some(Clock::Seconds) => " %H:%M:%S",
        };
        format!("{}{clock}", parts.join(&sign))
    }

    /// What stands for no time among texts.
    fn none(self) -> String {
        let zeros = |text: String, part: &str| text.replace(part, "00");
        ["%m", "%d", "%H", "%M", "%S"].into_iter().fold(self.format().replace("%Y", "0000"), zeros)
    }

    /// That a value of a column is none of it.
    fn against(self, column: &str) -> String {
        let given = match (self.number, self.zeros) {
            (true, _) => format!("{column} <> 0"),
            (false, true) => format!("{column} NOT IN ('', '{}')", self.none()),
            (false, false) => format!("{column} <> ''"),
        };
        let format = self.format();
        format!("{given} AND try_strptime(CAST({column} AS VARCHAR), '{format}') IS NULL")
    }

    fn expression(self, name: &str) -> String {
        if self.number {
            let x = format!("NULLIF({name}, 0)");
            let last = format!("CAST(MOD({x}, 100) AS INTEGER)");
            if self.order.is_month() {
                return format!("MAKE_DATE(CAST(FLOOR({x} / 100) AS INTEGER), {last}, 1)");
            }
            return format!(
                "MAKE_DATE(CAST(FLOOR({x} / 10000) AS INTEGER), CAST(FLOOR(MOD({x}, 10000) / 100) AS INTEGER), {last})"
            );
        }
        let mut text = format!("NULLIF({name}, '')");
        if self.zeros {
            text = format!("NULLIF({text}, '{}')", self.none());
        }
        let date = if self.clock.is_some() { format!("SPLIT_PART({text}, ' ', 1)") } else { text.clone() };
        let digits = |from: u8, count: u8| format!("SUBSTR({date}, {from}, {count})");
        let part = |sign: char, at: u8| format!("SPLIT_PART({date}, '{sign}', {at})");
        let first = || "'01'".to_owned();
        let (year, month, day) = match (self.sign, self.order) {
            (None, order) if order.is_month() => (digits(1, 4), digits(5, 2), first()),
            (None, _) => (digits(1, 4), digits(5, 2), digits(7, 2)),
            (Some(sign), Order::YearMonthDay) => (part(sign, 1), part(sign, 2), part(sign, 3)),
            (Some(sign), Order::DayMonthYear) => (part(sign, 3), part(sign, 2), part(sign, 1)),
            (Some(sign), Order::MonthDayYear) => (part(sign, 3), part(sign, 1), part(sign, 2)),
            (Some(sign), Order::YearMonth) => (part(sign, 1), part(sign, 2), first()),
            (Some(sign), Order::MonthYear) => (part(sign, 2), part(sign, 1), first()),
        };
        let date = format!("{year} || '-' || {month} || '-' || {day}");
        match self.clock {
            None => format!("CAST({date} AS DATE)"),
            Some(_) => format!("CAST({date} || ' ' || SPLIT_PART({text}, ' ', 2) AS TIMESTAMP)"),
        }
    }
}

impl Order {
    fn is_month(self) -> bool {
        matches!(self, Self::YearMonth | Self::MonthYear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, r#type: &str, values: &[&str]) -> Option<Way> {
        let column = ColumnInfo { name: name.into(), r#type: r#type.into(), ..ColumnInfo::default() };
        Written::of(&column, values).map(|written| written.0)
    }

    fn format(name: &str, r#type: &str, values: &[&str]) -> Option<String> {
        match written(name, r#type, values)? {
            Way::Digits(digits) => Some(digits.format()),
            Way::Counted(_) => None,
        }
    }

    #[test]
    fn known_values_say_how_a_time_may_be_written() {
        let ways = |r#type: &str, values: &[&str]| format("c", r#type, values);
        for (r#type, values, wanted) in [
            ("BIGINT", &["20160131", "0", "99991231"][..], "%Y%m%d"),
            ("VARCHAR", &["20160131"], "%Y%m%d"),
            ("VARCHAR", &["1991/03/28"], "%Y/%m/%d"),
            ("VARCHAR", &["8/24/2015 8:08", "1/2/2015 18:00"], "%m/%d/%Y %H:%M"),
            ("VARCHAR", &["24.12.2015 18:00:01"], "%d.%m.%Y %H:%M:%S"),
            ("VARCHAR", &["0000-00-00", "1902-12-10"], "%Y-%m-%d"),
        ] {
            assert_eq!(ways(r#type, values).as_deref(), Some(wanted), "{values:?}");
        }
        for not in [
            &["20161331"][..],
            &["1/2/2015", "3/4/2015"],
            &["12345678"],
            &["8/24/2015", "8/24/2015 8:08"],
            &["Monday"],
            &["1.2.3"],
            &["0000-00-00"],
            &["0", "1902-12-10"],
            &[],
        ] {
            assert_eq!(ways("VARCHAR", not), None, "{not:?}");
        }
        assert_eq!(ways("BIGINT", &["20231", "20160131"]), None);
        assert_eq!(ways("DOUBLE", &["20160131"]), None);
    }

    #[test]
    fn months_are_written_without_a_day_where_the_column_is_called_so() {
        for (name, r#type, values, wanted) in [
            ("yyyymm", "BIGINT", &["202103", "0", "202212"][..], "%Y%m"),
            ("CalendarMonth", "VARCHAR", &["202103"], "%Y%m"),
            ("posting_period", "VARCHAR", &["2021-03"], "%Y-%m"),
            ("month", "VARCHAR", &["03/2021", "12/2021"], "%m/%Y"),
        ] {
            assert_eq!(format(name, r#type, values).as_deref(), Some(wanted), "{name}");
        }
        for (name, r#type, values) in [
            ("yyyymm", "BIGINT", &["202103", "202113"][..]),
            ("postcode", "BIGINT", &["202103"]),
            ("season", "VARCHAR", &["2011/12"]),
            ("month", "VARCHAR", &["03/2021 10:00"]),
            ("month", "VARCHAR", &["2021-Jan-03"]),
            ("month", "BIGINT", &["1", "12"]),
        ] {
            assert_eq!(format(name, r#type, values), None, "{name}");
        }
    }

    #[test]
    fn seconds_and_milliseconds_since_1970_are_told_by_their_years_where_the_column_is_called_so() {
        for (name, r#type, values, second) in [
            ("created_at", "BIGINT", &["1609459200", "0"][..], Some(1)),
            ("ts", "BIGINT", &["1609459200000", "1609459200001"], Some(1_000)),
            ("unixReviewTime", "DOUBLE", &["1609459200.25"], Some(1)),
            ("created_at", "BIGINT", &["1609459200", "17"], None),
            ("created_at", "BIGINT", &["0"], None),
            ("created_at", "VARCHAR", &["1609459200"], None),
            ("date_key", "BIGINT", &["1609459200"], None),
            ("revenue", "BIGINT", &["1609459200"], None),
        ] {
            assert_eq!(written(name, r#type, values), second.map(Way::Counted), "{name} {values:?}");
        }
    }
}
