//! The structure of a text: its blocks, where each is, and the headings above it. Of Markdown (CommonMark 0.31) what
//! matters for cutting counts: ATX headings (§4.2) and one-line setext headings (§4.3), fenced code (§4.5), list items
//! (§5.2), and tables with a delimiter row (GitHub Flavored Markdown §4.10). A form feed begins a page.

use std::ops::Range;

use crate::engine::extract::PAGE_BREAK;
use crate::model::document::Markup;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Heading(usize),
    Paragraph,
    List,
    Code,
    /// Its first two lines are its head.
    Table,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Bytes of the text, whole lines without the last one's end.
    pub(super) range: Range<usize>,
    /// From 1; counts form feeds.
    pub(super) page: u32,
}

/// A line with its place.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
    page: u32,
}

impl Line<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// From where on a text was not read yet.
#[derive(Clone, Copy)]
pub(super) struct Place {
    at: usize,
    /// Behind the line that it is in, where that is known.
    end: usize,
    page: u32,
}

impl Default for Place {
    fn default() -> Self {
        Self { at: 0, end: 0, page: 1 }
    }
}

impl Place {
    /// The next block of a text; what is between two is white space. A text may have tens of millions of lines: none is
    /// kept but where it goes on.
    pub(super) fn block(&mut self, text: &str, markup: Markup) -> Option<Block> {
        let mut rest = Lines { text, place: *self };
        let (lines, first) = loop {
            let lines = rest;
            let first = rest.next()?;
            if !first.is_blank() {
                break (lines, first);
            }
        };
        let (kind, count) = match markup {
            Markup::Plain => (Kind::Paragraph, paragraph(lines, |_| false)),
            Markup::Markdown => block(lines),
        };
        let end = rest.by_ref().take(count.saturating_sub(1)).last().unwrap_or(first).end();
        *self = rest.place;
        Some(Block { kind, range: first.start..end, page: first.page })
    }
}

/// The lines of a text from a place on.
#[derive(Clone, Copy)]
struct Lines<'t> {
    text: &'t str,
    place: Place,
}

impl<'t> Lines<'t> {
    fn split_first(mut self) -> Option<(Line<'t>, Self)> {
        let first = self.next()?;
        Some((first, self))
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let Place { at: start, page, .. } = self.place;
        if start >= self.place.end {
            let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
            self.place.end = start + rest.find('\n').map_or(rest.len(), |at| at + 1);
        }
        let line = self.text.get(start..self.place.end)?.trim_end_matches('\n');
        let Some((text, _)) = line.split_once(PAGE_BREAK) else {
            self.place.at = self.place.end;
            return Some(Line { text: line, start, page });
        };
        // Each page begins a line of its own; the text between two breaks of one line is one too.
        self.place.at += text.len();
        if !text.trim().is_empty() {
            return Some(Line { text, start, page });
        }
        let start = self.place.at;
        self.place.at += PAGE_BREAK.len_utf8();
        self.place.page += 1;
        Some(Line { text: "", start, page })
    }
}

fn blocks(text: &str, markup: Markup) -> impl Iterator<Item = Block> {
    let mut place = Place::default();
    std::iter::from_fn(move || place.block(text, markup))
}

/// A place in a text that its readers may want to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A page begins, of this number.
    Page(u32),
    /// A heading, its level from 1 and what it says.
    Heading(usize, String),
}

/// The headings of a text and the begins of its pages, with the bytes that they take. `page` is what the text begins in,
/// where it has pages; it is the first mark then.
pub fn marks(text: &str, markup: Markup, page: Option<u32>) -> Vec<(Range<usize>, Mark)> {
    let mut marks: Vec<(Range<usize>, Mark)> = page.iter().map(|page| (0..0, Mark::Page(*page))).collect();
    let breaks = text.match_indices(PAGE_BREAK).zip(page.into_iter().flat_map(|page| page + 1..));
    marks.extend(breaks.map(|((at, found), page)| (at..at + found.len(), Mark::Page(page))));
    let headings = blocks(text, markup).filter_map(|block| match block.kind {
        Kind::Heading(level) => Some((block.range.clone(), Mark::Heading(level, title(text.get(block.range)?)))),
        _ => None,
    });
    marks.extend(headings);
    marks.sort_by_key(|(range, _)| range.start);
    marks
}

