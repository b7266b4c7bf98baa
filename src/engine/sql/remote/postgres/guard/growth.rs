//! How much a planner may have to write out. PostgreSQL puts the expressions of a subquery in the place of its columns:
//! `c || c` over `c || c` over … doubles at each level. It does so before any of its own limits are looked at: two dozen
//! levels take gigabytes, and neither `statement_timeout` nor a cancellation ends them.

use std::collections::HashMap;

use crate::engine::sql::guard::{Refusal, Verdict};

/// Copies of one expression; each takes about two kilobytes while it is planned.
const MAX_COPIES: usize = 20_000;

/// One query, while it is walked.
#[derive(Default)]
pub(super) struct Level {
    /// How often each name of a column is written in it.
    columns: HashMap<String, usize>,
    /// The copies that its inputs make; 0 where these are tables.
    input: usize,
}

impl Level {
    pub(super) fn column(&mut self, name: &str) {
        *self.columns.entry(name.to_owned()).or_default() += 1;
    }

    /// What a query, or a part of `WITH`, in its `FROM` makes.
    pub(super) fn reads(&mut self, copies: usize) {
        self.input = self.input.max(copies);
    }

    /// A query inside an expression may write the columns of the one around it.
    pub(super) fn holds(&mut self, inner: Level) {
        for (name, count) in inner.columns {
            *self.columns.entry(name).or_default() += count;
        }
    }

    /// How many copies of its inputs' expressions it makes for the query around it.
    ///
    /// # Errors
    /// Too many.
    pub(super) fn copies(&self) -> Verdict<usize> {
        let written = self.columns.values().copied().max().unwrap_or(1);
        let copies = if self.input == 0 { 1 } else { written.saturating_mul(self.input) };
        if copies <= MAX_COPIES {
            return Ok(copies);
        }
        let message = "The same columns are written again and again in queries over queries: planning it could take \
                       without end.";
        Err(Refusal::new("planner", "columns", message, "Write AS MATERIALIZED in a WITH part between them."))
    }
}
