//! Whole clauses where others say a phrase: "how many were there?" behind the things, "with love in the name", "what
//! share did each take?". They are put in the words of the phrase before the question is read.

use crate::engine::agent::english::lexicon::{Lexicon, Sense, words};
use crate::model::ontology::Ontology;

use super::super::dialogue::variations::counted_by;
use super::super::vocabulary;
use super::Words;

/// The question in the words of a phrase, if it has such clauses.
pub(super) fn phrased(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let mut text: Option<String> = None;
    for rule in [counted_last, in_how_many, share_of_each, in_the_name] {
        let said = rule(&Words::of(text.as_deref().unwrap_or(question)));
        text = said.or(text);
    }
    how_often(&Words::of(text.as_deref().unwrap_or(question)), on, ontology).or(text)
}

/// "bands with more than 3 records - how many are there?": the number of them.
fn counted_last(words: &Words<'_>) -> Option<String> {
    let many = words.find("how many").filter(|at| *at > 1)?;
    let tail = (many + 2..words.len())
        .all(|at| matches!(words.at(at), "are" | "were" | "is" | "was" | "there" | "they" | "those" | "that"));
    if !tail || words.len() > many + 4 {
        return None;
    }
    let opening = ["which", "what", "list", "the", "all"];
    let from = (0..many).find(|at| !opening.contains(&words.at(*at)))?;
    let mut to = many;
    while to > from && matches!(words.at(to - 1), "-" | "–" | "—" | "," | ";" | ":" | "and") {
        to -= 1;
    }
    let what = words.text(from, to);
    let plain = !what.is_empty() && !vocabulary::is_show(words.at(from)) && words.at(from) != "how";
    plain.then(|| format!("how many {what}"))
}

const HAVE: &[&str] = &["do we have", "did we have", "are there", "were there", "is there", "was there", "have we"];

/// "in how many towns do we have just one shop?": towns with exactly one.
fn in_how_many(words: &Words<'_>) -> Option<String> {
    let from = ["in how many", "at how many", "on how many"].iter().find(|phrase| words.has(0, phrase)).map(|_| 3)?;
    let (have, phrase) =
        (from + 1..words.len()).find_map(|at| HAVE.iter().find(|phrase| words.has(at, phrase)).map(|one| (at, one)))?;
    let rest = have + phrase.split(' ').count();
    // "just one", "only 2": no more than that.
    let exact = matches!(words.at(rest), "just" | "only" | "exactly");
    let bound = matches!(words.at(rest), "more" | "fewer" | "less" | "at" | "no" | "over" | "under") || exact;
    let rest_text = words.text(rest + usize::from(exact), words.len());
    let exactly = if exact { "exactly " } else { "" };
    (bound && !rest_text.is_empty()).then(|| format!("how many {} with {exactly}{rest_text}", words.text(from, have)))
}

/// "what share of the revenue did each shop take?": the revenue by shop, as shares.
fn share_of_each(words: &Words<'_>) -> Option<String> {
    let from = usize::from(matches!(words.at(0), "what" | "which"));
    let share = matches!(words.at(from), "share" | "percentage" | "percent" | "proportion" | "fraction" | "part");
    if !share || words.at(from + 1) != "of" {
        return None;
    }
    let did = (from + 3..words.len()).find(|at| {
        matches!(words.at(*at), "did" | "does" | "do" | "has") && matches!(words.at(at + 1), "each" | "every")
    })?;
    let verb = words.len() - 1;
    let plain = vocabulary::is_relation(words.at(verb)) || matches!(words.at(verb), "account" | "produce" | "cover");
    (plain && verb > did + 2).then(|| {
        let (what, each) = (words.text(from + 2, did), words.text(did + 2, verb));
        format!("{what} by {each} as a share of the total")
    })
}

/// "with love in the name": whose name contains it.
fn in_the_name(words: &Words<'_>) -> Option<String> {
    let name = |at: usize| matches!(words.at(at), "name" | "names" | "title" | "titles");
    let end = (3..words.len()).find(|at| {
        name(*at) && matches!(words.at(at - 1), "the" | "their" | "its" | "a") && words.at(at - 2) == "in"
    })?;
    let verb = (0..end - 2).rev().find(|at| {
        matches!(words.at(*at), "with" | "have" | "has" | "having" | "containing" | "contain" | "contains" | "had")
    })?;
    let mut from = verb + 1;
    for lead in ["the word", "the text", "the term", "the words", "a", "an"] {
        if words.has(from, lead) {
            from += lead.split(' ').count();
            break;
        }
    }
    let text = words.text(from, end - 2);
    // One word or a quoted text; of several it is not clear where they end.
    if end - 2 != from + 1 || text.is_empty() {
        return None;
    }
    let text = text.trim_matches(|c| matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’'));
    let before = verb - usize::from(verb > 0 && matches!(words.at(verb - 1), "that" | "which" | "who"));
    let one = if words.at(end).starts_with("name") { "name" } else { "title" };
    let (head, tail) = (words.text(0, before), words.text(end + 1, words.len()));
    Some(format!("{head} whose {one} contains \"{text}\" {tail}").trim().to_owned())
}

/// "how often was the film rented?": the number of rentals of it.
fn how_often(words: &Words<'_>, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let phrase = ["how often", "how many times", "number of times", "the number of times"];
    let from = phrase.iter().find(|phrase| words.has(0, phrase)).map(|phrase| phrase.split(' ').count())?;
    let be = |at: usize| matches!(words.at(at), "was" | "were" | "is" | "are" | "been" | "has" | "have" | "being");
    let verb = (from + 1..words.len()).find(|at| {
        let word = words.at(*at);
        let done = words::is_past(word) || word.ends_with("en");
        let before = (from..*at).any(be);
        done && before && is_event(word, on, ontology)
    })?;
    let what: Vec<&str> = (from..verb).filter(|at| !be(*at)).map(|at| words.text(at, at + 1)).collect();
    let what = what.join(" ");
    let tail = words.text(verb + 1, words.len());
    (!what.is_empty()).then(|| format!("number of {} for {what} {tail}", words.at(verb)).trim().to_owned())
}

/// Whether a verb stands for the rows of one dataset: for them, their time and their number.
fn is_event(word: &str, on: &Lexicon, ontology: &Ontology) -> bool {
    let found = on.matches(&[word], &[false]);
    let senses: Vec<&Sense> = found
        .iter()
        .flat_map(|found| &found.entries)
        .filter(|entry| !entry.partial)
        .map(|entry| &entry.sense)
        .collect();
    let mut things = senses.iter().filter_map(|sense| match sense {
        Sense::Entity(dataset) => Some(*dataset),
        _ => None,
    });
    let Some(event) = things.next().filter(|_| things.next().is_none()) else { return false };
    let name = ontology.datasets.get(event).map(|entity| entity.name.as_str());
    senses.iter().all(|sense| match sense {
        Sense::Entity(_) | Sense::Role(_) => true,
        Sense::Field(dataset, _) => *dataset == event,
        Sense::Metric(metric) => {
            let metric = ontology.metrics.get(*metric);
            metric.and_then(|metric| counted_by(&metric.name, ontology)) == name
        }
        _ => false,
    })
}
