//! The gate before any parser: what a text must be to be looked at. It knows no SQL.

use serde_json::json;

use crate::model::error::{Code, Error, Result};

/// Deepest nesting of brackets. The engine's parser recurses over them, and some shapes exhaust any stack.
pub const MAX_NESTING: usize = 64;

/// Checks length, NUL bytes and nesting. Brackets inside strings and comments count too: the gate must not need to
/// know where those end, since readers of SQL disagree about it.
///
/// # Errors
/// `sql_too_long` with the limit; `forbidden_sql` with the rule that was broken; `invalid_argument` when it is empty.
pub fn check(sql: &str, max_chars: usize) -> Result<()> {
    let chars = sql.chars().count();
    if chars > max_chars {
        let message = format!("The SQL has {chars} characters; at most {max_chars} are allowed. Shorten it.");
        return Err(Error::new(Code::SqlTooLong, message).with(json!({ "limit": max_chars, "length": chars })));
    }
    if sql.trim().is_empty() {
        return Err(Error::invalid("sql", "The SQL is empty. Write one SELECT statement."));
    }
    if sql.contains('\0') {
        return Err(refused("text", "NUL", "The SQL contains a NUL character.", "Remove it."));
    }
    let mut depth = 0_usize;
    for c in sql.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            let message = format!("Brackets are nested deeper than {MAX_NESTING}.");
            return Err(refused("nesting", "brackets", &message, "Split the query with WITH."));
        }
    }
    Ok(())
}

fn refused(rule: &str, name: &str, message: &str, hint: &str) -> Error {
    Error::new(Code::ForbiddenSql, format!("{message} {hint}"))
        .with(json!({ "rule": rule, "name": name, "hint": hint }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters() {
        assert!(check(&"é".repeat(10), 10).is_ok());
        let refused = check(&"é".repeat(11), 10).unwrap_err();
        assert_eq!((refused.code, &refused.details["limit"]), (Code::SqlTooLong, &json!(10)));
    }

    #[test]
    fn nesting_counts_inside_strings_and_closing_alone_is_harmless() {
        let nest = |n: usize| format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n));
        assert!(check(&nest(64), 4096).is_ok());
        assert_eq!(check(&nest(65), 4096).unwrap_err().details["rule"], "nesting");
        assert_eq!(check(&format!("SELECT '{}'", "[".repeat(65)), 4096).unwrap_err().details["rule"], "nesting");
        assert!(check(&format!("SELECT '{}'", ")".repeat(500)), 4096).is_ok());
    }

    #[test]
    fn nothing_and_nul_are_refused() {
        assert_eq!(check(" \n", 10).unwrap_err().code, Code::InvalidArgument);
        assert_eq!(check("SELECT '\0'", 100).unwrap_err().details["rule"], "text");
    }
}
