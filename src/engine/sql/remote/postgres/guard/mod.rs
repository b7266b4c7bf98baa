//! The judge of SQL for PostgreSQL: it walks the tree that PostgreSQL's own parser makes of a text, and lets through
//! what it knows to be harmless, exactly as [`crate::engine::sql::guard`] does for the engine of this service: node
//! types, keys, tables, functions, operators and types are allowed by name, and whatever is not named is refused.
//!
//! A permitted text is run with a frame: `WITH "name" AS NOT MATERIALIZED (SELECT "column", … FROM "schema"."table")`,
//! one for each permitted table that it reads, so that its tables are these expressions and nothing else, with the
//! permitted columns only. The frame is put into the `WITH` of the statement itself, or before it: around it, as in
//! `SELECT * FROM (…)`, the statement's `ORDER BY` would be one of a subquery, which no standard keeps. The framed text
//! is parsed once more and must be the judged tree with exactly these expressions added, so that no trick of comments
//! or brackets can leave the frame.
//!
//! The reading here is the server's only under [`SESSION`].

mod expression;
mod functions;
mod growth;
mod parser;
mod query;
mod walk;

use serde_json::{Value, json};

use self::parser::Parsed;
use self::walk::Walk;
use crate::engine::sql::guard::{Refusal, Verdict, tree, unknown};
use crate::engine::sql::remote::Permitted;
use crate::engine::sql::text;
use crate::model::error::{Error, Result};
use crate::model::source::quoted;

/// What a session must be set to before a judged text runs in it. Strings end where the judge saw them end; names of
/// functions, operators and types are the server's own, whatever lies in other schemas; and nothing is written.
pub const SESSION: [(&str, &str); 6] = [
    ("standard_conforming_strings", "on"),
    ("backslash_quote", "off"),
    ("search_path", ""),
    ("transform_null_equals", "off"),
    ("client_encoding", "UTF8"),
    ("default_transaction_read_only", "on"),
];

/// A thread for a judgement: trees are walked by recursion.
const STACK: usize = 64 << 20;

/// Judges one statement, and gives the text to run in its place. It takes milliseconds of computing, so that an async
/// caller should be on a thread that may block.
///
/// # Errors
/// `forbidden_sql` with `rule`, `name` and `hint`; `invalid_argument` for SQL that cannot be parsed.
pub fn wrapped(sql: &str, permitted: &[Permitted]) -> Result<String> {
    text::check(sql, usize::MAX)?;
    std::thread::scope(|scope| {
        let judge = std::thread::Builder::new().name("postgres guard".into()).stack_size(STACK);
        let judge = judge.spawn_scoped(scope, || judge_and_frame(sql, permitted)).map_err(Error::internal)?;
        judge.join().map_err(|_| Error::internal("the judge of PostgreSQL's dialect panicked"))?
    })
}

fn judge_and_frame(sql: &str, permitted: &[Permitted]) -> Result<String> {
    let statement = match statement(sql)? {
        Ok(statement) => statement,
        Err(refusal) => return Err(refusal.into_error()),
    };
    let used = Walk::judge(&statement, permitted).map_err(Refusal::into_error)?;
    if used.is_empty() {
        return Ok(sql.to_owned());
    }
    let framed = framed(sql, &statement, &used).map_err(Refusal::into_error)?;
    match self::statement(&framed)? {
        Ok(read) if added(&statement, &used) == plain(&read) => Ok(framed),
        _ => Err(Error::internal("a framed statement is not the one that was judged")),
    }
}

/// The tree of the one statement of a text.
fn statement(sql: &str) -> Result<Verdict<Value>> {
    let json = match parser::parse(sql).map_err(Error::internal)? {
        Parsed::Tree(json) => json,
        Parsed::Invalid { message, position } => return Ok(Err(unparsed(&message, position))),
        Parsed::TooMuch => return Ok(Err(too_deep())),
    };
    let Ok(mut tree) = tree::parse(&json) else { return Ok(Err(too_deep())) };
    let statements = match tree.get_mut("stmts").map(Value::take) {
        Some(Value::Array(statements)) => statements,
        None => vec![],
        Some(_) => return Ok(Err(unknown("the parser's answer", "stmts"))),
    };
    match <[Value; 1]>::try_from(statements) {
        Ok([mut statement]) => Ok(Ok(statement.get_mut("stmt").map(Value::take).unwrap_or_default())),
        Err(statements) if statements.is_empty() => {
            Ok(Err(Refusal::new("statement", "", "There is no statement.", "Write one SELECT statement.")))
        }
        Err(_) => {
            let message = "There is more than one statement.";
            Ok(Err(Refusal::new("statement", ";", message, "Send one SELECT statement at a time.")))
        }
    }
}

