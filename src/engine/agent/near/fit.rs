//! How well something has to do with some words.

use std::collections::BTreeSet;

use super::words::{IN_NAME, Sought, stems};
use crate::model::ontology::Ontology;

/// How much an ontology has to do with some words: 0 is nothing.
pub fn relevance(ontology: &Ontology, about: &str) -> usize {
    let terms: Vec<(String, String)> = open_terms(ontology).collect();
    let names = names_of(ontology);
    let sought = Sought::new(about, &terms, &names);
    let named: Vec<&str> = names.iter().map(String::as_str).collect();
    let own: Vec<&str> =
        [ontology.name.as_str()].into_iter().chain(ontology.ai.synonyms.iter().map(String::as_str)).collect();
    2 * sought.hits(&own, &ontology.description) + sought.hits(&named, "")
}

/// How well an ontology fits some words, from 0 to 1: 1 has them all among its names.
pub fn fit_of(ontology: &Ontology, about: &str) -> f64 {
    share(relevance(ontology, about), about)
}

/// As [`fit_of`], for whatever has some names and a description, in which a word counts less.
pub fn fit(about: &str, names: &[String], description: &str) -> f64 {
    let known = names.iter().flat_map(|name| stems(name)).collect();
    let named: Vec<&str> = names.iter().map(String::as_str).collect();
    share(Sought::new(about, &[], &known).hits(&named, description), about)
}

/// Hits as a share of those that the words could have in names.
fn share(hits: usize, about: &str) -> f64 {
    let most = IN_NAME * stems(about).len();
    if most == 0 { 0.0 } else { (hits as f64 / most as f64).min(1.0) }
}

/// Words of the house that stand for nothing that is kept from people, and what they mean.
pub(in crate::engine::agent) fn open_terms(ontology: &Ontology) -> impl Iterator<Item = (String, String)> + '_ {
    let is_hidden = |means: &str| {
        let field = means.split_once('.').and_then(|(dataset, field)| ontology.field(dataset, field));
        let dataset = means.split_once('.').map_or(means, |(dataset, _)| dataset);
        field.is_some_and(|field| field.hidden) || ontology.entity(dataset).is_some_and(|entity| entity.hidden)
    };
    let open = ontology.glossary.iter().filter(move |term| !is_hidden(term.means.trim()));
    open.map(|term| (term.term.clone(), term.means.clone()))
}

/// The words of all names that people are offered.
pub(in crate::engine::agent) fn names_of(ontology: &Ontology) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut take = |name: &str, synonyms: &[String]| {
        names.extend(stems(name));
        synonyms.iter().for_each(|synonym| names.extend(stems(synonym)));
    };
    ontology.metrics.iter().for_each(|metric| take(&metric.name, &metric.ai.synonyms));
    ontology.segments.iter().for_each(|segment| take(&segment.name, &segment.synonyms));
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        take(&entity.name, &entity.ai.synonyms);
        take(entity.grain.as_deref().unwrap_or_default(), &[]);
        for field in entity.fields.iter().filter(|field| !field.hidden) {
            take(&field.name, &field.ai.synonyms);
            take(&field.label, &[]);
        }
    }
    names
}

/// All that is said of what people are offered, beside its names.
pub(in crate::engine::agent) fn texts_of(ontology: &Ontology) -> impl Iterator<Item = &str> {
    let shown = || ontology.datasets.iter().filter(|entity| !entity.hidden);
    let fields = shown().flat_map(|entity| &entity.fields).filter(|field| !field.hidden);
    let own = [ontology.name.as_str(), ontology.description.as_str()].into_iter();
    own.chain(ontology.metrics.iter().map(|metric| metric.description.as_str()))
        .chain(shown().map(|entity| entity.description.as_str()))
        .chain(fields.map(|field| field.description.as_str()))
}
