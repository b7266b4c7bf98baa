//! The part of an ontology that a question may need, as lines of JSON within a size. What has words of the question in
//! its names comes first; expressions, which hold values, never.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::fence::{clipped, fenced};
use crate::engine::agent::planner::FieldValues;
use crate::engine::render::nouns::singular;
use crate::model::ontology::{AiContext, Entity, Field, FieldRole, Metric, Ontology, in_words};
use crate::model::personal::is_personal;

/// Bytes of the whole description.
pub(super) const MAX_BYTES: usize = 24 << 10;
/// Characters of one description, and of one synonym.
const ABOUT: usize = 240;
const SYNONYM: usize = 60;
/// Synonyms of one thing, and stored values of one field.
const MAX_SYNONYMS: usize = 12;
const MAX_VALUES: usize = 20;

/// Words that say nothing about what is meant.
const SMALL: [&str; 32] = [
    "the", "and", "for", "what", "which", "who", "how", "many", "much", "was", "were", "are", "did", "does", "per",
    "each", "with", "from", "all", "that", "have", "has", "had", "show", "list", "give", "than", "more", "most", "top",
    "last", "not",
];

/// One thing of the ontology.
struct Line {
    score: usize,
    text: String,
    /// The line of its dataset, which a field is nothing without.
    head: Option<usize>,
}

/// The lines that fit, in the order of the document, and how many did not.
pub(super) fn lines(
    ontology: &Ontology,
    question: &str,
    values: Option<&[FieldValues]>,
    max_bytes: usize,
) -> (Vec<String>, usize) {
    let words = stems(question);
    let all = every_line(ontology, &words, values);
    let mut order: Vec<(usize, &Line)> = all.iter().enumerate().collect();
    order.sort_by_key(|(_, line)| std::cmp::Reverse(line.score));
    let (mut taken, mut bytes) = (BTreeMap::new(), 0);
    for (at, line) in order {
        let head = line.head.and_then(|head| Some((head, all.get(head)?)));
        let with_head: Vec<(usize, &Line)> =
            head.into_iter().chain([(at, line)]).filter(|(at, _)| !taken.contains_key(at)).collect();
        let size: usize = with_head.iter().map(|(_, line)| line.text.len() + 1).sum();
        if bytes + size <= max_bytes {
            bytes += size;
            taken.extend(with_head);
        }
    }
    (taken.values().map(|line| line.text.clone()).collect(), all.len() - taken.len())
}

fn every_line(ontology: &Ontology, words: &BTreeSet<String>, values: Option<&[FieldValues]>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut add = |score: usize, head: Option<usize>, thing: Map<String, Value>| {
        lines.push(Line { score, text: fenced(&Value::Object(thing)), head });
        lines.len() - 1
    };
    for metric in &ontology.metrics {
        add(3 + hits(words, &metric.name, "", &metric.ai, &metric.description), None, of_metric(metric));
    }
    for segment in &ontology.segments {
        let names = AiContext { synonyms: segment.synonyms.clone(), ..AiContext::default() };
        let mut thing = object(&[("segment", &segment.name), ("of", &segment.datasets.join(", "))]);
        also(&mut thing, &segment.synonyms);
        add(3 + hits(words, &segment.name, "", &names, ""), None, thing);
    }
    // A term may stand for a stored value.
    for term in ontology.glossary.iter().filter(|term| values.is_some() || is_of_names(&term.means, ontology)) {
        let thing = object(&[("term", &term.term), ("means", &term.means)]);
        add(3 + hits(words, &term.term, "", &AiContext::default(), ""), None, thing);
    }
    for entity in ontology.datasets.iter().filter(|entity| !entity.hidden) {
        let about = hits(words, &entity.name, "", &entity.ai, &entity.description);
        let head = add(4 + about, None, of_entity(entity));
        for field in entity.fields.iter().filter(|field| !field.hidden) {
            let name = Some(&field.name);
            let is_known = name == entity.default_time_field.as_ref() || name == entity.label_field.as_ref();
            let role = match field.role {
                FieldRole::Dimension | FieldRole::Measure => 2,
                FieldRole::Attribute => 1,
                FieldRole::Key => 0,
            };
            let own = hits(words, &field.name, &field.label, &field.ai, &field.description);
            let (stored, named) = of_question(entity, field, values, words);
            let score = role + own + if is_known { 3 } else { 0 } + if about > 0 { 2 } else { 0 } + 10 * named;
            add(score, Some(head), of_field(entity, field, stored));
        }
    }
    let seen = |name: &str| ontology.entity(name).is_some_and(|entity| !entity.hidden);
    for relationship in &ontology.relationships {
        if seen(&relationship.from) && seen(&relationship.to) {
            let (from, to) = (&relationship.from, &relationship.to);
            let mut thing = object(&[("relationship", &relationship.name), ("from", from), ("to", to)]);
            optional(&mut thing, "role", relationship.role.as_ref());
            also(&mut thing, &relationship.ai.synonyms);
            add(5, None, thing);
        }
    }
    lines
}

fn of_metric(metric: &Metric) -> Map<String, Value> {
    let mut thing = object(&[("metric", &metric.name), ("about", &metric.description)]);
    also(&mut thing, &metric.ai.synonyms);
    optional(&mut thing, "unit", metric.unit.as_ref());
    optional(&mut thing, "time", metric.default_time_field.as_ref());
    thing
}

fn of_entity(entity: &Entity) -> Map<String, Value> {
    let mut thing = object(&[("dataset", &entity.name), ("about", &entity.description)]);
    also(&mut thing, &entity.ai.synonyms);
    optional(&mut thing, "one_row_is", entity.grain.as_ref());
    optional(&mut thing, "time", entity.default_time_field.as_ref());
    optional(&mut thing, "called_by", entity.label_field.as_ref());
    thing
}

