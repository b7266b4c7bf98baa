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
                    && is_near(word, text, begun)
                {
                    found.push((text.to_owned(), edits));
                }
            }
            if !found.is_empty() {
                found.truncate(8);
                return found;
            }
        }
        Vec::new()
    }
}

/// Words of arithmetic that are one letter away from many others, and are never those.
const MEANT: &[&str] = &["rate", "rates", "ratio", "share", "shares"];

/// Whether two words begin with the same letters: so many, or nearly, where two of them changed places.
fn is_near(word: &str, other: &str, begun: usize) -> bool {
    word.chars().zip(other.chars()).take_while(|(one, other)| one == other).count() >= begun
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
