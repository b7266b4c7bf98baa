//! Questions that say with a clause what others say with a phrase. They are put in the words of the latter before they
//! are read: "how did revenue change from June to July" asks for "revenue in July compared with June".

use jiff::civil::DateTime;

use crate::engine::agent::english::text::token::tokens;
use crate::engine::agent::english::time::{self, TimePhrase};
use crate::model::ontology::Calendar;
use crate::model::plan::Window;

use super::super::vocabulary;
use super::Words;
use super::growth::first_window;

/// Verbs of becoming more or less.
pub(super) const CHANGE: &[&str] = &[
    "change", "changed", "grow", "grown", "grew", "increase", "increased", "decrease", "decreased", "fall", "fallen",
    "rise", "risen", "drop", "dropped", "decline", "declined", "shrink", "shrunk", "develop", "developed", "evolve",
    "evolved", "improve", "improved", "differ", "move", "moved",
];

/// The same question in plainer words, if it is one of these.
pub(super) fn plainer(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    changed(question, now, calendar).or_else(|| averaged(question)).or_else(|| exceeded(question, now, calendar))
}

const ARE_THERE: &[&str] = &["are there", "were there", "is there", "do we have", "did we have", "do we get"];

/// "how many flights are there per day on average", "revenue per month on average": the average of X per Y. Also "how
/// many orders does the average customer have".
fn averaged(question: &str) -> Option<String> {
    let words = Words::of(question);
    if let Some(text) = average_one(&words) {
        return Some(text);
    }
    let mean = words.find("on average").or_else(|| words.find("on an average"))?;
    let length = if words.has(mean, "on an average") { 3 } else { 2 };
    let mut rest = format!("{} {}", words.text(0, mean), words.text(mean + length, words.len()));
    rest = rest.trim().trim_matches(',').trim().to_owned();
    let words = Words::of(&rest);
    let (count, from) = match () {
        () if words.has(0, "how many") => (true, 2),
        () if words.has(0, "how much") => (false, 2),
        () => {
            let opening = ["what is the", "what was the", "what are the", "what is our", "show the", "show me the"];
            (
                false,
                opening.iter().find(|opening| words.has(0, opening)).map_or(0, |opening| opening.split(' ').count()),
            )
        }
    };
    // "how many orders does a customer have": of each one.
    let does = (from..words.len()).find(|at| matches!(words.at(*at), "does" | "do" | "did"));
    if let Some(does) = does.filter(|does| matches!(words.at(does + 1), "a" | "an" | "each" | "every" | "one")) {
        let verb = words.len() - 1;
        // "how many orders does each shop have per day": a row for each shop.
        if matches!(words.at(does + 1), "each" | "every") && words.at(does + 4) == "per" && count {
            let (what, each, per) =
                (words.text(from, does), words.text(does + 2, does + 3), words.text(does + 4, verb + 1));
            return Some(format!("average number of {what} {per} by {each}"));
        }
        return (count && verb == does + 3)
            .then(|| format!("average number of {} per {}", words.text(from, does), words.text(does + 2, verb)));
    }
    let per = (from..words.len())
        .find(|at| words.at(*at) == "per" || words.has(*at, "for each") || words.has(*at, "in each"))?;
    let there = (from..per).find(|at| ARE_THERE.iter().any(|phrase| words.has(*at, phrase)));
    let what = match there {
        Some(there) => {
            let length = ARE_THERE.iter().find(|phrase| words.has(there, phrase))?.split(' ').count();
            format!("{} {}", words.text(from, there), words.text(there + length, per))
        }
        None => words.text(from, per).to_owned(),
    };
    // "tracks are sold"
    let what = what
        .split_whitespace()
        .filter(|word| !matches!(*word, "are" | "were" | "is" | "was"))
        .collect::<Vec<_>>()
        .join(" ");
    let simple = !what.split(' ').any(|word| matches!(word, "does" | "do" | "did" | "average" | "the"));
    let number = if count { "number of " } else { "" };
    simple.then(|| format!("average {number}{} {}", what.trim(), words.text(per, words.len())))
}

