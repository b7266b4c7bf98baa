//! Retrieval for agents that search on their own: searches tell where a passage is and how well it fits, and content is
//! read by its id. All are over the documents datasets that the caller may see, and one call answers with one page.

pub mod admin_stats;
pub mod admin_sync;
pub mod fetch_from_source;
mod filters;
pub mod get_chunks;
pub mod get_docs;
pub mod hits;
pub mod search_fts;
pub mod search_hybrid;
pub mod search_vector;

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::whole_millis;
use crate::base::json;
use crate::base::secret::sha256_hex;
use crate::engine::job::Job;
use crate::engine::search::retrieve::REACH;
use crate::gateway::operation::{Info, Parts, Route, Toolset};
use crate::model::access::Action;
use crate::model::dataset::Kind;
use crate::model::error::{Error, Result};

/// Bytes of a query, and the most results of a page.
const QUERY_BYTES: usize = 8_192;
const MOST: u32 = 50;
/// Ids in one call.
const IDS: usize = 50;

/// What most of these operations have in common.
const TOOL: Info =
    Info { action: Action::Search, toolsets: &[Toolset::Rag], route: Route { method: "POST", path: "" }, ..Info::READ };

fn ten() -> u32 {
    10
}

fn yes() -> bool {
    true
}

/// How a call went.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Stats {
    /// Of a hybrid search: how both legs were brought together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k_requested: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k_returned: Option<usize>,
    /// Milliseconds.
    pub ms: u64,
}

impl Stats {
    fn since(began: Instant) -> Self {
        let ms = whole_millis(began.elapsed());
        Self { mode: None, k_requested: None, k_returned: None, ms }
    }
}

/// A query's words, as long as they may be.
fn checked(field: &str, query: &str) -> Result<String> {
    let query = query.trim();
    if query.is_empty() || query.len() > QUERY_BYTES {
        let message = format!("{field} must have 1 to {QUERY_BYTES} bytes; this has {}.", query.len());
        return Err(Error::invalid(field, message));
    }
    Ok(query.to_owned())
}

/// Results of a page.
fn checked_k(k: u32, begin: &Begin<'_>) -> Result<()> {
    if !(1..=MOST).contains(&k) {
        return Err(Error::invalid("k", format!("k is a number from 1 to {MOST}.")));
    }
    if begin.offset.is_some_and(|offset| offset as usize >= REACH) {
        return Err(Error::invalid("offset", format!("Results go to {REACH}. Narrow the search by filters.")));
    }
    if begin.cursor.is_some() && begin.offset.is_some() {
        return Err(Error::invalid("offset", "Give a cursor or an offset, not both."));
    }
    Ok(())
}

/// Ids of a call.
fn checked_ids<'a>(field: &str, ids: &'a [String]) -> Result<Vec<&'a str>> {
    if ids.is_empty() || ids.len() > IDS {
        let message = format!("{field} names 1 to {IDS} of them; these are {}.", ids.len());
        return Err(Error::invalid(field, message));
    }
    let mut once: Vec<&str> = Vec::new();
    for id in ids.iter().map(|id| id.trim()) {
        if !once.contains(&id) {
            once.push(id);
        }
    }
    Ok(once)
}

/// Whether there is anything to search, in words for who finds nothing.
fn note(job: &Job<'_>) -> Option<&'static str> {
    let has_documents = job.pass.datasets().iter().any(|dataset| dataset.kind == Kind::Documents);
    (!has_documents).then_some("There are no documents here: none is imported, or none published to AI clients.")
}

/// Which page of which listing, over which data. A cursor is of one query over one state of the data: pages of two
/// would miss or repeat results.
struct Page {
    scope: String,
    versions: String,
    offset: usize,
}

/// Where a page begins.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Begin<'a> {
    cursor: Option<&'a str>,
    offset: Option<u32>,
}

impl Page {
    /// `asked` is everything that decides on the order of the results.
    fn of(on: &Parts, job: &Job<'_>, name: &str, asked: &Value, begin: Begin<'_>) -> Result<Self> {
        let asked = sha256_hex(asked.to_string().as_bytes());
        let scope = format!("{}:{name}:{asked}", job.pass.org());
        let versions = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Documents);
        let versions: Vec<_> = versions.map(|dataset| (dataset.id, &dataset.version)).collect();
        let versions = sha256_hex(serde_json::to_string(&versions).map_err(Error::internal)?.as_bytes());
        let versions = versions.get(..16).unwrap_or_default().to_owned();
        let mut offset = begin.offset.unwrap_or(0) as usize;
        if let Some(position) = crate::ops::position(on, &scope, begin.cursor)? {
            let (at, of) = position.split_once('.').unwrap_or_default();
            if of != versions {
                return Err(changed());
            }
            offset = at.parse().map_err(Error::internal)?;
        }
        Ok(Self { scope, versions, offset })
    }

    /// The cursor of the page after so many results of this one; none where results end.
    fn next(&self, on: &Parts, shown: usize) -> Option<String> {
        let at = self.offset + shown;
        (at < REACH && shown > 0).then(|| on.cursors.make(&self.scope, &format!("{at}.{}", self.versions)))
    }
}

/// Why a cursor goes on nowhere.
fn changed() -> Error {
    Error::invalid("cursor", "The documents have changed since this cursor was made. Start without a cursor.")
}

/// How many of the first items leave room for the rest of a reply.
fn fitting<T: Serialize>(job: &Job<'_>, items: &[T]) -> Result<usize> {
    let room = room(job);
    let mut bytes = 0;
    for (at, item) in items.iter().enumerate() {
        bytes += json::size(item).map_err(Error::internal)? + 1;
        if bytes > room {
            return Ok(at);
        }
    }
    Ok(items.len())
}

/// Bytes of a reply's content.
fn room(job: &Job<'_>) -> usize {
    job.budget.reply_bytes * 3 / 4
}
