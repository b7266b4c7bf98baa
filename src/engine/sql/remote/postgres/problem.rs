//! What a server reports, as callers and admins understand it.

use std::time::Duration;

use serde_json::json;

use super::{ServerError, Trouble};
use crate::model::error::{Code, Error};

/// Characters of a server's message that are passed on.
const LONGEST: usize = 400;

/// The refusal of a query that took too long.
pub(super) fn too_slow(time: Duration) -> Error {
    let message = format!(
        "The query was stopped: it did not end within {:.0} s. Filter earlier, aggregate, or read fewer rows.",
        time.as_secs_f64().ceil()
    );
    Error::new(Code::QueryTimeout, message).with(json!({ "limit": "time" }))
}

/// `step` says to a program what the message says to a person: `connect`, `tls`, `login`, `protocol`.
fn unavailable(step: &str, message: impl Into<String>) -> Error {
    Error::new(Code::SourceUnavailable, message).with(json!({ "step": step }))
}

/// An error for what ended a session.
pub(super) fn error(trouble: Trouble, time: Duration) -> Error {
    match trouble {
        Trouble::Unreached(problem) => unavailable(
            "connect",
            format!("The server cannot be reached: {}. Look at host, port and firewall.", reason(&problem)),
        ),
        Trouble::Lost(problem) => {
            tracing::debug!(%problem, "a connection to a source was lost");
            let message = "The connection to the server was lost. Try again in a moment.";
            unavailable("connect", message).retry_after(1)
        }
        Trouble::Tls(problem) => unavailable(
            "tls",
            format!(
                "No secure connection (TLS) to the server: {problem}. Its certificate must name the host and come from \
                 a known authority, or from the one whose certificate is given with the source."
            ),
        ),
        Trouble::Login(why) => unavailable("login", format!("The server does not let this login in: {why}.")),
        Trouble::RowTooLong => {
            let message = "A single row is larger than a reply. Select fewer columns, or shorten texts: left(c, 200).";
            Error::new(Code::LimitExceeded, message).with(json!({ "limit": "bytes" }))
        }
        Trouble::Odd(what) => {
            let message = format!("The server does not behave as a PostgreSQL server does: it sent {what}.");
            unavailable("protocol", message)
        }
        Trouble::Told(error) => error,
        Trouble::Refused(error) => refused(&error, time),
    }
}

fn reason(problem: &std::io::Error) -> &'static str {
    match problem.kind() {
        std::io::ErrorKind::ConnectionRefused => "nothing listens at this address",
        std::io::ErrorKind::TimedOut => "it does not answer",
        std::io::ErrorKind::HostUnreachable | std::io::ErrorKind::NetworkUnreachable => "there is no way to it",
        _ => "the connection failed",
    }
}

/// By the classes of PostgreSQL's error codes.
fn refused(error: &ServerError, time: Duration) -> Error {
    let said: String = error.message.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    let details = json!({ "sqlstate": error.code });
    let invalid = |message: String| Error::new(Code::InvalidArgument, message).with(details.clone());
    let class = error.code.get(..2).unwrap_or_default();
    match (error.code.as_str(), class) {
        ("57014", _) => too_slow(time),
        ("28P01" | "28000", _) => {
            unavailable("login", format!("The server does not let this login in: {said}. Look at user and password."))
        }
        ("3D000", _) => unavailable("login", format!("The server says: {said}. Look at the address.")),
        ("42501", _) => {
            let message = format!(
                "The login of this source may not read what the query needs ({said}). An admin of the workspace can \
                 refresh the source."
            );
            unavailable("privilege", message)
        }
        ("25006" | "2F004" | "38004", _) => {
            let message = format!("Only reading is possible: {said}.");
            Error::new(Code::ForbiddenSql, message).with(json!({ "rule": "read_only", "sqlstate": error.code }))
        }
        ("53200" | "53400" | "54000" | "54001", _) | (_, "54") => {
            let message = format!("The query needs more than the server gives it: {said}. Filter or aggregate first.");
            Error::new(Code::LimitExceeded, message).with(json!({ "limit": "memory", "sqlstate": error.code }))
        }
        (_, "08" | "53" | "55" | "57" | "58" | "XX" | "F0") => {
            let message = format!("The server cannot answer now: {said}. Try again in a moment.");
            Error::new(Code::SourceUnavailable, message).with(details).retry_after(1)
        }
        _ => invalid(format!("The server says: {said}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_reports_is_told_by_its_kind() {
        let told = |code: &str| {
            let error = ServerError { code: code.into(), message: "said\n so".into() };
            refused(&error, Duration::from_millis(9_800))
        };
        for (code, expected) in [
            ("57014", Code::QueryTimeout),
            ("28P01", Code::SourceUnavailable),
            ("42501", Code::SourceUnavailable),
            ("25006", Code::ForbiddenSql),
            ("53200", Code::LimitExceeded),
            ("54001", Code::LimitExceeded),
            ("53300", Code::SourceUnavailable),
            ("57P01", Code::SourceUnavailable),
            ("XX000", Code::SourceUnavailable),
            ("42703", Code::InvalidArgument),
            ("22012", Code::InvalidArgument),
            ("", Code::InvalidArgument),
            ("é", Code::InvalidArgument),
        ] {
            assert_eq!(told(code).code, expected, "{code}");
        }
        assert!(told("57014").message.contains("within 10 s"));
        assert_eq!(told("42703").message, "The server says: said so.");
    }
}
