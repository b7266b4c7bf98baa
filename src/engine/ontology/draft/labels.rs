//! What people call a row by: its name or title, and where nothing is called so, the text that tells rows apart and can
//! be read.

use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::names::{ends_with, key_stem, noun};
use crate::engine::ontology::draft::{DraftTable, kinds};
use crate::model::ontology::{DataType, Field, FieldRole};

/// Names for names.
const NAMES: &[&str] = &[
    "name",
    "title",
    "nombre",
    "nom",
    "libelle",
    "bezeichnung",
    "naam",
    "nome",
    "titel",
    "titre",
    "titulo",
    "intitule",
    "headline",
    "caption",
    "label",
    "headsign",
];

/// Parts of a name, and names of something else that a row has.
const PARTS: &[&str] = &["first", "last", "middle", "given", "family", "user", "file", "sur", "fore"];

/// Longest value of a label on average, in characters.
const LONGEST: usize = 60;

/// The field by which people call a row of a table, and why it is that one.
pub(super) fn label_field(
    table: &DraftTable,
    fields: &[Field],
    words: &[Vec<String>],
    nouns: &[String],
    keys: &Keys,
) -> Option<(String, &'static str)> {
    let made = fields.iter().skip(words.len()).find(|field| field.label == "full name");
    let texts = || fields.iter().zip(words).filter(|(field, _)| field.datatype == DataType::String && !field.hidden);
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
        .or_else(|| Some((telling(table, fields, words)?, "It tells most rows apart, and can be read.")))
        .or_else(|| Some((text_key(fields, keys)?, "It is the key, and a text.")))
        .or_else(|| Some((number(fields, words, nouns, keys)?, "It is a number that people gave to the rows.")))
}

/// A text that tells most rows apart and reads like a name or a short description.
fn telling(table: &DraftTable, fields: &[Field], words: &[Vec<String>]) -> Option<String> {
    let mut best: Option<(i64, &Field)> = None;
    for ((field, words), column) in fields.iter().zip(words).zip(&table.columns) {
        let Some(figures) = table.figures(&column.name) else { continue };
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
fn text_key(fields: &[Field], keys: &Keys) -> Option<String> {
    let [key] = keys.primary.as_slice() else { return None };
    let field = fields.iter().find(|field| field.name == *key)?;
    let uuid = field.native_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("uuid"));
    (field.datatype == DataType::String && !uuid).then(|| key.clone())
}

/// A number or code that people gave the rows, beside the key that the database gave: "policy number".
fn number(fields: &[Field], words: &[Vec<String>], nouns: &[String], keys: &Keys) -> Option<String> {
    let unique = |field: &Field| keys.unique.iter().any(|key| matches!(key.as_slice(), [only] if *only == field.name));
    let named = |words: &[String]| key_stem(words).is_some_and(|stem| stem.is_empty() || ends_with(stem, nouns));
    let found = fields.iter().zip(words).find(|(field, words)| !field.hidden && unique(field) && named(words));
    found.map(|(field, _)| field.name.clone())
}
