//! Keeps stored values from a language model and still lets it use them: they are sent as placeholders, and what comes
//! back gets them again.

use crate::engine::agent::planner::values::{Met, each_value};
use crate::model::plan::{Literal, Plan, Value};

/// The texts behind placeholders, in order.
pub(super) struct Veil {
    may_see: bool,
    hidden: Vec<String>,
}

impl Veil {
    pub fn new(may_see: bool) -> Self {
        Self { may_see, hidden: Vec::new() }
    }

    /// Whether values are sent as they are.
    pub fn may_see(&self) -> bool {
        self.may_see
    }

    /// The text to send: itself where it may be seen or `known` says it already, a placeholder otherwise.
    pub fn cover(&mut self, text: &str, known: &str) -> String {
        if self.may_see || known.to_lowercase().contains(&text.to_lowercase()) {
            return text.to_owned();
        }
        let at = self.hidden.iter().position(|hidden| hidden == text).unwrap_or_else(|| {
            self.hidden.push(text.to_owned());
            self.hidden.len() - 1
        });
        placeholder(at)
    }

    /// A plan to send. Headings may hold values too, and are not needed.
    pub fn cover_plan(&mut self, mut plan: Plan, known: &str) -> Plan {
        if self.may_see {
            return plan;
        }
        each_value(&mut plan, &mut |met| match met {
            Met::Literal(_, Literal::Text(text)) | Met::Part(text) => *text = self.cover(text, known),
            Met::Literal(_, Literal::Bool(_) | Literal::Number(_)) => {}
        });
        plan.dimensions.iter_mut().for_each(|dimension| dimension.label = None);
        plan.measures.iter_mut().for_each(without_labels);
        plan
    }

    /// Puts the values behind placeholders in.
    pub fn uncover(&self, plan: &mut Plan) {
        each_value(plan, &mut |met| {
            if let Met::Literal(_, Literal::Text(text)) | Met::Part(text) = met
                && let Some(at) = (0..self.hidden.len()).find(|at| placeholder(*at) == *text)
            {
                text.clone_from(&self.hidden[at]);
            }
        });
    }
}

fn placeholder(at: usize) -> String {
    format!("@value{}", at + 1)
}

fn without_labels(measure: &mut crate::model::plan::Measure) {
    measure.label = None;
    match &mut measure.value {
        Value::Metric(_) | Value::Count(_) | Value::Aggregate { .. } | Value::Number(_) => {}
        Value::Ratio { numerator: one, denominator: other } | Value::Difference(one, other) => {
            without_labels(one);
            without_labels(other);
        }
        Value::Sum(parts) => parts.iter_mut().for_each(without_labels),
        Value::Over { measure, by, .. } => {
            without_labels(measure);
            by.iter_mut().for_each(|dimension| dimension.label = None);
        }
    }
}
