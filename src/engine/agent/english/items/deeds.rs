//! Verbs that are states, too: "open" in "how many tickets did Ada open" says what she did, and not what they are.

use super::{Item, Kind};
use crate::engine::agent::english::lexicon::{Entry, Lexicon, Sense, words};

/// Most words of who does something.
const SUBJECT: usize = 6;

/// Reads a state where only a verb can stand as that verb, where a field is called by what was done: "opened".
pub(in super::super) fn settle(items: &mut [Item], on: &Lexicon) {
    for at in 1..items.len() {
        if !is_state(items.get(at)) || !(is_asked(items, at) || is_most(items, at)) {
            continue;
        }
        if let Some(item) = items.get_mut(at)
            && let Some((norm, entries)) = done(&item.norm, on)
        {
            item.norm = norm;
            item.entries = entries;
        }
    }
}

fn is_state(item: Option<&Item>) -> bool {
    let state = |entry: &Entry| matches!(entry.sense, Sense::Value { .. } | Sense::Segment(_));
    item.is_some_and(|item| {
        item.kind == Kind::Word && !item.norm.contains(' ') && item.entries.iter().any(state) && !is_thing(item)
    })
}

fn is_thing(item: &Item) -> bool {
    item.entries.iter().any(Entry::is_whole_thing)
}

/// "how many tickets did Ada open in May": right behind who does it, with nothing that could be open behind it.
fn is_asked(items: &[Item], at: usize) -> bool {
    let subject = |item: &Item| {
        item.has_value()
            || item.is_named()
            || item.any(&["the", "a", "our", "and", "we", "you", "they", "i", "he", "she", "it"])
            || item.kind == Kind::Word && item.text.starts_with(char::is_uppercase)
    };
    let before = items.get(..at).unwrap_or_default();
    let who = before.iter().rev().take(SUBJECT).take_while(|item| subject(item)).count();
    let does = before.len().checked_sub(who + 1).and_then(|at| before.get(at));
    who > 0
        && does.is_some_and(|item| item.any(&["did", "do", "does"]))
        && !items.get(at + 1).is_some_and(|next| is_thing(next) || next.has_value())
}

/// "which customers open the most tickets".
fn is_most(items: &[Item], at: usize) -> bool {
    let before = items.get(..at).unwrap_or_default();
    let asked = before.iter().any(|item| item.any(&["which", "what", "who"]));
    let who = before.last().is_some_and(|item| is_thing(item) || item.is("who"));
    let the = usize::from(items.get(at + 1).is_some_and(|next| next.is("the")));
    let most = items.get(at + 1 + the).is_some_and(|next| next.any(&["most", "fewest", "least"]));
    asked && who && most
}

/// What was done, and the fields that are called by it.
fn done(verb: &str, on: &Lexicon) -> Option<(String, Vec<Entry>)> {
    let verb = words::singular(verb);
    let twice = verb.chars().next_back().map(|last| format!("{verb}{last}ed"));
    [format!("{verb}ed"), format!("{verb}d")].into_iter().chain(twice).find_map(|form| {
        let found = on.matches(&[form.as_str()], &[false]).into_iter().next()?;
        let field = |entry: &Entry| matches!(entry.sense, Sense::Field(..));
        let entries: Vec<Entry> = found.entries.into_iter().filter(field).collect();
        (!entries.is_empty()).then_some((form, entries))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::agent::planner::FieldValues;
    use crate::engine::ontology::read;

    #[test]
    fn a_state_is_the_verb_where_only_a_verb_can_stand() {
        let ontology = read::read(include_str!("../tests/bakery.yaml")).unwrap().ontology;
        let known = |dataset: &str, field: &str, value: &str| FieldValues {
            dataset: dataset.into(),
            field: field.into(),
            values: vec![value.into()],
            complete: true,
        };
        let values = [known("sale", "channel", "join"), known("shop", "shop_name", "Harbour")];
        let on = Lexicon::build(&ontology, &values);
        let now = jiff::civil::datetime(2025, 6, 15, 12, 0, 0, 0);
        for (question, is_verb) in [
            ("How many sales did Harbour join?", true),
            ("How many sales did Harbour join in May 2025?", true),
            ("Which shops join the most sales?", true),
            ("How many join sales did Harbour have?", false),
            ("How many sales does Harbour have join?", false),
            ("Which shops have the most join sales?", false),
            ("How much did join sales cost?", false),
        ] {
            let mut items = super::super::items(question, &on, now, &ontology.calendar);
            settle(&mut items, &on);
            assert_eq!(items.iter().any(|item| item.is("joined")), is_verb, "{question}: {items:?}");
        }
    }
}
