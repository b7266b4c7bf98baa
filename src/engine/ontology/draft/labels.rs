//! What people call a row by: its name or title, and where nothing is called so, the text that tells rows apart and can
//! be read.

use crate::engine::ontology::draft::columns::is_random;
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::names::{ends_with, key_stem, noun, same};
use crate::engine::ontology::draft::{DraftTable, kinds};
use crate::model::ontology::{DataType, Field, FieldRole};

/// Names for names.
const NAMES: &[&str] = &[
    "name", "title", "nombre", "nom", "libelle", "bezeichnung", "naam", "nome", "titel", "titre", "titulo", "intitule",
    "headline", "caption", "label", "headsign",
];

/// Parts of a name, and names of something else that a row has.
const PARTS: &[&str] = &["first", "last", "middle", "given", "family", "user", "file", "sur", "fore"];

/// Longest value of a label on average, in characters.
const LONGEST: usize = 60;
/// Rows of which it may be chance that all have the same value.
const FEW: i64 = 4;

/// The field by which people call a row of a table, and why it is that one.
pub(super) fn label_field(
    table: &DraftTable,
    fields: &[Field],
    words: &[Vec<String>],
    nouns: &[String],
    keys: &Keys,
) -> Option<(String, &'static str)> {
    let made = fields.iter().skip(words.len()).find(|field| field.label == "full name");
    let fit = fitting(table, fields, words, nouns, keys);
    let texts = || fit.iter().copied().filter(|(field, _)| field.datatype == DataType::String && !field.hidden);
    let own = noun(nouns);
    let exact =
        |wanted: &[String]| texts().find(|(_, words)| wanted.contains(&words.join(" "))).map(|(field, _)| field);
    let named = || {
        let mut found = texts().filter(|(field, words)| {
            let name = words.iter().any(|word| NAMES.contains(&word.as_str()));
            name && field.role != FieldRole::Key && !words.iter().any(|word| PARTS.contains(&word.as_str()))
        });
        found.next().map(|(field, _)| field)
    };
    exact(&["name".into(), "full name".into()])
        .or(made)
        .or_else(|| exact(&["title".into(), format!("{own} name"), format!("{own} title"), "display name".into()]))
        .or_else(|| exact(std::slice::from_ref(&own)).filter(|field| field.role != FieldRole::Key))
        .or_else(named)
        .map(|field| (field.name.clone(), "It is called like a name or a title."))
        .or_else(|| Some((telling(table, &fit)?, "It tells most rows apart, and can be read.")))
        .or_else(|| Some((text_key(&fit, keys)?, "It is the key, and a text.")))
        .or_else(|| Some((number(&fit, nouns, keys)?, "It is a number that people gave to the rows.")))
}

/// The fields of columns that may be what people call a row by: not what nobody can say, what all rows have, or what is
/// something else's that the row refers to, such as the name of a customer beside the id of one.
fn fitting<'a>(
    table: &DraftTable,
    fields: &'a [Field],
    words: &'a [Vec<String>],
    nouns: &[String],
    keys: &Keys,
) -> Vec<(&'a Field, &'a [String])> {
    let columns = || fields.iter().zip(words.iter().map(Vec::as_slice));
    let own = |field: &Field| {
        keys.primary.contains(&field.name) || keys.unique.iter().any(|columns| columns.contains(&field.name))
    };
    let others: Vec<&[String]> =
        columns().filter(|(field, _)| !own(field)).filter_map(|(_, words)| key_stem(words)).collect();
    let of_other = |words: &[String]| match words {
        [stem @ .., last] => {
            let named = NAMES.contains(&last.as_str()) && !stem.is_empty();
            named && !same(stem, nouns) && others.contains(&stem)
        }
        [] => false,
    };
    let fits = |(field, words): &(&Field, &[String])| {
        let random = table.column(&field.name).is_some_and(is_random);
        let constant = table.rows() > FEW && table.figures(&field.name).is_some_and(|figures| figures.distinct == 1);
        let refers = field.role == FieldRole::Key && !own(field);
        !(random || constant || refers || of_other(words))
    };
    columns().filter(fits).collect()
}

/// A text that tells most rows apart and reads like a name or a short description.
fn telling(table: &DraftTable, fields: &[(&Field, &[String])]) -> Option<String> {
    let mut best: Option<(i64, &Field)> = None;
    for (field, words) in fields.iter().copied() {
        let Some((column, figures)) = table.column(&field.name).zip(table.figures(&field.name)) else { continue };
        let samples = &column.sample_values;
        let length: usize = samples.iter().map(|value| value.chars().count()).sum();
        let short = !samples.is_empty() && length <= LONGEST * samples.len();
        // Codes are in capitals and digits, what can be read has small letters or several words.
        let read = samples.iter().filter(|value| value.contains(char::is_lowercase) || value.contains(' ')).count();
        let readable = read * 2 > samples.len();
        let apart = figures.distinct.saturating_mul(10) >= table.rows().saturating_mul(9);
        let described = words.last().is_some_and(|last| matches!(last.as_str(), "description" | "desc"));
        let prose = kinds::is_prose(words) && !described;
        let id = key_stem(words).is_some() && words.last().is_none_or(|last| last != "identifier");
        let contact =
            words.iter().any(|word| matches!(word.as_str(), "email" | "mail" | "phone" | "address" | "street"));
        let fits = field.datatype == DataType::String
            && !field.hidden
            && short
            && readable
            && apart
            && !prose
            && !id
            && !contact;
        let score = i64::from(field.role != FieldRole::Key) + i64::from(!described);
        if fits && table.rows() > 1 && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, field));
        }
    }
    best.map(|(_, field)| field.name.clone())
}

/// A key that people can read.
fn text_key(fields: &[(&Field, &[String])], keys: &Keys) -> Option<String> {
    let [key] = keys.primary.as_slice() else { return None };
    let (field, _) = fields.iter().find(|(field, _)| field.name == *key)?;
    (field.datatype == DataType::String).then(|| key.clone())
}

/// A number or code that people gave the rows, beside the key that the database gave: "policy number".
fn number(fields: &[(&Field, &[String])], nouns: &[String], keys: &Keys) -> Option<String> {
    let unique = |field: &Field| keys.unique.iter().any(|key| matches!(key.as_slice(), [only] if *only == field.name));
    let named = |words: &[String]| key_stem(words).is_some_and(|stem| stem.is_empty() || ends_with(stem, nouns));
    let found = fields.iter().find(|(field, words)| !field.hidden && unique(field) && named(words));
    found.map(|(field, _)| field.name.clone())
}
