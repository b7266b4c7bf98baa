//! The order of the answer's rows, and the first of them.

use std::collections::BTreeSet;

use crate::model::plan::{By, Limit, Order};

use super::block::Block;
use super::layer::{Layer, named};
use super::work::Work;

/// A column to order by.
pub(super) struct Key {
    pub column: String,
    descending: bool,
}

impl Key {
    pub(super) fn up(column: String) -> Self {
        Self { column, descending: false }
    }

    pub(super) fn sql(&self) -> String {
        format!("{}{} NULLS LAST", self.column, if self.descending { " DESC" } else { "" })
    }
}

/// The plan's order, and then every column that tells rows apart, so that equal questions have equal answers.
pub(super) fn order(work: &Work<'_>, layer: &Layer) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for order in &work.plan.order {
        keys.push(Key { column: ordered(work, layer, order), descending: order.descending });
    }
    keys.extend(layer.dims.iter().chain(&layer.ties).cloned().map(Key::up));
    if keys.is_empty() {
        keys.extend(layer.numbers.first().map(|(number, _)| Key::up(number.clone())));
    }
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert(key.column.clone()));
    keys
}

fn ordered(work: &Work<'_>, layer: &Layer, order: &Order) -> String {
    match order.by {
        By::Dimension(at) => layer.dim(at).to_owned(),
        By::Measure(at) => layer.filled(at),
        By::Difference(at) => layer.difference(at),
        By::Change(at) => layer.change(work, at),
    }
}

/// Keeps the first rows of each group, or all that are equal to the last of them.
pub(super) fn ranked(work: &mut Work<'_>, block: &Block, layer: Layer, limit: &Limit, order: &[Key]) -> Layer {
    let by: Vec<&str> = limit.per.iter().map(|at| layer.dim(*at)).collect();
    let by = if by.is_empty() { String::new() } else { format!("PARTITION BY {} ", by.join(", ")) };
    // Ties are rows that are equal in what was asked for, not in what makes the order total.
    let asked = if limit.with_ties { order.get(..1).unwrap_or(order) } else { order };
    let keys: Vec<String> = asked.iter().map(Key::sql).collect();
    let rank = if limit.with_ties { "RANK()" } else { "ROW_NUMBER()" };
    let place = format!("{rank} OVER ({by}ORDER BY {})", keys.join(", "));
    let (layer, places) = named(work, block, layer, "ranked", vec![place], &[]);
    let place = places.first().cloned().unwrap_or_default();
    let mut conditions = vec![format!("{place} <= {}", u64::from(limit.rows) + u64::from(limit.skip))];
    if limit.skip > 0 {
        conditions.push(format!("{place} > {}", limit.skip));
    }
    named(work, block, layer, "first_rows", Vec::new(), &conditions).0
}
