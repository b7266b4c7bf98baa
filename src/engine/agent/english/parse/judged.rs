//! The best and the worst of a field.

use crate::engine::agent::english::lexicon::Sense;

use super::super::sketch::NounAt;
use super::Parser;

impl Parser<'_> {
    /// Whether more of a field is better, where the metrics of it say so.
    pub(super) fn more_is_better(&self, noun: NounAt) -> Option<bool> {
        let named = |metric: &&crate::model::ontology::Metric| {
            self.sketch.nouns[noun].entries.iter().any(|entry| {
                let Sense::Field(d, f) = entry.sense else { return false };
                let entity = self.ontology.datasets.get(d).map_or("", |entity| entity.name.as_str());
                let field = self.field(d, f).map_or("", |field| field.name.as_str());
                metric.expression.trim_end().to_lowercase().ends_with(&format!("({entity}.{field})").to_lowercase())
            })
        };
        let said: Vec<&str> = self
            .ontology
            .metrics
            .iter()
            .filter(named)
            .filter_map(|metric| metric.higher_is.as_deref())
            .filter(|word| *word != "neutral")
            .collect();
        let first = said.first()?;
        said.iter().all(|other| other == first).then_some(*first == "better")
    }
}
