//! What became more or less, in the many ways that people say it: "percentage increase in X from A to B", "did X rise or
//! fall in A", "X per month and the change from the month before". They are put in the words that the grammar reads.

use jiff::civil::DateTime;

use crate::model::ontology::Calendar;

use super::Words;
use super::rephrase::{CHANGE, window};

/// Nouns of becoming more or less.
const NOUNS: &[&str] = &[
    "change", "changes", "growth", "increase", "increases", "decrease", "difference", "differences", "rise", "drop",
    "decline", "fall", "reduction", "delta", "variation", "development",
];

const PERCENT: &[&str] = &["percentage", "percent", "%", "relative", "percentual", "proportional"];

/// How a question ends that wants the change as a part.
const IN_PERCENT: &[&str] =
    &["in percentage terms", "as a percentage", "as percentage", "percentage wise", "in percent", "in %"];

/// The two ways in which a number may go.
const EITHER: &[(&str, &str)] = &[
    ("increase", "decrease"),
    ("decrease", "increase"),
    ("rise", "fall"),
    ("fall", "rise"),
    ("grow", "shrink"),
    ("go up", "go down"),
    ("go up", "down"),
    ("go down", "up"),
    ("go down", "go up"),
    ("improve", "worsen"),
    ("grow", "fall"),
    ("increase", "fall"),
    ("increase", "drop"),
    ("rise", "drop"),
    ("grow", "decline"),
    ("get better", "worse"),
];

const OPENINGS: &[&str] = &[
    "what is the", "what was the", "what were the", "what is our", "what s the", "show me the", "show the", "show me",
    "show", "give me the", "give me", "calculate the", "compute the", "the", "our", "what", "how big was the",
    "how big is the", "how large was the", "how high was the", "how strong was the",
];

/// The question in plainer words, if it asks so.
pub(super) fn plainly(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    let verbal = verbs(question);
    let text = verbal.as_deref().unwrap_or(question);
    between(text, now, calendar).or_else(|| beside(text)).or_else(|| course(text)).or(verbal)
}

/// "by how many percent did X grow", "did X go up or down": "by how much did X grow", "did X change".
fn verbs(question: &str) -> Option<String> {
    let words = Words::of(question);
    let mut begin = 0;
    for percent in [
        "by how many percent",
        "by how much percent",
        "by how many %",
        "by what percent",
        "by what percentage",
        "by what %",
        "how many percent",
        "how much percent",
        "how many percentage points",
        "what percentage",
        "what percent",
        "what %",
    ] {
        if words.has(0, percent) {
            // Points are a difference of parts, not a part of the earlier number.
            if percent.ends_with("points") || words.at(percent.split(' ').count()) == "points" {
                return None;
            }
            begin = percent.split(' ').count();
            break;
        }
    }
    let asks = |at: usize| matches!(words.at(at), "did" | "has" | "have" | "does");
    if begin > 0 && asks(begin) {
        // "what percentage did X go up by from A to B"
        let said = words.text(begin, end_without_percent(&words)).replacen(" by from ", " from ", 1);
        return Some(format!("by how much {said}"));
    }
    if let Some(text) = grew_each(&words) {
        return Some(text);
    }
    let how = matches!(words.at(0), "how" | "by") && (1..5).any(asks);
    let end = end_without_percent(&words);
    if how && end < words.len() {
        return Some(words.text(0, end).to_owned());
    }
    if !(asks(0) || how) {
        return None;
    }
    for (one, other) in EITHER {
        let said = format!("{one} or {other}");
        if let Some(at) = words.find(&said) {
            let tail = words.text(at + said.split(' ').count(), words.len());
            return Some(format!("{} change {tail}", words.text(0, at)).trim().to_owned());
        }
    }
    None
}

/// "how much did X grow each year", "how does X change from month to month": X by that unit, with its change.
fn grew_each(words: &Words<'_>) -> Option<String> {
    let from = ["by how much", "how much", "how"].iter().find(|how| words.has(0, how))?.split(' ').count();
    if !matches!(words.at(from), "did" | "does" | "do" | "has" | "have") {
        return None;
    }
    let verb = (from + 2..words.len()).find(|at| CHANGE.contains(&words.at(*at)))?;
    let next = verb + 1 + usize::from(words.at(verb + 1) == ",");
    let each = matches!(words.at(next), "each" | "every" | "per") && UNITS.contains(&words.at(next + 1));
    let (unit, end) = match each {
        true => (words.text(next + 1, next + 2), next + 2),
        false => over_itself(words, next + usize::from(words.at(next) == "from"))?,
    };
    let (what, rest) = (words.text(from + 1, verb), words.text(end, end_without_percent(words)));
    Some(format!("{what} by {unit} and change beside {unit} {rest}").trim().to_owned())
}

