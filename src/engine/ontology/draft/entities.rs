//! Datasets made of tables.

use crate::engine::ontology::draft::DraftTable;
use crate::engine::ontology::draft::fields::{self, About};
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::kinds::is_audit;
use crate::engine::ontology::draft::labels;
use crate::engine::ontology::draft::measured::head_of;
use crate::engine::ontology::draft::names::{canonical, ends_with, inflected, key_stem, noun, plural, same, spelt_out};
use crate::engine::ontology::draft::reasons::{Judged, Reason};
use crate::engine::ontology::draft::sales::many;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::words::{ENDS, OWN_ROLES, ROLES, any};
use crate::model::ontology::{AiContext, DataType, Entity, Field, FieldRole, Ontology, Relationship, in_words};

/// Declared values that are written into an ontology.
const MOST_VALUES: usize = 200;

pub(super) fn entities(
    tables: &[DraftTable],
    vocabulary: &Vocabulary,
    keys: &[Keys],
    relationships: &[Relationship],
    zoned: bool,
    notes: &mut Vec<String>,
) -> Vec<(Entity, Judged)> {
    let entity = |(table, keys)| entity(table, vocabulary, keys, relationships, zoned, notes);
    tables.iter().zip(keys).map(entity).collect()
}

fn entity(
    table: &DraftTable,
    vocabulary: &Vocabulary,
    keys: &Keys,
    relationships: &[Relationship],
    zoned: bool,
    notes: &mut Vec<String>,
) -> (Entity, Judged) {
    let nouns = vocabulary.table(&table.name);
    let words = fields::words(table, vocabulary);
    let outgoing = || relationships.iter().filter(|relationship| relationship.from == table.name);
    let incoming = || relationships.iter().filter(|relationship| relationship.to == table.name);
    let joins: Vec<String> = outgoing()
        .flat_map(|relationship| relationship.from_columns.clone())
        .chain(incoming().flat_map(|relationship| relationship.to_columns.clone()))
        .collect();
    let single = outgoing().filter_map(|relationship| match relationship.from_columns.as_slice() {
        [column] => Some(column.clone()),
        _ => None,
    });
    let refers: Vec<String> = single.collect();
    if keys.primary.is_empty() {
        notes.push(format!("{} has no key that was found: nothing can refer to its rows.", table.name));
    }
    let about = About { joins: &joins, refers: &refers, key: &keys.primary, referred: incoming().count() > 0, zoned };
    let (mut fields, mut reasons) = fields::fields(table, vocabulary, &about);
    keep_values(table, &mut fields);
    if let Some(period) = &table.period
        && let Some(first_day) = period.field(&fields, &words, zoned)
    {
        fields.push(first_day);
        notes.extend(period.note());
    }
    note_empty(table, &fields, notes);
    let label = labels::label_field(table, &fields, &words, &nouns, keys);
    let mut columns = fields.iter_mut().zip(&words).zip(&mut reasons);
    if let Some((name, because)) = &label
        && let Some(((field, words), reasons)) = columns.find(|((field, _), _)| field.name == *name)
    {
        field.ai.synonyms.extend(short_name(words, &nouns));
        reasons.push(Reason::new("What rows are called by", *because));
    }
    let (sure, default_time_field) = fields::default_time_field(&fields, &words, &nouns).unzip();
    let one = noun(&nouns);
    // Only a bridge between two tables: nobody asks for its rows.
    let joined = |name: &String| outgoing().any(|relationship| relationship.from_columns.contains(name));
    let refers = outgoing().filter(|relationship| relationship.from_columns.len() == 1).count();
    let own = table.columns.iter().zip(&words).any(|(column, words)| !is_audit(words) && !joined(&column.name));
    let bridge = refers == 2 && !own && incoming().count() == 0;
    let mut synonyms = synonyms(&table.name, &nouns, &one);
    synonyms.extend(called_elsewhere(&nouns, incoming(), vocabulary));
    let entity = Entity {
        name: table.name.clone(),
        source: table.name.clone(),
        primary_key: keys.primary.clone(),
        unique_keys: keys.unique.clone(),
        description: if table.description.is_empty() {
            format!("One row per {one}.")
        } else {
            table.description.clone()
        },
        ai: AiContext { synonyms, ..AiContext::default() },
        fields,
        default_time_field,
        label_field: label.map(|(name, _)| name),
        grain: Some(one),
        row_policy: None,
        hidden: bridge,
    };
    (entity, Judged { sure: sure.unwrap_or_default(), reasons })
}

