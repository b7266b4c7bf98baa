//! Values of ClickHouse, as its JSON formats write them, by the rules of [`crate::model::table::Table`].

use serde_json::{Map, Number, Value};

/// The largest whole number up to which every JSON reader is exact (2^53).
const EXACT: i128 = 1 << 53;

/// Longest name of a type, in bytes: what is longer is shown as the server writes it. It bounds how deep one can be.
const TYPE: usize = 1_024;

/// A value of a column of this type. Whole numbers come as texts and leave as numbers where every reader is exact.
pub(super) fn render(r#type: &str, value: Value) -> Value {
    if r#type.len() > TYPE {
        return value;
    }
    let (name, inside) = parts(r#type);
    match (name, value) {
        (_, Value::Null) => Value::Null,
        ("Nullable" | "LowCardinality", value) => render(inside, value),
        ("SimpleAggregateFunction", value) => render(arguments(inside).last().copied().unwrap_or_default(), value),
        (
            "Int64" | "UInt64" | "Int128" | "UInt128" | "Int256" | "UInt256" | "Int32" | "UInt32" | "Int16" | "UInt16"
            | "Int8" | "UInt8",
            Value::String(text),
        ) => match text.parse::<i128>() {
            Ok(number) if number.abs() <= EXACT => i64::try_from(number).map_or(Value::String(text), Value::from),
            _ => Value::String(text),
        },
        ("Float32" | "Float64" | "BFloat16", Value::String(text)) => match text.trim_start_matches('+') {
            "nan" | "-nan" => Value::from("NaN"),
            "inf" => Value::from("Infinity"),
            "-inf" => Value::from("-Infinity"),
            other => other.parse().ok().and_then(Number::from_f64).map_or(Value::from(other), Value::Number),
        },
        ("Decimal" | "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256", Value::Number(number)) => {
            Value::String(number.to_string())
        }
        ("Array" | "Nested", Value::Array(list)) => {
            list.into_iter().map(|value| render(inside, value)).collect::<Vec<_>>().into()
        }
        ("Map", Value::Object(map)) => {
            let of = arguments(inside).get(1).copied().unwrap_or_default();
            Value::Object(map.into_iter().map(|(key, value)| (key, render(of, value))).collect::<Map<_, _>>())
        }
        ("Tuple", Value::Object(map)) => {
            let types = arguments(inside);
            let of = |name: &str| {
                let named = |field: &&str| field.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
                types.iter().copied().find(named).map_or("", |field| field[name.len()..].trim_start())
            };
            Value::Object(
                map.into_iter()
                    .map(|(key, value)| {
                        let of = of(&key);
                        (key, render(of, value))
                    })
                    .collect(),
            )
        }
        ("Tuple", Value::Array(list)) => {
            let types = arguments(inside);
            let of = |index: usize| types.get(index).copied().unwrap_or_default();
            list.into_iter().enumerate().map(|(index, value)| render(of(index), value)).collect::<Vec<_>>().into()
        }
        // A fraction of nothing is left out, as in other engines' results.
        ("DateTime64", Value::String(text)) => match text.strip_suffix('Z').unwrap_or(&text).split_once('.') {
            Some((whole, fraction)) => {
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                Value::from(format!("{whole}{point}{fraction}{}", if text.ends_with('Z') { "Z" } else { "" }))
            }
            None => Value::String(text),
        },
        (_, value) => value,
    }
}

/// `Name(inside)`.
fn parts(r#type: &str) -> (&str, &str) {
    match r#type.trim().split_once('(') {
        Some((name, inside)) => (name, inside.strip_suffix(')').unwrap_or(inside)),
        None => (r#type.trim(), ""),
    }
}

/// What commas divide, outside brackets and quotation marks.
fn arguments(text: &str) -> Vec<&str> {
    let (mut arguments, mut start, mut depth, mut quoted) = (vec![], 0, 0_usize, None);
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quoted, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quoted = None,
            (Some(_), _) => {}
            (None, '\'' | '`') => quoted = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                arguments.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(text[start..].trim());
    arguments
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_digit_is_lost() {
        for (r#type, value, rendered) in [
            ("Int64", json!("9007199254740992"), json!(9_007_199_254_740_992_i64)),
            ("Int64", json!("-9007199254740993"), json!("-9007199254740993")),
            ("UInt256", json!("7"), json!(7)),
            ("Nullable(UInt64)", json!(null), json!(null)),
            ("LowCardinality(Nullable(String))", json!("x"), json!("x")),
            ("Float64", json!("nan"), json!("NaN")),
            ("Float64", json!("-inf"), json!("-Infinity")),
            ("Float64", json!(0.1), json!(0.1)),
            ("Decimal(10, 2)", json!("1.50"), json!("1.50")),
            ("Array(Array(UInt64))", json!([["1"], ["18446744073709551615"]]), json!([[1], ["18446744073709551615"]])),
            ("Map(String, Int64)", json!({ "k": "5" }), json!({ "k": 5 })),
            (
                "Tuple(a Int64, b Enum8('x, )' = 1), c Int64)",
                json!({ "a": "1", "b": "x, )", "c": "2" }),
                json!({ "a": 1, "b": "x, )", "c": 2 }),
            ),
            ("Tuple(Int64, String)", json!(["1", "2"]), json!([1, "2"])),
            ("DateTime", json!("2020-06-01T08:00:00Z"), json!("2020-06-01T08:00:00Z")),
            ("DateTime64(6, 'UTC')", json!("2020-06-01T08:00:00.000000Z"), json!("2020-06-01T08:00:00Z")),
            ("DateTime64(3)", json!("2020-06-01T08:00:00.250Z"), json!("2020-06-01T08:00:00.25Z")),
            ("Bool", json!(true), json!(true)),
        ] {
            assert_eq!(render(r#type, value), rendered, "{type}");
        }
    }
}