fn end_without_percent(words: &Words<'_>) -> usize {
    let last = |phrase: &&&str| {
        words.len().checked_sub(phrase.split(' ').count()).is_some_and(|from| from > 0 && words.has(from, phrase))
    };
    let end = IN_PERCENT.iter().find(last).map_or(words.len(), |phrase| words.len() - phrase.split(' ').count());
    end - usize::from(end > 0 && words.at(end - 1) == ",")
}

/// "percentage increase in X from A to B", "X change from A to B": X in B compared with A.
fn between(question: &str, now: DateTime, calendar: &Calendar) -> Option<String> {
    let words = Words::of(question);
    let from = OPENINGS.iter().find(|phrase| words.has(0, phrase)).map_or(0, |phrase| phrase.split(' ').count());
    let end = end_without_percent(&words);
    let mut at = from;
    at += usize::from(PERCENT.contains(&words.at(at)));
    // "from A to B", "between A and B"
    let (split, first, middle) = (at..end).find_map(|split| {
        let joined = match words.at(split) {
            "from" => "to",
            "between" => "and",
            _ => return None,
        };
        let middle = (split + 2..end.min(split + 7)).find(|middle| words.at(*middle) == joined)?;
        let first = words.text(split + 1, middle);
        window(first, now, calendar).map(|_| (split, first, middle))
    })?;
    // With a verb it is asked by the other rule.
    let verbal = |at: usize| matches!(words.at(at), "how" | "did" | "does" | "do" | "has" | "have");
    if words.at(0) == "by" || (from..split).any(verbal) {
        return None;
    }
    let (second, rest) = first_window(&words, middle + 1, end, now, calendar)?;
    let late = window(second, now, calendar)?;
    let before = |text: &String| window(text, now, calendar).is_some_and(|early| early.start < late.start);
    // "from August to September 2025" says the year once.
    let year = second.rsplit(' ').next().filter(|year| year.len() == 4 && year.parse::<u16>().is_ok());
    let dated = year.map(|year| format!("{first} {year}"));
    let first = [dated, Some(first.to_owned())].into_iter().flatten().find(before)?;
    let subject = if NOUNS.contains(&words.at(at)) {
        let after = at + 1 + usize::from(words.at(at + 1) == "rate");
        matches!(words.at(after), "in" | "of").then(|| words.text(after + 1, split))?
    } else if split > at + 1 && NOUNS.contains(&words.at(split - 1)) {
        let noun = split - 1 - usize::from(PERCENT.contains(&words.at(split - 2)));
        words.text(at, noun)
    } else {
        return None;
    };
    let simple = !subject.is_empty() && !subject.split(' ').any(|word| CHANGE.contains(&word) || word == "and");
    simple.then(|| format!("{subject} in {second} compared with {first} {}", words.text(rest, end)).trim().to_owned())
}

/// The longest stretch of time that begins here, and where it ends.
pub(super) fn first_window<'q>(
    words: &Words<'q>,
    from: usize,
    end: usize,
    now: DateTime,
    calendar: &Calendar,
) -> Option<(&'q str, usize)> {
    let longest = end.min(from + 6);
    (from + 1..=longest).rev().find_map(|to| {
        let text = words.text(from, to);
        window(text, now, calendar).is_some().then_some((text, to))
    })
}

const UNITS: &[&str] = &["day", "week", "month", "quarter", "year"];

/// "X per month and the change from the month before": the change beside the numbers.
fn beside(question: &str) -> Option<String> {
    let words = Words::of(question);
    for at in 1..words.len() {
        let lead = ["and", "with", "plus", ",", "along with", "as well as", "together with", "including"];
        let Some(lead) = lead.iter().find(|lead| words.has(at, lead)) else { continue };
        let mut next = at + lead.split(' ').count();
        next += usize::from(*lead == "," && matches!(words.at(next), "and" | "with" | "plus"));
        if let Some((unit, end)) = how_changed(&words, next).or_else(|| change_named(&words, next)) {
            let tail = words.text(end, words.len());
            return Some(format!("{} and change beside {unit} {tail}", words.text(0, at)).trim().to_owned());
        }
    }
    None
}

