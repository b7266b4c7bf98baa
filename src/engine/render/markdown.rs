//! Data in markdown: a value may say anything, and none of it may become markup.

/// Characters of a value that are shown.
const LONGEST: usize = 200;

/// A text of the data as one line of markdown that shows just that text: no emphasis, no table cell of its own, no
/// HTML, no link and no image, also where a renderer makes links of bare addresses. Cut at 200 characters.
pub fn escaped(text: &str) -> String {
    let line = one_line(text);
    if looks_like_address(&line) {
        return format!("`{}`", line.replace('`', "'").replace('|', "\\|"));
    }
    let mut out = String::with_capacity(line.len());
    for (at, c) in line.chars().enumerate() {
        let leads =
            at == 0 && matches!(c, '#' | '+' | '-' | '=') && line.chars().nth(1).is_none_or(|c| !c.is_ascii_digit());
        if leads || matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Without control and direction characters, white space as single spaces, not longer than is shown.
pub fn one_line(text: &str) -> String {
    let visible = |c: &char| !is_invisible(*c);
    let spaced: String =
        text.chars().map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c }).filter(visible).collect();
    let line = spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    format!("{}…", cut.trim_end())
}

/// Marks and overrides of direction, and characters of no width that hide text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// Whether a renderer could make a link of it: a scheme, a mail address, or letters around a dot.
fn looks_like_address(line: &str) -> bool {
    let lower = line.to_lowercase();
    let scheme = ["://", "www.", "mailto:", "javascript:", "data:"].iter().any(|sign| lower.contains(sign));
    let chars: Vec<char> = lower.chars().collect();
    let mail = chars
        .array_windows()
        .any(|[before, at, after]| *at == '@' && !before.is_whitespace() && !after.is_whitespace());
    let host = chars.array_windows().any(|[before, dot, first, second]| {
        *dot == '.' && before.is_alphanumeric() && first.is_alphabetic() && second.is_alphabetic()
    });
    scheme || mail || host
}

/// A table of cells that are markdown already.
pub fn table(headings: &[String], right: &[bool], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> = right.iter().map(|right| if *right { "---:" } else { "---" }.to_owned()).collect();
    let mut out = line(headings);
    out.push_str(&line(&rule));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out
}
