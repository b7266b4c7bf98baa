//! The workspace's audit log: a page to read, and the whole to take away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::{Millis, rfc3339};
use crate::base::csv;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::gateway::record::{Found, Wanted};
use crate::model::access::Role;
use crate::model::audit::Entry;
use crate::model::error::{Error, Result};

/// Entries on one page when nothing is said, and at most.
const PAGE: usize = 50;
const LONGEST: usize = 100;
/// Entries in one part of an export.
const PART: usize = 200;

/// Arguments of a page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAudit {
    /// From this moment on; RFC 3339.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub since: Option<String>,
    /// Before this moment; RFC 3339.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub until: Option<String>,
    /// Exactly: `user:<id>`, `token:<id>` or `local`.
    #[serde(default)]
    pub principal: Option<String>,
    /// How the action begins: `admin.`, `mcp.tool.call`.
    #[serde(default)]
    pub action: Option<String>,
    /// Exactly: `ok`, or an error's code.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Anywhere in an entry; upper and lower case are the same.
    #[serde(default)]
    pub text: Option<String>,
    /// Entries on the page: 1 to 100, 50 when absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = LONGEST))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before; absent for the newest.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// An entry of the log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditEntry {
    /// Counts the entries of the workspace from 1.
    pub seq: i64,
    /// RFC 3339.
    pub at: String,
    pub principal: String,
    pub client: String,
    pub client_version: String,
    pub session: String,
    pub ip: String,
    pub request_id: String,
    pub action: String,
    pub target: String,
    pub outcome: String,
    pub duration_ms: i64,
    pub rows: i64,
    pub bytes: i64,
    /// Requests that the entry stands for: refusals that repeat within a minute share one.
    pub count: i64,
}

impl From<(i64, Entry)> for AuditEntry {
    fn from((seq, entry): (i64, Entry)) -> Self {
        Self {
            seq,
            at: rfc3339(entry.at),
            principal: entry.principal,
            client: entry.client,
            client_version: entry.client_version,
            session: entry.session,
            ip: entry.ip,
            request_id: entry.request_id,
            action: entry.action,
            target: entry.target,
            outcome: entry.outcome,
            duration_ms: entry.duration_ms,
            rows: entry.rows,
            bytes: entry.bytes,
            count: entry.count,
        }
    }
}

/// A page, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Entries {
    /// May be fewer than asked for, even none, on a page that is not the last: a rare word is looked for part by part.
    pub entries: Vec<AuditEntry>,
    /// Present when older entries were not looked at yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for ListAudit {
    const INFO: Info = Info {
        name: "list_audit",
        title: "Read the audit log",
        description: "Returns who did what in the workspace, newest first, refusals included.",
        read_only: true,
        recorded_as: Some("admin.audit.list"),
        route: Route { method: "GET", path: "/audit" },
        ..Info::MANAGE
    };
    type Reply = Entries;

    fn target(&self) -> String {
        self.filters()
    }

    fn rows(reply: &Entries) -> usize {
        reply.entries.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Entries> {
        let limit = self.limit.map_or(Ok(PAGE), usize::try_from).unwrap_or(0);
        if !(1..=LONGEST).contains(&limit) {
            return Err(Error::invalid("limit", format!("limit is a number from 1 to {LONGEST}.")));
        }
        let (found, next_cursor) = self.find(on, job, limit).await?;
        Ok(Entries { entries: found.entries.into_iter().map(AuditEntry::from).collect(), next_cursor })
    }
}

impl ListAudit {
    async fn find(&self, on: &Parts, job: &Job<'_>, limit: usize) -> Result<(Found, Option<String>)> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let wanted = Wanted {
            since: moment("since", self.since.as_deref())?,
            until: moment("until", self.until.as_deref())?,
            principal: text(&self.principal),
            action: text(&self.action),
            outcome: text(&self.outcome),
            text: text(&self.text),
        };
        let scope = format!("{}:audit", job.pass.org());
        let before = super::position(on, &scope, self.cursor.as_deref())?.and_then(|position| position.parse().ok());
        let found = on.record.find(job.pass.org(), &wanted, before, limit).await?;
        let next = found.next.map(|seq| on.cursors.make(&scope, &seq.to_string()));
        Ok((found, next))
    }

    /// What was looked for, for the log itself.
    fn filters(&self) -> String {
        let fields = [
            ("since", &self.since),
            ("until", &self.until),
            ("principal", &self.principal),
            ("action", &self.action),
            ("outcome", &self.outcome),
            ("text", &self.text),
        ];
        let said = fields.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
        said.collect::<Vec<_>>().join(" ")
    }
}

fn moment(field: &str, text: Option<&str>) -> Result<Option<Millis>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let at = text.parse::<jiff::Timestamp>();
    let at = at.map_err(|_| Error::invalid(field, "Expected a moment such as 2026-11-21T22:07:48Z (RFC 3339)."))?;
    Ok(Some(at.as_millisecond()))
}