/// Whether a text has pages, and the number of the one that begins or goes on behind it.
pub fn has_pages(text: &str) -> bool {
    text.contains(PAGE_BREAK)
}

/// See [`has_pages`].
pub fn page_after(text: &str) -> u32 {
    u32::try_from(text.matches(PAGE_BREAK).count()).unwrap_or(u32::MAX - 1) + 1
}

/// The first heading's title.
pub fn first_heading(text: &str) -> Option<String> {
    let heading = blocks(text, Markup::Markdown).find(|block| matches!(block.kind, Kind::Heading(_)))?;
    text.get(heading.range).map(title)
}

/// What a heading says, without its marks.
pub(super) fn title(heading: &str) -> String {
    let line = heading.lines().next().unwrap_or_default().trim();
    let line = line.trim_start_matches('#').trim();
    let line = if heading.trim_start().starts_with('#') { line.trim_end_matches('#').trim() } else { line };
    line.replace(['*', '`'], "")
}

/// What begins with the first of the lines, and how many of them it takes.
fn block(lines: Lines<'_>) -> (Kind, usize) {
    if let Some((level, count)) = heading(lines, true) {
        return (Kind::Heading(level), count);
    }
    let Some((first, after)) = lines.split_first() else { return (Kind::Paragraph, 1) };
    if let Some(fence) = opens_fence(first.text) {
        let inner = after.take_while(|line| line.page == first.page);
        let inside = inner.clone().position(|line| closes_fence(line.text, fence)).map(|at| at + 1);
        return (Kind::Code, 1 + inside.unwrap_or_else(|| inner.count()));
    }
    if is_table(lines) {
        let rows = lines.take_while(|line| line.page == first.page && line.text.trim_start().starts_with('|'));
        return (Kind::Table, rows.count());
    }
    if is_item(first.text) {
        return (Kind::List, paragraph(lines, |line| !is_item(line.text)));
    }
    (Kind::Paragraph, paragraph(lines, |line| is_item(line.text)))
}

/// How many lines belong together until an empty one, another block, or a line that `ends` them and stands flush left.
fn paragraph(lines: Lines<'_>, ends: impl Fn(&Line<'_>) -> bool) -> usize {
    let page = lines.place.page;
    let mut count = 0;
    let mut rest = lines;
    while let Some((line, after)) = rest.split_first() {
        let is_other = count > 0
            && (line.page != page
                || (!line.text.starts_with([' ', '\t']) && ends(&line))
                || heading(rest, false).is_some()
                || opens_fence(line.text).is_some()
                || is_table(rest));
        if line.is_blank() || is_other {
            break;
        }
        count += 1;
        rest = after;
    }
    count
}

/// The heading that starts at the first line: its level, and how many lines it takes. One that is underlined stands alone.
fn heading(lines: Lines<'_>, is_alone: bool) -> Option<(usize, usize)> {
    let (first, after) = lines.split_first()?;
    let line = flush_left(first.text)?;
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) {
        let rest = line.get(level..)?;
        let title = rest.trim().trim_end_matches('#').trim();
        return (rest.starts_with([' ', '\t']) && !title.is_empty()).then_some((level, 1));
    }
    // A list item, a quote or a table row over a line of dashes is not a heading.
    let is_prose = line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '"' | '(' | '['));
    let (second, _) = after.split_first()?;
    let under = flush_left(second.text)?.trim_end();
    let level = match under.as_bytes().first()? {
        b'=' if under.bytes().all(|byte| byte == b'=') => 1,
        b'-' if under.len() > 1 && under.bytes().all(|byte| byte == b'-') => 2,
        _ => return None,
    };
    (is_prose && is_alone).then_some((level, 2))
}

/// The line without up to three leading spaces; four make it code.
fn flush_left(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4).then_some(text)
}

/// The sign and length of the fence that a line is.
fn opens_fence(line: &str) -> Option<(char, usize)> {
    let text = flush_left(line)?;
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let is_inline = mark == '`' && text.get(length..).is_some_and(|rest| rest.contains('`'));
    (length >= 3 && !is_inline).then_some((mark, length))
}

