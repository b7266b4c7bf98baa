//! Parts of a tree that a dictionary is made of, read leniently: one may stand where a list may, and what is not there
//! says nothing.

use crate::engine::ontology::draft::dictionary::said::{self, wrong};
use crate::engine::ontology::read::Node;
use crate::model::error::{Error, Result};

/// What is wrong at a place of the text.
pub(super) fn wrong_at(node: &Node, message: impl std::fmt::Display) -> Error {
    wrong(format!("Line {}: {message}", node.at.line))
}

/// The items of a list; nothing else has any.
pub(super) fn list(node: &Node) -> &[Node] {
    node.list().unwrap_or_default()
}

/// The items under a key.
///
/// # Errors
/// Where something else than a list stands there.
pub(super) fn items<'n>(node: &'n Node, key: &str) -> Result<&'n [Node]> {
    match node.get(key) {
        Some(found) if found.list().is_none() && !found.is_null() => {
            Err(wrong_at(found, format!("{key} is a list; this is {}.", found.kind())))
        }
        Some(found) => Ok(list(found)),
        None => Ok(&[]),
    }
}

/// A scalar as it would be written: a text, a number, a truth value.
pub(super) fn scalar(node: &Node) -> Option<String> {
    match node.json() {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Number(number) => Some(number.to_string()),
        serde_json::Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// One text, or several.
pub(super) fn texts(node: &Node) -> Vec<String> {
    match node.list() {
        Some(items) => items.iter().filter_map(scalar).collect(),
        None => scalar(node).into_iter().collect(),
    }
}

/// The text under the first of several keys that has one.
pub(super) fn text(node: &Node, keys: &[&str]) -> String {
    let found = keys.iter().filter_map(|key| node.get(key)).find_map(|node| node.text());
    found.unwrap_or_default().to_owned()
}

/// The name of a thing.
///
/// # Errors
/// Where there is none, or none that can be one.
pub(super) fn name(node: &Node, of: &str) -> Result<String> {
    let found = node.get("name").and_then(scalar).filter(|name| !name.trim().is_empty());
    let found = found.ok_or_else(|| wrong_at(node, format!("{of} needs a name: write `name` with a text.")))?;
    said::name(&found, node.at.line)
}

/// Columns under a key: one, or a list.
///
/// # Errors
/// Where there are none.
pub(super) fn columns(node: &Node, key: &str, of: &str) -> Result<Vec<String>> {
    let found = node.get(key).map(texts).unwrap_or_default();
    if found.is_empty() {
        return Err(wrong_at(node, format!("{of} needs {key}: the name of a column, or a list of names.")));
    }
    Ok(found)
}
