//! Which way was taken between datasets, where several lead there.

use super::names::{has_others, listed, noun};
use crate::model::lineage::JoinUse;
use crate::model::ontology::{Ontology, Relationship, in_words};
use crate::model::plan::{Condition, FieldRef, Measure, Node, Plan, Value};

/// The ways that a statement takes because the ontology prefers them, where its plan names none: "with airport as
/// origin". What the plan names is said where it is named.
pub(super) fn preferred(plan: &Plan, joins: &[JoinUse], ontology: &Ontology) -> Option<String> {
    let named = named(plan);
    let is_named = |one: &Relationship| named.iter().any(|name| name.eq_ignore_ascii_case(&one.name));
    let taken = joins.iter().filter_map(|join| ontology.relationship(&join.relationship));
    let mut said: Vec<String> = Vec::new();
    for one in taken.filter(|one| has_others(one, ontology) && !is_named(one)) {
        let role = one.role.as_deref().unwrap_or(&one.name);
        let words = format!("{} as {}", noun(&one.to, ontology), in_words(role));
        if !said.contains(&words) {
            said.push(words);
        }
    }
    (!said.is_empty()).then(|| format!("with {}", listed(&said, "and")))
}

/// All relationships that a plan names.
fn named(plan: &Plan) -> Vec<&str> {
    let mut fields: Vec<&FieldRef> = plan.time.iter().filter_map(|time| time.field.as_ref()).collect();
    let mut ways: Vec<&String> = Vec::new();
    fields.extend(plan.dimensions.iter().map(|dimension| &dimension.field));
    for node in plan.nodes() {
        match node {
            Node::Condition(condition) => {
                fields.extend(condition.fields());
                if let Condition::Exists { via, .. } = condition {
                    ways.extend(via);
                }
            }
            Node::Measure(Measure { value, .. }) => match value {
                Value::Aggregate { field, .. } => fields.push(field),
                Value::Days { from, to, .. } => fields.extend([from, to]),
                Value::Over { by, .. } => fields.extend(by.iter().map(|dimension| &dimension.field)),
                _ => {}
            },
        }
    }
    ways.extend(fields.into_iter().flat_map(|field| &field.via));
    ways.into_iter().map(String::as_str).collect()
}
