//! Kinds of things that are spoken of by the name of the kind: "comedies" for films of the category Comedy.

use crate::engine::agent::english::lexicon::{Entry, Sense, words};
use crate::model::ontology::Entity;

use super::super::sketch::{Cond, Noun, NounAt, Quantity, Want};
use super::Parser;

impl Parser<'_> {
    /// For a named condition that says its dataset ("active customers"): the condition is added, and the dataset is
    /// a noun of its own. Other nouns stay what they are.
    pub(super) fn segment_thing(&mut self, noun: NounAt) -> NounAt {
        let known = self.sketch.nouns[noun].clone();
        let Some(Sense::Segment(segment)) = known.entries.first().map(|entry| entry.sense.clone()) else { return noun };
        let dataset = self.ontology.segments.get(segment).and_then(|segment| segment.datasets.first());
        let dataset = dataset
            .and_then(|name| self.ontology.datasets.iter().position(|entity| entity.name.eq_ignore_ascii_case(name)));
        let Some(dataset) = dataset else { return noun };
        self.sketch.nouns[noun].want = Want::Flag;
        self.add(Cond::Flag { noun, negated: false });
        let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        self.push(Noun { entries: vec![entry], want: Want::Thing, corrected: None, ..known })
    }

    /// A value in the plural, where things are counted: the things are what the value's dataset sorts, if that is one.
    pub(super) fn counted_kind(&mut self) -> Option<Quantity> {
        let thing = self.kind()?;
        self.focus = Some(thing);
        Some(Quantity::Count(thing))
    }

    /// "A grades", where things are counted: the rows that have this value of one letter, which was read with the name of
    /// its field.
    pub(super) fn counted_marks(&mut self, known: NounAt) -> Option<Quantity> {
        let value = self.sketch.nouns.get(known..)?.last()?;
        let named = value.items.end + 1 == self.at && value.text.chars().count() == 1;
        let of = |entry: &Entry| match entry.sense {
            Sense::Value { dataset, .. } => Some(dataset),
            _ => None,
        };
        let dataset = value.entries.first().filter(|_| named).and_then(of)?;
        if value.entries.iter().any(|entry| of(entry) != Some(dataset)) {
            return None;
        }
        let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
        let thing = Noun::new(self, self.at - 1..self.at, vec![entry], Want::Thing, "");
        let thing = self.push(thing);
        self.focus = Some(thing);
        Some(Quantity::Count(thing))
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
            let entity = &self.ontology.datasets[at];
            let column = entity.field(field).map_or(field, |field| field.expression.as_str());
            let is = |key: &String| key.eq_ignore_ascii_case(field) || key.eq_ignore_ascii_case(column);
            entity.primary_key.iter().any(is).then_some(at)
        });
        if let Some(dataset) = counted {
            let entry = Entry { sense: Sense::Entity(dataset), quality: 1.0, partial: false };
            let known = self.sketch.nouns[noun].clone();
            let thing = self.push(Noun { entries: vec![entry], want: Want::Thing, corrected: None, ..known });
            self.focus = Some(thing);
        }
    }

    fn kind(&mut self) -> Option<NounAt> {
        let item = self.item(0)?;
        let last = item.norm.rsplit(' ').next().unwrap_or_default();
        let plural = words::singular(last) != last && !item.is_named();
        let places: Vec<(usize, usize)> = item
            .entries
            .iter()
            .filter_map(|entry| match &entry.sense {
                Sense::Value { dataset, field, .. } if !entry.partial => Some((*dataset, *field)),
                _ => None,
            })
            .collect();
        let (dataset, field) = *places.first()?;
        if !plural || places.iter().any(|place| *place != (dataset, field)) {
            return None;
        }
        let sorted = self.sorted_by(dataset, field)?;
        let entry = Entry { sense: Sense::Entity(sorted), quality: 1.0, partial: false };
        let (from, entries) = (self.at, item.entries.clone());
        let value = Noun::new(self, from..from + 1, entries, Want::Value, "");
        let value = self.push(value);
        self.add(Cond::Values { nouns: vec![value], negated: false });
        let thing = Noun::new(self, from..from + 1, vec![entry], Want::Thing, "");
        self.at += 1;
        Some(self.push(thing))
    }

    /// The one dataset whose rows a dataset names the kinds of: it refers to it, itself or through a table between.
    fn sorted_by(&self, dataset: usize, field: usize) -> Option<usize> {
        let entity = self.ontology.datasets.get(dataset)?;
        let label =
            entity.label_field.as_ref().is_some_and(|label| label.eq_ignore_ascii_case(&entity.fields[field].name));
        if !label {
            return Some(dataset);
        }
        let position =
            |name: &str| self.ontology.datasets.iter().position(|known| known.name.eq_ignore_ascii_case(name));
        let mut found = Vec::new();
        for relationship in
            self.ontology.relationships.iter().filter(|known| known.to.eq_ignore_ascii_case(&entity.name))
        {
            let from = position(&relationship.from)?;
            let between = &self.ontology.datasets[from];
            if !is_between(between) {
                found.push(from);
                continue;
            }
            let others = self.ontology.relationships.iter().filter(|other| {
                other.from.eq_ignore_ascii_case(&between.name) && !other.to.eq_ignore_ascii_case(&entity.name)
            });
            found.extend(others.filter_map(|other| position(&other.to)));
        }
        found.sort_unstable();
        found.dedup();
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }
}

/// Whether a table only joins others: its key is of two columns, or it is not shown.
fn is_between(entity: &Entity) -> bool {
    entity.hidden || entity.primary_key.len() > 1
}
