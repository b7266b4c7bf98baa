//! The values that a plan compares fields with, wherever in it they stand.

use crate::model::plan::{Condition, FieldRef, Literal, NodeMut, Plan};

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
    plan.walk_mut(&mut |node| match node {
        NodeMut::Condition(Condition::Compare { field, value, .. }) => see(Met::Literal(field, value)),
        NodeMut::Condition(Condition::In { field, values, .. }) => {
            values.iter_mut().for_each(|value| see(Met::Literal(field, value)));
        }
        NodeMut::Condition(Condition::Like { field, text, .. }) => see(Met::Part(field, text)),
        _ => {}
    });
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
