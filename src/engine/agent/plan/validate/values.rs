//! Values that hold together on one field: each row has one of them, and so no row has both.

use crate::model::ontology::Ontology;
use crate::model::plan::{Comparator, Condition, FieldRef, Literal, Measure, Node, Plan, Value};

/// The values that a field may have, as one condition says.
type Allowed<'a> = (&'a FieldRef, Vec<String>);

/// Conditions that exclude each other, where rows come to their values by the same way.
pub(super) fn exclusive(plan: &Plan, ontology: &Ontology, said: &mut Vec<String>) {
    let mut held: Vec<Allowed<'_>> = Vec::new();
    together(&plan.filters, plan, ontology, &mut held);
    disjoint(&held, ontology, said);
    for measure in &plan.measures {
        of_measure(measure, &held, plan, ontology, said);
    }
    each(&plan.filters, &mut |conditions| {
        let mut held = Vec::new();
        together(conditions, plan, ontology, &mut held);
        disjoint(&held, ontology, said);
    });
}

/// Shows the conditions on the rows of each other thing that are asked for, not those that are ruled out.
pub(super) fn each<'a>(conditions: impl IntoIterator<Item = &'a Condition>, see: &mut impl FnMut(&'a [Condition])) {
    for condition in conditions {
        match condition {
            Condition::Not(_) => continue,
            Condition::Exists { filters, .. } => see(filters),
            _ => {}
        }
        let inside = condition.children().into_iter().filter_map(|node| match node {
            Node::Condition(inner) => Some(inner),
            Node::Measure(_) => None,
        });
        each(inside.collect::<Vec<_>>(), see);
    }
}

fn of_measure(measure: &Measure, held: &[Allowed<'_>], plan: &Plan, ontology: &Ontology, said: &mut Vec<String>) {
    let mut own = held.to_vec();
    together(&measure.filters, plan, ontology, &mut own);
    if own.len() > held.len() {
        disjoint(&own, ontology, said);
    }
    for part in measure.value.measures() {
        of_measure(part, &own, plan, ontology, said);
    }
}

fn together<'a>(conditions: &'a [Condition], plan: &Plan, ontology: &Ontology, held: &mut Vec<Allowed<'a>>) {
    for condition in conditions.iter().flat_map(Condition::together) {
        match condition {
            Condition::Compare { field, op: Comparator::Equal, value } => held.push((field, vec![folded(value)])),
            Condition::In { field, values, negated: false } => {
                held.push((field, values.iter().map(folded).collect()));
            }
            // What each row has one of is on the row itself.
            Condition::Exists { of, dataset, via, filters, negated: false }
                if via.is_empty() && is_of(of, plan) && is_one(of, dataset, ontology) =>
            {
                let from = held.len();
                together(filters, plan, ontology, held);
                let mut at = 0;
                held.retain(|(field, _)| {
                    at += 1;
                    at <= from || field.via.is_empty() && field.dataset.eq_ignore_ascii_case(dataset)
                });
            }
            _ => {}
        }
    }
}

fn folded(value: &Literal) -> String {
    match value {
        Literal::Text(text) => text.to_lowercase(),
        Literal::Number(number) => format!("{number:?}"),
        Literal::Bool(is) => is.to_string(),
    }
}

/// Whether the rows of the answer, or those that are counted, are of this dataset.
fn is_of(dataset: &str, plan: &Plan) -> bool {
    if plan.measures.is_empty() {
        return plan.subject.as_deref().is_some_and(|subject| subject.eq_ignore_ascii_case(dataset));
    }
    let counted = |measure: &Measure| matches!(&measure.value, Value::Count(of) if of.eq_ignore_ascii_case(dataset));
    plan.measures.iter().all(counted)
}

/// Whether a row of one dataset refers to one row of the other, by one way only.
fn is_one(from: &str, to: &str, ontology: &Ontology) -> bool {
    let mut ways = ontology
        .relationships
        .iter()
        .filter(|known| known.from.eq_ignore_ascii_case(from) && known.to.eq_ignore_ascii_case(to));
    ways.next().is_some() && ways.next().is_none()
}

fn disjoint(held: &[Allowed<'_>], ontology: &Ontology, said: &mut Vec<String>) {
    for (at, (field, values)) in held.iter().enumerate() {
        for (other, others) in held.iter().skip(at + 1) {
            if field != other || values.iter().any(|value| others.contains(value)) {
                continue;
            }
            let words = ontology.field(&field.dataset, &field.field).map(|field| field.words().to_lowercase());
            let words = words.unwrap_or_else(|| field.field.clone());
            let text = format!(
                "Each row has one {words} only, and so none is both “{}” and “{}”: join them with “or” for either.",
                values.join(", "),
                others.join(", ")
            );
            if !said.contains(&text) {
                said.push(text);
            }
        }
    }
}
