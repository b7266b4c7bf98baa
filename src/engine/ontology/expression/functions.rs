//! The functions that expressions may use: those that DuckDB and PostgreSQL both have under one name and with one
//! meaning, or that are written for each.

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

/// Computed from one row.
const SCALAR: &[&str] = &[
    "abs", "acos", "age", "ascii", "asin", "atan", "atan2", "bit_length", "btrim", "cbrt", "ceil", "ceiling",
    "char_length", "character_length", "chr", "coalesce", "concat", "concat_ws", "cos", "cot", "date_diff",
    "date_part", "date_trunc", "day", "degrees", "exp", "floor", "greatest", "hour", "least", "left", "length", "ln",
    "log", "log10", "lower", "lpad", "ltrim", "make_date", "md5", "minute", "mod", "month", "nullif", "octet_length",
    "pi", "pow", "power", "quarter", "radians", "regexp_replace", "replace", "reverse", "right", "round", "rpad",
    "rtrim", "second", "sign", "sin", "split_part", "sqrt", "starts_with", "strpos", "substr", "substring", "tan",
    "to_timestamp", "translate", "trim", "trunc", "upper", "year",
];

/// Computed from many rows.
const AGGREGATE: &[&str] = &[
    "avg", "count", "max", "median", "min", "percentile_cont", "quantile_cont", "stddev", "stddev_pop", "stddev_samp",
    "sum", "var_pop", "var_samp", "variance",
];

/// What people write for something else that is there.
const INSTEAD: &[(&str, &str)] = &[
    ("approx_count_distinct", "COUNT(DISTINCT …), which is exact"),
    ("average", "AVG"),
    ("charindex", "STRPOS(text, part)"),
    ("count_if", "COUNT(*) FILTER (WHERE …)"),
    ("countif", "COUNT(*) FILTER (WHERE …)"),
    ("current_date", "a fixed date; questions name their time themselves"),
    ("current_timestamp", "a fixed time; questions name their time themselves"),
    ("datediff", "DATE_DIFF('day', from, to)"),
    ("getdate", "a fixed date; questions name their time themselves"),
    ("if", "CASE WHEN … THEN … ELSE … END"),
    ("ifnull", "COALESCE"),
    ("iff", "CASE WHEN … THEN … ELSE … END"),
    ("iif", "CASE WHEN … THEN … ELSE … END"),
    ("instr", "STRPOS(text, part)"),
    ("isnull", "COALESCE, or … IS NULL"),
    ("len", "LENGTH"),
    ("mean", "AVG"),
    ("now", "a fixed time; questions name their time themselves"),
    ("nvl", "COALESCE"),
    ("sum_if", "SUM(…) FILTER (WHERE …)"),
    ("sumif", "SUM(…) FILTER (WHERE …)"),
    ("to_date", "CAST(… AS DATE)"),
    ("today", "a fixed date; questions name their time themselves"),
];

pub(super) fn is_aggregate(name: &str) -> bool {
    AGGREGATE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

pub(super) fn is_scalar(name: &str) -> bool {
    SCALAR.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// What to write instead of a function that is not there.
pub(super) fn instead(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if let Some((_, instead)) = INSTEAD.iter().find(|(other, _)| *other == lower) {
        return format!("write {instead}");
    }
    let near = SCALAR.iter().chain(AGGREGATE).map(|known| (strsim::damerau_levenshtein(known, &lower), *known));
    match near.min().filter(|(distance, _)| *distance <= 2) {
        Some((_, known)) => format!("did you mean {}?", known.to_ascii_uppercase()),
        None => "use the functions that DuckDB and PostgreSQL share".to_owned(),
    }
}

/// The arguments of a call, where each is an expression.
pub(super) fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let each = list.args.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    each.collect()
}

/// The FILTER of a call, as it is written behind it.
pub(super) fn filter(function: &Function) -> String {
    function.filter.as_ref().map(|filter| format!(" FILTER (WHERE {filter})")).unwrap_or_default()
}
