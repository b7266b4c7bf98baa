//! Conditions, written.

use super::words::{DAYS, field_name, function_name, name, number, sign_of};
use super::write_times::window;
use super::write_values::Writer;
use crate::model::ontology::Aggregation;
use crate::model::plan::{Condition, Literal, Pattern};
use crate::model::source::text_literal;

impl Writer<'_> {
    /// Conditions that all hold.
    pub(super) fn conditions(&self, conditions: &[Condition]) -> String {
        match conditions {
            [only] => self.condition(only),
            _ => self.joined(conditions, " and "),
        }
    }

    fn joined(&self, conditions: &[Condition], by: &str) -> String {
        conditions.iter().map(|condition| self.part(condition)).collect::<Vec<_>>().join(by)
    }

    /// A condition among others.
    fn part(&self, condition: &Condition) -> String {
        match condition {
            Condition::Any(parts) if parts.len() > 1 => format!("({})", self.joined(parts, " or ")),
            other => self.condition(other),
        }
    }

    /// A condition as a text of its own, which is one condition and not several.
    pub(super) fn condition(&self, condition: &Condition) -> String {
        let not = |negated: bool| if negated { "not " } else { "" };
        match condition {
            Condition::Compare { field, op, value } => {
                format!("{} {} {}", field_name(field), sign_of(*op), literal(value))
            }
            Condition::CompareFields { left, op, right } => {
                format!("{} {} {}", field_name(left), sign_of(*op), field_name(right))
            }
            Condition::In { field, values, negated } => {
                let values: Vec<String> = values.iter().map(literal).collect();
                format!("{} {}in ({})", field_name(field), not(*negated), values.join(", "))
            }
            Condition::Like { field, pattern, text: part, negated } => {
                let pattern = match pattern {
                    Pattern::Contains => "contains",
                    Pattern::StartsWith => "starts with",
                    Pattern::EndsWith => "ends with",
                };
                format!("{} {}{pattern} {}", field_name(field), not(*negated), text_literal(part))
            }
            Condition::IsNull { field, negated } => format!("{} is {}null", field_name(field), not(*negated)),
            Condition::Within { field, window: times, negated } => {
                format!("{} {}during {}", field_name(field), not(*negated), window(times, self.ontology))
            }
            Condition::OnDays { field, days, negated } => {
                let day = |day: &u8| {
                    let named = usize::from(*day).checked_sub(1).and_then(|at| DAYS.get(at));
                    named.map_or_else(|| day.to_string(), |named| text_literal(named))
                };
                let days: Vec<String> = days.iter().map(day).collect();
                format!("day_of_week({}) {}in ({})", field_name(field), not(*negated), days.join(", "))
            }
            Condition::AtHours { field, from, to, negated } => {
                let last = to.saturating_sub(1);
                format!("hour_of_day({}) {}between {from} and {last}", field_name(field), not(*negated))
            }
            Condition::Segment { name: segment, negated } => format!("{}{}", not(*negated), name(segment)),
            Condition::Exists { of, dataset, via, filters, negated } => {
                let mut written = format!("{} has {}{}", name(of), if *negated { "no " } else { "" }, name(dataset));
                let ways: Vec<String> = via.iter().map(|way| name(way)).collect();
                match ways.as_slice() {
                    [] => {}
                    [only] => written.push_str(&format!(" via {only}")),
                    _ => written.push_str(&format!(" via ({})", ways.join(", "))),
                }
                if !filters.is_empty() {
                    written.push_str(&format!(" where ({})", self.conditions(filters)));
                }
                written
            }
            Condition::Measured { of, measure, op, value } => {
                format!("{} per {} {} {}", self.operand(measure), name(of), sign_of(*op), literal(value))
            }
            Condition::AgainstOverall { field, op, function } => {
                let field = field_name(field);
                let aggregate = match function {
                    Aggregation::CountDistinct => format!("count(distinct {field})"),
                    function => format!("{}({field})", function_name(*function)),
                };
                format!("{field} {} {aggregate}", sign_of(*op))
            }
            Condition::Any(parts) if parts.len() > 1 => self.joined(parts, " or "),
            Condition::All(parts) if parts.len() > 1 => format!("({})", self.joined(parts, " and ")),
            Condition::Any(parts) => format!("any({})", self.joined(parts, ", ")),
            Condition::All(parts) => format!("all({})", self.joined(parts, ", ")),
            Condition::Not(inner) => match inner.as_ref() {
                Condition::All(parts) if parts.len() > 1 => format!("not ({})", self.joined(parts, " and ")),
                other => format!("not ({})", self.condition(other)),
            },
        }
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Bool(is) => is.to_string(),
        Literal::Number(value) => number(*value),
        Literal::Text(value) => text_literal(value),
    }
}
