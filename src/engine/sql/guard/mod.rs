//! The judge of SQL: it walks the tree that the engine's own parser made, and lets through what it knows to be
//! harmless. Node types, table references, expression classes, keys and functions are all allowed by name; whatever is
//! not named here is refused, so that a new feature of the engine is closed until someone looks at it.
//!
//! The tree comes from `json_serialize_sql`, which parses and never binds or runs. Another parser would read another
//! text: comments, strings and scopes differ, and each difference is a way in.

mod defined;
mod expression;
pub mod functions;
mod groups;
pub mod habits;
pub(super) mod list;
mod literal;
mod query;
pub(super) mod tree;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::base::json::objects;
use crate::base::nearest::nearest_of_many;
use crate::model::error::{Code, Error};

/// What one statement may have of each, so that planning it stays cheap. The engine looks at neither its deadline nor
/// an interrupt while it plans.
pub(super) mod limit {
    pub(crate) const NODES: usize = 5_000;
    pub(crate) const CTES: usize = 64;
    /// In one FROM, and in all of them.
    pub(crate) const TABLES: usize = 32;
    pub(crate) const ALL_TABLES: usize = 64;
    pub(crate) const ARMS: usize = 1_000;
    pub(crate) const LAMBDAS: usize = 4;
    /// `CUBE` over six columns has 64 sets.
    pub(crate) const GROUPING_SETS: usize = 64;
}

/// Why a statement may not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The class of the reason, a stable word.
    pub rule: &'static str,
    /// The thing that was refused, as written.
    pub name: String,
    pub message: String,
    /// What to write instead.
    pub hint: String,
    /// Whether the text is mistaken rather than forbidden: it is no SQL, or names what is not there.
    pub is_mistake: bool,
}

pub(super) type Verdict<T = ()> = Result<T, Refusal>;

impl Refusal {
    pub(super) fn new(rule: &'static str, name: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let name = name.chars().take(100).collect();
        Self { rule, name, message: message.into(), hint: hint.into(), is_mistake: false }
    }

    /// The same for what nobody could be kept from: a name that is not there, a text that does not parse.
    pub(super) fn mistaken(self) -> Self {
        Self { is_mistake: true, ..self }
    }

    /// As callers see it: `forbidden_sql`, or `invalid_argument` for a mistake.
    pub fn into_error(self) -> Error {
        let code = if self.is_mistake { Code::InvalidArgument } else { Code::ForbiddenSql };
        Error::new(code, format!("{} {}", self.message, self.hint).trim().to_owned())
            .with(json!({ "rule": self.rule, "name": self.name, "hint": self.hint }))
    }
}

/// What a statement that may run needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The permitted tables that it reads, in lower case.
    pub tables: BTreeSet<String>,
    /// Names such as `current_user` that it uses as columns: it may run only if tables have them.
    columns: BTreeSet<String>,
    /// Whether it reads the clock, or leaves something to chance.
    pub is_fleeting: bool,
}

impl Judged {
    /// Second part of the judgement, when the columns of those tables are known.
    ///
    /// # Errors
    /// A name that no column has: the engine would take it for a call that shows the state of the server.
    pub fn check_columns(&self, columns: impl Fn() -> Vec<String>) -> Verdict {
        if self.columns.is_empty() {
            return Ok(());
        }
        let columns = columns();
        match self.columns.iter().find(|name| !columns.iter().any(|column| column.eq_ignore_ascii_case(name))) {
            None => Ok(()),
            Some(name) => {
                let message = format!("{name} may not be used: it shows the state of the server.");
                Err(Refusal::new("value_name", name, message, "Leave it out."))
            }
        }
    }
}

/// Judges one statement. `tree` is what the engine's `json_serialize_sql` gave for `sql`; `tables` are the names that
/// may be read, in lower case. [`Judged::check_columns`] completes it.
///
/// # Errors
/// The first thing that is not allowed.
pub fn check(sql: &str, tree: &str, tables: &[String]) -> Verdict<Judged> {
    let tree = tree::parse(tree).map_err(|problem| unknown("the parser's answer", &problem))?;
    if tree.get("error").and_then(Value::as_bool) != Some(false) {
        return Err(unparsed(sql, &tree));
    }
    let statement = match tree.get("statements").and_then(Value::as_array).map(Vec::as_slice) {
        Some([statement]) => statement,
        Some([]) => {
            return Err(Refusal::new("statement", "", "There is no statement.", "Write one SELECT statement."));
        }
        _ => {
            let message = "There is more than one statement.";
            return Err(Refusal::new("statement", ";", message, "Send one SELECT statement at a time."));
        }
    };
    let mut walk = Walk { tables, ..Walk::default() };
    walk.statement(statement)?;
    walk.compare(&tree)?;
    let given = aliases(&tree);
    walk.session_names.retain(|name| !given.contains(name));
    Ok(Judged { tables: walk.used, columns: walk.session_names, is_fleeting: walk.is_fleeting })
}

