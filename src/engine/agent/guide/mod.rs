//! What an ontology offers to whoever is to write a query over it: all of it where that is not much, otherwise what has
//! to do with the words that are looked for, and the names of the rest. A language model reads it: so it is short lines
//! in the ontology's own names, as they are written in a query, and never more than so many bytes.

mod examples;
mod lines;
mod pick;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;

use jiff::civil::DateTime;

use self::lines::{BRIEF, Detail, FULL, NAMES, Sight, one_line};
use self::pick::{Item, Picked, Thing};
use crate::base::json;
use crate::engine::agent::near::{Found, Sought, find, names_of, open_terms, texts_of};
use crate::engine::agent::prepared::{Prepared, has_statement};
use crate::engine::ontology::graph::Graph;
use crate::engine::render::number::{DAYS, MONTHS};
use crate::model::guide::{Described, Guide};
use crate::model::ontology::{Ontology, Relationship, in_words};
use crate::model::personal::is_personal;
use crate::model::query::Query;
use crate::model::source::Dialect;

/// Characters of what an author wrote of the whole, and words of the house that are told.
const NOTES: usize = 600;
const MOST_TERMS: usize = 40;

/// Examples, and how many of them somebody verified.
const MOST_EXAMPLES: usize = 5;
const MOST_VERIFIED: usize = 2;

/// Sentences on values that are not known.
const MOST_UNKNOWN: usize = 2;

/// What is asked for.
pub(super) struct Wish<'a> {
    /// Words of what is looked for.
    pub about: Option<&'a str>,
    /// In the ontology's time zone.
    pub now: DateTime,
    /// Most bytes, as JSON.
    pub bytes: usize,
}

/// What may be named of an ontology. Without `prepared` nothing is said of its data, and `why` is told.
pub(super) fn guide(ontology: &Ontology, prepared: Option<&Prepared>, why: Option<&str>, wish: &Wish<'_>) -> Guide {
    let extents = prepared.map(|prepared| {
        let extent = |name: &String| Some((name.to_lowercase(), prepared.extent(name)?));
        ontology.datasets.iter().filter_map(|entity| extent(&entity.name)).collect()
    });
    let sight = Sight {
        ontology,
        values: prepared.map_or(&[], |prepared| &prepared.values),
        extents: extents.unwrap_or_default(),
        dialect: prepared.map_or(Dialect::DuckDb, |prepared| prepared.dialect),
    };
    let unread = prepared.into_iter().flat_map(|prepared| &prepared.left_out).map(String::as_str);
    let unknown: Vec<String> = why.into_iter().chain(unread).take(MOST_UNKNOWN).map(str::to_owned).collect();
    let graph = prepared.map_or_else(|| Arc::new(Graph::new(ontology)), |prepared| prepared.graph.clone());
    let runs = |query: &Query| match prepared {
        Some(prepared) => prepared.runs(query, wish.now),
        None => has_statement(query, ontology, (&graph, sight.dialect), wish.now),
    };
    written(&sight, &graph, &unknown, (wish, &runs))
}

/// A dataset as queries name it where a certain way leads to it: by the names of its relationships, and its own.
pub fn by_way(names: &[String], dataset: &str, ontology: &Ontology) -> String {
    let ways = names.iter().filter_map(|name| ontology.relationship(name));
    let ways = ways.map(|one| lines::way_name(one, ontology)).chain([lines::name(dataset)]);
    ways.collect::<Vec<_>>().join(".")
}

/// Questions that can be asked: those that an author wrote, or some that its metrics suggest.
pub fn questions(ontology: &Ontology, most: usize) -> Vec<String> {
    let verified = ontology.verified_queries.iter().map(|query| &query.question);
    let written: Vec<String> =
        ontology.ai.examples.iter().chain(verified).take(most).map(|text| one_line(text, 160)).collect();
    if !written.is_empty() {
        return written;
    }
    let suggested = ontology.metrics.iter().take(most).map(|metric| {
        let base = examples::base(metric, ontology);
        let leads = |one: &&Relationship| base.is_some_and(|base| one.from.eq_ignore_ascii_case(&base.name));
        let by = ontology.relationships.iter().find(leads).and_then(|one| ontology.entity(&one.to));
        match by.filter(|entity| !entity.hidden) {
            Some(entity) => format!("{} by {}", in_words(&metric.name), entity.noun()),
            None => in_words(&metric.name),
        }
    });
    suggested.collect()
}

/// Whether a query can be asked.
type Runs<'a> = dyn Fn(&Query) -> bool + 'a;

