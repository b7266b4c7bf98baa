//! Numbers that are asked for: counts, aggregates, metrics and what is computed of them.

use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::{Additivity, Aggregation};

use super::super::items::{Item, Kind};
use super::super::sketch::{Cond, Group, NounAt, Quantity, Want};
use super::super::vocabulary;
use super::Parser;
use super::shares::SHARES;

impl Parser<'_> {
    /// A quantity that stands free: one of the numbers asked for.
    pub(super) fn quantity_here(&mut self) -> bool {
        let start = self.at;
        let nouns = self.sketch.nouns.len();
        let Some(quantity) = self.asked_quantity() else {
            self.at = start;
            self.drop_nouns(nouns);
            return false;
        };
        self.sketch.measures.push(quantity);
        true
    }

    /// Like [`Parser::quantity`], without plain nouns: those may be columns.
    fn asked_quantity(&mut self) -> Option<Quantity> {
        let first = self.combined()?;
        Some(first)
    }

    /// A quantity in any form.
    pub(super) fn quantity(&mut self) -> Option<Quantity> {
        let start = self.at;
        let nouns = self.sketch.nouns.len();
        if let Some(quantity) = self.combined() {
            return Some(quantity);
        }
        self.at = start;
        self.drop_nouns(nouns);
        let quantity = self.plain_quantity().and_then(|first| self.tail(first));
        if quantity.is_none() {
            self.at = start;
            self.drop_nouns(nouns);
        }
        quantity
    }

    fn plain_quantity(&mut self) -> Option<Quantity> {
        self.articles();
        let measured = self.item(0)?.entries.iter().any(|entry| self.is_measure(&entry.sense));
        if !measured {
            return None;
        }
        let noun = self.noun(Want::Measure)?;
        self.light_verb();
        self.focus_counted(noun);
        Some(Quantity::Plain(noun))
    }

    /// Whether a number stands beside another one that it is held against: "revenue vs orders".
    pub(super) fn compared_with(&self, start: usize) -> bool {
        let mut before = start;
        while before > 0 && self.items.get(before - 1).is_some_and(|item| item.any(&["the", "also", "both", "well"])) {
            before -= 1;
        }
        let word = self.previous_of(before);
        self.sketch.comparing
            || matches!(
                word,
                "vs" | "versus" | "plus" | "&" | "/" | ";" | "as" | "by" | "and" | "," | "against" | "alongside"
            )
    }

    /// Counts, aggregates, and ratios, sums and differences of quantities.
    fn combined(&mut self) -> Option<Quantity> {
        if let Some(days) = self.elapsed() {
            return Some(days);
        }
        self.articles();
        if self.eat_any(&["ratio of", "ratio between"]) {
            let first = self.quantity()?;
            return (self.eat_any(&["to", "and", "over"]))
                .then(|| self.quantity())
                .flatten()
                .map(|second| ratio(first, second));
        }
        if self.eat_any(&["difference between", "difference of"]) {
            let first = self.quantity()?;
            let second = if self.eat("and") { self.quantity()? } else { return None };
            return Some(Quantity::Difference(Box::new(first), Box::new(second)));
        }
        let start = self.at;
        if SHARES.iter().any(|phrase| self.eat(phrase)) {
            if let Some(owner) = self.sharer(start) {
                return self.share_of_one(owner);
            }
            return self.share();
        }
        if self.eat_any(&["sum of", "total of", "sum"]) {
            let back = (self.at, self.sketch.nouns.len());
            if let Some(sum) = self.sum() {
                return Some(sum);
            }
            self.at = back.0;
            self.drop_nouns(back.1);
            self.articles();
            let noun = self.noun(Want::Measure)?;
            return Some(Quantity::Aggregate(Aggregation::Sum, noun));
        }
        let first = match self.simple() {
            Some(first) => first,
            None => {
                // "revenue divided by orders"
                let (at, nouns) = (self.at, self.sketch.nouns.len());
                let plain = self.plain_quantity().filter(|_| matches!(self.word(0), "divided" | "minus" | "plus"));
                if plain.is_none() {
                    self.at = at;
                    self.drop_nouns(nouns);
                }
                plain?
            }
        };
        self.tail(first)
    }

    /// What may be computed with a quantity that was just read.
    fn tail(&mut self, first: Quantity) -> Option<Quantity> {
        if self.eat_any(&["divided by", "over the number of"]) {
            if self.previous() == "of" {
                self.at -= 2;
            }
            let second = self.quantity()?;
            return Some(ratio(first, second));
        }
        if self.eat("minus") || self.eat("less the") {
            let second = self.quantity()?;
            return Some(Quantity::Difference(Box::new(first), Box::new(second)));
        }
        if self.eat("plus") {
            let second = self.quantity()?;
            return Some(Quantity::Sum(vec![first, second]));
        }
        Some(first)
    }

    /// "A, B and C": at least two quantities.
    pub(super) fn sum(&mut self) -> Option<Quantity> {
        let mut parts = vec![self.quantity()?];
        loop {
            let back = (self.at, self.sketch.nouns.len());
            while self.eat_any(&[",", "and", "plus", "+"]) {}
            if back.0 == self.at {
                break;
            }
            match self.quantity() {
                Some(part) => parts.push(part),
                None => {
                    self.at = back.0;
                    self.drop_nouns(back.1);
                    break;
                }
            }
        }
        self.eat_any(&["amounts", "amount"]);
        (parts.len() > 1).then_some(Quantity::Sum(parts))
    }

    fn simple(&mut self) -> Option<Quantity> {
        if self.eat_any(&[
            "how many", "number of", "count of", "counts of", "numbers of", "how many of", "total number of", "#",
            "no of", "how often",
        ]) {
            return self.counted();
        }
        // "customer count"
        let named =
            self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing) && !item.norm.contains(' '));
        if named && matches!(self.word(1), "count" | "counts") && !self.item(1).is_some_and(Item::is_named) {
            let noun = self.noun(Want::Counted)?;
            self.at += 1;
            return Some(Quantity::Count(noun));
        }
        if self.word(0) == "count" && self.sketch.nouns.is_empty() {
            self.at += 1;
            return self.counted();
        }
        if self.eat("how much") {
            self.articles();
            self.eat_any(&["total", "money in", "of"]);
            return self.aggregated(Aggregation::Sum);
        }
        // A metric that begins with such a word was found as a whole.
        let function = vocabulary::aggregate(self.word(0))?;
        if matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(_))) {
            return None;
        }
        self.at += 1;
        if let Some(Kind::Time(TimePhrase::Grain(grain))) = self.item(0).map(|item| item.kind.clone()) {
            return self.of_each_time(function, grain);
        }
        self.eat("of");
        if function == Aggregation::Sum && self.eat_any(&["number of", "count of"]) {
            return self.counted();
        }
        if self.eat_any(&["number of", "count of"]) {
            let counted = self.counted()?;
            return self.over(function, counted);
        }
        self.aggregated(function)
    }

    /// "average daily revenue": the mean of what every day has.
    fn of_each_time(&mut self, function: Aggregation, grain: crate::model::plan::Grain) -> Option<Quantity> {
        let adverb = self.word(0).ends_with("ly") || self.word(0) == "annual";
        if !adverb || function == Aggregation::Sum || self.is_value_too() {
            return None;
        }
        self.at += 1;
        let inner = if self.eat_any(&["number of", "count of"]) {
            self.counted()?
        } else {
            self.modifiers();
            let noun = self.noun(Want::Measure)?;
            let entries = &self.sketch.nouns[noun].entries;
            let adds = |metric: usize| {
                self.ontology.metrics.get(metric).is_some_and(|metric| metric.additivity == Additivity::Additive)
            };
            if entries
                .iter()
                .any(|entry| matches!(entry.sense, Sense::Metric(metric) if !entry.partial && adds(metric)))
            {
                Quantity::Plain(noun)
            } else if entries.iter().any(Entry::is_whole_thing) {
                self.sketch.nouns[noun].want = Want::Counted;
                self.focus = Some(noun);
                Quantity::Count(noun)
            } else {
                return None;
            }
        };
        let group = Group { noun: None, grain: Some(grain), each: true, per: false };
        Some(Quantity::Over(function, Box::new(inner), vec![group]))
    }

    /// What is counted.
    fn counted(&mut self) -> Option<Quantity> {
        self.articles();
        self.eat_any(&["total", "of the", "all"]);
        let distinct = self.eat_any(&["different", "distinct", "unique"]);
        let known = self.sketch.nouns.len();
        self.modifiers();
        let Some(noun) = self.noun(Want::Counted) else {
            return self.counted_marks(known).or_else(|| self.counted_kind());
        };
        let noun = self.segment_thing(noun);
        let is_thing = self.sketch.nouns[noun].entries.iter().any(Entry::is_thing);
        if is_thing {
            self.focus = Some(noun);
        }
        // "how many policies does each policy holder have"
        let back = self.at;
        if self.eat_any(&["does", "do", "did", "has", "have"]) {
            if matches!(self.word(0), "each" | "every") {
                self.grouping();
            } else {
                self.at = back;
            }
        }
        Some(if distinct && !is_thing { Quantity::Distinct(noun) } else { Quantity::Count(noun) })
    }

    /// Values and named conditions before a noun: "cancelled UA flights".
    pub(super) fn modifiers(&mut self) {
        loop {
            let Some(item) = self.item(0) else { return };
            let next_named = self.item(1).is_some_and(|next| next.is_named() || next.has_value());
            let thing_here = item.entries.iter().any(Entry::is_thing);
            let field_here = item.entries.iter().any(|entry| matches!(entry.sense, Sense::Field(..)));
            let segment = item.entries.first().is_some_and(|entry| matches!(entry.sense, Sense::Segment(_)));
            if segment && !thing_here && next_named {
                let Some(noun) = self.noun(Want::Flag) else { return };
                self.add(Cond::Flag { noun, negated: false });
            } else if item.has_value() && !thing_here && !field_here && next_named {
                if !self.values() {
                    return;
                }
            } else {
                return;
            }
        }
    }

    fn aggregated(&mut self, function: Aggregation) -> Option<Quantity> {
        self.articles();
        self.modifiers();
        // "total amount of premiums"
        for light in ["amount of", "amounts of", "value of", "dollar amount of"] {
            let back = self.at;
            if self.eat(light) {
                self.articles();
                let measured =
                    self.item(0).is_some_and(|item| item.entries.iter().any(|entry| self.is_measure(&entry.sense)));
                if measured {
                    break;
                }
                self.at = back;
            }
        }
        let named = self.item(0).is_some_and(Item::is_named);
        if !named {
            return None;
        }
        let noun = self.noun(if function == Aggregation::Sum { Want::Measure } else { Want::Aggregated })?;
        self.light_verb();
        let entries = &self.sketch.nouns[noun].entries;
        let entity = entries.iter().any(Entry::is_whole_thing)
            && !entries
                .iter()
                .any(|entry| self.is_measure(&entry.sense) && !entry.partial && !self.is_count(&entry.sense));
        if entity {
            // "total orders", "average orders per day".
            let counted = Quantity::Count(noun);
            let last = self.sketch.nouns[noun].norm.rsplit(' ').next().unwrap_or_default();
            // "average fine per member" is said of what a fine costs, not of how many there are.
            if function != Aggregation::Sum && words::singular(last) == last {
                return None;
            }
            self.sketch.nouns[noun].want = Want::Counted;
            self.focus = Some(noun);
            return match function {
                Aggregation::Sum => {
                    self.sketch.totalled.push(noun);
                    Some(counted)
                }
                Aggregation::Avg | Aggregation::Median | Aggregation::Max | Aggregation::Min => {
                    self.over(function, counted)
                }
                _ => None,
            };
        }
        let quantity = Quantity::Aggregate(function, noun);
        if matches!(function, Aggregation::Avg | Aggregation::Median) {
            // What adds up for each of them has a mean over them, whatever else has a part of its name.
            let metric = entries.iter().all(|entry| matches!(entry.sense, Sense::Metric(_))) || self.adds_up(entries);
            let back = (self.at, self.sketch.nouns.len());
            if metric {
                if let Some(over) = self.over(function, Quantity::Plain(noun)) {
                    self.sketch.nouns[noun].want = Want::Measure;
                    return Some(over);
                }
                self.at = back.0;
                self.drop_nouns(back.1);
            }
        }
        Some(quantity)
    }

    /// Whether the best of some readings is a metric that adds up, and the others are worse: fields that have its name
    /// among longer ones.
    fn adds_up(&self, entries: &[Entry]) -> bool {
        let Some((first, rest)) = entries.split_first() else { return false };
        let adds = match first.sense {
            Sense::Metric(metric) => {
                self.ontology.metrics.get(metric).is_some_and(|metric| metric.additivity == Additivity::Additive)
            }
            _ => false,
        };
        adds && !first.partial && rest.iter().all(|entry| entry.partial || entry.quality < first.quality)
    }

    /// Whether a metric counts rows.
    pub(super) fn is_count(&self, sense: &Sense) -> bool {
        matches!(sense, Sense::Metric(metric) if self.ontology.metrics.get(*metric).is_some_and(|metric| {
            metric.expression.trim().to_lowercase().starts_with("count(") && metric.filters.is_empty()
        }))
    }

    /// "… per customer" after an average of what is itself a sum or count.
    fn over(&mut self, function: Aggregation, inner: Quantity) -> Option<Quantity> {
        if !self.eat_any(&["per", "for each", "for every", "for a", "by", "each", "every", "a", "in each", "in a"]) {
            return None;
        }
        let group = self.group_term(true)?;
        Some(Quantity::Over(function, Box::new(inner), vec![group]))
    }

    /// Verbs that say again what an amount is: "premiums paid", "amount spent".
    pub(super) fn light_verb(&mut self) {
        let word = self.word(0);
        let known = self.item(0).is_some_and(|item| item.entries.iter().any(|entry| !entry.partial));
        if !known
            && matches!(word, "paid" | "spent" | "earned" | "made" | "charged" | "collected" | "received" | "generated")
        {
            let after = self.word(1);
            if after.is_empty()
                || matches!(after, "by" | "per" | "for" | "in" | "to" | "on" | "," | "during" | "each" | "and" | "from")
                || self.item(1).is_some_and(|item| matches!(item.kind, Kind::Time(_)))
            {
                self.at += 1;
            }
        }
    }

    /// A group's term: a noun or a unit of time.
    pub(super) fn group_term(&mut self, each: bool) -> Option<Group> {
        self.articles();
        if let Some(Kind::Time(TimePhrase::Grain(grain))) = self.item(0).map(|item| item.kind.clone()) {
            self.at += 1;
            return Some(Group { noun: self.time_named(), grain: Some(grain), each, per: false });
        }
        let noun = self.noun(Want::Group)?;
        Some(Group { noun: Some(noun), grain: None, each, per: false })
    }

    /// Whether a noun can only be a number that is asked for.
    pub(super) fn is_quantity(&self, noun: NounAt) -> bool {
        let entries = &self.sketch.nouns[noun].entries;
        !entries.is_empty()
            && self.sketch.nouns[noun].of.is_none()
            && entries.iter().any(|entry| matches!(entry.sense, Sense::Metric(_)))
            && !entries.iter().any(Entry::is_whole_thing)
    }
}

fn ratio(first: Quantity, second: Quantity) -> Quantity {
    Quantity::Ratio(Box::new(first), Box::new(second))
}