fn closes_fence(line: &str, (mark, at_least): (char, usize)) -> bool {
    let Some(text) = flush_left(line) else { return false };
    let length = text.chars().take_while(|c| *c == mark).count();
    length >= at_least && text.chars().skip(length).all(char::is_whitespace)
}

/// Whether a row stands over a row of dashes.
fn is_table(mut lines: Lines<'_>) -> bool {
    let mut row = || lines.next().map(|line| line.text.trim()).filter(|text| text.starts_with('|'));
    let is_rule = |text: &str| text.contains('-') && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    row().is_some() && row().is_some_and(is_rule)
}

fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    let rest = text.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        (1..=9).contains(&digits).then(|| text.get(digits..)?.strip_prefix(['.', ')']))?
    });
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_pages_are_marked_where_they_are() {
        let text = "# One\ntext\u{c}\n## Two ##\n";
        let expected = [(0..0, Mark::Page(4)), (0..5, Mark::Heading(1, "One".into()))]
            .into_iter()
            .chain([(10..11, Mark::Page(5)), (12..21, Mark::Heading(2, "Two".into()))]);
        assert_eq!(marks(text, Markup::Markdown, Some(4)), expected.collect::<Vec<_>>());
        assert_eq!(marks(text, Markup::Plain, None), [], "neither headings nor pages");
        assert_eq!((page_after(text), page_after("")), (2, 1));
    }

    fn outline(text: &str) -> Vec<(Kind, &str, u32)> {
        blocks(text, Markup::Markdown).map(|block| (block.kind, &text[block.range], block.page)).collect()
    }

    fn headings(text: &str) -> Vec<(usize, String)> {
        let of = |(kind, text, _)| if let Kind::Heading(level) = kind { Some((level, title(text))) } else { None };
        outline(text).into_iter().filter_map(of).collect()
    }

    #[test]
    fn blocks_are_told_apart_and_pages_counted() {
        let text = "# A\none\ntwo\n- x\n  more\n- y\n\n| k |\n|---|\n| 1 |\n\u{c}\n```\n# no\n\n```\nend\u{c}last\n";
        let expected = [
            (Kind::Heading(1), "# A", 1),
            (Kind::Paragraph, "one\ntwo", 1),
            (Kind::List, "- x\n  more\n- y", 1),
            (Kind::Table, "| k |\n|---|\n| 1 |", 1),
            (Kind::Code, "```\n# no\n\n```", 2),
            (Kind::Paragraph, "end", 2),
            (Kind::Paragraph, "last", 3),
        ];
        assert_eq!(outline(text), expected);
    }

    #[test]
    fn headings_lose_their_marks() {
        let text = "intro\n# A\none\n### Deep ###\ntwo\n\nPart `x`\n---\n# `C`\n";
        let expected = [(1, "A"), (3, "Deep"), (2, "Part x"), (1, "C")];
        assert_eq!(headings(text), expected.map(|(level, title)| (level, title.to_owned())));
        assert_eq!(first_heading("Title\n=====\nx").as_deref(), Some("Title"));
    }

    #[test]
    fn tables_lists_front_matter_code_and_hashes_are_no_headings() {
        for text in [
            "- item\n---\n",
            "| a |\n---\n",
            "---\ntitle: x\n---\n",
            "two lines\nof prose\n---\n",
            "```sh\n# comment\n```\n",
            "~~~~\n~~~\n# x\n~~~~\n",
            "    # code\n",
            "#hashtag\n",
            "####### x\n",
            "#\n",
        ] {
            assert_eq!(first_heading(text), None, "{text:?}");
        }
        assert_eq!(first_heading("```\ncode\n```\n# After\n").as_deref(), Some("After"));
    }

    #[test]
    fn a_plain_text_is_paragraphs() {
        let text = "# one\n- two\n\n\nthree\n\u{c}four";
        let found: Vec<_> = blocks(text, Markup::Plain).map(|block| (&text[block.range], block.page)).collect();
        assert_eq!(found, [("# one\n- two", 1), ("three", 1), ("four", 2)]);
    }
}
