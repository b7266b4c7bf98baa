//! What is spelt like something else, for suggestions: within bounds, since both sides are written by others.

use crate::model::ontology::{Entity, Ontology, in_words};

use super::{Lexicon, words};

/// Longer texts are not compared, in characters: nobody misspells them, and comparing takes the product of both.
const LONGEST: usize = 64;

/// Cells of all the tables that comparing fills for one suggestion: some hundredths of a second.
const MOST_CELLS: usize = 10_000_000;

/// Most suggestions.
const MOST: usize = 5;

/// Compares texts with one.
struct Compared<'a> {
    text: &'a str,
    length: usize,
    cells: usize,
}

impl<'a> Compared<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, length: text.chars().count(), cells: 0 }
    }

    /// How many edits apart a text is, if it is at most so many; `None` also where finding out is too much work.
    fn within(&mut self, other: &str, most: usize) -> Option<usize> {
        // A character has at most four bytes: very long texts are not even counted.
        if self.length > LONGEST || other.len() > 4 * LONGEST {
            return None;
        }
        let length = other.chars().count();
        if length > LONGEST || length.abs_diff(self.length) > most {
            return None;
        }
        let cells = (length + 2) * (self.length + 2);
        if self.cells + cells > MOST_CELLS {
            return None;
        }
        self.cells += cells;
        Some(strsim::damerau_levenshtein(self.text, other)).filter(|distance| *distance <= most)
    }
}

impl Lexicon {
    /// Phrases that are spelt like a word, nearest first: what to say instead of it.
    pub(crate) fn near(&self, word: &str, ontology: &Ontology) -> Vec<String> {
        let mut compared = Compared::new(word);
        let most = 1 + compared.length / 3;
        let mut found: Vec<(usize, &str)> = Vec::new();
        for name in self.store.names() {
            let mut parts = name.split(' ').filter(|part| part.len() > 3);
            let distance = compared.within(name, most).or_else(|| {
                let alike = parts.any(|part| compared.within(part, 1).is_some());
                alike.then(|| compared.within(name, LONGEST).unwrap_or(LONGEST))
            });
            found.extend(distance.map(|distance| (distance, name)));
        }
        found.sort_unstable();
        found.dedup();
        let near: Vec<String> = found.into_iter().map(|(_, name)| name.to_owned()).take(MOST).collect();
        if !near.is_empty() {
            return near;
        }
        let metrics = ontology.metrics.iter().map(|metric| in_words(&metric.name));
        let datasets = ontology.datasets.iter().filter(|dataset| !dataset.hidden).map(Entity::noun);
        metrics.take(3).chain(datasets.take(3)).collect()
    }

    /// The known values of a field that are spelt like a text, nearest first; where none is, its first ones. Personal
    /// values are told nobody who did not name them.
    pub(crate) fn near_values(&self, dataset: usize, field: usize, text: &str) -> Vec<String> {
        self.nearest(dataset, field, text).0
    }

    /// With the cells that comparing filled.
    pub(super) fn nearest(&self, dataset: usize, field: usize, text: &str) -> (Vec<String>, usize) {
        if self.personal.contains(&(dataset, field)) {
            return (Vec::new(), 0);
        }
        let text = words::fold(text);
        let mut compared = Compared::new(&text);
        let most = 2 + compared.length / 2;
        let values = || self.store.values_of(dataset, field).filter(|value| value.len() <= 4 * LONGEST);
        let mut found: Vec<(usize, &str)> = Vec::new();
        for value in values() {
            found.extend(compared.within(&words::fold(value), most).map(|distance| (distance, value)));
        }
        found.sort_unstable();
        found.dedup();
        let near: Vec<String> = match found.is_empty() {
            true => values().take(MOST).map(str::to_owned).collect(),
            false => found.into_iter().take(MOST).map(|(_, value)| value.to_owned()).collect(),
        };
        (near, compared.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_of_like_and_moderate_length_are_compared() {
        let mut compared = Compared::new("harbour");
        assert_eq!(compared.within("harbor", 3), Some(1));
        assert_eq!(compared.cells, 9 * 8);
        assert_eq!(compared.within("harbour master house", 3), None);
        assert_eq!(compared.within("planets", 3), None, "seven edits");
        assert_eq!(compared.cells, 9 * 8 + 9 * 9, "what differs in length is not compared");

        let long = "x".repeat(LONGEST + 1);
        let mut compared = Compared::new(&long);
        assert_eq!((compared.within(&long, 200), compared.cells), (None, 0));
        let fits = "x".repeat(LONGEST);
        let mut compared = Compared::new(&fits);
        assert_eq!(compared.within(&long, 200), None);
        assert_eq!(compared.within(&fits, 200), Some(0));
        compared.cells = MOST_CELLS - 10;
        assert_eq!(compared.within(&fits, 200), None, "there is a bound for all together");
    }
}
