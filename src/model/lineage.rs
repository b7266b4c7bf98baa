//! Where an answer came from, as the compiler made its statement of the plan: the same for every engine, whatever SQL
//! that one reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lineage {
    /// Always `data_lineage`.
    #[serde(rename = "_type")]
    pub kind: String,
    /// Datasets whose rows the statement reads, by name.
    pub datasets: Vec<DatasetUse>,
    pub joins: Vec<JoinUse>,
    /// Conditions of the question, of its numbers, and of what the ontology means by them.
    pub filters: Vec<FilterUse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_window: Option<TimeUse>,
    /// What one row of the answer is.
    pub grain: String,
    pub row_count: usize,
    /// As it ran.
    pub sql: String,
}

/// A dataset of the ontology.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatasetUse {
    pub name: String,
    /// The table behind it.
    pub source: String,
    /// Which of the table's rows belong to it, where not all do, as the ontology says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

/// How two datasets are joined: the many side is the left one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JoinUse {
    pub left: String,
    pub right: String,
    /// Its name in the ontology.
    pub relationship: String,
    /// Columns that are equal, pair by pair.
    pub on: Vec<ColumnPair>,
}

/// A column of either side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnPair {
    pub left: String,
    pub right: String,
}

/// A condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilterUse {
    /// `dataset.field`, or what is compared instead: a number of the answer. Absent where it is about several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Relationships that lead to the field, where there are several ways.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub via: Vec<String>,
    /// `=`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `contains`, `starts with`, `ends with`, `is null`, `within`, `on days`,
    /// `at hours`, `segment`, `exists`, those but the first six also with `not ` before them; `any`, `not`, `expression`.
    pub operator: String,
    /// What it is compared with; of `within` and `at hours` an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The number that it holds for, where not for all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<String>,
    /// In words, whole.
    pub says: String,
}

/// The time that rows are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeUse {
    /// The first moment, in the ontology's time zone; open where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The first moment that is no longer part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// In words.
    pub says: String,
    /// `dataset.field`: when rows were. Several where numbers of several datasets have times of their own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fields: Vec<String>,
    /// The time that it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<OtherTime>,
}

/// Another time beside the one that rows are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherTime {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The first moment that is no longer part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// In words.
    pub says: String,
}
