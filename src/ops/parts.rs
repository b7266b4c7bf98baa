//! Long texts in parts that fit into replies.

use std::ops::Range;

/// The parts of a text, each of which fits when it is written as JSON; where possible they end with a page, a paragraph, a
/// line or a word. An empty text has one.
pub(super) fn parts(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty() || parts.is_empty()) {
        let fitting = fitting(rest, most);
        let window = rest.get(..fitting).unwrap_or(rest);
        let after = |border: &str| window.rfind(border).map(|at| at + border.len()).filter(|at| *at > fitting / 2);
        let length = match fitting < rest.len() {
            true => ["\u{c}", "\n\n", "\n", " "].into_iter().find_map(after).unwrap_or(fitting),
            false => fitting,
        };
        parts.push(start..start + length);
        start += length.max(1);
    }
    parts
}

/// Cuts so that the text fits when written as JSON, at a character.
pub(super) fn cut(text: String, most: usize) -> (String, bool) {
    let end = fitting(&text, most);
    let is_cut = end < text.len();
    (if is_cut { text.get(..end).unwrap_or_default().to_owned() } else { text }, is_cut)
}

/// How many bytes of a text fit when they are written as JSON; at least one character.
fn fitting(text: &str, most: usize) -> usize {
    let mut size = 0;
    for (at, character) in text.char_indices() {
        size += match character {
            '"' | '\\' | '\n' | '\t' | '\r' => 2,
            control if control.is_control() => 6,
            other => other.len_utf8(),
        };
        if size > most && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{cut, parts};

    #[test]
    fn a_long_text_is_cut_at_a_character_by_its_written_size() {
        assert_eq!(cut("abc".into(), 3), ("abc".into(), false));
        assert_eq!(cut("äöü".into(), 5), ("äö".into(), true));
        assert_eq!(cut("a\n\n".into(), 4), ("a\n".into(), true));
    }

    #[test]
    fn parts_are_all_of_a_text_and_end_where_it_lets_them() {
        for (text, most, expected) in [
            ("", 10, vec![""]),
            ("short", 10, vec!["short"]),
            ("one two three", 9, vec!["one two ", "three"]),
            ("one two\n\nmore", 12, vec!["one two\n\n", "more"]),
            ("page one\u{c}page two", 15, vec!["page one\u{c}", "page two"]),
            ("ääää", 3, vec!["ä", "ä", "ä", "ä"]),
            ("äöü", 1, vec!["ä", "ö", "ü"]),
        ] {
            let found: Vec<&str> = parts(text, most).into_iter().map(|part| &text[part]).collect();
            assert_eq!(found, expected, "{text:?} in {most}");
            assert_eq!(found.concat(), text);
        }
    }
}
