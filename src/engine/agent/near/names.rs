//! Names of an ontology and stored values that come near some words: what to say instead of what means nothing. Within
//! bounds, since both sides are written by others; personal values are told nobody who did not name them.

use super::alike::{ALIKE, best};
use super::words::in_name;
use crate::engine::agent::planner::FieldValues;
use crate::model::ontology::{Entity, Field, Ontology};
use crate::model::personal::is_personal;
use crate::model::run::{Described, Near};
use crate::model::source::text_literal;

/// Most names of each kind.
const MOST: usize = 8;

/// Datasets that are named.
const MOST_DATASETS: usize = 50;

/// Longest description of a dataset, in characters.
const SAID: usize = 120;

/// Stored values that are looked at.
const MOST_VALUES: usize = 200_000;

/// Longer values are not offered, in bytes.
const LONGEST_VALUE: usize = 100;

/// What comes near some words, the nearest first; the fields of datasets that they name after those that they name
/// themselves. Where no metric comes near, the first ones.
pub(in crate::engine::agent) fn near(words: &[String], ontology: &Ontology, stored: &[FieldValues]) -> Near {
    let words: Vec<String> = words.iter().flat_map(|word| in_name(word)).collect();
    let metrics = ontology.metrics.iter().map(|metric| {
        let names = std::iter::once(metric.name.as_str()).chain(metric.ai.synonyms.iter().map(String::as_str));
        (best(&words, names), metric.name.clone())
    });
    let metrics: Vec<(f64, String)> = metrics.collect();
    let segments = ontology.segments.iter().map(|segment| {
        let names = std::iter::once(segment.name.as_str()).chain(segment.synonyms.iter().map(String::as_str));
        (best(&words, names), segment.name.clone())
    });
    let mut near = Near {
        metrics: first(metrics.iter().cloned()),
        segments: first(segments),
        fields: first(fields(&words, ontology)),
        values: first(values(&words, ontology, stored)),
    };
    if near.metrics.is_empty() {
        near.metrics = metrics.into_iter().take(MOST).map(|(_, name)| name).collect();
    }
    near
}

/// The datasets that people may name.
pub(in crate::engine::agent) fn datasets(ontology: &Ontology) -> Vec<Described> {
    let shown = ontology.datasets.iter().filter(|entity| !entity.hidden).take(MOST_DATASETS);
    let described = |entity: &Entity| Described {
        name: entity.name.clone(),
        description: entity.description.chars().take(SAID).collect::<String>().trim().to_owned(),
    };
    shown.map(described).collect()
}

/// The best of what comes near at all, each once.
fn first(scored: impl Iterator<Item = (f64, String)>) -> Vec<String> {
    let mut found: Vec<(f64, String)> = scored.filter(|(score, _)| *score >= ALIKE).collect();
    found.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut names: Vec<String> = Vec::new();
    for (_, name) in found {
        if names.len() < MOST && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn fields<'a>(words: &'a [String], ontology: &'a Ontology) -> impl Iterator<Item = (f64, String)> + 'a {
    let of = move |entity: &'a Entity| {
        let noun = entity.grain.as_deref();
        let names = [Some(entity.name.as_str()), noun].into_iter().flatten();
        // After the fields that come near themselves.
        let of_entity = best(words, names.chain(entity.ai.synonyms.iter().map(String::as_str))).min(ALIKE);
        entity.fields.iter().filter(|field| !field.hidden).map(move |field| {
            let names = [field.name.as_str(), field.label.as_str()].into_iter();
            let own = best(words, names.chain(field.ai.synonyms.iter().map(String::as_str)));
            (own.max(of_entity), format!("{}.{}", entity.name, field.name))
        })
    };
    ontology.datasets.iter().filter(|entity| !entity.hidden).flat_map(of)
}

/// Stored values, and what people call them, as conditions.
fn values<'a>(
    words: &'a [String],
    ontology: &'a Ontology,
    stored: &'a [FieldValues],
) -> impl Iterator<Item = (f64, String)> + 'a {
    let known = stored.iter().filter_map(|values| {
        let field = ontology.field(&values.dataset, &values.field)?;
        (!is_personal(field)).then_some((values, field))
    });
    let each = known.flat_map(move |(values, field)| values.values.iter().map(move |value| (values, field, value)));
    each.take(MOST_VALUES).filter(|(_, _, value)| value.len() <= LONGEST_VALUE).map(move |(values, field, value)| {
        let called = field.value_synonyms.get(value).into_iter().flatten().map(String::as_str);
        let score = best(words, std::iter::once(value.as_str()).chain(called));
        (score, condition(values, field, value))
    })
}

fn condition(of: &FieldValues, field: &Field, value: &str) -> String {
    format!("{}.{} = {}", of.dataset, field.name, text_literal(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ontology::{AiContext, DataType};

    fn field(name: &str) -> Field {
        Field { name: name.into(), expression: name.into(), datatype: DataType::String, ..Field::default() }
    }

    /// Shops in towns, and who owns them.
    fn ontology() -> Ontology {
        let shop = Entity {
            name: "shop".into(),
            fields: vec![
                field("town"),
                Field {
                    ai: AiContext { synonyms: vec!["opening hours".into()], ..AiContext::default() },
                    ..field("open")
                },
                field("owner_email"),
                Field { hidden: true, ..field("towns") },
            ],
            ..Entity::default()
        };
        Ontology { datasets: vec![shop], ..Ontology::default() }
    }

    fn words(of: &[&str]) -> Vec<String> {
        of.iter().map(|word| (*word).to_owned()).collect()
    }

    fn stored(field: &str, values: &[&str]) -> FieldValues {
        FieldValues { dataset: "shop".into(), field: field.into(), values: words(values), complete: true }
    }

    #[test]
    fn fields_come_near_by_their_names_and_what_people_call_them() {
        let of = |word: &str| first(fields(&words(&[word]), &ontology()));
        assert_eq!(of("twon"), ["shop.town"], "and hidden ones never");
        assert_eq!(of("hours"), ["shop.open"]);
        assert_eq!(of("shops"), ["shop.town", "shop.open", "shop.owner_email"], "those of a dataset that is named");
        assert_eq!(of("revenue"), [""; 0]);
    }

    #[test]
    fn values_are_conditions_and_personal_ones_are_none() {
        let mut ontology = ontology();
        ontology.datasets[0].fields[0].value_synonyms = [("JFK".to_owned(), words(&["Kennedy"]))].into();
        let values = [
            stored("town", &["Ghent", "Den Bosch", "O'Ghent", "JFK", &format!("Ghent {}", "x".repeat(LONGEST_VALUE))]),
            stored("owner_email", &["ghent@example.org"]),
        ];
        let of = |word: &str| first(super::values(&words(&[word]), &ontology, &values));
        assert_eq!(of("ghent"), ["shop.town = 'Ghent'", "shop.town = 'O''Ghent'"]);
        assert_eq!(of("kennedy"), ["shop.town = 'JFK'"]);
        assert_eq!(of("bsoch"), ["shop.town = 'Den Bosch'"], "a slip");
    }
}
