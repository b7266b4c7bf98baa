//! JSON values as YAML that reads the same by the rules of YAML 1.1 and 1.2.

use serde_json::Value;

/// Characters of a list that may stand on one line.
const LINE: usize = 90;

/// A document. Texts are quoted wherever any reader could take them for something else.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

/// A value whose lines begin at `indent`.
fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str(&scalar(key));
                out.push(':');
                after_key(out, value, indent);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                block(out, item, indent + 2);
            }
        }
        other => {
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
}

fn after_key(out: &mut String, value: &Value, indent: usize) {
    let is_block = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => items.iter().any(Value::is_object) || flow(value).chars().count() > LINE,
        _ => false,
    };
    if is_block {
        out.push('\n');
        out.push_str(&" ".repeat(indent + 2));
        block(out, value, indent + 2);
    } else if let Some(lines) = value.as_str().and_then(literal) {
        out.push_str(" |-\n");
        for line in lines {
            out.push_str(&format!("{:indent$}{line}", "", indent = if line.is_empty() { 0 } else { indent + 2 }));
            out.push('\n');
        }
    } else {
        out.push(' ');
        out.push_str(&flow(value));
        out.push('\n');
    }
}

/// The lines of a text that can stand as they are.
fn literal(text: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = text.split('\n').collect();
    let fits = |line: &&str| *line == line.trim_end() && !line.chars().any(|c| c.is_control() || is_special(c));
    let ends = lines.first().is_some_and(|line| !line.is_empty() && !line.starts_with(char::is_whitespace))
        && lines.last().is_some_and(|line| !line.is_empty());
    (lines.len() > 1 && ends && lines.iter().all(fits)).then_some(lines)
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// A text: plain where it can be nothing else, in single quotes where that escapes nothing, else as in JSON.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut json = String::new();
    for c in Value::from(text).to_string().chars() {
        if is_special(c) { json.push_str(&format!("\\u{:04x}", u32::from(c))) } else { json.push(c) }
    }
    if json.contains('\\') && !text.chars().any(|c| c.is_control() || is_special(c)) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    json
}

/// What YAML counts as a line break or as not printable although JSON does not escape it.
fn is_special(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inner = |c: char| c.is_ascii_alphanumeric() || " _.()*/+<>=-".contains(c);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    starts && text.chars().all(inner) && !text.ends_with(' ') && !words.contains(&text.to_ascii_lowercase().as_str())
}
