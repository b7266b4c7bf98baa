//! Answers that are given again. The files of tables never change, so that the very same statement over the very same
//! files gives the same rows, to everybody who sees these tables of the workspace and no others: charts of a page, models
//! that ask twice. Statements that read the clock or leave it to chance are computed each time.
//!
//! Who may ask learns from the time of an answer whether somebody who sees the same has asked it just before.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::warm::Bound;
use super::wire::{Rows, Tables, TaskLimits};
use crate::base::bounded::Bounded;

/// Most bytes of one answer's rows: a larger one costs more to read than to keep from being computed.
const PAYLOAD: usize = 256 << 10;

/// How long an answer is given again.
const LIFE: Duration = Duration::from_secs(600);

/// What an answer takes beside its rows and its statement, about.
const OVERHEAD: usize = 1 << 10;

/// A workspace, and a statement to its last byte.
type Key = (String, String);

/// An answer, and what it was computed from.
pub(super) struct Given {
    pub rows: Rows,
    /// As an Arrow stream.
    pub payload: Vec<u8>,
    tables: Tables,
    limits: TaskLimits,
    at: Instant,
}

/// Kept answers of a node; clones share them.
#[derive(Clone)]
pub(super) struct Known(Arc<Mutex<Bounded<Key, Arc<Given>>>>);

impl Known {
    /// With room for so many bytes; none keeps nothing.
    pub(super) fn new(room: usize) -> Self {
        Self(Arc::new(Mutex::new(Bounded::new(room))))
    }

    fn kept(&self) -> MutexGuard<'_, Bounded<Key, Arc<Given>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was given for this statement to somebody who sees the same, under the same limits.
    pub(super) fn find(&self, bound: &Bound, sql: &str, limits: &TaskLimits) -> Option<Arc<Given>> {
        let given = self.kept().get(&(bound.workspace.clone(), sql.to_owned()))?;
        let is_same = given.limits == *limits && given.tables == bound.tables;
        (is_same && given.at.elapsed() < LIFE).then_some(given)
    }

    /// Keeps an answer where it would be the same again.
    pub(super) fn keep(&self, bound: &Bound, sql: &str, limits: &TaskLimits, rows: &Rows, payload: &[u8]) {
        if !rows.is_lasting || payload.len() > PAYLOAD {
            return;
        }
        let bytes = payload.len() + sql.len() + OVERHEAD;
        // Giving it takes no time in the engine.
        let rows = Rows { judged_us: 0, execution_us: 0, ..rows.clone() };
        let (payload, tables, limits) = (payload.to_vec(), bound.tables.clone(), limits.clone());
        let given = Given { rows, payload, tables, limits, at: Instant::now() };
        self.kept().put((bound.workspace.clone(), sql.to_owned()), Arc::new(given), bytes);
    }

    /// Forgets what was computed from a file in this folder.
    pub(super) fn forget(&self, folder: &Path) {
        self.kept().retain(|_, given| !given.tables.iter().any(|table| table.file.starts_with(folder)));
    }
}
