//! Text and Markdown files into documents, whatever their encoding, as far as it can be told ([`decode`]).

use std::path::Path;

use serde_json::json;

use crate::engine::extract::decode;
use crate::engine::search::markdown;
use crate::model::document::{Facts, Markup, ParsedDocument};
use crate::model::error::{Code, Error, Result};

/// Reads one file. A byte-order mark is dropped, `\r\n` becomes `\n`, and a form feed begins a page; the title is the first heading of a Markdown
/// text, otherwise the file's name without its ending.
///
/// # Errors
/// `invalid_argument` for an empty file, bytes that are text in no encoding, and NUL; the last two name the line and the
/// byte of the file, both from 1.
pub fn parse(file_name: &str, bytes: &[u8]) -> Result<ParsedDocument> {
    // Windows paths arrive in uploads, whatever system this runs on.
    let source_file = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let ending = Path::new(source_file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let markup = match ending.to_ascii_lowercase().as_str() {
        "md" | "markdown" => Markup::Markdown,
        _ => Markup::Plain,
    };
    let (text, _) = decode::text(bytes).map_err(|wrong| match wrong.is_nul {
        true => wrong_byte(source_file, bytes, wrong.at, "is NUL, which no text contains"),
        false => wrong_byte(source_file, bytes, wrong.at, "is not UTF-8; save the file as UTF-8 and try again"),
    })?;
    let text = text.replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err(Error::invalid("file", format!("{source_file} is empty.")));
    }
    let heading = match markup {
        Markup::Markdown => markdown::first_heading(&text),
        Markup::Plain => None,
    };
    let stem = || Path::new(source_file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(source_file).to_owned();
    let title = heading.unwrap_or_else(stem).chars().take(ParsedDocument::TITLE_CHARS).collect();
    Ok(ParsedDocument { title, source_file: source_file.to_owned(), text, markup, facts: Facts::new() })
}

fn wrong_byte(file: &str, bytes: &[u8], at: usize, what: &str) -> Error {
    let line = 1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count();
    let byte = at + 1;
    Error::new(Code::InvalidArgument, format!("{file}, line {line}: byte {byte} of the file {what}."))
        .with(json!({ "field": "file", "line": line, "byte": byte }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_the_first_heading_or_the_file_name() {
        for (file, text, title) in [
            ("guide.md", "intro\n# The Guide\n## Part\n", "The Guide"),
            ("C:\\docs\\Plain Notes.TXT", "# not a heading here\n", "Plain Notes"),
            ("a/b/über.markdown", "no heading", "über"),
        ] {
            let document = parse(file, text.as_bytes()).unwrap();
            assert_eq!(document.title, title);
            assert!(!document.source_file.contains(['/', '\\']));
        }
    }

    #[test]
    fn a_byte_order_mark_and_carriage_returns_go() {
        let document = parse("x.md", b"\xef\xbb\xbf# Title\r\ntext\r\n").unwrap();
        assert_eq!((document.text.as_str(), document.title.as_str()), ("# Title\ntext\n", "Title"));
    }

    #[test]
    fn wrong_bytes_are_named_by_line_and_byte() {
        for (bytes, line, byte) in [
            (&b"one\ntwo \xff"[..], 2, 9),
            (b"\xff\xfeh\0\0\0", 1, 5),
            (b"a\n\nb\0c", 3, 5),
            ("é\n\u{0}".as_bytes(), 2, 4),
        ] {
            let error = parse("x.txt", bytes).unwrap_err();
            assert_eq!(error.code, Code::InvalidArgument);
            assert_eq!((&error.details["line"], &error.details["byte"]), (&json!(line), &json!(byte)), "{bytes:?}");
        }
    }

    #[test]
    fn empty_files_are_refused() {
        for (file, bytes) in [("x.txt", &b""[..]), ("x.md", b" \r\n\t"), ("x.txt", b"\xef\xbb\xbf")] {
            assert_eq!(parse(file, bytes).unwrap_err().code, Code::InvalidArgument, "{file} {bytes:?}");
        }
    }
}
