//! The judge of SQL for ClickHouse. It is lexical: no reader of this dialect is at hand that could be trusted with a
//! tree. The server's own answer to `EXPLAIN AST` is not fit: it leaves out the names in `WITH` and what `SETTINGS` set,
//! writes a table `a.b` and a table `a` in a database `b` alike, and puts names in quotation marks into its lines as
//! they are, line breaks included.
//!
//! So the words of a text are judged, with default deny: every word before a bracket must be an allowed function, every
//! word in the place of a table must be a permitted table or a part of `WITH` that can be seen there, and the words that
//! lead elsewhere (`SETTINGS`, `FORMAT`, `INTO`, …) may not stand bare at all. What this judge cannot see, the login must
//! not be able to do: it may read the tables of its databases and nothing else ([`super::login`]).
//!
//! As for PostgreSQL, a permitted text is run with its tables as parts of its own `WITH`, so that its order stays.

mod functions;
mod tables;
mod token;

use std::collections::BTreeSet;

use self::token::{Kind, Token, tokens};
use crate::engine::sql::guard::{Refusal, Verdict, too_many};
use crate::engine::sql::remote::Permitted;
use crate::engine::sql::text;
use crate::model::error::Result;
use crate::model::source::CLICKHOUSE_SETTINGS;

const TOKENS: usize = 20_000;

/// Words that lead out of a query, or that make another thing of it. As names of columns they need quotation marks.
const FORBIDDEN: [&str; 53] = [
    "ALTER", "APPLY", "ATTACH", "BACKUP", "CHECK", "COLUMNS", "COPY", "CREATE", "CUBE", "DELETE", "DESCRIBE", "DETACH",
    "DICTIONARY", "DROP", "ENGINE", "EXCHANGE", "EXECUTE", "EXPLAIN", "FORMAT", "GRANT", "IMPORT", "INFILE", "INSERT",
    "INTO", "KILL", "LOAD", "MATERIALIZED", "MOVE", "OPTIMIZE", "OUTFILE", "PARALLEL", "PARSER", "POPULATE", "PREPARE",
    "PROFILE", "RENAME", "REPLACE", "RESTORE", "RECURSIVE", "REVOKE", "SAMPLE", "SET", "SETTINGS", "SHOW", "SYSTEM",
    "TABLE", "TEMPORARY", "TRUNCATE", "UNDROP", "UPDATE", "USE", "VIEW", "WATCH",
];

/// Judges one statement, and gives the text to run in its place.
///
/// # Errors
/// `forbidden_sql` with `rule`, `name` and `hint`; `invalid_argument` for SQL that cannot be parsed.
pub fn wrapped(sql: &str, permitted: &[Permitted]) -> Result<String> {
    text::check(sql, usize::MAX)?;
    judge_and_frame(sql, permitted).map_err(Refusal::into_error)
}

fn judge_and_frame(sql: &str, permitted: &[Permitted]) -> Verdict<String> {
    // Nobody sets anything, but for the settings of our own statements, which may be run again as they were shown.
    if let Some(sql) = sql.trim_end().strip_suffix(CLICKHOUSE_SETTINGS) {
        return Ok(judge_and_frame(sql, permitted)? + CLICKHOUSE_SETTINGS);
    }
    let mut tokens = tokens(sql)?;
    let end = tokens.len() - tokens.iter().rev().take_while(|token| token.is_sign(';')).count();
    let length = tokens.get(end).map_or(sql.len(), |token| token.at);
    tokens.truncate(end);
    if tokens.len() > TOKENS {
        return Err(too_many("words", TOKENS, "Send a smaller query."));
    }
    // Which part of a UNION sees the names of which WITH differs by version and by place.
    let has = |words: &[&str]| tokens.iter().any(|token| words.iter().any(|word| token.is(word)));
    if has(&["WITH"]) && has(&["UNION", "EXCEPT", "INTERSECT"]) {
        let message = "WITH and UNION, EXCEPT or INTERSECT may not stand in one statement here.";
        return Err(Refusal::new("node", "WITH", message, "Write the parts of WITH as subqueries in FROM."));
    }
    let first = tokens
        .first()
        .ok_or_else(|| Refusal::new("statement", "", "There is no statement.", "Write one SELECT statement."))?;
    if !first.is("SELECT") && !first.is("WITH") {
        let name = first.name().unwrap_or("(").to_ascii_uppercase();
        let message = format!("Only queries may run, and {name} is none.");
        return Err(Refusal::new("statement", &name, message, "Write one statement that starts with SELECT or WITH."));
    }
    words(&tokens)?;
    brackets(&tokens)?;
    let found = tables::check(&tokens, permitted)?;
    functions::check(&tokens)?;
    framed(&sql[..length], &tokens, &found)
}

