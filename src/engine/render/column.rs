//! What the columns of a result are, for those who show it.

use serde_json::Value;

use super::digits::Digits;
use super::number::{self, Style};
use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::{Grain, Plan, Shown, Value as Computed};

/// What a column of the result is of the plan. Positions are those of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Dimension(usize),
    Measure(usize),
    /// The measure at the comparison's time.
    Other(usize),
    /// The measure less the other.
    Difference(usize),
    /// The difference as a part of the other.
    Change(usize),
}

impl Role {
    pub fn is_dimension(self) -> bool {
        matches!(self, Role::Dimension(_))
    }
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub heading: String,
    pub role: Role,
    pub style: Style,
    /// Whether its values may be added up over the rows of the answer.
    pub additive: bool,
}

impl Column {
    /// Takes from the plan what decides how values are shown: the grain of times, whether numbers are parts of 1, and
    /// whether they add up. Of a metric only the ontology knows that: it counts as one that does not.
    pub fn new(heading: impl Into<String>, role: Role, plan: &Plan, mut style: Style) -> Self {
        match role {
            Role::Dimension(at) => {
                let dimension = plan.dimensions.get(at);
                style.grain = dimension.and_then(|dimension| dimension.grain);
                let counts = dimension.is_some_and(|dimension| dimension.bucket.is_some()) || style.grain.is_some();
                let exact = matches!(style.datatype, DataType::Integer | DataType::Decimal);
                style.code |= exact && !counts && style.unit.is_none() && style.format.is_none();
            }
            Role::Change(_) => style.part = true,
            Role::Measure(at) | Role::Other(at) | Role::Difference(at) => style.part |= is_part(plan, at),
        }
        // A format with a per cent sign is one for parts of 1.
        style.part |= style.format.as_deref().is_some_and(|format| format.contains('%'));
        if style.part {
            style.unit = None;
        }
        let additive = match role {
            Role::Measure(at) | Role::Other(at) | Role::Difference(at) => adds_up(plan, at),
            Role::Dimension(_) | Role::Change(_) => false,
        };
        Self { heading: heading.into(), role, style, additive }
    }

    /// Whether it has a number for each row to draw or to compare.
    pub fn number(&self, value: &Value) -> Option<Digits> {
        number::number_of(value, &self.style)
    }

    /// Stretches of the calendar in their order.
    pub fn is_timeline(&self) -> bool {
        let is_stretch = |grain: Grain| !grain.is_cycle();
        self.role.is_dimension() && self.style.grain.map_or(self.style.datatype.is_calendar(), is_stretch)
    }

    pub fn with_unit(&self, value: &Value) -> String {
        number::with_unit(value, &self.style)
    }

    pub fn bare(&self, value: &Value) -> String {
        number::bare(value, &self.style)
    }
}

/// Whether a measure is a part of 1: a share, a relative change, or a count divided by the same count without its
/// conditions.
fn is_part(plan: &Plan, at: usize) -> bool {
    let Some(measure) = plan.measures.get(at) else { return false };
    match (&measure.shown_as, &measure.value) {
        (Some(Shown::Share { .. } | Shown::ChangePercent), _) => true,
        (_, Computed::Ratio { numerator, denominator }) => numerator.is_part_of(denominator),
        _ => false,
    }
}

/// Whether a measure is a count of rows or a sum, or its share of everything.
fn adds_up(plan: &Plan, at: usize) -> bool {
    fn value(of: &Computed) -> bool {
        match of {
            Computed::Count(_) | Computed::Aggregate { function: Aggregation::Sum, .. } => true,
            Computed::Sum(parts) => parts.iter().all(|part| part.shown_as.is_none() && value(&part.value)),
            Computed::Difference(left, right) => value(&left.value) && value(&right.value),
            _ => false,
        }
    }
    plan.measures.get(at).is_some_and(|measure| match &measure.shown_as {
        None => value(&measure.value),
        Some(Shown::Share { within }) => within.is_empty(),
        Some(_) => false,
    })
}
