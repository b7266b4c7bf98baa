//! What somebody who helps needs to know, in one JSON file that its owner can read and look through before it leaves.
//! Nothing of data and of people is put into it, and lines of the log come without whose they are; what is known to be
//! secret, or looks like it, is taken out of the rest.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Finding, SEALED, State};
use crate::app::Office;
use crate::base::clock::{Clock, rfc3339};
use crate::base::secret::Secret;
use crate::config::{Config, Settings};
use crate::model::audit::Entry;
use crate::store;

const REDACTED: &str = "(redacted)";
/// Failures of each workspace that are looked for among its newest rows.
const NEWEST: i64 = 500;
const FAILURES: usize = 50;
/// Fields of log lines that tell of people: their addresses, and the lines of mails where no server sends them.
const PERSONAL: [&str; 5] = ["ip", "line", "peer", "subject", "to"];
/// Shorter values are no secrets, and are found everywhere.
const SHORTEST: usize = 6;

/// Writes it to a file that is not there yet.
///
/// # Errors
/// The file is there, or cannot be written.
pub(super) async fn write(
    file: &Path,
    findings: &[Finding],
    settings: &Settings,
    config: Option<&Config>,
    service: &Value,
) -> anyhow::Result<()> {
    let shown: serde_json::Map<String, Value> =
        settings.shown.iter().map(|setting| (setting.name.to_owned(), setting.value.as_str().into())).collect();
    let kernel = std::fs::read_to_string("/proc/version").unwrap_or_default();
    let can_be_opened = findings.iter().any(|finding| finding.what == SEALED && finding.state == State::Good);
    let failures = match config.filter(|_| can_be_opened) {
        Some(config) => failures(config).await,
        None => Value::Null,
    };
    let bundle = json!({
        "made_at": rfc3339(Clock::system().now()),
        "version": env!("CARGO_PKG_VERSION"),
        "platform": { "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "kernel": kernel.trim(),
            "processors": std::thread::available_parallelism().map_or(0, usize::from) },
        "findings": findings.iter().map(Finding::facts).collect::<Vec<_>>(),
        "settings": shown,
        "service": impersonal(service),
        "failures": failures,
    });
    let mut secrets: Vec<&str> = settings.secrets.iter().map(Secret::expose).collect();
    let key = config.and_then(|config| std::fs::read_to_string(config.data_dir.join("master.key")).ok());
    secrets.extend(key.as_deref().map(str::trim));
    let text = cleaned(&format!("{bundle:#}\n"), &secrets);
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let out = out.as_mut().map_err(|problem| anyhow::anyhow!("{}: {problem}; name a new file", file.display()))?;
    out.write_all(text.as_bytes()).with_context(|| format!("{} cannot be written", file.display()))
}

/// What failed last: when, what kind of thing, with what outcome. Not whose, and not what was asked.
async fn failures(config: &Config) -> Value {
    let found = async {
        let office = Office::open(config.clone(), Clock::system()).await?;
        let mut chains = vec![None];
        chains.extend(office.identity.list_orgs().await?.into_iter().map(|org| Some(org.id)));
        let mut failed: Vec<Entry> = Vec::new();
        for chain in chains {
            let newest = store::audit::newest(&office.db, chain, NEWEST).await?.into_iter();
            failed.extend(newest.map(|(_, entry)| entry).filter(|entry| entry.outcome != "ok"));
        }
        office.close().await;
        anyhow::Ok(failed)
    };
    match found.await {
        Ok(mut failed) => {
            failed.sort_by_key(|entry| std::cmp::Reverse(entry.at));
            failed.iter().take(FAILURES).map(told).collect()
        }
        Err(problem) => format!("{problem:#}").into(),
    }
}

fn told(entry: &Entry) -> Value {
    // The first word of a target is the operation; what follows may be anybody's.
    let operation = entry.target.split(' ').next().filter(|_| entry.action.ends_with(".call")).unwrap_or_default();
    json!({ "at": rfc3339(entry.at), "action": entry.action, "operation": operation, "outcome": entry.outcome,
        "duration_ms": entry.duration_ms, "times": entry.count, "request_id": entry.request_id })
}

/// What the service says of itself, with lines of its log that tell of nobody.
fn impersonal(service: &Value) -> Value {
    let mut service = service.clone();
    for line in service.get_mut("log").and_then(Value::as_array_mut).into_iter().flatten() {
        *line = line.as_str().map(nobodys).into();
    }
    service
}

