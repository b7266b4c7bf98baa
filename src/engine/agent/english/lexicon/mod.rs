//! What the words of a question may stand for: names, labels and synonyms of an ontology, and values of its data.
//! Looking up is exact or by forms of words; misspelt words find theirs through an automaton. Every sense of a phrase is
//! kept: which one is meant is for the planner to find out.

mod agent_nouns;
mod build;
pub(super) mod dated;
mod effort;
mod english;
mod fuzzy;
mod near;
mod partial_values;
mod store;
#[cfg(test)]
mod tests;
pub(super) mod words;

pub(super) use agent_nouns::PARTICLES;
pub(super) use effort::Effort;
use store::{Leaf, Store};

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::agent::planner::FieldValues;
use crate::model::ontology::Ontology;

/// What a phrase may stand for; positions are those in the ontology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sense {
    Entity(usize),
    /// Dataset and field.
    Field(usize, usize),
    Metric(usize),
    Segment(usize),
    /// A relationship by what its one side is to the other ("origin").
    Role(usize),
    /// A value of a field, as it is stored.
    Value {
        dataset: usize,
        field: usize,
        value: String,
    },
}

/// A sense and how well the phrase fits it: 1 is its very name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub sense: Sense,
    pub quality: f32,
    /// The phrase is only a part of the name: "delay" of "departure delay".
    pub partial: bool,
}

impl Entry {
    /// Whether it is a thing that there are rows of.
    pub(super) fn is_thing(&self) -> bool {
        matches!(self.sense, Sense::Entity(_))
    }

    /// Whether the phrase is the whole name of such a thing.
    pub(super) fn is_whole_thing(&self) -> bool {
        self.is_thing() && !self.partial
    }
}

/// Entries for the first words of what was looked up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Match {
    /// How many words.
    pub words: usize,
    pub entries: Vec<Entry>,
    /// The right spelling of the words, where they were misspelt.
    pub corrected: Option<String>,
}

/// The words of one version of an ontology and its values. Built once and kept by the caller.
pub(super) struct Lexicon {
    store: Store,
    fuzzy: fuzzy::Fuzzy,
    /// Fields whose values are looked up, and whether all of them are known.
    indexed: BTreeMap<(usize, usize), bool>,
    /// Fields of personal data. Who names one of their values is understood; nobody is told them.
    personal: BTreeSet<(usize, usize)>,
}

/// Most things that a phrase may stand for: of more, nobody can be asked which one is meant.
const MOST_ENTRIES: usize = 40;

/// A word that a name may have more of: ids, names and amounts are often called without it.
pub(super) const GENERIC: &[&str] = &[
    "amount", "number", "name", "code", "id", "identifier", "key", "value", "date", "time", "datetime", "timestamp",
    "at", "on", "day", "no", "num", "utc",
];

impl Lexicon {
    /// Takes time in proportion to all words of all names and values: about a second for a million values.
    pub(super) fn build(ontology: &Ontology, values: &[FieldValues]) -> Self {
        build::build(ontology, values)
    }

