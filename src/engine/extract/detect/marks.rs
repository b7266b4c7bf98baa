//! Files that begin with a mark, and what the containers among them hold.

use std::io::Read;

use super::{Format, unknown};
use crate::engine::extract::package::protected;
use crate::model::error::{Error, Result};

/// The mark of compound files, which held office documents until 2007, and hold encrypted ones still.
pub(super) const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// How much of one is looked through for the names of its streams.
const COMPOUND_BYTES: u64 = 256 << 20;
/// Where a PDF may begin.
const PDF_WITHIN: usize = 1_024;

/// Marks of what is not read, and its name.
const OTHERS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG", "a PNG picture; its text would have to be recognised (OCR)"),
    (0, b"\xff\xd8\xff", "a JPEG picture; its text would have to be recognised (OCR)"),
    (0, b"GIF8", "a GIF picture"),
    (0, b"II*\0", "a TIFF picture; its text would have to be recognised (OCR)"),
    (0, b"MM\0*", "a TIFF picture; its text would have to be recognised (OCR)"),
    (8, b"WEBP", "a WebP picture"),
    (0, b"\x1f\x8b", "packed with gzip; unpack it first"),
    (0, b"BZh", "packed with bzip2; unpack it first"),
    (0, b"\xfd7zXZ\0", "packed with xz; unpack it first"),
    (0, b"\x28\xb5\x2f\xfd", "packed with zstd; unpack it first"),
    (0, b"7z\xbc\xaf\x27\x1c", "packed with 7-Zip; unpack it first, or pack it as ZIP"),
    (0, b"Rar!", "packed with RAR; unpack it first, or pack it as ZIP"),
    (257, b"ustar", "a tar archive; pack it as ZIP"),
    (0, b"SQLite format 3\0", "an SQLite database; export its tables as CSV or Parquet"),
    (8, b"DUCK", "a DuckDB database; export its tables as Parquet"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a program"),
    (0, b"%!PS", "PostScript; save it as PDF"),
    (0, b"AT&TFORM", "DjVu; save it as PDF"),
    (60, b"BOOKMOBI", "a Kindle book; save it as EPUB"),
    (0, b"!BDN", "an Outlook mailbox; export its mails"),
    (0, b"ORC", "ORC; save it as Parquet"),
    (0, b"Obj\x01", "Avro; save it as Parquet"),
    (0, b"ARROW1", "Arrow; save it as Parquet"),
    (4, b"ftyp", "a film or picture"),
    (0, b"ID3", "sound"),
    (0, b"OggS", "sound"),
    (0, b"RIFF", "sound or film"),
];

/// The format that a mark says.
pub(super) fn of(head: &[u8]) -> Result<Option<Format>> {
    let start = head.get(..PDF_WITHIN).unwrap_or(head);
    if start.windows(5).any(|window| window == b"%PDF-") {
        return Ok(Some(Format::Pdf));
    }
    if head.starts_with(b"PAR1") {
        return Ok(Some(Format::Parquet));
    }
    if head.trim_ascii_start().starts_with(b"{\\rtf") {
        return Ok(Some(Format::Rtf));
    }
    let has = |(at, mark, _): &&(usize, &[u8], &str)| head.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    match OTHERS.iter().find(has) {
        Some((_, _, what)) => Err(unknown(&format!("it is {what}"))),
        None => Ok(None),
    }
}

/// What a zip holds, by the names in its directory; OpenDocument says it in its first member.
pub(super) fn of_zip(head: &[u8], tail: &[u8]) -> Format {
    // The first member's name is at 30, and its content, which is stored as it is, behind that.
    let first = head.get(30..).unwrap_or_default();
    if let Some(kind) = first.strip_prefix(b"mimetype") {
        let is = |mark: &[u8]| kind.get(..120).unwrap_or(kind).windows(mark.len()).any(|window| window == mark);
        if is(b"opendocument.spreadsheet") {
            return Format::Workbook;
        }
        if is(b"vnd.oasis.opendocument") || is(b"vnd.sun.xml") {
            return Format::OpenDocument;
        }
        if is(b"application/epub") {
            return Format::Epub;
        }
    }
    let names = names(tail);
    let has = |name: &[u8]| names.iter().any(|known| known.starts_with(name));
    if has(b"[Content_Types].xml") || has(b"_rels/.rels") {
        for (folder, format) in [(&b"word/"[..], Format::Docx), (b"ppt/", Format::Pptx), (b"xl/", Format::Workbook)] {
            if has(folder) {
                return format;
            }
        }
    }
    match has(b"META-INF/container.xml") {
        true => Format::Epub,
        false => Format::Zip,
    }
}

/// The names in a zip's directory, as far as the end of the file has it (APPNOTE 4.3.12).
fn names(tail: &[u8]) -> Vec<&[u8]> {
    let mut names = Vec::new();
    let mut rest = tail;
    while let Some(at) = rest.windows(4).position(|window| window == b"PK\x01\x02") {
        let entry = rest.get(at..).unwrap_or_default();
        let number = |at: usize| {
            entry
                .get(at..at + 2)
                .and_then(|two| two.try_into().ok())
                .map_or(0, |two| usize::from(u16::from_le_bytes(two)))
        };
        let (name, extra, comment) = (number(28), number(30), number(32));
        names.extend(entry.get(46..46 + name));
        rest = entry.get(46 + name + extra + comment..).unwrap_or_default();
    }
    names
}

/// What a compound file is, by the names of its streams, which are UTF-16.
pub(super) fn of_compound(source: &mut impl Read) -> Result<Format> {
    let mut bytes = Vec::new();
    source.take(COMPOUND_BYTES).read_to_end(&mut bytes).map_err(Error::internal)?;
    let names =
        ["EncryptedPackage", "Workbook", "Book", "WordDocument", "PowerPoint Document", "__properties_version1.0"];
    let wide = names.map(|name| (name, name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()));
    // Streams' names begin where entries of the directory do; what is embedded comes later.
    let first = bytes.chunks(128).find_map(|entry| wide.iter().find(|(_, wide)| entry.starts_with(wide)));
    match first.map(|(name, _)| *name) {
        Some("EncryptedPackage") => Err(protected()),
        Some("Workbook" | "Book") => Ok(Format::Workbook),
        Some("WordDocument") => Err(unknown("it is a document of Word before 2007; save it as DOCX")),
        Some("PowerPoint Document") => Err(unknown("it is a presentation of PowerPoint before 2007; save it as PPTX")),
        Some(_) => Err(unknown("it is a mail of Outlook; save it as EML")),
        None => Err(unknown("it is a compound file of a kind that is not known")),
    }
}
