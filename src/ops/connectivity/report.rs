//! What a connection test found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Passed,
    Failed,
    /// It could not be tried.
    Skipped,
}

/// One step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Check {
    pub id: &'static str,
    pub title: &'static str,
    pub outcome: Outcome,
    /// What was found.
    pub said: String,
    /// What to do; absent where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

/// The whole test.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Whether nothing failed.
    pub ok: bool,
    pub checks: Vec<Check>,
    /// Whether the token that was named is in force; absent when none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_valid: Option<bool>,
    /// What the test was allowed to ask.
    pub scopes: Vec<&'static str>,
    /// Published datasets that a client sees, as far as they were listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datasets_accessible: Option<usize>,
    pub sample_query_ok: bool,
    /// The median of its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// What failed, a sentence each.
    pub errors: Vec<String>,
    /// What to do about it.
    pub recommendations: Vec<String>,
}
