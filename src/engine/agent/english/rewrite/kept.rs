//! Whether a rewriting kept what was said: a word that is in the question and not in what it became must be one that
//! says nothing, or one that some rewriting is known to say in other words.

use std::collections::BTreeSet;

use crate::engine::agent::english::lexicon::words;
use crate::engine::agent::english::text::token::{TokenKind, tokens};

use super::super::vocabulary;
use super::plain;

/// Words of clauses that are put as phrases: what they say is said by how the rest stands then.
const TURNED: &str = "\
    change changed changes grow grown grew increase increased decrease decreased fall fallen rise risen rose \
    fell drop dropped decline declined shrink shrunk develop developed evolve evolved improve improved differ \
    move moved";

/// Words that lists, shares and comparisons say by their form.
const FORMAL: &str = "\
    amount amounts rank ranked sort sorted min max avg matter difference word text force away others";

/// Words of everyday language that say no more than the form of what they are put in.
const QUIET: &str = "\
    how much many by per in of to on at for from with and or as the than then there ones one up down out off \
    into between compared more less fewer higher lower when within long longer shorter took take takes usually \
    typically normally generally average mean percentage percent share number each every lowest highest largest \
    smallest minimum maximum longest shortest called named like containing which what who does did do split \
    broken ever cost costs same because difference total best worst while very time count";

/// Words that turn the sense: one may stand for another, but none is lost.
const TURNING: &[&str] =
    &["not", "no", "never", "none", "nobody", "noone", "without", "except", "excluding", "neither", "nor"];

/// Whether a word is one of a list.
fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// The first word that was lost.
pub(in super::super) fn lost(before: &str, after: &str) -> Option<String> {
    let said = |text: &str| -> Vec<(String, String)> {
        tokens(text)
            .into_iter()
            .filter(|token| token.kind != TokenKind::Punct)
            .flat_map(|token| words::split(&token.text).into_iter().map(move |word| (word, token.text.clone())))
            .collect()
    };
    let kept: BTreeSet<String> = said(after).into_iter().map(|(word, _)| words::singular(&word)).collect();
    // "closed within a week" as "days to close at most a week".
    let in_form = |word: &str| {
        let stem = word.strip_suffix("ed").filter(|stem| stem.len() > 3);
        stem.is_some_and(|stem| kept.iter().any(|known| known.starts_with(stem.get(..stem.len() - 1).unwrap_or(stem))))
    };
    let turned = TURNING.iter().any(|word| kept.contains(*word)) || after.contains("at most");
    let is_lost = |word: &str| {
        if TURNING.contains(&word) {
            return !turned;
        }
        let silent = vocabulary::is_filler(word)
            || vocabulary::is_show(word)
            || vocabulary::is_relation(word)
            || among(QUIET, word);
        let known = silent || among(TURNED, word) || among(FORMAL, word) || plain::reads(word);
        !known && !kept.contains(&words::singular(word)) && !in_form(word)
    };
    let all = said(before);
    // "with and without a lift" asks for both.
    let both = |at: usize| {
        let word = |back: usize| at.checked_sub(back).and_then(|at| all.get(at)).map_or("", |(word, _)| word.as_str());
        word(0) == "without" && matches!(word(1), "and" | "or") && word(2) == "with"
    };
    (0..all.len()).find(|at| is_lost(&all[*at].0) && !both(*at)).map(|at| all[at].1.clone())
}
