//! One and several of a thing.

/// The plural of a noun phrase: of its last word, or of the one before "of", "to", "in", "for" or "with".
pub fn plural(noun: &str) -> String {
    on_head(noun, |word| {
        let lower = word.to_lowercase();
        let before_y = lower.chars().rev().nth(1);
        let already =
            lower.ends_with('s') && !lower.ends_with("ss") && !lower.ends_with("us") && !lower.ends_with("is");
        let same = ["data", "people", "staff", "equipment"].contains(&lower.as_str());
        if already || same || is_plural_elsewhere(&lower) {
            word.to_owned()
        } else if lower == "person" {
            "people".to_owned()
        } else if lower.ends_with('y') && before_y.is_some_and(|c| !"aeiou".contains(c)) {
            format!("{}ies", &word[..word.len() - 1])
        } else if lower.ends_with("sis") {
            format!("{}es", &word[..word.len() - 2])
        } else if ["s", "x", "z", "ch", "sh"].iter().any(|end| lower.ends_with(end)) {
            format!("{word}es")
        } else {
            format!("{word}s")
        }
    })
}

/// Whether a word is a plural already, by an ending that no English noun has: "Bestellungen", "rekeningen".
pub fn is_plural_elsewhere(word: &str) -> bool {
    ["ungen", "ingen", "heiten", "keiten", "schaften", "ionen"].iter().any(|end| word.ends_with(end))
}

/// A text with its first letter as a capital.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The singular of a noun phrase that may be a plural, such as a table's name.
pub fn singular(noun: &str) -> String {
    on_head(noun, |word| {
        let already = ["ss", "us", "is", "news", "series", "species"].iter().any(|end| word.ends_with(end));
        if already {
            word.to_owned()
        } else if let Some(stem) =
            word.strip_suffix("ies").filter(|stem| stem.len() > 2 && !stem.eq_ignore_ascii_case("mov"))
        {
            format!("{stem}y")
        } else if let Some(stem) =
            word.strip_suffix("es").filter(|stem| ["ss", "x", "ch", "sh"].iter().any(|end| stem.ends_with(end)))
        {
            stem.to_owned()
        } else {
            word.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(word).to_owned()
        }
    })
}

fn on_head(noun: &str, change: impl Fn(&str) -> String) -> String {
    let mut words: Vec<String> = noun.split_whitespace().map(str::to_owned).collect();
    let joint = words.iter().position(|word| ["of", "to", "in", "for", "with", "on", "at"].contains(&word.as_str()));
    let head = joint.filter(|at| *at > 0).unwrap_or(words.len()).saturating_sub(1);
    if let Some(word) = words.get_mut(head) {
        *word = change(word);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_one_and_what_is_several_is_told() {
        for (several, one) in [
            ("cities", "city"),
            ("movies", "movie"),
            ("boxes", "box"),
            ("rates of exchange", "rate of exchange"),
            ("orders", "order"),
        ] {
            assert_eq!((singular(several).as_str(), plural(one).as_str()), (one, several));
        }
        for same in ["series", "species", "news", "status", "bus"] {
            assert_eq!(singular(same), same);
        }
        assert_eq!(plural("offene Bestellungen"), "offene Bestellungen");
    }
}