/// "how many orders does the average customer have": of each one, on average.
fn average_one(words: &Words<'_>) -> Option<String> {
    if !words.has(0, "how many") {
        return None;
    }
    let does = (2..words.len()).find(|at| matches!(words.at(*at), "does" | "do" | "did"))?;
    let one = ["the average", "an average", "the typical", "a typical"].iter().any(|one| words.has(does + 1, one));
    // The verb says no more than that the one has the others.
    let verb = words.len() - 1;
    let plain = vocabulary::is_relation(words.at(verb)) && verb > does + 3;
    (one && plain).then(|| format!("average number of {} per {}", words.text(2, does), words.text(does + 3, verb)))
}

/// "how much more X was there in A than in B": X in A compared with B.
fn exceeded(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    let words = Words::of(question);
    let word = |at: usize| words.at(at);
    let more = matches!(word(2), "more" | "less" | "fewer" | "higher" | "lower");
    if word(0) != "how" || !matches!(word(1), "much" | "many") || !more {
        return None;
    }
    let than = (4..words.len()).find(|at| word(*at) == "than")?;
    let piece = |from: usize, to: usize| Some(words.text(from, to)).filter(|text| !text.is_empty());
    let second = piece(than + 1, words.len())?.trim_start_matches("in ").to_owned();
    window(&second, now, calendar)?;
    let verb =
        (3..than).find(|at| matches!(word(*at), "did" | "do" | "was" | "were" | "is" | "are" | "had" | "have"))?;
    let first = (verb + 1..than).find(|at| word(*at) == "in")?;
    window(piece(first + 1, than)?, now, calendar)?;
    // "was revenue" names it after the verb; "premium did we write" before.
    let subject = if verb > 3 {
        let plain =
            |word: &str| matches!(word, "we" | "you" | "they" | "i" | "there" | "it") || vocabulary::is_relation(word);
        if !(verb + 1..first).all(|at| plain(word(at))) {
            return None;
        }
        piece(3, verb)?
    } else {
        piece(verb + 1, first)?
    };
    let count = if word(1) == "many" { "number of " } else { "" };
    Some(format!("{count}{subject} in {} compared with {second}", piece(first + 1, than)?))
}

/// "by how much did X grow from A to B", where A and B are times and B is the later one.
fn changed(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    let words = Words::of(question);
    let word = |at: usize| words.at(at);
    let mut at = usize::from(word(0) == "by");
    match word(at) {
        "how" => at += 1 + usize::from(word(at + 1) == "much"),
        "what" if at == 1 && matches!(word(2), "percentage" | "percent" | "%") => at += 2,
        // "did revenue grow in 2024"
        "did" | "has" => {}
        _ => return None,
    }
    if !matches!(word(at), "did" | "has" | "have" | "does") {
        return None;
    }
    let what = at + 1;
    // "went up"
    let moved =
        |at: usize| matches!(word(at), "go" | "goes" | "went" | "gone") && matches!(word(at + 1), "up" | "down");
    let said = (what + 1..words.len()).find(|at| CHANGE.contains(&word(*at)) || moved(*at))?;
    let verb = said + usize::from(moved(said));
    let piece = |from: usize, to: usize| Some(words.text(from, to)).filter(|text| !text.is_empty());
    let split = match word(verb + 1) {
        "from" => "to",
        "between" => "and",
        _ => {
            // "how much did revenue grow in 2024": beside the time before.
            let (subject, time) = (piece(what, said)?, piece(verb + 1, words.len())?);
            let found = time::find(&tokens(time), now, calendar).into_iter().next()?;
            let whole = found.tokens == (0..tokens(time).len()) && matches!(found.phrase, TimePhrase::Window(_));
            return whole.then(|| format!("{subject} {time} compared with the previous period"));
        }
    };
    let middle = (verb + 3..words.len()).find(|at| word(*at) == split)?;
    let (subject, first) = (piece(what, said)?, piece(verb + 2, middle)?);
    let (second, end) = first_window(&words, middle + 1, words.len(), now, calendar)?;
    let (early, late) = (window(first, now, calendar)?, window(second, now, calendar)?);
    // "from November to January" without years may be anything.
    if early.start >= late.start {
        return None;
    }
    Some(format!("{subject} in {second} compared with {first} {}", words.text(end, words.len())).trim().to_owned())
}

/// The time that words are, if they are nothing else.
pub(super) fn window(text: &str, now: DateTime, calendar: &Calendar) -> Option<Window> {
    let said = tokens(&format!("in {text}"));
    let found = time::find(&said, now, calendar).into_iter().next()?;
    let whole = found.tokens == (0..said.len());
    match found.phrase {
        TimePhrase::Window(window) if whole => Some(window),
        _ => None,
    }
}
