//! `main.customers` is the table `customers`: many write the default schema before it, as other engines want it. The
//! tree gets the plain name and becomes a text again, which is judged and run as if it had been written so; the judge
//! itself knows plain names only.

use std::collections::BTreeSet;

use duckdb::Connection;
use serde_json::{Map, Value, json};

use super::edit;
use crate::base::json::objects;
use crate::engine::sql::guard::tree as json_tree;

/// What a name begins with that says nothing: the schema, and the catalogue before it.
const SCHEMA: &str = "main";
const CATALOGUE: &str = "memory";

/// The statement with plain names, and its tree; nothing when all of them are plain, or are those of something else.
pub(super) fn plain(connection: &Connection, tree: &str, tables: &[String]) -> Option<(String, String)> {
    if !tree.contains("\"main\"") && !tree.to_ascii_lowercase().contains("\"main\"") {
        return None;
    }
    let mut parsed = json_tree::parse(tree).ok()?;
    let given = names_given(&parsed);
    let mut is_changed = false;
    shorten(&mut parsed, &given, tables, &mut is_changed);
    if !is_changed {
        return None;
    }
    let text = edit::text(connection, &parsed)?;
    let tree = edit::parse(connection, &text).ok()?;
    Some((text, tree))
}

/// Names of WITH and aliases, in lower case: what has one of them is not the table.
fn names_given(tree: &Value) -> BTreeSet<String> {
    let keys = ["key", "cte_name", "alias"];
    let given = objects(tree).flat_map(|map| keys.into_iter().filter_map(move |key| map.get(key)?.as_str()));
    given.map(str::to_ascii_lowercase).collect()
}

fn shorten(value: &mut Value, given: &BTreeSet<String>, tables: &[String], is_changed: &mut bool) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|child| shorten(child, given, tables, is_changed)),
        Value::Object(map) => {
            map.values_mut().for_each(|child| shorten(child, given, tables, is_changed));
            let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
            *is_changed |= match kind {
                "BASE_TABLE" => shorten_table(map, given),
                "COLUMN_REF" => shorten_column(map, given, tables),
                _ => false,
            };
        }
        _ => {}
    }
}

/// `main.t` and `memory.main.t`, whether there is such a table or not: the judge says so of the plain name.
fn shorten_table(map: &mut Map<String, Value>, given: &BTreeSet<String>) -> bool {
    let path = map.get("qualified_name").and_then(|name| name.get("path")).and_then(Value::as_array);
    let parts: Vec<&str> = path.into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(name) = without_schema(&parts).and_then(|rest| rest.first()).map(|name| (*name).to_owned()) else {
        return false;
    };
    if given.contains(&name.to_ascii_lowercase()) {
        return false;
    }
    map.shift_remove("schema_name");
    map.shift_remove("catalog_name");
    map.insert("qualified_name".into(), json!({ "path": [name] }));
    true
}

/// `main.t.c`, unless `main` is an alias here.
fn shorten_column(map: &mut Map<String, Value>, given: &BTreeSet<String>, tables: &[String]) -> bool {
    let names = map.get("column_names").and_then(Value::as_array);
    let parts: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(rest @ [table, _, ..]) = without_schema(&parts) else { return false };
    if given.contains(SCHEMA) || given.contains(CATALOGUE) || !tables.contains(&table.to_ascii_lowercase()) {
        return false;
    }
    let rest: Vec<String> = rest.iter().map(|part| (*part).to_owned()).collect();
    map.insert("column_names".into(), rest.into());
    true
}

