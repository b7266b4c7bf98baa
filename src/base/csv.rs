//! CSV (RFC 4180).

/// A cell, in quotes where it needs them.
pub fn cell(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
