//! How numbers are shown.

use crate::engine::agent::english::lexicon::{Entry, Sense};

use super::super::sketch::{self, Display, Quantity};
use super::Parser;

impl Parser<'_> {
    /// How numbers are shown in relation to others.
    pub(super) fn display(&mut self) -> bool {
        for (phrase, display) in [
            ("cumulative", Display::Cumulative),
            ("cumulatively", Display::Cumulative),
            ("running total of", Display::Cumulative),
            ("running total", Display::Cumulative),
            ("running sum of", Display::Cumulative),
            ("as a percentage of the total", Display::Share),
            ("as a percentage of total", Display::Share),
            ("as percentage of total", Display::Share),
            ("as a percent of total", Display::Share),
            ("as a share of the total", Display::Share),
            ("as a share of total", Display::Share),
            ("percentage of total", Display::Share),
            ("percent of total", Display::Share),
            ("share of total", Display::Share),
            ("share of the total", Display::Share),
            ("percentage of the total", Display::Share),
            ("as a percentage", Display::Share),
            ("as percentages", Display::Share),
            ("in percent", Display::Share),
            ("growth rate of", Display::ChangePercent),
            ("growth of", Display::ChangePercent),
            ("growth in", Display::ChangePercent),
            ("percentage change in", Display::ChangePercent),
            ("percent change in", Display::ChangePercent),
            ("change in", Display::Change),
            ("month over month", Display::ChangePercent),
            ("year over year", Display::ChangePercent),
            ("growth", Display::ChangePercent),
        ] {
            if self.eat(phrase) {
                self.sketch.display = Some(display);
                let counted = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing));
                let measured = self.item(0).is_some_and(|item| {
                    item.entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial)
                });
                if counted
                    && !measured
                    && display != Display::Share
                    && let Some(noun) = self.noun(sketch::Want::Counted)
                {
                    self.sketch.measures.push(Quantity::Count(noun));
                }
                return true;
            }
        }
        false
    }
}
