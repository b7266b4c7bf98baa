//! Puts plain timestamps where a statement computes over times with a zone.

use std::collections::BTreeSet;

use duckdb::Connection;
use serde_json::{Value, json};

use super::SIGNATURES;
use crate::base::json::put;
use crate::engine::sql::guard::tree as json_tree;
use crate::engine::sql::worker::edit;

/// Words of which one is in every statement that makes a time with a zone by itself.
const MAKERS: [&str; 7] = ["now", "timestamptz", "_timestamp", "timezone", "strptime", "ago", "time zone"];

const ZONED: &str = "TIMESTAMP WITH TIME ZONE";

/// The function that a cast is in a plan.
const CAST: &str = "__cast";

/// A place in a statement: where it begins, and whether it is a cast. The binder may give a call another name
/// (`date_part('year', t)` becomes `year(t)`), but not another place.
type Spot = (u64, bool);

/// What to do there: which arguments become plain, and what the result becomes.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    arguments: Vec<usize>,
    result: Option<&'static str>,
}

/// The text of a statement that means the same, and computes over plain timestamps where the engine could not over
/// times with a zone; nothing when there is nothing to change. `tree` is the engine's tree of a judged statement, whose
/// tables are there; `are_read` says whether one of these has a time with a zone ([`are_read`]). A call that is not found is left as it is, and says [`super::UNRESOLVED`] when it runs.
pub(crate) fn resolve(connection: &Connection, sql: &str, tree: &str, are_read: bool) -> Option<String> {
    let lower = tree.to_ascii_lowercase();
    if !(MAKERS.iter().any(|word| lower.contains(word)) || are_read) {
        return None;
    }
    let mut parsed = json_tree::parse(tree).ok()?;
    let literals = name_instants(&mut parsed);
    if !has_candidate(&parsed) {
        return literals.then(|| edit::text(connection, &parsed))?;
    }
    let mut text = if literals { Some(edit::text(connection, &parsed)?) } else { None };
    let planned = plan(connection, text.as_deref().unwrap_or(sql)).or_else(|| {
        let series = edit::text(connection, &series_of_instants(&parsed)?)?;
        let planned = plan(connection, &series)?;
        text = Some(series);
        Some(planned)
    });
    let Some(plan) = planned else { return text };
    if let Some(text) = &text {
        parsed = json_tree::parse(&edit::parse(connection, text).ok()?).ok()?;
    }
    let mut changes = vec![];
    let mut unplaced = vec![];
    collect(&plan, &mut changes, &mut unplaced);
    inside_casts(&parsed, &mut changes);
    place(&parsed, unplaced, &mut changes);
    if changes.is_empty() {
        return text;
    }
    // The engine binds an expression that stands twice only once: what equals a changed one is changed too.
    let mut alike = Alike::new();
    find(&parsed, &changes, &mut Scope::default(), &mut alike);
    apply(&mut parsed, &changes, &mut Scope::default(), &alike);
    edit::text(connection, &parsed)
}

/// Literals with the name of a zone become literals in UTC.
fn name_instants(value: &mut Value) -> bool {
    let mut any = false;
    match value {
        Value::Object(map) => map.values_mut().for_each(|child| any |= name_instants(child)),
        Value::Array(list) => list.iter_mut().for_each(|child| any |= name_instants(child)),
        _ => {}
    }
    let target = value.pointer("/type_expr/qualified_name/path/0").and_then(Value::as_str).unwrap_or_default();
    if !matches!(target.to_ascii_lowercase().as_str(), "timestamptz" | "timestamp with time zone") {
        return any;
    }
    let Some(text) = value.pointer_mut("/child/literal/text") else { return any };
    match text.as_str().and_then(super::convert::literal) {
        None => any,
        Some(utc) => {
            *text = utc.into();
            true
        }
    }
}

/// `FROM generate_series(from, to, step)` over instants has no declaration, since table functions cannot have one: the
/// only such call of a statement becomes a subquery over the series of plain timestamps.
fn series_of_instants(tree: &Value) -> Option<Value> {
    let mut changed = tree.clone();
    let mut count = 0;
    series(&mut changed, &mut count);
    (count == 1).then_some(changed)
}

