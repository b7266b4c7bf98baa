//! The name that somebody most likely meant.

/// Letters times letters that one search compares: enough for thousands of names.
const MOST: usize = 1 << 20;

/// Of the known names the one that is nearest to what was written, in whatever case: at most a third of the letters
/// differ, rounded up (optimal string alignment). Of several that are as near, the first by the alphabet. Of very many
/// or very long names only the first are looked at.
pub fn nearest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    within(written, known, |written, known| written.max(known).div_ceil(3))
}

/// As [`nearest`] among so many names that to every short word one of them is near: a third of the written letters,
/// rounded down, at least one.
pub fn nearest_of_many<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    within(written, known, |written, _| (written / 3).max(1))
}

/// `most` says how many letters may differ, by how many the two have.
fn within<'n>(
    written: &str,
    known: impl IntoIterator<Item = &'n str>,
    most: impl Fn(usize, usize) -> usize,
) -> Option<&'n str> {
    let written = written.to_lowercase();
    let letters = written.chars().count();
    let mut left = MOST;
    let near = known.into_iter().filter_map(|name| {
        let others = name.chars().count();
        let most = most(letters, others);
        // Names differ at least by what one is longer.
        if letters.abs_diff(others) > most {
            return None;
        }
        left = left.checked_sub(letters * others)?;
        let distance = strsim::osa_distance(&written, &name.to_lowercase());
        (distance <= most).then_some((distance, name))
    });
    near.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_a_third_is_near() {
        let of = |written: &str| nearest(written, ["amount", "amounts_of_all_orders", "customer", "Region"]);
        for (written, meant) in [
            ("amuont", Some("amount")),
            ("AMOUNTS", Some("amount")),
            ("amnt", Some("amount")),
            ("regoin", Some("Region")),
            ("costumr", Some("customer")),
            ("am", None),
            ("price", None),
            ("", None),
        ] {
            assert_eq!(of(written), meant, "{written}");
        }
        assert_eq!(nearest("bat", ["cat", "bar"]), Some("bar"), "the first by the alphabet");
    }

    #[test]
    fn among_many_names_less_may_differ() {
        assert_eq!((nearest("foo", ["floor"]), nearest_of_many("foo", ["floor"])), (Some("floor"), None));
        for (written, meant) in [("uper", Some("upper")), ("LOEWR", Some("lower")), ("x", None)] {
            assert_eq!(nearest_of_many(written, ["lower", "upper"]), meant, "{written}");
        }
        assert_eq!(nearest_of_many(&"x".repeat(300), ["flights"]), None, "nothing is near to what is very long");
    }

    #[test]
    fn a_search_among_many_long_names_ends() {
        let (written, far) = ("a".repeat(128), "b".repeat(128));
        let among = |many: usize| {
            let known = std::iter::repeat_n(far.as_str(), many).chain([written.as_str()]);
            nearest(&written, known).is_some()
        };
        let most = MOST / (128 * 128);
        assert!(among(most - 1));
        assert!(!among(most));
        // What is too long or too short to be meant takes nothing of it.
        let short = std::iter::repeat_n("b", 2 * most).chain([written.as_str()]);
        assert_eq!(nearest(&written, short), Some(written.as_str()));
    }
}
