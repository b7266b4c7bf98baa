//! The words of the language, and names and texts as they are written in it.

use super::lexer::{is_first, is_further};
use crate::model::ontology::Aggregation;
use crate::model::plan::f64bits::F64;
use crate::model::plan::{Comparator, FieldRef, Grain, TimeUnit};
use crate::model::source::quoted;

/// Words that are no names unless they are in quotes.
pub(super) const RESERVED: &[&str] = &[
    "and", "or", "not", "in", "is", "null", "true", "false", "between", "like", "ilike", "during", "contains",
    "starts", "ends", "as", "by", "per", "filter", "where", "within", "has", "have", "via", "case", "when", "then",
    "else", "end", "exists", "any", "all", "distinct", "select", "from", "asc", "desc", "nulls", "limit", "to", "on",
    "no", "without", "with", "having", "group", "union", "interval",
];

pub(super) const GRAINS: [(Grain, &str); 13] = [
    (Grain::Hour, "hour"),
    (Grain::Day, "day"),
    (Grain::Week, "week"),
    (Grain::Month, "month"),
    (Grain::Quarter, "quarter"),
    (Grain::Year, "year"),
    (Grain::FiscalQuarter, "fiscal quarter"),
    (Grain::FiscalYear, "fiscal year"),
    (Grain::HourOfDay, "hour of day"),
    (Grain::DayOfWeek, "day of week"),
    (Grain::DayOfMonth, "day of month"),
    (Grain::MonthOfYear, "month of year"),
    (Grain::QuarterOfYear, "quarter of year"),
];

pub(super) const UNITS: [(TimeUnit, &str, &str); 10] = [
    (TimeUnit::Hour, "hour", "hours"),
    (TimeUnit::Day, "day", "days"),
    (TimeUnit::Week, "week", "weeks"),
    (TimeUnit::Month, "month", "months"),
    (TimeUnit::Quarter, "quarter", "quarters"),
    (TimeUnit::Half, "half", "halves"),
    (TimeUnit::Year, "year", "years"),
    (TimeUnit::FiscalQuarter, "fiscal quarter", "fiscal quarters"),
    (TimeUnit::FiscalHalf, "fiscal half", "fiscal halves"),
    (TimeUnit::FiscalYear, "fiscal year", "fiscal years"),
];

pub(super) const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

pub(super) const COMPARATORS: [(Comparator, &str); 6] = [
    (Comparator::Equal, "="),
    (Comparator::NotEqual, "<>"),
    (Comparator::Less, "<"),
    (Comparator::AtMost, "<="),
    (Comparator::Greater, ">"),
    (Comparator::AtLeast, ">="),
];

pub(super) fn grain_words(grain: Grain) -> &'static str {
    GRAINS.iter().find(|(it, _)| *it == grain).map_or("day", |(_, words)| words)
}

pub(super) fn sign_of(op: Comparator) -> &'static str {
    COMPARATORS.iter().find(|(it, _)| *it == op).map_or("=", |(_, sign)| sign)
}

/// `1 month`, `3 months`.
pub(super) fn counted(count: u64, unit: TimeUnit) -> String {
    let (one, many) = unit_words(unit);
    format!("{count} {}", if count == 1 { one } else { many })
}

pub(super) fn unit_words(unit: TimeUnit) -> (&'static str, &'static str) {
    UNITS.iter().find(|(it, ..)| *it == unit).map_or(("day", "days"), |(_, one, many)| (one, many))
}

/// As it is called; that of distinct values is no plain call.
pub(super) fn function_name(function: Aggregation) -> &'static str {
    match function {
        Aggregation::Sum => "sum",
        Aggregation::Avg => "avg",
        Aggregation::Median => "median",
        Aggregation::Min => "min",
        Aggregation::Max => "max",
        Aggregation::Count => "count",
        Aggregation::CountDistinct => "count_distinct",
        Aggregation::Stddev => "stddev",
    }
}

/// A name of the ontology: in quotes where it would not be read as one without.
pub(crate) fn name(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(is_first) && chars.all(is_further);
    let fiscal = name.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("fy")) && name.len() == 6;
    if plain && !fiscal && !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name)) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A field with its dataset, and before it the relationships on the way.
pub(super) fn field_name(field: &FieldRef) -> String {
    let ways = field.via.iter().chain([&field.dataset, &field.field]);
    ways.map(|part| name(part)).collect::<Vec<_>>().join(".")
}

/// A number that reads the same.
pub(super) fn number(number: F64) -> String {
    let plain = number.get().abs();
    if plain == 0.0 || (1e-6..1e15).contains(&plain) { number.to_string() } else { format!("{:e}", number.get()) }
}
