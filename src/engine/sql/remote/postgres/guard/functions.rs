//! Which functions, operators and types may be used, by name. Names with a schema are judged by the caller.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde_json::Value;

use crate::base::nearest::nearest_of_many;
use crate::engine::sql::guard::functions::{MAX_AMPLIFICATION, widths_are_small};
use crate::engine::sql::guard::list::List;
use crate::engine::sql::guard::{Refusal, Verdict};

/// Every function of the reviewed server, one a line: verdict, name, reason, and `unary` for those of one argument,
/// separated by tabs. Functions of newer servers are refused until they are reviewed.
const LIST: &str = include_str!("functions.txt");

/// Functions that may stand in the place of a table: they make rows of their arguments and read nothing else.
const TABLE_FUNCTIONS: [&str; 23] = [
    "generate_series",
    "generate_subscripts",
    "unnest",
    "json_each",
    "json_each_text",
    "json_array_elements",
    "json_array_elements_text",
    "json_object_keys",
    "json_to_record",
    "json_to_recordset",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_to_record",
    "jsonb_to_recordset",
    "regexp_matches",
    "regexp_match",
    "regexp_split_to_table",
    "string_to_table",
    "string_to_array",
];

/// The server's operators that compare, compute or search; not those that look at how rows are stored (`*=`).
const OPERATORS: [&str; 68] = [
    "!!", "!~", "!~*", "!~~", "!~~*", "#", "##", "#-", "#>", "#>>", "%", "&", "&&", "&<", "&<|", "&>", "*", "+", "-",
    "->", "->>", "-|-", "/", "<", "<->", "<<", "<<=", "<<|", "<=", "<>", "<@", "<^", "=", ">", ">=", ">>", ">>=", ">^",
    "?", "?#", "?&", "?-", "?-|", "?|", "?||", "@", "@-@", "@>", "@?", "@@", "@@@", "^", "^@", "|", "|&>", "|/", "|>>",
    "||", "||/", "~", "~*", "~<=~", "~<~", "~=", "~>=~", "~>~", "~~", "~~*",
];

/// Types that hold a value and no name of a thing in the database.
const TYPES: [&str; 52] = [
    "bool", "boolean", "int2", "int4", "int8", "int", "integer", "smallint", "bigint", "float4", "float8", "real",
    "numeric", "decimal", "money", "text", "varchar", "bpchar", "char", "name", "bytea", "bit", "varbit", "date",
    "time", "timetz", "timestamp", "timestamptz", "interval", "uuid", "json", "jsonb", "jsonpath", "inet", "cidr",
    "macaddr", "macaddr8", "point", "line", "lseg", "box", "path", "polygon", "circle", "int4range", "int8range",
    "numrange", "tsrange", "tstzrange", "daterange", "tsvector", "tsquery",
];

/// Greatest number of rows of a series whose bounds are written out.
const MAX_SERIES: i64 = 10_000_000;

fn list() -> &'static List {
    static FUNCTIONS: OnceLock<List> = OnceLock::new();
    FUNCTIONS.get_or_init(|| List::read(LIST, "Use PostgreSQL's built-in functions."))
}

/// Whether a function may stand in an expression.
pub(super) fn in_expression(name: &str) -> Verdict {
    list().judge(name)
}

/// Whether a function may stand in the place of a table.
pub(super) fn in_from(name: &str) -> Verdict {
    if TABLE_FUNCTIONS.contains(&name) {
        return Ok(());
    }
    Err(Refusal::new(
        "table_function",
        name,
        format!("The function {name} may not be used as a table: queries read the listed tables and nothing else."),
        format!("Query a table by its name. In FROM these functions work: {}.", TABLE_FUNCTIONS.join(", ")),
    ))
}

/// Whether a name may stand behind a point: the server takes `x.f` for `f(x)` where `x` has no part `f`.
pub(super) fn as_column(name: &str) -> Verdict {
    static REFUSED: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let refused = REFUSED.get_or_init(|| {
        let lines = LIST.lines().filter(|line| line.starts_with('-') && line.ends_with("\tunary"));
        lines.filter_map(|line| line.split('\t').nth(1)).collect()
    });
    if refused.contains(name) { list().judge(name) } else { Ok(()) }
}

