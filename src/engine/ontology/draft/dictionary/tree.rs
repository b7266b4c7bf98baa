//! Dictionaries as a tree in YAML or JSON: which standard one is written in is told by what it holds.

use crate::engine::ontology::draft::dictionary::part::{texts, wrong_at};
use crate::engine::ontology::draft::dictionary::said::{Said, wrong};
use crate::engine::ontology::draft::dictionary::{csvw, dbt, frictionless};
use crate::engine::ontology::read::{Node, parse};
use crate::model::error::{Error, Result};

/// Whether a text begins like a mapping in YAML or JSON.
pub(super) fn is_tree(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let Some(first) = lines.find(|line| !line.is_empty() && !line.starts_with('#')) else { return false };
    let key = first.split_once(':').filter(|(_, rest)| rest.is_empty() || rest.starts_with([' ', '\t']));
    let word = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    first == "---" || first.starts_with(['{', '[']) || key.is_some_and(|(key, _)| word(key))
}

/// Reads a `schema.yml` of dbt, a Data Package or Table Schema of Frictionless, or metadata of CSV on the Web.
pub(super) fn read(text: &str) -> Result<Said> {
    let root = parse(text).map_err(|problem| {
        let line = problem.line.map(|line| format!("Line {line}: ")).unwrap_or_default();
        // The hints of the parser are about ontologies.
        wrong(format!("{line}{} Check the file with the tool that it is for.", problem.message))
    })?;
    let has = |keys: &[&str]| keys.iter().any(|key| root.get(key).is_some());
    let context = root.get("@context").is_some_and(|it| texts(it).iter().any(|it| it.ends_with("ns/csvw")));
    if context || has(&["tables", "tableSchema", "url"]) {
        return csvw::read(&root);
    }
    if has(&dbt::KINDS) {
        return dbt::read(&root);
    }
    if has(&["resources", "fields", "schema"]) {
        return frictionless::read(&root);
    }
    Err(unknown(&root))
}

fn unknown(root: &Node) -> Error {
    let keys: Vec<&str> = root.map().unwrap_or_default().iter().map(|(key, _)| key.name.as_str()).take(5).collect();
    let found = if keys.is_empty() { format!("is {}", root.kind()) } else { format!("has {}", keys.join(", ")) };
    let message = "A dictionary in YAML or JSON is a schema.yml of dbt (with models, sources, seeds or snapshots), a \
                   Frictionless Data Package (with resources) or Table Schema (with fields), or metadata of CSV on the \
                   Web (with tables or tableSchema).";
    wrong_at(root, format!("this {found}. {message}"))
}
