//! "How much money did we make?", "top 5 customers by money spent", "… in dollars": the number that counts money, where
//! there is only one such, and the currency that all amounts are in anyway.

use crate::engine::agent::english::lexicon::{Lexicon, Sense};
use crate::model::ontology::{Metric, Ontology, in_words};

use super::Words;

/// The question with the metric's name for "money", and without the name of the only currency.
pub(super) fn named(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let text = income(question, on, ontology);
    in_currency(text.as_deref().unwrap_or(question), ontology).or(text)
}

fn income(question: &str, on: &Lexicon, ontology: &Ontology) -> Option<String> {
    let words = Words::of(question);
    let at = words.find("money")?;
    let known = |entry: &crate::engine::agent::english::lexicon::Entry| {
        !entry.partial && !matches!(entry.sense, Sense::Role(_) | Sense::Value { .. })
    };
    if on.matches(&["money"], &[false]).iter().any(|found| found.entries.iter().any(known)) {
        return None;
    }
    // What we spend or lose is none of what comes in.
    let behind = |words_of: &[&str]| (at + 1..words.len()).any(|at| words_of.contains(&words.at(at)));
    let ours = behind(&["we", "us", "i", "it"]) && behind(&["spend", "spent", "pay", "paid", "give", "gave", "cost"]);
    let other = behind(&[
        "lose", "lost", "owe", "owed", "owes", "refund", "refunded", "save", "saved", "invest", "invested", "keep",
        "kept", "tied", "back", "out", "away", "off",
    ]);
    if ours || other {
        return None;
    }
    let currency = ontology.currency.as_deref();
    let income = |metric: &&Metric| {
        let sum = metric.expression.trim().get(..4).is_some_and(|start| start.eq_ignore_ascii_case("sum("));
        let money = metric.unit.as_deref().is_some_and(|unit| {
            Some(unit) == currency || super::super::vocabulary::unit(unit).is_some_and(|(kind, _)| kind == "money")
        });
        sum && money && metric.filters.is_empty()
    };
    let mut all = ontology.metrics.iter().filter(income);
    let (one, None) = (all.next()?, all.next()) else { return None };
    (one.higher_is.as_deref() == Some("better"))
        .then(|| format!("{} {} {}", words.text(0, at), in_words(&one.name), words.text(at + 1, words.len())))
}

/// "in dollars", where amounts are in nothing else.
fn in_currency(question: &str, ontology: &Ontology) -> Option<String> {
    let words = Words::of(question);
    let at = (1..words.len()).find(|at| {
        let code = match words.at(at + 1) {
            "dollars" | "usd" => "USD",
            "euros" | "euro" | "eur" => "EUR",
            "pounds" | "gbp" => "GBP",
            _ => return false,
        };
        words.at(*at) == "in" && ontology.currency.as_deref() == Some(code)
    })?;
    let rest = words.text(at + 2, words.len());
    Some(format!("{} {rest}", words.text(0, at)).trim().to_owned())
}
