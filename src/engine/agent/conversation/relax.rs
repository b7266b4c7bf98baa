//! What an empty result would be without one of its conditions, or two that exclude each other, or if a text were only a
//! part of the value, whatever its capitals.

use crate::engine::ontology::expression::Aggregate;
use crate::model::ontology::{DataType, Field, Ontology, in_words};
use crate::model::plan::{Comparator, Condition, FieldRef, Literal, Measure, Pattern, Plan, TimeFilter, Value};

/// Most plans without two conditions.
const MOST_PAIRS: usize = 10;

/// Plans that count the rows which there would be without one condition, with the condition in words: one for each of
/// the plan's conditions, and one for its time. None when there is nothing to leave out, or nothing to count.
pub(super) fn relaxations(plan: &Plan, ontology: &Ontology) -> Vec<(String, Plan)> {
    let Some(all) = Conditions::of(plan, ontology) else { return Vec::new() };
    (0..all.count()).map(|at| (all.words(at, ontology), all.without(&[at]))).collect()
}

/// The same without two of the conditions, for plans that have nothing without any one of them: the conditions exclude
/// each other. At most ten.
pub(super) fn contradictions(plan: &Plan, ontology: &Ontology) -> Vec<((String, String), Plan)> {
    let Some(all) = Conditions::of(plan, ontology) else { return Vec::new() };
    let pairs = (0..all.count()).flat_map(|one| (one + 1..all.count()).map(move |other| (one, other)));
    let pairs = pairs.take(MOST_PAIRS);
    pairs
        .map(|(one, other)| ((all.words(one, ontology), all.words(other, ontology)), all.without(&[one, other])))
        .collect()
}

/// Plans that count the rows which there would be if a text that is looked for were only a part of the stored one, and
/// capitals did not count, with that condition in words: "Kilmer" where 'KILMER' is stored. One for each such condition.
pub(super) fn loosened(plan: &Plan, ontology: &Ontology) -> Vec<(String, Plan)> {
    let Some(all) = Conditions::of(plan, ontology) else { return Vec::new() };
    let loose = all.filters.iter().enumerate().filter_map(|(at, condition)| {
        let Condition::Compare { field, op: Comparator::Equal, value: Literal::Text(text) } = condition else {
            return None;
        };
        let is_text = ontology.field(&field.dataset, &field.field)?.datatype == DataType::String;
        let field = field.clone();
        let loose = Condition::Like { field, pattern: Pattern::Contains, text: text.clone(), negated: false };
        let mut plan = all.without(&[at]);
        let said = words(&loose, ontology);
        plan.filters.push(loose);
        is_text.then_some((said, plan))
    });
    loose.collect()
}

/// What can be left out of a plan.
struct Conditions<'p> {
    home: String,
    filters: Vec<Condition>,
    time: Option<&'p TimeFilter>,
}

impl<'p> Conditions<'p> {
    fn of(plan: &'p Plan, ontology: &Ontology) -> Option<Self> {
        let home = home(plan, ontology)?;
        let own = plan.measures.first().map(|measure| measure.filters.clone()).unwrap_or_default();
        Some(Self { home, filters: plan.filters.iter().cloned().chain(own).collect(), time: plan.time.as_ref() })
    }

    /// The time is the last of them.
    fn count(&self) -> usize {
        self.filters.len() + usize::from(self.time.is_some())
    }

    fn words(&self, at: usize, ontology: &Ontology) -> String {
        if let Some(condition) = self.filters.get(at) {
            return words(condition, ontology);
        }
        let Some(TimeFilter { window, .. }) = self.time else { return String::new() };
        window.phrase.clone().unwrap_or_else(|| match (&window.start, &window.end) {
            (Some(start), Some(end)) => format!("from {start} to before {end}"),
            (Some(start), None) => format!("since {start}"),
            (None, Some(end)) => format!("before {end}"),
            (None, None) => "at any time".to_owned(),
        })
    }

    fn without(&self, left_out: &[usize]) -> Plan {
        let kept = self.filters.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        Plan {
            measures: vec![Measure::of(Value::Count(self.home.clone()))],
            filters: kept.map(|(_, condition)| condition.clone()).collect(),
            time: self.time.filter(|_| !left_out.contains(&self.filters.len())).cloned(),
            ..Plan::default()
        }
    }
}

/// The dataset whose rows the plan is about.
fn home(plan: &Plan, ontology: &Ontology) -> Option<String> {
    match plan.measures.first() {
        Some(measure) => of_measure(measure, ontology, 0),
        None => {
            plan.subject.clone().or_else(|| plan.dimensions.first().map(|dimension| dimension.field.dataset.clone()))
        }
    }
}

fn of_measure(measure: &Measure, ontology: &Ontology, depth: usize) -> Option<String> {
    if depth > 8 {
        return None;
    }
    match &measure.value {
        Value::Count(dataset) => Some(dataset.clone()),
        Value::Aggregate { field, .. } | Value::Days { to: field, .. } => Some(field.dataset.clone()),
        Value::Metric(name) => of_metric(name, ontology, depth),
        Value::Ratio { numerator: measure, .. } | Value::Difference(measure, _) | Value::Over { measure, .. } => {
            of_measure(measure, ontology, depth + 1)
        }
        Value::Sum(parts) => of_measure(parts.first()?, ontology, depth + 1),
        Value::Number(_) => None,
    }
}

