//! What the words of a question may stand for: names, labels and synonyms of an ontology, and values of its data.
//! Looking up is exact or by forms of words; misspelt words find theirs through an automaton. Every sense of a phrase is
//! kept: which one is meant is for the planner to find out.

mod build;
mod fuzzy;
mod store;
#[cfg(test)]
mod tests;
pub mod words;

pub use build::{FieldValues, Values};
use store::Store;

use std::collections::BTreeMap;

use crate::model::ontology::Ontology;

/// What a phrase may stand for; positions are those in the ontology.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sense {
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
pub struct Entry {
    pub sense: Sense,
    pub quality: f32,
    /// The phrase is only a part of the name: "delay" of "departure delay".
    pub partial: bool,
}

/// Entries for the first words of what was looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// How many words.
    pub words: usize,
    pub entries: Vec<Entry>,
    /// The right spelling of the words, where they were misspelt.
    pub corrected: Option<String>,
}

/// The words of one version of an ontology and its values. Built once and kept by the caller.
pub struct Lexicon {
    store: Store,
    fuzzy: fuzzy::Fuzzy,
    /// Fields whose values are looked up, and whether all of them are known.
    indexed: BTreeMap<(usize, usize), bool>,
}

/// A word that a name may have more of: ids, names and amounts are often called without it.
pub const GENERIC: &[&str] = &[
    "amount",
    "number",
    "name",
    "code",
    "id",
    "identifier",
    "key",
    "value",
    "date",
    "time",
    "datetime",
    "timestamp",
    "at",
    "on",
    "day",
    "no",
    "num",
    "utc",
];

impl Lexicon {
    /// Takes time in proportion to all words of all names and values: about a second for a million values.
    pub fn build(ontology: &Ontology, values: &Values) -> Self {
        build::build(ontology, values)
    }

    /// All phrases that begin with the first of these words (folded, see [`words::fold`]), shortest first. `fuzzy`
    /// says for each word whether it may be taken for another one that is spelt alike.
    pub fn matches(&self, words: &[&str], fuzzy: &[bool]) -> Vec<Match> {
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
            found.extend(self.at(&states, at + 1));
        }
        found
    }

    /// Whether the values of a field are known, and if so whether all of them are.
    pub fn indexed(&self, dataset: usize, field: usize) -> Option<bool> {
        self.indexed.get(&(dataset, field)).copied()
    }

    /// Whether a word is part of any phrase.
    pub fn knows(&self, word: &str) -> bool {
        words::forms(word).iter().any(|(form, _)| self.store.word(form).is_some())
    }

    /// Phrases that are spelt like a word, nearest first: what to say instead of it.
    pub fn near(&self, word: &str, ontology: &Ontology) -> Vec<String> {
        let mut found: Vec<(usize, String)> = Vec::new();
        for name in self.store.names() {
            let distance = strsim::damerau_levenshtein(word, name);
            let within = name.split(' ').any(|part| part.len() > 3 && strsim::damerau_levenshtein(word, part) <= 1);
            if distance <= 1 + word.chars().count() / 3 || within {
                found.push((distance, name.to_owned()));
            }
        }
        found.sort();
        found.dedup();
        let mut near: Vec<String> = found.into_iter().map(|(_, name)| name).take(5).collect();
        if near.is_empty() {
            let metrics = ontology.metrics.iter().map(|metric| crate::model::ontology::in_words(&metric.name));
            let datasets = ontology.datasets.iter().filter(|dataset| !dataset.hidden).map(|dataset| dataset.noun());
            near = metrics.take(3).chain(datasets.take(3)).collect();
        }
        near
    }

    /// The known values of a field that are spelt most like a text.
    pub fn near_values(&self, dataset: usize, field: usize, text: &str) -> Vec<String> {
        let text = words::fold(text);
        let mut found: Vec<(usize, &str)> = Vec::new();
        for value in self.store.values_of(dataset, field) {
            let distance = strsim::damerau_levenshtein(&text, &words::fold(value));
            found.push((distance, value));
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().take(5).map(|(_, value)| value.to_owned()).collect()
    }

    /// The values in which these folded words stand next to each other as whole words, though they are not all of it:
    /// at most `PARTS` of them, and none when there are more. Reads all values, so it is for words that are not known.
    pub fn containing(&self, said: &[String]) -> Vec<Entry> {
        const PARTS: usize = 24;
        let Some(first) = said.first().filter(|word| word.chars().count() > 2) else { return Vec::new() };
        let mut entries: Vec<Entry> = Vec::new();
        for (dataset, field, value) in self.store.all_values() {
            if value.len() <= first.len() || value.len() > 200 {
                continue;
            }
            let words = words::split(value);
            if words.len() > said.len() && words.windows(said.len()).any(|part| part == said) {
                let sense = Sense::Value { dataset, field, value: value.to_owned() };
                entries.push(Entry { sense, quality: 0.8, partial: true });
            }
            if entries.len() > PARTS {
                return Vec::new();
            }
        }
        entries
    }

    fn at(&self, states: &[Walk], words: usize) -> Option<Match> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut corrected = None;
        let exact =
            states.iter().any(|state| state.corrected.is_empty() && self.store.entries(state.node).next().is_some());
        // A word's own form outdoes what it may be derived from: "rating" is no "rate".
        let own = states.iter().any(|state| {
            state.cost < 0.02
                && self
                    .store
                    .entries(state.node)
                    .any(|entry| !entry.partial && !matches!(entry.sense, Sense::Value { .. }))
        });
        for state in states.iter().filter(|state| !exact || state.corrected.is_empty()) {
            for mut entry in self.store.entries(state.node) {
                let by_ending = state.cost > 0.02 && state.cost < words::FAMILY && state.corrected.is_empty();
                let by_family = state.cost >= words::FAMILY && state.corrected.is_empty();
                let value = matches!(entry.sense, Sense::Value { .. });
                if by_ending && (own || value) || by_family && (entry.partial || value) {
                    continue;
                }
                entry.quality -= state.cost;
                match entries.iter_mut().find(|known| known.sense == entry.sense) {
                    Some(known) if known.quality >= entry.quality => {}
                    Some(known) => *known = entry,
                    None => entries.push(entry),
                }
                if !state.corrected.is_empty() && corrected.is_none() {
                    let right: Vec<String> = state.corrected.iter().map(|(_, right)| right.clone()).collect();
                    corrected = Some(right.join(" "));
                }
            }
        }
        if entries.is_empty() {
            return None;
        }
        // A whole name outdoes all those of which it is a part.
        if entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Value { .. })) {
            entries.retain(|entry| !entry.partial);
        }
        entries.sort_by(|a, b| b.quality.total_cmp(&a.quality).then_with(|| a.sense.cmp(&b.sense)));
        entries.truncate(40);
        Some(Match { words, entries, corrected })
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
