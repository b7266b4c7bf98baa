//! Which words may stand before a bracket.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::token::{Kind, Token};
use crate::base::nearest::nearest_of_many;
use crate::engine::sql::guard::{Refusal, Verdict};

/// Functions of values, in lower case: linear, and reading nothing but their arguments.
const FUNCTIONS: &str = include_str!("functions.txt");
/// Aggregates and window functions, in lower case.
const AGGREGATES: &str = include_str!("aggregates.txt");
/// What may be put behind the name of an aggregate.
const COMBINATORS: [&str; 8] = ["if", "array", "map", "ornull", "ordefault", "distinct", "foreach", "resample"];

/// Keywords that a bracket may follow, and functions that stand in the place of a table.
const KEYWORDS: [&str; 42] = [
    "all", "and", "as", "between", "by", "case", "cast", "distinct", "else", "except", "exists", "extract", "filter",
    "from", "group", "having", "in", "intersect", "interval", "join", "like", "limit", "not", "on", "or", "over",
    "prewhere", "qualify", "select", "sets", "then", "union", "using", "values", "when", "where", "with", "rollup",
    "partition", "grouping", "numbers", "generate_series",
];

/// Types with parameters, in `CAST` and `::`.
const TYPES: [&str; 14] = [
    "array", "datetime", "datetime64", "decimal", "decimal128", "decimal32", "decimal64", "enum", "enum16", "enum8",
    "fixedstring", "lowcardinality", "nullable", "tuple",
];

fn list(text: &'static str) -> HashSet<&'static str> {
    text.split_whitespace().collect()
}

/// Checks every word that stands before a bracket.
pub(super) fn check(tokens: &[Token<'_>]) -> Verdict {
    for (index, token) in tokens.iter().enumerate() {
        if !tokens.get(index + 1).is_some_and(|next| next.is_sign('(')) {
            continue;
        }
        match token.kind {
            Kind::Word(word) if before(tokens, index).is_some_and(|token| token.is_sign('.')) => {
                let message = format!("{word} may not be called with a point before it.");
                return Err(Refusal::new("qualified_name", word, message, "Use ClickHouse's built-in functions."));
            }
            Kind::Word(word) if may_be_named(tokens, index) => named(word)?,
            Kind::Word(word) => function(word)?,
            Kind::Name(name) if !may_be_named(tokens, index) => {
                let message = format!("{name} may not be called: functions are written without quotation marks.");
                return Err(Refusal::new("function", name, message, "Use ClickHouse's built-in functions."));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a word may be an alias with names of columns behind it, `AS t (a, b)`, and no function: behind `AS`, which
/// no call follows, except for `WITH … AS (`.
fn may_be_named(tokens: &[Token<'_>], index: usize) -> bool {
    before(tokens, index).is_some_and(|token| token.is("AS") || token.is("WINDOW"))
}

fn before<'t>(tokens: &'t [Token<'t>], index: usize) -> Option<&'t Token<'t>> {
    tokens.get(index.checked_sub(1)?)
}

/// An alias is free, unless it is a word that the judge takes for something else.
fn named(word: &str) -> Verdict {
    let word = word.to_ascii_lowercase();
    if KEYWORDS.contains(&word.as_str()) || TYPES.contains(&word.as_str()) { Ok(()) } else { function(&word) }
}

/// Whether a function may be called.
fn function(word: &str) -> Verdict {
    static ALLOWED: OnceLock<(HashSet<&'static str>, HashSet<&'static str>)> = OnceLock::new();
    let (functions, aggregates) = ALLOWED.get_or_init(|| (list(FUNCTIONS), list(AGGREGATES)));
    let name = word.to_ascii_lowercase();
    let name = name.as_str();
    let mut base = name;
    for _ in 0..2 {
        if functions.contains(base) && base == name || aggregates.contains(base) {
            return Ok(());
        }
        base = COMBINATORS.iter().find_map(|suffix| base.strip_suffix(suffix)).unwrap_or(base);
    }
    let others = functions.contains(name) || aggregates.contains(base) || KEYWORDS.contains(&name);
    if others || TYPES.contains(&name) {
        return Ok(());
    }
    let hint = match nearest_of_many(name, functions.union(aggregates).copied()) {
        Some(near) => format!("Did you mean {near}?"),
        None => "Use ClickHouse's built-in functions of values, and aggregates.".to_owned(),
    };
    Err(Refusal::new("function", word, format!("The function {word} may not be used."), hint))
}