fn unparsed(message: &str, position: usize) -> Refusal {
    let place = if position > 0 { format!(" at character {position}") } else { String::new() };
    let near = message.split('"').nth(1).unwrap_or_default();
    let message: String = message.chars().take(200).collect();
    let message = format!("The SQL cannot be parsed: {message}{place}.");
    let mut refusal = Refusal::new("syntax", near, message, "The dialect is PostgreSQL's.");
    refusal.is_mistake = true;
    refusal
}

fn too_deep() -> Refusal {
    let message = "The query is nested too deeply, or too large to be read.";
    Refusal::new("planner", "depth", message, "Write it with fewer operations inside each other.")
}

/// Puts the expressions for the tables into the statement's own `WITH`, or before the statement.
fn framed(sql: &str, statement: &Value, used: &[&Permitted]) -> Verdict<String> {
    let tables: Vec<String> = used.iter().map(|table| expression(table)).collect();
    let tables = tables.join(", ");
    let Some(own) = statement.pointer("/SelectStmt/withClause/ctes").and_then(Value::as_array) else {
        return Ok(format!("WITH {tables}\n{sql}"));
    };
    let own = own.iter().filter_map(|cte| cte.get("CommonTableExpr"));
    let own: Vec<(&str, usize)> = own
        .filter_map(|cte| Some((cte.get("ctename")?.as_str()?, cte.get("location")?.as_u64()?.try_into().ok()?)))
        .collect();
    if let Some((name, _)) = own.iter().find(|(name, _)| used.iter().any(|table| table.name == *name)) {
        let message = format!("The WITH part {name} has the name of the table {name}, which the query reads too.");
        return Err(Refusal::new("table", name, message, "Give the WITH part another name."));
    }
    let start = own.first().map(|(_, at)| *at).filter(|at| sql.is_char_boundary(*at));
    let (before, after) = sql.split_at(start.ok_or_else(|| unknown("WITH", "location"))?);
    Ok(format!("{before}{tables},\n{after}"))
}

/// A table as an expression of `WITH`.
fn expression(table: &Permitted) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
    format!(
        "{} AS NOT MATERIALIZED (SELECT {} FROM {}.{})",
        quoted(&table.name),
        columns.join(", "),
        quoted(&table.schema),
        quoted(&table.table)
    )
}

/// The judged tree with the expressions for the tables, as the parser should make it of the framed text.
fn added(statement: &Value, used: &[&Permitted]) -> Value {
    let string = |name: &str| json!({ "String": { "sval": name } });
    let tables = used.iter().map(|table| {
        let columns: Vec<Value> = table
            .columns
            .iter()
            .map(|column| json!({ "ResTarget": { "val": { "ColumnRef": { "fields": [string(column)] } } } }))
            .collect();
        let from = json!({ "schemaname": table.schema, "relname": table.table, "inh": true, "relpersistence": "p" });
        let query = json!({
            "targetList": columns, "fromClause": [{ "RangeVar": from }],
            "limitOption": "LIMIT_OPTION_DEFAULT", "op": "SETOP_NONE",
        });
        json!({ "CommonTableExpr": {
            "ctename": table.name, "ctematerialized": "CTEMaterializeNever", "ctequery": { "SelectStmt": query },
        } })
    });
    let mut tree = plain(statement);
    if let Some(select) = tree.get_mut("SelectStmt").and_then(Value::as_object_mut) {
        let with = select.entry("withClause").or_insert_with(|| json!({ "ctes": [] }));
        if let Some(own) = with.get_mut("ctes").and_then(Value::as_array_mut) {
            own.splice(0..0, tables);
        }
    }
    tree
}

/// A tree without the places in the text.
fn plain(tree: &Value) -> Value {
    const PLACES: [&str; 5] = ["location", "rexpr_list_start", "rexpr_list_end", "list_start", "list_end"];
    match tree {
        Value::Array(list) => Value::Array(list.iter().map(plain).collect()),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, value)| !(PLACES.contains(&key.as_str()) && value.is_number()));
            Value::Object(kept.map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
