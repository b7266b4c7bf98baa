//! Times where nouns are read.

use super::super::items::Kind;
use super::super::sketch::{Cond, NounAt, Want};
use super::Parser;
use super::nouns::field_of;
use crate::engine::agent::lexicon::Sense;
use crate::engine::agent::time::TimePhrase;
use crate::model::plan::Window;

impl Parser<'_> {
    pub(super) fn is_time(&self, noun: NounAt) -> bool {
        let calendar = |d: usize, f: usize| self.field(d, f).is_some_and(|field| field.datatype.is_calendar());
        let entries = &self.sketch.nouns[noun].entries;
        let other = entries.iter().any(|entry| !entry.partial && !matches!(entry.sense, Sense::Field(..)));
        !other && entries.iter().any(|entry| matches!(entry.sense, Sense::Field(d, f) if calendar(d, f)))
    }

    /// "claims that were closed", "orders not yet shipped": a time that is known, or not.
    pub(super) fn happened(&mut self, noun: NounAt) -> bool {
        let known = &self.sketch.nouns[noun];
        let verb = known.norm.ends_with("ed") && known.entries.iter().all(|entry| field_of(entry).is_some());
        if !verb || self.focus.is_none() && self.sketch.subject.is_none() {
            return false;
        }
        let start = known.items.start;
        let not = |back: usize| {
            start
                .checked_sub(back)
                .and_then(|at| self.items.get(at))
                .is_some_and(|item| item.any(&["not", "never", "arent", "werent", "havent", "hasnt"]))
        };
        let negated = not(1) || not(2) || not(3);
        self.sketch.nouns[noun].want = Want::Time;
        self.add(Cond::Null { field: noun, negated: !negated });
        true
    }

    /// "what about 2024?": a number alone that can only be a year.
    pub(super) fn lone_year(&self) -> Option<u16> {
        let Some(Kind::Number(quantity)) = self.item(0).map(|item| &item.kind) else { return None };
        let alone = self.sketch.nouns.is_empty() && self.sketch.measures.is_empty() && self.item(1).is_none();
        let year = alone
            && quantity.unit.is_none()
            && quantity.value.fract() == 0.0
            && (1900.0..2100.0).contains(&quantity.value);
        year.then(|| self.word(0).parse().ok()).flatten()
    }

    /// Windows, grains and comparisons that stand free.
    pub(super) fn times(&mut self) -> bool {
        if let Some(year) = self.lone_year() {
            self.at += 1;
            let window = Window {
                start: Some(format!("{year}-01-01")),
                end: Some(format!("{}-01-01", year + 1)),
                phrase: Some(year.to_string()),
            };
            self.add(Cond::Window { field: None, window, negated: false });
            return true;
        }
        let Some(Kind::Time(phrase)) = self.item(0).map(|item| item.kind.clone()) else { return false };
        let start = self.at;
        self.at += 1;
        match phrase {
            TimePhrase::Window(window) => {
                let negated = self.negated_before(start);
                self.add(Cond::Window { field: None, window, negated });
            }
            TimePhrase::Grain(grain) => {
                let adverb = self.items[start].norm.ends_with("ly")
                    || matches!(self.items[start].norm.as_str(), "annual" | "day of week" | "day of the week");
                if self.previous_of(start) == "in" && !adverb {
                    self.sketch.unit = Some(self.items[start].norm.clone());
                    return true;
                }
                if !adverb && !matches!(self.previous_of(start), "by" | "per" | "each" | "every" | "and" | "," | "over")
                {
                    self.at = start;
                    return false;
                }
                let group = super::super::sketch::Group { noun: None, grain: Some(grain), each: false, per: false };
                self.sketch.groups.push(group);
            }
            TimePhrase::Compare(with) => self.sketch.compare = Some(with),
            TimePhrase::Rolling(rows, grain) => {
                self.sketch.display = Some(super::super::sketch::Display::MovingAverage(rows));
                let group = super::super::sketch::Group { noun: None, grain: Some(grain), each: false, per: false };
                self.sketch.groups.push(group);
                self.eat_any(&[
                    "moving average of",
                    "rolling average of",
                    "moving average",
                    "rolling average",
                    "average of",
                    "average",
                ]);
            }
        }
        true
    }
}
