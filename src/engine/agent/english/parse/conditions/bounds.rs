//! Fields and counts that are held against numbers.

use super::*;

const LENGTH: &[&str] = &["length", "duration", "distance", "time", "minutes"];

/// What "15 miles away" is a number of.
const DISTANCE: &[&str] = &["distance"];

impl Parser<'_> {
    /// The number at the place of reading.
    pub(in super::super) fn number(&mut self) -> Option<(f64, Option<String>)> {
        match self.item(0).map(|item| item.kind.clone()) {
            Some(Kind::Number(quantity)) => {
                self.at += 1;
                Some((quantity.value, quantity.unit))
            }
            _ if matches!(self.word(0), "one" | "a" | "an") && self.word(0) == "one" => {
                self.at += 1;
                Some((1.0, None))
            }
            _ if matches!(self.word(0), "a" | "an")
                && vocabulary::unit(self.word(1)).is_some()
                && self.word(1).len() > 2 =>
            {
                let unit = self.word(1).to_owned();
                self.at += 2;
                Some((1.0, Some(unit)))
            }
            _ => None,
        }
    }

    pub(in super::super) fn operator(&mut self) -> Option<(Comparator, &'static [&'static str])> {
        let back = self.at;
        while self.eat_any(&["is", "are", "was", "were", "of", "by", "be", "being", ",", "that is", "that are"]) {}
        if let Some((op, hints)) = vocabulary::comparative(self.word(0)) {
            self.at += 1;
            if self.eat("than") {
                return Some((op, hints));
            }
            self.at = back;
            return None;
        }
        for (phrase, op) in OPS {
            if self.eat(phrase) {
                return Some((*op, &[]));
            }
        }
        self.at = back;
        None
    }

    /// "longer than 10 days to close": what takes so long says which field it is.
    pub(in super::super) fn what_for(&mut self, noun: NounAt) {
        if self.word(0) != "to" {
            return;
        }
        let number = |entry: &Entry| match entry.sense {
            Sense::Field(d, f) => {
                self.field(d, f).is_some_and(|field| field.datatype.is_number() && field.role != FieldRole::Key)
            }
            _ => false,
        };
        let own: Vec<_> = self
            .item(1)
            .map(|item| item.entries.iter().filter(|entry| number(entry)).cloned().collect())
            .unwrap_or_default();
        if !own.is_empty() {
            self.sketch.nouns[noun].entries = own;
            self.sketch.nouns[noun].hints = &[];
            self.at += 2;
        }
    }

    /// A bound after a noun that was just read: "departure delay over 60 minutes", "policy number 31003000336".
    pub(in super::super) fn bound_here(&mut self, noun: NounAt) -> bool {
        self.guarded(|parser| parser.bound_after(noun))
    }

    pub(super) fn bound_after(&mut self, noun: NounAt) -> bool {
        if self.years(noun) || self.guarded(|parser| parser.days_apart(noun)) {
            return true;
        }
        let is_field = !self.sketch.nouns[noun]
            .entries
            .iter()
            .all(|entry| matches!(entry.sense, Sense::Segment(_) | Sense::Role(_)));
        if !is_field {
            return false;
        }
        let back = self.at;
        self.eat_any(&["is", "are", "was", "were", "of", "value"]);
        if (self.eat("between") || self.previous() != "of" && self.eat("from"))
            && let Some((low, high)) = self.pair()
        {
            // "films between 60 and 90 minutes long" speaks of a field that is not named.
            let thing_here = self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing);
            if thing_here && matches!(high, Bound::Number(_, Some(_))) {
                self.at = back;
                return false;
            }
            self.sketch.nouns[noun].want = Want::Number;
            self.add_bound(noun, Comparator::AtLeast, low);
            self.add_bound(noun, Comparator::AtMost, high);
            return true;
        }
        self.at = back;
        // "breads cheaper than 5" is about a price that is not said, not about the bread's name.
        let whole = self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing);
        // "films of at least 3 kinds" counts the kinds.
        let said_of = self.word(0) == "of";
        if let Some((op, hints)) = self.operator() {
            if whole && !hints.is_empty() {
                self.at = back;
                return false;
            }
            // "names of talks longer than 2 hours": no name is.
            if !hints.is_empty() && self.is_text(noun) {
                self.at = back;
                return false;
            }
            if let Some(value) = self.bound_value() {
                // "buyers of more than 40 loaves": the number is of loaves.
                let metric =
                    self.sketch.nouns[noun].entries.iter().all(|entry| matches!(entry.sense, Sense::Metric(_)));
                let counts = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing));
                let other = match value {
                    Bound::Number(_, Some(_)) => whole,
                    Bound::Number(_, None) => (metric || whole && said_of) && counts,
                    _ => false,
                };
                if other {
                    self.at = back;
                    return false;
                }
                // "flights more than 2 hours late": hours are none of what is counted.
                let counted = self.sketch.nouns[noun].entries.iter().all(|entry| match entry.sense {
                    Sense::Metric(metric) => self.ontology.metrics.get(metric).is_some_and(|metric| {
                        metric.expression.trim().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("count("))
                    }),
                    _ => false,
                });
                if counted && matches!(&value, Bound::Number(_, Some(unit)) if !self.measured_in(noun, unit)) {
                    self.at = back;
                    return false;
                }
                self.sketch.nouns[noun].want = Want::Number;
                self.add_bound(noun, op, value);
                return true;
            }
            if self.eat_any(&["average", "the average", "the mean", "the overall average"]) {
                self.sketch.nouns[noun].want = Want::Number;
                self.add_bound(noun, op, Bound::Average);
                return true;
            }
            if op == Comparator::Equal && self.literal_after(noun) {
                return true;
            }
            self.at = back;
            return false;
        }
        // "a weight of 500 or more"
        if self.eat_any(&["of", "at", "is", "are", "was", "were"])
            && let Some(value) = self.bound_value()
            && let Some(op) = self.suffix()
        {
            self.sketch.nouns[noun].want = Want::Number;
            self.add_bound(noun, op, value);
            return true;
        }
        self.at = back;
        let negated = self.eat_any(&["is not", "are not", "not", "isnt", "arent"]);
        if !negated {
            self.eat_any(&["is", "are", "was", "were", "of", "called", "named", "with the name", "number", ":", "="]);
        }
        if let Some(pattern) = self.pattern()
            && let Some(text) = self.free_text()
        {
            self.sketch.nouns[noun].want = Want::Bound;
            let cond = Cond::Like { field: noun, pattern, text, negated };
            self.add(cond);
            return true;
        }
        self.at = back;
        self.eat_any(&["is", "are", "was", "were", "called", "named", ":", "=", "#"]);
        // "area unknown", where some areas are called so.
        let is_own = self.item(0).is_some_and(|item| item.entries.iter().any(|own| self.value_fits(noun, &own.sense)));
        if is_own {
            return self.literal_after(noun);
        }
        if self.eat_any(&[
            "not known", "unknown", "missing", "empty", "blank", "null", "not set", "not given", "not recorded",
        ]) {
            self.sketch.nouns[noun].want = Want::Bound;
            self.add(Cond::Null { field: noun, negated: false });
            return true;
        }
        if self.eat_any(&["known", "not null", "not empty", "set", "given", "recorded"]) && self.previous() != "is" {
            self.sketch.nouns[noun].want = Want::Bound;
            self.add(Cond::Null { field: noun, negated: true });
            return true;
        }
        self.literal_after(noun)
    }

    /// Whether a noun may be in a unit: not when it can only be metrics of another unit, or of none.
    fn measured_in(&self, noun: NounAt, unit: &str) -> bool {
        let kind = |unit: &str| vocabulary::unit(unit).map(|(kind, _)| kind);
        let entries = &self.sketch.nouns[noun].entries;
        entries.is_empty()
            || entries.iter().any(|entry| match entry.sense {
                Sense::Metric(metric) => {
                    let own = self.ontology.metrics.get(metric).and_then(|metric| metric.unit.as_deref());
                    own.and_then(kind) == kind(unit) || own.is_none() && kind(unit) == Some("percent")
                }
                _ => true,
            })
    }

    pub(super) fn add_bound(&mut self, noun: NounAt, op: Comparator, value: Bound) {
        if let Bound::Number(_, Some(unit)) = &value {
            self.sketch.nouns[noun].unit = Some(unit.clone());
        }
        let metric = self.sketch.nouns[noun].entries.iter().all(|entry| matches!(entry.sense, Sense::Metric(_)));
        if metric && !self.sketch.nouns[noun].entries.is_empty() {
            self.sketch.nouns[noun].want = Want::Measure;
            self.add(Cond::Measured { quantity: Quantity::Plain(noun), op, value });
        } else {
            self.add(Cond::Compare { field: noun, op, value });
        }
    }

    pub(super) fn bound_value(&mut self) -> Option<Bound> {
        self.number().map(|(value, unit)| Bound::Number(value, unit))
    }

    pub(super) fn pair(&mut self) -> Option<(Bound, Bound)> {
        let (low, low_unit) = self.number()?;
        if !self.eat_any(&["and", "to", "-", "–"]) {
            return None;
        }
        let (high, unit) = self.number()?;
        Some((Bound::Number(low, low_unit.or_else(|| unit.clone())), Bound::Number(high, unit)))
    }

    /// "over 60 minutes", "more than 3 orders", "longer than 2 hours", "between 5 and 10 seats", "3 or more claims".
    pub(super) fn bounded(&mut self) -> bool {
        self.eat_any(&[
            "with", "having", "have", "has", "had", "of", "that are", "that is", "that were", "who have", "that have",
            "which have", "by",
        ]);
        let roles = self.roles_before_number();
        let across = self.across_here();
        if let Some((op, value)) = self.all_of_them() {
            return self.counted_across(op, value, across);
        }
        self.eat_any(&["worth", "costing", "priced at", "priced", "valued at", "that cost", "cost"]);
        let from = self.at;
        let (op, hints, value, second) = if self.eat("between") {
            let Some((low, high)) = self.pair() else { return false };
            (Comparator::AtLeast, &[][..], low, Some(high))
        } else if self.says_exactly() {
            // "with only one order"
            let Some(value) = self.bound_value() else { return false };
            self.eat_any(&["different", "distinct", "single"]);
            if !self.countable_here() {
                return false;
            }
            (Comparator::Equal, &[][..], value, None)
        } else if let Some((op, hints)) = self.operator() {
            if self.eat_any(super::averages::AVERAGE) && !hints.is_empty() {
                return self.unlike_average(from, op, hints);
            }
            let Some(value) = self.bound_value() else { return false };
            (op, hints, value, None)
        } else {
            let Some(value) = self.bound_value() else { return false };
            let bare = matches!(value, Bound::Number(_, None));
            let Some(op) = self.suffix() else {
                // "with 3 orders", "have 2 claims".
                let has = from
                    .checked_sub(1)
                    .and_then(|at| self.items.get(at))
                    .is_some_and(|item| item.any(&["with", "having", "have", "has", "had"]));
                let counts = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_thing));
                if has && bare && counts && self.owner().is_some() {
                    return self.counted_bound(Comparator::Equal, value, None);
                }
                // "planes with 4 engines", where engines are a number of the plane.
                let number = |entry: &Entry| match entry.sense {
                    Sense::Field(d, f) => self.field(d, f).is_some_and(|field| {
                        !entry.partial && field.datatype.is_number() && field.role != FieldRole::Key
                    }),
                    _ => false,
                };
                let numbered = self.item(0).is_some_and(|item| item.entries.iter().any(number));
                if has && bare && numbered && self.owner().is_some() {
                    let Some(noun) = self.noun(Want::Number) else { return false };
                    self.add_bound(noun, Comparator::Equal, value);
                    return true;
                }
                // "with 4 doors": a field that is a number of things.
                return has && bare && self.with_as_many(value);
            };
            (op, &[][..], value, None)
        };
        let op = self.suffix().unwrap_or(op);
        self.eat_any(&["of", "in", "worth of", "in total", "different", "distinct"]);
        let counts = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing));
        let measured = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| self.is_measure(&entry.sense)));
        let owned = self.owner().is_some() || !self.sketch.groups.is_empty();
        if second.is_none() && matches!(value, Bound::Number(_, None)) && self.booked_count(op, &value) {
            return true;
        }
        if across && second.is_none() && matches!(value, Bound::Number(_, None)) && self.countable_here() {
            return self.counted_across(op, value, across);
        }
        if counts && matches!(value, Bound::Number(_, None)) && owned {
            let known = self.sketch.nouns.len();
            let counted = self.counted_bound(op, value, second);
            if let (true, false, Some(noun)) = (counted, roles.is_empty(), self.sketch.nouns.get_mut(known)) {
                noun.roles = roles;
            }
            return counted;
        }
        if measured
            || self
                .item(0)
                .is_some_and(|item| item.is_named() && item.entries.iter().any(|entry| field_of(entry).is_some()))
                && matches!(value, Bound::Number(_, None))
        {
            let Some(noun) = self.noun(Want::Number) else { return false };
            self.add_bound(noun, op, value);
            if let Some(high) = second {
                self.add_bound(noun, Comparator::AtMost, high);
            }
            return true;
        }
        let Bound::Number(_, unit) = &value else { return false };
        let away = unit.is_some() && self.eat("away");
        if unit.is_some() && self.distance_from(op, &value) {
            return true;
        }
        // "60 minutes long"
        let hints = match (hints, unit) {
            ([], Some(_)) if away => DISTANCE,
            ([], Some(_)) if self.eat_any(&["long", "in length", "in duration"]) => LENGTH,
            (hints, _) => hints,
        };
        if unit.is_none() && hints.is_empty() {
            // "average delay … above 10": the number asked for before.
            return self.last_measure_bound(op, value);
        }
        if hints.is_empty() && self.owner().is_none() {
            return false;
        }
        let noun = self.hinted(from, hints);
        self.sketch.nouns[noun].unit.clone_from(unit);
        self.what_for(noun);
        self.add(Cond::Compare { field: noun, op, value });
        if let Some(high) = second {
            self.add(Cond::Compare { field: noun, op: Comparator::AtMost, value: high });
        }
        true
    }

    pub(super) fn last_measure_bound(&mut self, op: Comparator, value: Bound) -> bool {
        let Some(quantity) = self.sketch.measures.last().cloned() else { return false };
        if self.sketch.groups.is_empty() {
            return false;
        }
        self.add(Cond::Measured { quantity, op, value });
        true
    }

    pub(super) fn counted_bound(&mut self, op: Comparator, value: Bound, second: Option<Bound>) -> bool {
        let before = self.before_bound();
        self.modifiers();
        let Some(noun) = self.noun(Want::Counted) else { return false };
        if !before.is_empty() {
            self.sketch.nouns[noun].before = before;
        }
        let quantity = Quantity::Count(noun);
        self.add(Cond::Measured { quantity: quantity.clone(), op, value });
        if let Some(high) = second {
            self.add(Cond::Measured { quantity, op: Comparator::AtMost, value: high });
        }
        true
    }

    /// What conditions on numbers of things are about.
    pub(in super::super) fn owner(&self) -> Option<NounAt> {
        self.focus
            .or(self.sketch.subject)
            .or_else(|| self.sketch.groups.iter().find_map(|group| group.noun))
            .or_else(|| self.sketch.columns.first().copied())
    }
}
