//! Everyday English words: who writes one of them did not misspell the name of something else. "Night" is not "sight".

use std::sync::OnceLock;

/// The words in small letters of SCOWL up to its size 35, of at least three letters; its licence is beside it.
const WORDS: &str = include_str!("english/words.txt");

/// Whether a folded word is one.
pub(super) fn is_english(word: &str) -> bool {
    static ALL: OnceLock<Vec<&str>> = OnceLock::new();
    ALL.get_or_init(|| WORDS.lines().collect()).binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_words_are_known_and_misspelt_ones_are_not() {
        assert!(["night", "owe", "rates", "zoom", "abandon"].iter().all(|word| is_english(word)));
        assert!(["nihgt", "custmer", "gmial", "", "the night"].iter().all(|word| !is_english(word)));
        assert!(WORDS.lines().is_sorted(), "they are looked up by halves");
    }
}
