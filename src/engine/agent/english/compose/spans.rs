//! Several stretches of time: together they are one or the other.

use super::*;
use crate::engine::agent::english::sketch::Noun;

impl Builder<'_> {
    /// Sets the time of the plan: a window, or a condition where it is in several parts.
    pub(super) fn time(&mut self, field: Option<FieldRef>, windows: &[Window]) -> Result<(), Fault> {
        if let [window] = windows {
            self.plan.time = Some(TimeFilter { field, window: window.clone() });
            return Ok(());
        }
        // A condition is on one field, so all numbers must have the same time.
        let own = |measure: &Measure| match &measure.value {
            Value::Metric(name) => self.resolver.ontology.metric(name)?.default_time_field.clone(),
            _ => None,
        };
        let times: Vec<String> = self.plan.measures.iter().filter_map(own).collect();
        if times.iter().any(|time| *time != times[0]) {
            return cannot("The numbers have different times: ask for one of them, or for one stretch of time.");
        }
        let field = match field {
            Some(field) => field,
            None => self.time_field()?,
        };
        self.plan.filters.push(within_any(&field, windows));
        Ok(())
    }

    /// Whether the question named a time.
    pub(in super::super) fn has_time(&self) -> bool {
        self.plan.time.is_some() || self.plan.filters.iter().any(is_time)
    }

    /// Whether the answer has a row for each unit of time.
    pub(super) fn grouped_by_time(&self) -> bool {
        self.plan.dimensions.iter().any(|dimension| dimension.grain.is_some())
    }

    /// What is counted once may have been there in one time or in several: the answer says that either is enough.
    pub(super) fn either_or_both(&mut self, windows: &[Window], either: bool) -> Result<(), Fault> {
        let distinct = |measure: &Measure| match &measure.value {
            Value::Metric(name) => self
                .resolver
                .ontology
                .metric(name)
                .is_some_and(|metric| metric.expression.to_lowercase().replace(' ', "").contains("count(distinct")),
            Value::Aggregate { function, .. } => *function == Aggregation::CountDistinct,
            _ => false,
        };
        if either || windows.len() < 2 || !self.plan.measures.iter().any(distinct) {
            return Ok(());
        }
        let acts = |noun: &Noun| noun.norm.split(' ').any(|word| matches!(word, "who" | "that" | "which"));
        if self.sketch.nouns.iter().any(acts) || matches!(self.sketch.ask, Ask::Who) {
            let said: Vec<String> = windows.iter().map(crate::engine::agent::explainer::describe).collect();
            return cannot(format!(
                "In both, or in either? Say “in {}”, or ask for one time at a time.",
                said.join(" or ")
            ));
        }
        self.assumptions.push("Assumed: in any of the times, not in all of them.".into());
        Ok(())
    }
}

/// The same stretches in their order, those that touch as one.
pub(super) fn united(mut windows: Vec<Window>) -> Vec<Window> {
    windows.sort_by(|a, b| a.start.cmp(&b.start).then_with(|| a.end.cmp(&b.end)));
    let mut all: Vec<Window> = Vec::new();
    for window in windows {
        match all.last_mut() {
            Some(last) if last.end.is_none() || window.start.is_none() || last.end >= window.start => {
                if last.end.is_some() && (window.end.is_none() || window.end > last.end) {
                    last.end.clone_from(&window.end);
                }
                if let (Some(phrase), Some(more)) = (&mut last.phrase, &window.phrase) {
                    *phrase = format!("{phrase} and {more}");
                }
            }
            _ => all.push(window),
        }
    }
    all
}

/// Whether any moment is in one of the first and in one of the second.
pub(super) fn overlap(first: &[Window], second: &[Window]) -> bool {
    let before =
        |end: &Option<String>, start: &Option<String>| matches!((end, start), (Some(end), Some(start)) if end <= start);
    first
        .iter()
        .any(|one| second.iter().any(|other| !before(&one.end, &other.start) && !before(&other.end, &one.start)))
}

pub(super) fn within_any(field: &FieldRef, windows: &[Window]) -> Condition {
    let within = |window: &Window| Condition::Within { field: field.clone(), window: window.clone(), negated: false };
    match windows {
        [one] => within(one),
        several => Condition::Any(several.iter().map(within).collect()),
    }
}

/// Whether a condition is nothing but stretches of time.
pub(in super::super) fn is_time(condition: &Condition) -> bool {
    match condition {
        Condition::Within { negated, .. } => !negated,
        Condition::Any(parts) => !parts.is_empty() && parts.iter().all(is_time),
        _ => false,
    }
}
