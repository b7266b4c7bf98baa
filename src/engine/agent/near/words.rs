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

/// Words that say how numbers come together: whatever they are of is what is looked for.
const AGGREGATES: [&str; 20] = [
    "average", "avg", "mean", "median", "total", "sum", "number", "count", "minimum", "maximum", "min", "max",
    "highest", "lowest", "distinct", "different", "unique", "percent", "percentage", "overall",
];

/// Words of any question, which are no names of what it is about.
const ANY_QUESTION: [&str; 60] = [
    "year", "quarter", "month", "week", "day", "hour", "date", "time", "today", "yesterday", "now", "period",
    "previous", "prior", "next", "first", "latest", "recent", "current", "daily", "weekly", "monthly", "quarterly",
    "yearly", "annual", "compare", "compared", "comparison", "versus", "change", "growth", "trend", "share", "rate",
    "ratio", "difference", "between", "during", "since", "until", "before", "after", "over", "under", "above", "below",
    "greater", "least", "best", "worst", "rank", "ranking", "breakdown", "split", "group", "grouped", "where", "when",
    "there", "name",
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

/// The words of a name or a value, whose capitals begin words too.
pub(super) fn in_name(text: &str) -> Vec<String> {
    split(&in_words(text))
}

/// Whether a word says what is meant.
pub(super) fn is_telling(word: &str) -> bool {
    !SMALL.contains(&word)
}

/// Whether a word, in its singular, says how numbers come together.
pub(super) fn is_aggregate(stem: &str) -> bool {
    AGGREGATES.contains(&stem)
}

/// The words of a name or a text that say what is meant, each in its singular.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    let text = if text.contains(' ') { text.to_owned() } else { in_words(text) };
    split(&text).into_iter().filter(|word| is_telling(word)).map(|word| singular(&word)).collect()
}

/// What something is looked for by.
#[derive(Clone, Debug, Default)]
pub(in crate::engine::agent) struct Sought {
    /// All words in their order, folded.
    pub(super) words: Vec<String>,
    stems: BTreeSet<String>,
    /// Words for aggregates, beside others that say of what.
    aggregates: BTreeSet<String>,
    /// Those that somebody wrote and no name has.
    unknown: Vec<String>,
}

impl Sought {
    /// `meanings` are words of the house and what they stand for; `known` are the words of all names. A word that is none
    /// of them is taken for the one that is spelt nearly so.
    pub(in crate::engine::agent) fn new(text: &str, meanings: &[(String, String)], known: &BTreeSet<String>) -> Self {
        let mut words = split(text);
        let (aggregates, mut stems): (BTreeSet<String>, BTreeSet<String>) =
            stems(text).into_iter().partition(|stem| is_aggregate(stem));
        let mut unknown: Vec<String> =
            words.iter().filter(|word| stems.contains(&singular(word)) && !is_of_any(word)).cloned().collect();
        for (term, means) in meanings {
            let term = split(term);
            if !term.is_empty() && words.windows(term.len()).any(|some| *some == term) {
                unknown.retain(|word| !term.contains(word));
                stems.extend(self::stems(means));
                words.extend(split(means));
            }
        }
        unknown.retain(|word| !known.contains(&singular(word)) && nearest(&singular(word), known).is_none());
        let misspelt: Vec<String> = stems.iter().filter(|stem| !known.contains(*stem)).cloned().collect();
        stems.extend(misspelt.iter().filter_map(|stem| nearest(stem, known)));
        match stems.is_empty() {
            // Nothing else is looked for.
            true => Self { words, stems: aggregates, aggregates: BTreeSet::new(), unknown },
            false => Self { words, stems, aggregates, unknown },
        }
    }

    /// The words that no name has, and neither any of the texts that are given.
    pub(in crate::engine::agent) fn unknown<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Vec<String> {
        let mut unknown = self.unknown.clone();
        for text in texts {
            if unknown.is_empty() {
                break;
            }
            let has = stems(text);
            unknown.retain(|word| !has.contains(&singular(word)));
        }
        unknown
    }

    /// How well something fits: ten for each word in its names, three for each in its description. A word for an
    /// aggregate counts beside others only: every metric that is an average has it.
    pub(in crate::engine::agent) fn hits(&self, names: &[&str], description: &str) -> usize {
        let named: BTreeSet<String> = names.iter().flat_map(|name| stems(name)).collect();
        let described = stems(description);
        let in_names = self.stems.intersection(&named).count();
        let in_description = self.stems.intersection(&described).filter(|word| !named.contains(*word)).count();
        match IN_NAME * in_names + 3 * in_description {
            0 => 0,
            fit => fit + IN_NAME * self.aggregates.intersection(&named).count(),
        }
    }
}

/// Whether a word can be in any question, or is a number.
fn is_of_any(word: &str) -> bool {
    ANY_QUESTION.contains(&singular(word).as_str())
        || ANY_QUESTION.contains(&word)
        || word.starts_with(|c: char| c.is_ascii_digit())
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
    fn words_for_aggregates_count_beside_others_only() {
        let names = ["average departure delay", "average fare", "total delay"];
        let fits = |text: &str| names.map(|name| sought(text).hits(&[name], ""));
        assert_eq!(fits("average delay"), [20, 0, 10]);
        assert_eq!(fits("number of delays in total"), [10, 0, 20]);
        assert_eq!(fits("averages"), [10, 10, 0], "unless nothing else is looked for");
    }

    #[test]
    fn words_that_nothing_is_called_are_known() {
        let unknown = |text: &str| sought(text).unknown(["flown by Ada Lane"].into_iter());
        assert_eq!(unknown("average delays of Kenji Nakamura by month in 2013"), ["kenji", "nakamura"]);
        assert_eq!(unknown("aircraft of departrue for Ada"), [""; 0]);
    }

    #[test]
    fn words_of_the_house_and_misspelt_ones_find_what_is_meant() {
        assert_eq!(sought("aircraft").hits(&["plane"], ""), 10);
        assert_eq!(sought("departrue").hits(&["departure"], ""), 10);
        assert_eq!(sought("plan").hits(&["plane"], ""), 0, "short words are taken as they are");
    }
}
