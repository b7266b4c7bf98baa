//! What stands around a noun.

use crate::engine::agent::english::lexicon::Sense;

use super::super::resolve::first_noun;
use super::super::sketch::{NounAt, Quantity};
use super::super::vocabulary;
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// Whether a word before it says that it belongs to what was said: "of all flights".
    pub(super) fn joined(&self, start: usize) -> bool {
        // A preposition may be the name of a role, and so a part of the noun.
        let own = self.items.get(start).map_or("", |item| item.norm.as_str());
        let before = if vocabulary::is_filler(own) && !own.is_empty() { own } else { self.previous_of(start) };
        let article = self.items.get(start).is_some_and(|item| item.any(&["the", "a", "an", "our", "all", "any"]));
        article
            || matches!(
                before,
                "of" | "for"
                    | "from"
                    | "in"
                    | "on"
                    | "to"
                    | "by"
                    | "the"
                    | "our"
                    | "all"
                    | "at"
                    | "across"
                    | "among"
                    | "any"
                    | "through"
                    | "did"
                    | "do"
                    | "does"
                    | "with"
                    | "their"
                    | "are"
                    | "were"
                    | "a"
                    | "an"
                    | "has"
                    | "have"
            )
            || start.checked_sub(1).and_then(|at| self.items.get(at)).is_some_and(|item| {
                item.has_value() || item.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)))
            })
    }

    /// "did we open an account": what is done to things is no state of them.
    pub(super) fn is_done_by_us(&self, start: usize) -> bool {
        let item = self.items.get(start).map_or("", |item| item.norm.as_str());
        let base = !item.ends_with("ed") && !item.contains(' ');
        let asked = start.checked_sub(2).is_some_and(|at| matches!(self.previous_of(at + 1), "did" | "do" | "does"));
        base && asked && matches!(self.previous_of(start), "we" | "you" | "they" | "i" | "he" | "she" | "it")
    }

    /// Whether a column with "'s" stands right before: "country's".
    pub(super) fn is_owned_by_column(&self, start: usize) -> bool {
        let owner = start.checked_sub(1).and_then(|at| self.items.get(at));
        let possessive = owner.is_some_and(|item| item.text.ends_with("'s") || item.text.ends_with("’s"));
        possessive && self.sketch.columns.last().is_some_and(|column| self.sketch.nouns[*column].items.end == start)
    }

    /// "from suppliers in Lund and customers in Bergen": a thing beside one that was only mentioned, with a value of its
    /// own, is no column.
    pub(super) fn also_said(&self, start: usize) -> bool {
        let valued = matches!(self.word(0), "in" | "from" | "who" | "that" | "with");
        valued && self.previous_of(start) == "and" && !self.sketch.mentions.is_empty() && self.sketch.columns.is_empty()
    }

    /// Whether it was said before, as in "by country, only countries with …".
    pub(super) fn repeated(&self, noun: NounAt) -> bool {
        let things: Vec<usize> = self.sketch.nouns[noun].entries.iter().filter_map(thing).collect();
        self.sketch.nouns[..noun]
            .iter()
            .any(|known| known.entries.iter().filter_map(thing).any(|d| things.contains(&d)))
    }

    pub(super) fn verb_at(&self, at: usize) -> bool {
        let last = self.items.get(at).map_or("", |item| item.norm.rsplit(' ').next().unwrap_or_default());
        last.ends_with("ed") || vocabulary::is_relation(last)
    }

    /// Whether a column was read right before, with nothing between.
    pub(super) fn beside(&self, start: usize) -> bool {
        self.sketch.columns.iter().chain(&self.sketch.subject).any(|known| self.sketch.nouns[*known].items.end == start)
    }

    /// Whether what begins here stands in a list of columns.
    pub(super) fn listed(&self, start: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| self.items.get(at)).map_or("", |item| item.norm.as_str());
        matches!(before, "and" | "," | ":" | "-" | "–" | "—" | "their" | "corresponding" | "its" | "including" | "with")
            || before == "the"
                && start.checked_sub(2).and_then(|at| self.items.get(at)).is_some_and(|item| item.any(&["and", ","]))
    }

    /// "including cancelled ones", "cancelled sales included": they are counted, too, as all rows are. Takes the words
    /// that say so.
    pub(super) fn included(&mut self, start: usize, noun: NounAt) -> bool {
        let before = matches!(self.previous_of(start), "including" | "incl");
        let behind = usize::from(matches!(self.word(0), "are" | "is" | "being"));
        let after = matches!(self.word(behind), "included" | "counted") && self.previous_of(start) != "not";
        if !before && !after {
            return false;
        }
        self.at += if after { behind + 1 } else { 0 };
        self.sketch.included.push(noun);
        // Where a number leaves some rows out, it cannot be said that it counts them.
        let leaves_out = |quantity: &Quantity| {
            let entries =
                first_noun(quantity).map(|noun| self.sketch.nouns[noun].entries.as_slice()).unwrap_or_default();
            entries.iter().any(|entry| match entry.sense {
                Sense::Metric(metric) => {
                    self.ontology.metrics.get(metric).is_some_and(|metric| !metric.filters.is_empty())
                }
                _ => false,
            })
        };
        if self.sketch.measures.iter().any(leaves_out) {
            let said = &self.sketch.nouns[noun].text;
            self.sketch.refused =
                Some(format!("Whether “{said}” are counted is said by each number's definition: ask without it."));
        }
        true
    }

    pub(super) fn negated_before(&self, start: usize) -> bool {
        let before = |back: usize| {
            start.checked_sub(back).and_then(|at| self.items.get(at)).map_or("", |item| item.norm.as_str())
        };
        let verb = usize::from(matches!(before(1), "been" | "be" | "being"));
        let verb = verb + usize::from(verb > 0 && matches!(before(2), "yet" | "ever"));
        matches!(
            before(1 + verb),
            "not" | "non" | "never" | "arent" | "isnt" | "werent" | "wasnt" | "dont" | "no" | "except" | "excluding"
        )
    }

    pub(super) fn previous_of(&self, at: usize) -> &str {
        at.checked_sub(1).and_then(|at| self.items.get(at)).map_or("", |item| item.norm.as_str())
    }
}
