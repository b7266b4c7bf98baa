//! Conditions and measures in words: each may hold the other.

use super::window::describe;
use crate::model::ontology::{Aggregation, DataType, Ontology, in_words};
use crate::model::plan::{Comparator, Condition, Dimension, FieldRef, Literal, Measure, Pattern, Value};

use super::names::{aggregation, dimension, field, listed, noun, nouns, roles};
use crate::engine::render::nouns::plural;

/// Conditions that hold together: "origin is JFK and arrival delay is over 15 minutes".
pub(super) fn all(conditions: &[Condition], ontology: &Ontology) -> String {
    match conditions {
        [Condition::Any(any)] if any.len() > 1 => alternatives(any, ontology),
        conditions => {
            let parts: Vec<String> = conditions.iter().map(|condition| one(condition, ontology)).collect();
            parts.join(" and ")
        }
    }
}

fn alternatives(any: &[Condition], ontology: &Ontology) -> String {
    let parts: Vec<String> = any.iter().map(|part| one(part, ontology)).collect();
    parts.join(" or ")
}

/// One condition: "arrival delay is over 15 minutes".
pub fn one(condition: &Condition, ontology: &Ontology) -> String {
    match condition {
        Condition::Compare { field: at, op, value } => compare(at, *op, value, ontology),
        Condition::CompareFields { left, op, right } => {
            let words = comparator(*op, datatype(left, ontology));
            format!("{} {words} {}", field(left, ontology), field(right, ontology))
        }
        Condition::In { field: at, values, negated } => {
            let values: Vec<String> = values.iter().map(|value| literal(value, Some(at), ontology)).collect();
            let name = field(at, ontology);
            match (values.as_slice(), negated) {
                ([], false) => format!("{name} is one of no values"),
                ([], true) => format!("{name} has any value"),
                ([value], false) => format!("{name} is {value}"),
                ([value], true) => format!("{name} is not {value}"),
                (values, false) => format!("{name} is {}", listed(values, "or")),
                (values, true) => format!("{name} is neither {}", listed(values, "nor")),
            }
        }
        Condition::Like { field: at, pattern, text, negated } => {
            let verb = match (pattern, negated) {
                (Pattern::Contains, false) => "contains",
                (Pattern::Contains, true) => "does not contain",
                (Pattern::StartsWith, false) => "starts with",
                (Pattern::StartsWith, true) => "does not start with",
                (Pattern::EndsWith, false) => "ends with",
                (Pattern::EndsWith, true) => "does not end with",
            };
            format!("{} {verb} “{text}”", field(at, ontology))
        }
        Condition::IsNull { field: at, negated } if is_key(at, ontology) => {
            // There is a row by this key, or none.
            let roles = roles(&at.via, &at.dataset, ontology);
            let noun = [roles, vec![noun(&at.dataset, ontology)]].concat().join(" ");
            let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            format!("it is {} {noun}", if *negated { article } else { "no" })
        }
        Condition::IsNull { field: at, negated: false } => format!("{} has no value", field(at, ontology)),
        Condition::IsNull { field: at, negated: true } => format!("{} has a value", field(at, ontology)),
        Condition::Within { field: at, window, negated } => {
            let verb = if *negated { "is not in" } else { "is in" };
            format!("{} {verb} {}", field(at, ontology), describe(window))
        }
        Condition::OnDays { field: at, days, negated } => {
            let verb = if *negated { "is not on" } else { "is on" };
            let days: Vec<String> = days.iter().map(|day| weekday(*day).to_owned()).collect();
            format!("{} {verb} {}", field(at, ontology), listed(&days, "or"))
        }
        Condition::AtHours { field: at, from, to, negated } => {
            let verb = if *negated { "is not at a time" } else { "is at a time" };
            let hours = match (from, to) {
                (0, to) => format!("before {to:02}:00"),
                (from, 24) => format!("from {from:02}:00 on"),
                (from, to) => format!("from {from:02}:00 up to, not with, {to:02}:00"),
            };
            format!("{} {verb} {hours}", field(at, ontology))
        }
        Condition::Segment { name, negated: false } => format!("in the segment “{name}”"),
        Condition::Segment { name, negated: true } => format!("not in the segment “{name}”"),
        Condition::Exists { of, dataset, via, filters, negated } => {
            let way = match roles(via, dataset, ontology) {
                roles if roles.is_empty() => String::new(),
                roles => format!(" as {}", listed(&roles, "and")),
            };
            let which = match filters.as_slice() {
                [] => String::new(),
                filters => format!(" (where {})", all(filters, ontology)),
            };
            let has = if *negated { "has no" } else { "has at least one" };
            format!("the {} {has} {}{way}{which}", noun(of, ontology), noun(dataset, ontology))
        }
        Condition::Measured { of, measure: of_each, op, value } => {
            let words = comparator(*op, DataType::Float);
            let value = literal(value, None, ontology);
            format!("the {}’s {} {words} {value}", noun(of, ontology), measure(of_each, ontology))
        }
        Condition::AgainstOverall { field: at, op, function } => {
            let of = datatype(at, ontology);
            let name = field(at, ontology);
            format!("{name} {} the {} {name} of all", comparator(*op, of), aggregation(*function, of))
        }
        Condition::Any(any) => match any.as_slice() {
            [] => "nothing holds".into(),
            [only] => one(only, ontology),
            any => format!("({})", alternatives(any, ontology)),
        },
        Condition::All(conditions) => match conditions.as_slice() {
            [] => "anything holds".into(),
            [only] => one(only, ontology),
            conditions => format!("({})", all(conditions, ontology)),
        },
        Condition::Not(inner) => format!("not ({})", all(std::slice::from_ref(inner.as_ref()), ontology)),
    }
}

