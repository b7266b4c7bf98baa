//! What a file is, by what is in it: marks at its start, members of a zip, roots of markup, the shape of its lines. The
//! name decides only between kinds that the same bytes may be.

mod lines;
mod marks;

use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};

use super::decode;
use crate::model::error::{Error, Result};

/// Kinds that are read, for messages.
pub const UNDERSTOOD: &str = "CSV, JSON, Parquet, XLSX, XLS, ODS, text, Markdown, PDF, DOCX, PPTX, ODT, ODP, HTML, EML, MBOX, \
                              EPUB, RTF, and ZIP of documents";

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Csv,
    Json,
    Parquet,
    /// XLSX, XLS, XLSB or ODS.
    Workbook,
    Text,
    Markdown,
    Pdf,
    Docx,
    Pptx,
    /// A text or presentation of OpenDocument.
    OpenDocument,
    Html,
    Mail,
    Mailbox,
    Epub,
    Rtf,
    Zip,
}

/// Bytes of the start and the end that are looked at.
const HEAD: usize = 64 << 10;
const TAIL: u64 = 1 << 20;

/// Tells what a file is. `name` breaks ties.
///
/// # Errors
/// `invalid_argument` that says what it is instead, for a kind that is not read; `internal_error` when it cannot be read.
pub fn format(source: &mut (impl Read + Seek), name: &str) -> Result<Format> {
    let size = source.seek(SeekFrom::End(0)).map_err(Error::internal)?;
    source.rewind().map_err(Error::internal)?;
    let mut head = Vec::new();
    source.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(Error::internal)?;
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    if head.is_empty() {
        return by_ending(&ending).ok_or_else(|| Error::invalid("file", "it is empty."));
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        source.seek(SeekFrom::Start(size.saturating_sub(TAIL))).map_err(Error::internal)?;
        let mut tail = Vec::new();
        source.by_ref().take(TAIL).read_to_end(&mut tail).map_err(Error::internal)?;
        return Ok(marks::of_zip(source, &tail));
    }
    if head.starts_with(marks::COMPOUND) {
        source.rewind().map_err(Error::internal)?;
        return marks::of_compound(source);
    }
    if let Some(format) = marks::of(&head, &ending)? {
        return Ok(format);
    }
    of_text(&head, size > HEAD as u64, &ending)
}

/// What has no mark is text, if anything.
fn of_text(head: &[u8], is_cut: bool, ending: &str) -> Result<Format> {
    // A letter may be cut in its midst.
    let whole =
        if is_cut { head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1) } else { head.len() };
    let head = head.get(..whole).unwrap_or(head);
    let decoded = decode::text(head);
    // Mails say their encodings themselves, and a box holds them in several.
    let text = decoded.as_ref().map_or_else(|_| String::from_utf8_lossy(head), |(text, _)| Cow::Borrowed(text));
    let start = text.trim_start();
    if lines::is_box(&text) {
        return Ok(Format::Mailbox);
    }
    if lines::is_mail(start, ending) {
        return Ok(Format::Mail);
    }
    if decoded.is_err() {
        // The reader of the kind that the name says knows where it is wrong.
        let named = by_ending(ending).filter(|format| !matches!(format, Format::Mail | Format::Mailbox));
        return named.ok_or_else(|| unknown("it holds bytes of a kind that is not known"));
    }
    if let Some(format) = lines::of_markup(start, ending)? {
        return Ok(format);
    }
    let is_prose = matches!(ending, "txt" | "text" | "md" | "markdown" | "log");
    match by_ending(ending) {
        _ if lines::is_json(start) && !is_prose && ending != "csv" => Ok(Format::Json),
        Some(named @ (Format::Csv | Format::Json | Format::Text | Format::Markdown | Format::Parquet)) => Ok(named),
        _ if lines::is_separated(&text) => Ok(Format::Csv),
        _ => Ok(Format::Text),
    }
}

