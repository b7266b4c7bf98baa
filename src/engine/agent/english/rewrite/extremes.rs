//! The most of something in other words than a superlative, and what is asked for once more behind it: "more revenue than
//! any other shop", "how far is the farthest shop", "which shop has the most sales, and how many?".

use crate::engine::agent::english::lexicon::words;

use super::super::vocabulary;
use super::Words;

/// The question with a superlative; `None` where it says nothing of these.
pub(super) fn plainly(question: &str) -> Option<String> {
    let mut text: Option<String> = None;
    for rule in [echo, than_any_other, how_much_is_the_most] {
        let said = rule(&Words::of(text.as_deref().unwrap_or(question)));
        text = said.or(text);
    }
    text
}

/// Comparatives with their superlatives.
const COMPARED: &[(&str, &str)] = &[
    ("more", "most"),
    ("fewer", "fewest"),
    ("less", "least"),
    ("higher", "highest"),
    ("greater", "greatest"),
    ("lower", "lowest"),
    ("larger", "largest"),
    ("bigger", "biggest"),
    ("smaller", "smallest"),
    ("longer", "longest"),
    ("shorter", "shortest"),
    ("better", "best"),
    ("worse", "worst"),
    ("older", "oldest"),
    ("newer", "newest"),
    ("cheaper", "cheapest"),
    ("heavier", "heaviest"),
    ("farther", "farthest"),
    ("further", "furthest"),
    ("busier", "busiest"),
];

const OTHERS: &[&str] = &[
    "than anyone else", "than anybody else", "than anything else", "than everyone else", "than everybody else",
    "than any of the others", "than all of the others", "than all the others", "than all the other", "than all others",
    "than all other", "than the others", "than any others", "than any other one", "than any other", "than every other",
];