fn is_series(value: &Value) -> bool {
    let named = |name: &str| matches!(name.to_ascii_lowercase().as_str(), "range" | "generate_series");
    value.get("type").and_then(Value::as_str) == Some("TABLE_FUNCTION")
        && value.get("with_ordinality").is_none()
        && value.get("sample").is_none()
        && value.pointer("/function/arguments").and_then(Value::as_array).is_some_and(|list| list.len() == 3)
        && value.get("function").and_then(function).is_some_and(named)
}

fn series(value: &mut Value, count: &mut usize) {
    match value {
        Value::Object(map) => map.values_mut().for_each(|child| series(child, count)),
        Value::Array(list) => list.iter_mut().for_each(|child| series(child, count)),
        _ => {}
    }
    if !is_series(value) {
        return;
    }
    let name = value.get("function").and_then(function).unwrap_or_default().to_ascii_lowercase();
    *count += 1;
    let alias = value.get("alias").and_then(Value::as_str).unwrap_or(&name).to_owned();
    let shown = value.pointer("/column_name_alias/0").and_then(Value::as_str).unwrap_or(&name).to_owned();
    let mut plain = value.take();
    for index in [0, 1] {
        if let Some(argument) = plain.pointer_mut(&format!("/function/arguments/{index}/expression")) {
            *argument = cast(argument.take(), "TIMESTAMP");
        }
    }
    put(&mut plain, "alias", "series");
    put(&mut plain, "column_name_alias", json!(["t"]));
    let column = json!({ "class": "COLUMN_REF", "type": "COLUMN_REF", "column_names": ["t"] });
    let mut column = cast(column, ZONED);
    put(&mut column, "alias", shown);
    *value = json!({
        "type": "SUBQUERY", "alias": alias,
        "subquery": { "node": {
            "type": "SELECT_NODE", "cte_map": {}, "aggregate_handling": "STANDARD_HANDLING",
            "select_list": [column], "from_table": plain,
        } },
    });
}

/// Whether a table here has a column with a zone.
/// Whether a table of the instance has a time with a zone.
pub(crate) fn are_read(connection: &Connection) -> bool {
    let columns = "SELECT count(*) > 0 FROM duckdb_columns() WHERE database_name = 'memory' AND contains(data_type, ?)";
    connection.query_row(columns, [ZONED], |row| row.get(0)).unwrap_or(false)
}

fn has_candidate(tree: &Value) -> bool {
    let mut found = false;
    let mut open = vec![tree];
    while let Some(value) = open.pop() {
        found = found || spot(value).is_some() || is_series(value);
        open.extend(children(value));
    }
    found
}

fn plan(connection: &Connection, sql: &str) -> Option<Value> {
    let serialize =
        "SELECT json_serialize_plan(?, skip_default := true, skip_empty := true, skip_null := true, optimize := false)";
    let plan: String = connection.query_row(serialize, [sql], |row| row.get(0)).ok()?;
    let plan = json_tree::parse(&plan).ok()?;
    (plan.get("error").and_then(Value::as_bool) == Some(false)).then_some(plan)
}

/// Every call in a plan that the engine cannot compute: those with a place, and the names of those without one,
/// which stand in lambdas.
fn collect(plan: &Value, changes: &mut Vec<(Spot, Change)>, unplaced: &mut Vec<(String, Change)>) {
    let mut open = vec![plan];
    while let Some(value) = open.pop() {
        if let Some((name, change)) = change(value) {
            match value.get("query_location").and_then(Value::as_u64) {
                Some(begin) => changes.push(((begin, name == CAST), change)),
                None => unplaced.push((name, change)),
            }
        }
        open.extend(children(value));
    }
}

