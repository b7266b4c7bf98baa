//! What a caller narrows a search to, read with care: a filter that is not known, or not of its type, is an error that
//! says so. None is ever left out, and none can widen what the caller may see.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::nearest::nearest;
use crate::engine::search::filter::{Filter, Test, time};
use crate::model::access::Pass;
use crate::model::audit::clip;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Error, Result};

/// Values of one filter, and characters of one.
const VALUES: usize = 100;
const CHARS: usize = 500;

/// Filters; all that are given must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Filters {
    /// Ids of datasets; with source_names, those in both.
    source_ids: Option<Vec<String>>,
    /// Names of datasets.
    source_names: Option<Vec<String>>,
    doc_ids: Option<Vec<String>>,
    /// Names of the files that documents come from.
    source_files: Option<Vec<String>>,
    /// The least score, 0 to 1.
    min_score: Option<f64>,
    /// Any of these, of a document's own tags.
    tags_any: Option<Vec<String>>,
    tags_all: Option<Vec<String>>,
    /// The document's PostTypeId is one of these.
    post_type_ids: Option<Vec<i64>>,
    /// By the names of a document's own metadata: a value, a list of values, or {"gte","gt","lte","lt"} with numbers.
    metadata: Option<BTreeMap<String, Value>>,
    /// RFC 3339 or a day; from then on.
    created_after: Option<String>,
    /// Before then.
    created_before: Option<String>,
}

const NAMES: [&str; 11] = [
    "source_ids", "source_names", "doc_ids", "source_files", "min_score", "tags_any", "tags_all", "post_type_ids",
    "metadata", "created_after", "created_before",
];

/// The filters, and the least score.
pub(super) fn read(pass: &Pass, given: Option<&Map<String, Value>>) -> Result<(Filter, f64)> {
    let (mut filter, mut min_score) = (Filter::default(), 0.0);
    for (name, value) in given.into_iter().flatten() {
        match name.as_str() {
            "source_ids" => narrow(&mut filter, of_ids(pass, texts(name, value)?)?),
            "source_names" => narrow(&mut filter, of_names(pass, texts(name, value)?)?),
            "doc_ids" => {
                let id = |text: &String| text.parse().map_err(|_| wrong(name, "holds ids of documents", value));
                filter.documents = Some(texts(name, value)?.iter().map(id).collect::<Result<_>>()?);
            }
            "source_files" => filter.files = Some(texts(name, value)?),
            "min_score" => {
                let score = value.as_f64().filter(|score| (0.0..=1.0).contains(score));
                min_score = score.ok_or_else(|| wrong(name, "is a number from 0 to 1", value))?;
            }
            "tags_any" => filter.tags_any = Some(tags(name, value)?),
            "tags_all" => filter.tags_all = Some(tags(name, value)?),
            "post_type_ids" => {
                let integers = list(name, value)?.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>();
                let integers = integers.ok_or_else(|| wrong(name, "holds whole numbers", value))?;
                filter.metadata.insert("PostTypeId".into(), Test::Integers(integers));
            }
            "metadata" => {
                let members = value.as_object().ok_or_else(|| wrong(name, "is an object", value))?;
                for (key, value) in members {
                    filter.metadata.insert(member(key)?, test(key, value)?);
                }
            }
            "created_after" => filter.created_after = Some(moment(name, value)?),
            "created_before" => filter.created_before = Some(moment(name, value)?),
            unknown => return Err(unheard_of(unknown)),
        }
    }
    Ok((filter, min_score))
}

/// The datasets that all filters of datasets leave.
fn narrow(filter: &mut Filter, to: Vec<Id<Dataset>>) {
    filter.datasets = Some(match filter.datasets.take() {
        Some(before) => before.into_iter().filter(|id| to.contains(id)).collect(),
        None => to,
    });
}

fn of_ids(pass: &Pass, ids: Vec<String>) -> Result<Vec<Id<Dataset>>> {
    let one = |text: String| {
        let id = text.parse().map_err(|_| Error::dataset_not_found())?;
        documents(pass.dataset(id)?)
    };
    ids.into_iter().map(one).collect()
}

fn of_names(pass: &Pass, names: Vec<String>) -> Result<Vec<Id<Dataset>>> {
    let one = |name: String| {
        let found = pass.datasets().iter().find(|dataset| dataset.name.eq_ignore_ascii_case(&name));
        match found {
            Some(dataset) => documents(dataset),
            None => {
                // Among what the caller sees; the same words whether there is such a dataset elsewhere or not.
                let all = pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Documents);
                let near = nearest(&name, all.map(|dataset| dataset.name.as_str()));
                let mut error = Error::dataset_not_found();
                if let Some(near) = near {
                    error.message = format!("There is no dataset {}. Did you mean {near}?", clip(&name));
                    error.details = json!({ "field": "filters.source_names", "nearest": near });
                }
                Err(error)
            }
        }
    };
    names.into_iter().map(one).collect()
}

fn documents(dataset: &Dataset) -> Result<Id<Dataset>> {
    if dataset.kind == Kind::Documents {
        return Ok(dataset.id);
    }
    let message = format!("{} is a table. Only documents are searched; ask tables with dragoman_sql.", dataset.name);
    Err(Error::invalid("filters", message))
}

