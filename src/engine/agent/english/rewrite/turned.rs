//! Questions that say last what is asked for: "flights from JFK in June. How many?".

use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};

/// How such a question ends, behind a sign: "how many", "how many were there".
const ENDS: &[&[&str]] = &[
    &["how", "many"],
    &["how", "many", "are", "there"],
    &["how", "many", "were", "there"],
    &["how", "many", "are", "they"],
    &["how", "many", "is", "that"],
    &["how", "many", "in", "total"],
    &["how", "many", "in", "all"],
    &["how", "many", "altogether"],
    &["how", "many", "of", "them"],
    &["how", "many", "of", "them", "are", "there"],
    &["how", "many", "of", "those", "are", "there"],
    &["how", "many", "were", "that"],
    &["how", "many", "were", "they"],
    &["how", "many", "is", "it"],
    &["count"],
    &["total", "count"],
    &["total", "number"],
    &["the", "count"],
    &["the", "total", "number"],
    &["what", "is", "the", "count"],
    &["what's", "the", "count"],
    &["whats", "the", "count"],
    &["what", "is", "the", "total", "number"],
    &["what's", "the", "total", "number"],
    &["what", "is", "their", "number"],
    &["what's", "their", "number"],
    &["whats", "their", "number"],
];

/// "how much of the revenue came from Lund, as a percentage": the share of it.
pub(super) fn portion(question: &str) -> Option<String> {
    let all: Vec<Token> =
        tokens(question).into_iter().filter(|token| !matches!(token.text.as_str(), "?" | "!" | ".")).collect();
    let said = |from: usize, words: &[&str]| {
        words.iter().enumerate().all(|(at, word)| all.get(from + at).is_some_and(|token| token.norm == *word))
    };
    let ends: [&[&str]; 4] = [&["as", "a", "percentage"], &["in", "percent"], &["as", "a", "share"], &["in", "%"]];
    let end = ends.iter().find_map(|end| all.len().checked_sub(end.len()).filter(|from| said(*from, end)))?;
    if !said(0, &["how", "much", "of"]) || end < 5 {
        return None;
    }
    let last = if said(end - 1, &[","]) { end - 2 } else { end - 1 };
    Some(format!("what share of {}", question.get(all.get(3)?.start..all.get(last)?.end)?))
}

/// The same question with that first; `None` where it is said first already.
pub(super) fn turned(question: &str) -> Option<String> {
    let all: Vec<Token> =
        tokens(question).into_iter().filter(|token| !matches!(token.text.as_str(), "?" | "!")).collect();
    let sign = all.iter().rposition(|token| {
        token.kind == TokenKind::Punct && matches!(token.text.as_str(), "." | "," | ":" | ";" | "-" | "–" | "—")
    })?;
    let last: Vec<&str> = all.get(sign + 1..)?.iter().map(|token| token.norm.as_str()).collect();
    let first = all.first().filter(|_| sign > 1)?;
    let asked = ["how", "which", "what", "who", "when", "where", "and"].contains(&first.norm.as_str());
    if asked || !ENDS.contains(&last.as_slice()) {
        return None;
    }
    let from = if matches!(first.norm.as_str(), "list" | "show" | "count") { 1 } else { 0 };
    let what = question.get(all.get(from)?.start..all.get(sign - 1)?.end)?;
    Some(format!("how many {what}"))
}
