//! Values of one letter that is a word of the grammar, too: "with an A", "how many A grades". Behind an article, and
//! before the name of their field, they are no articles themselves.

use crate::engine::agent::english::lexicon::{Sense, words};

use super::{Item, Kind};

/// Leaves such letters as they are written, so that no rule takes them for the word.
pub(super) fn settle(items: &mut [Item]) {
    for at in 0..items.len() {
        let is_meant = is_meant(items, at);
        if let Some(item) = items.get_mut(at).filter(|_| is_meant) {
            item.norm.clone_from(&item.text);
        }
    }
}

fn is_meant(items: &[Item], at: usize) -> bool {
    let letter = |item: &&Item| {
        let mut signs = item.text.chars();
        matches!((signs.next(), signs.next()), (Some(first), None) if first.is_uppercase())
    };
    let Some(item) = items.get(at).filter(letter).filter(|item| item.kind == Kind::Word && item.has_value()) else {
        return false;
    };
    let article = at.checked_sub(1).and_then(|before| items.get(before));
    if article.is_some_and(|before| before.any(&["a", "an", "the"])) {
        return true;
    }
    // "A channel", where a question begins, is any of them.
    items.get(at + 1).is_some_and(|next| {
        let many = words::singular(&next.norm) != next.norm;
        let small = at > 0 && next.text.starts_with(char::is_lowercase);
        (many || small) && is_field_of(next, item)
    })
}

/// Whether an item names the field that another one is a value of.
fn is_field_of(named: &Item, value: &Item) -> bool {
    named.entries.iter().any(|entry| {
        let Sense::Field(of, at) = entry.sense else { return false };
        value
            .entries
            .iter()
            .any(|value| matches!(value.sense, Sense::Value { dataset, field, .. } if (dataset, field) == (of, at)))
    })
}
