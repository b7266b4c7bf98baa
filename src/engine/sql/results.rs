//! Results that are larger than a reply, kept for their next pages: for ten minutes, within bounds, and only as long as
//! whoever asked may still read every table of them in the very version that they were computed from.

use std::sync::{Arc, Mutex, PoisonError};

use super::Answer;
use super::rows::too_wide;
use crate::base::bounded::Bounded;
use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::base::json;
use crate::base::secret::{random_token, sha256};
use crate::model::access::Pass;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::source::Dialect;
use crate::model::table::{Column, RowText};

/// Most bytes of one result's rows, as JSON.
pub(super) const RESULT_BYTES: usize = 2 << 20;
/// Bytes of all kept results, and of those of a workspace.
const ROOM: usize = 64 << 20;
const ROOM_OF_WORKSPACE: usize = 16 << 20;
/// Bytes of a reply for the cursor, the limits and the names of its fields.
const ENVELOPE: usize = 1_024;
/// How long a result is kept.
const LIFE: Millis = 10 * 60 * 1_000;

/// Kept results of a node; clones share them.
#[derive(Clone)]
pub struct Results {
    kept: Arc<Mutex<Bounded<String, Arc<Kept>>>>,
    clock: Clock,
}

/// What all pages of a result say of it.
#[derive(Clone, Debug)]
pub struct Facts {
    pub columns: Vec<Column>,
    /// Whether there were more rows than may come back.
    pub truncated: bool,
    /// Rows that come back, on all pages together.
    pub rows: usize,
    pub execution_ms: u64,
    /// What the engine that ran it speaks.
    pub dialect: Dialect,
}

impl Facts {
    /// Bytes that a reply has for rows, beside what is said of them on every page.
    fn room(&self, reply_bytes: usize) -> Result<usize> {
        Ok(reply_bytes.saturating_sub(self.bytes()? + ENVELOPE))
    }

    /// Bytes of what is said on every page.
    fn bytes(&self) -> Result<usize> {
        json::size(&self.columns).map_err(Error::internal)
    }
}

/// Rows that did not fit into the first reply, and for whom they are.
struct Kept {
    org: Id<Org>,
    credential: String,
    /// SHA-256 of the statement: a cursor goes on with its own.
    statement: Vec<u8>,
    /// What it was computed from.
    sources: Vec<Source>,
    facts: Facts,
    /// Number of the first row here, from 0.
    first: usize,
    rows: Vec<RowText>,
    ends_at: Millis,
}

/// A table as whoever asked saw it.
struct Source {
    dataset: Id<Dataset>,
    version: Option<String>,
    /// Columns that were hidden from them.
    hidden: Vec<String>,
}

impl Source {
    fn of(table: &Dataset) -> Self {
        Self { dataset: table.id, version: table.version.clone(), hidden: table.hidden.clone() }
    }

    fn is_current(&self, pass: &Pass) -> bool {
        let same = |table: &Dataset| table.version == self.version && table.hidden == self.hidden;
        pass.dataset(self.dataset).is_ok_and(same)
    }
}

/// Rows of one reply.
pub struct Page {
    pub facts: Facts,
    pub rows: Vec<RowText>,
    /// Where the next page goes on; `None` on the last.
    pub next: Option<String>,
}

impl Results {
    pub fn new(clock: Clock) -> Self {
        Self { kept: Arc::new(Mutex::new(Bounded::new(ROOM))), clock }
    }

