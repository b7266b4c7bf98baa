//! `schema.yml` of dbt: descriptions of models, sources, seeds and snapshots and of their columns, and what the tests
//! hold: `unique`, `not_null`, `relationships`, `accepted_values`, written as `tests` or `data_tests`, and constraints.

use crate::engine::ontology::draft::dictionary::part::{columns, items, list, name, scalar, text, texts, wrong_at};
use crate::engine::ontology::draft::dictionary::said::{Key, Names, Reference, Said, Values, spoken};
use crate::engine::ontology::read::Node;
use crate::model::error::Result;

/// Keys of the file that hold tables.
pub(super) const KINDS: [&str; 4] = ["models", "seeds", "snapshots", "sources"];

pub(super) fn read(root: &Node) -> Result<Said> {
    let mut said = Said::default();
    let mut elsewhere = 0;
    for kind in KINDS {
        for node in items(root, kind)? {
            match kind {
                "sources" => {
                    for table in items(node, "tables")? {
                        read_table(table, &mut said, &mut elsewhere)?;
                    }
                }
                _ => read_table(node, &mut said, &mut elsewhere)?,
            }
        }
    }
    if elsewhere > 0 {
        said.left_out.push(format!("{elsewhere} descriptions of the dictionary are blocks of another file (doc)."));
    }
    Ok(said)
}

/// A test of a column, of several or of a table.
struct Test<'n> {
    /// Without the package that it is of.
    kind: String,
    at: &'n Node,
    given: Option<&'n Node>,
}

impl Test<'_> {
    /// An argument, beside the test or below `arguments`.
    fn argument(&self, key: &str) -> Option<&Node> {
        let given = self.given?;
        given.get("arguments").and_then(|arguments| arguments.get(key)).or_else(|| given.get(key))
    }

    /// Whether it is of some rows only.
    fn is_partial(&self) -> bool {
        self.argument("where").is_some() || self.argument("config").is_some_and(|it| it.get("where").is_some())
    }
}

fn read_table(node: &Node, said: &mut Said, elsewhere: &mut usize) -> Result<()> {
    let mut table: Names = vec![name(node, "A table")?];
    let alias = node.get("config").map(|config| text(config, &["alias"])).unwrap_or_default();
    table.extend([text(node, &["identifier", "alias"]), alias].into_iter().filter(|name| !name.is_empty()));
    said.entry(&table, &Names::new(), &description(node, elsewhere), &other_names(node));
    let mut keys = Vec::new();
    let mut filled = Vec::new();
    let mut unique = Vec::new();
    for node in items(node, "columns")? {
        let column = name(node, "A column")?;
        said.entry(&table, &vec![column.clone()], &description(node, elsewhere), &other_names(node));
        if is_personal(node) {
            said.personal.push((table.clone(), vec![column.clone()]));
        }
        for test in tests(node)? {
            match test.kind.as_str() {
                "primary_key" => keys.push((vec![column.clone()], true)),
                "unique" => unique.push(column.clone()),
                "not_null" => filled.push(column.clone()),
                _ => declare(&test, &table, Some(&column), said)?,
            }
        }
    }
    for test in tests(node)? {
        let column = || test.argument("column_name").and_then(scalar).filter(|name| is_plain(name));
        match test.kind.as_str() {
            "primary_key" => keys.push((columns(test.at, "columns", "A primary key")?, true)),
            "unique" if test.argument("columns").is_some() => {
                keys.push((test.argument("columns").map(texts).unwrap_or_default(), false));
            }
            "unique" => unique.extend(column()),
            "not_null" => filled.extend(column()),
            "unique_combination_of_columns" => {
                keys.push((test.argument("combination_of_columns").map(texts).unwrap_or_default(), false));
            }
            _ => declare(&test, &table, column().as_ref(), said)?,
        }
    }
    keys.retain(|(columns, _)| !columns.is_empty());
    let is_filled = |column: &String| filled.contains(column);
    // Of what is unique and always there the first is the key, as dbt has it, unless one is said to be.
    let declared = keys.iter().position(|(_, primary)| *primary);
    let of_tests = unique.iter().position(is_filled).filter(|_| declared.is_none());
    let several = declared.is_none() && of_tests.is_none();
    for (at, (columns, primary)) in keys.into_iter().enumerate() {
        let primary = primary || several && at == 0;
        said.keys.push(Key { table: table.clone(), columns, primary, filled: primary });
    }
    for (at, column) in unique.iter().enumerate() {
        let (primary, filled) = (of_tests == Some(at), is_filled(column));
        said.keys.push(Key { table: table.clone(), columns: vec![column.clone()], primary, filled });
    }
    Ok(())
}

