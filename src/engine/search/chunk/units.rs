//! What a block that does not fit is cut into: sentences of a paragraph, items of a list, lines of code, rows of a table;
//! of one that does not fit itself its words, and of a word its characters.

use std::ops::Range;

use super::measure::Measure;
use crate::engine::search::markdown::{Block, Kind};
use crate::engine::search::tokens;

/// Words before a full stop that ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "e.g", "i.e", "cf", "al", "no", "nos", "fig",
    "figs", "eq", "eqs", "sec", "ch", "vol", "pp", "p", "ed", "eds", "inc", "ltd", "co", "corp", "dept", "approx",
    "z.b", "d.h", "bzw", "ca", "usw", "nr", "abb", "vgl", "u.s", "u.k", "a.m", "p.m", "ref", "refs", "resp",
];
/// Signs that end a sentence, and those that may stand behind them.
const ENDS: &[char] = &['.', '!', '?', '…', '。', '！', '？'];
const BEHIND: &[char] = &['"', '\'', ')', ']', '”', '’', '»', '」', '』'];

/// A piece that is not cut further.
pub(super) struct Unit {
    /// Bytes of the document's text.
    pub(super) range: Range<usize>,
    pub(super) tokens: usize,
}

/// The units of a block, of which none has more tokens than there is room. `text` is the block's.
pub(super) fn of(text: &str, block: &Block, room: usize, measure: &Measure) -> Vec<Unit> {
    let parts = match block.kind {
        Kind::Paragraph | Kind::Heading(_) => sentences(text),
        Kind::Code | Kind::Table | Kind::List => lines(text),
    };
    let mut units = Vec::new();
    for part in parts {
        let of_part = text.get(part.clone()).unwrap_or_default();
        let tokens = measure.count(of_part);
        let range = block.range.start + part.start..block.range.start + part.end;
        match tokens <= room {
            true => units.push(Unit { range, tokens }),
            false => words(of_part, range.start, room, measure, &mut units),
        }
    }
    units
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let ranges = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        range
    });
    ranges.collect()
}

/// The sentences of a text, each with the white space behind it.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if !ENDS.contains(&c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((_, behind)) = rest.next_if(|(_, next)| ENDS.contains(next) || BEHIND.contains(next)) {
            end += behind.len_utf8();
        }
        let after = text.get(end..).unwrap_or_default();
        let space = after.len() - after.trim_start().len();
        let is_wide = matches!(c, '。' | '！' | '？');
        let next = after.trim_start().chars().next();
        let ends = is_wide || (space > 0 && next.is_none_or(|next| !next.is_lowercase()));
        if ends && !(c == '.' && is_abbreviation(text.get(start..at).unwrap_or_default())) {
            ranges.push(start..end + space);
            start = end + space;
        }
    }
    if start < text.len() {
        ranges.push(start..text.len());
    }
    ranges
}

/// Whether the full stop behind a text belongs to its last word.
fn is_abbreviation(before: &str) -> bool {
    let word =
        before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“')).next().unwrap_or_default();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    is_initial || (word.len() < 8 && ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

/// The words of a text that begins at `start`, each with the white space behind it.
fn words(text: &str, start: usize, room: usize, measure: &Measure, units: &mut Vec<Unit>) {
    let mut rest = text;
    let mut start = start;
    while !rest.is_empty() {
        let lead = rest.len() - rest.trim_start().len();
        let word = rest.get(lead..).unwrap_or_default().find(char::is_whitespace).map_or(rest.len(), |at| lead + at);
        let (word, after) = rest.split_at(word);
        let tokens = measure.count(word);
        match tokens <= room {
            true => units.push(Unit { range: start..start + word.len(), tokens }),
            false => characters(word, start, room, measure, units),
        }
        start += word.len();
        rest = after;
    }
}

/// A word of a script without spaces, or none: as many characters together as certainly fit.
fn characters(word: &str, start: usize, room: usize, measure: &Measure, units: &mut Vec<Unit>) {
    let most = (room / 4).max(8);
    let mut rest = word;
    let mut start = start;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(most).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        // Unknown letters count as one piece together, and would in each part of the word.
        let tokens = measure.count(piece).max(piece.chars().count().div_ceil(tokens::DENSE));
        units.push(Unit { range: start..start + piece.len(), tokens });
        start += piece.len();
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        let cut =
            |text: &'static str| -> Vec<&str> { sentences(text).into_iter().map(|range| text[range].trim()).collect() };
        assert_eq!(cut("One. Two! \"Three?\" Four"), ["One.", "Two!", "\"Three?\"", "Four"]);
        assert_eq!(
            cut("Dr. A. Smith paid 3.5 e.g. in cash, cf. Fig. 2. He left."),
            ["Dr. A. Smith paid 3.5 e.g. in cash, cf. Fig. 2.", "He left."]
        );
        assert_eq!(cut("これは文です。次の文。"), ["これは文です。", "次の文。"]);
        assert_eq!(cut("example.org is a name... of a site."), ["example.org is a name... of a site."]);
    }
}
