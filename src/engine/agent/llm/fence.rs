//! What others wrote, in a form in which it stays between its marks.

use serde_json::Value;

/// JSON that cannot close the marks around it.
pub(super) fn fenced(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e")
}

/// A text on one line, of at most so many bytes.
pub(super) fn clipped(text: &str, bytes: usize) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|c| !c.is_control());
    if line.len() > bytes {
        line.truncate(line.floor_char_boundary(bytes.saturating_sub('…'.len_utf8())));
        line.push('…');
    }
    line
}
