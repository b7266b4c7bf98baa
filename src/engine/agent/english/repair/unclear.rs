//! Times that have no agreed beginning and end: "in summer", "in the morning", "at the end of May". What they may mean is
//! offered in whole questions.

use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::engine::agent::english::time;

/// What is said, and what may be meant by it.
const TIMES: &[(&str, [&str; 2])] = &[
    ("spring", ["from March to May", "from March 20 to June 20"]),
    ("summer", ["from June to August", "from June 21 to September 22"]),
    ("autumn", ["from September to November", "from September 23 to December 20"]),
    ("fall", ["from September to November", "from September 23 to December 20"]),
    ("morning", ["between 6 am and noon", "before noon"]),
    ("mornings", ["between 6 am and noon", "before noon"]),
    ("afternoon", ["between noon and 6 pm", "between noon and 5 pm"]),
    ("afternoons", ["between noon and 6 pm", "between noon and 5 pm"]),
    ("evening", ["between 6 pm and 10 pm", "after 6 pm"]),
    ("evenings", ["between 6 pm and 10 pm", "after 6 pm"]),
    ("night", ["between 10 pm and 6 am", "between 9 pm and 5 am"]),
    ("nights", ["between 10 pm and 6 am", "between 9 pm and 5 am"]),
];

/// Parts of a month that may be longer or shorter.
const PARTS: &[(&[&str], [&str; 2])] = &[
    (&["the", "beginning", "of"], ["in the first 10 days of", "in the first week of"]),
    (&["the", "start", "of"], ["in the first 10 days of", "in the first week of"]),
    (&["the", "end", "of"], ["in the last 10 days of", "in the last week of"]),
    (&["early"], ["in the first 10 days of", "in the first week of"]),
    (&["late"], ["in the last 10 days of", "in the last week of"]),
];

/// The question with each of the times that may be meant by a season or a part of the day. Its name may be that of
/// something else as well, so this is for questions that are not understood.
pub(in super::super) fn times(question: &str) -> Option<Vec<String>> {
    named(question, &tokens(question))
}

/// The question with each part of a month that may be meant: its words mean nothing else where they stand.
pub(in super::super) fn parts_of_months(question: &str) -> Option<Vec<String>> {
    part_of_month(question, &tokens(question))
}

fn word(all: &[Token], at: usize) -> &str {
    all.get(at).filter(|token| token.kind != TokenKind::Quoted).map_or("", |token| token.norm.as_str())
}

/// The place of a preposition and an article before a place, if they are there.
fn begin(all: &[Token], mut at: usize) -> usize {
    let back = |at: usize, words: &[&str]| at > 0 && words.contains(&word(all, at - 1));
    if back(at, &["the"]) {
        at -= 1;
    }
    if back(at, &["in", "during", "over", "at", "on", "for", "throughout"]) { at - 1 } else { at }
}

fn replaced(question: &str, all: &[Token], from: usize, to: usize, instead: &str) -> Option<String> {
    let (first, last) = (all.get(from)?, all.get(to.checked_sub(1)?)?);
    let (before, after) = (question.get(..first.start)?, question.get(last.end..)?);
    Some(format!("{before}{instead}{after}"))
}

/// "in summer", "in the summer of 2024", "at night".
fn named(question: &str, all: &[Token]) -> Option<Vec<String>> {
    let (at, may) = (0..all.len())
        .find_map(|at| TIMES.iter().find(|(said, _)| word(all, at) == *said).map(|(_, may)| (at, may)))?;
    // Of which year, or day, is said in other words than these.
    if at > 0 && ["this", "last", "next", "every", "each"].contains(&word(all, at - 1)) {
        return None;
    }
    let number = at + 1 + usize::from(word(all, at + 1) == "of");
    let year = word(all, number);
    let year = year.parse::<u16>().ok().filter(|year| (1900..2100).contains(year));
    let (to, end) = year.map_or((at + 1, String::new()), |year| (number + 1, format!(" {year}")));
    may.iter().map(|may| replaced(question, all, begin(all, at), to, &format!("{may}{end}"))).collect()
}

/// "at the end of May", "in late May".
fn part_of_month(question: &str, all: &[Token]) -> Option<Vec<String>> {
    let said = |at: usize, words: &[&str]| words.iter().enumerate().all(|(ahead, said)| word(all, at + ahead) == *said);
    let (at, words, may) = (0..all.len())
        .find_map(|at| PARTS.iter().find(|(words, _)| said(at, words)).map(|(words, may)| (at, *words, may)))?;
    let to = at + words.len();
    time::month(word(all, to))?;
    // "Until the end of May" is all of it.
    let before = if at > 0 { word(all, at - 1) } else { "" };
    if ["until", "till", "to", "by", "since", "from", "through", "before", "after"].contains(&before) {
        return None;
    }
    may.iter().map(|may| replaced(question, all, begin(all, at), to, may)).collect()
}
