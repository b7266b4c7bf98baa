//! Words around a question that say nothing of what is asked: they are taken out, or put in the plainer words that the
//! grammar knows, before the question is read. Words that the ontology knows as a name stay.

use std::ops::Range;

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};

use super::super::vocabulary;

/// What is said, and what is read instead. `a|b` is one of both, `a?` may be missing, `^` is the beginning, `$` the end,
/// `#` any number, `*` any word.
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
    ("^ sort|order|arrange it|them|that|those|these|this by", "sorted by"),
    ("^ sort by", "sorted by"),
    ("^ rank it|them|that|those|these|this by", "ranked by"),
    ("^ sort|order|arrange it|them|that|those|these|this from", "from"),
    ("we|they have|ve ever? booked|recorded|logged|registered|seen $", ""),
    ("lat|latitude and|&|,|/ long|lng|lon", "latitude and longitude"),
    ("how much money did", "how much did"),
    ("how much money do", "how much do"),
    ("how much money does", "how much does"),
    ("how much money have", "how much have"),
    ("who is|are? in charge of", "who manages"),
    ("takes care of", "looks after"),
    ("take care of", "look after"),
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
    ("i am|m looking for", "list"),
    ("im|i'm looking for", "list"),
    ("we are|re looking for", "list"),
    ("we're|were looking for", "list"),
    ("w / o", "without"),
    ("w /", "with"),
    ("precisely", "exactly"),
    ("not once", "never"),
    (",|. i|we want|need|have|would|d like? to * them", ""),
    ("+|&|plus how many", "and how many"),
    ("+|&|plus how much", "and how much"),
    ("biggest|highest|largest number|count|amount|value|total first", "highest first"),
    ("smallest|lowest number|count|amount|value|total first", "lowest first"),
    ("one|a line|row|entry per|for each?", "per"),
    ("haven't|havent", "have not"),
    ("hasn't|hasnt", "has not"),
    ("hadn't|hadnt", "had not"),
    (
        "how big|high|large|long|low|late|great is|was|were|are the|our biggest|highest|largest|greatest",
        "what is the highest",
    ),
    ("how small|low|short is|was|were|are the|our smallest|lowest", "what is the lowest"),
    ("how long is|was|were|are the|our longest", "what is the longest"),
    ("how short is|was|were|are the|our shortest", "what is the shortest"),
    ("who among|of all|the? our|the", "which"),
    ("everyone|everybody|anyone|anybody|those|people among|of|from all? our|the|my", "all"),
    ("side by side", ""),
    ("next to|beside each|one other|another", ""),
    ("in the same table|list|chart", ""),
    ("in one table|list|chart", ""),
    (",? and? how bad|good|late|early|high|far|old|fast|much|many exactly? is|was|were|are it|they|that $", ""),
    ("an hour and a half", "90 minutes"),
    ("one and a half hours", "90 minutes"),
    ("three quarters of an hour", "45 minutes"),
    ("a quarter of an hour", "15 minutes"),
    ("half an hour", "30 minutes"),
    ("half hour", "30 minute"),
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
    ("largest|highest|biggest|greatest single", "maximum"),
    ("smallest|lowest single", "minimum"),
    ("the|a? typical", "the average"),
    ("most often|frequently in", "the most in"),
    ("least often|frequently in", "the least in"),
    ("per each|every", "per"),
    ("each and every", "each"),
    ("every single", "every"),
    ("a single", "a"),
    ("broken|split out by", "by"),
    ("as well as", "and"),
    ("together|along with", "and"),
    ("because|owing of|to", "caused by"),
    ("due to", "caused by"),
    // "who has nobody under them" is not said of who was done to.
    ("have|has|had|with nobody|noone", "have no such"),
    ("have|has|had|with no one", "have no such"),
    ("nobody|noone has? ever?", "that never were"),
    ("no one has? ever?", "that never were"),
    ("^ did|does|do|has|have|had|is|are|was|were anyone|anybody|someone|somebody", "who"),
    ("^ exclude", "excluding"),
    ("^ everyone|everybody|anyone|anybody who", "who"),
    // That all of them do is said by their share.
    ("^ do|does|did|have|has|had|are|were|is|was all|every of? our|the?", "what share of"),
    ("even once", ""),
    ("^ how many of all? our|the", "how many"),
    ("^ leave out", "excluding"),
];

