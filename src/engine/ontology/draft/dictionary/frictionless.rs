//! Data Packages and Table Schemas of Frictionless (specs.frictionlessdata.io, versions 1 and 2): titles and descriptions
//! of resources and fields, `primaryKey`, `uniqueKeys`, `foreignKeys`, and `enum` or `categories`.

use crate::engine::ontology::draft::dictionary::part::{columns, items, list, name, scalar, text, texts, wrong_at};
use crate::engine::ontology::draft::dictionary::said::{Key, Names, Reference, Said, Values, spoken, stem};
use crate::engine::ontology::read::Node;
use crate::model::error::Result;

pub(super) fn read(root: &Node) -> Result<Said> {
    let mut said = Said::default();
    if root.get("resources").is_some() {
        for resource in items(root, "resources")? {
            read_resource(resource, &mut said)?;
        }
    } else if root.get("schema").is_some() {
        read_resource(root, &mut said)?;
    } else {
        // It does not say of which table it is.
        read_schema(root, &Names::new(), &mut said)?;
    }
    Ok(said)
}

fn read_resource(node: &Node, said: &mut Said) -> Result<()> {
    let files = node.get("path").map(texts).unwrap_or_default();
    let mut table: Names = node.get("name").and_then(scalar).into_iter().collect();
    table.extend(files.iter().map(|file| stem(file)));
    if table.is_empty() {
        return Err(wrong_at(node, "a resource needs `name` or `path`, by which its table is found."));
    }
    let title = text(node, &["title"]);
    said.entry(
        &table,
        &Names::new(),
        &both(&title, &text(node, &["description"])),
        &spoken(std::slice::from_ref(&title)),
    );
    match node.get("schema") {
        Some(schema) if schema.map().is_some() => read_schema(schema, &table, said),
        Some(schema) => {
            let (table, file) = (table.join(", "), scalar(schema).unwrap_or_default());
            let message = format!("The schema of {table} is in another file ({file}): write it in its place.");
            said.left_out.push(message);
            Ok(())
        }
        None => Ok(()),
    }
}

fn read_schema(node: &Node, table: &Names, said: &mut Said) -> Result<()> {
    for field in items(node, "fields")? {
        let column = vec![name(field, "A field")?];
        let title = text(field, &["title"]);
        let description = both(&title, &text(field, &["description"]));
        said.entry(table, &column, &description, &spoken(&[title]));
        let constraint = |key: &str| field.get("constraints").and_then(|constraints| constraints.get(key));
        let truth = |key: &str| constraint(key).and_then(Node::truth) == Some(true);
        if truth("unique") {
            let key = Key { table: table.clone(), columns: column.clone(), primary: false, filled: truth("required") };
            said.keys.push(key);
        }
        // A category is a value, or a value and its label.
        let category = |node: &Node| node.get("value").and_then(scalar).or_else(|| scalar(node));
        let of_enum = constraint("enum").map(texts).unwrap_or_default();
        let categories = field.get("categories").map(list).unwrap_or_default().iter().filter_map(category);
        let values: Vec<String> = of_enum.into_iter().chain(categories).collect();
        if !values.is_empty() {
            said.values.push(Values { table: table.clone(), column, values });
        }
    }
    let primary = node.get("primaryKey").map(texts).unwrap_or_default();
    if !primary.is_empty() {
        said.keys.push(Key { table: table.clone(), columns: primary, primary: true, filled: true });
    }
    for key in items(node, "uniqueKeys")? {
        said.keys.push(Key { table: table.clone(), columns: texts(key), primary: false, filled: false });
    }
    for key in items(node, "foreignKeys")? {
        let own = columns(key, "fields", "A foreign key")?;
        let reference = key.get("reference");
        let reference = reference.ok_or_else(|| wrong_at(key, "a foreign key needs `reference` with its fields."))?;
        // Tables of another package are not here.
        if !text(reference, &["datapackage", "package"]).is_empty() {
            continue;
        }
        let to_columns = columns(reference, "fields", "The reference of a foreign key")?;
        if own.len() != to_columns.len() {
            let (own, other) = (own.len(), to_columns.len());
            return Err(wrong_at(key, format!("this foreign key has {own} fields here and {other} there.")));
        }
        let to = text(reference, &["resource"]);
        // Nothing, and in old packages "self", is the table itself.
        let to: Names = if ["", "self"].contains(&to.as_str()) { Names::new() } else { vec![to] };
        said.references.push(Reference { table: table.clone(), columns: own, to, to_columns });
    }
    Ok(())
}

/// A title that is no description of its own goes before the description.
fn both(title: &str, description: &str) -> String {
    match (title.trim(), description.trim()) {
        (title, "") => title.to_owned(),
        ("", description) => description.to_owned(),
        (title, description) if description.to_lowercase().contains(&title.to_lowercase()) => description.to_owned(),
        (title, description) => format!("{}: {description}", title.trim_end_matches(['.', ':'])),
    }
}
