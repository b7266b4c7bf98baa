//! Words that are spelt alike: one letter more, less, other or swapped in words of four to seven letters, up to two in
//! longer ones.

use std::sync::OnceLock;

use fst::{IntoStreamer as _, Set, Streamer as _};
use levenshtein_automata::{Distance, LevenshteinAutomatonBuilder};

use super::english::is_english;
use super::store::Store;

pub(super) struct Fuzzy {
    words: Set<Vec<u8>>,
}

/// The automata of all words are made of these tables, which take milliseconds to compute.
fn builder(edits: u8) -> &'static LevenshteinAutomatonBuilder {
    static ONE: OnceLock<LevenshteinAutomatonBuilder> = OnceLock::new();
    static TWO: OnceLock<LevenshteinAutomatonBuilder> = OnceLock::new();
    let table = if edits == 1 { &ONE } else { &TWO };
    table.get_or_init(|| LevenshteinAutomatonBuilder::new(edits, true))
}

impl Fuzzy {
    /// Of the words that may be said to people: who misspells a word is told the right one.
    pub(super) fn new(store: &Store) -> Self {
        let mut words: Vec<&str> = store.open_words().filter(|word| may_be_misspelt(word)).collect();
        words.sort_unstable();
        let set = Set::from_iter(words).unwrap_or_default();
        builder(1);
        builder(2);
        Self { words: set }
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.as_fst().size()
    }

    /// The words nearest to a misspelt one, with the number of edits: all of the least distance, at most eight.
    pub(super) fn near(&self, word: &str) -> Vec<(String, u8)> {
        if !may_be_misspelt(word) || MEANT.contains(&word) {
            return Vec::new();
        }
        let length = word.chars().count();
        // "Polices" may be policies, and "night" is no sight.
        let begun = if is_english(word) { (length / 2).max(3) } else { 1 };
        for edits in 1..=if length >= 8 { 2 } else { 1 } {
            let dfa = builder(edits).build_dfa(word);
            let mut stream = self.words.search(Alike { dfa: &dfa, edits }).into_stream();
            let mut found = Vec::new();
            while let Some(key) = stream.next() {
                if let Ok(text) = std::str::from_utf8(key)
                    && begins_alike(word, text)
                    && is_near(word, text, begun)
                {
                    found.push((text.to_owned(), edits));
                }
            }
            if found.iter().any(|(right, _)| is_slip(word, right)) {
                found.retain(|(right, _)| is_slip(word, right));
            }
            if !found.is_empty() {
                found.truncate(8);
                return found;
            }
        }
        if length < 5 { Vec::new() } else { self.sounding(word) }
    }

    /// The words two edits away with the same consonants in the same order: "trane" for "train".
    fn sounding(&self, word: &str) -> Vec<(String, u8)> {
        let dfa = builder(2).build_dfa(word);
        let mut stream = self.words.search(Alike { dfa: &dfa, edits: 2 }).into_stream();
        let mut found = Vec::new();
        let own = consonants(word);
        while let Some(key) = stream.next() {
            let Ok(text) = std::str::from_utf8(key) else { continue };
            let alike = own.len() > 2 && text.chars().next() == word.chars().next() && consonants(text) == own;
            if alike && found.len() < 8 {
                found.push((text.to_owned(), 2));
            }
        }
        found
    }
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// The consonants of a word as they sound, each once where it is said twice.
fn consonants(word: &str) -> String {
    let mut sounds: String = word
        .chars()
        .filter(|c| !is_vowel(*c))
        .map(|c| match c {
            'c' | 'q' => 'k',
            'z' => 's',
            other => other,
        })
        .collect();
    let mut before = None;
    sounds.retain(|c| before.replace(c) != Some(c));
    sounds
}

/// Whether one edit is of the kind that people make most: two letters swapped, a letter doubled or not, or a vowel that
/// is another one, is missing or is too many.
fn is_slip(word: &str, right: &str) -> bool {
    let (short, long) = (word.chars().count(), right.chars().count());
    let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), right.chars().collect());
    let from = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    match short.cmp(&long) {
        std::cmp::Ordering::Equal => {
            let swapped = a.get(from) == b.get(from + 1) && a.get(from + 1) == b.get(from);
            swapped || [&a, &b].iter().all(|word| word.get(from).is_some_and(|c| is_vowel(*c)))
        }
        order => {
            let longer = if order == std::cmp::Ordering::Less { &b } else { &a };
            let more = longer.get(from).copied().unwrap_or_default();
            is_vowel(more) || from > 0 && longer.get(from - 1) == Some(&more)
        }
    }
}

/// Words of arithmetic that are one letter away from many others, and are never those.
const MEANT: &[&str] = &["rate", "rates", "ratio", "share", "shares"];

/// Whether two words begin with the same letters: so many, or nearly, where two of them changed places.
fn is_near(word: &str, other: &str, begun: usize) -> bool {
    word.chars().zip(other.chars()).take_while(|(one, other)| one == other).count() >= begun
}

/// The first letter is seldom misspelt: "hotel" is no "motel". It may be swapped with the second.
fn begins_alike(word: &str, other: &str) -> bool {
    let first = |word: &str| (word.chars().next(), word.chars().nth(1));
    let ((one, two), (own, next)) = (first(word), first(other));
    one == own || one == next && two == own
}

/// Numbers, codes and short words are taken as they are.
fn may_be_misspelt(word: &str) -> bool {
    let length = word.chars().count();
    (4..=40).contains(&length) && word.chars().all(char::is_alphabetic)
}

struct Alike<'a> {
    dfa: &'a levenshtein_automata::DFA,
    edits: u8,
}

impl fst::Automaton for Alike<'_> {
    type State = u32;

    fn start(&self) -> u32 {
        self.dfa.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.dfa.distance(*state), Distance::Exact(distance) if distance <= self.edits)
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != levenshtein_automata::SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.dfa.transition(*state, byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_words_begin_as_the_right_ones_do() {
        assert!(begins_alike("motle", "motel") && begins_alike("omtel", "motel"));
        assert!(!begins_alike("hotel", "motel") && !begins_alike("otel", "motel"));
    }
}
