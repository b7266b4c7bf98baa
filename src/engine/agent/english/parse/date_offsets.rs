//! Events that are held against another date: "baked more than 3 days after the harvest", "baked before the
//! harvest", "returned within 3 days".

use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::{Aggregation, DataType};
use crate::model::plan::Comparator;

use super::super::items::Kind;
use super::super::sketch::{Bound, Cond, Noun, NounAt, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use super::dates::of_any;
use super::nouns::{field_of, thing};

impl Parser<'_> {
    /// "that were baked more than 3 days after the harvest": what happened to the things that are spoken of.
    pub(super) fn event_apart(&mut self) -> bool {
        if self.owner().is_none() {
            return false;
        }
        self.eat_any(&["that", "which"]);
        self.eat_any(&["were", "was", "are", "is", "have been", "had been"]);
        let at = self.at;
        let Some(item) = self.item(0).filter(|item| item.kind == Kind::Word) else { return false };
        let exact = item.entries.iter().any(|entry| !entry.partial && self.is_date(entry));
        // "returned" names a condition, and there is the date of the return.
        let state = item.entries.iter().any(|entry| matches!(entry.sense, Sense::Segment(_)) && !entry.partial);
        if !exact && !words::is_past(&item.norm) {
            return false;
        }
        let own: Vec<usize> = self
            .owner()
            .map(|owner| self.sketch.nouns[owner].entries.iter().filter_map(thing).collect())
            .unwrap_or_default();
        let named = item.entries.iter().any(|entry| !entry.partial && of_any(entry, &own) && self.is_date(entry));
        let Some((mut entries, used)) = self.date_entries(at, &own) else { return false };
        if !exact {
            entries.retain(|entry| of_any(entry, &own));
        }
        if entries.is_empty() {
            return false;
        }
        // "contracts that started in 2025", where theirs is the beginning and other things have a date of that name.
        let theirs = exact && !named && entries.iter().all(|entry| of_any(entry, &own));
        self.at += used;
        let noun = Noun::new(self, at..at + used, entries, Want::Time, "");
        let noun = self.push(noun);
        let timed = matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(TimePhrase::Window(_))));
        self.days_apart(noun) || (theirs || !exact && state) && timed && self.dated(noun)
    }

    /// "baked more than 3 days after the harvest": a date, just read, that is held against another one.
    pub(super) fn days_apart(&mut self, noun: NounAt) -> bool {
        if !self.is_time(noun) {
            return false;
        }
        if let Some(after) = self.after_or_before() {
            return self.in_order(noun, after);
        }
        let within = self.eat("within");
        let op = if within {
            Comparator::AtMost
        } else {
            match self.operator() {
                Some((op, [])) => op,
                Some(_) => return false,
                None => Comparator::Equal,
            }
        };
        let Some((number, Some(unit))) = self.number() else { return false };
        if !matches!(vocabulary::unit(&unit), Some(("time", _))) {
            return false;
        }
        let op = self.suffix().unwrap_or(op);
        let later = if self.eat_any(&["after", "later than", "following", "past"]) || within && self.eat("of") {
            true
        } else if self.eat_any(&["before", "earlier than", "ahead of", "prior to"]) {
            false
        } else {
            // "vans returned within 3 days": of when they left.
            let dated = matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(_)));
            let other = matches!(self.word(0), "of" | "from" | "around" | "following");
            return within && !dated && !other && self.soon(noun, number, unit);
        };
        let Some(other) = self.date() else { return false };
        self.sketch.nouns[noun].want = Want::Time;
        self.of_one_thing(noun, other);
        let (from, to) = if later { (other, noun) } else { (noun, other) };
        self.apart(from, to, op, number, unit);
        true
    }

    /// "after", "later than", "before" behind a date.
    fn after_or_before(&mut self) -> Option<bool> {
        if self.eat_any(&["after", "later than"]) {
            return Some(true);
        }
        self.eat_any(&["before", "earlier than"]).then_some(false)
    }

    /// "baked after the harvest": whole days only, so that both must be dates without a time.
    fn in_order(&mut self, noun: NounAt, after: bool) -> bool {
        let Some(other) = self.date() else { return false };
        self.of_one_thing(noun, other);
        let dates = [noun, other].into_iter().all(|noun| {
            self.sketch.nouns[noun].entries.iter().all(|entry| match entry.sense {
                Sense::Field(d, f) => self.field(d, f).is_some_and(|field| field.datatype == DataType::Date),
                _ => true,
            })
        });
        if !dates {
            return false;
        }
        self.sketch.nouns[noun].want = Want::Time;
        let (from, to) = if after { (other, noun) } else { (noun, other) };
        self.apart(from, to, Comparator::Greater, 0.0, "days".to_owned());
        true
    }

    /// "returned within 3 days": of the usual date of the same thing.
    fn soon(&mut self, noun: NounAt, number: f64, unit: String) -> bool {
        let known = &self.sketch.nouns[noun];
        let of: Vec<usize> = known.entries.iter().filter_map(field_of).collect();
        let usual: Vec<Entry> = of.first().into_iter().filter_map(|dataset| self.usual_date(*dataset)).collect();
        let owner = self.owner().map(|owner| &self.sketch.nouns[owner]);
        let own = owner.is_some_and(|owner| owner.entries.iter().filter_map(thing).any(|d| of.contains(&d)));
        let same = known.entries.iter().any(|entry| usual.iter().any(|usual| usual.sense == entry.sense));
        // "that expire within 30 days" is said of today, "that were returned within 3 days" of what is over.
        let first = known.norm.split(' ').next().unwrap_or_default();
        if usual.is_empty() || !own || !words::is_past(first) || same || of.iter().any(|other| *other != of[0]) {
            return false;
        }
        let items = known.items.clone();
        let other = Noun::new(self, items, usual, Want::Time, "");
        let other = self.push(other);
        self.sketch.nouns[noun].want = Want::Time;
        self.apart(other, noun, Comparator::AtMost, number, unit);
        true
    }

    fn apart(&mut self, from: NounAt, to: NounAt, op: Comparator, number: f64, unit: String) {
        let quantity = Quantity::Days { function: Some(Aggregation::Avg), from, to };
        let value = |number| Bound::Number(number, Some(unit.clone()));
        self.sketch.conds.extend(
            // What is said to be after something was not before it.
            (matches!(op, Comparator::Less | Comparator::AtMost)).then(|| Cond::Measured {
                quantity: quantity.clone(),
                op: Comparator::AtLeast,
                value: value(0.0),
            }),
        );
        self.sketch.conds.push(Cond::Measured { quantity, op, value: value(number) });
    }
}
