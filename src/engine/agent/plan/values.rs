//! The values that a plan compares fields with, wherever in it they stand.

use crate::model::plan::{Condition, FieldRef, Literal, Measure, Plan, Value};

/// Every literal that a field is compared with, in the order of the plan: what is to be looked up among stored values.
/// Numbers that finished measures are compared with are not among them.
pub fn literals(plan: &Plan) -> Vec<(FieldRef, Literal)> {
    let mut found = Vec::new();
    let mut plan = plan.clone();
    each_value(&mut plan, &mut |met| {
        if let Met::Literal(field, literal) = met {
            found.push((field.clone(), literal.clone()));
        }
    });
    found
}

/// A value that a field meets in a condition.
pub(in crate::engine::agent) enum Met<'a> {
    Literal(&'a FieldRef, &'a mut Literal),
    /// A part of a text.
    Part(&'a FieldRef, &'a mut String),
}

/// Shows every value of a plan, which may be changed.
pub(in crate::engine::agent) fn each_value(plan: &mut Plan, see: &mut dyn FnMut(Met<'_>)) {
    plan.measures.iter_mut().for_each(|measure| of_measure(measure, see));
    plan.filters.iter_mut().for_each(|condition| of_condition(condition, see));
}

fn of_measure(measure: &mut Measure, see: &mut dyn FnMut(Met<'_>)) {
    match &mut measure.value {
        Value::Metric(_) | Value::Count(_) | Value::Aggregate { .. } | Value::Days { .. } | Value::Number(_) => {}
        Value::Ratio { numerator, denominator } => {
            of_measure(numerator, see);
            of_measure(denominator, see);
        }
        Value::Sum(parts) => parts.iter_mut().for_each(|part| of_measure(part, see)),
        Value::Difference(left, right) => {
            of_measure(left, see);
            of_measure(right, see);
        }
        Value::Over { measure, .. } => of_measure(measure, see),
    }
    measure.filters.iter_mut().for_each(|condition| of_condition(condition, see));
}

fn of_condition(condition: &mut Condition, see: &mut dyn FnMut(Met<'_>)) {
    match condition {
        Condition::Compare { field, value, .. } => see(Met::Literal(field, value)),
        Condition::In { field, values, .. } => {
            values.iter_mut().for_each(|value| see(Met::Literal(field, value)));
        }
        Condition::Like { field, text, .. } => see(Met::Part(field, text)),
        Condition::Exists { filters: conditions, .. } | Condition::Any(conditions) | Condition::All(conditions) => {
            conditions.iter_mut().for_each(|condition| of_condition(condition, see));
        }
        Condition::Measured { measure, .. } => of_measure(measure, see),
        Condition::Not(condition) => of_condition(condition, see),
        Condition::CompareFields { .. }
        | Condition::IsNull { .. }
        | Condition::Within { .. }
        | Condition::OnDays { .. }
        | Condition::AtHours { .. }
        | Condition::Segment { .. }
        | Condition::AgainstOverall { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_are_found_wherever_they_stand() {
        let field = json!({ "dataset": "d", "field": "f" });
        let is = |value: &str| json!({ "compare": { "field": field, "op": "equal", "value": value } });
        let count = |filters| json!({ "value": { "count": "d" }, "filters": filters });
        let over = json!({ "over": { "function": "avg", "measure": count(json!([is("c")])), "by": [] } });
        let plan: Plan = serde_json::from_value(json!({
            "measures": [
                { "value": { "ratio": { "numerator": count(json!([is("a")])), "denominator": count(json!([])) } } },
                { "value": { "sum": [count(json!([is("b")]))] } },
                { "value": over, "filters": [{ "not": is("d") }] },
            ],
            "filters": [
                { "any": [is("e"), { "all": [{ "in": { "field": field, "values": ["f", 7, true] } }] }] },
                { "exists": { "of": "d", "dataset": "e", "filters": [is("g")] } },
                { "measured": { "of": "d", "measure": count(json!([is("h")])), "op": "greater", "value": 3 } },
                { "like": { "field": field, "pattern": "contains", "text": "part" } },
            ],
        }))
        .unwrap();
        let found: Vec<String> =
            literals(&plan).iter().map(|(_, literal)| serde_json::to_string(literal).unwrap()).collect();
        assert_eq!(
            found,
            [r#""a""#, r#""b""#, r#""c""#, r#""d""#, r#""e""#, r#""f""#, "7.0", "true", r#""g""#, r#""h""#]
        );
        assert!(literals(&plan).iter().all(|(met, _)| *met == FieldRef::new("d", "f")));
    }
}