fn by_ending(ending: &str) -> Option<Format> {
    Some(match ending {
        "csv" | "tsv" | "tab" | "psv" => Format::Csv,
        "json" | "jsonl" | "ndjson" | "geojson" => Format::Json,
        "parquet" | "pq" => Format::Parquet,
        "txt" | "text" | "log" => Format::Text,
        "md" | "markdown" => Format::Markdown,
        "html" | "htm" | "xhtml" => Format::Html,
        "eml" => Format::Mail,
        "mbox" => Format::Mailbox,
        _ => return None,
    })
}

/// What a message goes on with that says what else there is.
pub(super) const HELP: &str = " These are understood: ";

/// A kind that is not read.
fn unknown(what: &str) -> Error {
    Error::invalid("file", format!("{what}.{HELP}{UNDERSTOOD}."))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn told(bytes: &[u8], name: &str) -> Result<Format> {
        format(&mut Cursor::new(bytes), name)
    }

    #[test]
    fn marks_decide_whatever_the_name_says() {
        for (bytes, format) in [
            (&b"%PDF-1.7\n"[..], Format::Pdf),
            (b"\n\n%PDF-1.4", Format::Pdf),
            (b"PAR1....PAR1", Format::Parquet),
            (b"{\\rtf1\\ansi x}", Format::Rtf),
            (b"<!DOCTYPE html><p>x", Format::Html),
            (b"\xef\xbb\xbf <html lang=en>", Format::Html),
            (b"<?xml version=\"1.0\"?>\n<!-- c --><html xmlns=\"x\"/>", Format::Html),
            (b"From: a@b.c\r\nTo: d@e.f\r\nSubject: x\r\nDate: Mon, 1 Jan 2024 00:00:00 +0000\r\n\r\nHi", Format::Mail),
            (b"From a@b.c Mon Jan  1 00:00:00 2024\nFrom: a@b.c\nSubject: x\n\nHi\n", Format::Mailbox),
        ] {
            for name in ["x.csv", "x", "x.bin"] {
                assert_eq!(told(bytes, name).unwrap(), format, "{name} {:?}", String::from_utf8_lossy(bytes));
            }
        }
        assert_eq!(told(b"{\"a\": 1}\n", "x").unwrap(), Format::Json);
        assert_eq!(told(b"[{\"a\": 1}]", "x.dat").unwrap(), Format::Json);
        assert_eq!(told(b"a;b\n1;2\n3;4\n", "x.dat").unwrap(), Format::Csv);
        assert_eq!(told(b"Some words, and more.\nOthers.\n", "README").unwrap(), Format::Text);
    }

    #[test]
    fn the_name_breaks_ties() {
        let table = b"a,b\n1,2\n3,4\n";
        assert_eq!(told(table, "a/Sales.CSV").unwrap(), Format::Csv);
        assert_eq!(told(table, "x.txt").unwrap(), Format::Text);
        assert_eq!(told(b"# Title\n", "guide.md").unwrap(), Format::Markdown);
        assert_eq!(told(b"{\"a\":1}\n", "x.txt").unwrap(), Format::Text);
        assert_eq!(told(b"a\0,b\n1,2\n", "x.csv").unwrap(), Format::Csv);
    }

    #[test]
    fn what_is_not_read_is_called_by_its_name() {
        for (bytes, word) in [
            (&b"\x89PNG\r\n\x1a\n"[..], "PNG"),
            (b"\xff\xd8\xff\xe0", "JPEG"),
            (b"\x1f\x8b\x08", "gzip"),
            (b"SQLite format 3\0", "SQLite"),
            (b"\0\0\0\0\0\0\0\0DUCK", "DuckDB"),
            (b"\x7fELF", "program"),
            (b"\x00\x01\x02\x80", "not known"),
            (b"", "empty"),
            (b"<?xml version=\"1.0\"?><rss/>", "XML"),
        ] {
            let message = told(bytes, "x").unwrap_err().message;
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}
