//! The name that somebody most likely meant.

/// Characters of what was written that are looked at.
const LOOKED_AT: usize = 64;

/// Of the known names the one that is nearest to what was written, in whatever case: at most a third of its letters differ
/// (optimal string alignment). Of several that are as near, the first by the alphabet.
pub fn nearest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let written = written.chars().take(LOOKED_AT).collect::<String>().to_lowercase();
    let near = known.into_iter().map(|name| (strsim::osa_distance(&written, &name.to_lowercase()), name));
    near.filter(|(distance, name)| *distance <= name.chars().count().div_ceil(3)).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_a_third_is_near() {
        let of = |written: &str| nearest(written, ["amount", "customer", "Region"]);
        for (written, meant) in [
            ("amuont", Some("amount")),
            ("AMOUNTS", Some("amount")),
            ("regoin", Some("Region")),
            ("costumr", Some("customer")),
            ("price", None),
            ("", None),
        ] {
            assert_eq!(of(written), meant, "{written}");
        }
        assert_eq!(nearest("bat", ["cat", "bar"]), Some("bar"), "the first by the alphabet");
    }
}
