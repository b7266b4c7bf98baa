//! What is ours in the words of Qdrant's protocol, and back. What is not known here is refused: a condition that was left
//! out would let more be found.

use std::collections::HashMap;

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::vector::Vector as VectorKind;
use qdrant_client::qdrant::vector_output::Vector as Given;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::vectors_output::VectorsOptions as GivenVectors;
use qdrant_client::qdrant::{
    Condition, DenseVector, FieldCondition, Filter, HasIdCondition, Match, NamedVectors, PointId, PointStruct, Range,
    RepeatedIntegers, RepeatedStrings, SparseVector as Terms, Value as Said, Vector, VectorOutput, Vectors,
    VectorsOutput,
};
use qdrant_edge::SparseVector;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::base::id::Id;
use crate::base::secret::sha256;
use crate::engine::search::manifest::Fault;
use crate::model::cluster_index::Build;

pub(super) const DENSE: &str = "dense";
pub(super) const SPARSE: &str = "sparse";

/// The id of a chunk's point: twelve bytes that are its build's, and its number, so that ids sort as numbers do and never
/// meet those of another build.
pub(super) fn point_id(build: Id<Build>, number: u64) -> Result<PointId, Fault> {
    let number = u32::try_from(number).map_err(|_| Fault::Engine("an index has more than 2^32 chunks".into()))?;
    let mut bytes = [0; 16];
    let parts = sha256(build.uuid().as_bytes()).into_iter().take(12).chain(number.to_be_bytes());
    for (byte, part) in bytes.iter_mut().zip(parts) {
        *byte = part;
    }
    Ok(PointId { point_id_options: Some(PointIdOptions::Uuid(Uuid::from_bytes(bytes).to_string())) })
}

/// The number of the chunk that a point is.
pub(super) fn number(id: Option<PointId>) -> Result<u64, Fault> {
    let Some(PointIdOptions::Uuid(text)) = id.and_then(|id| id.point_id_options) else {
        return Err(Fault::Damaged("a point has no id of ours".into()));
    };
    let id: Uuid = text.parse().map_err(|_| Fault::Damaged("a point has no id of ours".into()))?;
    Ok((id.as_u128() & u128::from(u32::MAX)) as u64)
}

/// A chunk as a point.
pub(super) fn point(id: PointId, payload: Map<String, Value>, dense: Vec<f32>, sparse: SparseVector) -> PointStruct {
    let dense = VectorKind::Dense(DenseVector { data: dense });
    let sparse = VectorKind::Sparse(Terms { values: sparse.values, indices: sparse.indices });
    let named = [(DENSE, dense), (SPARSE, sparse)];
    let named = named.map(|(name, vector)| (name.to_owned(), Vector { vector: Some(vector), ..Vector::default() }));
    let vectors = VectorsOptions::Vectors(NamedVectors { vectors: HashMap::from(named) });
    let payload = payload.into_iter().map(|(name, value)| (name, Said::from(value))).collect();
    PointStruct { id: Some(id), payload, vectors: Some(Vectors { vectors_options: Some(vectors) }) }
}

/// What a payload says.
pub(super) fn payload<T: DeserializeOwned>(payload: HashMap<String, Said>) -> Result<T, Fault> {
    let members: Map<String, Value> = payload.into_iter().map(|(name, said)| (name, Value::from(said))).collect();
    serde_json::from_value(Value::Object(members)).map_err(|problem| Fault::Damaged(problem.to_string()))
}

/// The dense and the sparse vector of a point, as far as they were asked for.
pub(super) fn vectors(given: Option<VectorsOutput>) -> (Option<Vec<f32>>, Option<SparseVector>) {
    let Some(GivenVectors::Vectors(mut named)) = given.and_then(|given| given.vectors_options) else {
        return (None, None);
    };
    let mut take = |name| named.vectors.remove(name).map(VectorOutput::into_vector);
    let dense = take(DENSE).and_then(|vector| match vector {
        Given::Dense(dense) => Some(dense.data),
        Given::Sparse(_) | Given::MultiDense(_) => None,
    });
    let sparse = take(SPARSE).and_then(|vector| match vector {
        Given::Sparse(Terms { values, indices }) => Some(SparseVector { indices, values }),
        Given::Dense(_) | Given::MultiDense(_) => None,
    });
    (dense, sparse)
}

