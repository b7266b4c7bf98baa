//! Datasets made of tables.

use crate::engine::ontology::draft::DraftTable;
use crate::engine::ontology::draft::fields;
use crate::engine::ontology::draft::keys::Keys;
use crate::engine::ontology::draft::kinds::is_audit;
use crate::engine::ontology::draft::names::{Vocabulary, noun, plural, spelt_out};
use crate::model::ontology::{AiContext, DataType, Entity, Field, Relationship, in_words};

pub(super) fn entities(
    tables: &[DraftTable],
    vocabulary: &Vocabulary,
    keys: &[Keys],
    relationships: &[Relationship],
    notes: &mut Vec<String>,
) -> Vec<Entity> {
    tables.iter().zip(keys).map(|(table, keys)| entity(table, vocabulary, keys, relationships, notes)).collect()
}

fn entity(
    table: &DraftTable,
    vocabulary: &Vocabulary,
    keys: &Keys,
    relationships: &[Relationship],
    notes: &mut Vec<String>,
) -> Entity {
    let nouns = vocabulary.table(&table.name);
    let words = fields::words(table, vocabulary);
    let outgoing = || relationships.iter().filter(|relationship| relationship.from == table.name);
    let incoming = || relationships.iter().filter(|relationship| relationship.to == table.name);
    let joins: Vec<String> = outgoing()
        .flat_map(|relationship| relationship.from_columns.clone())
        .chain(incoming().flat_map(|relationship| relationship.to_columns.clone()))
        .collect();
    if keys.primary.is_empty() {
        notes.push(format!("{} has no key that was found: nothing can refer to its rows.", table.name));
    }
    let mut fields = fields::fields(table, vocabulary, &joins, &keys.primary, incoming().count() > 0);
    let label_field = fields::label_field(&fields, &words, &nouns).or_else(|| text_key(&fields, keys));
    let default_time_field = fields::default_time_field(&fields, &words, &nouns);
    // "By date" means it.
    let dated = fields.iter().any(|field| field.label == "date");
    if let Some(time) = fields.iter_mut().find(|field| Some(&field.name) == default_time_field.as_ref() && !dated) {
        time.ai.synonyms.push("date".into());
    }
    let one = noun(&nouns);
    // Only a bridge between two tables: nobody asks for its rows.
    let joined = |name: &String| outgoing().any(|relationship| relationship.from_columns.contains(name));
    let refers = outgoing().filter(|relationship| relationship.from_columns.len() == 1).count();
    let own = table.columns.iter().zip(&words).any(|(column, words)| !is_audit(words) && !joined(&column.name));
    let bridge = refers == 2 && !own && incoming().count() == 0;
    Entity {
        name: table.name.clone(),
        source: table.name.clone(),
        primary_key: keys.primary.clone(),
        unique_keys: keys.unique.clone(),
        description: if table.description.is_empty() {
            format!("One row per {one}.")
        } else {
            table.description.clone()
        },
        ai: AiContext { synonyms: synonyms(&table.name, &nouns, &one), ..AiContext::default() },
        fields,
        default_time_field,
        label_field,
        grain: Some(one),
        row_policy: None,
        hidden: bridge,
    }
}

/// A key that people can read.
fn text_key(fields: &[Field], keys: &Keys) -> Option<String> {
    let [key] = keys.primary.as_slice() else { return None };
    let field = fields.iter().find(|field| field.name == *key)?;
    let uuid = field.native_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("uuid"));
    (field.datatype == DataType::String && !uuid).then(|| key.clone())
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
    found
}
