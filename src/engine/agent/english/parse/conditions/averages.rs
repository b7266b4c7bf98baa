//! What is held against an average: "longer than average", "above the average price".

use super::*;
use crate::engine::agent::english::lexicon::Entry;

pub(super) const AVERAGE: &[&str] =
    &["the average", "average", "the mean", "mean", "the overall average", "an average", "on average"];

impl Parser<'_> {
    /// "longer than the average": of the field that the adjective speaks of, or that is named after it.
    pub(super) fn unlike_average(&mut self, from: usize, op: Comparator, hints: &'static [&'static str]) -> bool {
        let named = self
            .item(0)
            .is_some_and(|item| item.is_named() && item.entries.iter().any(|entry| self.is_measure(&entry.sense)));
        let own = self.item(0).is_some_and(|item| {
            let owner = self.owner().map(|owner| self.sketch.nouns[owner].entries.clone()).unwrap_or_default();
            item.entries.iter().filter_map(thing).any(|d| owner.iter().filter_map(thing).any(|own| own == d))
        });
        let doing = self.word(0) == "to" && !hints.is_empty();
        if self.owner().is_none() || self.at < self.end && !named && !own && !doing {
            return false;
        }
        let noun = if named { self.noun(Want::Number) } else { Some(self.hinted(from, hints)) };
        // "longer than the average film"
        self.at += usize::from(own && !named);
        let Some(field) = noun else { return false };
        self.what_for(field);
        self.add(Cond::Compare { field, op, value: Bound::Average });
        true
    }

    /// "above average departure delay", "with an above-average price".
    pub(super) fn against_average(&mut self) -> bool {
        self.eat_any(&["with", "having", "that have", "who have", "have", "has"]);
        self.articles();
        let mut average = |than: &str| self.eat(&format!("{than} the average")) || self.eat(&format!("{than} average"));
        let op = if ["above", "higher than", "more than", "greater than", "longer than"].into_iter().any(&mut average) {
            Comparator::Greater
        } else if ["below", "lower than", "less than", "fewer than", "shorter than"].into_iter().any(&mut average) {
            Comparator::Less
        } else {
            return self.against_named_mean();
        };
        let Some(noun) = self.noun(Want::Number) else { return false };
        self.add_bound(noun, op, Bound::Average);
        true
    }

    /// "above average revenue", where "average revenue" is a name of its own: the number is the revenue.
    fn against_named_mean(&mut self) -> bool {
        let op = match self.word(0) {
            "above" | "over" => Comparator::Greater,
            "below" | "under" => Comparator::Less,
            _ => return false,
        };
        let Some(item) = self.item(1).filter(|item| self.owner().is_some() && item.kind == Kind::Word) else {
            return false;
        };
        let Some(rest) = ["average ", "mean "].iter().find_map(|mean| item.norm.strip_prefix(mean)) else {
            return false;
        };
        let said: Vec<&str> = rest.split(' ').collect();
        let found = self.on.matches(&said, &vec![false; said.len()]);
        let entries: Vec<Entry> = found
            .into_iter()
            .filter(|found| found.words == said.len())
            .flat_map(|found| found.entries)
            .filter(|entry| !entry.partial && self.is_measure(&entry.sense))
            .collect();
        if entries.is_empty() {
            return false;
        }
        let at = self.at + 1;
        let noun = Noun::new(self, at..at + 1, entries, Want::Number, "");
        let noun = self.push(noun);
        self.at += 2;
        self.add_bound(noun, op, Bound::Average);
        true
    }

    /// "above the average order value", where that is a name of a metric: the mean of a field of what is spoken of.
    pub(super) fn against_metric(&mut self) -> bool {
        let Some(owner) = self.owner() else { return false };
        let Some((op, _)) = self.operator() else { return false };
        self.articles();
        let own: Vec<usize> = self.sketch.nouns[owner].entries.iter().filter_map(thing).collect();
        let mean = self.item(0).and_then(|item| {
            item.entries.iter().filter(|entry| !entry.partial).find_map(|entry| match entry.sense {
                Sense::Metric(metric) => self.mean_of(metric),
                _ => None,
            })
        });
        let Some((d, f)) = mean.filter(|(d, _)| own.contains(d)) else { return false };
        let entry = Entry { sense: Sense::Field(d, f), quality: 1.0, partial: false };
        let noun = Noun::new(self, self.at..self.at + 1, vec![entry], Want::Number, "");
        let field = self.push(noun);
        self.at += 1;
        self.add(Cond::Compare { field, op, value: Bound::Average });
        true
    }

    /// The field that a metric is the mean of, and nothing else.
    fn mean_of(&self, metric: usize) -> Option<(usize, usize)> {
        let metric = self.ontology.metrics.get(metric).filter(|metric| metric.filters.is_empty())?;
        let expression = metric.expression.trim();
        let mean = expression.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("avg("));
        let (dataset, field) = expression.get(4..)?.strip_suffix(')')?.trim().split_once('.')?;
        let d = self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(dataset))?;
        let f = self.ontology.datasets[d].fields.iter().position(|own| own.name.eq_ignore_ascii_case(field))?;
        mean.then_some((d, f))
    }
}
