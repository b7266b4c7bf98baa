//! What a person's reply to questions back chooses.

use crate::engine::agent::english::lexicon::words;
use crate::engine::agent::planner::{assumption, normal_form};
use crate::model::reading::{Choice, Chosen, Clarification};

/// Replies that leave open points as they are assumed.
const AS_ASSUMED: [&str; 6] = ["as you assume", "as assumed", "default", "you choose", "any", "whatever"];

/// The choices that a reply makes: for one question a number, a place ("the second") or words of an option; for several
/// one such part for each, in their order, or for some of them words that are an option of no other. `None` when a part
/// answers none of them, or may answer several.
pub(crate) fn choose(reply: &str, pending: &[Clarification]) -> Option<Vec<Chosen>> {
    if AS_ASSUMED.contains(&normal_form(reply).as_str()) {
        return Some(pending.iter().filter_map(assumption).collect());
    }
    if let [one] = pending {
        return Some(vec![chosen(reply, one)?]);
    }
    // A line each, as forms write it: the labels of options may hold commas.
    let split = |by: &[char]| -> Vec<&str> { reply.split(by).map(str::trim).filter(|part| !part.is_empty()).collect() };
    let ways = [split(&['\n']), split(&[';', '\n']), split(&[',', ';', '\n'])];
    if let Some(parts) = ways.iter().find(|parts| parts.len() == pending.len()) {
        return parts.iter().zip(pending).map(|(part, question)| chosen(part, question)).collect();
    }
    ways.iter()
        .filter(|parts| !parts.is_empty() && parts.len() < pending.len())
        .find_map(|parts| some_of(parts, pending))
}

/// The choices of parts that each belong to one question and to no other.
fn some_of(parts: &[&str], pending: &[Clarification]) -> Option<Vec<Chosen>> {
    let mut made: Vec<Chosen> = Vec::new();
    for part in parts {
        let mut fits = pending.iter().filter_map(|question| chosen(part, question));
        let (one, other) = (fits.next()?, fits.next());
        if other.is_some() || made.iter().any(|before| before.key == one.key) {
            return None;
        }
        made.push(one);
    }
    Some(made)
}

fn chosen(reply: &str, question: &Clarification) -> Option<Chosen> {
    let option = option(reply, &question.options)?;
    Some(Chosen { key: question.key.clone(), value: option.value.clone() })
}

const PLACES: &[&[&str]] = &[
    &["1", "1st", "first", "one", "a", "former"],
    &["2", "2nd", "second", "two", "b"],
    &["3", "3rd", "third", "three", "c"],
    &["4", "4th", "fourth", "four", "d"],
    &["5", "5th", "fifth", "five", "e"],
];

/// Words that a reply may have around what it says.
const AROUND: &[&str] = &[
    "the", "please", "i", "mean", "meant", "it", "is", "option", "number", "take", "use", "one", "want", "a", "by",
    "of", "ok", "yes",
];

fn option<'o>(reply: &str, options: &'o [Choice]) -> Option<&'o Choice> {
    let said = words::split(reply);
    if said.is_empty() {
        return None;
    }
    let exact = options
        .iter()
        .find(|option| words::split(&option.label) == said || option.value.eq_ignore_ascii_case(reply.trim()));
    if exact.is_some() {
        return exact;
    }
    // "yes" and "no" where all that is asked is whether it is meant.
    if let ([word], [yes, no]) = (said.as_slice(), options)
        && no.label.starts_with("No, ")
    {
        match word.as_str() {
            "yes" | "y" | "right" | "correct" => return Some(yes),
            "no" | "n" | "wrong" => return Some(no),
            _ => {}
        }
    }
    let mut told: Vec<&String> = said.iter().filter(|word| !AROUND.contains(&word.as_str())).collect();
    if told.is_empty() {
        told = said.iter().filter(|word| *word == "one" || *word == "a").collect();
    }
    if let [only] = told.as_slice() {
        if matches!(only.as_str(), "last" | "latter") {
            return options.last();
        }
        if let Some(place) = PLACES.iter().position(|forms| forms.contains(&only.as_str())) {
            return options.get(place);
        }
    }
    // All words of the reply are words of one option only.
    let covers = |option: &&Choice| {
        let label = words::split(&format!("{} {}", option.label, option.value));
        !told.is_empty()
            && told.iter().all(|word| {
                label.iter().any(|own| {
                    words::singular(own) == words::singular(word)
                        || word.len() > 3 && strsim::damerau_levenshtein(own, word) <= 1
                })
            })
    };
    let mut covered = options.iter().filter(covers);
    let found = covered.next()?;
    covered.next().is_none().then_some(found)
}
