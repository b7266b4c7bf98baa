//! Questions of which only a word or two mean nothing here: they are read without those, and what is read is offered.
//! It is never answered unasked, since a word that nobody knows may say the most.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::engine::agent::english::text::token::{Token, TokenKind, tokens};
use crate::engine::agent::explainer::restate;
use crate::model::ontology::Ontology;
use crate::model::reading::{Cannot, Choice, Clarification, Outcome};

use super::vague;
use crate::engine::agent::english::vocabulary;

/// A question with more unknown words is another question without them.
const MOST_LEFT_OUT: usize = 3;

/// Words that turn, bound or place what is asked: without them the question asks for something else.
const TELLING: &str = "\
    no not never none neither nor without lacking except excluding excluded exclude unless until but only just minus \
    less fewer more most least than half quarter third double twice triple thrice first last next previous every each \
    any all both some several few many much enough another other others same different opposite similar equal unequal \
    exact one two three four five six seven eight nine ten eleven twelve average mean median total sum ratio rate share part percent percentage % + > < = per by versus vs against \
    between above below under over up down before after since during while when where why who whom whose which what \
    how or and if spring summer autumn fall winter season seasonal christmas easter holiday holidays weekend weekday \
    night morning afternoon evening noon midnight decade century fortnight semester term daily weekly recent recently \
    lately early late earlier later ago old new young ever already still yet soon today yesterday tomorrow now grow \
    grew growth shrink rise fell drop increase decrease rank top bottom best worst better worse change changed \
    away correlate correlation trend forecast predict compare compared difference";

/// Words whose object they are is what is counted, grouped by or looked for: it cannot be left out.
const LEADING: &str = "\
    by per each every many much of what which whose than across among between not no without except excluding any all \
    number count vs versus called named like for to and or , plus & / with of from into about over under";

/// Prepositions that may lead to a place or a frame that says nothing: "on the schedule".
const PLACING: &[&str] =
    &["in", "on", "at", "within", "inside", "from", "under", "among", "with", "of", "about", "into"];

const ARTICLES: &[&str] = &["the", "a", "an", "our", "my", "your", "their", "this", "that"];

/// The question back, where the question without what is unknown in it has an answer. `read` reads a question.
pub(in super::super) fn asked_back(
    question: &str,
    cannot: &Cannot,
    on: &Lexicon,
    ontology: &Ontology,
    read: &dyn Fn(&str) -> Option<Outcome>,
) -> Option<Clarification> {
    let mut text = question.to_owned();
    let mut unknown = cannot.unknown.clone();
    let mut left_out: Vec<String> = Vec::new();
    loop {
        for word in &unknown {
            // It went with another one.
            if left_out.iter().any(|said| words::split(said).contains(&words::fold(word))) {
                continue;
            }
            let (range, said) = part(&text, word, &unknown, on)?;
            text.replace_range(range, "");
            left_out.push(said);
            if left_out.len() > MOST_LEFT_OUT {
                return None;
            }
        }
        text = tidy(&text);
        match read(&text)? {
            Outcome::Plan(reading) => {
                let said = listed(&left_out);
                let (are, matter) = if left_out.len() == 1 { ("is", "matters") } else { ("are", "matter") };
                let without = if left_out.len() == 1 { "it" } else { "them" };
                let reading = restate(&reading.plan, ontology);
                let no = format!("No, {said} {matter}");
                return Some(Clarification {
                    key: vague::key(question),
                    question: format!(
                        "{said} {are} not known here and would be left out. Without {without} the question is read as: \
                         {reading}. Is that meant?"
                    ),
                    options: vec![
                        Choice { label: text.clone(), value: text },
                        Choice { label: no.clone(), value: question.to_owned() },
                    ],
                    assumption: no,
                });
            }
            Outcome::Cannot(next) if !next.unknown.is_empty() => unknown = next.unknown,
            _ => return None,
        }
    }
}

fn among(set: &'static OnceLock<BTreeSet<&'static str>>, list: &'static str, word: &str) -> bool {
    set.get_or_init(|| list.split_whitespace().collect()).contains(word)
}

/// Whether a word may say nothing: one of everyday language that is no name of anything here.
fn is_light(token: &Token, on: &Lexicon) -> bool {
    static SET: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let folded = words::fold(&token.text);
    let letters = token.kind == TokenKind::Word
        && token.text.chars().all(|c| c.is_lowercase() || matches!(c, '-' | '\'' | '’'))
        && folded.len() > 2;
    let telling = folded.split('-').any(|word| among(&SET, TELLING, word))
        || folded.ends_with("est")
        || vocabulary::superlative(&folded).is_some()
        || vocabulary::comparative(&folded).is_some()
        || vocabulary::unit(&folded).is_some();
    let named = || {
        on.matches(&[&folded], &[false])
            .iter()
            .any(|found| found.entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Role(_))))
    };
    // "bevore" may be such a word, too.
    let misspelt = folded.len() > 4
        && TELLING.split_whitespace().any(|word| word.len() > 4 && strsim::osa_distance(word, &folded) < 2);
    let telling = telling || misspelt;
    let ordinary = vocabulary::is_ordinary(&folded) && !vocabulary::is_relation(&folded);
    letters && !telling && !ordinary && !named()
}

/// Where an unknown word stands with what only leads to it, if both may be left out, and what is left out then.
fn part(text: &str, word: &str, unknown: &[String], on: &Lexicon) -> Option<(std::ops::Range<usize>, String)> {
    static SET: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let all = tokens(text);
    let at = all.iter().position(|token| token.text == word && is_light(token, on))?;
    let norm = |at: Option<usize>| at.and_then(|at| all.get(at)).map_or("", |token| token.norm.as_str());
    let before = |back: usize| norm(at.checked_sub(back));
    // "our fleet register" goes together, where neither is known.
    let strange = |at: usize| all.get(at).is_some_and(|token| unknown.contains(&token.text) && is_light(token, on));
    let mut to = at + 1;
    while strange(to) {
        to += 1;
    }
    let last = all.get(to).is_none_or(|next| next.kind == TokenKind::Punct || vocabulary::is_ordinary(&next.norm));
    // "99 cents": what a number is of.
    if at.checked_sub(1).and_then(|at| all.get(at)).is_some_and(|token| token.kind == TokenKind::Number) {
        return None;
    }
    let from = if last && ARTICLES.contains(&before(1)) && PLACING.contains(&before(2)) {
        // "on the schedule" goes as a whole, since the rest of it says nothing without the noun.
        at - 2
    } else if last && (PLACING.contains(&before(1)) || ARTICLES.contains(&before(1))) || among(&SET, LEADING, before(1))
    {
        return None;
    } else {
        at
    };
    let (start, end) = (all.get(from)?.start, all.get(to - 1)?.end);
    Some((start..end, text.get(start..end)?.to_owned()))
}

/// Without the gaps that words have left.
fn tidy(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = [" ,", " ?", " .", " !"].iter().fold(text, |text, gap| text.replace(gap, gap.trim()));
    let mut text = text.trim_matches([' ', ',']);
    // "flights that were", without what they were.
    while let Some(head) = ["that", "which", "who", "are", "were", "is", "was", "have", "has"]
        .iter()
        .find_map(|last| text.strip_suffix(last))
        && head.ends_with(' ')
    {
        text = head.trim_end();
    }
    text.to_owned()
}

fn listed(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("“{word}”")).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => quoted.join(""),
    }
}
