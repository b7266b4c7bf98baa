//! What the parts of Office Open XML packages say of each other (ECMA-376 part 2).

use std::collections::HashMap;

use super::facts;
use super::package::{Package, beside};
use super::xml::{Node, Xml, text_of};
use crate::model::document::Facts;
use crate::model::error::Result;

/// What a document says of itself.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) title: Option<String>,
    pub(super) facts: Facts,
}

/// What is called what in the properties of packages: OOXML, OpenDocument and EPUB all have Dublin Core, and names of their
/// own. Where two mean the same, the first that says something is taken.
const NAMED: &[(&str, &str)] = &[
    ("author", "initial-creator"),
    ("author", "creator"),
    ("created", "creation-date"),
    ("created", "created"),
    ("created", "date"),
    ("modified", "modified"),
    ("subject", "subject"),
    ("keywords", "keywords"),
    ("keywords", "keyword"),
    ("language", "language"),
];

/// What a part of properties says of its document.
pub(super) fn facts_in(xml: &str) -> Facts {
    let mut said = Facts::new();
    for (name, element) in NAMED {
        if !said.contains_key(*name) {
            said.extend(facts([(*name, text_in(xml, element))]));
        }
    }
    said
}

pub(super) fn properties(package: &mut Package<'_>) -> Result<Properties> {
    let Some(part) = package.read("docProps/core.xml")? else { return Ok(Properties::default()) };
    // A broken title spoils no document.
    let xml = text_of(&part);
    Ok(Properties { title: text_in(&xml, "title").filter(|title| !is_generic(title)), facts: facts_in(&xml) })
}

/// Titles that programs give to what nobody named.
fn is_generic(title: &str) -> bool {
    let title = title.to_lowercase();
    ["untitled", "powerpoint presentation", "slide 1", "document1", "word document"].contains(&title.as_str())
}

/// The text of the first element of a name.
pub(super) fn text_in(xml: &str, name: &str) -> Option<String> {
    let mut xml = Xml::new(xml, "");
    let mut found: Option<String> = None;
    while let Ok(Some(node)) = xml.next() {
        match (node, &mut found) {
            (Node::Open(tag), None) if tag.name == name => found = Some(String::new()),
            (Node::Text(text), Some(found)) => found.push_str(&text),
            (Node::Close(closed), Some(_)) if closed == name => break,
            _ => {}
        }
    }
    found.map(|text| super::write::squeezed(&text)).filter(|text| !text.is_empty())
}

/// The part that the package is about.
pub(super) fn main_part(package: &mut Package<'_>, usual: &str) -> Result<String> {
    if let Some(part) = package.read("_rels/.rels")? {
        for (_, relation) in relations(&text_of(&part), "")? {
            if relation.kind.ends_with("/officeDocument") {
                return Ok(relation.target);
            }
        }
    }
    Ok(usual.to_owned())
}

pub(super) struct Relation {
    pub(super) kind: String,
    pub(super) target: String,
}

/// What a part relates to, by id.
pub(super) fn relations_of(package: &mut Package<'_>, part: &str) -> Result<HashMap<String, Relation>> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    match package.read(&format!("{folder}_rels/{file}.rels"))? {
        Some(xml) => Ok(relations(&text_of(&xml), part)?.into_iter().collect()),
        None => Ok(HashMap::new()),
    }
}

fn relations(xml: &str, part: &str) -> Result<Vec<(String, Relation)>> {
    let mut found = Vec::new();
    let mut xml = Xml::new(xml, "relations");
    while let Some(node) = xml.next()? {
        let Node::Open(tag) = node else { continue };
        if tag.name == "Relationship" && tag.get("TargetMode") != Some("External") {
            let kind = tag.get("Type").unwrap_or_default().to_owned();
            let target = beside(part, tag.get("Target").unwrap_or_default());
            found.push((tag.get("Id").unwrap_or_default().to_owned(), Relation { kind, target }));
        }
    }
    Ok(found)
}