/// Whether an operator may be used: `["+"]`, or with the schema of the server's own.
pub(super) fn operator(name: &[&str]) -> Verdict {
    match name {
        [operator] | ["pg_catalog", operator] if OPERATORS.contains(operator) => Ok(()),
        _ => {
            let name = name.join(".");
            let message = format!("The operator {name} may not be used.");
            Err(Refusal::new("operator", &name, message, "Use PostgreSQL's built-in operators, without a schema."))
        }
    }
}

/// Whether a value may be cast to a type.
pub(super) fn type_name(name: &[&str]) -> Verdict {
    match name {
        [r#type] | ["pg_catalog", r#type] if TYPES.contains(r#type) => Ok(()),
        _ => {
            let name = name.join(".");
            let hint = match nearest_of_many(&name, TYPES) {
                Some(near) => format!("Did you mean {near}?"),
                None => "Use a type for values: integer, numeric, text, date, timestamp, jsonb.".to_owned(),
            };
            Err(Refusal::new("type", &name, format!("The type {name} may not be used."), hint))
        }
    }
}

/// Whether a function makes much out of little, so that calls of it must not be nested.
pub(super) fn amplifies(name: &str) -> bool {
    matches!(name, "repeat" | "lpad" | "rpad" | "format")
}

/// Checks the arguments of functions for which they decide how much is made.
pub(super) fn arguments(name: &str, arguments: &[Value]) -> Verdict {
    let at = |index: usize| arguments.get(index);
    match name {
        "repeat" | "lpad" | "rpad" if !at(1).is_none_or(is_bounded) => {
            let message = format!("In {name}, the count must be a number up to {MAX_AMPLIFICATION}.");
            Err(Refusal::new("amplifier", name, message, format!("Write {name}(value, 10), or least(count, 1000).")))
        }
        "format" if !at(0).and_then(text).is_some_and(widths_are_small) => {
            let message = "In format, the pattern must be a literal with widths up to 1000.";
            Err(Refusal::new("amplifier", name, message, "Write format('%s: %s', a, b)."))
        }
        "generate_series" => match (at(0).and_then(number), at(1).and_then(number), at(2).map(number)) {
            (Some(from), Some(to), step) => {
                let step = step.flatten().unwrap_or(1).checked_abs().filter(|step| *step > 0).unwrap_or(1);
                if to.saturating_sub(from).saturating_abs() / step <= MAX_SERIES {
                    return Ok(());
                }
                let message = format!("A series may have at most {MAX_SERIES} values.");
                Err(Refusal::new("amplifier", name, message, "Write generate_series(1, 1000)."))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// A small number, or `least(…)` with one: it gives no more than the smallest that it is given.
fn is_bounded(value: &Value) -> bool {
    if let Some(least) = value.get("MinMaxExpr") {
        let arguments = least.get("args").and_then(Value::as_array);
        let is_least = least.get("op").and_then(Value::as_str) == Some("IS_LEAST");
        return is_least && arguments.is_some_and(|arguments| arguments.iter().any(is_bounded));
    }
    if let Some(cast) = value.get("TypeCast") {
        return cast.get("arg").is_some_and(is_bounded);
    }
    number(value).is_some_and(|n| n <= MAX_AMPLIFICATION)
}

/// A whole number that is written out, with sign or cast.
fn number(value: &Value) -> Option<i64> {
    let (kind, inside) = value.as_object()?.iter().next()?;
    match kind.as_str() {
        "A_Const" => match inside.get("ival") {
            // Zero is left out.
            Some(integer) => integer.get("ival").map_or(Some(0), Value::as_i64),
            None => inside.pointer("/fval/fval").or(inside.pointer("/sval/sval"))?.as_str()?.parse().ok(),
        },
        "TypeCast" => number(inside.get("arg")?),
        _ => None,
    }
}

/// A text that is written out.
fn text(value: &Value) -> Option<&str> {
    value.pointer("/A_Const/sval/sval")?.as_str()
}
