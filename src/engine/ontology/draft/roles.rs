//! What relationships and the keys behind them are called: "origin airport", "customer nation", "carrier".

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::ontology::draft::names::{canonical, common_prefix, ends_with, is_word, key_stem, noun, spelt_out};
use crate::engine::ontology::draft::sales::many;
use crate::engine::ontology::draft::vocabulary::Vocabulary;
use crate::engine::ontology::draft::{Candidate, DraftTable};
use crate::model::ontology::{DataType, Field, Ontology, Relationship};

/// Words for people who work on something; where a table of such people is the only one, they refer to it.
pub(super) const STAFF: &[&str] =
    &["rep", "manager", "mgr", "supervisor", "boss", "agent", "owner", "assignee", "approver", "salesperson", "seller"];

/// What the other side is: the words of the columns without those of the other table and of keys, and without letters
/// in front that are no word and tell no two columns apart.
pub(super) fn role(candidate: &Candidate, from: Option<&DraftTable>, vocabulary: &Vocabulary) -> Option<String> {
    let table = vocabulary.table(&candidate.to);
    let key_names: Vec<Vec<String>> = candidate.to_columns.iter().map(|name| vocabulary.words(name)).collect();
    let columns: Vec<Vec<String>> =
        from.into_iter().flat_map(|from| &from.columns).map(|column| vocabulary.words(&column.name)).collect();
    let prefix = from.map_or(0, |from| common_prefix(&vocabulary.table(&from.name), &columns));
    let all = vocabulary.words(candidate.from_columns.first()?);
    let mut words: Vec<String> = all.iter().skip(prefix).cloned().collect();
    if key_stem(&words).is_some() {
        words.pop();
    }
    let of_key: Vec<&String> = key_names.iter().flatten().collect();
    let own = |word: &String| {
        table.iter().any(|other| canonical(other) == canonical(word))
            || of_key.iter().any(|other| canonical(other) == canonical(word))
    };
    let says = |at: usize, word: &String| {
        is_word(word) || STAFF.contains(&word.as_str()) || tells_apart(&all, prefix + at, &columns)
    };
    let others = words.iter().enumerate().filter(|(_, word)| !own(word));
    let rest: Vec<String> = others.skip_while(|(at, word)| !says(*at, word)).map(|(_, word)| word.clone()).collect();
    (!rest.is_empty()).then(|| rest.join(" "))
}

/// Whether a word of a column's name tells it from another column that is called so but for this word: "to town" from
/// "from town", and not "to agency" from "to customer".
fn tells_apart(words: &[String], at: usize, columns: &[Vec<String>]) -> bool {
    let without = |words: &[String]| -> Vec<String> {
        words.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, word)| word.clone()).collect()
    };
    let rest = without(words);
    // All keys of a table are "ids".
    let bare = rest.is_empty() || key_stem(&rest).is_some_and(<[String]>::is_empty);
    columns.iter().filter(|other| other.as_slice() != words).any(|other| {
        let alike = other.len() == words.len() && without(other) == rest;
        let letters = other.get(at).is_some_and(|word| !is_word(word));
        alike && (!bare || letters) || !bare && *other == rest
    })
}

