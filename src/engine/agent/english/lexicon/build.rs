//! From an ontology and values to a lexicon: which phrases stand for what.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::agent::planner::{FieldValues, MOST_CHARS};
use crate::model::ontology::{Entity, Field, Metric, Ontology, in_words};
use crate::model::personal::is_personal;

use super::fuzzy::Fuzzy;
use super::store::{Store, Valued};
use super::{GENERIC, Lexicon, MOST_ENTRIES, Sense, words};

const EXACT: f32 = 1.0;
const SYNONYM: f32 = 0.97;
const VALUE: f32 = 0.95;
/// A name without its generic last word: "order" for "order date".
const CLIPPED: f32 = 0.85;
/// A name's last words: "delay" for "departure delay".
const HEAD: f32 = 0.7;

/// A phrase as it is kept: each word in its one form.
fn phrase(text: &str) -> Vec<String> {
    words::split(&in_words_kept(text)).iter().map(|word| words::singular(word)).collect()
}

/// Names with humps and underscores as words; other texts as they are.
fn in_words_kept(text: &str) -> String {
    if text.contains(' ') { text.to_owned() } else { in_words(text) }
}

pub(super) fn build(ontology: &Ontology, values: &[FieldValues]) -> Lexicon {
    let mut on = Adding { store: Store::default(), personal: personal(ontology), crowded: BTreeSet::new() };
    for (at, entity) in ontology.datasets.iter().enumerate() {
        if !entity.hidden {
            on.entity(at, entity);
        }
    }
    for (at, metric) in ontology.metrics.iter().enumerate() {
        on.metric(at, metric);
    }
    for (at, segment) in ontology.segments.iter().enumerate() {
        for (text, quality) in named(&segment.name, "", &segment.synonyms) {
            let phrase = phrase(&text);
            on.store.add(&phrase, &Sense::Segment(at), quality, false);
            // "open" of "open claims", "in debt" of "customers in debt".
            let dataset = segment.datasets.first().and_then(|dataset| ontology.entity(dataset));
            let nouns = dataset
                .into_iter()
                .flat_map(|entity| named(&entity.name, &entity.grain.clone().unwrap_or_default(), &entity.ai.synonyms));
            for noun in nouns.map(|(noun, _)| self::phrase(&noun)) {
                let rest = phrase.strip_suffix(noun.as_slice()).or_else(|| phrase.strip_prefix(noun.as_slice()));
                if let Some(rest) =
                    rest.filter(|rest| rest.iter().any(|word| says_something(std::slice::from_ref(word))))
                {
                    on.store.add(rest, &Sense::Segment(at), quality - 0.05, false);
                }
            }
        }
        on.store.name(in_words(&segment.name));
    }
    for (at, relationship) in ontology.relationships.iter().enumerate() {
        for role in relationship.role.iter().chain(&relationship.ai.synonyms) {
            let phrase = phrase(role);
            on.store.add(&phrase, &Sense::Role(at), SYNONYM, false);
            // "broken machine", where the "broken tool" is a tool, and tools are machines.
            for other in with_other_heads(&phrase, ontology.entity(&relationship.to)) {
                on.store.add(&other, &Sense::Role(at), SYNONYM - 0.03, false);
            }
        }
    }
    let mut indexed = BTreeMap::new();
    for known in values {
        let Some(dataset) = position(ontology, &known.dataset) else { continue };
        let entity = &ontology.datasets[dataset];
        let Some(field) = entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(&known.field)) else {
            continue;
        };
        if entity.hidden || entity.fields[field].hidden {
            continue;
        }
        let mut complete = known.complete;
        for value in &known.values {
            if is_short(value) {
                on.value(dataset, field, value, &[], VALUE);
            } else {
                complete = false;
            }
        }
        indexed.insert((dataset, field), complete);
    }
    for (dataset, entity) in ontology.datasets.iter().enumerate().filter(|(_, entity)| !entity.hidden) {
        for (at, field) in entity.fields.iter().enumerate().filter(|(_, field)| !field.hidden) {
            for (value, synonyms) in field.value_synonyms.iter().filter(|(value, _)| is_short(value)) {
                on.value(dataset, at, value, synonyms, VALUE);
            }
        }
    }
    on.glossary(ontology);
    for field in &on.crowded {
        indexed.entry(*field).and_modify(|complete| *complete = false);
    }
    let fuzzy = Fuzzy::new(&on.store);
    on.store.finish();
    Lexicon { store: on.store, fuzzy, indexed, personal: on.personal }
}

