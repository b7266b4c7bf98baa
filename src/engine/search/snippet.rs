//! The part of a text that says why it was found, and where in it the words are.

use std::ops::Range;

use crate::engine::search::words::is_unspaced;

/// Characters of a part.
const CHARS: usize = 240;

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// At most 240 characters, and `…` where the text goes on.
    pub text: String,
    /// Where the words are that were looked for: from and to in characters of `text`, in order.
    pub highlights: Vec<(usize, usize)>,
}

/// The part with most of the words that count, the earliest of several.
pub(super) fn snippet(text: &str, counts: impl Fn(&str) -> bool) -> Snippet {
    let chars: Vec<char> = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let words = words(&chars);
    let found: Vec<Range<usize>> = words.iter().filter(|word| counts(&said(&chars, word))).cloned().collect();
    let start = match chars.len() <= CHARS {
        true => 0,
        false => start(&found, &words, chars.len()),
    };
    let end = (start + CHARS).min(chars.len());
    // No word is cut: the part ends with the last that is whole.
    let end = match end < chars.len() {
        true => words.iter().rev().map(|word| word.end).find(|at| (start + 1..=end).contains(at)).unwrap_or(end),
        false => end,
    };
    let lead = if start > 0 { "…" } else { "" };
    let tail = if end < chars.len() { "…" } else { "" };
    let body: String = chars.get(start..end).unwrap_or_default().iter().collect();
    let shift = lead.chars().count();
    let inside = found.iter().filter(|word| word.start >= start && word.end <= end);
    let highlights = inside.map(|word| (word.start - start + shift, word.end - start + shift)).collect();
    Snippet { text: format!("{lead}{body}{tail}"), highlights }
}

/// Where the best part begins: at a word, a little before the first that counts, so that it is read in its sentence.
fn start(found: &[Range<usize>], words: &[Range<usize>], length: usize) -> usize {
    let within = |from: usize| found.iter().filter(|word| word.start >= from && word.end <= from + CHARS).count();
    let best = found.iter().rev().max_by_key(|word| within(word.start)).map_or(0, |word| word.start);
    let span = found.iter().filter(|word| word.start >= best && word.end <= best + CHARS).map(|word| word.end).max();
    let room = CHARS.saturating_sub(span.unwrap_or(best) - best);
    let wanted = best.saturating_sub(room / 3).min(length.saturating_sub(CHARS));
    words.iter().map(|word| word.start).find(|at| (wanted..=best).contains(at)).unwrap_or(wanted)
}

/// Runs of letters and digits; of scripts that put no spaces between words, each character is one.
fn words(chars: &[char]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (at, c) in chars.iter().enumerate() {
        let alone = is_unspaced(*c);
        match words.last_mut() {
            Some(word) if open && c.is_alphanumeric() && !alone => word.end = at + 1,
            _ if c.is_alphanumeric() => words.push(at..at + 1),
            _ => {}
        }
        open = c.is_alphanumeric() && !alone;
    }
    words
}

fn said(chars: &[char], word: &Range<usize>) -> String {
    chars.get(word.clone()).unwrap_or_default().iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, wanted: &[&str]) -> Snippet {
        snippet(text, |word| wanted.iter().any(|one| one.eq_ignore_ascii_case(word)))
    }

    fn marked(snippet: &Snippet) -> Vec<String> {
        let part = |&(from, to): &(usize, usize)| snippet.text.chars().skip(from).take(to - from).collect();
        snippet.highlights.iter().map(part).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole_with_its_words() {
        let found = of("Goods may be sent back,\nwithin 30 days.", &["GOODS", "days", "within"]);
        assert_eq!(found.text, "Goods may be sent back, within 30 days.");
        assert_eq!(marked(&found), ["Goods", "within", "days"]);
        assert_eq!(of("", &["a"]), Snippet::default());
        assert_eq!(marked(&of("東京 Büro", &["京", "büro"])), ["京", "Büro"], "offsets are characters, not bytes");
    }

    #[test]
    fn of_a_long_text_the_part_with_most_words_is_shown_and_no_word_is_cut() {
        let text =
            format!("{} late {} late planes in thunder {}", "éa ".repeat(200), "bb ".repeat(200), "cc ".repeat(200));
        let found = of(&text, &["late", "planes", "thunder"]);
        assert_eq!(marked(&found), ["late", "planes", "thunder"]);
        assert!(found.text.starts_with("…bb bb") && found.text.ends_with("cc…"), "{}", found.text);
        assert!(found.text.chars().count() <= CHARS + 2);
        let nothing = of(&text, &[]);
        assert!(nothing.text.starts_with("éa éa") && nothing.highlights.is_empty());
        let long = of(&"x".repeat(1_000), &[]);
        assert_eq!(long.text.chars().count(), CHARS + 1);
    }
}
