//! Names that a program may not give itself, because people would take it for this product (F08). Any other name may be
//! anybody's, and the consent page says so.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// This product's name.
const OWN: &str = "dragoman";

/// Letters of other scripts, and digits and signs, that look like the letters of the name.
const ALIKE: [(char, &str); 7] =
    [('d', "ԁ"), ('r', "гᴦⲅ"), ('a', "аαɑ@4ᴀ"), ('g', "ɡց9ɢ"), ('o', "оοօ0ᴏσ๐"), ('m', "мᴍ"), ('n', "пոη")];

/// Whether a name claims to be this product: it has the product's name in it, in whatever disguise. What stands in
/// brackets after another name is no claim: there clients write what they are connected to, as in
/// "Claude Code (dragoman)".
pub fn is_claimed(name: &str) -> bool {
    let (before, _) = name.split_once(['(', '[']).unwrap_or((name, ""));
    let before = plain(before);
    if before.is_empty() { plain(name).contains(OWN) } else { before.contains(OWN) }
}

/// The letters of a text as a reader takes them: without marks, case, gaps and signs, and in one script.
fn plain(text: &str) -> String {
    let letters = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).map(latin);
    letters.filter(|c| c.is_alphanumeric()).collect::<String>().replace("rn", "m")
}

fn latin(letter: char) -> char {
    ALIKE.iter().find(|(_, alike)| alike.contains(letter)).map_or(letter, |(latin, _)| *latin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f08_the_products_name_is_not_given_away_in_any_disguise() {
        for name in [
            "Dragoman",
            "dragoman console",
            "The official DRAGOMAN",
            "D r a g o m a n",
            "D.R.A.G.O.M.A.N.",
            "Dragoman (verified)",
            "(Dragoman)",
            "[Dragoman] Admin",
            "Drаgоmаn",
            "ԁrаɡοmаո",
            "Dr@g0m4n",
            "Drägömân",
            "Dragornan",
            "Ｄｒａｇｏｍａｎ",
            "𝐃𝐫𝐚𝐠𝐨𝐦𝐚𝐧",
            "Ⓓⓡⓐⓖⓞⓜⓐⓝ",
            "Dra\u{200b}go\u{202e}man",
            "Dra\u{ad}goman",
        ] {
            assert!(is_claimed(name), "{name}");
        }
    }

    #[test]
    fn f08_other_names_are_taken() {
        for name in [
            "", "Claude Code (dragoman)", "Claude", "Google", "Cursor", "MCP Inspector", "Drago", "Анна 日本",
            "Dragon Manager",
        ] {
            assert!(!is_claimed(name), "{name}");
        }
    }
}