/// Lines of an order happened when the order did, unless a time of their own is called so. What is then a dataset's time
/// can be called its date.
pub(super) fn settle_times(ontology: &mut Ontology, judged: &mut [Judged]) {
    let weak = |(entity, judged): (&Entity, &Judged)| judged.sure < 2 && head_of(entity, ontology).is_some();
    let lines: Vec<bool> = ontology.datasets.iter().zip(judged.iter()).map(weak).collect();
    for ((entity, judged), line) in ontology.datasets.iter_mut().zip(judged).zip(lines) {
        if line {
            entity.default_time_field = None;
        }
        // "By date" means it.
        let dated = entity.fields.iter().any(|field| field.label == "date");
        let mut times = entity.fields.iter_mut().enumerate();
        let time = times.find(|(_, field)| Some(&field.name) == entity.default_time_field.as_ref());
        let Some((at, time)) = time else { continue };
        let because = match judged.sure {
            3.. => "It is called so.",
            2 => "It is not called like another time, such as when something was due or changed.",
            _ => "No time here is called better.",
        };
        judged.say(at, Reason::new("When rows happen", because));
        if !dated {
            time.ai.synonyms.push("date".into());
        }
    }
}

/// A table of what several things have, called like the column that says it: the rows of `allergen` with a product and
/// an allergen are allergens of products, and by "allergen" people mean the column.
pub(super) fn name_lists(ontology: &mut Ontology, vocabulary: &Vocabulary, judged: &mut [Judged]) {
    for at in 0..ontology.datasets.len() {
        let Some(entity) = ontology.datasets.get(at) else { break };
        let own = vocabulary.table(&entity.name);
        let of = |column: &String| {
            let mut refers = ontology.relationships.iter().filter(|it| it.from == entity.name);
            refers.find(|it| it.from_columns == [column.clone()]).map(|it| it.to.clone())
        };
        let [first, second] = entity.primary_key.as_slice() else { continue };
        let (owner, column) = match (of(first), of(second)) {
            (Some(owner), None) => (owner, second),
            (None, Some(owner)) => (owner, first),
            _ => continue,
        };
        let text = entity.field(column).filter(|field| field.datatype == DataType::String);
        let called = text.is_some_and(|field| same(std::slice::from_ref(&field.label), &[noun(&own)]));
        let referred = ontology.relationships.iter().any(|it| it.to == entity.name);
        let grain = format!("{} {}", noun(&vocabulary.table(&owner)), noun(&own));
        let name = grain.replace(' ', "_");
        if !called || referred || ontology.entity(&name).is_some() {
            continue;
        }
        let (old, column) = (entity.name.clone(), column.clone());
        for relationship in ontology.relationships.iter_mut().filter(|it| it.from == old) {
            relationship.from.clone_from(&name);
        }
        let Some(entity) = ontology.datasets.get_mut(at) else { break };
        entity.ai.synonyms = vec![many(&grain)];
        entity.description =
            entity.description.replace(&format!("One row per {}.", noun(&own)), &format!("One row per {grain}."));
        entity.name = name;
        entity.grain = Some(grain);
        let mut fields = entity.fields.iter_mut().enumerate();
        let listed = fields.find(|(_, field)| field.name == column);
        if let Some(((place, field), judged)) = listed.zip(judged.get_mut(at)) {
            field.role = FieldRole::Dimension;
            judged.say_role(place, Reason::new("Dimension", "It is what the rows list, and they are called like it."));
        }
    }
}

