//! Dates by the words for what happened then: "joining", "joined" of a join date.

use std::collections::BTreeSet;

use super::words;
use crate::model::ontology::{Entity, Field, in_words};

/// Words of one meaning where a date is the beginning or the end of something.
const SAME: [&[&str]; 2] = [
    &["start", "started", "starting", "begin", "began", "begun", "beginning", "begins", "starts"],
    &["end", "ended", "ending", "ends", "finish", "finished", "completed", "completion"],
];

/// Words in the names of dates that say nothing of which date it is.
const PLAIN: &[&str] = &["date", "day", "time", "of", "the", "at", "on", "when", "timestamp", "a", "was", "were"];

/// Whether one of a field's names says what the words say, and nothing else.
pub(in crate::engine::agent::english) fn is_called(entity: &Entity, field: &Field, said: &[&str]) -> bool {
    let own: BTreeSet<String> =
        words::split(&entity.noun()).into_iter().chain(words::split(&in_words(&entity.name))).collect();
    let names = [in_words(&field.name), field.words()];
    names.iter().chain(&field.ai.synonyms).any(|name| {
        let words = words::split(name);
        let rest: Vec<&String> = words.iter().filter(|word| !is_plain(word) && !own.contains(*word)).collect();
        !rest.is_empty()
            && rest.iter().all(|word| said.iter().any(|said| alike(word, said)))
            && said.iter().all(|said| rest.iter().any(|word| alike(word, said)))
    })
}

/// Whether a word in the name of a date says nothing of which date it is.
pub(in crate::engine::agent::english) fn is_plain(word: &str) -> bool {
    PLAIN.contains(&word)
}

/// Whether two words are forms of one.
fn alike(one: &str, other: &str) -> bool {
    if SAME.iter().any(|same| same.contains(&one) && same.contains(&other)) {
        return true;
    }
    let forms = words::forms(other);
    words::forms(one).iter().any(|(form, _)| forms.iter().any(|(known, _)| known == form))
}
