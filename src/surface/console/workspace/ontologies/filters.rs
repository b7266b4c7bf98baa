//! How the page about an ontology says what the model holds. Where there is nothing to say, it is empty.

use askama::{Result, Values, filter_fn};
use serde::Serialize;

use crate::model::ontology::{Additivity, Confidence, DataType, Field, in_words};

pub use crate::surface::html::filters::*;

/// A word as documents write it, its parts set apart: `many to one`.
#[filter_fn]
pub fn word<T: Serialize>(of: T, _: &dyn Values) -> Result<String> {
    let word = serde_json::to_value(of).unwrap_or_default();
    Ok(word.as_str().unwrap_or_default().replace('_', " "))
}

/// The type of a field, where it is known.
#[filter_fn]
pub fn kind(of: &DataType, _: &dyn Values) -> Result<String> {
    Ok(if *of == DataType::Opaque { String::new() } else { format!("{of:?}") })
}

/// What people call a field, where that is more than its name in words.
#[filter_fn]
pub fn called(field: &Field, _: &dyn Values) -> Result<String> {
    Ok(if field.label == in_words(&field.name) { String::new() } else { field.label.clone() })
}

/// What a field is computed from, where that is more than the column of its name.
#[filter_fn]
pub fn formula(field: &Field, _: &dyn Values) -> Result<String> {
    Ok(if field.expression == field.name { String::new() } else { field.expression.clone() })
}

/// The known values of a field and what they are called, such as "O: open, pending; closed".
#[filter_fn]
pub fn values(field: &Field, _: &dyn Values) -> Result<String> {
    Ok(field.value_synonyms.iter().map(value).collect::<Vec<_>>().join("; "))
}

fn value((value, names): (&String, &Vec<String>)) -> String {
    if names.is_empty() { value.clone() } else { format!("{value}: {}", names.join(", ")) }
}

/// The kind of personal data that a field holds.
#[filter_fn]
pub fn personal(field: &Field, _: &dyn Values) -> Result<String> {
    Ok(field.pii.clone().filter(|kind| kind != "none").unwrap_or_default())
}

/// How a relationship is known, where nobody declared it.
#[filter_fn]
pub fn known(confidence: &Confidence, _: &dyn Values) -> Result<&'static str> {
    Ok(match confidence {
        Confidence::Declared => "",
        Confidence::Inferred => "inferred",
        Confidence::Verified => "verified",
    })
}

/// What to know of a metric when it is broken down.
#[filter_fn]
pub fn adds_up(additivity: &Additivity, _: &dyn Values) -> Result<&'static str> {
    Ok(match additivity {
        Additivity::Additive => "parts add up",
        Additivity::SemiAdditive => "parts add up, but not over time",
        Additivity::NonAdditive => "parts do not add up",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_alone_where_it_has_no_other_name() {
        assert_eq!(value((&"closed".into(), &vec![])), "closed");
        assert_eq!(value((&"O".into(), &vec!["open".into(), "pending".into()])), "O: open, pending");
    }
}