    /// All phrases that begin with the first of these words (folded, see [`words::fold`]), shortest first. `fuzzy`
    /// says for each word whether it may be taken for another one that is spelt alike.
    pub(super) fn matches(&self, words: &[&str], fuzzy: &[bool]) -> Vec<Match> {
        let mut states = vec![Walk { node: Store::ROOT, cost: 0.0, corrected: Vec::new() }];
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate().take(12) {
            let forms = self.forms(word, fuzzy.get(at).copied().unwrap_or(false));
            let mut next: Vec<Walk> = Vec::new();
            for state in &states {
                for form in &forms {
                    let Some(node) = self.store.step(state.node, form.word) else { continue };
                    let mut corrected = state.corrected.clone();
                    corrected.extend(form.corrected.iter().map(|right| ((*word).to_owned(), right.clone())));
                    let walk = Walk { node, cost: state.cost + form.cost, corrected };
                    match next.iter_mut().find(|known| known.node == walk.node) {
                        Some(known) if known.cost <= walk.cost => {}
                        Some(known) => *known = walk,
                        None => next.push(walk),
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            states = next;
            states.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            states.truncate(24);
            found.extend(self.at(&states, &words[..=at]));
        }
        found
    }

    /// Whether the values of a field are known, and if so whether all of them are.
    pub(super) fn indexed(&self, dataset: usize, field: usize) -> Option<bool> {
        self.indexed.get(&(dataset, field)).copied()
    }

    /// How many values a field has, where all of them are known.
    pub(super) fn how_many(&self, dataset: usize, field: usize) -> Option<f64> {
        let all = self.indexed(dataset, field) == Some(true);
        all.then(|| self.store.values_of(dataset, field).fold(0.0, |count, _| count + 1.0))
    }

    /// Whether all values of a field are known, and no more than so many.
    pub(super) fn has_at_most(&self, dataset: usize, field: usize, most: usize) -> bool {
        self.indexed(dataset, field) == Some(true) && self.store.values_of(dataset, field).nth(most).is_none()
    }

    /// Whether a word is part of any phrase.
    pub(super) fn knows(&self, word: &str) -> bool {
        words::forms(word).iter().any(|(form, _)| self.store.word(form).is_some())
    }

    /// Whether a text is a known value of a field, letter by letter.
    pub(super) fn has_value(&self, dataset: usize, field: usize, text: &str) -> bool {
        self.store.values_of(dataset, field).any(|value| value == text)
    }

    /// About how much memory it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.store.bytes() + self.fuzzy.bytes()
    }

    fn at(&self, states: &[Walk], said: &[&str]) -> Option<Match> {
        let mut found: Vec<(&Leaf, f32)> = Vec::new();
        let mut corrected = None;
        let exact = states.iter().any(|state| state.corrected.is_empty() && !self.store.leaves(state.node).is_empty());
        // A word's own form outdoes what it may be derived from: "rating" is no "rate".
        let own = states.iter().any(|state| {
            state.cost < 0.02 && self.store.leaves(state.node).iter().any(|leaf| !leaf.partial && !leaf.is_value())
        });
        for state in states.iter().filter(|state| !exact || state.corrected.is_empty()) {
            for leaf in self.store.leaves(state.node) {
                let by_ending = state.cost > 0.02 && state.cost < words::FAMILY && state.corrected.is_empty();
                let by_family = state.cost >= words::FAMILY && state.corrected.is_empty();
                let value = leaf.is_value();
                // Everyday words alone are no misspelt value: "as a line" says nothing of Linz.
                let everyday = value
                    && state.corrected.len() == said.len()
                    && state.corrected.iter().all(|(wrong, _)| english::is_english(wrong));
                // "Customers ordered" says what they did, and is no "customer order".
                let clause = said.len() > 1 && leaf.is_entity() && (by_ending || by_family);
                if by_ending && (own || value) || by_family && (leaf.partial || value) || clause || everyday {
                    continue;
                }
                found.push((leaf, leaf.quality - state.cost));
                if !state.corrected.is_empty() && corrected.is_none() {
                    let right = |word: &&str| {
                        let known = state.corrected.iter().find(|(wrong, _)| wrong == word);
                        known.map_or_else(|| (*word).to_owned(), |(_, right)| right.clone())
                    };
                    corrected = Some(said.iter().map(right).collect::<Vec<_>>().join(" "));
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        // Of the same thing twice the better one stays.
        found.sort_by(|a, b| self.store.by_sense(a.0, b.0).then_with(|| b.1.total_cmp(&a.1)));
        found.dedup_by(|other, one| self.store.by_sense(one.0, other.0).is_eq());
        // A whole name outdoes all those of which it is a part.
        if found.iter().any(|(leaf, _)| !leaf.partial && !leaf.is_value()) {
            found.retain(|(leaf, _)| !leaf.partial);
        }
        found.sort_by(|a, b| self.store.order(*a, *b));
        found.truncate(MOST_ENTRIES);
        let entries = found.into_iter().map(|(leaf, quality)| self.store.entry(leaf, quality)).collect();
        Some(Match { words: said.len(), entries, corrected })
    }

    fn forms(&self, word: &str, fuzzy: bool) -> Vec<Form> {
        let mut forms: Vec<Form> = Vec::new();
        for (form, cost) in words::forms(word) {
            if let Some(word) = self.store.word(&form) {
                forms.push(Form { word, cost, corrected: None });
            }
        }
        if forms.is_empty() && fuzzy {
            let singular = words::singular(word);
            for (right, distance) in self.fuzzy.near(&singular) {
                let Some(id) = self.store.word(&right) else { continue };
                forms.push(Form { word: id, cost: 0.08 * f32::from(distance), corrected: Some(right) });
            }
        }
        forms
    }
}

struct Walk {
    node: u32,
    cost: f32,
    /// Misspelt words with the right ones.
    corrected: Vec<(String, String)>,
}

struct Form {
    word: u32,
    cost: f32,
    corrected: Option<String>,
}