/// Whether a word is one of those that are put in other words here.
pub(super) fn reads(word: &str) -> bool {
    let parts = PHRASES.iter().flat_map(|(said, _)| said.split([' ', '|']));
    parts.map(|part| part.trim_end_matches('?')).any(|part| part == word)
}

/// The question without what says nothing.
pub(super) fn plainly(question: &str, on: &Lexicon) -> String {
    let mut line = Line::of(question.to_owned());
    for (pattern, instead) in PHRASES {
        // A phrase is said once or twice, not more often.
        for _ in 0..2 {
            let Some(range) = line.find(pattern).filter(|range| !is_name(&line.all[range.clone()], on)) else { break };
            // "This year so far" ends today.
            let unit = |word: &String| ["day", "week", "month", "quarter", "year"].contains(&word.as_str());
            if *pattern == "so far" && range.start.checked_sub(1).and_then(|at| line.said.get(at)).is_some_and(unit) {
                break;
            }
            // "how many is that?" is a question of its own, and none beside another one.
            if instead.is_empty() && pattern.ends_with('$') && range.start <= line.begin {
                break;
            }
            let Some((first, last)) = line.all.get(range.start).zip(line.all.get(range.end - 1)) else { break };
            let mut text = line.text.clone();
            text.replace_range(first.start..last.end, instead);
            line = Line::of(text);
        }
    }
    line.text
}

/// A question with its tokens as they are compared: folded words, and signs as they are.
struct Line {
    text: String,
    all: Vec<Token>,
    said: Vec<String>,
    /// Where it begins behind polite words, and ends before its signs.
    begin: usize,
    end: usize,
}

impl Line {
    fn of(text: String) -> Self {
        let all = tokens(&text);
        let said = |token: &Token| match token.kind {
            TokenKind::Punct => token.norm.clone(),
            _ => words::split(&token.text).join(" "),
        };
        let said: Vec<String> = all.iter().map(said).collect();
        let polite = ["please", "pls", "hi", "hello", "hey", "ok", "so", "and", ",", "can", "could", "you", "would"];
        let begin = said.iter().take_while(|word| polite.contains(&word.as_str())).count();
        let end = all.iter().rposition(|token| !matches!(token.norm.as_str(), "?" | "." | "!")).map_or(0, |at| at + 1);
        Self { text, all, said, begin, end }
    }

    fn find(&self, pattern: &str) -> Option<Range<usize>> {
        let parts: Vec<&str> = pattern.split(' ').collect();
        if parts.first() == Some(&"^") {
            let from = self.begin;
            return self.matched(&parts[1..], from).filter(|to| *to > from).map(|to| from..to);
        }
        (0..self.all.len()).find_map(|at| self.matched(&parts, at).filter(|to| *to > at).map(|to| at..to))
    }

    /// Where the parts end that begin here.
    fn matched(&self, parts: &[&str], at: usize) -> Option<usize> {
        let Some((part, rest)) = parts.split_first() else { return Some(at) };
        if *part == "$" {
            return (at >= self.end).then_some(at);
        }
        let (part, optional) = match part.strip_suffix('?') {
            Some(part) if !part.is_empty() && !part.ends_with('|') => (part, true),
            _ => (*part, false),
        };
        let here = self.all.get(at).zip(self.said.get(at)).is_some_and(|(token, said)| match (token.kind, part) {
            (TokenKind::Quoted, _) => false,
            (kind, "*") => kind == TokenKind::Word,
            (kind, "#") => kind == TokenKind::Number || NUMBERS.contains(&token.norm.as_str()),
            _ => part.split('|').any(|word| word == said),
        });
        let taken = if here { self.matched(rest, at + 1) } else { None };
        taken.or_else(|| if optional { self.matched(rest, at) } else { None })
    }
}

const NUMBERS: &[&str] = &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Whether some of the words are a name of their own.
fn is_name(tokens: &[Token], on: &Lexicon) -> bool {
    let said: Vec<String> = tokens.iter().flat_map(|token| words::split(&token.text)).collect();
    let list: Vec<&str> = said.iter().map(String::as_str).collect();
    (0..list.len()).any(|from| {
        on.matches(&list[from..], &vec![false; list.len() - from]).iter().any(|found| {
            found.words > 1
                && list[from..from + found.words].iter().any(|word| !vocabulary::is_ordinary(word))
                && found.entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Role(_)))
        })
    })
}
