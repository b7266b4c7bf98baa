//! Both ends of a way without the word for the first: "air time JFK to LAX".

use crate::engine::agent::english::lexicon::Sense;

use super::super::vocabulary;
use super::Item;

/// Where "from" is left out: before a value with "to" and another value of the same field behind it.
pub(in super::super) fn begin_without_from(items: &[Item]) -> Option<usize> {
    let places = |item: &Item| -> Vec<(usize, usize)> {
        let of = |sense: &Sense| match sense {
            Sense::Value { dataset, field, .. } => Some((*dataset, *field)),
            _ => None,
        };
        item.entries.iter().filter_map(|entry| of(&entry.sense)).collect()
    };
    let value = |item: &&Item| item.has_value() && !item.is_named();
    (1..items.len()).find(|at| {
        let (Some(first), Some(second)) = (items.get(*at).filter(value), items.get(at + 2).filter(value)) else {
            return false;
        };
        let before = items[at - 1].norm.as_str();
        let said = vocabulary::is_filler(before) || !vocabulary::direction(before).is_empty();
        let common = places(first).iter().any(|place| places(second).contains(place));
        items[at + 1].is("to") && common && !said
    })
}