/// A cast to the type that a call has anyway (`dayname(t)::VARCHAR`) is none in a plan: the call has its place there.
/// In the tree it stands inside.
fn inside_casts(tree: &Value, changes: &mut [(Spot, Change)]) {
    let is_cast = tree.get("class").and_then(Value::as_str) == Some("CAST");
    let begin = |node: &Value| node.get("query_location").and_then(Value::as_u64);
    if let (true, Some(outer), Some(inner)) = (is_cast, begin(tree), tree.get("child").and_then(begin)) {
        for (spot, _) in changes.iter_mut().filter(|(spot, _)| *spot == (outer, false)) {
            *spot = (inner, false);
        }
    }
    children(tree).for_each(|child| inside_casts(child, changes));
}

/// Finds the calls without a place: the only ones of their name in the lambdas of the tree.
fn place(tree: &Value, mut unplaced: Vec<(String, Change)>, changes: &mut Vec<(Spot, Change)>) {
    unplaced.sort_by(|a, b| a.0.cmp(&b.0));
    unplaced.dedup();
    for (name, change) in &unplaced {
        let mut spots = BTreeSet::new();
        in_lambdas(tree, false, name, &mut spots);
        let only = unplaced.iter().filter(|(other, _)| other == name).count() == 1;
        if let (Some(spot), 1, true) = (spots.pop_first(), spots.len() + 1, only) {
            changes.push((spot, change.clone()));
        }
    }
}

fn in_lambdas(value: &Value, inside: bool, name: &str, spots: &mut BTreeSet<Spot>) {
    let is_lambda = value.get("class").and_then(Value::as_str) == Some("LAMBDA");
    if let Some(spot) = spot(value).filter(|(_, is_cast)| inside && *is_cast == (name == CAST))
        && (spot.1 || function(value).is_some_and(|it| it.eq_ignore_ascii_case(name)))
    {
        spots.insert(spot);
    }
    children(value).for_each(|child| in_lambdas(child, inside || is_lambda, name, spots));
}