/// A role of several words with the other names of what it leads to in place of the one that it ends with.
fn with_other_heads(role: &[String], to: Option<&Entity>) -> Vec<Vec<String>> {
    let (Some((last, before)), Some(to)) = (role.split_last(), to) else { return Vec::new() };
    let grain = to.grain.clone().unwrap_or_default();
    let nouns: Vec<Vec<String>> =
        named(&to.name, &grain, &to.ai.synonyms).iter().map(|(noun, _)| phrase(noun)).collect();
    if before.is_empty() || !nouns.iter().any(|noun| noun.last() == Some(last)) {
        return Vec::new();
    }
    let heads = nouns.iter().filter_map(|noun| noun.last()).filter(|head| *head != last);
    heads.map(|head| before.iter().chain([head]).cloned().collect()).collect()
}

/// The fields of personal data.
fn personal(ontology: &Ontology) -> BTreeSet<(usize, usize)> {
    let fields =
        ontology.datasets.iter().enumerate().flat_map(|(dataset, entity)| {
            entity.fields.iter().enumerate().map(move |(at, field)| ((dataset, at), field))
        });
    fields.filter(|(_, field)| is_personal(field)).map(|(at, _)| at).collect()
}

fn is_short(value: &str) -> bool {
    // Not counted further than need be.
    value.len() <= MOST_CHARS || value.chars().nth(MOST_CHARS).is_none()
}

fn position(ontology: &Ontology, name: &str) -> Option<usize> {
    ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name))
}

/// A thing's own names and its synonyms.
fn named(name: &str, label: &str, synonyms: &[String]) -> Vec<(String, f32)> {
    let mut all = vec![(in_words(name), EXACT)];
    if !label.is_empty() {
        all.push((label.to_owned(), EXACT));
    }
    all.extend(synonyms.iter().map(|synonym| (synonym.clone(), SYNONYM)));
    all
}

struct Adding {
    store: Store,
    personal: BTreeSet<(usize, usize)>,
    /// Fields that have more values of one phrase than are kept.
    crowded: BTreeSet<(usize, usize)>,
}

impl Adding {
    fn entity(&mut self, at: usize, entity: &Entity) {
        let grain = entity.grain.clone().unwrap_or_default();
        let mut nouns = Vec::new();
        for (text, quality) in named(&entity.name, &grain, &entity.ai.synonyms) {
            let phrase = phrase(&text);
            self.store.add(&phrase, &Sense::Entity(at), quality, false);
            nouns.push(phrase);
        }
        self.store.name(entity.noun());
        for (field_at, field) in entity.fields.iter().enumerate().filter(|(_, field)| !field.hidden) {
            self.field((at, field_at), field, &nouns);
        }
    }

    fn field(&mut self, at: (usize, usize), field: &Field, nouns: &[Vec<String>]) {
        let sense = Sense::Field(at.0, at.1);
        self.store.name(field.words());
        for (text, quality) in named(&field.name, &field.label, &field.ai.synonyms) {
            let phrase = phrase(&text);
            self.store.add(&phrase, &sense, quality, false);
            // "claim close date" is the "close date" of a claim.
            let rest =
                nouns.iter().filter_map(|noun| phrase.strip_prefix(noun.as_slice())).min_by_key(|rest| rest.len());
            let rest = rest.filter(|rest| !rest.is_empty()).unwrap_or(&phrase);
            if rest.len() < phrase.len() {
                self.store.add(rest, &sense, quality - 0.03, false);
            }
            let clipped = clip(rest);
            if clipped.len() < rest.len() && says_something(clipped) {
                self.store.add(clipped, &sense, CLIPPED + quality - EXACT, true);
            }
            for from in (1..rest.len()).filter(|from| says_something(&rest[*from..])) {
                self.store.add(&rest[from..], &sense, HEAD + quality - EXACT, true);
            }
            for from in (1..clipped.len()).filter(|from| says_something(&clipped[*from..])) {
                self.store.add(&clipped[from..], &sense, HEAD - 0.05 + quality - EXACT, true);
            }
        }
    }

