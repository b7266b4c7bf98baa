//! What readers write: one text of Markdown for a document, whatever it was. Headings, paragraphs, lists, code and tables
//! stay what they are, and a form feed (U+000C) parts pages, slides or parts, and ends the last page and slide, so that
//! whoever cuts the text later needs the text alone to know where a piece stands.

use super::budget::Budget;
use crate::model::error::Result;

/// Stands between pages, slides and parts.
pub const PAGE_BREAK: char = '\u{c}';

/// How deep lists are shown.
const DEPTH: usize = 6;

/// What was written last, which decides about the empty line before the next.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Nothing,
    Item,
    Other,
}

/// The text of one document, as it grows.
pub(super) struct Text<'b> {
    budget: &'b Budget,
    out: String,
    last: Last,
    heading: Option<String>,
}

impl<'b> Text<'b> {
    pub(super) fn new(budget: &'b Budget) -> Self {
        Self { budget, out: String::new(), last: Last::Nothing, heading: None }
    }

    /// A page, slide or part ends, and the next one begins, where there is one.
    pub(super) fn page(&mut self) -> Result<()> {
        self.end_line();
        self.last = Last::Nothing;
        self.put("\u{c}\n")
    }

    pub(super) fn heading(&mut self, level: usize, text: &str) -> Result<()> {
        let text = one_line(text);
        if text.is_empty() {
            return Ok(());
        }
        self.heading.get_or_insert_with(|| text.clone());
        let marks = "#".repeat(level.clamp(1, 6));
        self.block(&format!("{marks} {text}"))
    }

    /// A paragraph; its lines stay. One that begins with the mark of an item is one.
    pub(super) fn paragraph(&mut self, text: &str) -> Result<()> {
        if let Some(item) = unmarked(text) {
            return self.item(0, "-", item);
        }
        let lines = lines(text);
        if lines.is_empty() { Ok(()) } else { self.block(&lines.join("\n")) }
    }

    /// An item of a list, `depth` lists deep from 0.
    pub(super) fn item(&mut self, depth: usize, mark: &str, text: &str) -> Result<()> {
        let lines = lines(text);
        if lines.is_empty() {
            return Ok(());
        }
        let indent = "  ".repeat(depth.min(DEPTH));
        let hang = format!("\n{indent}{}", " ".repeat(mark.len() + 1));
        if self.last == Last::Item {
            self.put("\n")?;
        } else {
            self.gap()?;
        }
        self.put(&format!("{indent}{mark} "))?;
        // One by one: many lines behind a long mark are far more than was read.
        for (at, line) in lines.iter().enumerate() {
            self.put(if at == 0 { "" } else { &hang })?;
            self.put(line)?;
        }
        self.last = Last::Item;
        Ok(())
    }

    /// Lines that stay as they are.
    pub(super) fn code(&mut self, text: &str) -> Result<()> {
        let text = readable(text, true);
        let text = text.trim_matches('\n');
        if text.trim().is_empty() {
            return Ok(());
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
        let fence = "`".repeat((longest + 1).max(3));
        self.block(&format!("{fence}\n{text}\n{fence}"))
    }

    /// A table, whose first row names the columns. One of a single cell is a paragraph.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) -> Result<()> {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
        let is_filled = |row: &&Vec<String>| row.iter().any(|cell| !cell.is_empty());
        let rows: Vec<&Vec<String>> = rows.iter().filter(is_filled).collect();
        let filled = |row: &&Vec<String>| row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let width = rows.iter().map(filled).max().unwrap_or_default();
        if width < 2 {
            return rows.iter().filter_map(|row| row.first()).try_for_each(|cell| self.paragraph(cell));
        }
        self.gap()?;
        for (index, row) in rows.iter().enumerate() {
            let cells = (0..width).map(|at| row.get(at).map_or("", String::as_str).replace('|', "\\|"));
            let line = format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
            self.put(&line)?;
            if index == 0 {
                self.put(&format!("|{}\n", " --- |".repeat(width)))?;
            }
        }
        self.out.pop();
        self.last = Last::Other;
        Ok(())
    }

    /// The first heading that was written.
    pub(super) fn first_heading(&self) -> Option<&str> {
        self.heading.as_deref()
    }