/// Every name that the statement gives, in lower case.
fn aliases(tree: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for map in objects(tree) {
        let lists = ["aliases", "column_name_alias", "expected_names", "unpivot_names"].into_iter();
        let listed = lists.filter_map(|key| map.get(key)?.as_array()).flatten();
        let given = map.get("alias").into_iter().chain(listed).filter_map(Value::as_str);
        names.extend(given.map(str::to_ascii_lowercase));
    }
    names
}

/// The state of a walk.
#[derive(Default)]
struct Walk<'a> {
    tables: &'a [String],
    /// Names of common table expressions that can be seen from here, innermost last, and what naming them costs.
    scope: Vec<(String, Cost)>,
    ctes: usize,
    table_refs: usize,
    /// Those of the FROM around this place.
    joined: usize,
    /// Parts when every part of WITH that is not materialized is written out.
    expanded: usize,
    arms: usize,
    /// Lambdas around this place.
    lambdas: usize,
    /// Amplifying calls around this place.
    amplifiers: usize,
    /// Whether this place is evaluated while names are resolved.
    binding: bool,
    /// Calls there that make lists of names.
    name_lists: usize,
    /// Names that would show the state of the server, unless columns have them.
    session_names: BTreeSet<String>,
    /// Permitted tables that the statement reads.
    used: BTreeSet<String>,
    /// See [`Judged::is_fleeting`].
    is_fleeting: bool,
    visited: Count,
}

/// What a use of a part of WITH adds to a plan beyond the use itself.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    tables: usize,
    parts: usize,
}

/// How many expressions, and how many queries and table references, a tree holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    expressions: usize,
    relations: usize,
}

impl Count {
    /// Counts without understanding: every object anywhere that looks like an expression, a query or a table.
    fn blindly(value: &Value) -> Self {
        let mut count = Self::default();
        for map in objects(value) {
            if map.contains_key("class") {
                count.expressions += 1;
            } else if map.contains_key("info_type")
                || map.get("type").and_then(Value::as_str).is_some_and(query::is_relation)
            {
                count.relations += 1;
            }
        }
        count
    }
}

impl Walk<'_> {
    /// A part of the tree that the walk never reached is a hole in the walk: refuse.
    fn compare(&self, tree: &Value) -> Verdict {
        let blind = Count::blindly(tree);
        if blind != self.visited {
            let (name, seen) = (format!("{blind:?}"), self.visited);
            return Err(Refusal::new(
                "count",
                &name,
                format!("Only {seen:?} of it is understood."),
                "Write it simpler.",
            ));
        }
        Ok(())
    }

    fn visit(&mut self, what: fn(&mut Count) -> &mut usize) -> Verdict {
        *what(&mut self.visited) += 1;
        self.count_parts(1)
    }

    fn count_parts(&mut self, count: usize) -> Verdict {
        self.expanded += count;
        if self.expanded > limit::NODES {
            return Err(too_many("parts", limit::NODES, "Send a smaller query."));
        }
        Ok(())
    }
}

/// Checks that an object has no other keys than these, and that the `plain` ones hold no objects.
pub(super) fn keys<'v>(value: &'v Value, what: &str, plain: &[&str], deep: &[&str]) -> Verdict<&'v Map<String, Value>> {
    let Value::Object(map) = value else { return Err(unknown(what, "not an object")) };
    for (key, value) in map {
        let allowed = match plain.contains(&key.as_str()) {
            true => is_plain(value),
            false => deep.contains(&key.as_str()),
        };
        if !allowed {
            return Err(match key.as_str() {
                "at_clause" => Refusal::new("node", "AT", "AT (…) is not supported.", "Query the table as it is."),
                _ => unknown(what, key),
            });
        }
    }
    Ok(map)
}

pub(super) fn is_plain(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(list) => list.iter().all(is_plain),
        _ => true,
    }
}