    fn metric(&mut self, at: usize, metric: &Metric) {
        let sense = Sense::Metric(at);
        self.store.name(in_words(&metric.name));
        for (text, quality) in named(&metric.name, "", &metric.ai.synonyms) {
            let phrase = phrase(&text);
            self.store.add(&phrase, &sense, quality, false);
            let words: Vec<&str> = phrase.iter().map(String::as_str).collect();
            match words.as_slice() {
                // "premium" for "total premium".
                ["total", _, ..] => self.store.add(&phrase[1..], &sense, quality - 0.05, false),
                // "orders" alone is the dataset; only their number is the metric.
                [.., _, "count"] => {
                    let mut number: Vec<String> = vec!["number".into(), "of".into()];
                    number.extend_from_slice(&phrase[..phrase.len() - 1]);
                    self.store.add(&number, &sense, quality, false);
                }
                ["number" | "count", "of", ..] | ["how", "many", ..] => continue,
                _ => {}
            }
            let aggregate = ["average", "avg", "mean", "median", "max", "min", "maximum", "minimum", "total"];
            let inner = usize::from(words.first().is_some_and(|first| aggregate.contains(first)));
            let whole = inner == 0 || words.first() == Some(&"total");
            if whole && !words.contains(&"of") && !words.contains(&"per") && words.last() != Some(&"count") {
                for from in (inner + 1..phrase.len()).filter(|from| says_something(&phrase[*from..])) {
                    self.store.add(&phrase[from..], &sense, HEAD + quality - EXACT, true);
                }
            }
        }
    }

    fn value(&mut self, dataset: usize, field: usize, value: &str, synonyms: &[String], quality: f32) {
        let id = self.store.value(dataset, field, value, &words::split(value));
        let is_personal = self.personal.contains(&(dataset, field));
        let of = Valued { id, dataset, field, is_personal };
        let mut has_room = true;
        for text in std::iter::once(value).chain(synonyms.iter().map(String::as_str)) {
            let words: Vec<String> = words::split(text).iter().map(|word| words::singular(word)).collect();
            has_room &= self.store.add_value(&words, &of, quality);
            let humps = in_words(text);
            if !text.contains(' ') && humps.contains(' ') {
                let words: Vec<String> = words::split(&humps).iter().map(|word| words::singular(word)).collect();
                has_room &= self.store.add_value(&words, &of, quality - 0.02);
            }
        }
        if !has_room {
            self.crowded.insert((dataset, field));
        }
    }

    /// Terms of the glossary get every sense of what they stand for.
    fn glossary(&mut self, ontology: &Ontology) {
        for term in &ontology.glossary {
            let means = term.means.trim();
            let own = means.split_once('.').and_then(|(dataset, field)| {
                let dataset_at = position(ontology, dataset)?;
                let fields = &ontology.datasets[dataset_at].fields;
                let field_at = fields.iter().position(|known| known.name.eq_ignore_ascii_case(field))?;
                Some(Sense::Field(dataset_at, field_at))
            });
            let metric = ontology.metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(means));
            let senses: Vec<Sense> = match (own, metric) {
                (Some(field), _) => vec![field],
                (None, Some(metric)) => vec![Sense::Metric(metric)],
                (None, None) => self.senses(&phrase(means)),
            };
            for sense in senses {
                match sense {
                    Sense::Value { dataset, field, value } => {
                        self.value(dataset, field, &value, std::slice::from_ref(&term.term), SYNONYM);
                    }
                    sense => self.store.add(&phrase(&term.term), &sense, SYNONYM, false),
                }
            }
        }
    }

    fn senses(&self, phrase: &[String]) -> Vec<Sense> {
        let mut node = Store::ROOT;
        for word in phrase {
            match self.store.word(word).and_then(|word| self.store.step(node, word)) {
                Some(next) => node = next,
                None => return Vec::new(),
            }
        }
        let whole = self.store.leaves(node).iter().filter(|leaf| !leaf.partial).take(MOST_ENTRIES);
        whole.map(|leaf| self.store.entry(leaf, leaf.quality).sense).collect()
    }
}

/// Whether a part of a name neither begins nor ends with a word that only joins others.
fn says_something(part: &[String]) -> bool {
    const JOINING: &[&str] = &[
        "of", "by", "to", "from", "at", "in", "on", "for", "with", "and", "or", "the", "a", "an", "per", "up", "out",
        "as", "than", "is", "it", "not", "no", "was", "were", "that", "this", "each", "all",
    ];
    let joins = |word: Option<&String>| word.is_none_or(|word| JOINING.contains(&word.as_str()));
    !joins(part.first()) && !joins(part.last())
}

/// Without generic words at the end.
fn clip(phrase: &[String]) -> &[String] {
    let keep = phrase.iter().rposition(|word| !GENERIC.contains(&word.as_str()));
    keep.map_or(phrase, |last| &phrase[..=last])
}
