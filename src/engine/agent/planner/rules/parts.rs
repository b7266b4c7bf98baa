//! Parts of values: "Castle" for the shop "Castle Hill". Only capitalised words that nothing else knows are looked for
//! within values, because everyday words stand in many.

use std::collections::BTreeSet;

use crate::engine::agent::lexicon::{Lexicon, Sense, words};

use super::grammar;
use super::items::{Item, Kind};

/// Gives unknown names the values that they are part of. Where there is one value, it is said to be meant; of several
/// the question back is which.
pub(super) fn find(items: &mut Vec<Item>, on: &Lexicon) {
    let mut at = 0;
    while at < items.len() {
        if !is_name(items, at) {
            at += 1;
            continue;
        }
        // The longest run of names around it that is part of a value.
        let first = (0..at).rev().take(3).take_while(|before| may_join(&items[*before])).last().unwrap_or(at);
        let last = (at + 1..items.len()).take(3).take_while(|after| may_join(&items[*after])).last().unwrap_or(at);
        let mut runs: Vec<(usize, usize)> =
            (first..=at).flat_map(|from| (at..=last).map(move |to| (from, to))).collect();
        runs.sort_by_key(|(from, to)| std::cmp::Reverse(to - from));
        // What stands right beside a known value says more of it, and is no name of its own.
        let beside = (first..=last).any(|other| other != at && items[other].has_value());
        let found = runs.into_iter().filter(|(from, to)| from < to || !beside).find_map(|(from, to)| {
            let said: Vec<String> = items[from..=to].iter().flat_map(|item| words::split(&item.text)).collect();
            let entries = on.containing(&said);
            (!entries.is_empty()).then_some((from, to, entries))
        });
        at += 1;
        let Some((from, to, entries)) = found else { continue };
        let values: BTreeSet<&String> = entries
            .iter()
            .filter_map(|entry| match &entry.sense {
                Sense::Value { value, .. } => Some(value),
                _ => None,
            })
            .collect();
        let corrected = values.first().filter(|_| values.len() == 1).map(|value| (*value).clone());
        let text = items[from..=to].iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" ");
        let norm = words::split(&text).join(" ");
        items.splice(from..=to, [Item { text, norm, kind: Kind::Word, entries, corrected }]);
        at = from + 1;
    }
}

/// A capitalised word inside of a question that the lexicon does not know.
fn is_name(items: &[Item], at: usize) -> bool {
    let item = &items[at];
    let shouted = items.iter().all(|item| !item.text.chars().any(char::is_lowercase));
    item.kind == Kind::Word
        && item.entries.is_empty()
        && at > 0
        && !shouted
        && item.text.starts_with(char::is_uppercase)
        && item.text.chars().any(char::is_lowercase)
        && !grammar::is_ordinary(&item.norm)
}

/// Whether a word may be part of a name with the one beside it.
fn may_join(item: &Item) -> bool {
    item.kind == Kind::Word && item.text.starts_with(char::is_uppercase)
}
