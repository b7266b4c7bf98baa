//! How two datasets are joined, and what a join relies on: that its one side is one.

use crate::engine::ontology::graph::Step;
use crate::model::lineage::{ColumnPair, JoinUse};

use super::check::{Check, CheckKind, column_name};
use super::error::CompileError;
use super::work::Work;
use crate::model::source::quoted;

/// The columns that a step compares: those of the side it comes to, and those of the side it comes from.
pub(super) fn pairs(
    work: &Work<'_>,
    step: &Step,
    from_alias: &str,
    to_alias: &str,
) -> Result<Vec<(String, String)>, CompileError> {
    let relationship = work.relationship(step);
    let (from, to) = if step.forward {
        (&relationship.from_columns, &relationship.to_columns)
    } else {
        (&relationship.to_columns, &relationship.from_columns)
    };
    if from.is_empty() || from.len() != to.len() {
        return Err(CompileError::Unsupported(format!(
            "the relationship {} of the ontology has {} columns on one side and {} on the other",
            relationship.name,
            relationship.from_columns.len(),
            relationship.to_columns.len()
        )));
    }
    let mut pairs = Vec::with_capacity(from.len());
    for (from, to) in from.iter().zip(to) {
        let theirs = work.named(step.to, to_alias, to, &mut Vec::new())?;
        pairs.push((theirs, work.named(step.from, from_alias, from, &mut Vec::new())?));
    }
    Ok(pairs)
}

/// A condition that columns are equal pair by pair.
pub(super) fn equal(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(left, right)| format!("{left} = {right}")).collect::<Vec<_>>().join(" AND ")
}

impl Work<'_> {
    /// A step of the statement: it is named as a join, and its one side is checked to be one.
    pub(super) fn uses(&mut self, step: &Step) {
        if let Err(problem) = self.used(step) {
            self.checks.fail(problem);
        }
    }

    fn used(&mut self, step: &Step) -> Result<(), CompileError> {
        let relationship = self.relationship(step);
        let columns = relationship.from_columns.iter().zip(&relationship.to_columns);
        self.reads.join(JoinUse {
            left: relationship.from.clone(),
            right: relationship.to.clone(),
            relationship: relationship.name.clone(),
            on: columns.map(|(left, right)| ColumnPair { left: left.clone(), right: right.clone() }).collect(),
        });
        // The side that is met once: where the step leads to, or where it comes from.
        let back = self.graph.back(step);
        for side in [*step, back] {
            if !side.to_many {
                self.one_side(&side)?;
            }
        }
        Ok(())
    }

    fn one_side(&mut self, step: &Step) -> Result<(), CompileError> {
        let relationship = self.relationship(step);
        let columns = if step.forward { &relationship.to_columns } else { &relationship.from_columns };
        let keys = pairs(self, step, "x", "x")?.into_iter().map(|(key, _)| key).collect();
        self.unique(step.to, &columns.join(", "), keys)
    }

    /// The rows of a dataset are told apart by a key, where it is known.
    pub(super) fn unique(&mut self, dataset: usize, columns: &str, keys: Vec<String>) -> Result<(), CompileError> {
        let entity = self.entity(dataset);
        let check = format!("one_side:{}:{columns}", entity.name);
        if !self.checks.is_new(check.to_lowercase()) {
            return Ok(());
        }
        let table = self.table(dataset, "x")?;
        let (rows, distinct) = (self.checks.column(), self.checks.column());
        if let [key] = keys.as_slice() {
            self.checks.look_up(format!(
                "SELECT COUNT({key}) AS {}, COUNT(DISTINCT {key}) AS {} FROM {table}",
                column_name(rows),
                column_name(distinct)
            ));
        } else {
            let present = keys.iter().map(|key| format!("{key} IS NOT NULL")).collect::<Vec<_>>().join(" AND ");
            self.checks.look_up(format!("SELECT COUNT(*) AS {} FROM {table} WHERE {present}", column_name(rows)));
            let numbered: Vec<String> =
                keys.iter().enumerate().map(|(at, key)| format!("{key} AS {}", quoted(&format!("k{at}")))).collect();
            self.checks.look_up(format!(
                "SELECT COUNT(*) AS {} FROM (SELECT DISTINCT {} FROM {table} WHERE {present}) AS \"d\"",
                column_name(distinct),
                numbered.join(", ")
            ));
        }
        self.checks.list.push(Check {
            name: check,
            kind: CheckKind::OneSide { rows, keys: distinct },
            says: format!("each {} is there once by {columns}", entity.noun()),
        });
        Ok(())
    }

    /// Rows that come several times are told apart by their key, which must be one.
    pub(super) fn key_is_one(&mut self, dataset: usize) -> Result<(), CompileError> {
        let entity = self.entity(dataset);
        let key = if entity.primary_key.is_empty() { entity.unique_keys.first() } else { Some(&entity.primary_key) };
        let columns = key.map(Vec::as_slice).unwrap_or_default();
        let keys = columns.iter().map(|column| format!("\"x\".{}", quoted(column))).collect();
        self.unique(dataset, &columns.join(", "), keys)
    }
}
