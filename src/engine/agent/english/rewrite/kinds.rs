//! "lecturers per faculty", "comedies by year", "D grades by term": things that are spoken of by the name of their kind or
//! by a mark, alone with what they are divided by. How many there are for each is asked for.

use crate::engine::agent::english::lexicon::{Entry, Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::model::ontology::Ontology;

/// The question with "number of" before such a kind; `None` where it does not begin with one.
pub(super) fn counted(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let folded = |token: &Token| match token.kind {
        TokenKind::Word => words::split(&token.text).join(" "),
        _ => String::new(),
    };
    let said: Vec<String> = tokens(question).iter().map(folded).collect();
    let list: Vec<&str> = said.iter().map(String::as_str).take_while(|word| !word.is_empty()).collect();
    let kind = on.matches(&list, &vec![false; list.len()]).pop()?;
    let marked = kind.words == 1 && is_mark(question, list.get(1..2)?, &kind.entries, on);
    let end = kind.words + usize::from(marked);
    let last = list.get(end.checked_sub(1)?)?;
    let (["per" | "by", group @ ..] | ["for" | "in", "each" | "every", group @ ..]) = list.get(end..)? else {
        return None;
    };
    let many = words::singular(last) != *last;
    (many && (marked || is_kind(&kind.entries)) && is_group(group, on, ontology))
        .then(|| format!("number of {question}"))
}

/// Whether a question begins with a value that is one capital letter, and the name of its field is behind it.
fn is_mark(question: &str, behind: &[&str], entries: &[Entry], on: &Lexicon) -> bool {
    let mut signs = question.chars();
    let letter = signs.next().is_some_and(char::is_uppercase) && signs.next() == Some(' ');
    let names: Vec<Entry> = on.matches(behind, &[false]).into_iter().flat_map(|found| found.entries).collect();
    let of = |value: &Entry| match value.sense {
        Sense::Value { dataset, field, .. } => names.iter().any(|name| match name.sense {
            Sense::Field(d, f) => !name.partial && (d, f) == (dataset, field),
            _ => false,
        }),
        _ => false,
    };
    letter && entries.iter().any(|entry| !entry.partial && of(entry))
}

/// Whether a phrase is nothing but values of one field, each the name of one thing.
fn is_kind(entries: &[Entry]) -> bool {
    let one = |value: &str| words::split(value).last().is_some_and(|last| words::singular(last) == *last);
    let place = |entry: &Entry| match &entry.sense {
        Sense::Value { dataset, field, value } if !entry.partial && one(value) => Some((*dataset, *field)),
        _ => None,
    };
    let first = entries.first().and_then(place);
    first.is_some() && entries.iter().all(|entry| place(entry) == first)
}

/// Whether words begin with what can be divided by: a thing, a field that is no number, or a unit of time.
fn is_group(list: &[&str], on: &Lexicon, ontology: &Ontology) -> bool {
    if matches!(list.first(), Some(&("day" | "week" | "month" | "quarter" | "year"))) {
        return true;
    }
    let Some(named) = on.matches(list, &vec![false; list.len()]).pop() else { return false };
    let number = |entry: &Entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial;
    let divides = |entry: &Entry| match entry.sense {
        Sense::Entity(_) => !entry.partial,
        Sense::Field(d, f) => {
            let field = ontology.datasets.get(d).and_then(|entity| entity.fields.get(f));
            field.is_some_and(|field| !field.datatype.is_number())
        }
        _ => false,
    };
    named.entries.iter().any(divides) && !named.entries.iter().any(number)
}
