//! Which points a filter of the protocol means.

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, PointId};
use serde_json::Value;
use tonic::Status;

/// Whether all, some and none of the conditions hold, as the filter wants it.
pub fn holds(filter: &Filter, id: &PointId, payload: &Value) -> Result<bool, Status> {
    if filter.min_should.is_some() {
        return Err(Status::unimplemented("min_should"));
    }
    for one in &filter.must {
        if !condition(one, id, payload)? {
            return Ok(false);
        }
    }
    for one in &filter.must_not {
        if condition(one, id, payload)? {
            return Ok(false);
        }
    }
    let mut some = filter.should.is_empty();
    for one in &filter.should {
        some |= condition(one, id, payload)?;
    }
    Ok(some)
}

fn condition(one: &Condition, id: &PointId, payload: &Value) -> Result<bool, Status> {
    match one.condition_one_of.as_ref() {
        Some(ConditionOneOf::Filter(filter)) => holds(filter, id, payload),
        Some(ConditionOneOf::HasId(has)) => Ok(has.has_id.contains(id)),
        Some(ConditionOneOf::Field(field)) => {
            let mut found = false;
            for value in values(payload, &field.key) {
                found |= fits(field, value)?;
            }
            Ok(found)
        }
        other => Err(Status::unimplemented(format!("{other:?}"))),
    }
}

/// The values at a path such as `about.metadata."author name"`; of a list, its members.
fn values<'v>(payload: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut at = Some(payload);
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot)),
        };
        at = at.and_then(|value| value.get(name));
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    match at {
        Some(Value::Array(all)) => all.iter().collect(),
        Some(value) => vec![value],
        None => vec![],
    }
}

fn fits(field: &FieldCondition, value: &Value) -> Result<bool, Status> {
    if let Some(range) = &field.range {
        let Some(value) = value.as_f64() else { return Ok(false) };
        return Ok(range.gt.is_none_or(|bound| value > bound)
            && range.gte.is_none_or(|bound| value >= bound)
            && range.lt.is_none_or(|bound| value < bound)
            && range.lte.is_none_or(|bound| value <= bound));
    }
    match field.r#match.as_ref().and_then(|matched| matched.match_value.as_ref()) {
        Some(MatchValue::Keyword(text)) => Ok(value.as_str() == Some(text)),
        Some(MatchValue::Keywords(all)) => Ok(all.strings.iter().any(|text| value.as_str() == Some(text))),
        Some(MatchValue::Integer(integer)) => Ok(value.as_i64() == Some(*integer)),
        Some(MatchValue::Integers(all)) => Ok(all.integers.iter().any(|one| value.as_i64() == Some(*one))),
        Some(MatchValue::Boolean(truth)) => Ok(value.as_bool() == Some(*truth)),
        // Without an index of words, a phrase is any part of a text.
        Some(MatchValue::Phrase(text)) => Ok(value.as_str().is_some_and(|value| value.contains(text))),
        other => Err(Status::unimplemented(format!("{other:?}"))),
    }
}