/// The values that somebody declared for texts stay known, whatever the rows hold today.
fn keep_values(table: &DraftTable, fields: &mut [Field]) {
    for field in fields.iter_mut().filter(|field| field.is_enum && field.datatype == DataType::String) {
        let declared = table.values.get(&field.name).or_else(|| table.told.values.get(&field.name));
        let declared = declared.filter(|values| values.len() <= MOST_VALUES).into_iter().flatten();
        let filled = declared.filter(|value| !value.trim().is_empty());
        field.value_synonyms.extend(filled.map(|value| (value.clone(), Vec::new())));
    }
}

/// Says which columns are hidden because nothing is in them.
fn note_empty(table: &DraftTable, fields: &[Field], notes: &mut Vec<String>) {
    let of = |rare: bool| {
        let known = fields.iter().filter_map(|field| Some((field, table.figures(&field.name)?)));
        let bare = known.filter(|(field, figures)| {
            let empty = fields::is_empty(figures);
            if rare { !empty && field.role == FieldRole::Measure && fields::is_rare(table, figures) } else { empty }
        });
        bare.map(|(field, _)| field.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (empty, rare) = (of(false), of(true));
    if !empty.is_empty() {
        notes.push(format!("{} has no value in {empty}: hidden.", table.name));
    }
    if !rare.is_empty() {
        notes.push(format!("Hardly a row of {} has a value in {rare}: hidden.", table.name));
    }
}

/// What a label is called for short: a "company claim number" is the "claim number" of a claim.
fn short_name(words: &[String], nouns: &[String]) -> Option<String> {
    let stem = key_stem(words)?;
    let more = stem.len().checked_sub(nouns.len()).filter(|more| *more > 0 && ends_with(stem, nouns))?;
    Some(words.get(more..)?.join(" "))
}

/// The noun and its plural, with short forms spelt out, as far as the name itself is none of them.
fn synonyms(name: &str, nouns: &[String], one: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let of_name = in_words(name);
    let spelt = spelt_out(nouns).map(|spelt| noun(&spelt.split(' ').map(str::to_owned).collect::<Vec<_>>()));
    for form in std::iter::once(one.to_owned()).chain(spelt) {
        let many = match form.rsplit_once(' ') {
            Some((first, last)) => format!("{first} {}", plural(last)),
            None => plural(&form),
        };
        for word in [form, many] {
            if word != of_name && !found.contains(&word) {
                found.push(word);
            }
        }
    }
    if one.ends_with("staff") {
        found.extend([format!("{one} member"), format!("{one} members")]);
    }
    found
}

/// What all that refer to a table call it, where several tables do by one word that says no role: a result's "fixture".
fn called_elsewhere<'a>(
    nouns: &[String],
    incoming: impl Iterator<Item = &'a Relationship>,
    vocabulary: &Vocabulary,
) -> Vec<String> {
    let called = |it: &Relationship| match it.from_columns.as_slice() {
        [column] => vocabulary.words(column),
        _ => Vec::new(),
    };
    let from_others = incoming.filter(|it| it.from != it.to);
    let all: Vec<(&str, Vec<String>)> = from_others.map(|it| (it.from.as_str(), called(it))).collect();
    let [(first, words), others @ ..] = all.as_slice() else { return Vec::new() };
    let stem = key_stem(words).unwrap_or_default();
    let [word] = stem else { return Vec::new() };
    let agreed = others.iter().all(|(from, words)| from != first && key_stem(words) == Some(stem));
    let role = [ENDS, OWN_ROLES, ROLES].iter().any(|roles| any(stem, roles));
    // "Id klienta" of a klient says no more than the noun.
    let own = nouns.iter().any(|noun| canonical(noun) == canonical(word) || inflected(noun, word));
    let another = vocabulary.names_another(stem, nouns);
    match !others.is_empty() && agreed && !role && !own && !another && word.len() >= 4 {
        true => vec![word.clone(), many(word)],
        false => Vec::new(),
    }
}