fn words(tokens: &[Token<'_>]) -> Verdict {
    for (index, token) in tokens.iter().enumerate() {
        if token.is_sign(';') {
            let message = "There is more than one statement.";
            return Err(Refusal::new("statement", ";", message, "Send one SELECT statement at a time."));
        }
        let Kind::Word(word) = token.kind else { continue };
        let upper = word.to_ascii_uppercase();
        let is_call = tokens.get(index + 1).is_some_and(|next| next.is_sign('('));
        let is_point = |token: Option<&Token<'_>>| token.is_some_and(|token| token.is_sign('.'));
        let is_part = index > 0 && is_point(tokens.get(index - 1)) || is_point(tokens.get(index + 1));
        // replace(…) and format(…) are functions, GROUP BY CUBE(…) is not.
        let is_function = is_call && matches!(upper.as_str(), "REPLACE" | "FORMAT");
        if FORBIDDEN.contains(&upper.as_str()) && !is_part && !is_function {
            let message = format!("{upper} may not be used: queries only read, under the limits of this service.");
            let hint = format!("Leave it out. A column of that name is written \"{word}\".");
            return Err(Refusal::new("statement", &upper, message, hint));
        }
        if token.is("GLOBAL") || token.is("FINAL") && is_call {
            return Err(Refusal::new("node", &upper, format!("{upper} may not be used."), "Leave it out."));
        }
    }
    Ok(())
}

/// Brackets close in the order in which they opened, and none closes that this text did not open.
fn brackets(tokens: &[Token<'_>]) -> Verdict {
    let mut open = vec![];
    for token in tokens {
        let fits = match token.kind {
            Kind::Sign('(') => {
                open.push(')');
                true
            }
            Kind::Sign('[') => {
                open.push(']');
                true
            }
            Kind::Sign(close @ (')' | ']')) => open.pop() == Some(close),
            _ => true,
        };
        if !fits {
            return Err(unbalanced());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(unbalanced()) }
}

fn unbalanced() -> Refusal {
    let mut refusal = Refusal::new(
        "syntax",
        "brackets",
        "The SQL cannot be parsed: its brackets do not match.",
        "The dialect is ClickHouse's.",
    );
    refusal.is_mistake = true;
    refusal
}

/// Puts the expressions for the tables into the statement's own `WITH`, or before the statement.
fn framed(sql: &str, tokens: &[Token<'_>], found: &tables::Found<'_>) -> Verdict<String> {
    if found.used.is_empty() {
        return Ok(sql.to_owned());
    }
    let names: BTreeSet<&str> = found.used.iter().map(|table| table.name.as_str()).collect();
    if let Some(name) = found.top.iter().find(|name| names.contains(name.as_str())) {
        let message = format!("The WITH part {name} has the name of the table {name}, which the query reads too.");
        return Err(Refusal::new("table", name, message, "Give the WITH part another name."));
    }
    let frame: Vec<String> = found.used.iter().map(|table| expression(table)).collect();
    let frame = frame.join(", ");
    if !tokens.first().is_some_and(|token| token.is("WITH")) {
        return Ok(format!("WITH {frame}\n{sql}"));
    }
    let start = tokens.get(1).map_or(sql.len(), |token| token.at);
    let (before, after) = sql.split_at(start);
    Ok(format!("{before}{frame},\n{after}"))
}

fn expression(table: &Permitted) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
    format!(
        "{} AS (SELECT {} FROM {}.{})",
        quoted(&table.name),
        columns.join(", "),
        quoted(&table.schema),
        quoted(&table.table)
    )
}

/// A name in quotation marks; backslashes are escapes in ClickHouse's names too.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

#[cfg(test)]
mod tests;
