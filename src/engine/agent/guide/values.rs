//! Stored values that a text names, as conditions: "Kennedy" is `flight.origin = 'JFK'`.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{Sight, literal, name, one_line, way};
use super::words::{Sought, is_telling, split, stems};
use crate::engine::agent::planner::FieldValues;
use crate::model::ontology::{DataType, Entity, Field};
use crate::model::personal::is_personal;

/// Most conditions, and most of one field.
const MOST: usize = 20;
const MOST_OF_A_FIELD: usize = 5;

/// Fewest letters of a word that is looked for within values, and of one that may be misspelt.
const FEWEST_OF_A_PART: usize = 3;
const FEWEST_OF_A_SLIP: usize = 5;

/// A value that was found.
struct Found<'a> {
    entity: &'a Entity,
    field: &'a Field,
    value: &'a str,
    /// What people call it, where it was found by that.
    called: Option<&'a str>,
    fit: Fit,
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

/// What is found of a text, as lines, and the datasets of it. `names` are the words of all names of the ontology: what
/// is one of them alone is no part of a value that somebody looks for. Values that are personal data are found by those
/// who name them in full, as questions find them, and by nobody else.
pub(super) fn find(
    sought: &Sought,
    names: &BTreeSet<String>,
    sight: &Sight<'_>,
) -> (Vec<String>, Vec<(String, String)>) {
    let parts: Vec<&str> = sought
        .words
        .iter()
        .map(String::as_str)
        .filter(|word| word.chars().count() >= FEWEST_OF_A_PART && is_telling(word))
        .filter(|word| stems(word).iter().all(|stem| !names.contains(stem)))
        .collect();
    let mut found = Vec::new();
    for entity in sight.datasets() {
        for field in entity.fields.iter().filter(|field| !field.hidden) {
            let known = sight.values.iter().find(|it| is_of(it, entity, field));
            of_field(entity, field, known, sought, &parts, &mut found);
        }
    }
    if found.is_empty() {
        found = misspelt(&parts, sight);
    }
    lines(found, sight)
}

