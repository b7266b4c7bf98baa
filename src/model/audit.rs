//! One row an answer, or for refusals that repeat: what the record keeps of a call, and how rows are chained.

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::model::org::Org;

/// Characters of SQL or text that an entry keeps.
pub const TEXT_LIMIT: usize = 500;
/// Bytes of an entry's canonical JSON.
pub const MOST_BYTES: usize = 4 << 10;

/// An entry before it is chained. No secret, no row content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Millis,
    /// The workspace; entries about no workspace (a failed log-in) have none and chain among themselves.
    pub org: Option<Id<Org>>,
    /// `user:<id>`, `token:<id>`, `local`, or empty when nobody was proven.
    pub principal: String,
    pub client: String,
    pub client_version: String,
    pub session: String,
    pub ip: String,
    pub request_id: String,
    /// `mcp.tool.call`, `mcp.resource.read`, `rest.call`, `oauth.token`, `login.password`, `admin.…`
    pub action: String,
    /// What it was about: a tool, a dataset, a client; SQL cut to [`TEXT_LIMIT`] characters.
    pub target: String,
    /// `ok`, or an error's code.
    pub outcome: String,
    pub duration_ms: i64,
    pub rows: i64,
    pub bytes: i64,
    /// Requests that this entry stands for: refusals that repeat share one. Left out of the canonical form when it is 1,
    /// as entries before there was a count.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: i64,
}

fn one() -> i64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &i64) -> bool {
    *count == 1
}

impl Entry {
    /// SHA-256 over the previous hash and the entry's canonical JSON: changing, moving or dropping a row breaks every
    /// later hash of the workspace.
    pub fn hash(&self, seq: i64, previous: &str) -> String {
        chained(seq, previous, &self.canonical())
    }

    /// Within [`MOST_BYTES`]: what others wrote in it is cut at a character, the longest of it first.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        while let over @ 1.. = self.canonical().len().saturating_sub(MOST_BYTES) {
            let written = [&mut self.principal, &mut self.client, &mut self.client_version, &mut self.target];
            let Some(longest) = written.into_iter().max_by_key(|text| text.len()) else { break };
            let cut = over.min(longest.len().div_ceil(2)).max(1);
            longest.truncate(longest.floor_char_boundary(longest.len().saturating_sub(cut)));
        }
        self
    }

    /// The JSON that is stored and hashed.
    pub fn canonical(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The hash of an entry's canonical JSON after the previous hash.
pub fn chained(seq: i64, previous: &str, canonical: &str) -> String {
    sha256_hex(format!("{seq}\n{previous}\n{canonical}").as_bytes())
}

/// Cuts a text for an entry, at a character.
pub fn clip(text: &str) -> String {
    text.chars().take(TEXT_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_at_most_four_kilobytes_whatever_is_written_in_it() {
        for letter in ["a", "ü", "語", "𝄞", "\"", "\u{1}"] {
            let text = clip(&letter.repeat(1_000));
            let entry: Entry = serde_json::from_value(serde_json::json!({
                "at": 1, "org": null, "principal": "", "client": text, "client_version": text, "session": "s",
                "ip": "192.0.2.1", "request_id": "r", "action": "rest.call", "target": text, "outcome": "ok",
                "duration_ms": 1, "rows": 0, "bytes": 0,
            }))
            .unwrap();
            let whole = entry.canonical().len();
            let bounded = entry.clone().bounded();
            assert!(bounded.canonical().len() <= MOST_BYTES, "{letter}");
            assert_eq!(bounded == entry, whole <= MOST_BYTES, "{letter}: only what is too long is cut");
            assert!(
                bounded.canonical().len() > MOST_BYTES / 2 || bounded == entry,
                "{letter}: not far more than needed"
            );
            assert!(entry.target.starts_with(&bounded.target) && !bounded.target.is_empty(), "{letter}");
        }
    }
}
