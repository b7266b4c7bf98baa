//! Values by some of the words in them.

use super::{Effort, Entry, Lexicon, Sense, words};

/// Most values of which some words are a part: of more, nobody can be asked which one is meant.
const PARTS: usize = 24;

/// Most values that are looked at for one of them: words that are in more say little.
const LOOKED_AT: usize = 1_000;

/// Longest value of which words are looked for, in bytes.
const LONGEST: usize = 200;

impl Lexicon {
    /// The values in which these folded words stand next to each other as whole words, though they are not all of it:
    /// at most `PARTS` of them, and none when there are more, or when too many would have to be looked at. Personal
    /// values are told nobody who does not name them whole.
    pub(crate) fn containing(&self, said: &[String], effort: &Effort<'_>) -> Vec<Entry> {
        if said.first().is_none_or(|word| word.chars().count() <= 2) {
            return Vec::new();
        }
        let lists = || said.iter().map(|word| self.store.with(word));
        let Some(rarest) = lists().min_by_key(|values| values.len()) else { return Vec::new() };
        let mut entries: Vec<Entry> = Vec::new();
        for (looked_at, id) in rarest.iter().enumerate() {
            if looked_at == LOOKED_AT || !effort.spend(1) {
                return Vec::new();
            }
            if !lists().all(|values| values.binary_search(id).is_ok()) {
                continue;
            }
            let Some((dataset, field, value)) = self.store.owned(*id) else { continue };
            if value.len() > LONGEST || self.personal.contains(&(dataset, field)) {
                continue;
            }
            let words = words::split(value);
            if words.len() > said.len() && words.windows(said.len()).any(|part| part == said) {
                let sense = Sense::Value { dataset, field, value: value.to_owned() };
                entries.push(Entry { sense, quality: 0.8, partial: true });
            }
            if entries.len() > PARTS {
                return Vec::new();
            }
        }
        entries.sort_by(|a, b| a.sense.cmp(&b.sense));
        entries
    }
}
