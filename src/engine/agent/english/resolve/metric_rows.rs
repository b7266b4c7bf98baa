//! Rows that numbers are booked on: a metric adds up or averages a field of them, and they are called by its name.

use crate::engine::agent::english::lexicon::words;
use crate::model::ontology::{Metric, Ontology};
use crate::model::plan::{Condition, FieldRef};

/// The field whose values a metric adds up or averages, with the metric's own conditions, where its rows are called by
/// these words.
pub(in super::super) fn rows(metric: &Metric, said: &str, ontology: &Ontology) -> Option<(FieldRef, Vec<Condition>)> {
    let (function, dataset, field) = super::super::compose::single(&metric.expression)?;
    let mut filters = Vec::new();
    let mut rows = vec![dataset.clone()];
    for filter in &metric.filters {
        let (name, negated) = match filter.trim().strip_suffix(" IS NOT NULL") {
            Some(name) => (name, true),
            None => (filter.trim().strip_suffix(" IS NULL")?, false),
        };
        let (of, name) = name.trim().split_once('.')?;
        ontology.field(of, name)?;
        filters.push(Condition::IsNull { field: FieldRef::new(of, name), negated });
        rows.push(of.to_owned());
    }
    let said = words::split(said).iter().map(|word| words::singular(word)).collect::<Vec<_>>().join(" ");
    let called = rows.iter().any(|row| ontology.entity(row).is_some_and(|row| row.noun().to_lowercase() == said));
    (called && matches!(function.as_str(), "sum" | "avg")).then(|| (FieldRef::new(dataset, field), filters))
}