fn is_of(known: &FieldValues, entity: &Entity, field: &Field) -> bool {
    known.dataset.eq_ignore_ascii_case(&entity.name) && known.field.eq_ignore_ascii_case(&field.name)
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
fn misspelt<'a>(parts: &[&str], sight: &'a Sight<'_>) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    let words: Vec<&&str> = parts.iter().filter(|word| word.chars().count() >= FEWEST_OF_A_SLIP).collect();
    for entity in sight.datasets() {
        let fields = entity.fields.iter().filter(|field| !field.hidden && field.datatype == DataType::String);
        for field in fields.filter(|field| !is_personal(field)) {
            let known = sight.told_values(entity, field).into_iter().flat_map(|known| &known.values);
            for value in known {
                let near = split(value).iter().flat_map(|one| words.iter().filter_map(|word| slip(word, one))).min();
                found.extend(near.map(|apart| Found { entity, field, value, called: None, fit: Fit::Near(apart) }));
            }
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

/// The best of what was found; of each value once, and of each field a few. What people name outdoes what has a word of
/// it.
fn lines(mut found: Vec<Found<'_>>, sight: &Sight<'_>) -> (Vec<String>, Vec<(String, String)>) {
    found.sort_by(|a, b| (a.fit, a.value.len(), a.value).cmp(&(b.fit, b.value.len(), b.value)));
    let mut seen = BTreeSet::new();
    found.retain(|it| seen.insert((&it.entity.name, &it.field.name, it.value)));
    let mut of_fields: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    let mut more = 0;
    for it in &found {
        let count = of_fields.entry((&it.entity.name, &it.field.name)).or_default();
        *count += 1;
        if *count > MOST_OF_A_FIELD || lines.len() == MOST {
            more += 1;
            continue;
        }
        let place = (it.entity.name.clone(), it.field.name.clone());
        if !places.contains(&place) {
            places.push(place);
        }
        lines.push(condition(it, sight));
    }
    if more > 0 {
        lines.push(format!("{more} more values have these words; give more of them to find one"));
    }
    (lines, places)
}

/// As a query has it, and behind it what there is to know.
fn condition(found: &Found<'_>, sight: &Sight<'_>) -> String {
    let (dataset, field) = (name(&found.entity.name), name(&found.field.name));
    let line = format!("{dataset}.{field} = {}", literal(found.value, found.field.datatype));
    let mut notes: Vec<String> = found.called.iter().map(|called| format!("called {}", one_line(called, 60))).collect();
    if matches!(found.fit, Fit::Near(_)) {
        notes.push("spelt nearly so".into());
    }
    let leads = |it: &&crate::model::ontology::Relationship| it.to.eq_ignore_ascii_case(&found.entity.name);
    let ways: Vec<String> = sight
        .ontology
        .relationships
        .iter()
        .filter(leads)
        .filter_map(|one| Some(format!("{}.{dataset}.{field}", way(one, sight.ontology)?)))
        .collect();
    if !ways.is_empty() {
        notes.push(format!("from another dataset {}", ways.join(" or ")));
    }
    if notes.is_empty() { line } else { format!("{line}  -- {}", notes.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::{Cardinality, Ontology, Relationship};

    fn field(name: &str) -> Field {
        Field { name: name.into(), expression: name.into(), datatype: DataType::String, ..Field::default() }
    }

    fn relationship(name: &str, role: &str) -> Relationship {
        Relationship {
            name: name.into(),
            from: "flight".into(),
            to: "airport".into(),
            from_columns: vec![name.into()],
            to_columns: vec!["faa".into()],
            ai: Default::default(),
            role: Some(role.into()),
            cardinality: Cardinality::ManyToOne,
            optional: false,
            preferred: false,
            confidence: Default::default(),
        }
    }

    fn ontology() -> Ontology {
        let called = [("JFK".to_owned(), vec!["Kennedy".to_owned()])];
        let origin = Field { value_synonyms: called.into(), is_enum: true, ..field("origin") };
        let level = Field { datatype: DataType::Integer, ..field("level") };
        let pilot = Field { pii: Some("name".into()), index_values: true, ..field("pilot") };
        let secret = Field { hidden: true, ..field("secret") };
        let flight = Entity { name: "flight".into(), fields: vec![origin, level, pilot, secret], ..Entity::default() };
        let airport = Entity { name: "airport".into(), fields: vec![field("name")], ..Entity::default() };
        let relationships = vec![relationship("flight_from", "origin"), relationship("flight_to", "destination")];
        Ontology { datasets: vec![flight, airport], relationships, ..Ontology::default() }
    }

    fn found(text: &str) -> Vec<String> {
        let ontology = ontology();
        let known = |dataset: &str, field: &str, values: &[&str]| FieldValues {
            dataset: dataset.into(),
            field: field.into(),
            values: values.iter().map(|value| (*value).into()).collect(),
            complete: true,
        };
        let values = [
            known("flight", "origin", &["EWR", "JFK", "LGA"]),
            known("flight", "level", &["1", "2", "3"]),
            known("flight", "pilot", &["Ada Kennedy", "Bo Lane"]),
            known("airport", "name", &["John F Kennedy Intl Airport", "O'Hare Airport", "Honolulu Airport"]),
        ];
        let sight = Sight { ontology: &ontology, values: &values, extents: Default::default() };
        let names: BTreeSet<String> = ["flight", "airport"].map(str::to_owned).into();
        find(&Sought::new(text, &[], &names), &names, &sight).0
    }

    #[test]
    fn a_value_is_found_by_itself_by_what_it_is_called_and_by_its_words() {
        let kennedy = found("delays at Kennedy");
        assert_eq!(kennedy.len(), 2, "{kennedy:?}");
        assert_eq!(kennedy[0], "flight.origin = 'JFK'  -- called Kennedy");
        let ways = "from another dataset origin.airport.name or destination.airport.name";
        assert_eq!(kennedy[1], format!("airport.name = 'John F Kennedy Intl Airport'  -- {ways}"));
        assert_eq!(found("flights from ewr"), ["flight.origin = 'EWR'"]);
        assert!(found("o'hare")[0].starts_with("airport.name = 'O''Hare Airport'"));
        assert!(found("top 3 flights").is_empty(), "a number is a value only by itself");
        assert_eq!(found("3"), ["flight.level = 3"]);
    }

    #[test]
    fn names_of_the_ontology_are_no_part_of_a_value() {
        assert!(found("airport").is_empty(), "every airport has it in its name");
    }

    #[test]
    fn a_misspelt_value_is_found_where_nothing_else_is() {
        assert!(found("Honolulo")[0].contains("'Honolulu Airport'  -- spelt nearly so"));
        assert!(found("Hanover").is_empty());
    }

    #[test]
    fn personal_values_are_found_by_who_names_them_in_full() {
        assert_eq!(found("flights of Ada Kennedy")[0], "flight.pilot = 'Ada Kennedy'");
        for text in ["Lane", "Bo", "Bo Lan", "Ada"] {
            assert!(!found(text).iter().any(|line| line.contains("pilot")), "{text}");
        }
    }
}
