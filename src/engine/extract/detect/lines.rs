//! Files of text: markup by its root, mails by their headers, tables by their separators.

use super::{Format, unknown};
use crate::model::error::Result;

/// Headers of which a mail has some (RFC 5322 §3.6).
const HEADERS: &[&str] = &[
    "from", "to", "subject", "date", "received", "message-id", "mime-version", "return-path", "delivered-to",
    "reply-to", "content-type", "x-mailer", "in-reply-to", "references", "cc", "sender", "dkim-signature",
];
/// How many tell a mail, where the name does not.
const ENOUGH: usize = 3;

/// Signs that separate values, the commonest first.
const SEPARATORS: &[char] = &[',', ';', '\t', '|', '~', '^', '\u{1f}', '§', '¦'];
/// Lines that are looked at.
const LINES: usize = 50;

/// HTML, by its doctype or root.
pub(super) fn of_markup(start: &str, ending: &str) -> Result<Option<Format>> {
    if !start.starts_with('<') {
        return Ok(None);
    }
    let is_html_name = matches!(ending, "html" | "htm" | "xhtml");
    let is_prose = matches!(ending, "md" | "markdown" | "txt" | "text");
    let mut rest = start;
    let mut is_xml = false;
    // Over declarations and comments to the first element.
    loop {
        rest = rest.trim_start();
        let lower = rest.get(..rest.floor_char_boundary(64)).unwrap_or(rest).to_ascii_lowercase();
        if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
            return Ok(Some(Format::Html));
        }
        is_xml |= lower.starts_with("<?xml");
        let close = match lower.as_str() {
            comment if comment.starts_with("<!--") => "-->",
            instruction if instruction.starts_with("<?") => "?>",
            declaration if declaration.starts_with("<!") => ">",
            _ => break,
        };
        match rest.find(close) {
            Some(at) => rest = rest.get(at + close.len()..).unwrap_or_default(),
            None => break,
        }
    }
    let is_element =
        ["<head", "<body", "<div", "<p>", "<p ", "<h1", "<table", "<meta", "<title", "<span", "<article", "<section"];
    let lower = rest.get(..rest.floor_char_boundary(16)).unwrap_or(rest).to_ascii_lowercase();
    if is_html_name || (!is_prose && is_element.iter().any(|element| lower.starts_with(element))) {
        return Ok(Some(Format::Html));
    }
    if is_xml && !is_prose {
        return Err(unknown("it is XML of a kind that is not read"));
    }
    Ok(None)
}

/// Whether a text begins with the headers of a mail; where the name says so too, some lines among them may be none.
pub(super) fn is_mail(start: &str, ending: &str) -> bool {
    let (mut known, mut odd) = (0, 0);
    let (mut has_sender, mut ends) = (false, false);
    for line in start.lines().take(200) {
        if line.is_empty() {
            ends = true;
            break;
        }
        if line.starts_with([' ', '\t']) {
            continue;
        }
        let name = line.split_once(':').map_or("", |(name, _)| name.trim_end());
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            odd += 1;
            continue;
        }
        let name = name.to_ascii_lowercase();
        has_sender |= matches!(name.as_str(), "from" | "received" | "return-path" | "message-id" | "mime-version");
        known += usize::from(HEADERS.contains(&name.as_str()));
    }
    match ending {
        "eml" => known > 0 && (odd == 0 || ends),
        _ => odd == 0 && has_sender && known >= ENOUGH,
    }
}

/// Whether a text is a box of mails.
pub(super) fn is_box(text: &str) -> bool {
    let mut lines = text.lines();
    let is_from = lines.next().is_some_and(|first| first.starts_with("From ") && first.split_whitespace().count() >= 3);
    let rest = lines.next().map(|second| second.trim_start_matches('>'));
    is_from && rest.and_then(|second| second.split_once(':')).is_some_and(|(name, _)| !name.contains(' '))
}

/// Whether a text begins as an object of JSON does, or an array of them.
pub(super) fn is_json(start: &str) -> bool {
    let mut rest = start.trim_start_matches(['[', ' ', '\n', '\r', '\t']);
    if rest.len() == start.len() && !start.starts_with('{') {
        return false;
    }
    let is_object = rest.starts_with('{');
    rest = rest.trim_start_matches('{').trim_start();
    is_object && (rest.starts_with('"') || rest.starts_with('}'))
}

/// Whether lines fall into the same number of values by one sign.
pub(super) fn is_separated(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
    lines.len() >= 2
        && SEPARATORS.iter().any(|sign| {
            let count = |line: &&str| line.matches(*sign).count();
            let first = lines.first().map_or(0, count);
            first > 0 && lines.iter().all(|line| count(line) == first)
        })
}