/// "month over month change of X", "month to month growth in X": X by month, with its change.
fn course(question: &str) -> Option<String> {
    let words = Words::of(question);
    let mut at = OPENINGS.iter().find(|phrase| words.has(0, phrase)).map_or(0, |phrase| phrase.split(' ').count());
    at += usize::from(PERCENT.contains(&words.at(at)));
    // "growth of X from year to year"
    if NOUNS.contains(&words.at(at)) && matches!(words.at(at + 1), "in" | "of") {
        let from = (at + 3..words.len())
            .find(|from| over_itself(&words, from + usize::from(words.at(*from) == "from")).is_some())?;
        let (unit, end) = over_itself(&words, from + usize::from(words.at(from) == "from"))?;
        let (what, rest) = (words.text(at + 2, from), words.text(end, end_without_percent(&words)));
        return Some(format!("{what} by {unit} and change beside {unit} {rest}").trim().to_owned());
    }
    let (unit, end) = over_itself(&words, at)?;
    // "month over month growth" is read as it stands.
    let plain = words.at(at + 1) == "over" && words.at(end) == "growth";
    let end = end + usize::from(PERCENT.contains(&words.at(end)));
    if plain || !NOUNS.contains(&words.at(end)) {
        return None;
    }
    let of = end + 1 + usize::from(words.at(end + 1) == "rate");
    let rest = matches!(words.at(of), "in" | "of" | "for").then(|| words.text(of + 1, end_without_percent(&words)))?;
    (!rest.is_empty()).then(|| format!("{rest} by {unit} and change beside {unit}"))
}

/// "how it changed from month to month", "how much they grew"; the unit is empty where none is said.
fn how_changed<'q>(words: &Words<'q>, at: usize) -> Option<(&'q str, usize)> {
    if words.at(at) != "how" {
        return None;
    }
    let mut at = at + 1 + usize::from(matches!(words.at(at + 1), "much" | "strongly" | "fast"));
    at += usize::from(matches!(words.at(at), "did" | "do" | "does" | "has" | "have"));
    if !matches!(words.at(at), "it" | "they" | "this" | "that" | "these" | "those") {
        return None;
    }
    at += 1;
    at += usize::from(matches!(words.at(at), "has" | "have" | "is" | "are"));
    let verb = words.at(at);
    if !(CHANGE.contains(&verb) || matches!(verb, "changes" | "grows" | "changing" | "growing" | "moves")) {
        return None;
    }
    let past = at + 1;
    if past == words.len() {
        return Some(("", past));
    }
    related(words, past).or_else(|| over_itself(words, past + usize::from(words.at(past) == "from")))
}

/// "the change from the month before", "its percentage growth over the previous year", "the year over year change".
fn change_named<'q>(words: &Words<'q>, at: usize) -> Option<(&'q str, usize)> {
    let mut at = at;
    while matches!(words.at(at), "the" | "their" | "its" | "a" | "also" | "show") {
        at += 1;
    }
    at += usize::from(PERCENT.contains(&words.at(at)));
    let before = over_itself(words, at);
    if let Some((_, end)) = before {
        at = end;
        at += usize::from(PERCENT.contains(&words.at(at)));
    }
    if !NOUNS.contains(&words.at(at)) {
        return None;
    }
    at += 1;
    at += usize::from(words.at(at) == "rate");
    let in_percent =
        |at: usize| IN_PERCENT.iter().find(|phrase| words.has(at, phrase)).map_or(0, |p| p.split(' ').count());
    at += in_percent(at);
    let (unit, end) = match before {
        Some((unit, _)) => (unit, at),
        None => related(words, at).or_else(|| over_itself(words, at + usize::from(words.at(at) == "from")))?,
    };
    Some((unit, end + in_percent(end)))
}

/// "from the month before", "to the previous month", "compared with the year before".
fn related<'q>(words: &Words<'q>, at: usize) -> Option<(&'q str, usize)> {
    let relation = [
        "compared to", "compared with", "relative to", "in comparison to", "from", "to", "over", "against", "on",
        "since", "vs", "versus", "with",
    ];
    let relation = relation.iter().find(|relation| words.has(at, relation))?;
    let mut at = at + relation.split(' ').count();
    while matches!(words.at(at), "the" | "each" | "that" | "of" | "one" | "a") {
        at += 1;
    }
    let unit = |at: usize| UNITS.contains(&words.at(at)).then(|| words.text(at, at + 1));
    if matches!(words.at(at), "previous" | "prior" | "preceding" | "last") {
        return unit(at + 1).map(|unit| (unit, at + 2));
    }
    let unit = unit(at)?;
    matches!(words.at(at + 1), "before" | "earlier" | "previously" | "prior").then_some((unit, at + 2))
}

/// "month over month", "year-on-year", "month to month".
fn over_itself<'q>(words: &Words<'q>, at: usize) -> Option<(&'q str, usize)> {
    let unit = UNITS.iter().find(|unit| **unit == words.at(at))?;
    let skip = |at: usize| at + usize::from(words.at(at) == "-");
    let between = skip(at + 1);
    if !matches!(words.at(between), "over" | "on" | "to" | "by") {
        return None;
    }
    let again = skip(between + 1);
    (words.at(again) == *unit).then(|| (words.text(at, at + 1), again + 1))
}
