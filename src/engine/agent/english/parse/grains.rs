//! Units of time that are asked for: "in which month", "days with more than 20 sales", "the year revenue was highest".

use crate::engine::agent::english::time::TimePhrase;
use crate::model::plan::Grain;

use super::super::items::{Item, Kind};
use super::super::sketch::{Ask, Group};
use super::super::vocabulary;
use super::Parser;

impl Parser<'_> {
    /// A unit of time that a question asks for at its beginning.
    pub(super) fn time_asked(&mut self) -> bool {
        // "in which month", "what day"
        let ahead = usize::from(matches!(self.word(0), "in" | "on" | "at" | "during" | "for"));
        if matches!(self.word(ahead), "which" | "what")
            && let Some(grain) = self.grain_at(ahead + 1)
        {
            self.ask_for(grain, ahead + 2);
            return true;
        }
        let mut at = 0;
        while matches!(self.word(at), "the" | "a" | "all" | "any" | "those" | "of") {
            at += 1;
        }
        let Some(grain) = self.grain_at(at) else { return false };
        let bound = |ahead: usize| {
            matches!(
                (self.word(ahead), self.word(ahead + 1)),
                ("more" | "fewer" | "less" | "greater" | "higher" | "lower", "than")
                    | ("at", "least" | "most")
                    | ("over" | "under" | "above" | "below" | "exceeded" | "exceeds" | "exceeding", _)
            )
        };
        let last = self.end.saturating_sub(self.at);
        let picked = (at + 1..last).any(|ahead| vocabulary::superlative(self.word(ahead)).is_some() || bound(ahead));
        let clause = match (self.word(at + 1), self.word(at + 2)) {
            ("in" | "on" | "during" | "at" | "for", "which") => Some(2),
            // "months of 2023 with more than 20 sales"
            _ if self.item(at + 1).is_some_and(|item| matches!(item.kind, Kind::Time(_))) => Some(0),
            ("with" | "when" | "where" | "that" | "which" | "having" | "in", _) => Some(1),
            // "the year revenue was highest"
            _ if self.item(at + 1).is_some_and(Item::is_named)
                && (at + 2..last).any(|ahead| matches!(self.word(ahead), "was" | "were" | "is" | "are")) =>
            {
                Some(0)
            }
            _ => None,
        };
        let Some(clause) = clause.filter(|_| picked) else { return false };
        // The words of a bound say themselves of what they are.
        let kept = matches!(self.word(at + 1), "with" | "having") && clause == 1;
        self.ask_for(grain, at + 1 + if kept { 0 } else { clause });
        true
    }

    fn grain_at(&self, ahead: usize) -> Option<Grain> {
        match self.item(ahead).map(|item| &item.kind) {
            Some(Kind::Time(TimePhrase::Grain(grain))) => Some(*grain),
            _ => None,
        }
    }

    fn ask_for(&mut self, grain: Grain, items: usize) {
        self.sketch.ask = Ask::Which;
        self.sketch.groups.push(Group { noun: None, grain: Some(grain), each: false, per: false });
        self.at += items;
    }
}
