//! What things of an ontology are called in a sentence.

use crate::engine::render::nouns::{plural, singular};
use crate::model::ontology::{Aggregation, DataType, Field, Metric, Ontology, Relationship, in_words};
use crate::model::plan::{Dimension, FieldRef, Measure, Plan, Value};

/// A field: its label in small letters, with its dataset where another dataset has a field of the same name, and with
/// the role of the way that leads to it: "origin airport name".
pub fn field(at: &FieldRef, ontology: &Ontology) -> String {
    let words = match ontology.field(&at.dataset, &at.field) {
        Some(field) => sentence_case(&field.words()),
        None => in_words(&at.field),
    };
    let noun = noun(&at.dataset, ontology);
    let roles = roles(&at.via, &at.dataset, ontology);
    let with_noun = if roles.is_empty() && !is_shared(at, &words, ontology) || says(&words, &noun) {
        words
    } else {
        format!("{noun} {words}")
    };
    roles
        .into_iter()
        .rev()
        .fold(with_noun, |words, role| if says(&words, &role) { words } else { format!("{role} {words}") })
}

/// The roles of relationships that lead to a dataset. One without a role is said by the dataset on the way, "customer
/// city"; it needs no name where it is the only one that leads to the dataset.
pub fn roles(via: &[String], dataset: &str, ontology: &Ontology) -> Vec<String> {
    let role = |name: &String| match ontology.relationship(name) {
        Some(Relationship { role: Some(role), .. }) => Some(in_words(role)),
        Some(one) if has_others(one, ontology) => Some(in_words(name)),
        Some(one) if one.to.eq_ignore_ascii_case(dataset) => {
            let leads = |other: &&Relationship| other.to.eq_ignore_ascii_case(dataset);
            (ontology.relationships.iter().filter(leads).count() > 1).then(|| noun(&one.from, ontology))
        }
        Some(one) => (!one.from.eq_ignore_ascii_case(dataset)).then(|| noun(&one.to, ontology)),
        None => Some(in_words(name)),
    };
    via.iter().filter_map(role).collect()
}

/// Whether another relationship leads from the same dataset to the same one.
pub(super) fn has_others(one: &Relationship, ontology: &Ontology) -> bool {
    let same =
        |other: &&Relationship| other.from.eq_ignore_ascii_case(&one.from) && other.to.eq_ignore_ascii_case(&one.to);
    ontology.relationships.iter().filter(same).count() > 1
}

/// Whether another dataset that people see has a field called the same.
fn is_shared(at: &FieldRef, words: &str, ontology: &Ontology) -> bool {
    let same = |field: &Field| !field.hidden && field.words().eq_ignore_ascii_case(words);
    ontology.datasets.iter().any(|dataset| {
        !dataset.hidden && !dataset.name.eq_ignore_ascii_case(&at.dataset) && dataset.fields.iter().any(same)
    })
}

fn says(words: &str, part: &str) -> bool {
    format!(" {} ", words.to_lowercase()).contains(&format!(" {} ", part.to_lowercase()))
}

/// One row of a dataset.
pub fn noun(dataset: &str, ontology: &Ontology) -> String {
    match ontology.entity(dataset) {
        Some(entity) if entity.grain.is_some() => sentence_case(&entity.noun()),
        Some(entity) => singular(&entity.noun()),
        None => singular(&in_words(dataset)),
    }
}

/// Several rows of a dataset.
pub fn nouns(dataset: &str, ontology: &Ontology) -> String {
    plural(&noun(dataset, ontology))
}

/// A column of the answer: "month", "departure delay in ranges of 10", "origin".
pub fn dimension(dimension: &Dimension, ontology: &Ontology) -> String {
    match dimension.grain {
        Some(grain) if is_default_time(&dimension.field, ontology) => grain.words().to_owned(),
        _ => dimension_in_full(dimension, ontology),
    }
}

/// A column of a plan's answer: of a time that is none of its numbers' own, which it is.
pub fn group(dimension: &Dimension, plan: &Plan, ontology: &Ontology) -> String {
    match dimension.grain {
        Some(grain) if is_own_time(&dimension.field, plan, ontology) => grain.words().to_owned(),
        _ => dimension_in_full(dimension, ontology),
    }
}

