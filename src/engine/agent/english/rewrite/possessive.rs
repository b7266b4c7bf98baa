//! What belongs to a row that is named by its number: "shop 2's manager" is the "manager of shop 2".

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, tokens};

/// The question with what belongs to it said first; `None` where nothing is said so.
pub(super) fn turned(question: &str, on: &Lexicon) -> Option<String> {
    let all: Vec<Token> = tokens(question);
    let list: Vec<String> = all.iter().map(|token| words::split(&token.text).join(" ")).collect();
    let is = |at: usize, words: &[&str]| all.get(at).is_some_and(|token| words.contains(&token.norm.as_str()));
    let number = |token: &Token| token.text.chars().all(|c| c.is_ascii_digit());
    let at = (1..all.len()).find(|at| number(&all[*at]) && is(at + 1, &["'", "’"]) && is(at + 2, &["s"]))?;
    let next = at + 3;
    let thing = (1..=3).filter_map(|back| at.checked_sub(back)).rfind(|from| named(&list[*from..at], on, true))?;
    let longest = list.len().min(next + 5);
    let end = (next + 1..=longest).rev().find(|end| named(&list[next..*end], on, false))?;
    let text = |from: usize, to: usize| question.get(all.get(from)?.start..all.get(to.checked_sub(1)?)?.end);
    let (head, rest) = (question.get(..all[thing].start)?, question.get(all[end - 1].end..)?);
    let article = if head.trim_end().to_lowercase().ends_with("the") || head.trim().is_empty() { "" } else { "the " };
    Some(format!("{head}{article}{} of {}{rest}", text(next, end)?, text(thing, at + 1)?))
}

/// Whether some words are a name of a thing, or of anything that is no value.
fn named(list: &[String], on: &Lexicon, thing: bool) -> bool {
    let said: Vec<&str> = list.iter().map(String::as_str).collect();
    !said.is_empty()
        && said.iter().all(|word| !word.is_empty())
        && on.matches(&said, &vec![false; said.len()]).iter().any(|found| {
            found.words == said.len()
                && found.entries.iter().any(|entry| match entry.sense {
                    Sense::Entity(_) => true,
                    Sense::Value { .. } => false,
                    _ => !thing,
                })
        })
}