fn list<'v>(name: &str, value: &'v Value) -> Result<&'v Vec<Value>> {
    let list = value.as_array().ok_or_else(|| wrong(name, "is a list", value))?;
    if list.is_empty() || list.len() > VALUES {
        let message = format!("filters.{name} has 1 to {VALUES} values; without the filter all are searched.");
        return Err(Error::invalid(&format!("filters.{name}"), message));
    }
    Ok(list)
}

fn texts(name: &str, value: &Value) -> Result<Vec<String>> {
    let text = |one: &Value| one.as_str().filter(|text| is_short(text)).map(str::to_owned);
    let texts = list(name, value)?.iter().map(text).collect::<Option<Vec<String>>>();
    texts.ok_or_else(|| wrong(name, &format!("holds texts of at most {CHARS} characters"), value))
}

fn is_short(text: &str) -> bool {
    text.chars().count() <= CHARS
}

fn tags(name: &str, value: &Value) -> Result<Vec<String>> {
    let tags = texts(name, value)?;
    Ok(tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_lowercase()).collect())
}

fn moment(name: &str, value: &Value) -> Result<Millis> {
    let moment = value.as_str().and_then(time);
    moment.ok_or_else(|| wrong(name, "is a moment such as 2022-01-31T10:00:00Z, or a day such as 2022-01-31", value))
}

/// A member's name can be asked for as it is written, or not at all.
fn member(name: &str) -> Result<String> {
    if name.is_empty() || !is_short(name) || name.contains(['"', '\\']) || name.contains(char::is_control) {
        let message = "A name in filters.metadata has 1 to 500 characters, without quotes and backslashes.";
        return Err(Error::invalid("filters.metadata", message));
    }
    Ok(name.to_owned())
}

fn test(key: &str, value: &Value) -> Result<Test> {
    let name = format!("metadata.{}", clip(key));
    let must = "is a text, a whole number, true or false, a list of texts or of whole numbers, or a range such as \
                {\"gte\": 5}";
    let bad = || wrong(&name, must, value);
    match value {
        Value::Bool(truth) => Ok(Test::Truth(*truth)),
        Value::String(text) if is_short(text) => Ok(Test::Texts(vec![text.clone()])),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Test::Integers(vec![integer])),
            (None, Some(float)) => Ok(Test::Range(BTreeMap::from([("gte".into(), float), ("lte".into(), float)]))),
            _ => Err(bad()),
        },
        Value::Array(_) => {
            let all = list(&name, value)?;
            let integers = all.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>();
            match integers {
                Some(integers) => Ok(Test::Integers(integers)),
                None => texts(&name, value).map(Test::Texts).map_err(|_| bad()),
            }
        }
        Value::Object(bounds) if !bounds.is_empty() => {
            let bound = |(word, bound): (&String, &Value)| {
                let known = ["gte", "gt", "lte", "lt"].contains(&word.as_str());
                Some((word.clone(), bound.as_f64().filter(|_| known)?))
            };
            bounds.iter().map(bound).collect::<Option<_>>().map(Test::Range).ok_or_else(bad)
        }
        _ => Err(bad()),
    }
}

fn wrong(name: &str, must: &str, value: &Value) -> Error {
    let field = format!("filters.{name}");
    let message = format!("{field} {must}; this is {}. Nothing was searched.", clip(&value.to_string()));
    Error::invalid(&field, message)
}

fn unheard_of(name: &str) -> Error {
    let near = nearest(name, NAMES);
    let hint =
        near.map_or_else(|| format!(" There are {}.", NAMES.join(", ")), |near| format!(" Did you mean {near}?"));
    let message = format!("There is no filter {}.{hint} Nothing was searched.", clip(name));
    Error::invalid("filters", message).with(json!({ "field": format!("filters.{}", clip(name)), "nearest": near }))
}

#[cfg(test)]
fn schema_names() -> Vec<String> {
    let schema = schemars::schema_for!(Filters);
    let properties = schema.get("properties").and_then(Value::as_object).unwrap();
    let mut names: Vec<String> = properties.keys().cloned().collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_and_the_reader_know_the_same_filters() {
        let schema = crate::ops::rag::filters::schema_names();
        let mut names: Vec<String> = NAMES.map(str::to_owned).into();
        names.sort();
        assert_eq!(schema, names);
    }

    #[test]
    fn a_test_of_metadata_has_one_type() {
        assert_eq!(test("a", &json!("x")).unwrap(), Test::Texts(vec!["x".into()]));
        assert_eq!(test("a", &json!([1, 2])).unwrap(), Test::Integers(vec![1, 2]));
        assert_eq!(test("a", &json!(true)).unwrap(), Test::Truth(true));
        assert_eq!(
            test("a", &json!({ "gte": 1, "lt": 2.5 })).unwrap(),
            test("a", &json!({ "lt": 2.5, "gte": 1.0 })).unwrap()
        );
        for bad in [json!(null), json!([]), json!([1, "a"]), json!({}), json!({ "gte": "1" }), json!({ "near": 1 })] {
            assert!(test("a", &bad).is_err(), "{bad}");
        }
        for bad in ["", "a\"b", "a\\b", "a\nb"] {
            assert!(member(bad).is_err(), "{bad:?}");
        }
    }
}
