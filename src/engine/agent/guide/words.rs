//! Words that something is looked for by: without case, accents and the ends of plurals, near enough to find names.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::engine::render::nouns::singular;
use crate::model::ontology::in_words;

/// What a word in a name is worth.
pub(super) const IN_NAME: usize = 10;

/// Words that say nothing about what is looked for.
const SMALL: [&str; 52] = [
    "the", "and", "for", "what", "which", "who", "how", "many", "much", "was", "were", "are", "did", "does", "per",
    "each", "with", "from", "all", "that", "have", "has", "had", "show", "list", "give", "than", "more", "most", "top",
    "last", "not", "of", "in", "on", "by", "to", "at", "is", "a", "an", "or", "do", "we", "us", "me", "my", "our",
    "it", "its", "as", "be",
];

/// Without case and accents, compatibility forms made plain.
fn fold(text: &str) -> String {
    text.nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase().replace(['\'', '’'], "")
}

/// The words of a text in their order, folded.
pub(super) fn split(text: &str) -> Vec<String> {
    let plain = fold(text);
    plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a word says what is meant.
pub(super) fn is_telling(word: &str) -> bool {
    !SMALL.contains(&word)
}

/// The words of a name or a text that say what is meant, each in its singular.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    let text = if text.contains(' ') { text.to_owned() } else { in_words(text) };
    split(&text).into_iter().filter(|word| is_telling(word)).map(|word| singular(&word)).collect()
}

/// What something is looked for by.
#[derive(Clone, Debug, Default)]
pub(super) struct Sought {
    /// All words in their order, folded.
    pub words: Vec<String>,
    stems: BTreeSet<String>,
}

impl Sought {
    /// `meanings` are words of the house and what they stand for; `known` are the words of all names. A word that is none
    /// of them is taken for the one that is spelt nearly so.
    pub(super) fn new(text: &str, meanings: &[(String, String)], known: &BTreeSet<String>) -> Self {
        let mut words = split(text);
        let mut stems = stems(text);
        for (term, means) in meanings {
            let term = split(term);
            if !term.is_empty() && words.windows(term.len()).any(|some| *some == term) {
                stems.extend(self::stems(means));
                words.extend(split(means));
            }
        }
        let misspelt: Vec<String> = stems.iter().filter(|stem| !known.contains(*stem)).cloned().collect();
        stems.extend(misspelt.iter().filter_map(|stem| nearest(stem, known)));
        Self { words, stems }
    }

    /// How well something fits: ten for each word in its names, three for each in its description.
    pub(super) fn hits(&self, names: &[&str], description: &str) -> usize {
        let named: BTreeSet<String> = names.iter().flat_map(|name| stems(name)).collect();
        let described = stems(description);
        let in_names = self.stems.intersection(&named).count();
        let in_description = self.stems.intersection(&described).filter(|word| !named.contains(*word)).count();
        IN_NAME * in_names + 3 * in_description
    }
}

/// The known word that is spelt nearly so: one letter apart, from eight letters on two.
fn nearest(word: &str, known: &BTreeSet<String>) -> Option<String> {
    let length = word.chars().count();
    let most = match length {
        0..=4 => return None,
        5..=7 => 1,
        _ => 2,
    };
    let near = known.iter().filter(|other| other.chars().count().abs_diff(length) <= most);
    let near = near.map(|other| (strsim::osa_distance(word, other), other)).filter(|(apart, _)| *apart <= most);
    near.min().map(|(_, other)| other.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sought(text: &str) -> Sought {
        let known = ["delay", "departure", "airport", "plane"].map(str::to_owned).into();
        Sought::new(text, &[("aircraft".into(), "plane".into())], &known)
    }

    #[test]
    fn names_weigh_more_than_descriptions_and_small_words_nothing() {
        assert_eq!(
            sought("average delays by the airport").hits(&["dep_delay", "departure delay"], "At an airport"),
            13
        );
        assert_eq!(sought("of the what").hits(&["of_what"], "the"), 0);
        assert_eq!(sought("Délay").hits(&["delay"], ""), 10, "accents and case say nothing");
    }

    #[test]
    fn words_of_the_house_and_misspelt_ones_find_what_is_meant() {
        assert_eq!(sought("aircraft").hits(&["plane"], ""), 10);
        assert_eq!(sought("departrue").hits(&["departure"], ""), 10);
        assert_eq!(sought("plan").hits(&["plane"], ""), 0, "short words are taken as they are");
    }
}
