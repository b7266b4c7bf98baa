//! The lines of a page into paragraphs, items and tables.

use super::glyphs::Glyphs;
use super::lines::{self, Line, Span, middle};
use crate::engine::extract::write;

/// Rows that make a table, and how many times the letters' size lies between two lines of a paragraph at most.
const ROWS: usize = 3;
const PITCH: f64 = 1.75;

/// A piece of a page.
#[derive(Debug)]
pub(super) enum Block {
    Paragraph(Paragraph),
    Table(Vec<Vec<String>>),
}

#[derive(Clone, Debug)]
pub(super) struct Paragraph {
    pub(super) text: String,
    pub(super) size: f64,
    pub(super) is_bold: bool,
    /// An item of a list, whose mark is gone.
    pub(super) is_item: bool,
    /// Whether it is the first or last of the page and stands near its edge.
    pub(super) is_at_edge: bool,
    pub(super) lines: usize,
}

/// What is on a page, in the order of reading; turned text comes last.
pub(super) fn blocks(glyphs: Glyphs) -> Vec<Block> {
    let mut blocks = Vec::new();
    let edge = glyphs.height * 0.09;
    for (turn, glyphs_of) in glyphs.turned.iter().enumerate() {
        for column in lines::ordered(glyphs_of) {
            let is_at_edge = |line: &Line| turn == 0 && (line.y < edge || line.y > glyphs.height - edge);
            of_column(&column, is_at_edge, &mut blocks);
        }
    }
    blocks
}

fn of_column(lines: &[Line], is_at_edge: impl Fn(&Line) -> bool, blocks: &mut Vec<Block>) {
    let right = lines.iter().map(Line::x1).fold(f64::MIN, f64::max);
    let pitches = lines.windows(2).filter_map(|pair| match pair {
        [above, below] if (above.size - below.size).abs() < 0.1 * above.size => Some((below.y - above.y) / below.size),
        _ => None,
    });
    let pitch = middle(pitches.filter(|pitch| (0.8..PITCH * 1.3).contains(pitch)).collect());
    let pitch = if pitch > 0.0 { (pitch * 1.22).min(PITCH * 1.2) } else { PITCH };
    let mut rest = lines;
    while let Some((first, after)) = rest.split_first() {
        if let Some((rows, count)) = table(rest) {
            blocks.push(Block::Table(rows));
            rest = rest.get(count..).unwrap_or_default();
            continue;
        }
        let (text, is_item) = unmarked(first.text());
        let mut paragraph = Paragraph {
            text,
            size: first.size,
            is_bold: first.is_bold(),
            is_item,
            is_at_edge: is_at_edge(first),
            lines: 1,
        };
        rest = after;
        let mut above = first;
        while let Some((next, after)) = rest.split_first() {
            if is_at_edge(above) != is_at_edge(next) || !goes_on(above, next, right, pitch) || table(rest).is_some() {
                break;
            }
            join(&mut paragraph.text, &next.text());
            paragraph.lines += 1;
            (above, rest) = (next, after);
        }
        blocks.push(Block::Paragraph(paragraph));
    }
}

/// Whether a line belongs to the paragraph of the line above.
fn goes_on(above: &Line, next: &Line, right: f64, pitch: f64) -> bool {
    let size = above.size.max(next.size);
    let is_same_kind = (above.size - next.size).abs() < 0.12 * size && above.is_bold() == next.is_bold();
    let distance = next.y - above.y;
    if !is_same_kind || distance > pitch * size || distance < 0.0 || unmarked(next.text()).1 {
        return false;
    }
    let is_indented = next.x0() - above.x0() > 0.9 * size;
    let is_short = right - above.x1() > 6.0 * size;
    let text = above.text();
    let ends = text.trim_end().ends_with(['.', '!', '?', ':', ';', '。']);
    // The first line of the next paragraph stands in, or the last of this one is short.
    let is_last = is_short && text.chars().count() < 12;
    !(ends && (is_indented || is_short) || is_last)
}

/// The text of an item without its mark, and whether there was one.
fn unmarked(text: String) -> (String, bool) {
    match write::unmarked(&text) {
        Some(item) => (item.to_owned(), true),
        None => (text, false),
    }
}

/// Adds a line; a word that was cut at the line's end is whole again.
fn join(text: &mut String, line: &str) {
    let starts_low = line.chars().next().is_some_and(char::is_lowercase);
    let mut ending = text.chars().rev();
    let is_cut =
        matches!(ending.next(), Some('-' | '\u{2010}' | '\u{ad}')) && ending.next().is_some_and(char::is_lowercase);
    if is_cut && starts_low {
        text.pop();
    } else if !is_wide(text.chars().last()) || !is_wide(line.chars().next()) {
        text.push(' ');
    }
    text.push_str(line.trim());
}

/// Scripts that put no spaces between words.
fn is_wide(c: Option<char>) -> bool {
    c.is_some_and(|c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}'))
}

/// The rows of a table that begins with the first of the lines, and how many lines it takes: lines of several pieces each,
/// which stand below each other.
fn table(lines: &[Line]) -> Option<(Vec<Vec<String>>, usize)> {
    let first = lines.first().filter(|line| line.cells.len() > 1)?;
    let mut count = 0;
    let mut above = first;
    let mut columns: Vec<(f64, f64)> = Vec::new();
    for line in lines {
        let is_near = line.y - above.y < 3.2 * line.size.max(above.size);
        if line.cells.len() < 2 || !is_near {
            break;
        }
        let merged = merged(&columns, &line.cells);
        // Two columns that flow into one are none.
        if count > 0 && merged.len() < columns.len().min(line.cells.len()) {
            break;
        }
        (columns, above) = (merged, line);
        count += 1;
    }
    if count < ROWS || columns.len() < 2 {
        return None;
    }
    let rows = lines.iter().take(count).map(|line| {
        let mut row = vec![String::new(); columns.len()];
        for cell in &line.cells {
            let at = columns.iter().position(|(x0, x1)| cell.x0 < *x1 && cell.x1 > *x0).unwrap_or_default();
            if let Some(text) = row.get_mut(at) {
                join(text, &cell.text);
                *text = text.trim().to_owned();
            }
        }
        row
    });
    Some((rows.collect(), count))
}

/// The stripes that pieces of lines take, with one more line's.
fn merged(columns: &[(f64, f64)], cells: &[Span]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = columns.iter().copied().chain(cells.iter().map(|cell| (cell.x0, cell.x1))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (x0, x1) in all {
        match merged.last_mut() {
            Some(last) if x0 < last.1 => last.1 = last.1.max(x1),
            _ => merged.push((x0, x1)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cut_at_the_end_of_a_line_are_whole_again() {
        let joined = |above: &str, below: &str| {
            let mut text = above.to_owned();
            join(&mut text, below);
            text
        };
        assert_eq!(joined("an exam-", "ple of it"), "an example of it");
        assert_eq!(joined("the Anglo-", "Saxon"), "the Anglo- Saxon");
        assert_eq!(joined("one", "two"), "one two");
        assert_eq!(joined("日本", "語"), "日本語");
    }
}
