//! Times that are written as numbers and as texts: 20240131, "31.01.2024", "1/31/2024 8:05".
//!
//! What the values that are known look like says which way of writing it may be; all values together, read by the
//! engine, say whether it is.

use crate::engine::ontology::draft::{DraftTable, identifier};
use crate::engine::ontology::read::datatype_of;
use crate::model::dataset::ColumnInfo;
use crate::model::ontology::DataType;
use crate::model::source::quoted;

/// Years that dates of people's data have; the last stands for "never".
const YEARS: std::ops::RangeInclusive<u32> = 1800..=2200;
const NEVER: u32 = 9999;

/// In which order a text has its year, month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
}

/// A way to write a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    order: Order,
    /// Between year, month and day; nothing where the digits follow each other.
    sign: Option<char>,
    /// Hours and minutes, or seconds too, follow after a space.
    clock: Option<Clock>,
    /// As a number, with 0 where there is none.
    number: bool,
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

/// The columns whose known values are written as times are; of each the ways that fit all of them.
pub fn time_candidates(tables: &[DraftTable]) -> Vec<TimeCandidate> {
    let mut found = Vec::new();
    // Only the service's own engine reads what may be no time without failing.
    for table in tables.iter().filter(|table| table.place.is_none()) {
        for column in &table.columns {
            let ways = Written::of(column, &known(table, column));
            found.extend(ways.into_iter().map(|written| TimeCandidate {
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
        let given = if self.written.number { format!("{column} <> 0") } else { format!("{column} <> ''") };
        let format = self.written.format();
        format!(
            "SELECT count(*) AS against FROM {table} WHERE {given} AND try_strptime(CAST({column} AS VARCHAR), \
             '{format}') IS NULL"
        )
    }
}

impl Written {
    fn of(column: &ColumnInfo, values: &[&str]) -> Vec<Self> {
        let datatype = datatype_of(&column.r#type);
        let number = datatype == DataType::Integer;
        if !(number || datatype == DataType::String) || values.is_empty() {
            return vec![];
        }
        let values: Vec<&str> = values.iter().filter(|value| !(number && **value == "0")).copied().collect();
        let Some(first) = values.first() else { return vec![] };
        let (date, time) = first.split_once(' ').map_or((*first, None), |(date, time)| (date, Some(time)));
        let sign = date.chars().find(|c| !c.is_ascii_digit());
        let clock = match time.map(|time| time.matches(':').count()) {
            None => None,
            Some(1) => Some(Clock::Minutes),
            Some(2) => Some(Clock::Seconds),
            Some(_) => return vec![],
        };
        // With "-" and the year first the engine reads them as times anyway.
        if sign.is_some_and(|sign| !matches!(sign, '/' | '.' | '-')) || number && sign.is_some() {
            return vec![];
        }
        let orders: &[Order] = match sign {
            None => &[Order::YearMonthDay],
            Some(_) => &[Order::YearMonthDay, Order::DayMonthYear, Order::MonthDayYear],
        };
        let ways = orders.iter().map(|&order| Self { order, sign, clock, number });
        let fit: Vec<Self> = ways.filter(|way| values.iter().all(|value| way.fits(value))).collect();
        // Whether "1/2/2024" is in January or in February nobody knows.
        if fit.len() == 1 { fit } else { vec![] }
    }

    fn fits(self, value: &str) -> bool {
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
                _ => return false,
            },
        };
        let numbers: Vec<u32> = parts.iter().filter_map(|part| part.parse().ok()).collect();
        let [first, second, third] = numbers[..] else { return false };
        let (year, month, day) = match self.order {
            Order::YearMonthDay => (first, second, third),
            Order::DayMonthYear => (third, second, first),
            Order::MonthDayYear => (third, first, second),
        };
        colons == clock
            && (YEARS.contains(&year) || year == NEVER)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
    }

    /// As `strptime` has it.
    fn format(self) -> String {
        let sign = self.sign.map(String::from).unwrap_or_default();
        let parts = match self.order {
            Order::YearMonthDay => ["%Y", "%m", "%d"],
            Order::DayMonthYear => ["%d", "%m", "%Y"],
            Order::MonthDayYear => ["%m", "%d", "%Y"],
        };
        let clock = match self.clock {
            None => "",
            Some(Clock::Minutes) => " %H:%M",
            Some(Clock::Seconds) => " %H:%M:%S",
        };
        format!("{}{clock}", parts.join(&sign))
    }

    pub(super) fn datatype(self) -> DataType {
        if self.clock.is_some() { DataType::DateTime } else { DataType::Date }
    }

    /// The time as an expression over the column.
    pub(super) fn expression(self, column: &str) -> String {
        let name = identifier(column);
        if self.number {
            let x = format!("NULLIF({name}, 0)");
            return format!(
                "MAKE_DATE(CAST(FLOOR({x} / 10000) AS INTEGER), CAST(FLOOR(MOD({x}, 10000) / 100) AS INTEGER), \
                 CAST(MOD({x}, 100) AS INTEGER))"
            );
        }
        let text = format!("NULLIF({name}, '')");
        let date = if self.clock.is_some() { format!("SPLIT_PART({text}, ' ', 1)") } else { text.clone() };
        let digits = |from: u8, count: u8| format!("SUBSTR({date}, {from}, {count})");
        let part = |sign: char, at: u8| format!("SPLIT_PART({date}, '{sign}', {at})");
        let (year, month, day) = match (self.sign, self.order) {
            (None, _) => (digits(1, 4), digits(5, 2), digits(7, 2)),
            (Some(sign), Order::YearMonthDay) => (part(sign, 1), part(sign, 2), part(sign, 3)),
            (Some(sign), Order::DayMonthYear) => (part(sign, 3), part(sign, 2), part(sign, 1)),
            (Some(sign), Order::MonthDayYear) => (part(sign, 3), part(sign, 1), part(sign, 2)),
        };
        let date = format!("{year} || '-' || {month} || '-' || {day}");
        match self.clock {
            None => format!("CAST({date} AS DATE)"),
            Some(_) => format!("CAST({date} || ' ' || SPLIT_PART({text}, ' ', 2) AS TIMESTAMP)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(r#type: &str, values: &[&str]) -> Vec<String> {
        let column = ColumnInfo { name: "c".into(), r#type: r#type.into(), ..ColumnInfo::default() };
        Written::of(&column, values).into_iter().map(Written::format).collect()
    }

    #[test]
    fn known_values_say_how_a_time_may_be_written() {
        assert_eq!(ways("BIGINT", &["20160131", "0", "99991231"]), ["%Y%m%d"]);
        assert_eq!(ways("VARCHAR", &["20160131"]), ["%Y%m%d"]);
        assert_eq!(ways("VARCHAR", &["1991/03/28"]), ["%Y/%m/%d"]);
        assert_eq!(ways("VARCHAR", &["8/24/2015 8:08", "1/2/2015 18:00"]), ["%m/%d/%Y %H:%M"]);
        assert_eq!(ways("VARCHAR", &["24.12.2015 18:00:01"]), ["%d.%m.%Y %H:%M:%S"]);
        for not in [
            &["20161331"][..],
            &["1/2/2015", "3/4/2015"],
            &["12345678"],
            &["8/24/2015", "8/24/2015 8:08"],
            &["Monday"],
            &["1.2.3"],
            &[],
        ] {
            assert_eq!(ways("VARCHAR", not), Vec::<String>::new(), "{not:?}");
        }
        assert_eq!(ways("BIGINT", &["20231", "20160131"]), Vec::<String>::new());
        assert_eq!(ways("DOUBLE", &["20160131"]), Vec::<String>::new());
    }
}