    /// Whether nothing but breaks was written.
    pub(super) fn is_blank(&self) -> bool {
        self.out.chars().all(char::is_whitespace)
    }

    pub(super) fn finish(mut self) -> String {
        self.end_line();
        self.out
    }

    fn block(&mut self, text: &str) -> Result<()> {
        self.gap()?;
        self.put(text)?;
        self.last = Last::Other;
        Ok(())
    }

    /// The empty line between what stands and what comes.
    fn gap(&mut self) -> Result<()> {
        if self.last == Last::Nothing { Ok(()) } else { self.put("\n\n") }
    }

    fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn put(&mut self, text: &str) -> Result<()> {
        self.budget.text(text.len())?;
        self.out.push_str(text);
        Ok(())
    }
}

/// The lines of a paragraph without outer space, each escaped where it would otherwise read as something else.
fn lines(text: &str) -> Vec<String> {
    let text = readable(text, false);
    let lines = text.lines().map(squeezed).filter(|line| !line.is_empty());
    lines.map(|line| if is_mark(&line) { format!("\\{line}") } else { line }).collect()
}

/// What stands behind the mark of an item.
pub(super) fn unmarked(text: &str) -> Option<&str> {
    let marks = ['•', '◦', '▪', '‣', '●', '○', '■', '\u{f0b7}', '\u{f0a7}', '∙', '·', '➢', '✓'];
    let rest = text.trim_start().strip_prefix(marks)?;
    let item = rest.trim_start();
    (item.len() < rest.len() && !item.is_empty()).then_some(item)
}

/// Whether a line of prose would read as a heading, a fence, a rule below a heading, or a row of a table.
fn is_mark(line: &str) -> bool {
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&hashes) && line.get(hashes..).is_some_and(|rest| rest.starts_with(' '));
    let is_rule = line.bytes().all(|byte| byte == b'-') || line.bytes().all(|byte| byte == b'=');
    is_heading || is_rule || line.starts_with("```") || line.starts_with("~~~") || line.starts_with('|')
}

/// Without runs of white space.
pub(super) fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn one_line(text: &str) -> String {
    squeezed(&readable(text, false))
}

/// Without what is no text: control characters, soft hyphens, and signs without width that only lay out.
fn readable(text: &str, keeps_tabs: bool) -> String {
    let kept = text.chars().filter_map(|c| match c {
        '\n' => Some('\n'),
        '\t' if keeps_tabs => Some('\t'),
        '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{2060}' | '\u{fffe}' | '\u{ffff}' => None,
        c if c.is_control() => None,
        c => Some(c),
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_markdown_and_pages_are_apart() {
        let budget = Budget::new(0);
        let mut text = Text::new(&budget);
        text.heading(1, " The \n Title ").unwrap();
        text.paragraph("one\ttwo\n\n three ").unwrap();
        text.item(0, "-", "a").unwrap();
        text.item(1, "1.", "b\nc").unwrap();
        text.page().unwrap();
        text.code("\n  x = `1`\n").unwrap();
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        text.table(&[row(["k", "v", ""]), row(["", "", ""]), row(["a|b", "c\nd", ""])]).unwrap();
        assert_eq!(text.first_heading(), Some("The Title"));
        assert_eq!(
            text.finish(),
            "# The Title\n\none two\nthree\n\n- a\n  1. b\n     c\n\u{c}\n```\n  x = `1`\n```\n\n| k | v |\n| --- | --- |\n\
             | a\\|b | c d |\n"
        );
    }

    #[test]
    fn prose_that_looks_like_a_mark_is_escaped_and_controls_go() {
        let budget = Budget::new(0);
        let mut text = Text::new(&budget);
        text.paragraph("# no heading\n----\n```\n| x\n#hash \u{0}\u{7}in\u{ad}side\u{c}end").unwrap();
        assert_eq!(text.finish(), "\\# no heading\n\\----\n\\```\n\\| x\n#hash inside end\n");
    }

    #[test]
    fn a_text_beyond_all_bounds_is_refused() {
        let budget = Budget::new(0);
        let mut text = Text::new(&budget);
        let refused = (0..10_000).find_map(|_| text.paragraph(&"word ".repeat(2_000)).err());
        assert!(refused.unwrap().message.contains("more text"));
    }
}