fn change(value: &Value) -> Option<(String, Change)> {
    let name = value.pointer("/qname/path")?.as_array()?.last()?.as_str()?;
    let types: Vec<&str> = value.get("arguments")?.as_array()?.iter().map(id).collect();
    let result = id(value.get("return_type")?);
    if name == CAST {
        let is_missing = types == [ZONED] && matches!(result, "DATE" | "TIME");
        return is_missing.then(|| (name.to_owned(), Change { arguments: vec![0], result: None }));
    }
    // With two arguments timezone is AT TIME ZONE, which computes.
    if !is_declared(name) || !types.contains(&ZONED) || (name == "timezone" && types.len() == 2) {
        return None;
    }
    let arguments = types.iter().enumerate().filter(|(_, r#type)| **r#type == ZONED).map(|(index, _)| index).collect();
    let result = match result {
        ZONED => Some(ZONED),
        "LIST" => Some("TIMESTAMPTZ[]"),
        _ => None,
    };
    Some((name.to_owned(), Change { arguments, result }))
}

fn is_declared(name: &str) -> bool {
    SIGNATURES.iter().any(|(names, _)| names.contains(&name))
}

fn id(r#type: &Value) -> &str {
    r#type.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// Where a node of a tree stands, when it is one that could need a change.
fn spot(node: &Value) -> Option<Spot> {
    let begin = node.get("query_location").and_then(Value::as_u64)?;
    match node.get("class").and_then(Value::as_str)? {
        "FUNCTION" => {
            let name = function(node)?.to_ascii_lowercase();
            (is_declared(&name) || name == "date_add").then_some((begin, false))
        }
        "CAST" => {
            let target = node.pointer("/type_expr/qualified_name/path/0")?.as_str()?.to_ascii_lowercase();
            matches!(target.as_str(), "date" | "time").then_some((begin, true))
        }
        _ => None,
    }
}

/// Which SELECT a node is in: in another one the same words may mean other columns. They are numbered in the order in
/// which a walk meets them.
#[derive(Clone, Copy, Default)]
struct Scope {
    met: usize,
    own: usize,
}

impl Scope {
    /// Whatever is below this node is in the SELECT that it answers, until [`Scope::leave`] with it.
    fn enter(&mut self, node: &Value) -> usize {
        let outer = self.own;
        if node.get("type").and_then(Value::as_str) == Some("SELECT_NODE") {
            self.met += 1;
            self.own = self.met;
        }
        outer
    }

    fn leave(&mut self, outer: usize) {
        self.own = outer;
    }
}

/// Expressions that are to be changed, with their SELECT and the number of the change.
type Alike = BTreeSet<(usize, String, usize)>;

fn find(value: &Value, changes: &[(Spot, Change)], scope: &mut Scope, alike: &mut Alike) {
    let outer = scope.enter(value);
    if let Some(index) = spot(value).and_then(|spot| changes.iter().position(|(at, _)| *at == spot)) {
        alike.insert((scope.own, likeness(value), index));
    }
    match value {
        Value::Object(map) => map.values().for_each(|child| find(child, changes, scope, alike)),
        Value::Array(list) => list.iter().for_each(|child| find(child, changes, scope, alike)),
        _ => {}
    }
    scope.leave(outer);
}

fn likeness(node: &Value) -> String {
    let mut node = node.clone();
    if let Some(map) = node.as_object_mut() {
        map.shift_remove("alias");
    }
    edit::essence(&node)
}

/// Changes what was found, and what equals it.
fn apply(value: &mut Value, changes: &[(Spot, Change)], scope: &mut Scope, alike: &Alike) {
    let outer = scope.enter(value);
    let change = spot(value).and_then(|_| {
        let likeness = likeness(value);
        let same = alike.iter().find(|(of, other, _)| *of == scope.own && *other == likeness);
        same.and_then(|(.., index)| changes.get(*index)).map(|(_, change)| change.clone())
    });
    match value {
        Value::Object(map) => map.values_mut().for_each(|child| apply(child, changes, scope, alike)),
        Value::Array(list) => list.iter_mut().for_each(|child| apply(child, changes, scope, alike)),
        _ => {}
    }
    scope.leave(outer);
    let Some(Change { arguments, result }) = change else { return };
    if let Some(child) = value.get_mut("child") {
        *child = cast(child.take(), "TIMESTAMP");
        return;
    }
    for index in arguments {
        if let Some(argument) = value.pointer_mut(&format!("/arguments/{index}/expression")) {
            *argument = cast(argument.take(), "TIMESTAMP");
        }
    }
    if let Some(result) = result {
        let plain = value.clone();
        replace(value, cast(plain, result));
    }
}

/// Puts `made` in the place of `node`, under its alias.
fn replace(node: &mut Value, mut made: Value) {
    let alias = node.get("alias").cloned();
    if let (Some(child), Some(_)) = (made.get_mut("child").and_then(Value::as_object_mut), &alias) {
        child.remove("alias");
    }
    if let (Some(made), Some(alias)) = (made.as_object_mut(), alias) {
        made.insert("alias".to_owned(), alias);
    }
    *node = made;
}

fn function(node: &Value) -> Option<&str> {
    if node.get("class")?.as_str()? != "FUNCTION" {
        return None;
    }
    node.pointer("/qualified_name/path")?.as_array()?.last()?.as_str()
}

fn cast(child: Value, r#type: &str) -> Value {
    let r#type = match r#type.strip_suffix("[]") {
        None => type_node(r#type, None),
        Some(item) => type_node("list", Some(type_node(item, None))),
    };
    json!({ "class": "CAST", "type": "OPERATOR_CAST", "child": child, "type_expr": r#type })
}

fn type_node(name: &str, child: Option<Value>) -> Value {
    let mut made = json!({ "class": "TYPE", "type": "TYPE", "type_name": name, "qualified_name": { "path": [name] } });
    if let Some(child) = child {
        put(&mut made, "children", json!([child]));
    }
    made
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let (list, map) = match value {
        Value::Array(list) => (Some(list.iter()), None),
        Value::Object(map) => (None, Some(map.values())),
        _ => (None, None),
    };
    list.into_iter().flatten().chain(map.into_iter().flatten())
}