    /// The first page: as many rows as a reply of `reply_bytes` holds; the others are kept.
    ///
    /// # Errors
    /// `limit_exceeded` when the first row alone is larger.
    pub fn first(&self, pass: &Pass, sql: &str, answer: Answer<RowText>, reply_bytes: usize) -> Result<Page> {
        let Answer { table, execution_ms, used, dialect, judged_us: _ } = answer;
        let tables = super::estimate::named(pass.datasets(), &used);
        let (columns, truncated) = (table.columns, table.truncated);
        let facts = Facts { columns, truncated, rows: table.rows.len(), execution_ms, dialect };
        let room = facts.room(reply_bytes)?;
        let mut rows = table.rows;
        let first = fitting(&rows, room);
        if first == rows.len() {
            return Ok(Page { facts, rows, next: None });
        }
        if first == 0 {
            return Err(too_wide(Some(0), room));
        }
        let kept = rows.split_off(first);
        let sources = tables.iter().map(|table| Source::of(table)).collect();
        let kept = Kept {
            org: pass.org(),
            credential: pass.credential().to_owned(),
            statement: sha256(sql.as_bytes()),
            sources,
            facts: facts.clone(),
            first,
            rows: kept,
            ends_at: self.clock.now() + LIFE,
        };
        let id = self.keep(kept)?;
        Ok(Page { facts, rows, next: Some(format!("{id}:{first}")) })
    }

    /// A later page, from the position that the page before gave.
    ///
    /// # Errors
    /// `invalid_argument` for `cursor`, the same whether there never was such a result, it is over, it is another's or
    /// of another statement, or its data changed; `limit_exceeded` for a row that fits into no reply.
    pub fn next(&self, pass: &Pass, sql: &str, position: &str, reply_bytes: usize) -> Result<Page> {
        let (id, at) = position.split_once(':').ok_or_else(gone)?;
        let at: usize = at.parse().map_err(|_| gone())?;
        let now = self.clock.now();
        let kept = {
            let mut all = self.all();
            all.retain(|_, kept| kept.ends_at > now);
            all.get(&id.to_owned()).ok_or_else(gone)?
        };
        if (kept.org, kept.credential.as_str()) != (pass.org(), pass.credential())
            || kept.statement != sha256(sql.as_bytes())
        {
            return Err(gone());
        }
        if !kept.sources.iter().all(|source| source.is_current(pass)) {
            self.all().retain(|key, _| key != id);
            return Err(gone());
        }
        let room = kept.facts.room(reply_bytes)?;
        let rest = at.checked_sub(kept.first).and_then(|from| kept.rows.get(from..)).unwrap_or_default();
        let (rows, later) = rest.split_at(fitting(rest, room));
        if rows.is_empty() {
            return Err(if rest.is_empty() { gone() } else { too_wide(Some(at), room) });
        }
        let next = (!later.is_empty()).then(|| format!("{id}:{}", at + rows.len()));
        Ok(Page { facts: kept.facts.clone(), rows: rows.to_vec(), next })
    }

    /// Forgets every result that was computed from a dataset.
    pub fn forget(&self, org: Id<Org>, dataset: Id<Dataset>) {
        self.all().retain(|_, kept| kept.org != org || kept.sources.iter().all(|source| source.dataset != dataset));
    }

    fn keep(&self, kept: Kept) -> Result<String> {
        let id = random_token("").expose().to_owned();
        let (org, now) = (kept.org, self.clock.now());
        let rows: usize = kept.rows.iter().map(|row| row.get().len() + size_of::<RowText>()).sum();
        let bytes = rows + 2 * kept.facts.bytes()?;
        let mut all = self.all();
        all.retain(|_, kept| kept.ends_at > now);
        all.put(id.clone(), Arc::new(kept), bytes);
        all.shrink(ROOM_OF_WORKSPACE, |_, kept| kept.org == org);
        Ok(id)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Bounded<String, Arc<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many rows, from the first on, a reply has room for.
fn fitting(rows: &[RowText], mut room: usize) -> usize {
    let fits = |row: &&RowText| {
        let left = room.checked_sub(row.get().len() + 1);
        room = left.unwrap_or_default();
        left.is_some()
    };
    rows.iter().take_while(fits).count()
}

/// Whatever is wrong with a cursor.
pub fn gone() -> Error {
    Error::invalid("cursor", "This cursor goes on with no result that is still there. Run the query again, without it.")
}

#[cfg(test)]
mod tests;