/// A line of the log, in either format, without [`PERSONAL`] fields, and without the workspace in a path.
fn nobodys(line: &str) -> String {
    if let Ok(Value::Object(mut fields)) = serde_json::from_str(line) {
        fields.retain(|name, _| !PERSONAL.contains(&name.as_str()));
        if let Some(path) = fields.get_mut("path") {
            *path = path.as_str().map(anywhere).into();
        }
        return Value::Object(fields).to_string();
    }
    let (mut is_quoted, mut is_escaped) = (false, false);
    let parts = line.split(|c: char| {
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        c == ' ' && !is_quoted
    });
    let told = parts.filter(|part| !part.split_once('=').is_some_and(|(name, _)| PERSONAL.contains(&name)));
    let told = told.map(|part| if part.starts_with("path=") { anywhere(part) } else { part.to_owned() });
    told.collect::<Vec<_>>().join(" ")
}

/// A path without the workspace that it is in: `/w/…/datasets`, `/t/…/mcp`.
fn anywhere(path: &str) -> String {
    let mut before = "";
    let steps = path.split('/').map(|step| match std::mem::replace(&mut before, step) {
        "w" | "t" if step.ends_with('"') => "…\"",
        "w" | "t" => "…",
        _ => step,
    });
    steps.collect::<Vec<_>>().join("/")
}

/// A text without these secrets, and without what looks like a credential.
fn cleaned(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST) {
        // As it stands in JSON.
        let quoted = Value::from(*secret).to_string();
        text = text.replace(quoted.trim_matches('"'), REDACTED);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        clean.push_str(before);
        clean.push_str(if is_credential(word) { REDACTED } else { word });
        rest = after;
    }
    clean + rest
}

/// Tokens of ours by how they begin, and signed ones (RFC 7519) by their form.
fn is_credential(word: &str) -> bool {
    const BEGIN: [&str; 2] = ["dgmcp_", "sk-"];
    let begins = BEGIN.iter().any(|begin| word.len() > begin.len() + 8 && word.starts_with(begin));
    begins || (word.starts_with("eyJ") && word.split('.').count() == 3 && word.len() > 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log_tell_of_nobody() {
        let text =
            "2026-07-28T10:00:00Z  INFO dragoman::http: answered path=\"/w/acme/datasets\" status=200 ip=192.0.2.1";
        assert_eq!(
            nobodys(text),
            "2026-07-28T10:00:00Z  INFO dragoman::http: answered path=\"/w/…/datasets\" status=200"
        );
        assert_eq!(nobodys("answered path=\"/w/acme\" ms=1"), "answered path=\"/w/…\" ms=1");
        let mail =
            "2026  WARN mail: a line of the mail to=\"ann@example.com\" line=\"Hi \\\"Ann\\\", here=it is\" ok=true";
        assert_eq!(nobodys(mail), "2026  WARN mail: a line of the mail ok=true");
        let json =
            json!({ "message": "answered", "path": "/t/acme/mcp", "ip": "192.0.2.1", "status": 200 }).to_string();
        assert_eq!(nobodys(&json), json!({ "message": "answered", "path": "/t/…/mcp", "status": 200 }).to_string());
        let said = json!({ "version": "1", "log": ["x ip=192.0.2.1"] });
        assert_eq!(impersonal(&said), json!({ "version": "1", "log": ["x"] }));
        assert_eq!(impersonal(&Value::Null), Value::Null);
    }

    #[test]
    fn secrets_and_what_looks_like_one_are_taken_out() {
        let token = format!("dgmcp_AAAAAAAA_{}", "0".repeat(32));
        let signed = format!("eyJ{}.eyJ{}.{}", "a".repeat(20), "b".repeat(20), "c".repeat(20));
        let text =
            json!({ "a": "hunter2\"quoted", "b": format!("Bearer {token}, {signed}"), "c": "short", "d": "x/y" });
        let clean = cleaned(&text.to_string(), &["hunter2\"quoted", "x"]);
        assert!(!clean.contains("hunter2") && !clean.contains("dgmcp_AA") && !clean.contains(&signed), "{clean}");
        let read: Value = serde_json::from_str(&clean).unwrap();
        assert_eq!((&read["c"], &read["d"]), (&json!("short"), &json!("x/y")));
        assert_eq!(read["b"], "Bearer (redacted), (redacted)");
    }
}
