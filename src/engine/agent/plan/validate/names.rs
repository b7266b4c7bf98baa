//! Whether names are there, and which come nearest to those that are not.

use super::Check;
use crate::model::ontology::{Field, Ontology};
use crate::model::plan::FieldRef;

/// Names that are offered instead of a wrong one.
const NEAREST: usize = 3;
/// How like a name must be to be offered.
const LIKE: f64 = 0.5;

impl<'a> Check<'a> {
    pub(super) fn dataset(&mut self, at: &str, name: &str) {
        if offered(self.ontology, name).is_none() {
            let names = self.ontology.datasets.iter().filter(|entity| !entity.hidden).map(|e| e.name.clone());
            self.unknown(at, "dataset", name, names.collect());
        }
    }

    pub(super) fn metric(&mut self, at: &str, name: &str) {
        if self.ontology.metric(name).is_none() {
            let names = self.ontology.metrics.iter().map(|metric| metric.name.clone());
            self.unknown(at, "metric", name, names.collect());
        }
    }

    pub(super) fn segment(&mut self, at: &str, name: &str) {
        if self.ontology.segment(name).is_none() {
            let names = self.ontology.segments.iter().map(|segment| segment.name.clone());
            self.unknown(at, "segment", name, names.collect());
        }
    }

    pub(super) fn via(&mut self, at: &str, via: &[String]) {
        for name in via {
            if self.ontology.relationship(name).is_none() {
                let names = self.ontology.relationships.iter().map(|relationship| relationship.name.clone());
                self.unknown(at, "relationship", name, names.collect());
            }
        }
    }

    /// A field that people may use. Of those that they may not, nothing is said but that they are not there.
    pub(super) fn field(&mut self, at: &str, named: &FieldRef) -> Option<&'a Field> {
        self.via(&format!("{at}.via"), &named.via);
        let ontology = self.ontology;
        let found = offered(ontology, &named.dataset).and_then(|entity| entity.field(&named.field));
        let found = found.filter(|field| !field.hidden);
        if found.is_none() {
            let all = ontology.datasets.iter().filter(|entity| !entity.hidden).flat_map(|entity| {
                let fields = entity.fields.iter().filter(|field| !field.hidden);
                fields.map(|field| format!("{}.{}", entity.name, field.name))
            });
            self.unknown(at, "field", &format!("{}.{}", named.dataset, named.field), all.collect());
        }
        found
    }

    fn unknown(&mut self, at: &str, what: &str, name: &str, names: Vec<String>) {
        let near = nearest(name, &names);
        let instead = match near.is_empty() {
            true => String::new(),
            false => format!("; nearest: {}", near.join(", ")),
        };
        self.say(at, format!("there is no {what} {}{instead}", shown(name)));
    }
}

fn offered<'a>(ontology: &'a Ontology, name: &str) -> Option<&'a crate::model::ontology::Entity> {
    ontology.entity(name).filter(|entity| !entity.hidden)
}

/// The most similar names, best first; of fields also those of the same name elsewhere.
pub(in crate::engine::agent) fn nearest(name: &str, names: &[String]) -> Vec<String> {
    let wanted = name.to_lowercase();
    let last = |text: &str| text.rsplit('.').next().unwrap_or(text).to_owned();
    let score = |other: &String| {
        let other = other.to_lowercase();
        let whole = strsim::normalized_damerau_levenshtein(&wanted, &other);
        whole.max(0.9 * strsim::normalized_damerau_levenshtein(&last(&wanted), &last(&other)))
    };
    let mut scored: Vec<(f64, &String)> = names.iter().map(|other| (score(other), other)).collect();
    scored.retain(|(score, _)| *score >= LIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.into_iter().take(NEAREST).map(|(_, name)| name.clone()).collect()
}

/// A name that somebody else wrote, fit to be part of a sentence.
pub(in crate::engine::agent) fn shown(name: &str) -> String {
    let plain: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
    format!("{plain:?}")
}
