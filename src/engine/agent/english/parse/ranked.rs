//! What things are ranked by.

use crate::engine::agent::english::lexicon::{Entry, Sense};
use crate::engine::agent::english::time::TimePhrase;
use crate::model::ontology::Aggregation;

use super::super::items::{Item, Kind};
use super::super::sketch::{Ask, Group, Noun, NounAt, Quantity, Rank, Want};
use super::super::vocabulary;
use super::Parser;
use crate::engine::agent::english::lexicon::words;

impl Parser<'_> {
    /// "sales by shop, top 3": by how many there are.
    pub(super) fn ranks_counts(&mut self) {
        let sketch = &mut self.sketch;
        let plain = sketch.measures.is_empty() && sketch.columns.is_empty() && sketch.ask == Ask::Open;
        let (Some(rank), Some(subject), true) = (&mut sketch.rank, sketch.subject, plain) else { return };
        let open = rank.by.is_none() && rank.field.is_none() && rank.judged.is_none() && !rank.frequency;
        let many = sketch.nouns[subject].norm.split(' ').next_back().is_some_and(|last| words::singular(last) != last);
        let behind = sketch.groups.iter().any(|group| {
            let end = group.noun.map(|noun| sketch.nouns[noun].items.end);
            end.is_some_and(|end| end > sketch.nouns[subject].items.end)
        });
        if open && many && behind && !rank.single {
            rank.by = Some(Quantity::Count(subject));
            rank.quality = false;
            sketch.nouns[subject].want = Want::Counted;
            sketch.measures.push(Quantity::Count(subject));
            sketch.subject = None;
        }
    }

    /// What is ranked by, after a superlative: a number, or things that are counted.
    pub(super) fn ranked_quantity(&mut self, hints: &[&str]) -> Option<Quantity> {
        let start = (self.at, self.sketch.nouns.len());
        self.modifiers();
        // "the largest order" is one order, not how many there are.
        let one = self.item(0).is_some_and(|item| item.entries.iter().any(Entry::is_whole_thing));
        if one && !hints.is_empty() {
            return None;
        }
        if let Some(quantity) = self.quantity() {
            return Some(quantity);
        }
        self.at = start.0;
        self.drop_nouns(start.1);
        self.modifiers();
        let named = self.item(0).is_some_and(Item::is_named);
        if !named
            || !hints.is_empty()
                && !self.item(0).is_some_and(|item| item.entries.iter().any(|entry| self.is_measure(&entry.sense)))
        {
            return None;
        }
        let noun = self.noun(Want::Counted)?;
        // "the most large sales", where that is the name of a state; "the most punctual" counts nothing.
        let last = self.sketch.nouns[noun].norm.rsplit_once(' ').map(|(_, last)| last.to_owned());
        let names_things = last.is_some_and(|last| {
            let found = self.on.matches(&[last.as_str()], &[false]);
            found.iter().flat_map(|found| &found.entries).any(Entry::is_whole_thing)
        });
        let noun = if names_things { self.segment_thing(noun) } else { noun };
        let is_thing = self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing);
        if is_thing {
            return Some(Quantity::Count(noun));
        }
        self.sketch.nouns[noun].want = Want::Bound;
        Some(Quantity::Plain(noun))
    }

    /// "which town has the largest shops on average": the mean is ranked, and not the largest of all.
    pub(super) fn on_average(&mut self) -> bool {
        if !self.eat_any(&["on average", "on an average", "on the average"]) {
            return false;
        }
        let Some(rank) = &mut self.sketch.rank else { return false };
        match (rank.field, &rank.by, self.sketch.columns.as_slice()) {
            (Some(field), None, [owner]) => {
                let things = self.sketch.subject.take();
                self.sketch.nouns[field].inside = things;
                self.sketch.nouns[*owner].want = Want::Column;
                rank.field = None;
                rank.by = Some(Quantity::Aggregate(Aggregation::Avg, field));
            }
            (None, Some(Quantity::Plain(noun) | Quantity::Aggregate(_, noun)), _) => {
                let noun = *noun;
                let field = self.sketch.nouns[noun].entries.iter().any(|entry| matches!(entry.sense, Sense::Field(..)));
                if !field {
                    return false;
                }
                self.sketch.nouns[noun].want = Want::Aggregated;
                rank.by = Some(Quantity::Aggregate(Aggregation::Avg, noun));
            }
            _ => return false,
        }
        true
    }

    /// Ranks things by the field that an adjective speaks of.
    pub(super) fn rank_by_field(
        &mut self,
        rank: &mut Rank,
        things: Option<NounAt>,
        from: usize,
        hints: &'static [&'static str],
    ) {
        match things.and_then(|things| self.far(things, hints, from)) {
            Some(far) => {
                let function = if rank.descending { Aggregation::Max } else { Aggregation::Min };
                rank.by = Some(Quantity::Aggregate(function, far));
            }
            None => rank.field = Some(self.hinted(from, hints)),
        }
    }

    /// "… is rented the least": how often that happens, by the dataset that the verb stands for.
    pub(super) fn counted_by_verb(&mut self, from: usize) -> Option<Quantity> {
        let at = (from.saturating_sub(3)..from).rev().find(|at| !self.items[*at].any(&["the", "out", "up"]))?;
        // How much was sold or paid the most is no number of times.
        if self.items[at]
            .any(&["sold", "sell", "sells", "bought", "buy", "buys", "paid", "pay", "pays", "earned", "earns"])
        {
            return None;
        }
        let entries: Vec<_> = self.items[at].entries.iter().filter(|entry| entry.is_whole_thing()).cloned().collect();
        if entries.is_empty() || !self.items[at].norm.ends_with("ed") && !vocabulary::is_relation(&self.items[at].norm)
        {
            return None;
        }
        // It was read as what must exist.
        let read = self.frames.last().is_some_and(|frame| {
            frame.conds.is_empty() && !frame.negated && self.sketch.nouns[frame.thing].items.contains(&at)
        });
        if read {
            self.frames.pop();
        }
        let noun = Noun::new(self, at..at + 1, entries, Want::Counted, "");
        Some(Quantity::Count(self.push(noun)))
    }

    /// "the busiest airport", where "busiest" is a name of a metric.
    pub(super) fn ranked_by_metric(&mut self, descending: bool, rows: Option<u32>, skip: u32) -> bool {
        let text = self.items[self.at].text.clone();
        let entries = self.items[self.at]
            .entries
            .iter()
            .filter(|entry| matches!(entry.sense, Sense::Metric(_)))
            .cloned()
            .collect();
        let metric = Noun::new(self, self.at..self.at + 1, entries, Want::Measure, "");
        let metric = self.push(metric);
        self.at += 1;
        if let Some(Kind::Time(TimePhrase::Grain(grain))) = self.item(0).map(|item| item.kind.clone()) {
            self.at += 1;
            let group = Group { noun: None, grain: Some(grain), each: false, per: false };
            self.sketch.groups.push(group);
            let by = Some(Quantity::Plain(metric));
            self.sketch.rank = Some(Rank { by, ..Rank::new(descending, rows, skip, text) });
            return true;
        }
        let Some(noun) = self.noun(Want::Column) else { return false };
        let is_thing = self.sketch.nouns[noun].entries.iter().any(Entry::is_whole_thing);
        if is_thing && self.sketch.subject.is_none() {
            self.sketch.subject = Some(noun);
            self.focus = Some(noun);
        } else {
            self.sketch.columns.push(noun);
        }
        let by = Some(Quantity::Plain(metric));
        self.sketch.rank = Some(Rank { by, ..Rank::new(descending, rows, skip, text) });
        true
    }
}