/// Other names of a role: spelt out, what means the same, and the role with the noun of the other table.
pub(super) fn names_of_role(role: &str, table: &[String]) -> Vec<String> {
    const SAME: &[(&str, &[&str])] = &[
        ("from", &["origin", "source"]),
        ("to", &["destination", "target"]),
        ("origin", &["source"]),
        ("dest", &["destination"]),
        ("src", &["source", "origin"]),
        ("ship", &["shipping", "delivery"]),
        ("bill", &["billing", "invoice"]),
        ("rep", &["representative"]),
        ("reports to", &["manager", "boss", "supervisor"]),
        ("parent", &["higher"]),
    ];
    let words: Vec<String> = role.split(' ').map(str::to_owned).collect();
    let mut names: Vec<String> = spelt_out(&words).filter(|spelt| spelt != role).into_iter().collect();
    names
        .extend(SAME.iter().filter(|(known, _)| *known == role).flat_map(|(_, same)| same.iter().map(|&it| it.into())));
    // "Support rep" is a "rep".
    names.extend(words.last().filter(|last| words.len() > 1 && STAFF.contains(&last.as_str())).cloned());
    let noun = noun(table);
    let with_noun: Vec<String> = names.iter().map(|name| format!("{name} {noun}")).collect();
    names.push(format!("{role} {noun}"));
    names.extend(with_noun);
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// Where two ways lead from one table to another over several, each is called by where it starts: the "customer nation"
/// and the "supplier nation" of an order. So is one beside two of another table.
pub(super) fn name_by_start(made: &mut [Relationship], vocabulary: &Vocabulary) {
    let starts: Vec<(String, String)> = made.iter().map(|it| (it.from.clone(), it.to.clone())).collect();
    let above: BTreeMap<&str, BTreeSet<&str>> =
        starts.iter().map(|(from, _)| (from.as_str(), above(from, &starts))).collect();
    for relationship in made.iter_mut().filter(|it| it.from != it.to && it.role.is_none()) {
        let mine = above.get(relationship.from.as_str());
        let meets = |other: &str| above.get(other).zip(mine).is_some_and(|(other, mine)| !other.is_disjoint(mine));
        let several = |from: &str| starts.iter().filter(|it| it.0 == from && it.1 == relationship.to).count() > 1;
        let other = |it: &&(String, String)| it.1 == relationship.to && it.0 != relationship.from;
        let others = starts.iter().filter(other).any(|(from, _)| meets(from) || several(from));
        let twice = starts.iter().filter(|it| **it == (relationship.from.clone(), relationship.to.clone())).count() > 1;
        let (from, to) = (vocabulary.table(&relationship.from), vocabulary.table(&relationship.to));
        if others && !twice && !ends_with(&from, &to) && relationship.from_columns.len() == 1 {
            relationship.ai.synonyms.push(format!("{} {}", noun(&from), noun(&to)));
        }
    }
}

/// A table and those from which references lead to it.
fn above<'a>(table: &'a str, starts: &'a [(String, String)]) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::from([table]), vec![table]);
    while let Some(reached) = open.pop() {
        let before = starts.iter().filter(|(_, to)| to == reached).map(|(from, _)| from.as_str());
        open.extend(before.filter(|from| found.insert(*from)));
    }
    found
}

/// A text key beside a name, by which others refer under the same word, is a code of what the word stands for: by
/// "carrier" people mean the airline.
pub(super) fn name_codes(ontology: &mut Ontology) {
    let alike = |it: &Relationship| match it.to_columns.as_slice() {
        [column] if it.from_columns == it.to_columns => Some((it.to.clone(), column.clone())),
        _ => None,
    };
    let referred: Vec<(String, String)> = ontology.relationships.iter().filter_map(alike).collect();
    for entity in &mut ontology.datasets {
        let named = entity.label_field.as_ref().is_some_and(|label| !entity.primary_key.contains(label));
        let code = format!("{}_code", entity.noun().replace(' ', "_"));
        if !named || entity.field(&code).is_some() {
            continue;
        }
        let noun = entity.noun();
        let is_code = |field: &&mut Field| {
            let words: Vec<String> = field.label.split(' ').map(str::to_owned).collect();
            field.datatype == DataType::String
                && key_stem(&words).is_none()
                && field.label != noun
                && entity.primary_key == [field.name.clone()]
                && referred.iter().any(|(to, column)| *to == entity.name && *column == field.name)
        };
        if let Some(field) = entity.fields.iter_mut().find(is_code) {
            entity.ai.synonyms.extend([field.label.clone(), many(&field.label)]);
            field.label = format!("{noun} code");
            field.name = code;
        }
    }
}
