//! What chunks must be for a search to see them. Conditions are written in the words of Qdrant's REST API, which its
//! embedded engine reads too, and hold inside the search: what fails them is never a candidate.

use std::collections::BTreeMap;

use qdrant_edge::{Condition, JsonPath};
use serde_json::{Value, json};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::engine::search::manifest::Fault;
use crate::engine::search::words::{Field, Words, said};
use crate::model::dataset::Dataset;
use crate::model::document::Document;

/// What a caller narrows a search to. Everything that is given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Of those that the caller may see; all of them when absent.
    pub datasets: Option<Vec<Id<Dataset>>>,
    pub documents: Option<Vec<Id<Document>>>,
    pub files: Option<Vec<String>>,
    /// Written at this moment or later.
    pub created_after: Option<Millis>,
    /// Written before this moment.
    pub created_before: Option<Millis>,
    /// In lower case.
    pub tags_any: Option<Vec<String>>,
    pub tags_all: Option<Vec<String>>,
    /// By the names of members.
    pub metadata: BTreeMap<String, Test>,
}

/// What a member of a document's metadata must be. Of a list, one must be it.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Texts(Vec<String>),
    Integers(Vec<i64>),
    Truth(bool),
    /// `gte`, `gt`, `lte`, `lt`.
    Range(BTreeMap<String, f64>),
}

impl Filter {
    /// The conditions on chunks; which datasets are asked is decided before.
    pub(super) fn conditions(&self) -> Vec<Value> {
        let mut all = Vec::new();
        if let Some(documents) = &self.documents {
            all.push(any("document", documents));
        }
        if let Some(files) = &self.files {
            all.push(any("source_file", files));
        }
        if self.created_after.is_some() || self.created_before.is_some() {
            let range = json!({ "gte": self.created_after, "lt": self.created_before });
            all.push(json!({ "key": "about.created", "range": range }));
        }
        if let Some(tags) = &self.tags_any {
            all.push(any("about.tags", tags));
        }
        for tag in self.tags_all.iter().flatten() {
            all.push(json!({ "key": "about.tags", "match": { "value": tag } }));
        }
        for (name, test) in &self.metadata {
            let key = format!("about.metadata.\"{name}\"");
            all.push(match test {
                Test::Texts(texts) => any(&key, texts),
                Test::Integers(integers) => any(&key, integers),
                Test::Truth(truth) => json!({ "key": key, "match": { "value": truth } }),
                Test::Range(range) => json!({ "key": key, "range": range }),
            });
        }
        all
    }
}

impl Words {
    /// The conditions that phrases and fields are: a text of `said` contains another. That is no index's, which would be
    /// kept in memory whole, and is asked of those chunks alone that have the words.
    pub(super) fn conditions(&self) -> Vec<Value> {
        let phrase = |key: &str, text: &str| json!({ "key": key, "match": { "phrase": said(text) } });
        let anywhere = |text: &String| {
            let places = ["said.text", "said.heading", "said.title"].map(|key| phrase(key, text));
            json!({ "should": places })
        };
        let within = |(field, text): &(Field, String)| match field {
            Field::Title => phrase("said.title", text),
            Field::Heading => phrase("said.heading", text),
            Field::File => phrase("said.file", text),
        };
        self.phrases.iter().map(anywhere).chain(self.fields.iter().map(within)).collect()
    }
}

/// That a member is one of some values.
pub(super) fn any(key: &str, values: &[impl serde::Serialize]) -> Value {
    json!({ "key": key, "match": { "any": values } })
}

/// Conditions as the embedded engine has them.
///
/// # Errors
/// It does not understand one: nothing is searched then.
pub(super) fn understood(conditions: &[Value]) -> Result<Vec<Condition>, Fault> {
    let read = |one: &Value| serde_json::from_value(one.clone());
    conditions.iter().map(read).collect::<Result<_, _>>().map_err(|problem| Fault::Engine(problem.to_string()))
}

/// A place in a payload.
pub(super) fn path(field: &str) -> Result<JsonPath, Fault> {
    field.parse().map_err(|()| Fault::Engine(format!("{field} is not a payload path")))
}

/// A moment as people write it: RFC 3339 with or without its offset (UTC then), or a day.
pub fn time(text: &str) -> Option<Millis> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment.as_millisecond());
    }
    let civil = text.parse::<jiff::civil::DateTime>();
    let civil = civil.or_else(|_| text.parse::<jiff::civil::Date>().map(|day| day.at(0, 0, 0, 0))).ok()?;
    Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    #[test]
    fn every_condition_is_one_that_the_engine_understands() {
        let range = BTreeMap::from([("gte".to_owned(), 5.0), ("lt".to_owned(), 7.5)]);
        let filter = Filter {
            datasets: None,
            documents: Some(vec![Id::new(&Clock::manual(1))]),
            files: Some(vec!["O'Reilly.md".into()]),
            created_after: Some(1),
            created_before: None,
            tags_any: Some(vec!["a".into()]),
            tags_all: Some(vec!["b".into(), "c".into()]),
            metadata: BTreeMap::from([
                ("Score".to_owned(), Test::Range(range)),
                ("author name".to_owned(), Test::Texts(vec!["Ann".into()])),
                ("PostTypeId".to_owned(), Test::Integers(vec![1, 2])),
                ("ok".to_owned(), Test::Truth(true)),
            ]),
        };
        let mut conditions = filter.conditions();
        conditions.extend(Words::read("\"thirty days\" title:x file:y heading:\"a b\"").conditions());
        let understood = understood(&conditions).unwrap();
        assert_eq!(understood.len(), 10 + 4);
        let fields = understood.iter().filter(|one| matches!(one, Condition::Field(_))).count();
        assert_eq!(fields, understood.len() - 1, "but for the phrase, which may stand in several places");
    }

    #[test]
    fn what_is_no_condition_is_refused_and_not_left_out() {
        assert!(understood(&[json!({ "key": "text" , "match": { "near": 1 } })]).is_err());
        assert!(path("").is_err());
    }

    #[test]
    fn moments_are_read_as_people_write_them() {
        let noon = Some(1_641_038_400_000);
        for text in ["2022-01-01T12:00:00Z", " 2022-01-01T14:00:00+02:00", "2022-01-01T12:00", "2022-01-01 12:00:00"] {
            assert_eq!(time(text), noon, "{text}");
        }
        assert_eq!(time("2022-01-01"), Some(1_640_995_200_000));
        for text in ["soon", "", "2022-13-01", "12"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
