//! A changed tree becomes a text again. The engine writes it, and reads it back: only a text that it reads as exactly
//! the tree that was meant is used, so that no flaw in writing can change what runs.

use duckdb::Connection;
use serde_json::{Map, Value, json};

use crate::engine::sql::guard::tree as json_tree;

/// The engine's tree of a text: parsed, never bound or run.
pub(super) fn parse(connection: &Connection, sql: &str) -> duckdb::Result<String> {
    let serialize = "SELECT json_serialize_sql(?, skip_default := true, skip_empty := true, skip_null := true)";
    connection.prepare_cached(serialize)?.query_row([sql], |row| row.get(0))
}

/// The text of a tree; nothing when the engine does not read it as that tree.
pub(super) fn text(connection: &Connection, tree: &Value) -> Option<String> {
    let written: String =
        connection.query_row("SELECT json_deserialize_sql(?)", [tree.to_string()], |row| row.get(0)).ok()?;
    let read = json_tree::parse(&parse(connection, &written).ok()?).ok()?;
    (essence(&read) == essence(tree)).then_some(written)
}

/// The names of a statement's columns, as it would give them.
pub(super) fn names(connection: &Connection, tree: &str) -> Option<Vec<String>> {
    let mut parsed = json_tree::parse(tree).ok()?;
    let node = parsed.pointer_mut("/statements/0/node")?;
    let select = |what: Value, from: Value| {
        json!({
            "type": "SELECT_NODE", "cte_map": {}, "aggregate_handling": "STANDARD_HANDLING",
            "select_list": [what], "from_table": from,
        })
    };
    let described = json!({ "type": "SHOW_REF", "show_type": "DESCRIBE", "query": node.take(), "qualified_name": {} });
    let described = select(json!({ "class": "STAR", "type": "STAR" }), described);
    let name = json!({ "class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": ["column_name"] });
    *node = select(name, json!({ "type": "SUBQUERY", "subquery": { "node": described } }));
    let text = text(connection, &parsed)?;
    let mut statement = connection.prepare(&text).ok()?;
    let names = statement.query_map([], |row| row.get(0)).ok()?;
    names.collect::<duckdb::Result<_>>().ok()
}

/// A tree without the places of its parts in the text, and with the names of types in one case.
pub(super) fn essence(tree: &Value) -> String {
    let mut tree = tree.clone();
    strip(&mut tree, false);
    tree.to_string()
}

fn strip(value: &mut Value, is_type_name: bool) {
    match value {
        Value::Object(map) => {
            map.shift_remove("query_location");
            map.shift_remove("query_location_length");
            let is_type = map.get("class").and_then(Value::as_str) == Some("TYPE");
            for (key, child) in map.iter_mut() {
                let names = is_type && matches!(key.as_str(), "type_name" | "qualified_name");
                strip(child, names || is_type_name);
            }
            map.sort_keys();
            if let Some(values) = listed(map) {
                *value = values;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|child| strip(child, is_type_name)),
        Value::String(name) if is_type_name => name.make_ascii_lowercase(),
        _ => {}
    }
}

/// `VALUES` in FROM is written with a query around it that was not there: `(SELECT * FROM (VALUES …) AS valueslist)`.
fn listed(map: &Map<String, Value>) -> Option<Value> {
    let own = |map: &Map<String, Value>, keys: &[&str]| map.keys().all(|key| keys.contains(&key.as_str()));
    let is = |map: &Map<String, Value>, key: &str, text: &str| map.get(key).and_then(Value::as_str) == Some(text);
    let query = map.get("subquery")?.get("node")?.as_object()?;
    let values = query.get("from_table")?.as_object()?;
    let around = own(map, &["type", "alias", "subquery"])
        && is(map, "type", "SUBQUERY")
        && is(map, "alias", "valueslist")
        && own(query, &["type", "cte_map", "select_list", "from_table", "aggregate_handling"])
        && query.get("select_list") == Some(&json!([{ "class": "STAR", "type": "STAR" }]))
        && is(values, "type", "EXPRESSION_LIST")
        && is(values, "alias", "valueslist");
    around.then(|| Value::Object(values.clone()))
}