pub(super) fn list<'v>(map: &'v Map<String, Value>, key: &str) -> Verdict<&'v [Value]> {
    match map.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(unknown("list", key)),
    }
}

/// The parts of a name, in lower case. Only ASCII is folded: folding more than the engine does would join names
/// that it keeps apart.
fn path(map: &Map<String, Value>) -> Verdict<Vec<String>> {
    let Some(name) = map.get("qualified_name") else { return Ok(vec![]) };
    let name = keys(name, "name", &["path"], &[])?;
    let parts = list(name, "path")?.iter().map(|part| part.as_str().map(str::to_ascii_lowercase));
    parts.collect::<Option<Vec<String>>>().ok_or_else(|| unknown("name", "path"))
}

pub(super) fn unknown(what: &str, name: &str) -> Refusal {
    let message = format!("This form of SQL is not supported ({what}: {name}).");
    Refusal::new("node", name, message, "Use plain SELECT, FROM, JOIN, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT.")
}

pub(super) fn too_many(what: &str, limit: usize, hint: &str) -> Refusal {
    Refusal::new("planner", what, format!("The query has too many {what}; at most {limit} are allowed."), hint)
}

/// The parser's own refusal, in words of ours.
fn unparsed(sql: &str, tree: &Value) -> Refusal {
    let field = |key: &str| tree.get(key).and_then(Value::as_str).unwrap_or_default();
    if field("error_type") == "not implemented" {
        let first: String = sql.trim_start().chars().take_while(char::is_ascii_alphabetic).take(20).collect();
        let first = first.to_ascii_uppercase();
        if sql.to_ascii_lowercase().contains("pivot") {
            let message = "This PIVOT finds out its columns by itself, which takes more than one statement.";
            return Refusal::new(
                "statement",
                "PIVOT",
                message,
                "Name the values: PIVOT t ON a IN ('x', 'y') USING sum(b).",
            );
        }
        let message = format!("Only queries may run, and {first} is none.");
        let hint = match first.as_str() {
            "EXPLAIN" => "Send the query itself; its reply says how long it took.",
            "SET" | "RESET" | "USE" | "PRAGMA" => "Settings are fixed; write the query without it.",
            "CREATE" | "INSERT" | "UPDATE" | "DELETE" | "MERGE" | "COPY" => {
                "Tables cannot be changed; for a helper table write WITH name AS (SELECT …)."
            }
            _ => "Write one statement that starts with SELECT, WITH or FROM.",
        };
        return Refusal::new("statement", &first, message, hint);
    }
    let text = field("error_message");
    if text.contains("max_expression_depth") {
        let message = "The SQL is nested too deeply.";
        return Refusal::new(
            "nesting",
            "expression",
            message,
            "Use IN for lists of values, or split the query with WITH.",
        );
    }
    let quoted = text.split('"').nth(1).unwrap_or_default();
    let place = match field("position").parse::<usize>() {
        Ok(position) => format!(" at character {}", position + 1),
        Err(_) => String::new(),
    };
    let message = match quoted {
        "" => format!("The SQL cannot be parsed{place}."),
        near => format!("The SQL cannot be parsed: syntax error at or near {near:?}{place}."),
    };
    let hint = habits::text(sql, quoted).unwrap_or("The dialect is DuckDB's; it is close to PostgreSQL's.");
    Refusal::new("syntax", quoted, message, hint).mistaken()
}

/// What to do instead of guessing names or reading `information_schema`.
const NO_CATALOGUE: &str = "List the datasets (dragoman_list_datasets) to see which tables there are.";

/// The refusal of a table that is not among those that may be read. It says the same of one that is not there and of
/// one that others have; a file, an address or a catalogue of the server is none of either.
pub(super) fn no_table<'n>(name: &str, tables: impl Iterator<Item = &'n str>) -> Refusal {
    let hint = match nearest_of_many(name, tables) {
        Some(near) => format!("Did you mean {near}?"),
        None => NO_CATALOGUE.to_owned(),
    };
    let refusal = Refusal::new("table", name, format!("There is no table {name}."), hint);
    let of_the_server = ["duckdb_", "pg_", "pragma_", "sqlite_"];
    let lower = name.to_ascii_lowercase();
    let is_word = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '-'));
    match is_word && !of_the_server.iter().any(|start| lower.starts_with(start)) {
        true => refusal.mistaken(),
        false => refusal,
    }
}

#[cfg(test)]
mod tests;
