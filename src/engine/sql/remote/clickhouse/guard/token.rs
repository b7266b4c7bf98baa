//! Cuts a text into the words of ClickHouse's SQL. It reads less than ClickHouse does: where a text could be read in
//! two ways (other quotation marks, heredocs, comments inside comments, escapes in names) it is refused.

use crate::engine::sql::guard::{Refusal, Verdict};

/// A word of a text, and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind<'t>,
    pub at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// A bare word: a name or a keyword.
    Word(&'t str),
    /// A name in quotation marks, without them.
    Name(&'t str),
    /// A number or a text.
    Literal,
    /// One character of an operator or a bracket.
    Sign(char),
}

impl<'t> Token<'t> {
    /// Whether it is this keyword, in capitals here.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self.kind, Kind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }

    /// The name that it is, when it may be one.
    pub(super) fn name(&self) -> Option<&'t str> {
        match self.kind {
            Kind::Word(name) | Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Cuts a text into words, without spaces and comments.
///
/// # Errors
/// What could be read in more than one way, and what is never closed.
pub(super) fn tokens(text: &str) -> Verdict<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at) = (vec![], 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let (kind, length) = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => (None, 1),
            b'-' if rest.starts_with("--") => (None, comment_line(rest)?),
            b'/' if rest.starts_with("/*") => (None, comment(rest)?),
            // The server takes it for a comment to the end of the line.
            b'/' if rest.starts_with("//") => return Err(unclear("//", "sign")),
            b'\'' => (Some(Kind::Literal), string(rest)?),
            b'"' | b'`' => {
                let name = quoted(rest)?;
                (Some(Kind::Name(name)), name.len() + 2)
            }
            b'0'..=b'9' => (Some(Kind::Literal), number(rest)?),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let word = word(rest);
                (Some(Kind::Word(word)), word.len())
            }
            b'(' | b')' | b'[' | b']' | b',' | b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'!'
            | b'|' | b':' | b'?' | b';' => (Some(Kind::Sign(char::from(byte))), 1),
            _ => {
                let sign: String = rest.chars().take(1).collect();
                let message = format!("The character {sign} may not stand outside texts.");
                return Err(Refusal::new("text", &sign, message, "Use ASCII, and '…' for texts."));
            }
        };
        tokens.extend(kind.map(|kind| Token { kind, at }));
        at += length;
    }
    Ok(tokens)
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Digits, a point, an exponent. A letter behind them would start another word somewhere else.
fn number(text: &str) -> Verdict<usize> {
    let word =
        |at: usize| text[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |n| at + n);
    let mut end = word(0);
    let bytes = text.as_bytes();
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = word(end + 1);
    }
    let is_exponent = text[..end].ends_with(['e', 'E']) && !text.starts_with("0x");
    if is_exponent && bytes.get(end).is_some_and(|sign| b"+-".contains(sign)) {
        end = word(end + 1);
    }
    let digits = &text[..end];
    let plain = digits.strip_prefix("0x").map_or_else(
        || digits.bytes().all(|b| b.is_ascii_digit() || b"._eE+-".contains(&b)),
        |hex| hex.bytes().all(|b| b.is_ascii_hexdigit()),
    );
    // `1e` is a name.
    let ends = digits.ends_with(|c: char| c.is_ascii_hexdigit() && !"eE".contains(c) || digits.starts_with("0x"));
    // `1.` is a number there, and whatever follows a word of its own.
    let is_open = bytes.get(end) == Some(&b'.');
    if plain && ends && !is_open { Ok(end) } else { Err(unclear(digits, "number")) }
}

/// `'…'`, in which a quotation mark is doubled or behind a backslash.
fn string(text: &str) -> Verdict<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None => return Err(open("text", "'")),
            Some(b'\\') => at += 2,
            Some(b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            Some(b'\'') => return Ok(at + 1),
            Some(_) => at += 1,
        }
    }
}

/// A name in quotation marks: without escapes, so that it ends at the next mark.
fn quoted(text: &str) -> Verdict<&str> {
    let mark = &text[..1];
    let end = text[1..].find(mark).ok_or_else(|| open("name", mark))?;
    let name = &text[1..=end];
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || " _-$%#/()&+:".contains(c));
    if plain && !text[end + 2..].starts_with(mark) { Ok(name) } else { Err(unclear(name, "name")) }
}

fn comment_line(text: &str) -> Verdict<usize> {
    let end = text.find('\n').unwrap_or(text.len());
    if text[..end].trim_end_matches('\r').contains('\r') {
        return Err(unclear("--", "comment"));
    }
    Ok(end)
}

fn comment(text: &str) -> Verdict<usize> {
    let end = text[2..].find("*/").ok_or_else(|| open("comment", "/*"))? + 4;
    if text[2..end].contains("/*") { Err(unclear("/*", "comment")) } else { Ok(end) }
}

fn unclear(name: &str, what: &str) -> Refusal {
    let message = format!("The {what} {name:?} can be read in more than one way.");
    Refusal::new("text", name, message, "Write it plainly, without escapes in names and comments in comments.")
}

fn open(what: &str, mark: &str) -> Refusal {
    let message = format!("The SQL cannot be parsed: a {what} that starts with {mark} has no end.");
    let mut refusal = Refusal::new("syntax", mark, message, "The dialect is ClickHouse's.");
    refusal.is_mistake = true;
    refusal
}