/// "more revenue than any other shop": the most revenue.
fn than_any_other(words: &Words<'_>) -> Option<String> {
    let (than, phrase) = (0..words.len())
        .find_map(|at| OTHERS.iter().find(|phrase| words.has(at, phrase)).map(|phrase| (at, *phrase)))?;
    let (at, most) = (0..than).rev().find_map(|at| {
        let found = COMPARED.iter().find(|(comparative, _)| *comparative == words.at(at))?;
        Some((at, found.1))
    })?;
    let mut end = than + phrase.split(' ').count();
    // "than any other shop": what was asked for already.
    if phrase.ends_with("other") && end < words.len() && !is_joint(words.at(end)) {
        let named = (1..=3).rev().find(|count| {
            end + count <= words.len()
                && (end + count == words.len() || is_joint(words.at(end + count)))
                && (0..*count).all(|more| mentioned(words, than, words.at(end + more)))
        })?;
        end += named;
    }
    end += usize::from(matches!(words.at(end), "did" | "does" | "do" | "has" | "have" | "had" | "is" | "was" | "are"));
    let article = at > 0 && matches!(words.at(at - 1), "a" | "an" | "the");
    let head = words.text(0, at - usize::from(article));
    let (between, tail) = (words.text(at + 1, than), words.text(end, words.len()));
    Some(joined(&[head, "the", most, between, tail]))
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

/// Whether a word goes on with something else than a name.
fn is_joint(word: &str) -> bool {
    matches!(
        word,
        "in" | "on"
            | "at"
            | "for"
            | "from"
            | "to"
            | "during"
            | "since"
            | "of"
            | "by"
            | "and"
            | ","
            | "last"
            | "this"
            | "did"
            | "does"
            | "do"
            | "has"
            | "have"
            | "had"
            | "is"
            | "was"
            | "are"
            | "were"
            | "with"
            | "we"
            | "per"
    )
}

/// Whether a word was said before a place, in the singular or the plural.
fn mentioned(words: &Words<'_>, before: usize, word: &str) -> bool {
    let one = words::singular(word);
    (0..before).any(|at| words::singular(words.at(at)) == one)
}

fn is_superlative(words: &Words<'_>, at: usize) -> bool {
    vocabulary::superlative(words.at(at)).is_some()
        || words.at(at).len() > 5 && words.at(at).ends_with("est")
        || matches!(words.at(at), "max" | "min" | "maximum" | "minimum" | "last" | "first")
}

/// "how far away is the farthest shop", "how expensive was the most expensive bread": that one, which is shown with it.
fn how_much_is_the_most(words: &Words<'_>) -> Option<String> {
    const PAIRS: &[(&str, &[&str])] = &[
        ("far", &["farthest", "furthest", "nearest", "closest"]),
        ("high", &["highest", "tallest", "lowest"]),
        ("tall", &["tallest", "highest", "smallest"]),
        ("big", &["biggest", "largest", "smallest"]),
        ("large", &["largest", "biggest", "smallest"]),
        ("heavy", &["heaviest", "lightest"]),
        ("fast", &["fastest", "slowest"]),
        ("expensive", &["most", "priciest", "costliest", "dearest", "cheapest", "least"]),
        ("much", &["most", "cheapest", "priciest", "costliest", "biggest", "largest", "smallest"]),
        ("long", &["longest", "shortest"]),
    ];
    if words.at(0) != "how" {
        return None;
    }
    let (_, superlatives) = PAIRS.iter().find(|(adjective, _)| *adjective == words.at(1))?;
    let mut at = 2 + usize::from(words.at(2) == "away" || words.at(2) == "up");
    if !matches!(words.at(at), "is" | "was" | "are" | "were") {
        return None;
    }
    at += 1;
    at += usize::from(matches!(words.at(at), "the" | "our"));
    // "how much is the most expensive bread", not "how much is the most we sold".
    let adjective = words.at(at) != "most" && words.at(at) != "least"
        || matches!(words.at(at + 1), "expensive" | "costly" | "pricey");
    let plain = superlatives.contains(&words.at(at)) && adjective && words.at(1) != "long";
    plain.then(|| format!("which is the {}", words.text(at, words.len())))
}

/// What asks for a number that is shown anyway: "which shop has the most sales, and how many?". A unit that it names is
/// kept; behind a bound the number is asked for.
fn echo(words: &Words<'_>) -> Option<String> {
    const MUCH: &[&str] =
        &["many", "much", "long", "far", "high", "big", "large", "often", "late", "expensive", "heavy", "old", "tall"];
    let how = (2..words.len()).rev().find(|at| words.at(*at) == "how" && MUCH.contains(&words.at(at + 1)))?;
    let mut end = how;
    while end > 0 && matches!(words.at(end - 1), "and" | "," | "-" | "–" | "—" | "with" | "by" | ";") {
        end -= 1;
    }
    if end == how || end < 2 {
        return None;
    }
    // What is counted, then "is it", "did they sell", "it was".
    let is_verb = |word: &str| {
        matches!(word, "is" | "was" | "were" | "are" | "did" | "does" | "do" | "has" | "have" | "had" | "been" | "s")
    };
    let is_it =
        |word: &str| matches!(word, "it" | "they" | "that" | "there" | "he" | "she" | "this" | "those" | "each");
    let from = how + 2;
    let mut at = from;
    while at < words.len() && !is_verb(words.at(at)) && !is_it(words.at(at)) {
        at += 1;
    }
    let named: Vec<&str> = (from..at).map(|at| words.at(at)).collect();
    let mut said = 0;
    while at < words.len() && (is_verb(words.at(at)) || is_it(words.at(at))) {
        said += 1;
        at += 1;
    }
    let doing =
        |word: &str| vocabulary::is_relation(word) || matches!(word, "spend" | "spent" | "pay" | "cost" | "last");
    at += usize::from(said > 0 && at < words.len() && doing(words.at(at)));
    at += usize::from(words.at(at) == "away");
    if at < words.len() {
        return None;
    }
    let unit = named.len() == 1 && vocabulary::unit(named[0]).is_some() && named[0].len() > 2;
    let known = named.iter().all(|word| mentioned(words, end, word));
    if !known && !unit {
        return None;
    }
    let head = words.text(0, end);
    if (0..end).any(|at| is_superlative(words, at) || OTHERS.iter().any(|phrase| words.has(at, phrase))) {
        return Some(if known { head.to_owned() } else { format!("{head} in {}", named[0]) });
    }
    let bound = ["more than", "fewer than", "less than", "at least", "at most", "over", "under", "above", "below"];
    let bounded = (0..end).any(|at| bound.iter().any(|phrase| words.has(at, phrase)));
    (bounded && known).then(|| format!("{head} with the number"))
}
