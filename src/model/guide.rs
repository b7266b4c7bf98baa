//! What may be named in a semantic query, told to whoever is to write one: short lines, in the names of the ontology.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::query::Query;

/// See the module. What a part has nothing of is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Guide {
    /// Words that nothing is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_found: Option<String>,
    /// What holds for all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Stored values that were looked for, as conditions for `filters`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datasets: Vec<Described>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<String>,
    /// Arguments of `dragoman_query`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub examples: Vec<Query>,
    /// What is not shown, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// A dataset and its fields, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Described {
    pub dataset: String,
    pub fields: Vec<String>,
}

impl Guide {
    /// The same as one text.
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = self.not_found.iter().chain(&self.notes).cloned().collect();
        let mut part = |title: &str, of: &[String]| {
            lines.push(format!("\n{title}"));
            lines.extend(of.iter().map(|line| format!("- {line}")));
        };
        let lists = [
            ("Values that were looked for, as conditions for filters:", &self.values),
            ("Metrics, for measures:", &self.metrics),
            ("Segments:", &self.segments),
        ];
        lists.into_iter().filter(|(_, of)| !of.is_empty()).for_each(|(title, of)| part(title, of));
        self.datasets.iter().for_each(|it| part(&format!("Dataset {}", it.dataset), &it.fields));
        if !self.relationships.is_empty() {
            part("Relationships:", &self.relationships);
        }
        let examples: Vec<String> =
            self.examples.iter().filter_map(|query| serde_json::to_string(query).ok()).collect();
        if !examples.is_empty() {
            part("Queries that run, as arguments of dragoman_query:", &examples);
        }
        lines.extend(self.left_out.iter().map(|left_out| format!("\n{left_out}")));
        lines.join("\n")
    }
}
