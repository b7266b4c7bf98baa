//! The profile of a table: what its columns hold, in figures.

use serde::{Deserialize, Serialize};

use crate::model::personal::Finding;

/// A table in figures. Values are texts as the engine writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub row_count: i64,
    /// Rows of the sample behind figures that are not of all rows; `None` when there are none such.
    pub sampled_rows: Option<i64>,
    pub columns: Vec<ColumnProfile>,
}

/// A figure of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    Nulls,
    Distinct,
    Range,
    Mean,
    Median,
    TopValues,
    LikelyPersonalData,
}

/// One column in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ColumnProfile {
    pub name: String,
    /// DuckDB's type name, cut at 200 characters.
    pub r#type: String,
    pub nulls: i64,
    /// Different values, NULL not counted.
    pub distinct: i64,
    /// Least and greatest value as text, cut at 100 characters; absent for nested and binary columns, and where there
    /// are only NULLs. Of numbers and days, the finite ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<String>,
    /// Of the finite values of a numeric column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Of the finite values of a numeric column or one of times, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<String>,
    /// NaN and infinities among the values, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_finite: Option<i64>,
    /// The most frequent values that occur more than once (all of them where there are at most five), most frequent
    /// first.
    pub top_values: Vec<TopValue>,
    /// Figures that are estimates, or of a sample of the rows (sampled_rows); empty when all are exact.
    pub approximate: Vec<Figure>,
    /// Figures for which there was no time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_computed: Vec<Figure>,
    /// Present when the column likely holds personal data; its values are then masked, and it has no mean and median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely_personal_data: Option<Finding>,
}

/// A frequent value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TopValue {
    /// As text, cut at 100 characters.
    pub value: String,
    /// How often it occurs: in the table, or in the sample where top_values is approximate.
    pub count: i64,
    /// Of the values that are not NULL, 0 to 1.
    pub share: f64,
}

impl ColumnProfile {
    /// Whether the engine can say no more of its type than how many values there are.
    pub fn is_counted_only(&self) -> bool {
        self.not_computed == [Figure::Distinct]
    }
}
