//! Narratives as pages show them. Of markdown only what our narratives are made of is read: lines, emphasis, code,
//! tables, escapes. The parts are plain texts, which the templates escape: nothing in a narrative becomes markup.

/// A part of a narrative.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    Lines(Vec<Line>),
    Table { head: Vec<Cell>, rows: Vec<Vec<Cell>> },
}

/// A line of a paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// It says what to be careful with.
    pub warns: bool,
    pub spans: Vec<Span>,
}

/// A cell of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// It stands to the right, as numbers do.
    pub right: bool,
    pub spans: Vec<Span>,
}

/// A text of one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub text: String,
    pub style: Style,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    #[default]
    Plain,
    Bold,
    Italic,
    Code,
}

impl Span {
    /// The element that has its style.
    pub(super) fn tag(&self) -> &'static str {
        match self.style {
            Style::Plain => "span",
            Style::Bold => "strong",
            Style::Italic => "em",
            Style::Code => "code",
        }
    }
}

/// Reads a narrative.
pub(super) fn read(text: &str) -> Vec<Block> {
    text.split("\n\n").filter(|part| !part.trim().is_empty()).map(block).collect()
}

/// A sentence in which names stand between backticks.
pub(super) fn ticked(text: &str) -> Vec<Span> {
    let parts = text.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    let style = |at: usize| if at % 2 == 1 { Style::Code } else { Style::Plain };
    parts.map(|(at, part)| Span { text: part.to_owned(), style: style(at) }).collect()
}

fn block(text: &str) -> Block {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if let [head, rule, rows @ ..] = lines.as_slice()
        && let Some(right) = alignment(rule)
        && head.starts_with('|')
    {
        let cells = |line: &str| {
            let cells = cells(line).into_iter().enumerate();
            cells
                .map(|(at, text)| Cell { right: right.get(at).copied().unwrap_or(false), spans: spans(&text) })
                .collect()
        };
        return Block::Table { head: cells(head), rows: rows.iter().map(|row| cells(row)).collect() };
    }
    let line = |text: &&str| Line { warns: text.starts_with('⚠'), spans: spans(text) };
    Block::Lines(lines.iter().map(line).collect())
}

/// Which columns stand to the right, when the line is the rule under a table's head.
fn alignment(line: &str) -> Option<Vec<bool>> {
    let cells = cells(line);
    let is_rule = |cell: &String| cell.contains("---") && cell.chars().all(|c| matches!(c, '-' | ':'));
    (!cells.is_empty() && cells.iter().all(is_rule)).then(|| cells.iter().map(|cell| cell.ends_with(':')).collect())
}

/// The texts between the bars of a row; an escaped bar is none.
fn cells(line: &str) -> Vec<String> {
    let Some(inner) = line.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')) else { return Vec::new() };
    let mut cells = vec![String::new()];
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, cells.last_mut()) {
            ('|', _) => cells.push(String::new()),
            ('\\', Some(cell)) => {
                cell.push(c);
                cell.extend(chars.next());
            }
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The texts of a line with their styles. A mark without its partner is a character like any other.
fn spans(line: &str) -> Vec<Span> {
    let chars: Vec<char> = line.chars().collect();
    let mut spans: Vec<Span> = Vec::new();
    let mut style = Style::Plain;
    let mut at = 0;
    let push = |spans: &mut Vec<Span>, style: Style, c: char| match spans.last_mut() {
        Some(last) if last.style == style => last.text.push(c),
        _ => spans.push(Span { text: c.into(), style }),
    };
    while let Some(&c) = chars.get(at) {
        let rest = chars.get(at + 1..).unwrap_or_default();
        match c {
            '\\' if rest.first().is_some_and(char::is_ascii_punctuation) => {
                push(&mut spans, style, rest.first().copied().unwrap_or(c));
                at += 2;
            }
            '`' if rest.contains(&'`') => {
                let code: String = rest.iter().take_while(|c| **c != '`').collect();
                at += code.chars().count() + 2;
                code.replace("\\|", "|").chars().for_each(|c| push(&mut spans, Style::Code, c));
            }
            '*' if rest.first() == Some(&'*') && style == Style::Bold => {
                style = Style::Plain;
                at += 2;
            }
            '*' if rest.first() == Some(&'*') && style == Style::Plain && closes(rest.get(1..), "**") => {
                style = Style::Bold;
                at += 2;
            }
            '_' if style == Style::Italic && !rest.first().is_some_and(|c| c.is_alphanumeric()) => {
                style = Style::Plain;
                at += 1;
            }
            '_' if style == Style::Plain && opens(&chars, at) && closes(Some(rest), "_") => {
                style = Style::Italic;
                at += 1;
            }
            c => {
                push(&mut spans, style, c);
                at += 1;
            }
        }
    }
    spans
}

/// Whether an underscore begins a word: within one it belongs to a name.
fn opens(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| chars.get(at));
    !before.is_some_and(|c| c.is_alphanumeric()) && chars.get(at + 1).is_some_and(|c| !c.is_whitespace())
}

