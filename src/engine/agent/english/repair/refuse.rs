//! Questions that no query answers: causes, the future, opinions, and requests to change something; and why one was
//! not understood.

use super::super::items::{Item, Kind};
use super::super::vocabulary;
use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::model::ontology::Ontology;
use crate::model::reading::{Cannot, Outcome};

/// Why a question is none for the data, if it is none.
pub(in super::super) fn refusal(items: &[Item]) -> Option<&'static str> {
    let words: Vec<&str> =
        items.iter().filter(|item| matches!(item.kind, Kind::Word)).map(|item| item.norm.as_str()).collect();
    let polite = [
        "please", "can", "could", "would", "you", "i", "want", "to", "like", "kindly", "lets", "let", "us", "me",
        "and", "now", "then",
    ];
    let first = words.iter().find(|word| !polite.contains(word)).copied().unwrap_or_default();
    let has = |word: &str| words.contains(&word);
    let pair = |first: &str, second: &str| words.windows(2).any(|pair| pair == [first, second]);
    let named = |word: &str| items.iter().any(|item| item.is(word) && item.is_named());
    if first == "why"
        || has("why")
        || pair("how", "come")
        || pair("reason", "for")
        || pair("reasons", "for")
        || pair("what", "causes")
        || pair("what", "caused")
    {
        return Some(
            "Data show what happened, not why. Ask for numbers that may tell, such as a comparison by some field.",
        );
    }
    let future =
        ["will", "predict", "predicted", "prediction", "forecast", "forecasted", "projected", "projection", "tomorrow"];
    if future.iter().any(|word| has(word) && !named(word))
        || pair("going", "to") && (has("what") || has("how")) && has("be")
    {
        return Some("The future is not in the data: forecasts are not made here.");
    }
    let opinion = pair("should", "we")
        || pair("should", "i")
        || pair("you", "think")
        || pair("your", "opinion")
        || pair("do", "you")
        || has("recommend");
    if opinion {
        return Some("Opinions and recommendations are not given here, only what is in the data.");
    }
    let begin = items.iter().position(|item| !polite.contains(&item.norm.as_str())).unwrap_or_default();
    let imperative = items.get(begin).is_some_and(|item| item.is(first))
        && vocabulary::is_command(first)
        && !describes(items, begin)
        && words.len() > 1
        && !items.first().is_some_and(|item| item.norm.contains(' '));
    if imperative
        && (!named(first) || matches!(first, "delete" | "remove" | "drop" | "update" | "insert" | "send" | "email"))
    {
        return Some("Questions are only answered here; nothing is changed, sent or written.");
    }
    None
}

/// "email tickets", where some tickets came by email: a value before the name of what has it is no command.
fn describes(items: &[Item], at: usize) -> bool {
    let (Some(item), Some(next)) = (items.get(at), items.get(at + 1)) else { return false };
    let is_named = |of: usize| next.entries.iter().any(|entry| entry.sense == Sense::Entity(of) && !entry.partial);
    item.entries.iter().any(|entry| matches!(entry.sense, Sense::Value { dataset, .. } if is_named(dataset)))
}

/// Words that ask, and say nothing of what.
const ASKING: &[&str] = &[
    "how", "many", "much", "what", "which", "who", "when", "where", "show", "list", "give", "how many", "how much",
    "have", "has", "do", "does", "did", "can",
];

/// Pictures of an answer.
const DRAWN: &[&str] =
    &["chart", "charts", "graph", "graphs", "plot", "diagram", "histogram", "line", "lines", "bar", "bars", "pie"];

/// Whether a word says how the answer is to be drawn: "as a line", "a bar chart of …".
fn is_drawn(word: &str, items: &[Item]) -> bool {
    let drawn = |item: &Item| item.any(DRAWN);
    let Some(at) = items.iter().position(|item| item.text == word && drawn(item)) else { return false };
    let before = at.checked_sub(1).and_then(|at| items.get(at));
    before.is_none_or(|item| item.any(&["a", "as", "in"]) || drawn(item)) || items.get(at + 1).is_some_and(drawn)
}

/// Why there is no answer where words were not understood: one that means nothing here, one that is known but has
/// nothing to do where it stands, or one of the grammar that could not be read. What was refused is never suggested.
pub(in super::super) fn unread(unknown: Vec<String>, items: &[Item], on: &Lexicon, ontology: &Ontology) -> Outcome {
    // A word that only asks is understood; what it asks for is not.
    let asks = |word: &&String| ASKING.contains(&words::fold(word).as_str());
    let Some(first) = unknown.iter().find(|word| !asks(word)).cloned() else {
        let reason = "It is not understood how the parts of this question belong together: ask for one thing at a time, \
                      in a short sentence.";
        return Outcome::Cannot(Cannot { reason: reason.into(), unknown, instead: Vec::new() });
    };
    let folded = words::fold(&first);
    let known = items.iter().any(|item| item.text == first && (item.is_named() || item.has_value()));
    let reason = if is_drawn(&first, items) {
        format!("How an answer is drawn is no part of a question: leave “{first}” out.")
    } else if known {
        format!("It is not clear what “{first}” has to do with the rest of the question.")
    } else if folded.split(' ').all(|word| vocabulary::is_ordinary(word) || word.chars().all(|c| c.is_ascii_digit())) {
        format!("It is not understood what “{first}” says here: say that part in other words.")
    } else {
        format!("“{first}” means nothing here.")
    };
    let same = |near: &String| {
        let near = words::split(near);
        near.iter().map(|word| words::singular(word)).eq(words::split(&first).iter().map(|word| words::singular(word)))
    };
    let instead = if known { Vec::new() } else { on.near(&folded, ontology) };
    Outcome::Cannot(Cannot { reason, unknown, instead: instead.into_iter().filter(|near| !same(near)).collect() })
}