/// A member that is exactly this text.
pub(super) fn is(key: &str, text: String) -> Condition {
    field(FieldCondition { r#match: Some(matches(MatchValue::Keyword(text))), ..of(key) })
}

/// A member that is one of these texts.
pub(super) fn is_one_of(key: &str, texts: impl IntoIterator<Item = String>) -> Condition {
    let strings = texts.into_iter().collect();
    field(FieldCondition { r#match: Some(matches(MatchValue::Keywords(RepeatedStrings { strings }))), ..of(key) })
}

/// All of these.
pub(super) fn all(must: Vec<Condition>) -> Condition {
    let filter = Filter { must, ..Filter::default() };
    Condition { condition_one_of: Some(ConditionOneOf::Filter(filter)) }
}

/// One of these points.
pub(super) fn has_id(ids: Vec<PointId>) -> Condition {
    Condition { condition_one_of: Some(ConditionOneOf::HasId(HasIdCondition { has_id: ids })) }
}

/// Conditions in the words of the REST API ([`crate::engine::search::filter`]) in those of the protocol.
///
/// # Errors
/// One of them is not known here: nothing is searched then.
pub(super) fn conditions(all: &[Value]) -> Result<Vec<Condition>, Fault> {
    all.iter().map(condition).collect()
}

fn condition(one: &Value) -> Result<Condition, Fault> {
    let unknown = || Fault::Engine(format!("{one} is not a condition"));
    let members = one.as_object().ok_or_else(unknown)?;
    let Some(key) = members.get("key") else { return nested(members).ok_or_else(unknown)? };
    let key = key.as_str().filter(|_| members.len() == 2).ok_or_else(unknown)?;
    let test = if let Some(matched) = members.get("match") {
        let value = matched_value(matched).ok_or_else(unknown)?;
        FieldCondition { r#match: Some(matches(value)), ..of(key) }
    } else {
        let range = members.get("range").and_then(range).ok_or_else(unknown)?;
        FieldCondition { range: Some(range), ..of(key) }
    };
    Ok(field(test))
}

/// Several conditions as one; `None` where there is a member that is not known.
fn nested(members: &Map<String, Value>) -> Option<Result<Condition, Fault>> {
    let mut filter = Filter::default();
    for (name, all) in members {
        let place = match name.as_str() {
            "must" => &mut filter.must,
            "should" => &mut filter.should,
            "must_not" => &mut filter.must_not,
            _ => return None,
        };
        *place = match conditions(all.as_array()?) {
            Ok(all) => all,
            Err(fault) => return Some(Err(fault)),
        };
    }
    (!members.is_empty()).then_some(Ok(Condition { condition_one_of: Some(ConditionOneOf::Filter(filter)) }))
}

fn matched_value(matched: &Value) -> Option<MatchValue> {
    let (name, value) = matched.as_object().filter(|members| members.len() == 1)?.iter().next()?;
    match (name.as_str(), value) {
        ("value", Value::String(text)) => Some(MatchValue::Keyword(text.clone())),
        ("value", Value::Bool(truth)) => Some(MatchValue::Boolean(*truth)),
        ("value", Value::Number(number)) => Some(MatchValue::Integer(number.as_i64()?)),
        ("phrase", Value::String(text)) => Some(MatchValue::Phrase(text.clone())),
        ("any", Value::Array(all)) => {
            let strings: Option<Vec<String>> = all.iter().map(|one| one.as_str().map(str::to_owned)).collect();
            if let Some(strings) = strings {
                return Some(MatchValue::Keywords(RepeatedStrings { strings }));
            }
            let integers: Option<Vec<i64>> = all.iter().map(Value::as_i64).collect();
            Some(MatchValue::Integers(RepeatedIntegers { integers: integers? }))
        }
        _ => None,
    }
}

fn range(range: &Value) -> Option<Range> {
    let mut read = Range::default();
    for (name, bound) in range.as_object()? {
        let place = match name.as_str() {
            "lt" => &mut read.lt,
            "gt" => &mut read.gt,
            "lte" => &mut read.lte,
            "gte" => &mut read.gte,
            _ => return None,
        };
        *place = match bound {
            Value::Null => None,
            bound => Some(bound.as_f64()?),
        };
    }
    Some(read)
}

fn of(key: &str) -> FieldCondition {
    FieldCondition { key: key.to_owned(), ..FieldCondition::default() }
}

fn matches(value: MatchValue) -> Match {
    Match { match_value: Some(value) }
}

fn field(condition: FieldCondition) -> Condition {
    Condition { condition_one_of: Some(ConditionOneOf::Field(condition)) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::base::clock::Clock;
    use crate::engine::search::filter::{Filter as Asked, Test};
    use crate::engine::search::words::Words;

    #[test]
    fn every_condition_of_ours_is_said_and_any_other_is_refused() {
        let range = BTreeMap::from([("gte".to_owned(), 5.0), ("lt".to_owned(), 7.5)]);
        let asked = Asked {
            datasets: None,
            documents: Some(vec![Id::new(&Clock::manual(1))]),
            files: Some(vec![]),
            created_after: Some(1),
            created_before: None,
            tags_any: Some(vec!["a".into()]),
            tags_all: Some(vec!["b".into()]),
            metadata: BTreeMap::from([
                ("Score".to_owned(), Test::Range(range)),
                ("author name".to_owned(), Test::Texts(vec!["Ann".into()])),
                ("PostTypeId".to_owned(), Test::Integers(vec![1, 2])),
                ("ok".to_owned(), Test::Truth(true)),
            ]),
        };
        let mut all = asked.conditions();
        all.extend(Words::read("\"thirty days\" title:x").conditions());
        all.push(json!({ "must_not": [{ "must": [{ "key": "chunk_index", "match": { "value": 3 } }] }] }));
        let said = conditions(&all).unwrap();
        assert_eq!(said.len(), all.len());
        let Some(ConditionOneOf::Field(created)) = &said[2].condition_one_of else { panic!("{said:?}") };
        assert_eq!(created.range, Some(Range { gte: Some(1.0), ..Range::default() }));

        for unknown in [
            json!({ "key": "text", "match": { "near": 1 } }),
            json!({ "key": "text", "match": { "value": 1.5 } }),
            json!({ "key": "text", "match": { "any": ["a", 1] } }),
            json!({ "key": "text", "range": { "around": 1 } }),
            json!({ "key": "text" }),
            json!({ "key": "text", "match": { "value": "a" }, "range": { "lt": 1 } }),
            json!({ "perhaps": [] }),
            json!({ "should": [{ "perhaps": [] }] }),
            json!({}),
            json!("text"),
        ] {
            assert!(conditions(std::slice::from_ref(&unknown)).is_err(), "{unknown}");
        }
    }

    #[test]
    fn ids_of_a_build_sort_as_its_numbers_and_tell_them() {
        let clock = Clock::manual(1);
        let (one, other) = (Id::new(&clock), Id::new(&clock));
        let text = |id: PointId| match id.point_id_options {
            Some(PointIdOptions::Uuid(text)) => text,
            id => panic!("{id:?}"),
        };
        let numbers = [0, 1, 255, 256, u64::from(u32::MAX)];
        let ids: Vec<String> = numbers.iter().map(|number| text(point_id(one, *number).unwrap())).collect();
        assert!(ids.is_sorted());
        assert_ne!(ids[0][..24], text(point_id(other, 0).unwrap())[..24]);
        for told in numbers {
            assert_eq!(number(Some(point_id(one, told).unwrap())).unwrap(), told);
        }
        assert!(point_id(one, 1 << 32).is_err());
        assert!(number(None).is_err());
    }

    #[test]
    fn a_payload_comes_back_as_it_was() {
        let said =
            json!({ "a": "text", "n": 3, "x": 1.5, "ok": true, "none": null, "many": [1, "b"], "in": { "b": 2 } });
        let Value::Object(members) = said.clone() else { panic!() };
        let id = point_id(Id::new(&Clock::manual(1)), 0).unwrap();
        let sent = point(id, members, vec![1.0], SparseVector { indices: vec![1], values: vec![2.0] });
        assert_eq!(payload::<Value>(sent.payload).unwrap(), said);
    }
}
