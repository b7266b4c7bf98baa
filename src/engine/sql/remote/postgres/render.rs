//! PostgreSQL's texts as JSON, by the rules of [`crate::model::table::Table`]. The session's settings fix how the server
//! writes them: ISO dates in UTC, intervals in its own style, bytes in hexadecimal digits.

use serde_json::{Number, Value};

use super::session::Type;
use crate::base::secret::base64;

/// The largest whole number up to which every JSON reader is exact (2^53).
const EXACT: u64 = 1 << 53;

/// Object ids of types, which never change (`pg_type.dat`).
mod oid {
    pub(super) const BOOL: u32 = 16;
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const INT2: u32 = 21;
    pub(super) const INT4: u32 = 23;
    pub(super) const OID: u32 = 26;
    pub(super) const JSON: u32 = 114;
    pub(super) const FLOAT4: u32 = 700;
    pub(super) const FLOAT8: u32 = 701;
    pub(super) const DATE: u32 = 1082;
    pub(super) const TIMESTAMP: u32 = 1114;
    pub(super) const TIMESTAMPTZ: u32 = 1184;
    pub(super) const INTERVAL: u32 = 1186;
    pub(super) const JSONB: u32 = 3802;
}

/// One value of a column.
pub(super) fn value(text: Option<&str>, oid: u32, known: &Type) -> Value {
    match (text, known.element) {
        (None, _) => Value::Null,
        (Some(text), Some(element)) => array(text, element).unwrap_or_else(|| text.into()),
        (Some(text), None) => scalar(text, oid),
    }
}

fn scalar(text: &str, oid: u32) -> Value {
    match oid {
        oid::BOOL => (text == "t").into(),
        oid::INT2 | oid::INT4 | oid::INT8 | oid::OID => match text.parse::<i64>() {
            Ok(number) if number.unsigned_abs() <= EXACT => number.into(),
            _ => text.into(),
        },
        oid::FLOAT4 | oid::FLOAT8 => {
            text.parse().ok().and_then(Number::from_f64).map_or_else(|| text.into(), Value::Number)
        }
        oid::BYTEA => match text.strip_prefix("\\x").and_then(|digits| hex::decode(digits).ok()) {
            Some(bytes) => base64(&bytes).into(),
            None => text.into(),
        },
        oid::JSON | oid::JSONB => json(text),
        oid::DATE => date(text).into(),
        oid::TIMESTAMP => timestamp(text, "").into(),
        oid::TIMESTAMPTZ => match text.strip_suffix("+00") {
            Some(utc) => timestamp(utc, "Z").into(),
            None => match text.strip_suffix("+00 BC") {
                Some(utc) => timestamp(&format!("{utc} BC"), "Z").into(),
                None => text.into(),
            },
        },
        oid::INTERVAL => interval(text).into(),
        _ => text.into(),
    }
}

