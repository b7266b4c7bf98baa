//! What people call numbers.

use crate::model::ontology::{Aggregation, Entity, Field, in_words};
use crate::model::plan::{FieldRef, Measure, Value};

use super::days;
use super::work::Work;
use crate::engine::render::nouns::{capital, plural};

/// What people call a measure.
pub(super) fn words(work: &Work<'_>, measure: &Measure) -> String {
    if let Some(label) = &measure.label {
        return label.clone();
    }
    let text = match &measure.value {
        Value::Metric(name) => in_words(name),
        Value::Count(dataset) => {
            let noun = work.ontology.entity(dataset).map_or_else(|| in_words(dataset), Entity::noun);
            format!("number of {}", plural(&noun))
        }
        Value::Aggregate { function, field } => aggregate_of(work, *function, field, false),
        Value::Days { function, from, to } => {
            format!("{} {}", aggregate_words(*function), days::words(work, from, to))
        }
        Value::Ratio { numerator, denominator } if numerator.is_part_of(denominator) => {
            format!("share of {}", words(work, denominator).trim_start_matches("Number of ").to_lowercase())
        }
        Value::Ratio { numerator, denominator } => {
            format!("{} per {}", words(work, numerator), words(work, denominator).to_lowercase())
        }
        Value::Sum(parts) => parts.iter().map(|part| words(work, part)).collect::<Vec<_>>().join(" and "),
        Value::Difference(left, right) => {
            format!("{} less {}", words(work, left), words(work, right).to_lowercase())
        }
        Value::Over { function, measure, .. } => {
            format!("{} {}", aggregate_words(*function), words(work, measure).to_lowercase())
        }
        Value::Number(number) => number.to_string(),
    };
    capital(&text)
}

/// What people call an aggregate of a field; in full with what its rows are.
pub(super) fn aggregate_of(work: &Work<'_>, function: Aggregation, of: &FieldRef, in_full: bool) -> String {
    let words = work.ontology.field(&of.dataset, &of.field).map(Field::words);
    let words = words.unwrap_or_else(|| in_words(&of.field)).to_lowercase();
    let words = if function == Aggregation::CountDistinct { plural(&words) } else { words };
    match work.ontology.entity(&of.dataset).filter(|_| in_full) {
        Some(entity) => format!("{} {} {words}", aggregate_words(function), entity.noun()),
        None => format!("{} {words}", aggregate_words(function)),
    }
}

/// What people call an aggregate.
pub(super) fn aggregate_words(function: Aggregation) -> &'static str {
    match function {
        Aggregation::Sum => "total",
        Aggregation::Avg => "average",
        Aggregation::Median => "median",
        Aggregation::Min => "least",
        Aggregation::Max => "greatest",
        Aggregation::Count => "number of",
        Aggregation::CountDistinct => "number of different",
        Aggregation::Stddev => "standard deviation of",
    }
}
