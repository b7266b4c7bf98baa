//! A result table as it leaves the SQL engine.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Column {
    pub name: String,
    /// The engine's type name.
    pub r#type: String,
}

/// A row as the text of its JSON, for callers: nobody here reads what is in it.
pub type RowText = Box<RawValue>;

/// Rows of JSON values, one array a row, in the order of the columns. The rules, so that no client rounds or guesses:
///
/// | type | value |
/// |---|---|
/// | BOOLEAN; whole numbers up to 2^53 either way; FLOAT, DOUBLE | `true`, a number |
/// | larger whole numbers, DECIMAL, BIGNUM | a text with every digit: `"1.50"` |
/// | NaN, infinities | `"NaN"`, `"Infinity"`, `"-Infinity"`; of dates and times `"infinity"`, `"-infinity"` |
/// | DATE, TIME | `"2024-01-31"`, `"10:11:12.5"` |
/// | TIMESTAMP | `"2024-01-31T10:11:12.5"`, a time of no place |
/// | TIMESTAMP WITH TIME ZONE | `"2024-01-31T10:11:12.5Z"`, an instant, always in UTC |
/// | TIME WITH TIME ZONE | `"10:11:12+02"` |
/// | INTERVAL | `"1 year 2 months 3 days 04:05:06"` |
/// | VARCHAR, JSON, ENUM, UUID, BIT | a text; JSON as it was written, BIT as `"0101"` |
/// | BLOB | its bytes in base64 |
/// | VARIANT | a text, as DuckDB shows the value |
/// | LIST, ARRAY | an array; STRUCT an object; UNION its value |
/// | MAP | an object when its keys are texts, otherwise an array of `{"key": …, "value": …}` |
/// | NULL of any type | `null` |
///
/// What is inside another value follows the same rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table<R = Vec<Value>> {
    pub columns: Vec<Column>,
    pub rows: Vec<R>,
    /// Whether there were more rows (or bytes) than allowed.
    pub truncated: bool,
}