/// The guide itself.
fn written(sight: &Sight<'_>, graph: &Graph, unknown: &[String], (wish, runs): (&Wish<'_>, &Runs<'_>)) -> Guide {
    let ontology = sight.ontology;
    let names = names_of(ontology);
    let terms: Vec<(String, String)> = open_terms(ontology).collect();
    let sought = wish.about.map(|about| Sought::new(about, &terms, &names));
    let found = sought.as_ref().map(|sought| find(sought, &names, (ontology, sight.values))).unwrap_or_default();
    let (values, places) = values::lines(&found, sight);
    let mut picked = Picked::new(sight, sought.as_ref(), &places);
    let nothing = sought.is_some() && picked.is_empty();
    if nothing {
        picked = Picked::new(sight, None, &[]);
    }
    let not_found = match sought.filter(|_| !nothing) {
        Some(sought) => not_found(&sought, &found, sight),
        None => wish
            .about
            .map(|about| format!("Nothing here is called so: {}. This is what there is.", one_line(about, 80))),
    };
    let mut guide = Guide { not_found, notes: notes(sight, wish.now, &terms), values, ..Guide::default() };
    guide.examples = shown_examples(&picked, sight, graph, runs);
    guide.left_out = Some(unknown.join(" ")).filter(|left| !left.is_empty());
    let details: &[Detail] = if nothing { &[NAMES] } else { &[FULL, BRIEF] };
    fill(guide, &picked, sight, (details, wish.bytes))
}