/// The tests and constraints of a table or column that are about all rows.
fn tests(node: &Node) -> Result<Vec<Test<'_>>> {
    let mut all = Vec::new();
    for at in items(node, "tests")?.iter().chain(items(node, "data_tests")?) {
        let (kind, given) = match (at.text(), at.get("test_name"), at.map()) {
            (Some(kind), ..) => (kind.to_owned(), None),
            (None, Some(kind), _) => (kind.text().unwrap_or_default().to_owned(), Some(at)),
            (None, None, Some([(kind, given)])) => (kind.name.clone(), Some(given)),
            _ => {
                let message = "a test is its name, or one key with its name and its arguments below.";
                return Err(wrong_at(at, message));
            }
        };
        let kind = kind.rsplit('.').next().unwrap_or_default().to_owned();
        all.push(Test { kind, at, given });
    }
    for at in items(node, "constraints")? {
        let kind = text(at, &["type"]);
        all.push(Test { kind, at, given: Some(at) });
    }
    all.retain(|test| !test.is_partial());
    Ok(all)
}

/// References and enumerations.
fn declare(test: &Test<'_>, table: &Names, column: Option<&String>, said: &mut Said) -> Result<()> {
    let own = column.map(|column| vec![column.clone()]);
    match test.kind.as_str() {
        "relationships" => {
            let to = test.argument("to").and_then(scalar).map(|to| referred(&to)).unwrap_or_default();
            let field = test.argument("field").map(texts).unwrap_or_default();
            let (Some(columns), [_]) = (own, field.as_slice()) else {
                return Err(wrong_at(test.at, "relationships needs `to: ref('a_model')` and `field: a_column`."));
            };
            if to.is_empty() {
                return Err(wrong_at(test.at, "relationships needs `to`, such as ref('customers')."));
            }
            said.references.push(Reference { table: table.clone(), columns, to, to_columns: field });
        }
        "foreign_key" => {
            let columns = test.argument("columns").map(texts).filter(|columns| !columns.is_empty()).or(own);
            let to = test.argument("to").and_then(scalar).map(|to| referred(&to)).unwrap_or_default();
            let to_columns = test.argument("to_columns").map(texts).unwrap_or_default();
            // An expression in SQL may stand there instead.
            if let Some(columns) = columns.filter(|columns| !to.is_empty() && columns.len() == to_columns.len()) {
                said.references.push(Reference { table: table.clone(), columns, to, to_columns });
            }
        }
        "accepted_values" => {
            let values = test.argument("values").map(texts).unwrap_or_default();
            if let Some(column) = own.filter(|_| !values.is_empty()) {
                said.values.push(Values { table: table.clone(), column, values });
            }
        }
        _ => {}
    }
    Ok(())
}

/// The model in `ref('customers')`, `ref('shop', 'customers', v=2)` and `source('crm', 'customers')`.
fn referred(text: &str) -> Names {
    let inner = ["ref(", "source("].iter().find_map(|call| text.split_once(call)).map(|(_, inner)| inner);
    let Some(inner) = inner else {
        // A relation by its name: `analytics.customers`.
        return text.rsplit('.').next().map(|last| last.trim_matches(['"', '`']).to_owned()).into_iter().collect();
    };
    let inner = inner.split(')').next().unwrap_or_default();
    let mut named = inner.split(',').filter(|part| !part.contains('='));
    named.next_back().map(|last| last.trim().trim_matches(['\'', '"']).to_owned()).into_iter().collect()
}

/// A column, and no expression.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What is written here; a block of another file is counted.
fn description(node: &Node, elsewhere: &mut usize) -> String {
    let text = text(node, &["description"]);
    if text.contains("{{") {
        *elsewhere += 1;
        return String::new();
    }
    text
}

/// What dbt leaves to others, here or below `config`.
fn meta(node: &Node) -> impl Iterator<Item = &Node> {
    let of_config = node.get("config").and_then(|config| config.get("meta"));
    node.get("meta").into_iter().chain(of_config)
}

fn other_names(node: &Node) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for meta in meta(node) {
        for key in ["synonyms", "aliases"] {
            let found = meta.get(key).map(texts).unwrap_or_default();
            names.extend(found.iter().flat_map(|text| text.split([';', ',']).map(|name| name.trim().to_owned())));
        }
        let titles = ["label", "display_name", "title"].iter().filter_map(|key| meta.get(key)?.text());
        names.extend(spoken(&titles.map(str::to_owned).collect::<Vec<_>>()));
    }
    names
}

/// Whether its meta data or tags say that it holds personal data: `contains_pii: true`, `tags: [pii]`.
fn is_personal(node: &Node) -> bool {
    let about = |name: &str| {
        let name = name.to_lowercase();
        name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "pii") || name.contains("personal")
    };
    let of_meta = meta(node).filter_map(Node::map).flatten().any(|(key, value)| {
        let no = scalar(value).is_none_or(|text| matches!(text.to_lowercase().as_str(), "false" | "no" | "none" | ""));
        about(&key.name) && (!no || !list(value).is_empty())
    });
    let tags = |node: &Node| node.get("tags").map(texts).unwrap_or_default();
    let of_config = node.get("config").map(tags).unwrap_or_default();
    of_meta || tags(node).iter().chain(&of_config).any(|tag| about(tag))
}
