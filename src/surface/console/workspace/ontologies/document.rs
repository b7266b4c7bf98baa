//! An Ossie document as the page about an ontology shows it: only what it shows, and lenient about the rest.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::model::ontology::in_words;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Document {
    pub description: String,
    ai_context: AiContext,
    custom_extensions: Vec<Extension>,
    pub datasets: Vec<Dataset>,
    pub relationships: Vec<Relationship>,
    pub metrics: Vec<Metric>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AiContext {
    instructions: String,
    synonyms: Vec<String>,
    examples: Vec<String>,
}

/// Keys beyond the specification, as JSON in a string.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Extension {
    data: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Dataset {
    pub name: String,
    pub source: String,
    pub primary_key: Vec<String>,
    pub description: String,
    ai_context: AiContext,
    custom_extensions: Vec<Extension>,
    pub fields: Vec<Field>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Field {
    pub name: String,
    expression: Expression,
    pub datatype: String,
    label: String,
    pub description: String,
    ai_context: AiContext,
    custom_extensions: Vec<Extension>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Expression {
    dialects: Vec<Dialect>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Dialect {
    expression: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Relationship {
    pub name: String,
    pub from: String,
    pub to: String,
    pub from_columns: Vec<String>,
    pub to_columns: Vec<String>,
    custom_extensions: Vec<Extension>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Metric {
    pub name: String,
    expression: Expression,
    pub description: String,
    ai_context: AiContext,
    custom_extensions: Vec<Extension>,
}

/// Keys of the whole.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelKeys {
    pub timezone: Option<String>,
    pub currency: Option<String>,
    pub default_time_window: Option<String>,
    pub segments: Vec<Segment>,
    pub glossary: Vec<Term>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Segment {
    pub name: String,
    pub synonyms: Vec<String>,
    pub expression: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Term {
    pub term: String,
    pub means: String,
}

/// Keys of a dataset.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct DatasetKeys {
    pub default_time_field: Option<String>,
    pub grain: Option<String>,
    pub row_policy: Option<String>,
    pub hidden: bool,
}

/// Keys of a field.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FieldKeys {
    pub role: String,
    pub unit: Option<String>,
    pub hidden: bool,
    pub pii: Option<String>,
    pub value_synonyms: BTreeMap<String, Vec<String>>,
}

/// Keys of a relationship.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RelationshipKeys {
    pub role: Option<String>,
    pub cardinality: String,
    pub optional: bool,
    pub preferred: bool,
    pub confidence: Option<String>,
}

/// Keys of a metric.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MetricKeys {
    pub additivity: Option<String>,
    pub default_time_field: Option<String>,
    pub unit: Option<String>,
    pub filters: Vec<String>,
}

fn keys<T: DeserializeOwned + Default>(extensions: &[Extension]) -> T {
    let read = |extension: &Extension| serde_json::from_str(&extension.data).ok();
    extensions.iter().find_map(read).unwrap_or_default()
}

impl Document {
    pub(super) fn instructions(&self) -> &str {
        &self.ai_context.instructions
    }

    pub(super) fn examples(&self) -> &[String] {
        &self.ai_context.examples
    }

    pub(super) fn keys(&self) -> ModelKeys {
        keys(&self.custom_extensions)
    }
}

impl Dataset {
    pub(super) fn synonyms(&self) -> &[String] {
        &self.ai_context.synonyms
    }

    pub(super) fn keys(&self) -> DatasetKeys {
        keys(&self.custom_extensions)
    }
}

impl Field {
    /// What people call it, where that is more than its name in words.
    pub(super) fn called(&self) -> Option<&str> {
        let says_more = !self.label.is_empty() && self.label != in_words(&self.name);
        says_more.then_some(self.label.as_str())
    }

    /// What it is computed from, where that is more than the column of its name.
    pub(super) fn formula(&self) -> Option<&str> {
        let dialect = self.expression.dialects.first()?;
        (dialect.expression != self.name).then_some(dialect.expression.as_str())
    }

    pub(super) fn synonyms(&self) -> &[String] {
        &self.ai_context.synonyms
    }

    pub(super) fn keys(&self) -> FieldKeys {
        keys(&self.custom_extensions)
    }

    /// What its values are called, such as "O: open, pending".
    pub(super) fn values(&self) -> String {
        let called = self.keys().value_synonyms;
        called.iter().map(|(value, names)| format!("{value}: {}", names.join(", "))).collect::<Vec<_>>().join("; ")
    }
}

impl ModelKeys {
    /// What holds for every question, by name.
    pub(super) fn settings(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("Time zone", &self.timezone),
            ("Currency", &self.currency),
            ("When no time is named", &self.default_time_window),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }
}

impl FieldKeys {
    /// The kind of personal data that it holds; empty for none.
    pub(super) fn personal(&self) -> &str {
        self.pii.as_deref().filter(|kind| *kind != "none").unwrap_or("")
    }
}

impl RelationshipKeys {
    /// The cardinality in words.
    pub(super) fn how_many(&self) -> String {
        self.cardinality.replace('_', " ")
    }
}

impl MetricKeys {
    /// What to know when it is broken down.
    pub(super) fn adds_up(&self) -> &'static str {
        match self.additivity.as_deref() {
            Some("additive") => "parts add up",
            Some("semi_additive") => "parts add up, but not over time",
            Some("non_additive") => "parts do not add up",
            _ => "",
        }
    }
}

impl Relationship {
    pub(super) fn keys(&self) -> RelationshipKeys {
        keys(&self.custom_extensions)
    }

    /// The columns of either side, pair by pair.
    pub(super) fn pairs(&self) -> Vec<(&str, &str)> {
        self.from_columns.iter().map(String::as_str).zip(self.to_columns.iter().map(String::as_str)).collect()
    }
}

impl Metric {
    pub(super) fn formula(&self) -> &str {
        self.expression.dialects.first().map_or("", |dialect| &dialect.expression)
    }

    pub(super) fn synonyms(&self) -> &[String] {
        &self.ai_context.synonyms
    }

    pub(super) fn keys(&self) -> MetricKeys {
        keys(&self.custom_extensions)
    }
}
