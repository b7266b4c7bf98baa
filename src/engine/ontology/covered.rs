//! How far an ontology may be seen.

use std::collections::{BTreeMap, HashSet};

use super::visible::restricted;
use super::withheld::without;
use crate::model::access::Pass;
use crate::model::dataset::Dataset;
use crate::model::ontology::Ontology;

/// The tables that a pass covers: their names in lower case, and the columns that are hidden from who holds it.
pub(super) struct Covered {
    tables: HashSet<String>,
    hidden: BTreeMap<String, Vec<String>>,
}

impl Covered {
    pub(super) fn by(pass: &Pass) -> Self {
        let name = |dataset: &Dataset| dataset.name.to_ascii_lowercase();
        let tables = pass.datasets().iter().map(name).collect();
        let hides = pass.datasets().iter().filter(|dataset| pass.is_external() && !dataset.hidden.is_empty());
        let hidden = hides.map(|dataset| (name(dataset), dataset.hidden.clone())).collect();
        Self { tables, hidden }
    }

    pub(super) fn has(&self, table: &str) -> bool {
        self.tables.contains(&table.to_ascii_lowercase())
    }

    /// Whether they are all that an ontology reads, and no column of them is hidden.
    pub(super) fn has_all(&self, of: &Ontology) -> bool {
        of.datasets.iter().all(|entity| self.has(entity.table()) && !self.hides(entity.table()))
    }

    /// Whether columns of a table are hidden.
    fn hides(&self, table: &str) -> bool {
        self.hidden.contains_key(&table.to_ascii_lowercase())
    }

    /// What of an ontology rests on these tables, and on no hidden column.
    pub(super) fn part(&self, of: &Ontology) -> Ontology {
        let whole = of.datasets.iter().all(|entity| self.has(entity.table()));
        let part = if whole { of.clone() } else { restricted(of, |table| self.has(table)) };
        if self.hidden.is_empty() { part } else { without(&part, &self.hidden) }
    }
}