/// How an export is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// RFC 4180, with a line of names.
    Csv,
    /// One JSON object a line.
    Ndjson,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Csv, Format::Ndjson];

    /// The media type of such a file.
    pub fn media(self) -> &'static str {
        match self {
            Format::Csv => "text/csv; charset=utf-8",
            Format::Ndjson => "application/x-ndjson",
        }
    }
}

/// Arguments of one part of an export.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportAudit {
    pub format: Format,
    /// From this moment on; RFC 3339.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub since: Option<String>,
    /// Before this moment; RFC 3339.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    pub until: Option<String>,
    /// Exactly: `user:<id>`, `token:<id>` or `local`.
    #[serde(default)]
    pub principal: Option<String>,
    /// How the action begins: `admin.`, `mcp.tool.call`.
    #[serde(default)]
    pub action: Option<String>,
    /// Exactly: `ok`, or an error's code.
    #[serde(default)]
    pub outcome: Option<String>,
    /// Anywhere in an entry; upper and lower case are the same.
    #[serde(default)]
    pub text: Option<String>,
    /// Where a broken export goes on; absent for the newest.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// One part of an export.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    /// Whole lines, each with its end.
    pub content: String,
    pub count: usize,
    /// Present when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for ExportAudit {
    const INFO: Info = Info {
        name: "export_audit",
        title: "Export the audit log",
        description: "Writes the audit log, newest first, as CSV or as one JSON object a line.",
        read_only: true,
        sensitive: true,
        recorded_as: Some("admin.audit.export"),
        route: Route { method: "GET", path: "/audit/export" },
        ..Info::MANAGE
    };
    type Reply = Part;

    fn target(&self) -> String {
        self.listed().filters()
    }

    fn rows(reply: &Part) -> usize {
        reply.count
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Part> {
        // An export of many parts must not outlive the right to it.
        if let Some(user) = job.pass.user()
            && on.identity.role(job.pass.org(), user).await? != Some(Role::Admin)
        {
            return Err(Error::forbidden("not_an_admin", "You are not an admin of this workspace any more."));
        }
        let scope = format!("{}:audit", job.pass.org());
        let (found, mut next_cursor) = self.listed().find(on, job, PART).await?;
        let first = self.cursor.is_none() && self.format == Format::Csv;
        let mut content = if first { format!("{}\r\n", COLUMNS.join(",")) } else { String::new() };
        // In a reply the text is JSON again: half of what may leave is enough for the worst of it.
        let room = on.config.limits.budgets.reply_bytes / 2;
        let mut count = 0;
        let mut last = None;
        for (seq, entry) in found.entries {
            let line = line(self.format, (seq, entry).into())?;
            if let Some(last) = last
                && content.len() + line.len() > room
            {
                next_cursor = Some(on.cursors.make(&scope, &i64::to_string(&last)));
                break;
            }
            content.push_str(&line);
            count += 1;
            last = Some(seq);
        }
        Ok(Part { content, count, next_cursor })
    }
}

impl ExportAudit {
    fn listed(&self) -> ListAudit {
        ListAudit {
            since: self.since.clone(),
            until: self.until.clone(),
            principal: self.principal.clone(),
            action: self.action.clone(),
            outcome: self.outcome.clone(),
            text: self.text.clone(),
            limit: None,
            cursor: self.cursor.clone(),
        }
    }
}

const COLUMNS: [&str; 15] = [
    "seq", "at", "principal", "client", "client_version", "session", "ip", "request_id", "action", "target", "outcome",
    "duration_ms", "rows", "bytes", "count",
];

fn line(format: Format, entry: AuditEntry) -> Result<String> {
    if format == Format::Ndjson {
        return Ok(serde_json::to_string(&entry).map_err(Error::internal)? + "\n");
    }
    let numbers = [entry.duration_ms, entry.rows, entry.bytes, entry.count].map(|number| number.to_string());
    let texts = [
        &entry.at, &entry.principal, &entry.client, &entry.client_version, &entry.session, &entry.ip,
        &entry.request_id, &entry.action, &entry.target, &entry.outcome,
    ];
    let mut cells = vec![entry.seq.to_string()];
    cells.extend(texts.map(|text| cell(text)));
    cells.extend(numbers);
    Ok(cells.join(",") + "\r\n")
}

/// A cell of CSV. What a spreadsheet would run as a formula gets an apostrophe in front: names of clients and what
/// they asked are anybody's words.
fn cell(text: &str) -> String {
    let runs = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if runs { csv::cell(&format!("'{text}")) } else { csv::cell(text) }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        for (text, written) in [
            ("plain", "plain"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"\nthere", "\"say \"\"hi\"\"\nthere\""),
            ("=1+1", "'=1+1"),
            ("@x,y", "\"'@x,y\""),
            ("-", "'-"),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
