//! Phrases as a tree of words, each word and each value held once.

use std::collections::HashMap;

use super::{Entry, Sense};

/// A sense as it is kept; values by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Entity(u32),
    Field(u32, u32),
    Metric(u32),
    Segment(u32),
    Role(u32),
    Value(u32, u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Leaf {
    kept: Kept,
    quality: f32,
    partial: bool,
}

#[derive(Default)]
pub(super) struct Store {
    words: HashMap<Box<str>, u32>,
    steps: HashMap<(u32, u32), u32>,
    leaves: HashMap<u32, Vec<Leaf>>,
    values: Vec<Box<str>>,
    names: Vec<String>,
    /// By dataset and field: where its values begin and end.
    ranges: HashMap<(u32, u32), Vec<u32>>,
    nodes: u32,
}

fn short(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl Store {
    pub(super) const ROOT: u32 = 0;

    pub(super) fn word(&self, word: &str) -> Option<u32> {
        self.words.get(word).copied()
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.keys().map(|word| &**word)
    }

    pub(super) fn step(&self, node: u32, word: u32) -> Option<u32> {
        self.steps.get(&(node, word)).copied()
    }

    /// Names that can be said to people as they are.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn name(&mut self, name: String) {
        self.names.push(name);
    }

    pub(super) fn value(&mut self, dataset: usize, field: usize, value: &str) -> u32 {
        let id = short(self.values.len());
        self.values.push(value.into());
        self.ranges.entry((short(dataset), short(field))).or_default().push(id);
        id
    }

    pub(super) fn values_of(&self, dataset: usize, field: usize) -> impl Iterator<Item = &str> {
        let ids = self.ranges.get(&(short(dataset), short(field)));
        ids.into_iter().flatten().filter_map(|id| self.values.get(*id as usize)).map(|value| &**value)
    }

    /// All values with their datasets and fields, in the order in which they were added.
    pub(super) fn all_values(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let mut fields: Vec<_> = self.ranges.iter().collect();
        fields.sort_unstable();
        fields.into_iter().flat_map(|((dataset, field), ids)| {
            ids.iter()
                .filter_map(|id| self.values.get(*id as usize))
                .map(|value| (*dataset as usize, *field as usize, &**value))
        })
    }

    /// Adds a sense to a phrase; of the same sense twice the better one stays.
    pub(super) fn add(&mut self, phrase: &[String], sense: &Sense, quality: f32, partial: bool) {
        let kept = match *sense {
            Sense::Entity(d) => Kept::Entity(short(d)),
            Sense::Field(d, f) => Kept::Field(short(d), short(f)),
            Sense::Metric(m) => Kept::Metric(short(m)),
            Sense::Segment(s) => Kept::Segment(short(s)),
            Sense::Role(r) => Kept::Role(short(r)),
            Sense::Value { .. } => return,
        };
        self.leaf(phrase, Leaf { kept, quality, partial });
    }

    pub(super) fn add_value(&mut self, phrase: &[String], at: (usize, usize), value: u32, quality: f32) {
        self.leaf(phrase, Leaf { kept: Kept::Value(short(at.0), short(at.1), value), quality, partial: false });
    }

    fn leaf(&mut self, phrase: &[String], leaf: Leaf) {
        if phrase.is_empty() || phrase.len() > 12 {
            return;
        }
        let mut node = Self::ROOT;
        for word in phrase {
            let next = short(self.words.len());
            let word = match self.words.get(word.as_str()) {
                Some(id) => *id,
                None => *self.words.entry(word.as_str().into()).or_insert(next),
            };
            let nodes = &mut self.nodes;
            node = *self.steps.entry((node, word)).or_insert_with(|| {
                *nodes += 1;
                *nodes
            });
        }
        let leaves = self.leaves.entry(node).or_default();
        match leaves.iter_mut().find(|known| known.kept == leaf.kept) {
            Some(known) if (known.partial, -known.quality) <= (leaf.partial, -leaf.quality) => {}
            Some(known) => *known = leaf,
            None => leaves.push(leaf),
        }
    }

    pub(super) fn entries(&self, node: u32) -> impl Iterator<Item = Entry> {
        self.leaves.get(&node).into_iter().flatten().map(|leaf| {
            let sense = match leaf.kept {
                Kept::Entity(d) => Sense::Entity(d as usize),
                Kept::Field(d, f) => Sense::Field(d as usize, f as usize),
                Kept::Metric(m) => Sense::Metric(m as usize),
                Kept::Segment(s) => Sense::Segment(s as usize),
                Kept::Role(r) => Sense::Role(r as usize),
                Kept::Value(d, f, v) => {
                    let value = self.values.get(v as usize).map(|value| value.to_string()).unwrap_or_default();
                    Sense::Value { dataset: d as usize, field: f as usize, value }
                }
            };
            Entry { sense, quality: leaf.quality, partial: leaf.partial }
        })
    }
}