fn without_schema<'p>(parts: &'p [&'p str]) -> Option<&'p [&'p str]> {
    match parts {
        [catalogue, schema, rest @ ..]
            if catalogue.eq_ignore_ascii_case(CATALOGUE) && schema.eq_ignore_ascii_case(SCHEMA) && !rest.is_empty() =>
        {
            Some(rest)
        }
        [schema, rest @ ..] if schema.eq_ignore_ascii_case(SCHEMA) && !rest.is_empty() => Some(rest),
        _ => None,
    }
}

/// The table that a statement is the `DESCRIBE` of, in lower case.
pub(super) fn described(tree: &str, tables: &[String]) -> Option<String> {
    if !tree.contains("SHOW_REF") {
        return None;
    }
    let parsed = json_tree::parse(tree).ok()?;
    let all_of = |node: &Value| {
        let keys = ["type", "cte_map", "select_list", "from_table", "aggregate_handling"];
        let star = node.pointer("/select_list/0/class").and_then(Value::as_str) == Some("STAR");
        star && node.as_object().is_some_and(|map| map.keys().all(|key| keys.contains(&key.as_str())))
            && node.get("cte_map").and_then(Value::as_object).is_some_and(Map::is_empty)
    };
    let node = parsed.pointer("/statements/0/node").filter(|node| all_of(node))?;
    let shown =
        node.get("from_table").filter(|table| table["type"] == "SHOW_REF" && table["show_type"] == "DESCRIBE")?;
    let query = shown.get("query").filter(|query| all_of(query))?;
    let table = query.get("from_table").filter(|table| table["type"] == "BASE_TABLE")?;
    let name = match table.pointer("/qualified_name/path").and_then(Value::as_array).map(Vec::as_slice) {
        Some([name]) => name.as_str()?.to_ascii_lowercase(),
        _ => return None,
    };
    tables.contains(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> Option<String> {
        let engine = Connection::open_in_memory().unwrap();
        let tree = edit::parse(&engine, sql).unwrap();
        plain(&engine, &tree, &["flights".to_owned(), "carriers".to_owned()]).map(|(text, _)| text)
    }

    #[test]
    fn the_default_schema_says_nothing() {
        for (sql, plain) in [
            ("SELECT * FROM main.flights", "SELECT * FROM flights"),
            ("SELECT * FROM memory.main.flights AS f", "SELECT * FROM flights AS f"),
            ("SELECT main.flights.id FROM MAIN.flights", "SELECT flights.id FROM flights"),
            ("SELECT * FROM main.absent", "SELECT * FROM absent"),
            ("DESCRIBE main.flights", "DESCRIBE SELECT * FROM flights"),
            ("SELECT * FROM main.flights WHERE id IN (SELECT id FROM main.carriers)", "carriers"),
        ] {
            let text = read(sql).unwrap_or_else(|| panic!("{sql}"));
            assert!(!text.to_ascii_lowercase().contains("main."), "{sql}: {text}");
            assert!(text.contains(plain) || sql.starts_with("DESCRIBE"), "{sql}: {text}");
        }
    }

    #[test]
    fn what_is_plain_or_something_else_stays() {
        for sql in [
            "SELECT * FROM flights",
            "SELECT 'main.flights' FROM flights",
            "SELECT main.x FROM flights AS main",
            "WITH flights AS (SELECT 1) SELECT * FROM main.flights",
            "SELECT * FROM information_schema.tables",
            "SELECT * FROM d0.main.data",
            "SELECT * FROM other.flights",
        ] {
            assert_eq!(read(sql), None, "{sql}");
        }
    }

    #[test]
    fn the_description_of_one_table_is_told_from_others() {
        let engine = Connection::open_in_memory().unwrap();
        let told = |sql: &str| described(&edit::parse(&engine, sql).unwrap(), &["flights".to_owned()]);
        assert_eq!(told("DESCRIBE Flights").as_deref(), Some("flights"));
        for sql in [
            "SUMMARIZE flights",
            "DESCRIBE SELECT * FROM flights, flights f",
            "DESCRIBE SELECT id FROM flights",
            "WITH flights AS (SELECT 1 AS x) FROM (DESCRIBE flights)",
            "SELECT * FROM flights",
        ] {
            assert_eq!(told(sql), None, "{sql}");
        }
    }
}