/// JSON as it is, unless a number in it has more digits than every reader keeps: then its text.
fn json(text: &str) -> Value {
    let (mut digits, mut is_quoted, mut is_escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'0'..=b'9' => digits += 1,
            b'.' => {}
            _ => digits = 0,
        }
        if digits > 15 {
            return text.into();
        }
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// `2013-01-31`; years before the first are counted as astronomers do, so that 1 BC is 0000.
fn date(text: &str) -> String {
    let Some(before) = text.strip_suffix(" BC") else { return text.to_owned() };
    match before.split_once('-').map(|(year, rest)| (year.parse::<i64>(), rest)) {
        Some((Ok(year), rest)) if year > 0 => {
            let sign = if year > 1 { "-" } else { "" };
            format!("{sign}{:04}-{rest}", year - 1)
        }
        _ => text.to_owned(),
    }
}

/// RFC 3339, with this zone.
fn timestamp(text: &str, zone: &str) -> String {
    match text.split_once(' ') {
        Some((day, time)) => match time.strip_suffix(" BC") {
            Some(time) => format!("{}T{time}{zone}", date(&format!("{day} BC"))),
            None => format!("{day}T{time}{zone}"),
        },
        // infinity
        None => text.to_owned(),
    }
}

/// `1 year 2 months 3 days 04:05:06`, as the embedded engine writes intervals.
fn interval(text: &str) -> String {
    let mut words = text.split(' ');
    let mut parts = Vec::new();
    while let Some(word) = words.next() {
        let number = word.trim_start_matches('+');
        match (number.parse::<i64>(), words.next()) {
            (Ok(count), Some(unit)) => {
                let unit = match unit.trim_end_matches('s') {
                    "mon" => "month",
                    other => other,
                };
                let plural = if count.unsigned_abs() == 1 { "" } else { "s" };
                parts.push(format!("{count} {unit}{plural}"));
            }
            _ => parts.push(number.to_owned()),
        }
    }
    parts.join(" ")
}

/// `{1,NULL,"a b"}`, also nested and with bounds in front. `None` for what is written in another way.
fn array(text: &str, element: u32) -> Option<Value> {
    let body = if text.starts_with('[') { text.split_once('=')?.1 } else { text };
    let mut rest = body.chars().peekable();
    let value = items(&mut rest, element, DIMENSIONS)?;
    rest.next().is_none().then_some(value)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Most dimensions of an array in PostgreSQL (`MAXDIM`).
const DIMENSIONS: usize = 6;

fn items(rest: &mut Chars<'_>, element: u32, dimensions: usize) -> Option<Value> {
    let inside = dimensions.checked_sub(1)?;
    let mut list = Vec::new();
    if rest.next() != Some('{') {
        return None;
    }
    if rest.next_if_eq(&'}').is_some() {
        return Some(Value::Array(list));
    }
    loop {
        list.push(match rest.peek()? {
            '{' => items(rest, element, inside)?,
            '"' => scalar(&quoted(rest)?, element),
            _ => {
                let mut word = String::new();
                while let Some(c) = rest.next_if(|c| !matches!(c, ',' | '}')) {
                    word.push(if c == '\\' { rest.next()? } else { c });
                }
                if word == "NULL" { Value::Null } else { scalar(&word, element) }
            }
        });
        match rest.next()? {
            ',' => {}
            '}' => return Some(Value::Array(list)),
            _ => return None,
        }
    }
}

fn quoted(rest: &mut Chars<'_>) -> Option<String> {
    let mut text = String::new();
    rest.next();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(rest.next()?),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(text: &str, oid: u32) -> Value {
        value(Some(text), oid, &Type { name: String::new(), element: None })
    }

    fn list(text: &str, element: u32) -> Value {
        value(Some(text), 0, &Type { name: String::new(), element: Some(element) })
    }

    #[test]
    fn numbers_lose_no_digit() {
        assert_eq!(plain("9007199254740992", oid::INT8), json!(9_007_199_254_740_992_i64));
        assert_eq!(plain("9007199254740993", oid::INT8), json!("9007199254740993"));
        assert_eq!(plain("-9223372036854775808", oid::INT8), json!("-9223372036854775808"));
        assert_eq!(plain("1.10", 1700), json!("1.10"), "numeric");
        assert_eq!(plain("NaN", 1700), json!("NaN"));
        assert_eq!(plain("0.1", oid::FLOAT4), json!(0.1));
        assert_eq!(plain("1e+300", oid::FLOAT8), json!(1e300));
        for odd in ["NaN", "Infinity", "-Infinity"] {
            assert_eq!(plain(odd, oid::FLOAT8), json!(odd));
        }
        assert_eq!(value(None, oid::INT4, &Type { name: String::new(), element: None }), Value::Null);
    }

    #[test]
    fn times_are_those_of_the_standard() {
        assert_eq!(plain("2013-01-31", oid::DATE), json!("2013-01-31"));
        assert_eq!(plain("0044-03-15 BC", oid::DATE), json!("-0043-03-15"));
        assert_eq!(plain("0001-03-15 BC", oid::DATE), json!("0000-03-15"));
        assert_eq!(plain("2013-01-31 04:05:06.5", oid::TIMESTAMP), json!("2013-01-31T04:05:06.5"));
        assert_eq!(plain("2013-01-31 04:05:06+00", oid::TIMESTAMPTZ), json!("2013-01-31T04:05:06Z"));
        assert_eq!(plain("0044-03-15 01:00:00+00 BC", oid::TIMESTAMPTZ), json!("-0043-03-15T01:00:00Z"));
        assert_eq!(plain("-infinity", oid::TIMESTAMPTZ), json!("-infinity"));
        assert_eq!(plain("infinity", oid::TIMESTAMP), json!("infinity"));
        assert_eq!(plain("1 year 2 mons 3 days 04:05:06", oid::INTERVAL), json!("1 year 2 months 3 days 04:05:06"));
        assert_eq!(
            plain("-1 years -1 mons +3 days -04:05:06", oid::INTERVAL),
            json!("-1 year -1 month 3 days -04:05:06")
        );
        assert_eq!(plain("00:00:00", oid::INTERVAL), json!("00:00:00"));
    }

    #[test]
    fn other_values_keep_their_shape() {
        assert_eq!(plain("t", oid::BOOL), json!(true));
        assert_eq!(plain("\\x00ff", oid::BYTEA), json!("AP8="));
        assert_eq!(plain(r#"{"a": [1, 2.5, null]}"#, oid::JSONB), json!({ "a": [1, 2.5, null] }));
        let text = r#"{"\"1234567890123456789": 1}"#;
        assert_eq!(plain(text, oid::JSON), json!({ "\"1234567890123456789": 1 }));
        let large = r#"{"a": 12345678901234567890}"#;
        assert_eq!(plain(large, oid::JSON), json!(large));
        assert_eq!(plain("[1,5)", 3904), json!("[1,5)"), "a range");
    }

    #[test]
    fn arrays_are_arrays() {
        assert_eq!(list("{1,NULL,3}", oid::INT4), json!([1, null, 3]));
        assert_eq!(list(r#"{"a b","c\"d",e,"NULL"}"#, 25), json!(["a b", "c\"d", "e", "NULL"]));
        assert_eq!(list("{{1,2},{3,4}}", oid::INT4), json!([[1, 2], [3, 4]]));
        assert_eq!(list("[0:1]={1,2}", oid::INT4), json!([1, 2]));
        assert_eq!(list("{}", 25), json!([]));
        assert_eq!(list(r#"{"2013-01-31 04:05:06+00"}"#, oid::TIMESTAMPTZ), json!(["2013-01-31T04:05:06Z"]));
        for other in ["1 2 3", "{1", "{1}x", "", "{\"a}"] {
            assert_eq!(list(other, oid::INT4), json!(other));
        }
    }

    #[test]
    fn a_server_that_nests_without_end_is_shown_as_it_writes() {
        assert_eq!(array("{{{{{{7}}}}}}", 23), Some(serde_json::json!([[[[[[7]]]]]])));
        assert_eq!(array("{{{{{{{7}}}}}}}", 23), None, "PostgreSQL has six dimensions at most");
        assert_eq!(array(&"{".repeat(100_000), 23), None);
    }
}
