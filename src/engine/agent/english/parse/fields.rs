//! One field held against another: "shipped after the promised date", "from the same country as the customer".

use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::model::plan::Comparator;

use super::super::sketch::{Cond, Noun, NounAt, Want};
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    pub(super) fn fields_compared(&mut self) -> bool {
        self.of_both()
            || self.guarded(Self::time_against_time)
            || self.guarded(Self::same_as)
            || self.guarded(Self::own_of_other)
    }

    /// "with no customers in their country": what the rows of a clause and those that it is said of must share.
    fn of_both(&mut self) -> bool {
        let place = matches!(self.word(0), "in" | "from" | "of" | "at");
        let whose = matches!(self.word(1), "their" | "its" | "his" | "her");
        let own = 2 + usize::from(self.word(2) == "own");
        let named = self.item(own).is_some_and(|item| item.is_named() && !item.has_value());
        let open = !self.frames.is_empty() && place && whose && named;
        if open {
            let said = self.items[self.at..=self.at + own].iter().map(|item| item.text.as_str());
            let said = said.collect::<Vec<_>>().join(" ");
            self.sketch.refused = Some(format!(
                "“{said}” holds one row against another one, which cannot be asked here: name the value that is meant."
            ));
            self.at += own + 1;
        }
        open
    }

    /// Whether what comes can be a time of a row, and nothing else that is asked for.
    fn calendar_here(&self, ahead: usize) -> bool {
        self.item(ahead).is_some_and(|item| item.entries.iter().any(|entry| self.is_calendar(&entry.sense)))
    }

    /// A noun here that can only be a time.
    fn calendar_noun(&mut self) -> Option<NounAt> {
        let noun = self.noun(Want::Time)?;
        let entries = &self.sketch.nouns[noun].entries;
        let kept: Vec<_> = entries.iter().filter(|entry| self.is_calendar(&entry.sense)).cloned().collect();
        self.sketch.nouns[noun].entries = kept;
        (!self.sketch.nouns[noun].entries.is_empty() && self.sketch.nouns[noun].of.is_none()).then_some(noun)
    }

    /// "shipped after the promised date", "whose return date is before the due date".
    fn time_against_time(&mut self) -> bool {
        self.eat_any(&["that", "which", "whose", "with a", "with an", "with"]);
        self.eat_any(&["were", "was", "are", "is", "have been", "has been"]);
        if !self.calendar_here(0) {
            return false;
        }
        let Some(left) = self.calendar_noun() else { return false };
        self.eat_any(&["is", "was", "are", "were", "lies", "falls"]);
        self.eat_any(&["only", "even"]);
        let op = [
            ("no later than", Comparator::AtMost),
            ("not later than", Comparator::AtMost),
            ("later than", Comparator::Greater),
            ("after", Comparator::Greater),
            ("past", Comparator::Greater),
            ("earlier than", Comparator::Less),
            ("before", Comparator::Less),
            ("ahead of", Comparator::Less),
            ("the same as", Comparator::Equal),
        ];
        let Some((_, op)) = op.into_iter().find(|(phrase, _)| self.eat(phrase)) else { return false };
        self.articles();
        if !self.calendar_here(0) {
            return false;
        }
        let Some(right) = self.calendar_noun() else { return false };
        self.add(Cond::Fields { left, op, right });
        left != right
    }

    /// A field or thing of a noun: the country of the supplier.
    fn of_owner(&mut self, field: &Noun, owner: NounAt) -> NounAt {
        self.push(Noun { of: Some(owner), want: Want::Bound, ..field.clone() })
    }

    /// A field that is no number, or a thing with a name.
    fn property_here(&self) -> bool {
        self.item(0).is_some_and(|item| {
            item.entries.iter().any(|entry| {
                entry.is_thing()
                    || matches!(entry.sense, Sense::Field(d, f) if self.field(d, f).is_some_and(|field| !field.datatype.is_number()))
            })
        })
    }

    /// "from the same country as the customer": of the thing that was named last, and of the other.
    fn same_as(&mut self) -> bool {
        let Some(owner) = self.named_last() else { return false };
        self.eat_any(&["that are", "that is", "who are", "who live", "that"]);
        self.eat_any(&["from", "in", "of", "at", "with", "have", "has"]);
        if !self.eat("the same") || !self.property_here() {
            return false;
        }
        let start = self.at;
        let Some(field) = self.noun(Want::Bound) else { return false };
        if self.sketch.nouns[field].of.is_some() || !self.eat("as") {
            return false;
        }
        self.articles();
        if !self.thing_at(0) || start == self.at {
            return false;
        }
        let Some(other) = self.noun(Want::Thing) else { return false };
        self.equal(field, owner, other)
    }

    /// "from a supplier in the customer's own country".
    fn own_of_other(&mut self) -> bool {
        let Some(owner) = self.named_last() else { return false };
        self.eat_any(&["from", "in", "of", "at", "with"]);
        if !self.eat_any(&["the", "their", "its", "a"]) || !self.thing_at(0) {
            return false;
        }
        let whose = self.item(0).is_some_and(|item| item.text.contains(['\'', '’']));
        let item = self.at;
        let entries: Vec<_> = self.items[item].entries.iter().filter(|entry| entry.is_thing()).cloned().collect();
        self.at += 1;
        if !whose || !self.eat("own") || !self.property_here() {
            return false;
        }
        let other = Noun::new(self, item..item + 1, entries, Want::Thing, "");
        let other = self.push(other);
        let Some(field) = self.noun(Want::Bound) else { return false };
        self.sketch.nouns[field].of.is_none() && self.equal(field, owner, other)
    }

    fn equal(&mut self, field: NounAt, owner: NounAt, other: NounAt) -> bool {
        let known = self.sketch.nouns[field].clone();
        let things = |noun: NounAt| self.sketch.nouns[noun].entries.iter().filter_map(thing).collect::<Vec<_>>();
        if things(owner) == things(other) {
            return false;
        }
        self.sketch.nouns[field].of = Some(owner);
        let right = self.of_owner(&known, other);
        self.add(Cond::Fields { left: field, op: Comparator::Equal, right });
        true
    }

    /// The thing that stands right before what comes.
    fn named_last(&self) -> Option<NounAt> {
        let before = |noun: NounAt| {
            let end = self.sketch.nouns[noun].items.end;
            end == self.at && self.sketch.nouns[noun].entries.iter().any(Entry::is_thing)
        };
        (0..self.sketch.nouns.len()).rev().find(|noun| before(*noun))
    }
}
