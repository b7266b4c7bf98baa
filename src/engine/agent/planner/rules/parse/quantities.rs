//! Numbers that are asked for: counts, aggregates, metrics and what is computed of them.

use crate::engine::agent::lexicon::Sense;
use crate::engine::agent::time::TimePhrase;
use crate::model::ontology::Aggregation;

use super::super::grammar;
use super::super::items::Kind;
use super::super::sketch::{Cond, Group, NounAt, Quantity, Want};
use super::Parser;
use super::nouns::thing;

impl Parser<'_> {
    /// A quantity that stands free: one of the numbers asked for.
    pub(super) fn quantity_here(&mut self) -> bool {
        let start = self.at;
        let nouns = self.sketch.nouns.len();
        let Some(quantity) = self.asked_quantity() else {
            self.at = start;
            self.sketch.nouns.truncate(nouns);
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
        self.sketch.nouns.truncate(nouns);
        let quantity = self.plain_quantity().and_then(|first| self.tail(first));
        if quantity.is_none() {
            self.at = start;
            self.sketch.nouns.truncate(nouns);
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

    /// A metric that counts rows speaks of their dataset: "how many sales were not paid".
    pub(super) fn focus_counted(&mut self, noun: NounAt) {
        let metric = self.sketch.nouns[noun].entries.iter().find_map(|entry| match entry.sense {
            Sense::Metric(metric) if !entry.partial => self.ontology.metrics.get(metric),
            _ => None,
        });
        let counted = metric.and_then(|metric| {
            let inner = metric
                .expression
                .trim()
                .strip_prefix("COUNT(")
                .or_else(|| metric.expression.trim().strip_prefix("count("))?;
            let inner = inner.strip_prefix("DISTINCT ").or_else(|| inner.strip_prefix("distinct ")).unwrap_or(inner);
            let (dataset, field) = inner.strip_suffix(')')?.trim().split_once('.')?;
            let at = self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(dataset))?;
            self.ontology.datasets[at].primary_key.iter().any(|key| key.eq_ignore_ascii_case(field)).then_some(at)
        });
        if let Some(dataset) = counted {
            let entry =
                crate::engine::agent::lexicon::Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
            let known = self.sketch.nouns[noun].clone();
            let thing = self.push(super::super::sketch::Noun {
                entries: vec![entry],
                want: Want::Thing,
                corrected: None,
                ..known
            });
            self.focus = Some(thing);
        }
    }

    /// Counts, aggregates, and ratios, sums and differences of quantities.
    fn combined(&mut self) -> Option<Quantity> {
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
        if self.eat_any(&[
            "what percentage of",
            "what percent of",
            "what share of",
            "what proportion of",
            "what fraction of",
            "percentage of",
            "percent of",
            "share of",
            "proportion of",
            "fraction of",
        ]) {
            let back = (self.at, self.sketch.nouns.len(), self.sketch.conds.len());
            if let Some(part) = self.part() {
                return Some(part);
            }
            self.at = back.0;
            self.sketch.nouns.truncate(back.1);
            self.sketch.conds.truncate(back.2);
            return self.shared();
        }
        if self.eat_any(&["sum of", "total of", "sum"]) {
            let back = (self.at, self.sketch.nouns.len());
            if let Some(sum) = self.sum() {
                return Some(sum);
            }
            self.at = back.0;
            self.sketch.nouns.truncate(back.1);
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
                    self.sketch.nouns.truncate(nouns);
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
                    self.sketch.nouns.truncate(back.1);
                    break;
                }
            }
        }
        self.eat_any(&["amounts", "amount"]);
        (parts.len() > 1).then_some(Quantity::Sum(parts))
    }

    /// "share of revenue by shop", "percentage of flights of each airline": of the total.
    fn shared(&mut self) -> Option<Quantity> {
        self.articles();
        let quantity = match self.quantity() {
            Some(quantity) => quantity,
            None => {
                let noun = self.noun(Want::Counted)?;
                let counted = self.sketch.nouns[noun].entries.iter().any(|entry| thing(entry).is_some());
                Quantity::Count(counted.then_some(noun)?)
            }
        };
        self.sketch.display = Some(super::super::sketch::Display::Share);
        self.eat_any(&["does", "do", "did"]);
        Some(quantity)
    }

    /// "flights that were cancelled" after "percentage of".
    fn part(&mut self) -> Option<Quantity> {
        self.articles();
        // "share of each shop's sales that …"
        let each = if self.eat_any(&["each", "every"]) {
            let whole = self.at + 1;
            let whose = self.items.get(self.at..whole)?.first()?.text.contains(['\'', '’']);
            let entries =
                self.item(0)?.entries.iter().filter(|entry| thing(entry).is_some()).cloned().collect::<Vec<_>>();
            if !whose || entries.is_empty() {
                return None;
            }
            let noun = super::super::sketch::Noun::new(self, self.at..whole, entries, Want::Group, "each");
            self.at = whole;
            Some(self.push(noun))
        } else {
            None
        };
        let noun = self.noun(Want::Counted)?;
        let counted = self.sketch.nouns[noun].entries.iter().any(|entry| thing(entry).is_some());
        let metric = self.sketch.nouns[noun]
            .entries
            .iter()
            .any(|entry| matches!(entry.sense, Sense::Metric(_)) && !entry.partial);
        if !counted && !metric {
            return None;
        }
        let whole = if counted { Quantity::Count(noun) } else { Quantity::Plain(noun) };
        if counted {
            self.focus = Some(noun);
        } else {
            self.sketch.nouns[noun].want = Want::Measure;
        }
        let known = self.sketch.conds.len();
        while self.eat_any(&[
            "that",
            "which",
            "who",
            "were",
            "was",
            "are",
            "is",
            "have been",
            "had",
            "have",
            "has",
            "comes",
            "come",
            "came",
            "go",
            "goes",
            "went",
            "left",
            "departed",
            "arrived",
        ]) {}
        self.at = if self.previous_is_have() { self.at - 1 } else { self.at };
        let mut taken = false;
        loop {
            let ended = self.at >= self.end || matches!(self.word(0), "by" | "per" | "for" | "each");
            if ended || !(self.existence() || self.condition() || self.flag_here()) {
                break;
            }
            taken = true;
            if self.at_boundary() {
                break;
            }
        }
        while !self.frames.is_empty() {
            self.close_frame();
        }
        if !taken {
            return None;
        }
        let conds: Vec<Cond> = self.sketch.conds.split_off(known);
        if let Some(noun) = each {
            self.sketch.groups.push(Group { noun: Some(noun), grain: None, each: true, per: false });
        }
        Some(Quantity::Part(Box::new(whole), conds))
    }

    fn previous_is_have(&self) -> bool {
        matches!(self.previous(), "have" | "has" | "had")
    }

    /// A named condition here.
    fn flag_here(&mut self) -> bool {
        let flag = self
            .item(0)
            .and_then(|item| item.entries.first())
            .is_some_and(|entry| matches!(entry.sense, Sense::Segment(_)));
        flag && self.noun_here()
    }

    fn simple(&mut self) -> Option<Quantity> {
        if self.eat_any(&[
            "how many",
            "number of",
            "count of",
            "counts of",
            "numbers of",
            "how many of",
            "total number of",
            "#",
            "no of",
            "how often",
        ]) {
            return self.counted();
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
        let function = grammar::aggregate(self.word(0))?;
        if matches!(self.item(0).map(|item| &item.kind), Some(Kind::Time(_))) {
            return None;
        }
        self.at += 1;
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

    /// What is counted.
    fn counted(&mut self) -> Option<Quantity> {
        self.articles();
        self.eat_any(&["total", "of the", "all"]);
        let distinct = self.eat_any(&["different", "distinct", "unique"]);
        self.modifiers();
        let noun = self.noun(Want::Counted)?;
        let noun = self.segment_thing(noun);
        let is_thing = self.sketch.nouns[noun].entries.iter().any(|entry| thing(entry).is_some());
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
            let thing_here = item.entries.iter().any(|entry| thing(entry).is_some());
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
        let named = self.item(0).is_some_and(|item| item.is_named());
        if !named {
            return None;
        }
        let noun = self.noun(if function == Aggregation::Sum { Want::Measure } else { Want::Aggregated })?;
        self.light_verb();
        let entries = &self.sketch.nouns[noun].entries;
        let entity = entries.iter().any(|entry| thing(entry).is_some() && !entry.partial)
            && !entries.iter().any(|entry| self.is_measure(&entry.sense) && !entry.partial);
        if entity {
            // "total orders", "average orders per day".
            let counted = Quantity::Count(noun);
            self.sketch.nouns[noun].want = Want::Counted;
            self.focus = Some(noun);
            return match function {
                Aggregation::Sum => Some(counted),
                Aggregation::Avg | Aggregation::Median | Aggregation::Max | Aggregation::Min => {
                    self.over(function, counted)
                }
                _ => None,
            };
        }
        let quantity = Quantity::Aggregate(function, noun);
        if matches!(function, Aggregation::Avg | Aggregation::Median) {
            let metric = entries.iter().all(|entry| matches!(entry.sense, Sense::Metric(_)));
            let back = (self.at, self.sketch.nouns.len());
            if metric {
                if let Some(over) = self.over(function, Quantity::Plain(noun)) {
                    self.sketch.nouns[noun].want = Want::Measure;
                    return Some(over);
                }
                self.at = back.0;
                self.sketch.nouns.truncate(back.1);
            }
        }
        Some(quantity)
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
            return Some(Group { noun: None, grain: Some(grain), each, per: false });
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
            && !entries.iter().any(|entry| matches!(entry.sense, Sense::Entity(_)) && !entry.partial)
    }
}

fn ratio(first: Quantity, second: Quantity) -> Quantity {
    Quantity::Ratio(Box::new(first), Box::new(second))
}
