//! How numbers are shown, and in which order.

use crate::engine::agent::lexicon::Sense;
use crate::engine::agent::time::TimePhrase;

use super::super::items::Kind;
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
                let counted = self.item(0).is_some_and(|item| {
                    item.entries.iter().any(|entry| matches!(entry.sense, Sense::Entity(_)) && !entry.partial)
                });
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

    /// Sorting that is said in so many words.
    pub(super) fn ordering(&mut self) -> bool {
        let start = self.at;
        if self.eat_any(&["sorted by", "ordered by", "sort by", "order by", "ranked by", "sorted from"]) {
            self.articles();
            let descending_word = |parser: &mut Self| {
                if parser.eat_any(&[
                    "descending",
                    "desc",
                    "in descending order",
                    "from highest to lowest",
                    "highest first",
                    "largest first",
                    "from high to low",
                ]) {
                    Some(true)
                } else if parser.eat_any(&[
                    "ascending",
                    "asc",
                    "in ascending order",
                    "from lowest to highest",
                    "lowest first",
                    "smallest first",
                    "from low to high",
                ]) {
                    Some(false)
                } else {
                    None
                }
            };
            let ranked = self.items.get(start).is_some_and(|item| item.norm.starts_with("rank"));
            let before = self.at;
            if let Some(quantity) = self.quantity() {
                let descending = descending_word(self).unwrap_or(ranked);
                if self.sketch.measures.contains(&quantity)
                    || !self.sketch.measures.is_empty() && self.same_as_last(&quantity)
                {
                    self.sketch.order = Some((sketch::OrderBy::Measure, descending));
                } else if let Quantity::Plain(noun) = quantity {
                    self.sketch.order = Some((sketch::OrderBy::Noun(noun), descending));
                } else {
                    self.sketch.measures.push(quantity);
                    self.sketch.order = Some((sketch::OrderBy::Measure, descending));
                }
                return true;
            }
            self.at = before;
            if let Some(Kind::Time(TimePhrase::Grain(_))) = self.item(0).map(|item| &item.kind) {
                self.at += 1;
                self.sketch.order = Some((sketch::OrderBy::Time, descending_word(self).unwrap_or(false)));
                return true;
            }
            if let Some(noun) = self.noun(sketch::Want::Column) {
                let descending = descending_word(self).unwrap_or(false);
                self.sketch.order = Some((sketch::OrderBy::Noun(noun), descending));
                return true;
            }
            self.at = start;
            return false;
        }
        if self.eat_any(&["in alphabetical order", "alphabetically"]) {
            return true;
        }
        for (phrase, descending) in [
            ("in descending order", true),
            ("descending", true),
            ("highest first", true),
            ("newest first", true),
            ("latest first", true),
            ("most recent first", true),
            ("in ascending order", false),
            ("ascending", false),
            ("oldest first", false),
            ("lowest first", false),
        ] {
            if self.eat(phrase) {
                let by = if phrase.starts_with(['n', 'o']) || phrase.contains("latest") || phrase.contains("recent") {
                    sketch::OrderBy::Time
                } else {
                    sketch::OrderBy::Measure
                };
                match &mut self.sketch.order {
                    Some((_, known)) => *known = descending,
                    None => self.sketch.order = Some((by, descending)),
                }
                return true;
            }
        }
        false
    }

    /// Whether a quantity is said with the same words as the last measure.
    fn same_as_last(&self, quantity: &Quantity) -> bool {
        let norm = |quantity: &Quantity| match quantity {
            Quantity::Plain(noun) | Quantity::Count(noun) | Quantity::Aggregate(_, noun) => {
                self.sketch.nouns.get(*noun).map(|noun| noun.norm.clone())
            }
            _ => None,
        };
        self.sketch.measures.last().is_some_and(|last| norm(last).is_some() && norm(last) == norm(quantity))
    }
}
