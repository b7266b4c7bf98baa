//! Phrases as a tree of words, each word and each value held once.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::{Entry, MOST_ENTRIES, Sense};

/// A sense as it is kept; values by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kept {
    Entity(u32),
    Field(u32, u32),
    Metric(u32),
    Segment(u32),
    Role(u32),
    Value(u32, u32, u32),
}

/// One thing that a phrase stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    kept: Kept,
    pub quality: f32,
    pub partial: bool,
}

impl Leaf {
    pub(super) fn is_value(&self) -> bool {
        matches!(self.kept, Kept::Value(..))
    }

    pub(super) fn is_entity(&self) -> bool {
        matches!(self.kept, Kept::Entity(_))
    }
}

/// Values of one field that a phrase may stand for: one more than are ever told apart. Values that differ in nothing but
/// signs are all one phrase.
pub(super) const MOST_OF_A_FIELD: usize = MOST_ENTRIES + 1;

/// A value that was added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Valued {
    pub id: u32,
    pub dataset: usize,
    pub field: usize,
    pub is_personal: bool,
}

/// What is known only while phrases are added.
#[derive(Default)]
struct Adding {
    /// Where a thing stands among those of a phrase.
    places: HashMap<(u32, Kept), usize>,
    /// By phrase and field: how many of its values.
    values: HashMap<(u32, u32, u32), usize>,
    /// Words of names and of values that are not personal.
    open: HashSet<u32>,
}

#[derive(Default)]
pub(super) struct Store {
    words: HashMap<Box<str>, u32>,
    steps: HashMap<(u32, u32), u32>,
    leaves: HashMap<u32, Vec<Leaf>>,
    values: Vec<Box<str>>,
    /// By value: its dataset and field.
    owners: Vec<(u32, u32)>,
    /// By word: the values that it is in, as it is written there, in order.
    parts: HashMap<Box<str>, Vec<u32>>,
    names: Vec<String>,
    /// By dataset and field: where its values begin and end.
    ranges: HashMap<(u32, u32), Vec<u32>>,
    nodes: u32,
    adding: Adding,
}

