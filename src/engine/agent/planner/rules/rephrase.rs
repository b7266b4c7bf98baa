//! Questions that say with a clause what others say with a phrase. They are put in the words of the latter before they
//! are read: "how did revenue change from June to July" asks for "revenue in July compared with June".

use jiff::civil::DateTime;

use crate::engine::agent::time::{self, TimePhrase};
use crate::engine::agent::token::{Token, tokens};
use crate::model::ontology::Calendar;
use crate::model::plan::Window;

/// Verbs of becoming more or less.
const CHANGE: &[&str] = &[
    "change",
    "changed",
    "grow",
    "grown",
    "grew",
    "increase",
    "increased",
    "decrease",
    "decreased",
    "fall",
    "fallen",
    "rise",
    "risen",
    "drop",
    "dropped",
    "decline",
    "declined",
    "shrink",
    "shrunk",
    "develop",
    "developed",
    "evolve",
    "evolved",
    "improve",
    "improved",
    "differ",
    "move",
    "moved",
];

/// The same question in plainer words, if it is one of these.
pub(super) fn plainer(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    changed(question, now, calendar)
}

/// "by how much did X grow from A to B", where A and B are times and B is the later one.
fn changed(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    let all: Vec<Token> =
        tokens(question).into_iter().filter(|token| !matches!(token.text.as_str(), "?" | ".")).collect();
    let word = |at: usize| all.get(at).map_or("", |token| token.norm.as_str());
    let mut at = usize::from(word(0) == "by");
    if word(at) != "how" {
        return None;
    }
    at += 1;
    at += usize::from(word(at) == "much");
    if !matches!(word(at), "did" | "has" | "have" | "does") {
        return None;
    }
    let what = at + 1;
    let verb = (what + 1..all.len()).find(|at| CHANGE.contains(&word(*at)))?;
    let split = match word(verb + 1) {
        "from" => "to",
        "between" => "and",
        _ => return None,
    };
    let piece = |from: usize, to: usize| -> Option<&str> {
        let (first, last) = (all.get(from)?, all.get(to.checked_sub(1)?)?);
        question.get(first.start..last.end)
    };
    let middle = (verb + 3..all.len()).find(|at| word(*at) == split)?;
    let (subject, first, second) = (piece(what, verb)?, piece(verb + 2, middle)?, piece(middle + 1, all.len())?);
    let (early, late) = (window(first, now, calendar)?, window(second, now, calendar)?);
    // "from November to January" without years may be anything.
    if early.start >= late.start {
        return None;
    }
    Some(format!("{subject} in {second} compared with {first}"))
}

/// The time that words are, if they are nothing else.
fn window(text: &str, now: DateTime, calendar: &Calendar) -> Option<Window> {
    let said = tokens(&format!("in {text}"));
    let found = time::find(&said, now, calendar).into_iter().next()?;
    let whole = found.tokens == (0..said.len());
    match found.phrase {
        TimePhrase::Window(window) if whole => Some(window),
        _ => None,
    }
}
