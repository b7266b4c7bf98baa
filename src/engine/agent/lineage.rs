//! Where an answer came from: what the compiler's statement reads, joins and keeps, in names of the ontology. It is told
//! from the plan and from what the compiler noted while it wrote, never from SQL: so it is the same for every engine.

use serde_json::{Value, json};

use super::compiler::Compiled;
use super::explainer::{bound, condition, describe, measure as words};
use crate::model::lineage::{DatasetUse, FilterUse, Lineage, OtherTime, TimeUse};
use crate::model::ontology::{Entity, Ontology};
use crate::model::plan::{Bound, Comparator, Condition, FieldRef, Having, Literal, Measure, Pattern, Plan};

/// The lineage of an answer of so many rows.
pub fn of(plan: &Plan, compiled: &Compiled, ontology: &Ontology, rows: usize) -> Lineage {
    let reads = &compiled.reads;
    let dataset = |name: &String| {
        let entity = ontology.entity(name);
        let source = entity.map(Entity::table).filter(|table| !table.is_empty()).unwrap_or(name).to_owned();
        DatasetUse { name: name.clone(), source, only: entity.and_then(|entity| entity.row_policy.clone()) }
    };
    let of_metrics = reads.of_metrics.iter().map(|(metric, expression)| FilterUse {
        operator: "expression".into(),
        value: Some(json!(expression)),
        applies_to: Some(metric.clone()),
        says: expression.clone(),
        ..FilterUse::default()
    });
    let mut filters = Vec::new();
    all(&plan.filters, None, ontology, &mut filters);
    plan.measures.iter().for_each(|measure| of_measure(measure, ontology, &mut filters));
    filters.extend(of_metrics);
    filters.extend(plan.having.iter().map(|having| of_number(having, plan, ontology)));
    Lineage {
        kind: "data_lineage".into(),
        datasets: reads.datasets.iter().map(dataset).collect(),
        joins: reads.joins.clone(),
        filters,
        time_window: time(plan, &reads.times),
        grain: compiled.grain.clone(),
        row_count: rows,
        sql: compiled.sql.clone(),
    }
}

fn time(plan: &Plan, fields: &[String]) -> Option<TimeUse> {
    let window = &plan.time.as_ref()?.window;
    let other = plan.comparison.as_ref().map(|comparison| OtherTime {
        start: comparison.with.start.clone(),
        end: comparison.with.end.clone(),
        says: describe(&comparison.with),
    });
    Some(TimeUse {
        start: window.start.clone(),
        end: window.end.clone(),
        says: describe(window),
        fields: fields.to_vec(),
        compared_with: other,
    })
}

/// Conditions that hold together, once each.
fn all(conditions: &[Condition], number: Option<&str>, ontology: &Ontology, into: &mut Vec<FilterUse>) {
    for condition in conditions.iter().flat_map(Condition::together) {
        let filter = FilterUse { applies_to: number.map(str::to_owned), ..one(condition, ontology) };
        if !into.contains(&filter) {
            into.push(filter);
        }
    }
}

/// The conditions of a number alone, and of those that it is made from.
fn of_measure(measure: &Measure, ontology: &Ontology, into: &mut Vec<FilterUse>) {
    if !measure.filters.is_empty() {
        let name = measure.label.clone();
        let name = name.unwrap_or_else(|| words(&Measure::of(measure.value.clone()), ontology));
        all(&measure.filters, Some(&name), ontology, into);
    }
    measure.value.measures().into_iter().for_each(|part| of_measure(part, ontology, into));
}

fn of_number(having: &Having, plan: &Plan, ontology: &Ontology) -> FilterUse {
    let value = match &having.value {
        Bound::Number(number) => literal(&Literal::Number(*number)),
        Bound::Overall(function) => json!({ "aggregate": function, "of": "all rows of the answer" }),
    };
    FilterUse {
        field: plan.measures.get(having.measure).map(|measure| words(measure, ontology)),
        operator: symbol(having.op).into(),
        value: Some(value),
        says: bound(having, plan, ontology),
        ..FilterUse::default()
    }
}

