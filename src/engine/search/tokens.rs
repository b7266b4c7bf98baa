//! Word pieces, counted exactly as the encoders of the BERT family see them (uncased English vocabulary, which the built-in
//! encoder and the MiniLM models share). `vocabulary.txt` is that vocabulary (Google Research's BERT, Apache-2.0), one piece
//! a line, `##` before those that go on within a word.
//!
//! A text has as many as its words have together: normalised (BERT's `BasicTokenizer`), then cut into the longest pieces
//! that the vocabulary knows (WordPiece).

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

static VOCABULARY: LazyLock<HashSet<&'static str>> = LazyLock::new(|| include_str!("vocabulary.txt").lines().collect());

/// A word that is longer is one unknown piece.
const LONGEST: usize = 100;
/// Characters of a word that count as one piece at least, and of white space: what encoders skip costs room all the same.
pub(super) const DENSE: usize = 16;

/// The pieces of a text. What encoders would skip or call unknown as a whole counts by its length, so that no text is long
/// and counts little.
pub(super) fn count(text: &str) -> usize {
    let mut count = 0;
    let mut space = 0_usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != is_space).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        match is_space {
            true => space = run.chars().count(),
            false => {
                count += space / DENSE + of_word(run);
                space = 0;
            }
        }
        rest = after;
    }
    count + space / DENSE
}

/// The pieces of a text without white space.
pub(super) fn of_word(word: &str) -> usize {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && word.len() <= LONGEST {
        return of_normal(&word.to_ascii_lowercase());
    }
    let mut count = 0;
    let mut normal = String::new();
    let end = |normal: &mut String, count: &mut usize| {
        if !normal.is_empty() {
            *count += of_normal(normal);
            normal.clear();
        }
    };
    let folded =
        word.chars().filter(|c| !is_removed(*c)).nfd().filter(|c| !is_nonspacing(*c)).flat_map(char::to_lowercase);
    for c in folded {
        if is_alone(c) {
            end(&mut normal, &mut count);
            count += 1;
        } else {
            normal.push(c);
        }
    }
    end(&mut normal, &mut count);
    count.max(word.chars().count() / DENSE)
}

/// The longest pieces of a normalised word, from its start on.
fn of_normal(word: &str) -> usize {
    let characters = word.chars().count();
    if characters > LONGEST {
        return 1 + characters / DENSE;
    }
    let mut count = 0;
    let mut start = 0;
    let mut piece = String::with_capacity(word.len() + 2);
    while start < word.len() {
        let mut end = word.len();
        loop {
            piece.clear();
            if start > 0 {
                piece.push_str("##");
            }
            piece.push_str(word.get(start..end).unwrap_or_default());
            if VOCABULARY.contains(piece.as_str()) {
                break;
            }
            end = word.floor_char_boundary(end - 1);
            if end <= start {
                // Unknown as a whole.
                return 1;
            }
        }
        count += 1;
        start = end;
    }
    count
}

/// Controls and what shows nothing; white space is not met here.
fn is_removed(c: char) -> bool {
    matches!(c, '\0' | '\u{fffd}') || c.general_category_group() == GeneralCategoryGroup::Other
}

fn is_nonspacing(c: char) -> bool {
    is_combining_mark(c) && c.general_category() == GeneralCategory::NonspacingMark
}

/// Punctuation and the ideographs that are words by themselves.
fn is_alone(c: char) -> bool {
    c.is_ascii_punctuation()
        || c.general_category_group() == GeneralCategoryGroup::Punctuation
        || matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2b81f}'
            | '\u{2b820}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by the tokenizer of Hugging Face (0.22) with the encoder's own tokenizer.json.
    const COUNTED: &[(&str, usize)] = &[
        ("Goods may be sent back within thirty days.", 9),
        ("It's 12:30, isn't it?", 12),
        ("The boundary-layer’s thickness (δ) at M=2.5 is 0.0035 in.", 23),
        ("Größe, naïve façade, Ångström", 9),
        ("donaudampfschifffahrtsgesellschaft", 12),
        ("日本語のテキストです。", 11),
        ("Каждая книга стоит на своём месте", 28),
        ("한국어 문장입니다", 21),
        ("https://example.org/a/b?c=d&e=f#g", 21),
        ("snake_case_name = camelCase(42) // comment", 14),
        ("€ 1,234.56 — ½ ° ™ ©", 11),
        ("émigré CO₂ x² ﬁne", 7),
        ("😀 smile 👩\u{200d}👩\u{200d}👧 end", 4),
        ("a\u{200b}b zero\u{ad}width", 5),
        ("antidisestablishmentarianism's pseudopseudohypoparathyroidism", 20),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", 19),
        ("مرحبا بالعالم", 12),
        ("ไทยภาษา", 1),
        ("tab\tnew\nline  two", 4),
        ("İstanbul ǅ ß ſ", 4),
    ];

    #[test]
    fn pieces_are_counted_as_the_encoder_counts_them() {
        for (text, expected) in COUNTED {
            assert_eq!(count(text), *expected, "{text}");
        }
    }

    #[test]
    fn what_encoders_skip_still_counts() {
        assert!(count(&"x".repeat(20_000)) >= 1_000);
        assert!(count(&" ".repeat(20_000)) >= 1_000);
        assert!(count(&"\u{200b}".repeat(20_000)) >= 1_000);
        assert_eq!(count(""), 0);
    }
}
