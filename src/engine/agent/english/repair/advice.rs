//! Why a question was not understood, in words that help to ask it better.

use crate::engine::agent::english::lexicon::{Lexicon, words};
use crate::model::ontology::{FieldRole, Ontology, in_words};
use crate::model::reading::Cannot;

use super::super::vocabulary;

/// The same refusal with what can be asked: words that are known are never said to mean nothing, or offered again.
pub(in super::super) fn said_better(
    cannot: Cannot,
    on: &Lexicon,
    ontology: &Ontology,
    tried: &dyn Fn(&str) -> bool,
) -> Cannot {
    let Cannot { mut reason, unknown, mut instead } = cannot;
    let Some(first) = unknown.first() else { return Cannot { reason, unknown, instead } };
    let folded = words::split(first);
    let known = !folded.is_empty() && folded.iter().all(|word| vocabulary::is_ordinary(word) || on.knows(word));
    instead.retain(|offer| words::split(offer) != folded);
    if known && (reason.ends_with("means nothing here.") || reason.ends_with("fits nothing here.")) {
        let belong = if unknown.len() == 1 { "belongs" } else { "belong" };
        reason = format!("It is not clear how {} {belong} to the rest of the question.", few(&unknown));
        if let Some(example) = example(ontology, tried) {
            reason = format!("{reason} Ask for example: “{example}”.");
        }
    }
    Cannot { reason, unknown, instead }
}

/// Some words, of which at most three are named.
fn few(words: &[String]) -> String {
    let named: Vec<String> = words.iter().take(3).map(|word| format!("“{word}”")).collect();
    match (words.len() - named.len(), named.split_last()) {
        (0, Some((last, before))) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        (0, _) => named.join(""),
        (more, _) => format!("{} and {more} more", named.join(", ")),
    }
}

/// A question that has an answer.
fn example(ontology: &Ontology, tried: &dyn Fn(&str) -> bool) -> Option<String> {
    let named = |entity: &&crate::model::ontology::Entity| {
        let label = entity.label_field.as_ref().and_then(|label| entity.field(label));
        !entity.hidden && label.is_some_and(|label| label.role != FieldRole::Key)
    };
    ontology.metrics.iter().take(2).find_map(|metric| {
        ontology
            .datasets
            .iter()
            .filter(named)
            .take(4)
            .map(|entity| format!("{} by {}", in_words(&metric.name), entity.noun()))
            .find(|text| tried(text))
    })
}
