//! Semantic models of other tools, as far as they map: MetricFlow, Cube, Cortex Analyst.
//!
//! What has no place in an ontology is named in a note with its path; a metric whose meaning would change without it is
//! left out as a whole, and said to be.

mod cortex;
mod cube;
mod import;
mod metricflow;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::import::Import;
use super::read::{self, Node, parse, read};
use super::write::flat_yaml;
use crate::model::ontology::{Ontology, Problem};

/// A semantic model of another tool as an ontology.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    pub ontology: Ontology,
    /// What could not be mapped, each with its path.
    pub notes: Vec<String>,
    pub format: Format,
}

/// What a text is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// dbt's semantic layer, before version 1.12: `semantic_models` and `metrics`.
    MetricFlowLegacy,
    /// dbt's semantic layer: `models` with `semantic_model`.
    MetricFlow,
    Cube,
    /// Snowflake's Cortex Analyst and semantic views.
    Cortex,
}

impl Format {
    /// As its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Format::MetricFlowLegacy => "MetricFlow (legacy)",
            Format::MetricFlow => "MetricFlow",
            Format::Cube => "Cube",
            Format::Cortex => "Cortex Analyst",
        }
    }
}

/// Maps a semantic model of another tool.
///
/// # Errors
/// That the text is none that is known, or that what it says makes no ontology; with paths into the result then.
pub fn import(text: &str) -> Result<Imported, Vec<Problem>> {
    let root = parse(text).map_err(|problem| vec![problem])?;
    let Some(format) = detect(&root) else {
        let message = "This is no semantic model that is known.";
        let hint = "Known are Apache Ossie, MetricFlow (semantic_models, or models with semantic_model), Cube (cubes) and \
                    Cortex Analyst (tables with base_table).";
        return Err(vec![Problem::error("", message, hint)]);
    };
    let mut import = Import::default();
    match format {
        Format::MetricFlowLegacy | Format::MetricFlow => metricflow::read(&mut import, &root),
        Format::Cube => cube::read(&mut import, &root),
        Format::Cortex => cortex::read(&mut import, &root),
    }
    let (mut ontology, notes) = import.finish();
    if ontology.name.is_empty() {
        ontology.name = ontology.datasets.first().map_or_else(String::new, |entity| entity.name.clone());
    }
    // The result must be what any document must be; lines would be those of the result, not of the text.
    let read = read(&flat_yaml(&ontology)).map_err(|problems| {
        problems.into_iter().map(|problem| Problem { line: None, column: None, ..problem }).collect::<Vec<_>>()
    })?;
    let warnings =
        read.warnings.iter().map(|problem| format!("{}: {} {}", problem.path, problem.message, problem.hint));
    let notes = notes.into_iter().chain(warnings).collect();
    Ok(Imported { ontology: read.ontology, notes, format })
}

/// By the keys that only it has.
fn detect(root: &Node) -> Option<Format> {
    let any = |list: &str, key: &str| {
        root.get(list).and_then(Node::list).is_some_and(|items| items.iter().any(|item| item.get(key).is_some()))
    };
    if root.get("semantic_models").is_some() {
        Some(Format::MetricFlowLegacy)
    } else if any("models", "semantic_model") {
        Some(Format::MetricFlow)
    } else if root.get("cubes").is_some() {
        Some(Format::Cube)
    } else if any("tables", "base_table") {
        Some(Format::Cortex)
    } else {
        None
    }
}

/// A synonym that says more than the name.
fn synonym(name: &str, label: &str) -> Option<String> {
    let same = crate::model::ontology::in_words(name) == crate::model::ontology::in_words(label);
    (!label.is_empty() && !same && label.chars().count() <= read::MAX_NAME).then(|| label.to_owned())
}
