//! How alike words are: what somebody wrote, and what is there.

use super::words::in_name;

/// Longer words are not compared, in bytes: nobody misspells them.
const LONGEST: usize = 64;

/// How alike two words are that are taken for one another (Jaro-Winkler).
pub(super) const ALIKE: f64 = 0.88;

/// How near the nearest of some names comes to one of the words.
pub(super) fn best<'n>(words: &[String], names: impl Iterator<Item = &'n str>) -> f64 {
    // A letter alone names nothing.
    let parts: Vec<String> = names.flat_map(in_name).filter(|part| part.len() > 1).collect();
    let pairs = parts.iter().flat_map(|part| words.iter().map(move |word| alike(part, word)));
    pairs.fold(0.0, f64::max)
}

/// From 0 to 1, which is the same word.
pub(super) fn alike(one: &str, other: &str) -> f64 {
    if one == other {
        return 1.0;
    }
    if one.len() > LONGEST || other.len() > LONGEST || one.len().min(other.len()) < 3 {
        return 0.0;
    }
    // "Late" and "lateness", "order" and "orders".
    if one.len().min(other.len()) >= 4 && (one.starts_with(other) || other.starts_with(one)) {
        return 0.95;
    }
    // Whoever misspells a word begins it right.
    if one.chars().next() != other.chars().next() {
        return 0.0;
    }
    strsim::jaro_winkler(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_alike_by_their_beginning_or_but_for_a_slip() {
        assert!(alike("order", "orders") > ALIKE && alike("revenue", "revnue") > ALIKE);
        assert!(alike("late", "gate") < ALIKE && alike("to", "tom") < ALIKE);
        assert_eq!(alike(&"x".repeat(LONGEST + 1), &"x".repeat(LONGEST)), 0.0);
    }
}
