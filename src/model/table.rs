//! A result table as it leaves the SQL engine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Column {
    pub name: String,
    /// The engine's type name.
    pub r#type: String,
}

/// Rows of JSON values, one array a row, in the order of the columns. Whole numbers beyond 2^53, decimals, times,
/// intervals and binary values are texts, so that no client rounds them; NaN and infinities are texts too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
    /// Whether there were more rows (or bytes) than allowed.
    pub truncated: bool,
}