fn dimension_in_full(dimension: &Dimension, ontology: &Ontology) -> String {
    let name = field(&dimension.field, ontology);
    match (dimension.grain, dimension.bucket) {
        (Some(grain), _) => format!("{} of {name}", grain.words()),
        (None, Some(width)) => format!("{name} in ranges of {width}"),
        (None, None) => name,
    }
}

/// The time that rows have when a question says only when.
fn is_default_time(at: &FieldRef, ontology: &Ontology) -> bool {
    let of_dataset = ontology
        .entity(&at.dataset)
        .and_then(|entity| entity.default_time_field.as_deref())
        .is_some_and(|name| name.eq_ignore_ascii_case(&at.field));
    of_dataset && at.via.is_empty()
}

/// Whether a time is the one that rows of a number of the plan have when a question says only when; of a number of which
/// that is not known it is taken to be so.
pub fn is_own_time(at: &FieldRef, plan: &Plan, ontology: &Ontology) -> bool {
    let own = format!("{}.{}", at.dataset, at.field);
    let times: Vec<Option<String>> = plan.measures.iter().flat_map(|measure| times(measure, ontology)).collect();
    let is_it = |time: &Option<String>| time.as_ref().is_none_or(|time| time.eq_ignore_ascii_case(&own));
    is_default_time(at, ontology) && (times.is_empty() || times.iter().any(is_it))
}

/// When the rows of a number were, as `dataset.field`; `None` where its dataset does not say it itself.
fn times(of: &Measure, ontology: &Ontology) -> Vec<Option<String>> {
    let default = |dataset: &str| {
        let time = ontology.entity(dataset).and_then(|entity| entity.default_time_field.as_ref())?;
        Some(format!("{dataset}.{time}"))
    };
    match &of.value {
        Value::Count(dataset) => vec![default(dataset)],
        Value::Aggregate { field, .. } | Value::Days { to: field, .. } => vec![default(&field.dataset)],
        Value::Metric(name) => match ontology.metric(name) {
            Some(Metric { default_time_field: Some(time), .. }) => vec![Some(time.clone())],
            metric => {
                let text = metric.map_or("", |metric| metric.expression.as_str());
                let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
                let named = words.filter_map(|word| ontology.entity(word.split_once('.')?.0));
                let times: Vec<_> = named.map(|entity| default(&entity.name)).collect();
                if times.is_empty() { vec![None] } else { times }
            }
        },
        Value::Ratio { .. } | Value::Difference(..) | Value::Sum(_) | Value::Over { .. } | Value::Number(_) => {
            of.value.measures().into_iter().flat_map(|part| times(part, ontology)).collect()
        }
    }
}

/// Before a noun: "average delay". Of times the extremes are the earliest and the latest.
pub fn aggregation(function: Aggregation, of: DataType) -> &'static str {
    let of_time = of.is_calendar() || of == DataType::Time;
    match function {
        Aggregation::Sum => "total",
        Aggregation::Avg => "average",
        Aggregation::Median => "median",
        Aggregation::Min if of_time => "earliest",
        Aggregation::Min => "lowest",
        Aggregation::Max if of_time => "latest",
        Aggregation::Max => "highest",
        Aggregation::Count => "number of values of",
        Aggregation::CountDistinct => "number of distinct values of",
        Aggregation::Stddev => "standard deviation of",
    }
}

/// "a", "a and b", "a, b and c".
pub fn listed(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A label as it stands inside a sentence: "Policy Number" and "Policy number" are "policy number", "IATA code" stays.
pub fn sentence_case(label: &str) -> String {
    let is_title = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase)
            && chars.clone().any(char::is_alphabetic)
            && chars.all(|c| !c.is_uppercase())
    };
    let words: Vec<&str> = label.split_whitespace().collect();
    let all_titles =
        words.iter().filter(|word| word.chars().count() > 3).all(|word| !word.starts_with(char::is_lowercase));
    let lowered = words.iter().enumerate().map(|(at, word)| match is_title(word) && (at == 0 || all_titles) {
        true => word.to_lowercase(),
        false => (*word).to_owned(),
    });
    lowered.collect::<Vec<_>>().join(" ")
}
