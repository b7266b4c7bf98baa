//! Reading the audit log of one workspace, newest first. It is written by `audit.rs`, and what a row keeps is said in
//! `model/audit.rs`.

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::audit::Entry;
use crate::model::error::Result;
use crate::model::org::Org;
use crate::store::Db;
use crate::store::audit::{self, Range};

/// Rows read at once.
const CHUNK: i64 = 500;
/// Most rows that one call looks at: a rare word in a long log costs several calls, not one endless one.
const SCAN: i64 = 20_000;

/// The audit log's reader.
#[derive(Clone, Debug)]
pub struct Record {
    db: Db,
}

/// Which entries are wanted; empty texts and `None` ask for all.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// From this moment on.
    pub since: Option<Millis>,
    /// Before this moment.
    pub until: Option<Millis>,
    /// Exactly: `user:<id>`, `token:<id>`, `local`.
    pub principal: String,
    /// How the action begins: `admin.`, `mcp.tool.call`.
    pub action: String,
    /// Exactly: `ok`, or an error's code.
    pub outcome: String,
    /// Anywhere in what an entry says; upper and lower case are the same.
    pub text: String,
}

/// Entries with their numbers, and where to go on.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub entries: Vec<(i64, Entry)>,
    /// Number of the last row that was looked at; `None` when the log was read to its beginning.
    pub next: Option<i64>,
}

impl Record {
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// The newest `looked` entries about no workspace: who knocked without a credential, and who came to approve a client
    /// before there was a workspace.
    ///
    /// # Errors
    /// The database fails.
    pub async fn of_nobody(&self, looked: i64) -> Result<Vec<Entry>> {
        let rows = audit::newest(&self.db, None, looked).await?;
        Ok(rows.into_iter().map(|(_, entry)| entry).collect())
    }

    /// At most `limit` wanted entries of a workspace that are older than `before`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn find(&self, org: Id<Org>, wanted: &Wanted, before: Option<i64>, limit: usize) -> Result<Found> {
        let text = wanted.text.to_lowercase();
        let mut found = Found::default();
        let mut before = before.unwrap_or(i64::MAX);
        let mut looked = 0;
        while looked < SCAN {
            let range = Range {
                before,
                since: wanted.since.unwrap_or(Millis::MIN),
                until: wanted.until.unwrap_or(Millis::MAX),
                action: &wanted.action,
                outcome: &wanted.outcome,
            };
            let rows = audit::range(&self.db, org, &range, CHUNK).await?;
            let last = i64::try_from(rows.len()).unwrap_or(CHUNK) < CHUNK;
            for (seq, entry) in rows {
                before = seq;
                looked += 1;
                let by_them = wanted.principal.is_empty() || entry.principal == wanted.principal;
                if by_them && says(&entry, &text) {
                    found.entries.push((seq, entry));
                    if found.entries.len() == limit {
                        found.next = Some(seq);
                        return Ok(found);
                    }
                }
            }
            if last {
                return Ok(found);
            }
        }
        found.next = Some(before);
        Ok(found)
    }
}

/// Whether an entry says `text`, which is in lower case.
fn says(entry: &Entry, text: &str) -> bool {
    let fields = [
        &entry.principal, &entry.client, &entry.session, &entry.ip, &entry.request_id, &entry.action, &entry.target,
        &entry.outcome,
    ];
    text.is_empty() || fields.iter().any(|field| field.to_lowercase().contains(text))
}