/// A day of the week by its number in ISO 8601.
pub(super) fn weekday(day: u8) -> &'static str {
    match day {
        1 => "a Monday",
        2 => "a Tuesday",
        3 => "a Wednesday",
        4 => "a Thursday",
        5 => "a Friday",
        6 => "a Saturday",
        _ => "a Sunday",
    }
}

fn compare(at: &FieldRef, op: Comparator, value: &Literal, ontology: &Ontology) -> String {
    let name = field(at, ontology);
    let value_words = literal(value, Some(at), ontology);
    format!("{name} {} {value_words}", comparator(op, datatype(at, ontology)))
}

pub(super) fn comparator(op: Comparator, of: DataType) -> &'static str {
    let of_time = of.is_calendar() || of == DataType::Time;
    match (op, of_time) {
        (Comparator::Equal, _) => "is",
        (Comparator::NotEqual, _) => "is not",
        (Comparator::Less, false) => "is below",
        (Comparator::Less, true) => "is before",
        (Comparator::AtMost, false) => "is at most",
        (Comparator::AtMost, true) => "is at the latest",
        (Comparator::Greater, false) => "is over",
        (Comparator::Greater, true) => "is after",
        (Comparator::AtLeast, false) => "is at least",
        (Comparator::AtLeast, true) => "is at the earliest",
    }
}

fn datatype(at: &FieldRef, ontology: &Ontology) -> DataType {
    ontology.field(&at.dataset, &at.field).map(|field| field.datatype).unwrap_or_default()
}

/// A value as a person writes it: a number with the field's unit, a text with what people call it, in quotes where it
/// could be read as part of the sentence.
fn literal(value: &Literal, at: Option<&FieldRef>, ontology: &Ontology) -> String {
    let of = at.and_then(|at| ontology.field(&at.dataset, &at.field));
    let stored = match value {
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) => {
            let unit = of.filter(|field| field.datatype.is_number()).and_then(|field| field.unit.as_deref());
            return match unit {
                Some("%") => format!("{number}%"),
                Some(unit) => format!("{number} {unit}"),
                None => number.to_string(),
            };
        }
        Literal::Text(text) => text.clone(),
    };
    let plain = !stored.is_empty()
        && stored.trim() == stored
        && stored.chars().all(|c| c.is_alphanumeric() || " -./&'_:".contains(c))
        && !stored.split(' ').any(|word| ["and", "or", "not", "nor", "is"].contains(&word.to_lowercase().as_str()));
    let shown = if plain { stored.clone() } else { format!("“{stored}”") };
    let called = of.and_then(|field| field.value_synonyms.get(&stored)).and_then(|names| names.first());
    match called.filter(|name| !name.eq_ignore_ascii_case(&stored)) {
        Some(name) => format!("{shown} ({name})"),
        None => shown,
    }
}

