//! Where an answer came from, read from the SQL that ran.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lineage {
    /// Always `data_lineage`.
    #[serde(rename = "_type")]
    pub kind: String,
    /// Tables that the statement reads, by name, sorted.
    pub datasets: Vec<String>,
    pub joins: Vec<JoinUse>,
    /// Conditions of the statement, as SQL.
    pub filters: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_window: Option<String>,
    /// What one row of the answer is.
    pub grain: String,
    pub row_count: usize,
    pub sql: String,
}

/// A join of the statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JoinUse {
    pub from: String,
    pub to: String,
    /// The condition, as SQL.
    pub on: String,
}