/// The words that neither a name nor a value has, in a sentence. Where a value is spelt nearly so, that says it.
fn not_found(sought: &Sought, found: &[Found<'_>], sight: &Sight<'_>) -> Option<String> {
    let of_values = found.iter().flat_map(|it| [Some(it.value), it.called]).flatten();
    let unknown = sought.unknown(texts_of(sight.ontology).chain(of_values));
    let fields = sight.datasets().flat_map(|entity| &entity.fields);
    let has_people = fields.into_iter().any(|field| !field.hidden && is_personal(field));
    let people = match has_people {
        true => {
            " Names of people are found by the whole of them only, if at all: a filter on their field may find more."
        }
        false => "",
    };
    let words = one_line(&unknown.join(", "), 80);
    let is_said = !unknown.is_empty() && !found.iter().any(Found::is_slip);
    is_said.then(|| format!("Neither a name nor a known value here has: {words}.{people}"))
}

/// Everything that was picked in the greatest of some details that there is room for; what does not fit then is named
/// as far as there is room, and counted.
fn fill(guide: Guide, picked: &Picked<'_>, sight: &Sight<'_>, (details, bytes): (&[Detail], usize)) -> Guide {
    let narrowed = picked.left_out(sight);
    for detail in details {
        let mut whole = guide.clone();
        picked.items.iter().for_each(|item| add(&mut whole, item, sight, detail));
        add_sentence(&mut whole, narrowed.as_deref());
        if size(&whole) <= bytes {
            return whole;
        }
    }
    let mut order: Vec<(usize, &Item<'_>)> = picked.items.iter().enumerate().collect();
    order.sort_by_key(|(at, item)| (std::cmp::Reverse(item.rank), *at));
    let mut used = size(&guide);
    let mut shown: Vec<(usize, Detail)> = Vec::new();
    let mut rest: Vec<(usize, &Item<'_>)> = Vec::new();
    // The best in brief in half of the room, others by their names in the next third; then names alone.
    for (detail, most) in [(BRIEF, bytes / 2), (NAMES, bytes * 5 / 6)] {
        for (at, item) in std::mem::take(&mut order) {
            let mut alone = Guide::default();
            add(&mut alone, item, sight, &detail);
            let bytes = size(&alone);
            if used + bytes <= most {
                used += bytes;
                shown.push((at, detail));
            } else {
                rest.push((at, item));
            }
        }
        order = std::mem::take(&mut rest);
    }
    shown.sort_by_key(|(at, _)| *at);
    let mut guide = guide;
    for (at, detail) in shown {
        picked.items.get(at).into_iter().for_each(|item| add(&mut guide, item, sight, &detail));
    }
    let others: Vec<&Item<'_>> = order.into_iter().map(|(_, item)| item).collect();
    add_sentence(&mut guide, narrowed.as_deref());
    let room = bytes.saturating_sub(size(&guide) + 200);
    add_sentence(&mut guide, not_fitting(&others, room).as_deref());
    guide
}

/// What there was no room for: by name as far as there is, and by number.
fn not_fitting(others: &[&Item<'_>], room: usize) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    let mut room = room;
    for (kind, is) in [
        ("metrics", (|thing: &Thing<'_>| matches!(thing, Thing::Metric(_))) as fn(&Thing<'_>) -> bool),
        ("segments", |thing| matches!(thing, Thing::Segment(_))),
        ("datasets", |thing| matches!(thing, Thing::Dataset(..))),
        ("relationships", |thing| matches!(thing, Thing::Relationship(_))),
    ] {
        let all: Vec<&str> = others.iter().filter(|item| is(&item.thing)).map(|item| item.thing.name()).collect();
        let mut named: Vec<&str> = Vec::new();
        for name in &all {
            // With a comma, and in quotation marks what JSON escapes.
            let bytes = name.len() + 2 + name.matches(['"', '\\']).count();
            if bytes > room {
                break;
            }
            room -= bytes;
            named.push(name);
        }
        let more = all.len() - named.len();
        match (named.is_empty(), more) {
            (true, 0) => {}
            (true, _) => said.push(format!("{more} {kind}")),
            (false, 0) => said.push(format!("{} {kind} ({})", all.len(), named.join(", "))),
            (false, _) => said.push(format!("{} {kind} ({} and {more} more)", all.len(), named.join(", "))),
        }
    }
    let call = "Call again with `about`: words of the question, or a dataset's name.";
    (!said.is_empty()).then(|| format!("There is no room for the details of {}. {call}", said.join(", ")))
}

/// Puts one thing where it belongs.
fn add(guide: &mut Guide, item: &Item<'_>, sight: &Sight<'_>, detail: &Detail) {
    match &item.thing {
        Thing::Metric(metric) => guide.metrics.push(lines::metric(metric, sight.ontology, detail)),
        Thing::Segment(segment) => guide.segments.push(lines::segment(segment, sight.ontology, detail)),
        Thing::Relationship(one) => guide.relationships.push(lines::relationship(one, sight.ontology, detail)),
        Thing::Dataset(entity, fields) => {
            let dataset = lines::dataset(entity, sight, detail);
            let names = |fields: &mut dyn Iterator<Item = String>| fields.collect::<Vec<_>>().join(", ");
            let offered = || entity.fields.iter().filter(|field| !field.hidden);
            let shown = |name: &str| fields.as_ref().is_none_or(|fields| fields.contains(name));
            let mut lines: Vec<String> = Vec::new();
            if detail.fields {
                lines = offered()
                    .filter(|field| shown(&field.name))
                    .map(|field| lines::field(entity, field, sight, detail))
                    .collect();
            }
            let others = names(
                &mut offered()
                    .filter(|field| !detail.fields || !shown(&field.name))
                    .map(|field| lines::name(&field.name)),
            );
            if !others.is_empty() {
                lines.push(if lines.is_empty() { others } else { format!("also: {others}") });
            }
            guide.datasets.push(Described { dataset, fields: lines });
        }
    }
}

fn add_sentence(guide: &mut Guide, sentence: Option<&str>) {
    let Some(sentence) = sentence else { return };
    match &mut guide.left_out {
        Some(left_out) => *left_out = format!("{left_out} {sentence}"),
        None => guide.left_out = Some(sentence.to_owned()),
    }
}

fn size(guide: &Guide) -> usize {
    json::size(guide).unwrap_or(usize::MAX)
}

/// What holds for all of an ontology.
fn notes(sight: &Sight<'_>, now: DateTime, terms: &[(String, String)]) -> Vec<String> {
    let ontology = sight.ontology;
    let mut notes = Vec::new();
    for text in [&ontology.description, &ontology.ai.instructions] {
        if !text.trim().is_empty() {
            notes.push(one_line(text, NOTES));
        }
    }
    let calendar = &ontology.calendar;
    let at = |names: &[&'static str], number: u8| names.get(usize::from(number).saturating_sub(1)).copied();
    let mut time = format!("Now it is {} in {}", now.strftime("%Y-%m-%d %H:%M, %A"), calendar.timezone);
    if let Some(day) = at(&DAYS, calendar.week_start) {
        time += &format!("; weeks begin on {day}");
    }
    if let Some(month) = at(&MONTHS, calendar.fiscal_year_start).filter(|_| calendar.fiscal_year_start != 1) {
        time += &format!("; fiscal years begin in {month}");
    }
    notes.push(time + ".");
    if let Some(currency) = &ontology.currency {
        notes.push(format!("Amounts are in {currency} where no unit is given."));
    }
    let terms: Vec<String> = terms
        .iter()
        .take(MOST_TERMS)
        .map(|(term, means)| format!("{} = {}", one_line(term, 40), one_line(means, 60)))
        .collect();
    if !terms.is_empty() {
        notes.push(format!("Words: {}.", terms.join("; ")));
    }
    notes
}

/// Queries that somebody verified, and some about what was picked.
fn shown_examples(picked: &Picked<'_>, sight: &Sight<'_>, graph: &Graph, runs: &Runs<'_>) -> Vec<Query> {
    let (metric, dataset) = picked.best();
    let verified = examples::verified(sight.ontology).take(MOST_VERIFIED);
    let mut queries: Vec<Query> = verified.chain(examples::queries(metric, dataset, sight, graph)).collect();
    queries.retain(|query| runs(query));
    queries.truncate(MOST_EXAMPLES);
    queries
}
