//! The numbers of the question before by something else: "break that down by shop", "split it by month", "in which
//! shops?".

use crate::model::plan::Plan;

use super::super::rewrite::Words;

const POLITE: &[&str] =
    &["and", "now", "then", "ok", "please", "can", "could", "you", "would", "so", "but", "lets", "let"];

/// What such a question asks in the words of one that goes on, such as "and by shop".
pub(in super::super) fn by_what(question: &str, before: Option<&Plan>) -> Option<String> {
    let words = Words::of(question);
    let from = (0..words.len()).find(|at| !POLITE.contains(&words.at(*at)) && words.at(*at) != "us")?;
    let divided = before.is_some_and(|plan| !plan.dimensions.is_empty() && plan.limit.is_none());
    // "show me the numbers by month" may be asked at first, and is open then.
    if let Some(what) = apart(&words, from, before.is_some()) {
        return Some(if divided { format!("also by {what}") } else { format!("and by {what}") });
    }
    which(&words, from).map(|what| format!("and by {what}"))
}

/// "break that down by shop".
fn apart<'q>(words: &Words<'q>, from: usize, goes_on: bool) -> Option<&'q str> {
    let divides = matches!(
        words.at(from),
        "break" | "split" | "slice" | "divide" | "separate" | "group" | "segment" | "cut" | "regroup" | "breakdown"
    );
    let shows = goes_on && matches!(words.at(from), "show" | "give" | "see" | "get" | "display");
    if !divides && !shows {
        return None;
    }
    let mut at = from + 1;
    at += usize::from(shows && matches!(words.at(at), "me" | "us"));
    let said = at;
    for them in [
        "the same", "the result", "the results", "the number", "the numbers", "the total", "that", "this", "it",
        "them", "those", "these",
    ] {
        if words.has(at, them) {
            at += them.split(' ').count();
            break;
        }
    }
    // "show revenue by shop" is a question of its own.
    if shows && said == at {
        return None;
    }
    at += usize::from(matches!(words.at(at), "down" | "up" | "out" | "apart" | "further"));
    for by in ["for each", "by", "per", "into", "across", "along"] {
        if words.has(at, by) {
            let what = words.text(at + by.split(' ').count(), words.len());
            return (!what.is_empty()).then_some(what);
        }
    }
    None
}

/// "in which shops?", "on which genres did they spend it?".
fn which<'q>(words: &Words<'q>, from: usize) -> Option<&'q str> {
    if !matches!(words.at(from), "in" | "on" | "at" | "for" | "from" | "by" | "with" | "to")
        || !matches!(words.at(from + 1), "which" | "what")
    {
        return None;
    }
    let silent = |word: &str| {
        matches!(
            word,
            "did"
                | "do"
                | "does"
                | "was"
                | "were"
                | "is"
                | "are"
                | "he"
                | "she"
                | "they"
                | "it"
                | "that"
                | "this"
                | "these"
                | "those"
                | "we"
                | "spend"
                | "spent"
                | "happen"
                | "happened"
                | "been"
                | "has"
                | "have"
        )
    };
    let end = (from + 2..words.len()).find(|at| silent(words.at(*at))).unwrap_or(words.len());
    let plain = end > from + 2 && end <= from + 4 && (end..words.len()).all(|at| silent(words.at(at)));
    plain.then(|| words.text(from + 2, end))
}
