//! Words around a question that say nothing of what is asked: they are taken out, or put in the plainer words that the
//! grammar knows, before the question is read. Words that the ontology knows as a name stay.

use std::ops::Range;

use crate::engine::agent::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::token::{Token, TokenKind, tokens};

use super::super::grammar;

/// What is said, and what is read instead. `a|b` is one of both, `a?` may be missing, `^` is the beginning, `$` the end,
/// `#` any number.
const PHRASES: &[(&str, &str)] = &[
    ("^ do you happen? to? know", ""),
    ("^ any idea", ""),
    ("^ quick? question ,|:|-", ""),
    ("^ i was|am? wondering|wonder if|whether? you can|could tell me", "tell me"),
    ("^ is it possible to get|see|have|know", "show"),
    ("^ i need|want|would|d like|need|want? to? see|get|have? a|the list|listing|overview|table of", "list"),
    ("^ id|i like to? see|get|have? a|the list|listing|overview|table of", "list"),
    ("^ show|give|get|produce|make|send us|me? a|the full|complete|whole? list|listing|overview|table of", "list"),
    ("^ a|the? full|complete|whole? list|listing|overview of", "list"),
    ("so far", ""),
    ("up until|till? now", ""),
    ("until|till now", ""),
    ("on file|record $", ""),
    ("on the|our books", ""),
    (",|? which|what ones|one are they? $", ""),
    ("? which|what ones|one $", ""),
    (
        ",? and how much|many|long|big|high|large|often is|was|were|are|did it|they|that|he|she cost|spend|take|last? $",
        "",
    ),
    ("an hour and a half", "90 minutes"),
    ("one and a half hours", "90 minutes"),
    ("three quarters of an hour", "45 minutes"),
    ("a quarter of an hour", "15 minutes"),
    ("half an hour", "30 minutes"),
    ("half a day", "12 hours"),
    ("half a minute", "30 seconds"),
    ("half a dozen", "6"),
    ("half a million", "500000"),
    ("a dozen", "12"),
    ("not counting|considering", "excluding"),
    ("leaving out|aside", "excluding"),
    ("which|what of the|our|these|those #", "which"),
    ("what part of", "what share of"),
    ("most active", "most frequent"),
    ("least active", "least frequent"),
    ("in total $", ""),
    ("in total ,", ","),
    ("biggest|largest|most first", "highest first"),
    ("smallest|fewest|least first", "lowest first"),
    ("most often|frequently $", "the most"),
    ("least often|frequently $", "the least"),
    ("per each|every", "per"),
    ("each and every", "each"),
    ("every single", "every"),
    ("a single", "a"),
    ("broken|split out by", "by"),
    ("as well as", "and"),
    ("together|along with", "and"),
    ("because|owing of|to", "caused by"),
    ("due to", "caused by"),
    ("nobody|noone has? ever?", "that never were"),
];

/// The question without what says nothing.
pub(super) fn plainly(question: &str, on: &Lexicon) -> String {
    let mut text = question.to_owned();
    for (pattern, instead) in PHRASES {
        // A phrase is said once or twice, not more often.
        for _ in 0..2 {
            let all = tokens(&text);
            let Some(range) = find(pattern, &all).filter(|range| !is_name(&all[range.clone()], on)) else { break };
            let Some((first, last)) = all.get(range.start).zip(all.get(range.end - 1)) else { break };
            let (start, end) = (first.start, last.end);
            text.replace_range(start..end, instead);
        }
    }
    text
}

/// A token as it is compared: folded words, and signs as they are.
fn said(token: &Token) -> String {
    if token.kind == TokenKind::Punct { token.norm.clone() } else { words::split(&token.text).join(" ") }
}

fn find(pattern: &str, all: &[Token]) -> Option<Range<usize>> {
    let parts: Vec<&str> = pattern.split(' ').collect();
    let polite = ["please", "pls", "hi", "hello", "hey", "ok", "so", "and", ",", "can", "could", "you", "would"];
    let begin = all.iter().take_while(|token| polite.contains(&said(token).as_str())).count();
    let end = all.iter().rposition(|token| !matches!(token.norm.as_str(), "?" | "." | "!")).map_or(0, |at| at + 1);
    if parts.first() == Some(&"^") {
        return matched(&parts[1..], all, begin, end).filter(|to| *to > begin).map(|to| begin..to);
    }
    (0..all.len()).find_map(|at| matched(&parts, all, at, end).filter(|to| *to > at).map(|to| at..to))
}

/// Where the parts end that begin here.
fn matched(parts: &[&str], all: &[Token], at: usize, end: usize) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else { return Some(at) };
    if *part == "$" {
        return (at >= end).then_some(at);
    }
    let (part, optional) = match part.strip_suffix('?') {
        Some(part) if !part.is_empty() && !part.ends_with('|') => (part, true),
        _ => (*part, false),
    };
    let here = all.get(at).filter(|token| token.kind != TokenKind::Quoted).is_some_and(|token| match part {
        "#" => token.kind == TokenKind::Number || NUMBERS.contains(&token.norm.as_str()),
        _ => part.split('|').any(|word| word == said(token)),
    });
    let taken = if here { matched(rest, all, at + 1, end) } else { None };
    taken.or_else(|| if optional { matched(rest, all, at, end) } else { None })
}

const NUMBERS: &[&str] = &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Whether some of the words are a name of their own.
fn is_name(tokens: &[Token], on: &Lexicon) -> bool {
    let said: Vec<String> = tokens.iter().flat_map(|token| words::split(&token.text)).collect();
    let list: Vec<&str> = said.iter().map(String::as_str).collect();
    (0..list.len()).any(|from| {
        on.matches(&list[from..], &vec![false; list.len() - from]).iter().any(|found| {
            found.words > 1
                && list[from..from + found.words].iter().any(|word| !grammar::is_ordinary(word))
                && found.entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Role(_)))
        })
    })
}
