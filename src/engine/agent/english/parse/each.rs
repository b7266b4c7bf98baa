//! Values that are each asked for by themselves: "how many flights did Lund and Bergen each have".

use crate::engine::agent::english::lexicon::Sense;
use crate::engine::agent::english::time::TimePhrase;

use super::super::items::Kind;
use super::super::sketch::Cond;
use super::super::vocabulary;
use super::Parser;

impl Parser<'_> {
    /// "each" behind a list of values: a row for each of them.
    pub(super) fn each_of_values(&mut self) -> bool {
        if !matches!(self.word(0), "each" | "respectively") || !self.frames.is_empty() {
            return false;
        }
        let names_other = self.item(1).filter(|item| !vocabulary::is_relation(&item.norm)).is_some_and(|item| {
            let thing = |sense: &Sense| matches!(sense, Sense::Entity(_) | Sense::Field(..));
            matches!(item.kind, Kind::Time(TimePhrase::Grain(_)))
                || item.entries.iter().any(|entry| !entry.partial && thing(&entry.sense))
        });
        let Some(Cond::Values { nouns, negated: false }) = self.sketch.conds.last() else { return false };
        let (Some(first), Some(last)) = (nouns.first().copied(), nouns.last()) else { return false };
        let behind = self.sketch.nouns[*last].items.end == self.at;
        if names_other || !behind || nouns.len() < 2 || self.sketch.measures.is_empty() && self.sketch.subject.is_none()
        {
            return false;
        }
        self.sketch.comparing = true;
        self.sketch.joint.retain(|noun| *noun != first);
        self.at += 1;
        true
    }

    /// "for rock and for metal": the preposition said again sets the values apart. Takes the words between them.
    pub(super) fn said_for_each(&mut self, before: &str) -> bool {
        // "came from" ends with it.
        let before = before.rsplit(' ').next().unwrap_or_default();
        let article = usize::from(self.word(2) == "the");
        let again = matches!(before, "for" | "of" | "from" | "in" | "at")
            && self.frames.is_empty()
            && !self.sketch.measures.is_empty()
            && self.word(0) == "and"
            && self.word(1) == before
            && self.item(2 + article).is_some_and(|item| item.has_value() && !item.is_named());
        self.at += if again { 2 + article } else { 0 };
        again
    }
}