/// Whether what was opened is closed on the same line by a mark that is not escaped, and within no word.
fn closes(rest: Option<&[char]>, mark: &str) -> bool {
    let rest: String = rest.unwrap_or_default().iter().collect();
    rest.match_indices(mark).any(|(at, _)| {
        let escaped = rest.get(..at).unwrap_or_default().ends_with('\\');
        let after = rest.get(at + mark.len()..).and_then(|after| after.chars().next());
        at > 0 && !escaped && (mark == "**" || !after.is_some_and(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styles(line: &str) -> Vec<(String, Style)> {
        spans(line).into_iter().map(|span| (span.text, span.style)).collect()
    }

    #[test]
    fn emphasis_and_escapes_are_read() {
        let read = styles("**No rows.** _Read as: a \\_b\\_._ 2 \\* 3 `x.com`");
        let expected = [
            ("No rows.", Style::Bold),
            (" ", Style::Plain),
            ("Read as: a _b_.", Style::Italic),
            (" 2 * 3 ", Style::Plain),
            ("x.com", Style::Code),
        ];
        assert_eq!(read, expected.map(|(text, style)| (text.to_owned(), style)));
    }

    #[test]
    fn marks_without_a_partner_are_characters() {
        for line in ["2 ** 3", "claim_identifier and claim_amount", "a ` b", "_", "**", "\\", "_ a_", "a_b_"] {
            assert_eq!(styles(line), [(line.to_owned(), Style::Plain)], "{line}");
        }
    }

    #[test]
    fn html_links_and_pictures_stay_text() {
        let line = "<script>alert(1)</script> [a](javascript:1) ![b](http://x) <b onclick=1>";
        assert_eq!(styles(line), [(line.to_owned(), Style::Plain)]);
    }

    #[test]
    fn tables_keep_escaped_bars_and_sides() {
        let text = "**Two.**\n\n| name | claims |\n| --- | ---: |\n| a\\|b | 1 |\n| `c\\|d` | _no value_ |";
        let blocks = read(text);
        let [Block::Lines(_), Block::Table { head, rows }] = blocks.as_slice() else { panic!("{blocks:?}") };
        let texts = |row: &[Cell]| row.iter().map(|cell| cell.spans[0].text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(head), ["name", "claims"]);
        assert_eq!(
            (texts(&rows[0]), texts(&rows[1])),
            (vec!["a|b".into(), "1".into()], vec!["c|d".into(), "no value".into()])
        );
        assert_eq!((rows[0][0].right, rows[0][1].right), (false, true));
        assert_eq!((rows[1][0].spans[0].style, rows[1][1].spans[0].style), (Style::Code, Style::Italic));
    }

    #[test]
    fn names_between_backticks_are_code() {
        let read = ticked("No `a_b` in `c`.");
        let texts: Vec<_> = read.iter().map(|span| (span.text.as_str(), span.style)).collect();
        let [plain, code] = [Style::Plain, Style::Code];
        assert_eq!(texts, [("No ", plain), ("a_b", code), (" in ", plain), ("c", code), (".", plain)]);
    }

    #[test]
    fn lines_that_warn_are_known() {
        let blocks = read("_Read as: x._  \nAssumed: y  \n⚠️ Not verified.");
        let [Block::Lines(lines)] = blocks.as_slice() else { panic!("{blocks:?}") };
        assert_eq!(lines.iter().map(|line| line.warns).collect::<Vec<_>>(), [false, false, true]);
    }
}
