//! What a literal of the tree says, where the engine is bound to read the same: sizes and patterns are judged by it.

use serde_json::Value;

/// Casts that keep a whole number what it is. Others compute: `1::FLOAT::BIT::INTEGER` is more than a thousand million.
const WHOLE: [&str; 10] =
    ["tinyint", "smallint", "integer", "int", "bigint", "hugeint", "int8", "int4", "int2", "int64"];

/// Casts that read a text as it is written. Others decode it: the blob `'\x31'` is the text `1`.
const TEXT: [&str; 14] = [
    "varchar",
    "text",
    "string",
    "char",
    "bpchar",
    "date",
    "timestamp",
    "timestamptz",
    "timestamp with time zone",
    "datetime",
    "timestamp_s",
    "timestamp_ms",
    "timestamp_ns",
    "interval",
];

/// A literal whole number, with sign, or cast to a whole number.
pub(super) fn number(value: &Value) -> Option<i64> {
    match value.get("class")?.as_str()? {
        "CONSTANT" => constant(value)?.replace('_', "").parse().ok(),
        "CAST" if is_cast_to(value, &WHOLE) => number(value.get("child")?),
        "FUNCTION" if function_name(value) == Some("-") => match value.get("arguments")?.as_array()?.as_slice() {
            [one] => number(one.get("expression")?)?.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

/// The text of a literal, with or without a cast that leaves it alone.
pub(super) fn text(value: &Value) -> Option<String> {
    match value.get("class")?.as_str()? {
        "CONSTANT" => constant(value).map(str::to_owned),
        "CAST" if is_cast_to(value, &TEXT) => text(value.get("child")?),
        _ => None,
    }
}

/// The year of a literal date or timestamp, four digits of the common era: `290000-01-01` and `2000-01-01 (BC)` are
/// dates too.
pub(super) fn year(value: &Value) -> Option<i64> {
    let text = text(value)?;
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b"-+:. TZ".contains(&b));
    let (year, rest) = text.split_at_checked(4)?;
    (is_plain && rest.starts_with('-')).then(|| year.parse().ok())?
}

fn constant(value: &Value) -> Option<&str> {
    value.pointer("/literal/text")?.as_str()
}

fn is_cast_to(value: &Value, types: &[&str]) -> bool {
    let name = value.pointer("/type_expr/type_name").and_then(Value::as_str);
    let has_modifiers = value.pointer("/type_expr/children").is_some();
    !has_modifiers && name.is_some_and(|name| types.contains(&name.to_ascii_lowercase().as_str()))
}

/// The name of the function that a node of the tree calls.
pub(super) fn function_name(value: &Value) -> Option<&str> {
    value.pointer("/qualified_name/path")?.as_array()?.last()?.as_str()
}