fn of_field(entity: &Entity, field: &Field, values: Vec<String>) -> Map<String, Value> {
    let mut thing =
        object(&[("dataset", &entity.name), ("field", &field.name), ("type", &format!("{:?}", field.datatype))]);
    if field.label.to_lowercase() != in_words(&field.name) {
        optional(&mut thing, "label", Some(&field.label));
    }
    optional(&mut thing, "about", Some(&field.description));
    also(&mut thing, &field.ai.synonyms);
    optional(&mut thing, "unit", field.unit.as_ref());
    if matches!(field.role, FieldRole::Key) {
        thing.insert("is_key".into(), json!(true));
    }
    if !values.is_empty() {
        thing.insert("values".into(), values.iter().map(|value| clip(value, SYNONYM)).collect());
    }
    thing
}

/// The values of a field that may be told, at most [`MAX_VALUES`], and in how many words of the question the nearest of
/// them is named: those that the ontology has other words for, those that the question names, the others where there
/// are few, and those that the ontology knows and no row has. What is known to be personal is not told, whatever the
/// workspace lets be sent.
fn of_question(
    entity: &Entity,
    field: &Field,
    values: Option<&[FieldValues]>,
    words: &BTreeSet<String>,
) -> (Vec<String>, usize) {
    let Some(values) = values.filter(|_| !is_personal(field)) else { return (vec![], 0) };
    let known = || field.value_synonyms.iter();
    let called = known().filter_map(|(stored, called)| Some(format!("{stored} ({})", called.first()?)));
    let is_this = |known: &&FieldValues| {
        known.dataset.eq_ignore_ascii_case(&entity.name) && known.field.eq_ignore_ascii_case(&field.name)
    };
    let stored: Vec<&String> = values.iter().filter(is_this).flat_map(|known| &known.values).collect();
    let few = stored.len() <= MAX_VALUES;
    let missing = known().filter(|(value, called)| called.is_empty() && !stored.contains(value));
    let missing: Vec<String> = missing.map(|(value, _)| value.clone()).collect();
    let mut ranked: Vec<(usize, &String)> =
        stored.into_iter().map(|value| (words.intersection(&stems(value)).count(), value)).collect();
    ranked.sort_by_key(|(named, _)| std::cmp::Reverse(*named));
    let nearest = ranked.first().map_or(0, |(named, _)| *named);
    let told = ranked.into_iter().filter(|(named, _)| few || *named > 0).map(|(_, value)| value.clone());
    (called.chain(told).chain(missing).take(MAX_VALUES).collect(), nearest)
}

/// Whether a text is a name of the ontology, in one of the ways in which they are told anyway.
fn is_of_names(text: &str, ontology: &Ontology) -> bool {
    let plain = |text: &str| -> Vec<String> {
        let words = in_words(text);
        let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(singular).collect()
    };
    let said = plain(text);
    let is = |name: &str| plain(name) == said;
    let field = text.split_once('.').is_some_and(|(dataset, field)| {
        ontology.entity(dataset.trim()).filter(|entity| !entity.hidden).and_then(|it| it.field(field.trim())).is_some()
    });
    let metric = |metric: &Metric| is(&metric.name) || metric.ai.synonyms.iter().any(|name| is(name));
    let entity = |entity: &Entity| {
        let mut fields = entity.fields.iter().filter(|field| !field.hidden);
        is(&entity.name)
            || entity.grain.as_deref().is_some_and(is)
            || entity.ai.synonyms.iter().any(|name| is(name))
            || fields.any(|it| is(&it.name) || is(&it.label) || it.ai.synonyms.iter().any(|name| is(name)))
    };
    !said.is_empty()
        && (field
            || ontology.metrics.iter().any(metric)
            || ontology.datasets.iter().filter(|entity| !entity.hidden).any(entity)
            || ontology.segments.iter().any(|it| is(&it.name) || it.synonyms.iter().any(|name| is(name))))
}

fn clip(text: &str, chars: usize) -> Value {
    clipped(text, chars).into()
}

/// Members that are not empty.
fn object(members: &[(&str, &str)]) -> Map<String, Value> {
    let members = members.iter().filter(|(_, text)| !text.is_empty());
    members.map(|(name, text)| ((*name).to_owned(), clip(text, ABOUT))).collect()
}

fn optional(thing: &mut Map<String, Value>, name: &str, text: Option<&String>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        thing.insert(name.into(), clip(text, ABOUT));
    }
}

fn also(thing: &mut Map<String, Value>, synonyms: &[String]) {
    if !synonyms.is_empty() {
        let synonyms: Vec<Value> = synonyms.iter().take(MAX_SYNONYMS).map(|word| clip(word, SYNONYM)).collect();
        thing.insert("also".into(), synonyms.into());
    }
}

/// Ten for each word of the question in a thing's names, three for each in its description.
fn hits(words: &BTreeSet<String>, name: &str, label: &str, ai: &AiContext, description: &str) -> usize {
    let named = stems(&format!("{} {label} {}", in_words(name), ai.synonyms.join(" ")));
    let described = stems(description);
    let in_names = words.intersection(&named).count();
    let in_description = words.intersection(&described).filter(|word| !named.contains(*word)).count();
    10 * in_names + 3 * in_description
}

/// Words without their ends, near enough for a rank.
fn stems(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words = words.filter(|word| word.len() > 2 && !SMALL.contains(&word.as_str()));
    words
        .map(|word| match word.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => word.strip_suffix('s').map_or(word.clone(), str::to_owned),
        })
        .collect()
}
