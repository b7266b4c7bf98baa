//! Which queries over an ontology can be asked: each is tried once, and what came of it kept.

use std::sync::{Mutex, PoisonError};

use jiff::civil::DateTime;

use super::Prepared;
use crate::base::bounded::Bounded;
use crate::engine::agent::compiler::compile;
use crate::engine::agent::query::read;
use crate::engine::ontology::graph::Graph;
use crate::model::ontology::Ontology;
use crate::model::query::Query;
use crate::model::source::Dialect;

/// Bytes of the queries that are kept.
const ROOM: usize = 64 << 10;

/// Queries as JSON, and whether they can be asked.
#[derive(Debug)]
pub(super) struct Tried(Mutex<Bounded<String, bool>>);

impl Default for Tried {
    fn default() -> Self {
        Self(Mutex::new(Bounded::new(ROOM)))
    }
}

#[cfg(test)]
impl Tried {
    /// How many queries are kept.
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size().0
    }
}

impl Prepared {
    /// Whether a query can be asked. `now` is a time of the ontology's zone.
    pub(in crate::engine::agent) fn runs(&self, query: &Query, now: DateTime) -> bool {
        let Ok(text) = serde_json::to_string(query) else { return false };
        let kept = || self.tried.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(&text);
        if let Some(runs) = known {
            return runs;
        }
        let runs = has_statement(query, &self.ontology, (&self.graph, self.dialect), now);
        let bytes = text.len();
        kept().put(text, runs, bytes);
        runs
    }
}

/// Whether there is a statement for a query.
pub(in crate::engine::agent) fn has_statement(
    query: &Query,
    ontology: &Ontology,
    (graph, dialect): (&Graph, Dialect),
    now: DateTime,
) -> bool {
    read(query, ontology, now).is_ok_and(|plan| compile(&plan, ontology, graph, dialect, 1).is_ok())
}