/// Whether a field that nobody sees is the key of its dataset.
fn is_key(at: &FieldRef, ontology: &Ontology) -> bool {
    let Some(entity) = ontology.entity(&at.dataset) else { return false };
    let Some(field) = entity.field(&at.field).filter(|field| field.hidden) else { return false };
    let is = |key: &String| key.eq_ignore_ascii_case(&field.name) || key.eq_ignore_ascii_case(&field.expression);
    matches!(entity.primary_key.as_slice(), [key] if is(key))
}

/// A measure as a noun phrase, with its own conditions.
pub fn measure(of: &Measure, ontology: &Ontology) -> String {
    let name = value(&of.value, ontology);
    match of.filters.is_empty() {
        true => name,
        false => format!("{name} (only where {})", all(&of.filters, ontology)),
    }
}

pub(super) fn value(of: &Value, ontology: &Ontology) -> String {
    match of {
        Value::Metric(name) => in_words(name),
        Value::Count(dataset) => format!("number of {}", nouns(dataset, ontology)),
        Value::Aggregate { function, field: at } => {
            let datatype = ontology.field(&at.dataset, &at.field).map(|field| field.datatype).unwrap_or_default();
            match function {
                Aggregation::CountDistinct => format!("number of distinct {}", plural(&field(at, ontology))),
                Aggregation::Count => {
                    format!("number of {} with {}", nouns(&at.dataset, ontology), field(at, ontology))
                }
                function => format!("{} {}", aggregation(*function, datatype), field(at, ontology)),
            }
        }
        Value::Days { function, from, to } => format!(
            "{} days from {} to {}",
            aggregation(*function, DataType::Integer),
            field(from, ontology),
            field(to, ontology)
        ),
        Value::Ratio { numerator, denominator } => ratio(numerator, denominator, ontology),
        Value::Sum(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| operand(part, ontology)).collect();
            parts.join(" plus ")
        }
        Value::Difference(left, right) => format!("{} minus {}", operand(left, ontology), operand(right, ontology)),
        Value::Over { function, measure: of, by } => over(*function, of, by, ontology),
        Value::Number(number) => number.to_string(),
    }
}

/// A share when both are the same but for conditions; "per claim" when it is divided by a plain count of claims.
fn ratio(numerator: &Measure, denominator: &Measure, ontology: &Ontology) -> String {
    if numerator.is_part_of(denominator) {
        let extra: Vec<Condition> =
            numerator.filters.iter().filter(|filter| !denominator.filters.contains(filter)).cloned().collect();
        let base = match (&denominator.value, denominator.filters.is_empty()) {
            (Value::Count(dataset), true) => nouns(dataset, ontology),
            _ => operand(denominator, ontology),
        };
        return format!("share of {base} where {}", all(&extra, ontology));
    }
    match &denominator.value {
        Value::Count(dataset) if denominator.filters.is_empty() => {
            format!("{} per {}", operand(numerator, ontology), noun(dataset, ontology))
        }
        _ => format!("{} divided by {}", operand(numerator, ontology), operand(denominator, ontology)),
    }
}

/// In brackets where it is made of several.
fn operand(of: &Measure, ontology: &Ontology) -> String {
    let text = measure(of, ontology);
    match (&of.value, of.filters.is_empty()) {
        (Value::Ratio { .. } | Value::Difference(..) | Value::Over { .. } | Value::Sum(_), true) => format!("({text})"),
        _ => text,
    }
}

fn over(function: Aggregation, of: &Measure, by: &[Dimension], ontology: &Ontology) -> String {
    let each: Vec<String> = by.iter().map(|each| dimension(each, ontology)).collect();
    let each = listed(&each, "and");
    let name = measure(of, ontology);
    match function {
        Aggregation::Count => format!("number of distinct {} with {name}", plural(&each)),
        Aggregation::CountDistinct | Aggregation::Stddev => {
            format!("{} the {name} of each {each}", aggregation(function, DataType::Float))
        }
        _ => format!("{} of the {name} of each {each}", aggregation(function, DataType::Float)),
    }
}
