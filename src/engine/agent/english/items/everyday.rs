//! Values that are everyday words: "on hold", "done", "email". They are meant where something says so.

use std::ops::Range;

use super::super::vocabulary;
use crate::engine::agent::english::lexicon::{Entry, Lexicon, Sense};
use crate::engine::agent::english::text::token::Token;

/// Most values of a field that says of what state or kind things are. Of titles there are more, and those of everyday
/// words stand in any question.
const STATES: usize = 40;

/// The words of a question, and where those of a value stand in it.
pub(super) struct Place<'a> {
    pub tokens: &'a [Token],
    pub folded: &'a [Vec<String>],
    pub range: &'a Range<usize>,
    pub on: &'a Lexicon,
}

impl Place<'_> {
    /// Whether these words, all of them everyday ones, may stand for it. Names do as they are. A value does where it is
    /// one of few and has several words, or stands behind its own field, before its own thing or as what is said of
    /// them.
    pub(super) fn is_meant(&self, entry: &Entry) -> bool {
        let Sense::Value { dataset, field, .. } = &entry.sense else { return true };
        if entry.partial || !self.on.has_at_most(*dataset, *field, STATES) {
            return false;
        }
        let said: Vec<&str> = self.words(self.range);
        let [word] = said.as_slice() else { return true };
        let is_long = word.len() > 3 && self.word(self.range.end) != "than";
        is_long && (self.behind(*dataset, *field) || self.before(word, *dataset) || self.is_said_of_them(word))
    }

    fn words(&self, range: &Range<usize>) -> Vec<&str> {
        self.folded.get(range.clone()).unwrap_or_default().iter().flatten().map(String::as_str).collect()
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.norm.as_str())
    }

    fn is_being(&self, at: usize) -> bool {
        matches!(self.word(at), "is" | "are" | "was" | "were")
    }

    /// "state done", "where the area is unknown".
    fn behind(&self, dataset: usize, field: usize) -> bool {
        let end = match self.range.start.checked_sub(1) {
            Some(before) if self.is_being(before) => before,
            _ => self.range.start,
        };
        (1..=3).filter_map(|count| end.checked_sub(count)).any(|from| {
            let name = self.words(&(from..end));
            let known = self.on.matches(&name, &vec![false; name.len()]);
            let own = |entry: &Entry| entry.sense == Sense::Field(dataset, field);
            known.iter().any(|found| found.words == name.len() && found.entries.iter().any(own))
        })
    }

    /// "email tickets": what would be a command elsewhere.
    fn before(&self, word: &str, dataset: usize) -> bool {
        let from = self.range.end;
        let name = self.words(&(from..self.folded.len().min(from + 3)));
        let own = |entry: &Entry| entry.sense == Sense::Entity(dataset) && !entry.partial;
        vocabulary::is_command(word)
            && self.on.matches(&name, &vec![false; name.len()]).iter().any(|found| found.entries.iter().any(own))
    }

    /// "how many tasks are done", "which are done by owner".
    fn is_said_of_them(&self, word: &str) -> bool {
        let last = matches!(self.word(self.range.end), "" | "by" | "per");
        last && !vocabulary::is_filler(word) && self.range.start.checked_sub(1).is_some_and(|at| self.is_being(at))
    }
}
