//! Numbers and dimensions, written.

use super::words::{field_name, function_name, grain_words, name, number};
use crate::model::ontology::{Aggregation, Ontology};
use crate::model::plan::{Dimension, Measure, Shown, Value};
use crate::model::source::quoted;

/// Writes parts of a plan.
pub(super) struct Writer<'a> {
    pub ontology: &'a Ontology,
    /// How the plan's dimensions are named, by position.
    pub dimension_name: &'a dyn Fn(usize) -> String,
}

impl Writer<'_> {
    /// A measure as a text of its own.
    pub(super) fn measure(&self, measure: &Measure) -> String {
        let label = measure.label.as_deref().map(|label| format!(" as {}", quoted(label))).unwrap_or_default();
        let plain = measure.filters.is_empty() && measure.shown_as.is_none();
        let value = if plain { self.value(&measure.value) } else { self.unlabelled(measure) };
        format!("{value}{label}")
    }

    /// A measure as a part of another: in parentheses where it would come apart.
    pub(super) fn operand(&self, measure: &Measure) -> String {
        if measure.label.is_some() { format!("({})", self.measure(measure)) } else { self.unlabelled(measure) }
    }

    fn unlabelled(&self, measure: &Measure) -> String {
        let value = match (&measure.shown_as, is_whole(&measure.value)) {
            (None, true) => self.value(&measure.value),
            (None, false) => format!("({})", self.value(&measure.value)),
            (Some(shown), _) => self.shown(shown, &self.value(&measure.value)),
        };
        match measure.filters.is_empty() {
            true => value,
            false => format!("{value} filter (where {})", self.conditions(&measure.filters)),
        }
    }

    fn shown(&self, shown: &Shown, value: &str) -> String {
        match shown {
            Shown::Share { within } if within.is_empty() => format!("share({value})"),
            Shown::Share { within } => {
                let names: Vec<String> = within.iter().map(|at| (self.dimension_name)(*at)).collect();
                format!("share({value} within {})", names.join(", "))
            }
            Shown::Cumulative => format!("cumulative({value})"),
            Shown::Change => format!("change({value})"),
            Shown::ChangePercent => format!("change_percent({value})"),
            Shown::MovingAverage { rows } => format!("moving_average({value}, {rows})"),
        }
    }

    fn value(&self, value: &Value) -> String {
        match value {
            Value::Metric(metric) => name(metric),
            Value::Count(dataset) => format!("count({})", name(dataset)),
            Value::Aggregate { function: Aggregation::CountDistinct, field } => {
                format!("count(distinct {})", field_name(field))
            }
            Value::Aggregate { function, field } => format!("{}({})", function_name(*function), field_name(field)),
            Value::Ratio { numerator, denominator } => {
                format!("{} / {}", self.operand(numerator), self.operand(denominator))
            }
            Value::Days { function, from, to } => {
                format!("{}(days({}, {}))", function_name(*function), field_name(from), field_name(to))
            }
            Value::Sum(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.operand(part)).collect();
                if parts.len() > 1 { parts.join(" + ") } else { format!("add({})", parts.concat()) }
            }
            Value::Difference(first, second) => format!("{} - {}", self.operand(first), self.operand(second)),
            Value::Over { function, measure, by } => {
                let by: Vec<String> = by.iter().map(dimension).collect();
                format!("{}({} per {})", function_name(*function), self.operand(measure), by.join(", "))
            }
            Value::Number(value) => number(*value),
        }
    }
}

/// A dimension with its label.
pub(super) fn dimension(dimension: &Dimension) -> String {
    let mut text = field_name(&dimension.field);
    if let Some(grain) = dimension.grain {
        text.push_str(&format!(" by {}", grain_words(grain)));
    }
    if let Some(width) = dimension.bucket {
        text.push_str(&format!(" by {}", number(width)));
    }
    if let Some(label) = &dimension.label {
        text.push_str(&format!(" as {}", quoted(label)));
    }
    text
}

/// Whether nothing beside it takes a part out of it.
fn is_whole(value: &Value) -> bool {
    match value {
        Value::Ratio { .. } | Value::Difference(..) => false,
        Value::Sum(parts) => parts.len() < 2,
        Value::Number(number) => number.get() >= 0.0,
        Value::Metric(_) | Value::Count(_) | Value::Aggregate { .. } | Value::Days { .. } | Value::Over { .. } => true,
    }
}
