//! The outline of a Markdown text: its sections, each with the headings above it. ATX headings (`## x`) and one-line
//! setext headings (underlined with `===` or `---`) count (CommonMark 0.31 §4.2, §4.3); fenced code (§4.5) does not.

/// A run of text under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Titles of the headings above the text, outermost first.
    pub path: Vec<String>,
    /// The text below the last heading, up to the next; may be blank.
    pub body: String,
}

/// Cuts a text at its headings. Text before the first heading is a section with an empty path.
pub fn sections(text: &str) -> Vec<Section> {
    let lines: Vec<&str> = text.lines().collect();
    let mut done = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut body = String::new();
    let mut fence = None;
    let mut at = 0;
    while let Some(line) = lines.get(at).copied() {
        let heading = if fence.is_none() { heading_at(&lines, at) } else { None };
        if let Some((level, title, taken)) = heading {
            close(&mut done, &path, &mut body);
            path.retain(|(above, _)| *above < level);
            path.push((level, title));
            at += taken;
            continue;
        }
        fence = after_fence(fence, line);
        body.push_str(line);
        body.push('\n');
        at += 1;
    }
    close(&mut done, &path, &mut body);
    done
}

/// The first heading's title.
pub fn first_heading(text: &str) -> Option<String> {
    sections(text).into_iter().find_map(|section| section.path.into_iter().next())
}

fn close(done: &mut Vec<Section>, path: &[(usize, String)], body: &mut String) {
    let body = std::mem::take(body);
    if !path.is_empty() || !body.trim().is_empty() {
        done.push(Section { path: path.iter().map(|(_, title)| title.clone()).collect(), body });
    }
}

/// The heading that starts at a line: its level, title, and how many lines it takes.
fn heading_at(lines: &[&str], at: usize) -> Option<(usize, String, usize)> {
    let line = flush_left(lines.get(at)?)?;
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) {
        let rest = &line[level..];
        let title = rest.trim().trim_end_matches('#').trim();
        return (rest.starts_with([' ', '\t']) && !title.is_empty()).then(|| (level, plain(title), 1));
    }
    // A list item, a quote or a table row over a line of dashes is not a heading.
    let prose = line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | '"' | '(' | '['));
    let alone = at == 0 || lines.get(at - 1).is_none_or(|above| above.trim().is_empty());
    let under = flush_left(lines.get(at + 1)?)?.trim_end();
    let level = match under.as_bytes().first()? {
        b'=' if under.bytes().all(|byte| byte == b'=') => 1,
        b'-' if under.len() > 1 && under.bytes().all(|byte| byte == b'-') => 2,
        _ => return None,
    };
    (prose && alone).then(|| (level, plain(line.trim()), 2))
}

/// The line without up to three leading spaces; four make it code.
fn flush_left(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() < 4).then_some(text)
}

/// The title without the commonest marks of emphasis and code.
fn plain(title: &str) -> String {
    title.replace(['*', '`'], "")
}

/// What fence is open after a line: its character and length.
fn after_fence(open: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let Some(text) = flush_left(line) else { return open };
    let Some(mark) = text.chars().next().filter(|c| matches!(c, '`' | '~')) else { return open };
    let length = text.chars().take_while(|c| *c == mark).count();
    let rest = &text[length..];
    match open {
        None if length >= 3 && !(mark == '`' && rest.contains('`')) => Some((mark, length)),
        Some((opened, at_least)) if opened == mark && length >= at_least && rest.trim().is_empty() => None,
        _ => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Vec<(String, String)> {
        sections(text).into_iter().map(|s| (s.path.join(" > "), s.body.trim().to_owned())).collect()
    }

    fn pair(path: &str, body: &str) -> (String, String) {
        (path.into(), body.into())
    }

    #[test]
    fn headings_nest_and_leave_their_siblings() {
        let text = "intro\n# A\none\n### Deep ###\ntwo\n## B\nthree\n# `C`\n";
        let expected =
            [pair("", "intro"), pair("A", "one"), pair("A > Deep", "two"), pair("A > B", "three"), pair("C", "")];
        assert_eq!(outline(text), expected);
    }

    #[test]
    fn underlined_headings_count_and_tables_lists_and_front_matter_do_not() {
        assert_eq!(outline("Title\n=====\nx\n\nPart\n---\ny"), [pair("Title", "x"), pair("Title > Part", "y")]);
        for text in ["- item\n---\n", "| a |\n---\n", "---\ntitle: x\n---\n", "two lines\nof prose\n---\n"] {
            assert_eq!(first_heading(text), None, "{text:?}");
        }
    }

    #[test]
    fn hashes_in_code_or_without_a_space_are_text() {
        for text in
            ["```sh\n# comment\n```\n", "~~~~\n~~~\n# x\n~~~~\n", "    # code\n", "#hashtag\n", "####### x\n", "#\n"]
        {
            assert_eq!(first_heading(text), None, "{text:?}");
        }
        assert_eq!(first_heading("```\ncode\n```\n# After\n").as_deref(), Some("After"));
    }
}
