//! Metadata of CSV on the Web (W3C, tabular-metadata): titles and descriptions of tables and columns, `primaryKey` and
//! `foreignKeys`.

use crate::engine::ontology::draft::dictionary::part::{columns, items, scalar, texts, wrong_at};
use crate::engine::ontology::draft::dictionary::said::{Key, Names, Reference, Said, line, name, spoken, stem};
use crate::engine::ontology::read::Node;
use crate::model::error::Result;

/// What is said of a thing in the vocabularies that are used for it.
const DESCRIPTIONS: [&str; 5] =
    ["dc:description", "dcterms:description", "schema:description", "rdfs:comment", "description"];
const TITLES: [&str; 5] = ["titles", "dc:title", "dcterms:title", "rdfs:label", "title"];

pub(super) fn read(root: &Node) -> Result<Said> {
    let mut said = Said::default();
    let group = ["tables", "resources"].into_iter().find(|key| root.get(key).is_some());
    let Some(group) = group else {
        read_table(root, root.get("tableSchema"), &mut said)?;
        return Ok(said);
    };
    for table in items(root, group)? {
        read_table(table, table.get("tableSchema").or_else(|| root.get("tableSchema")), &mut said)?;
    }
    Ok(said)
}

fn read_table(node: &Node, schema: Option<&Node>, said: &mut Said) -> Result<()> {
    // A schema alone does not say of which table it is.
    let table: Names = node.get("url").and_then(scalar).map(|url| stem(&url)).into_iter().collect();
    if table.is_empty() && node.get("columns").is_none() && schema.is_none() {
        return Err(wrong_at(node, "a table needs `url`, by which it is found, and `tableSchema`."));
    }
    let (titles, described) = (all(node, &TITLES), first(node, &DESCRIPTIONS));
    let described = if described.is_empty() { titles.first().cloned().unwrap_or_default() } else { described };
    if !table.is_empty() {
        said.entry(&table, &Names::new(), &described, &spoken(&titles));
    }
    let schema = schema.unwrap_or(node);
    if let Some(file) = scalar(schema) {
        let table = table.join(", ");
        said.left_out.push(format!("The schema of {table} is in another file ({file}): write it in its place."));
        return Ok(());
    }
    for column in items(schema, "columns")? {
        if column.get("virtual").and_then(Node::truth) == Some(true) {
            continue;
        }
        let titles = all(column, &TITLES);
        // Tables have the titles for their columns, and keys the names.
        let called = column.get("name").and_then(scalar).into_iter().chain(titles.iter().cloned());
        let called: Names = called.map(|text| name(&text, column.at.line)).collect::<Result<_>>()?;
        if called.is_empty() {
            return Err(wrong_at(column, "a column needs `name` or `titles`, by which it is found."));
        }
        said.entry(&table, &called, &first(column, &DESCRIPTIONS), &spoken(&titles));
    }
    let primary = schema.get("primaryKey").map(texts).unwrap_or_default();
    if !primary.is_empty() {
        said.keys.push(Key { table: table.clone(), columns: primary, primary: true, filled: true });
    }
    for key in items(schema, "foreignKeys")? {
        let own = columns(key, "columnReference", "A foreign key")?;
        let reference = key.get("reference");
        let reference = reference.ok_or_else(|| wrong_at(key, "a foreign key needs `reference`."))?;
        let to_columns = columns(reference, "columnReference", "The reference of a foreign key")?;
        let to = ["resource", "schemaReference"].iter().find_map(|key| reference.get(key).and_then(scalar));
        let to = to.ok_or_else(|| wrong_at(reference, "a reference needs `resource`, the url of its table."))?;
        if own.len() != to_columns.len() {
            let (own, other) = (own.len(), to_columns.len());
            return Err(wrong_at(key, format!("this foreign key has {own} columns here and {other} there.")));
        }
        said.references.push(Reference { table: table.clone(), columns: own, to: vec![stem(&to)], to_columns });
    }
    Ok(())
}

/// Texts in one language, where several are there in English or else in the first.
fn texts_of(node: &Node) -> Vec<String> {
    if let Some(value) = node.get("@value") {
        return texts(value);
    }
    if let Some(items) = node.list() {
        return items.iter().flat_map(texts_of).collect();
    }
    let languages = node.map().unwrap_or_default();
    let english = languages.iter().find(|(key, _)| key.name.split('-').next() == Some("en"));
    match english.or_else(|| languages.first()) {
        Some((_, node)) => texts(node),
        None => texts(node),
    }
}

fn all(node: &Node, keys: &[&str]) -> Vec<String> {
    let found = keys.iter().filter_map(|key| node.get(key)).flat_map(texts_of).map(|text| line(&text));
    let mut all: Vec<String> = Vec::new();
    for text in found.filter(|text| !text.is_empty()) {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

fn first(node: &Node, keys: &[&str]) -> String {
    all(node, keys).into_iter().next().unwrap_or_default()
}