fn of_metric(name: &str, ontology: &Ontology, depth: usize) -> Option<String> {
    let metric = ontology.metric(name)?;
    let expression = Aggregate::parse(&metric.expression).ok()?;
    if let Some(dataset) = expression.refs().into_iter().find_map(|reference| reference.dataset) {
        return Some(dataset);
    }
    let other = expression.metrics().first()?;
    of_measure(&Measure::metric(other.clone()), ontology, depth + 1)
}

/// A condition in words.
fn words(condition: &Condition, ontology: &Ontology) -> String {
    let field = |field: &FieldRef| {
        let known = ontology.field(&field.dataset, &field.field);
        known.map_or_else(|| in_words(&field.field), Field::words)
    };
    let not = |negated: &bool| if *negated { "not " } else { "" };
    match condition {
        Condition::Compare { field: of, op, value } => {
            format!("{} {} {}", field(of), op_words(*op), value_words(value))
        }
        Condition::CompareFields { left, op, right } => format!("{} {} {}", field(left), op_words(*op), field(right)),
        Condition::In { field: of, values, negated } => {
            let values: Vec<String> = values.iter().map(value_words).collect();
            format!("{} is {}{}", field(of), not(negated), values.join(" or "))
        }
        Condition::Like { field: of, pattern, text, negated } => {
            let how = match pattern {
                Pattern::Contains => "contains",
                Pattern::StartsWith => "starts with",
                Pattern::EndsWith => "ends with",
            };
            let not = if *negated { "not: " } else { "" };
            format!("{not}{} {how} {text}", field(of))
        }
        Condition::IsNull { field: of, negated } => {
            format!("{} is {}", field(of), if *negated { "known" } else { "unknown" })
        }
        Condition::Within { field: of, window, negated } => {
            let phrase = window.phrase.clone().unwrap_or_else(|| "in the time".to_owned());
            format!("{} {}{phrase}", field(of), not(negated))
        }
        Condition::OnDays { field: of, negated, .. } => format!("{} {}on the days", field(of), not(negated)),
        Condition::AtHours { field: of, from, to, negated } => {
            format!("{} {}from {from} to {to} o’clock", field(of), not(negated))
        }
        Condition::Segment { name, negated } => format!("{}{}", not(negated), in_words(name)),
        Condition::Exists { of, dataset, negated, .. } => {
            format!("{} with {}{}", in_words(of), if *negated { "no " } else { "a " }, in_words(dataset))
        }
        Condition::Measured { of, op, value, .. } => {
            format!("{} whose number {} {}", in_words(of), op_words(*op), value_words(value))
        }
        Condition::AgainstOverall { field: of, op, .. } => format!("{} {} the overall one", field(of), op_words(*op)),
        Condition::Any(parts) => parts.iter().map(|part| words(part, ontology)).collect::<Vec<_>>().join(" or "),
        Condition::All(parts) => parts.iter().map(|part| words(part, ontology)).collect::<Vec<_>>().join(" and "),
        Condition::Not(inner) => format!("not: {}", words(inner, ontology)),
    }
}

fn op_words(op: Comparator) -> &'static str {
    match op {
        Comparator::Equal => "is",
        Comparator::NotEqual => "is not",
        Comparator::Less => "is less than",
        Comparator::AtMost => "is at most",
        Comparator::Greater => "is more than",
        Comparator::AtLeast => "is at least",
    }
}

fn value_words(value: &Literal) -> String {
    match value {
        Literal::Bool(value) => value.to_string(),
        Literal::Number(number) => number.to_string(),
        Literal::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::{Dimension, Window};

    #[test]
    fn an_empty_result_is_counted_without_each_condition() {
        let is = |field: &str, value: &str| Condition::Compare {
            field: FieldRef::new("flights", field),
            op: Comparator::Equal,
            value: Literal::Text(value.into()),
        };
        let mut plan = Plan {
            dimensions: vec![Dimension::of(FieldRef::new("flights", "day"))],
            measures: vec![Measure::of(Value::Count("flights".into()))],
            filters: vec![is("carrier", "XX"), is("origin", "JFK")],
            time: Some(TimeFilter {
                field: None,
                window: Window { phrase: Some("last year".into()), ..Window::default() },
            }),
            ..Plan::default()
        };
        let relaxed = relaxations(&plan, &Ontology::default());
        let words: Vec<&str> = relaxed.iter().map(|(words, _)| words.as_str()).collect();
        assert_eq!(words, ["carrier is XX", "origin is JFK", "last year"]);
        assert_eq!(relaxed[0].1.filters, [is("origin", "JFK")]);
        assert_eq!(relaxed[1].1.filters, [is("carrier", "XX")]);
        assert_eq!((relaxed[2].1.filters.len(), &relaxed[2].1.time), (2, &None));
        for (_, relaxed) in &relaxed {
            assert_eq!(relaxed.measures, [Measure::of(Value::Count("flights".into()))]);
            assert!(relaxed.dimensions.is_empty());
        }
        let pairs = contradictions(&plan, &Ontology::default());
        let left: Vec<(usize, bool)> =
            pairs.iter().map(|(_, plan)| (plan.filters.len(), plan.time.is_some())).collect();
        assert_eq!(left, [(0, true), (1, false), (1, false)]);
        assert_eq!(pairs[0].0, ("carrier is XX".to_owned(), "origin is JFK".to_owned()));
        plan.measures[0].value = Value::Number(2.into());
        assert!(relaxations(&plan, &Ontology::default()).is_empty());
    }
}
