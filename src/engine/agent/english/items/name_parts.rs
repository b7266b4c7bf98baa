//! Parts of values: "Castle" for the shop "Castle Hill". Only capitalised words that nothing else knows are looked for
//! within values, because everyday words stand in many.

use std::collections::BTreeSet;

use crate::engine::agent::english::lexicon::{Effort, Lexicon, Sense, words};

use super::super::vocabulary;
use super::{Item, Kind};

/// Most unknown names of a question that are looked for within values.
const MOST_NAMES: usize = 8;

/// Steps after which no further name is looked for: a question has others to take.
const MOST_WORK: u64 = 5_000;

/// Gives unknown names the values that they are part of. Where there is one value, it is said to be meant; of several
/// the question back is which.
pub(in super::super) fn find(items: &mut Vec<Item>, on: &Lexicon, effort: &Effort<'_>) {
    let mut at = 0;
    let mut names = 0;
    let before = effort.spent();
    while at < items.len() && names < MOST_NAMES && effort.spent() - before < MOST_WORK {
        if !is_name(items, at) {
            at += 1;
            continue;
        }
        names += 1;
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
            let mut entries = on.containing(&said, effort);
            // "Castle shops" are none with something else that has "Castle" in its name.
            if let Some(things) = things(items.get(to + 1)) {
                entries
                    .retain(|entry| matches!(entry.sense, Sense::Value { dataset, .. } if things.contains(&dataset)));
            }
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

/// Says of values with which longer ones of the same field begin that the others are not meant: "Castle" beside "Castle
/// Hill".
pub(in super::super) fn begun_alike<'a>(
    values: impl Iterator<Item = (usize, usize, &'a str)>,
    on: &Lexicon,
    effort: &Effort<'_>,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (dataset, field, value) in values.take(MOST_NAMES) {
        let said = words::split(value);
        let mut longer: Vec<String> = Vec::new();
        for entry in on.containing(&said, effort) {
            match entry.sense {
                Sense::Value { dataset: d, field: f, value }
                    if d == dataset && f == field && words::split(&value).starts_with(&said) =>
                {
                    longer.push(format!("“{value}”"));
                }
                _ => {}
            }
        }
        if longer.is_empty() {
            continue;
        }
        longer.truncate(3);
        let line = format!("“{value}” alone is taken, without {}.", longer.join(", "));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// The datasets that an item is the name of, if it is one.
fn things(item: Option<&Item>) -> Option<Vec<usize>> {
    let entity = |sense: &Sense| match sense {
        Sense::Entity(dataset) => Some(*dataset),
        _ => None,
    };
    let things: Vec<usize> = item?.entries.iter().filter_map(|entry| entity(&entry.sense)).collect();
    (!things.is_empty()).then_some(things)
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
        && !vocabulary::is_ordinary(&item.norm)
}

/// Whether a word may be part of a name with the one beside it.
fn may_join(item: &Item) -> bool {
    item.kind == Kind::Word && item.text.starts_with(char::is_uppercase)
}
