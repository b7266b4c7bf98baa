//! How statements are set in lines.

use crate::model::source::quoted;

/// Lines moved to the right.
pub(super) fn indented(text: &str, by: usize) -> String {
    let space = " ".repeat(by);
    text.lines().map(|line| format!("{space}{line}")).collect::<Vec<_>>().join("\n")
}

/// Columns, one a line.
pub(super) fn list(columns: &[String]) -> String {
    indented(&columns.join(",\n"), 2)
}

/// A WHERE; none without conditions.
pub(super) fn clause(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join("\n  AND ")) }
}

/// By the first columns.
pub(super) fn group_by(columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    let positions: Vec<String> = (1..=columns).map(|at| at.to_string()).collect();
    format!("\nGROUP BY {}", positions.join(", "))
}

/// The parts of a statement, by name, before its body.
pub(super) fn with(parts: &[(String, String)]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let parts: Vec<String> =
        parts.iter().map(|(name, body)| format!("{} AS (\n{}\n)", quoted(name), indented(body, 2))).collect();
    format!("WITH {}\n", parts.join(", "))
}
