//! Conditions: values, bounds, texts, what is missing, and what there must or must not be.

mod averages;
mod bounds;
mod counts;
mod existence;
mod literals;
mod means;
mod numbers;
mod often;
mod reach;
mod sets;
mod values;
mod years;

use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::{DataType, FieldRole};
use crate::model::plan::{Comparator, Pattern};

use super::super::items::Kind;
use super::super::sketch::{Bound, Cond, Noun, NounAt, Quantity, Want};
use super::super::vocabulary;
use super::nouns::{field_of, thing};
use super::{Frame, Parser};

const NEGATION: &[&str] = &[
    "not in", "not from", "not to", "other than", "except for", "except", "excluding", "not including", "but not in",
    "but not", "not", "apart from", "besides", "without", "is not", "are not", "that are not", "which are not",
    "who are not", "non", "neither in", "neither", "nor",
];

const OPS: &[(&str, Comparator)] = &[
    ("more than or equal to", Comparator::AtLeast),
    ("greater than or equal to", Comparator::AtLeast),
    ("less than or equal to", Comparator::AtMost),
    ("no more than", Comparator::AtMost),
    ("not more than", Comparator::AtMost),
    ("no less than", Comparator::AtLeast),
    ("no fewer than", Comparator::AtLeast),
    ("not less than", Comparator::AtLeast),
    ("more than", Comparator::Greater),
    ("greater than", Comparator::Greater),
    ("higher than", Comparator::Greater),
    ("later than", Comparator::Greater),
    ("in excess of", Comparator::Greater),
    ("exceeded", Comparator::Greater),
    ("exceeding", Comparator::Greater),
    ("exceeds", Comparator::Greater),
    ("exceed", Comparator::Greater),
    ("less than", Comparator::Less),
    ("fewer than", Comparator::Less),
    ("lower than", Comparator::Less),
    ("at least", Comparator::AtLeast),
    ("a minimum of", Comparator::AtLeast),
    ("at most", Comparator::AtMost),
    ("up to", Comparator::AtMost),
    ("a maximum of", Comparator::AtMost),
    ("exactly", Comparator::Equal),
    ("equal to", Comparator::Equal),
    ("equals", Comparator::Equal),
    ("not equal to", Comparator::NotEqual),
    ("over", Comparator::Greater),
    ("above", Comparator::Greater),
    ("under", Comparator::Less),
    ("below", Comparator::Less),
    ("> =", Comparator::AtLeast),
    ("< =", Comparator::AtMost),
    ("! =", Comparator::NotEqual),
    ("≥", Comparator::AtLeast),
    ("≤", Comparator::AtMost),
    (">", Comparator::Greater),
    ("<", Comparator::Less),
    ("=", Comparator::Equal),
];

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> bool {
        self.guarded(Self::event_apart)
            || self.guarded(Self::pattern_for_subject)
            || self.guarded(Self::missing)
            || self.guarded(Self::against_metric)
            || self.guarded(Self::mean_bounded)
            || self.guarded(Self::bounded)
            || self.guarded(Self::against_average)
            || self.guarded(Self::valued)
    }

    /// Runs a rule and takes everything back when it does not hold.
    pub(super) fn guarded(&mut self, rule: impl Fn(&mut Self) -> bool) -> bool {
        let (at, nouns, conds, frames) = (self.at, self.sketch.nouns.len(), self.sketch.conds.len(), self.frames.len());
        let inner = self.frames.last().map_or(0, |frame| frame.conds.len());
        if rule(self) {
            return true;
        }
        self.at = at;
        self.drop_nouns(nouns);
        self.sketch.conds.truncate(conds);
        self.frames.truncate(frames);
        if let Some(frame) = self.frames.last_mut() {
            frame.conds.truncate(inner);
        }
        false
    }

    /// The fields that a noun with a literal behind it may mean: its own, or a dataset's label and key.
    pub(super) fn bound_fields(&self, noun: NounAt) -> Vec<(usize, usize)> {
        let mut fields = Vec::new();
        for entry in &self.sketch.nouns[noun].entries {
            match entry.sense {
                Sense::Field(d, f) => fields.push((d, f)),
                Sense::Entity(d) => {
                    let Some(entity) = self.ontology.datasets.get(d) else { continue };
                    let label = entity.label_field.iter().filter_map(|label| {
                        entity.fields.iter().position(|field| field.name.eq_ignore_ascii_case(label))
                    });
                    fields.extend(label.map(|f| (d, f)));
                }
                _ => {}
            }
        }
        fields
    }

    fn pattern(&mut self) -> Option<Pattern> {
        for (phrase, pattern) in [
            ("starting with", Pattern::StartsWith),
            ("starts with", Pattern::StartsWith),
            ("start with", Pattern::StartsWith),
            ("beginning with", Pattern::StartsWith),
            ("begins with", Pattern::StartsWith),
            ("begin with", Pattern::StartsWith),
            ("ending with", Pattern::EndsWith),
            ("ending in", Pattern::EndsWith),
            ("ends with", Pattern::EndsWith),
            ("ends in", Pattern::EndsWith),
            ("end with", Pattern::EndsWith),
            ("containing", Pattern::Contains),
            ("contains", Pattern::Contains),
            ("contain", Pattern::Contains),
            ("contain the word", Pattern::Contains),
            ("including the word", Pattern::Contains),
            ("that include", Pattern::Contains),
            ("like", Pattern::Contains),
        ] {
            if self.eat(phrase) {
                self.eat_any(&["the word", "the text", "the letter", "the letters", "the string"]);
                return Some(pattern);
            }
        }
        None
    }

    /// "playlists that contain songs": what a thing is called is no text to look for, unless it is quoted.
    fn is_thing_name(&self) -> bool {
        self.item(0).is_some_and(|item| {
            item.text.chars().all(|c| !c.is_uppercase()) && item.entries.iter().any(Entry::is_whole_thing)
        })
    }

    fn free_text(&mut self) -> Option<String> {
        let item = self.item(0)?;
        let text = item.text.clone();
        let free = matches!(item.kind, Kind::Quoted)
            || matches!(item.kind, Kind::Word | Kind::Number(_))
                && !vocabulary::is_filler(&item.norm)
                && !item
                    .any(&["neither", "both", "either", "no", "none", "any", "only", "exactly", "at", "more", "fewer"])
                && !self.is_thing_name()
            || text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
        if !free {
            return None;
        }
        self.at += 1;
        Some(text)
    }

    /// "customers whose name starts with A" with the pattern after the things themselves: "films starting with A".
    fn pattern_for_subject(&mut self) -> bool {
        self.eat_any(&["that", "which", "whose"]);
        let Some(pattern) = self.pattern() else { return false };
        let quoted = self.item(0).is_some_and(|item| {
            matches!(item.kind, Kind::Quoted)
                || item.entries.is_empty() && item.text.chars().next().is_some_and(char::is_uppercase)
        });
        let Some(noun) = self.focus.or(self.sketch.columns.last().copied()) else { return false };
        if !quoted {
            return false;
        }
        let Some(text) = self.free_text() else { return false };
        self.add(Cond::Like { field: noun, pattern, text, negated: false });
        true
    }

    pub(super) fn values(&mut self) -> bool {
        self.value_list(None, false)
    }

    /// What there must or must not be: "who ordered", "with a claim", "without any orders", "never rented".
    pub(super) fn existence(&mut self) -> bool {
        self.guarded(Self::both_times)
            || self.guarded(Self::dated_rows)
            || self.guarded(Self::done_so_often)
            || self.guarded(Self::counted_times)
            || self.guarded(Self::mean_of_theirs)
            || self.guarded(Self::whose)
            || self.guarded(Self::exists)
            || self.guarded(Self::exists_again)
            || self.guarded(Self::exists_too)
            || self.guarded(Self::ever_so)
    }

    /// "closed in 2019": a time field's verb with its window.
    pub(super) fn dated(&mut self, noun: NounAt) -> bool {
        let back = self.at;
        if self.weekdays(Some(noun)) {
            self.sketch.nouns[noun].want = Want::Time;
            return true;
        }
        self.eat_any(&["in", "on", "at", "during", "is", "was", "were"]);
        let negated = self.eat("not");
        if let Some(Kind::Time(TimePhrase::Window(window))) = self.item(0).map(|item| item.kind.clone()) {
            self.at += 1;
            self.sketch.nouns[noun].want = Want::Time;
            self.sketch.nouns[noun].holder = self.relative(self.sketch.nouns[noun].items.start);
            self.windows(Some(noun), window, negated);
            return true;
        }
        self.at = back;
        false
    }
}