fn short(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl Store {
    pub(super) const ROOT: u32 = 0;

    pub(super) fn word(&self, word: &str) -> Option<u32> {
        self.words.get(word).copied()
    }

    /// The words that may be said to people, while phrases are added: not those that are in personal values alone.
    pub(super) fn open_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter(|(_, id)| self.adding.open.contains(id)).map(|(word, _)| &**word)
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

    /// Adds a value with the words in it.
    pub(super) fn value(&mut self, dataset: usize, field: usize, value: &str, words: &[String]) -> u32 {
        let id = short(self.values.len());
        let owner = (short(dataset), short(field));
        self.values.push(value.into());
        self.owners.push(owner);
        self.ranges.entry(owner).or_default().push(id);
        for word in words {
            match self.parts.get_mut(word.as_str()) {
                Some(values) if values.last() == Some(&id) => {}
                Some(values) => values.push(id),
                None => drop(self.parts.insert(word.as_str().into(), vec![id])),
            }
        }
        id
    }

    /// The values that a word is in, in the order in which they were added.
    pub(super) fn with(&self, word: &str) -> &[u32] {
        self.parts.get(word).map_or(&[], Vec::as_slice)
    }

    /// A value with its dataset and field.
    pub(super) fn owned(&self, id: u32) -> Option<(usize, usize, &str)> {
        let (dataset, field) = self.owners.get(id as usize)?;
        Some((*dataset as usize, *field as usize, self.values.get(id as usize)?))
    }

    /// About how much memory all of it takes.
    pub(super) fn bytes(&self) -> usize {
        // A text of its own with its place in a table, and an entry of a table, with what both leave free.
        const TEXT: usize = 40;
        const ENTRY: usize = 32;
        let words: usize = self.words.keys().chain(self.parts.keys()).map(|word| word.len() + TEXT).sum();
        let values: usize = self.values.iter().map(|value| value.len() + TEXT).sum();
        let names: usize = self.names.iter().map(|name| name.len() + TEXT).sum();
        let leaves: usize = self.leaves.values().map(|leaves| leaves.capacity() * size_of::<Leaf>() + ENTRY).sum();
        let lists: usize = self.parts.values().chain(self.ranges.values()).map(|list| list.capacity() * 4).sum();
        words + values + names + leaves + lists + self.steps.len() * ENTRY
    }

    pub(super) fn values_of(&self, dataset: usize, field: usize) -> impl Iterator<Item = &str> {
        let ids = self.ranges.get(&(short(dataset), short(field)));
        ids.into_iter().flatten().filter_map(|id| self.values.get(*id as usize)).map(|value| &**value)
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
        self.leaf(phrase, Leaf { kept, quality, partial }, true);
    }

    /// Adds a value to a phrase. Answers whether there was room for it.
    pub(super) fn add_value(&mut self, phrase: &[String], of: &Valued, quality: f32) -> bool {
        let kept = Kept::Value(short(of.dataset), short(of.field), of.id);
        self.leaf(phrase, Leaf { kept, quality, partial: false }, !of.is_personal)
    }

    fn leaf(&mut self, phrase: &[String], leaf: Leaf, is_open: bool) -> bool {
        if phrase.is_empty() || phrase.len() > 12 {
            return true;
        }
        let mut node = Self::ROOT;
        for word in phrase {
            let next = short(self.words.len());
            let word = match self.words.get(word.as_str()) {
                Some(id) => *id,
                None => *self.words.entry(word.as_str().into()).or_insert(next),
            };
            if is_open {
                self.adding.open.insert(word);
            }
            let nodes = &mut self.nodes;
            node = *self.steps.entry((node, word)).or_insert_with(|| {
                *nodes += 1;
                *nodes
            });
        }
        let leaves = self.leaves.entry(node).or_default();
        if let Some(known) = self.adding.places.get(&(node, leaf.kept)).and_then(|at| leaves.get_mut(*at)) {
            if (known.partial, -known.quality) > (leaf.partial, -leaf.quality) {
                *known = leaf;
            }
            return true;
        }
        if let Kept::Value(dataset, field, _) = leaf.kept {
            let values = self.adding.values.entry((node, dataset, field)).or_default();
            if *values == MOST_OF_A_FIELD {
                return false;
            }
            *values += 1;
        }
        self.adding.places.insert((node, leaf.kept), leaves.len());
        leaves.push(leaf);
        true
    }

    /// Nothing more is added. Of each phrase stays what can be among the first [`MOST_ENTRIES`] that it may stand for, in
    /// their order: names first, then values.
    pub(super) fn finish(&mut self) {
        self.adding = Adding::default();
        let mut all = std::mem::take(&mut self.leaves);
        for leaves in all.values_mut().filter(|leaves| leaves.len() > 1) {
            leaves.sort_by(|a, b| {
                a.is_value().cmp(&b.is_value()).then_with(|| self.order((a, a.quality), (b, b.quality)))
            });
            leaves.dedup_by(|other, one| self.by_sense(one, other).is_eq());
            let names = leaves.partition_point(|leaf| !leaf.is_value());
            let values = names..leaves.len().min(names + MOST_OF_A_FIELD);
            let mut kept = leaves[..names.min(MOST_OF_A_FIELD)].to_vec();
            kept.extend_from_slice(&leaves[values]);
            *leaves = kept;
        }
        self.leaves = all;
    }

    /// What a phrase stands for.
    pub(super) fn leaves(&self, node: u32) -> &[Leaf] {
        self.leaves.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The better one first; of like ones as their senses are ordered.
    pub(super) fn order(&self, (one, quality): (&Leaf, f32), (other, others): (&Leaf, f32)) -> Ordering {
        others.total_cmp(&quality).then_with(|| self.by_sense(one, other))
    }

    /// As senses are ordered.
    pub(super) fn by_sense(&self, one: &Leaf, other: &Leaf) -> Ordering {
        match (one.kept, other.kept) {
            (Kept::Value(d, f, v), Kept::Value(e, g, w)) => {
                (d, f).cmp(&(e, g)).then_with(|| self.values.get(v as usize).cmp(&self.values.get(w as usize)))
            }
            (one, other) => one.cmp(&other),
        }
    }

    pub(super) fn entry(&self, leaf: &Leaf, quality: f32) -> Entry {
        let sense = match leaf.kept {
            Kept::Entity(d) => Sense::Entity(d as usize),
            Kept::Field(d, f) => Sense::Field(d as usize, f as usize),
            Kept::Metric(m) => Sense::Metric(m as usize),
            Kept::Segment(s) => Sense::Segment(s as usize),
            Kept::Role(r) => Sense::Role(r as usize),
            Kept::Value(d, f, v) => {
                let value = self.values.get(v as usize).map(ToString::to_string).unwrap_or_default();
                Sense::Value { dataset: d as usize, field: f as usize, value }
            }
        };
        Entry { sense, quality, partial: leaf.partial }
    }
}
