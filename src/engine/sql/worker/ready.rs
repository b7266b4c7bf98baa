//! Statements that a worker has run, ready to be run again. What the judgement and the preparation of a statement depend
//! on is the text, the names and the columns of the caller's tables, and the settings: all but the text are the same for
//! all of a worker's life, whose tables never change. Where anything else has a part in it (the values of a `PIVOT`, a
//! failure, rows beyond a limit, other limits), the statement is judged anew.

use std::collections::VecDeque;

use duckdb::Connection;
use duckdb::arrow::datatypes::SchemaRef;

use crate::engine::sql::render::Shape;
use crate::engine::sql::wire::TaskLimits;

/// Most statements that are kept: each has a connection of its own.
const MOST: usize = 8;

/// Longest text, in bytes, of a statement that is kept, and of what was given for it.
const TEXT: usize = 8 << 10;
const PAYLOAD: usize = 256 << 10;

/// A statement that ran.
pub(super) struct Ready {
    /// As the caller wrote it, to the last byte.
    pub sql: String,
    pub limits: TaskLimits,
    /// As it ran.
    pub text: String,
    /// Tables that it reads, and the one that it describes.
    pub used: Vec<String>,
    pub described: Option<String>,
    pub is_lasting: bool,
    /// What its columns were, and must be again.
    pub schema: SchemaRef,
    pub shapes: Vec<Shape>,
    pub names: Vec<String>,
    /// Its own, in which it is prepared: nothing that it may leave there meets another statement.
    pub connection: Connection,
}

/// The statements of a worker, the most recently used last.
#[derive(Default)]
pub(super) struct Statements(VecDeque<Ready>);

impl Statements {
    /// Takes out the one of this very text under these limits.
    pub(super) fn take(&mut self, sql: &str, limits: &TaskLimits) -> Option<Ready> {
        let place = self.0.iter().rposition(|ready| ready.sql == sql && ready.limits == *limits)?;
        self.0.remove(place)
    }

    /// Keeps one that gave so many bytes, in the place of the least recently used.
    pub(super) fn keep(&mut self, ready: Ready, payload: usize) {
        // The engine's interface prepares a text without the spaces around it.
        let is_plain = ready.text.trim().len() == ready.text.len();
        if !is_plain || ready.sql.len().max(ready.text.len()) > TEXT || payload > PAYLOAD {
            return;
        }
        self.0.push_back(ready);
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }
}
