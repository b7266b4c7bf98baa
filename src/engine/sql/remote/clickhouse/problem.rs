//! What goes wrong on the server, in the words of this service.
//! <https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp>

use crate::model::error::{Code, Error};

/// The number in `Code: 62. DB::Exception: …`, wherever it stands in a text.
pub(super) fn code(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("Code: ")?;
    let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
    if rest[digits.len()..].starts_with(". DB::") { digits.parse().ok() } else { None }
}

pub(super) fn of(code: u32, text: &str) -> Error {
    match code {
        // TIMEOUT_EXCEEDED, TOO_SLOW, QUERY_WAS_CANCELLED
        159 | 160 | 394 => timeout(),
        // MEMORY_LIMIT_EXCEEDED, TOO_MANY_ROWS, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES, SET_SIZE_LIMIT_EXCEEDED
        241 | 158 | 307 | 396 | 191 => {
            let message = "The query needs more memory than it may use. Read fewer rows or columns, or aggregate.";
            Error::new(Code::LimitExceeded, message)
        }
        // READONLY, ACCESS_DENIED, AUTHENTICATION_FAILED, SETTING_CONSTRAINT_VIOLATION, UNKNOWN_USER, QUOTA_EXCEEDED
        164 | 497 | 516 | 452 | 192 | 201 => {
            tracing::warn!(code, "a ClickHouse server refused the login or a setting");
            let message = "The server of this table refused the login of its source, or what the login asked for. Ask an \
                           admin to check the source.";
            Error::unavailable(message)
        }
        // TOO_MANY_SIMULTANEOUS_QUERIES, NETWORK_ERROR and what lies on the way to other servers
        202 | 210 | 209 | 279 | 999 => {
            Error::unavailable("The server of this table is busy or cut off. Try again in a moment.")
        }
        _ => Error::invalid("sql", format!("ClickHouse: {}", words(text))),
    }
}

pub(super) fn timeout() -> Error {
    Error::new(Code::QueryTimeout, "The query took too long and was stopped. Read fewer rows, or aggregate.")
}

/// The sentence in an error's text, without its code, the version behind it and the words expected instead.
fn words(text: &str) -> String {
    let text = text.split_once("DB::Exception: ").map_or(text, |(_, rest)| rest);
    let text = text.split(" (version ").next().unwrap_or_default();
    let text = text.split(". Expected one of").next().unwrap_or_default();
    let text = text.split(": While processing").next().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_the_codes_of_this_service() {
        let text =
            "Code: 62. DB::Exception: Syntax error: failed at position 8 ('x'). Expected one of: a, b. (SYNTAX_ERROR)";
        assert_eq!(code(text), Some(62));
        let error = of(62, text);
        assert_eq!(error.code, Code::InvalidArgument);
        assert_eq!(error.message, "ClickHouse: Syntax error: failed at position 8 ('x')");
        assert_eq!(code("Code: 62 is a nice number"), None);
        for (number, code) in [
            (159, Code::QueryTimeout),
            (241, Code::LimitExceeded),
            (497, Code::ServiceUnavailable),
            (202, Code::ServiceUnavailable),
            (47, Code::InvalidArgument),
        ] {
            assert_eq!(of(number, "Code: 1. DB::Exception: x").code, code, "{number}");
        }
    }
}
