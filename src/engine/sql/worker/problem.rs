//! The engine's errors in words of ours: its own texts name other tables, settings and paths.

use serde_json::{Value, json};

use crate::base::json;
use crate::engine::sql::guard::functions::{MAX_AMPLIFICATION, TOO_MUCH};
use crate::engine::sql::guard::habits;
use crate::engine::sql::worker::zones;
use crate::model::error::{Code, Error};

/// An error of the engine, taken apart. Needs the setting `errors_as_json`.
struct Report {
    class: String,
    message: String,
    fields: Value,
}

fn report(problem: &duckdb::Error) -> Report {
    let text = match problem {
        duckdb::Error::DuckDBFailure(_, Some(text)) => text.clone(),
        other => other.to_string(),
    };
    let fields: Value = text.find('{').and_then(|at| serde_json::from_str(&text[at..]).ok()).unwrap_or(Value::Null);
    let field = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let class = field("exception_type").or_else(|| text.split(" Error:").next().map(str::to_owned)).unwrap_or_default();
    let message = field("exception_message")
        .unwrap_or_else(|| text.split_once(" Error: ").map_or(text.clone(), |(_, message)| message.to_owned()));
    Report { class, message, fields }
}

/// What the caller of a query is told. Of a column that is not there the server says more, which knows all tables
/// (`engine/sql/missing.rs`).
pub(super) fn of_query(problem: &duckdb::Error) -> Error {
    if !matches!(problem, duckdb::Error::DuckDBFailure(..)) {
        let message = "The result has a type that cannot be returned. Convert it: CAST(… AS VARCHAR).";
        return Error::new(Code::InvalidArgument, message);
    }
    let Report { class, message, fields } = report(problem);
    let field = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = field("name");
    let invalid = |message: String, hint: &str| {
        Error::new(Code::InvalidArgument, format!("{message} {hint}").trim().to_owned())
            .with(json!({ "class": class.to_ascii_lowercase(), "name": name, "hint": hint }))
    };
    match class.as_str() {
        "INTERRUPT" | "Interrupt" => return too_slow(),
        "Out of Memory" => return out_of_memory(),
        "INTERNAL" | "Internal" | "FATAL" | "Fatal" | "IO" | "Permission" => {
            return Error { message, ..Error::new(Code::InternalError, "") };
        }
        _ => {}
    }
    if message.contains("max_execution_time") || message.contains("Interrupted") {
        return too_slow();
    }
    if message == TOO_MUCH {
        let message = format!("A function would make more than {MAX_AMPLIFICATION} characters or values at once.");
        return Error::new(Code::LimitExceeded, message)
            .with(json!({ "limit": "amplification", "count": MAX_AMPLIFICATION }));
    }
    if message.contains("Deprecated lambda arrow") {
        return invalid("Lambdas with an arrow are no longer supported.".into(), "Write: lambda x: x + 1.");
    }
    let over_zoned = [zones::UNRESOLVED, "Interval to Arrow", "cast (TIMESTAMP WITH TIME ZONE"];
    if over_zoned.iter().any(|words| message.contains(words)) {
        let hint =
            "Make it a plain time in UTC first: CAST(t AS TIMESTAMP); or in a place: t AT TIME ZONE 'Europe/Berlin'.";
        return invalid("This cannot be computed over a time with a zone.".into(), hint);
    }
    if message.contains("a timestamp that is not UTC") {
        let hint = "Give the time apart: TIMESTAMP '2024-01-01 10:00:00' AT TIME ZONE 'Europe/Berlin'.";
        return invalid("A text with the name of a time zone can be read only as a literal.".into(), hint);
    }
    if message.to_ascii_lowercase().contains("icu") && message.contains("xtension") {
        let hint = "Check the types of the arguments; leave COLLATE with a language out.";
        return invalid("No function or collation here fits this.".into(), hint);
    }
    let missing_column = match field("error_subtype") {
        "COLUMN_NOT_FOUND" => Some(name.to_owned()),
        _ => message
            .split("does not have a column named \"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .map(str::to_owned),
    };
    if let Some(missing) = missing_column {
        let message = format!("There is no column {missing} here.");
        if let Some(instead) = habits::column(&missing) {
            return invalid(message, instead);
        }
        let mut error = invalid(message, "Read the schema to see the columns.");
        json::put(&mut error.details, "missing_column", missing);
        json::put(&mut error.details, "candidates", field("candidates"));
        return error;
    }
    match field("error_subtype") {
        "MISSING_ENTRY" => {
            let hint = "Use DuckDB's built-in functions and types.";
            invalid(format!("There is no {} {name}.", field("type").to_ascii_lowercase()), hint)
        }
        "NO_MATCHING_FUNCTION" => {
            let hint = habits::call(&name.to_ascii_lowercase());
            let hint = hint.unwrap_or("Check the types of the arguments; CAST(… AS …) converts.");
            invalid(format!("No function fits the call {}.", field("call")), hint)
        }
        _ => match speakable(&message) {
            Some(sentence) => invalid(format!("{class} error: {sentence}"), ""),
            None => invalid(format!("The query failed with a {} error.", class.to_ascii_lowercase()), ""),
        },
    }
}

/// The query was interrupted at its deadline.
pub(super) fn too_slow() -> Error {
    Error::new(Code::QueryTimeout, "The query took longer than allowed. Read fewer rows or join less.")
}

/// The query, or the tables together, need more memory than allowed.
pub(super) fn out_of_memory() -> Error {
    Error::new(
        Code::LimitExceeded,
        "The query needs more memory than allowed. Filter or aggregate before joining and sorting.",
    )
    .with(json!({ "limit": "memory" }))
}

/// The first line of a message, when it speaks of nothing but the query: no advice, no settings, no paths.
fn speakable(message: &str) -> Option<String> {
    let line = message.lines().next()?.trim();
    let advice = ["Did you mean", "Candidate", "You might need", "Try ", "Use SET", "(See", "For more"];
    let end = advice.iter().filter_map(|start| line.find(start)).min().unwrap_or(line.len());
    let line = line[..end].trim().replace("memory.main.", "");
    let secret =
        ["SET ", "://", "duckdb.org", "database", "catalog", "schema", "extension", ".duckdb", "/work", "/tmp", "file"];
    let leaks = secret.iter().any(|word| line.to_ascii_lowercase().contains(&word.to_ascii_lowercase()));
    (!line.is_empty() && !leaks).then(|| line.chars().take(300).collect())
}

/// What the person who uploaded a file is told.
pub(super) fn of_import(problem: &duckdb::Error) -> Error {
    let Report { class, message, .. } = report(problem);
    if Error::is_disk_full(&message) {
        return Error { message, ..Error::new(Code::InternalError, "") };
    }
    if class == "Out of Memory" {
        return Error::new(Code::LimitExceeded, "The file needs more memory to read than allowed.");
    }
    let number = |before: &str| {
        let rest = message.split(before).nth(1)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    // The JSON reader counts the broken line or record already as read.
    let line = number("in line ")
        .map(|line| line.saturating_sub(1))
        .or_else(|| number("on Line: "))
        .or_else(|| number("Line: "));
    let record = number("in record/value ").map(|record| record.saturating_sub(1));
    let (details, place) = match (line, record) {
        (Some(line), _) => (json!({ "field": "file", "line": line }), format!(" at line {line}")),
        (None, Some(record)) => (json!({ "field": "file", "row": record }), format!(" at record {record}")),
        _ => (json!({ "field": "file" }), String::new()),
    };
    let text = message.lines().next().unwrap_or_default();
    let what = match text {
        text if text.contains("Malformed JSON") => "it is not valid JSON",
        text if text.contains("recursion depth") => "it is nested too deep",
        _ if message.contains("Maximum line size") => "a line is too long",
        text if text.to_ascii_lowercase().contains("parquet") || text.contains("magic bytes") => {
            "it is not a readable Parquet file"
        }
        text if message.contains("unicode") || text.contains("utf-8") => "it is not UTF-8 text",
        text if text.contains("sniffing") => "its rows do not have the same columns",
        text if class == "Conversion" || text.contains("cast") => "a value does not fit the type of its column",
        _ => "its format is not understood",
    };
    Error::new(Code::InvalidArgument, format!("The file cannot be imported{place}: {what}.")).with(details)
}
