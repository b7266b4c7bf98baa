//! Misspelt words of the grammar and names of months, put right before a question is read: "mnay", "nummber",
//! "Ocotber". Words that the ontology or its values know are never touched.

use crate::engine::agent::lexicon::{Lexicon, words};
use crate::engine::agent::token::{TokenKind, tokens};

use super::grammar;

/// Words that questions are built of. Those that are one letter away from another everyday word are left out.
const WORDS: &[&str] = &[
    "number",
    "many",
    "much",
    "average",
    "total",
    "count",
    "which",
    "where",
    "highest",
    "lowest",
    "largest",
    "smallest",
    "longest",
    "shortest",
    "cheapest",
    "latest",
    "oldest",
    "newest",
    "busiest",
    "month",
    "monthly",
    "quarter",
    "quarterly",
    "yearly",
    "weekly",
    "annual",
    "percentage",
    "percent",
    "compare",
    "compared",
    "without",
    "between",
    "during",
    "since",
    "before",
    "after",
    "never",
    "except",
    "excluding",
    "median",
    "maximum",
    "minimum",
    "distinct",
    "different",
    "something",
    "anything",
    "everything",
    "nothing",
    "least",
    "fewer",
    "cumulative",
    "growth",
    "january",
    "february",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A question with its misspelt words put right, and each of them with the right one.
pub(super) fn corrected(question: &str, on: &Lexicon) -> (String, Vec<(String, String)>) {
    let mut text = question.to_owned();
    let mut found = Vec::new();
    for token in tokens(question).iter().rev().filter(|token| token.kind == TokenKind::Word) {
        let written = question.get(token.start..token.end).unwrap_or_default();
        let word = words::fold(written);
        let plain = written.chars().all(|c| c.is_ascii_alphabetic());
        if !plain || grammar::is_ordinary(&word) || on.knows(&word) {
            continue;
        }
        let code = written.len() > 1 && !written.chars().any(char::is_lowercase);
        let Some(right) = WORDS.iter().find(|right| !code && is_meant(&word, right)) else { continue };
        text.replace_range(token.start..token.end, right);
        found.push((written.to_owned(), (*right).to_owned()));
    }
    found.reverse();
    (text, found)
}

/// Whether a word is another one with two neighbours swapped, or with one letter too many or too few inside. A letter
/// in place of another makes too many other words.
fn is_meant(word: &str, right: &str) -> bool {
    let ends = |word: &str| (word.chars().next(), word.chars().next_back());
    let swapped = word.len() == right.len();
    let long = word.len() >= if swapped { 4 } else { 5 };
    long && ends(word) == ends(right)
        && strsim::osa_distance(word, right) == 1
        && (!swapped || strsim::levenshtein(word, right) == 2)
}
