//! Stored values that a text names: "Kennedy" is an airport.

use std::collections::BTreeSet;

use super::words::{Sought, is_aggregate, is_telling, split, stems};
use crate::engine::agent::planner::FieldValues;
use crate::model::ontology::{DataType, Entity, Field, Ontology};
use crate::model::personal::is_personal;

/// Fewest letters of a word that is looked for within values, and of one that may be misspelt.
const FEWEST_OF_A_PART: usize = 3;
const FEWEST_OF_A_SLIP: usize = 5;

/// A value that was found.
pub(in crate::engine::agent) struct Found<'a> {
    pub entity: &'a Entity,
    pub field: &'a Field,
    pub value: &'a str,
    /// What people call it, where it was found by that.
    pub called: Option<&'a str>,
    fit: Fit,
}

impl Found<'_> {
    /// Whether it is spelt otherwise.
    pub(in crate::engine::agent) fn is_slip(&self) -> bool {
        matches!(self.fit, Fit::Near(_))
    }
}

/// How a value was found; the better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The text names it, with so many letters; the longer one is the more telling.
    Named(std::cmp::Reverse<usize>),
    /// Words of the text are words of it.
    Part(std::cmp::Reverse<usize>),
    /// It is spelt nearly so.
    Near(usize),
}

/// What is found of a text in the values of an ontology, the best first and each once. `names` are the words of all names
/// of the ontology: what is one of them alone is no part of a value that somebody looks for. Values that are personal
/// data are found by those who name them in full, as questions find them, and by nobody else.
pub(in crate::engine::agent) fn find<'a>(
    sought: &Sought,
    names: &BTreeSet<String>,
    (ontology, values): (&'a Ontology, &'a [FieldValues]),
) -> Vec<Found<'a>> {
    let parts: Vec<&str> = sought
        .words
        .iter()
        .map(String::as_str)
        .filter(|word| word.chars().count() >= FEWEST_OF_A_PART && is_telling(word))
        .filter(|word| stems(word).iter().all(|stem| !names.contains(stem) && !is_aggregate(stem)))
        .collect();
    let mut found = Vec::new();
    for (entity, field) in fields(ontology) {
        of_field(entity, field, known(values, entity, field), sought, &parts, &mut found);
    }
    if found.is_empty() {
        found = misspelt(&parts, ontology, values);
    }
    found.sort_by(|a, b| (a.fit, a.value.len(), a.value).cmp(&(b.fit, b.value.len(), b.value)));
    let mut seen = BTreeSet::new();
    found.retain(|it| seen.insert((&it.entity.name, &it.field.name, it.value)));
    found
}

/// The fields that people are offered.
fn fields(ontology: &Ontology) -> impl Iterator<Item = (&Entity, &Field)> {
    let shown = ontology.datasets.iter().filter(|entity| !entity.hidden);
    shown.flat_map(|entity| entity.fields.iter().filter(|field| !field.hidden).map(move |field| (entity, field)))
}

/// What is known of the values of a field.
pub(in crate::engine::agent) fn known<'a>(
    values: &'a [FieldValues],
    entity: &Entity,
    field: &Field,
) -> Option<&'a FieldValues> {
    let is_this =
        |it: &&FieldValues| it.dataset.eq_ignore_ascii_case(&entity.name) && it.field.eq_ignore_ascii_case(&field.name);
    values.iter().find(is_this)
}

fn of_field<'a>(
    entity: &'a Entity,
    field: &'a Field,
    known: Option<&'a FieldValues>,
    sought: &Sought,
    parts: &[&str],
    found: &mut Vec<Found<'a>>,
) {
    let personal = is_personal(field);
    let add = |value: &'a str, called: Option<&'a str>, found: &mut Vec<Found<'a>>| {
        let words = split(called.unwrap_or(value));
        let fit = named(&words, sought, field).or_else(|| if personal { None } else { part(&words, parts) });
        found.extend(fit.map(|fit| Found { entity, field, value, called, fit }));
    };
    for value in known.into_iter().flat_map(|known| &known.values) {
        add(value, None, found);
    }
    for (value, synonyms) in &field.value_synonyms {
        if known.is_none_or(|known| !known.complete) {
            add(value, None, found);
        }
        synonyms.iter().for_each(|called| add(value, Some(called), found));
    }
}

/// Whether the text has all words of a value, one after the other. Of one letter, or a number, it has to be the text.
fn named(value: &[String], sought: &Sought, field: &Field) -> Option<Fit> {
    let letters: usize = value.iter().map(|word| word.chars().count()).sum();
    let is_short = letters < 2 || field.datatype.is_number() || !value.iter().any(|word| is_telling(word));
    let is_named = match is_short {
        true => sought.words == value,
        false => sought.words.windows(value.len().max(1)).any(|words| words == value),
    };
    (is_named && !value.is_empty()).then_some(Fit::Named(std::cmp::Reverse(letters)))
}

fn part(value: &[String], parts: &[&str]) -> Option<Fit> {
    let hits = parts.iter().filter(|part| value.iter().any(|word| word == *part)).count();
    (hits > 0).then_some(Fit::Part(std::cmp::Reverse(hits)))
}

/// Values that are spelt nearly like one of the words.
fn misspelt<'a>(parts: &[&str], ontology: &'a Ontology, values: &'a [FieldValues]) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    let words: Vec<&&str> = parts.iter().filter(|word| word.chars().count() >= FEWEST_OF_A_SLIP).collect();
    let texts = fields(ontology).filter(|(_, field)| field.datatype == DataType::String && !is_personal(field));
    for (entity, field) in texts {
        for value in known(values, entity, field).into_iter().flat_map(|known| &known.values) {
            let near = split(value).iter().flat_map(|one| words.iter().filter_map(|word| slip(word, one))).min();
            found.extend(near.map(|apart| Found { entity, field, value, called: None, fit: Fit::Near(apart) }));
        }
    }
    found
}

/// How many letters apart two words are that begin alike: one, from eight letters on two.
fn slip(word: &str, other: &str) -> Option<usize> {
    let length = word.chars().count();
    let most = if length < 8 { 1 } else { 2 };
    if word.chars().next() != other.chars().next() || other.chars().count().abs_diff(length) > most {
        return None;
    }
    Some(strsim::osa_distance(word, other)).filter(|apart| *apart <= most)
}