fn one(of: &Condition, ontology: &Ontology) -> FilterUse {
    let (field, operator, value) = match of {
        Condition::Compare { field, op, value } => (Some(field), symbol(*op).to_owned(), Some(literal(value))),
        Condition::CompareFields { left, op, right } => {
            (Some(left), symbol(*op).to_owned(), Some(json!({ "field": name(right) })))
        }
        Condition::In { field, values, negated } => {
            (Some(field), unless(*negated, "in"), Some(values.iter().map(literal).collect()))
        }
        Condition::Like { field, pattern, text, negated } => {
            let operator = match pattern {
                Pattern::Contains => "contains",
                Pattern::StartsWith => "starts with",
                Pattern::EndsWith => "ends with",
            };
            (Some(field), unless(*negated, operator), Some(json!(text)))
        }
        Condition::IsNull { field, negated } => (Some(field), unless(*negated, "is null"), None),
        Condition::Within { field, window, negated } => {
            let mut value = json!({});
            for (name, end) in [("start", &window.start), ("end", &window.end)] {
                if let (Some(end), Some(value)) = (end, value.as_object_mut()) {
                    value.insert(name.to_owned(), json!(end));
                }
            }
            (Some(field), unless(*negated, "within"), Some(value))
        }
        Condition::OnDays { field, days, negated } => (Some(field), unless(*negated, "on days"), Some(json!(days))),
        Condition::AtHours { field, from, to, negated } => {
            (Some(field), unless(*negated, "at hours"), Some(json!({ "from": from, "to": to })))
        }
        Condition::Segment { name, negated } => (None, unless(*negated, "segment"), Some(json!(name))),
        Condition::Exists { dataset, negated, .. } => (None, unless(*negated, "exists"), Some(json!(dataset))),
        Condition::Measured { op, value, .. } => (None, symbol(*op).to_owned(), Some(literal(value))),
        Condition::AgainstOverall { field, op, function } => {
            let value = json!({ "aggregate": function, "of": name(field) });
            (Some(field), symbol(*op).to_owned(), Some(value))
        }
        Condition::Any(_) => (None, "any".to_owned(), None),
        Condition::All(_) => (None, "all".to_owned(), None),
        Condition::Not(_) => (None, "not".to_owned(), None),
    };
    let counted = match of {
        Condition::Measured { measure, .. } => Some(words(measure, ontology)),
        _ => None,
    };
    let meant = match of {
        Condition::Segment { name, .. } => ontology.segment(name).map(|segment| segment.expression.as_str()),
        _ => None,
    };
    let meant = meant.map(|expression| format!(": {expression}")).unwrap_or_default();
    FilterUse {
        via: field.map(|field| field.via.clone()).unwrap_or_default(),
        field: field.map(name).or(counted),
        operator,
        value,
        applies_to: None,
        says: format!("{}{meant}", condition(of, ontology)),
    }
}

fn name(field: &FieldRef) -> String {
    format!("{}.{}", field.dataset, field.field)
}

fn unless(negated: bool, operator: &str) -> String {
    if negated { format!("not {operator}") } else { operator.to_owned() }
}

fn symbol(op: Comparator) -> &'static str {
    match op {
        Comparator::Equal => "=",
        Comparator::NotEqual => "!=",
        Comparator::Less => "<",
        Comparator::AtMost => "<=",
        Comparator::Greater => ">",
        Comparator::AtLeast => ">=",
    }
}

/// A number without a point where it is whole.
fn literal(value: &Literal) -> Value {
    match value {
        Literal::Bool(value) => json!(value),
        Literal::Number(number) => serde_json::from_str(&number.to_string()).unwrap_or_default(),
        Literal::Text(text) => json!(text),
    }
}

#[cfg(test)]
mod tests;
