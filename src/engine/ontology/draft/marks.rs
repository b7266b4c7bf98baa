//! What of a name others may share: its words, all of them run together, and the letters that they begin with. Names that
//! share nothing say nothing of each other, and of a column and a key that is most often so.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::engine::ontology::draft::names::{canonical, singular};
use crate::engine::ontology::draft::words::GENERIC;

/// The marks of a name. Two names that share none share no word; those that share one may still not.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    /// Of every word, and of what words are from one on to the last, run together.
    pub(super) fn of(words: &[String]) -> Self {
        Self::with(words, |_| true)
    }

    /// The same without words that say nothing of what a key is of: of "customer id" what is about customers.
    pub(super) fn telling(words: &[String]) -> Self {
        Self::with(words, |word| words.len() == 1 || !GENERIC.contains(&word.as_str()))
    }

    fn with(words: &[String], tells: impl Fn(&String) -> bool) -> Self {
        let each = words.iter().filter(|word| tells(word)).map(|word| mark(&canonical(word)));
        let ends = (0..words.len()).filter_map(|from| words.get(from..)).filter(|end| end.len() > 1);
        Self(each.chain(ends.map(|end| mark(&singular(&end.concat())))).collect())
    }

    /// Both.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.extend(&other.0);
        self.0.sort_unstable();
        self.0.dedup();
        self
    }

    pub(super) fn meet(&self, other: &Self) -> bool {
        self.0.iter().any(|mark| other.0.contains(mark))
    }
}

fn mark(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The first letters of words, each a bit: some letters share one.
pub(super) fn letters<'w>(words: impl Iterator<Item = &'w String>) -> u64 {
    words.filter_map(|word| word.chars().next()).fold(0, |all, letter| all | 1 << (u32::from(letter) % 64))
}
