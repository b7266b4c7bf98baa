//! Files that begin with a mark, and what the containers among them hold.

use std::io::{Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

use super::{Format, lines, unknown};
use crate::engine::extract::package::protected;
use crate::model::error::{Error, Result};

/// The mark of compound files, which held office documents until 2007, and hold encrypted ones still.
pub(super) const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// How much of one is looked through for the names of its streams.
const COMPOUND_BYTES: u64 = 256 << 20;
/// How much is looked at of the member of a zip that says its kind.
const KIND_BYTES: u64 = 120;
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
pub(super) fn of(head: &[u8], ending: &str) -> Result<Option<Format>> {
    if is_pdf(head, ending) {
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

/// Whether a PDF begins here, or soon. One that stands within a mail, and the word in a text, is none.
fn is_pdf(head: &[u8], ending: &str) -> bool {
    let start = head.get(..PDF_WITHIN).unwrap_or(head);
    let Some(at) = start.windows(5).position(|window| window == b"%PDF-") else { return false };
    let before = String::from_utf8_lossy(start.get(..at).unwrap_or_default());
    let is_object = |window: &[u8]| match window {
        [b'0'..=b'9', b' ', b'o', b'b', b'j', next] => next.is_ascii_whitespace() || b"<[(/".contains(next),
        _ => false,
    };
    let has_objects = || head.windows(6).any(is_object);
    let is_mail = || lines::is_mail(before.trim_start(), ending) || lines::is_box(&before);
    before.trim_matches(['\u{feff}', '\0']).trim().is_empty() || (has_objects() && !is_mail())
}

/// What a zip holds, by the names in its directory, of which `tail` is the end; OpenDocument and books say it in a member.
pub(super) fn of_zip(source: &mut (impl Read + Seek), tail: &[u8]) -> Format {
    let members = members(tail);
    let kind = members.iter().find(|member| member.name == b"mimetype").and_then(|member| start(source, member));
    match kind.unwrap_or_default() {
        kind if kind.contains("opendocument.spreadsheet") => return Format::Workbook,
        kind if kind.contains("vnd.oasis.opendocument") || kind.contains("vnd.sun.xml") => return Format::OpenDocument,
        kind if kind.contains("application/epub") => return Format::Epub,
        _ => {}
    }
    let has = |name: &[u8]| members.iter().any(|known| known.name.starts_with(name));
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

/// A member of a zip, as its directory has it.
struct Member<'t> {
    name: &'t [u8],
    is_deflated: bool,
    /// Bytes that it takes in the file, and where its own header is.
    size: u64,
    at: u64,
}

/// The directory of a zip, as far as the end of the file has it (APPNOTE 4.3.12).
/// Members that are zips themselves have directories too: the file's own stands before its end record (4.3.16).
fn members(tail: &[u8]) -> Vec<Member<'_>> {
    let signature = |bytes: &[u8], sign: &[u8]| bytes.windows(4).rposition(|window| window == sign);
    let end = signature(tail, b"PK\x05\x06").unwrap_or(tail.len());
    let size = number(tail, end + 12, 4).unwrap_or_default();
    let mut rest = tail.get(end.saturating_sub(size)..end).unwrap_or_default();
    let mut members = Vec::new();
    while let Some(at) = rest.windows(4).position(|window| window == b"PK\x01\x02") {
        let entry = rest.get(at..).unwrap_or_default();
        let value = |at: usize, length: usize| number(entry, at, length).unwrap_or_default();
        let [name, extra, comment] = [28, 30, 32].map(|at| value(at, 2));
        members.extend(entry.get(46..46 + name).map(|name| Member {
            name,
            is_deflated: value(10, 2) == 8,
            size: value(20, 4) as u64,
            at: value(42, 4) as u64,
        }));
        rest = entry.get(46 + name + extra + comment..).unwrap_or_default();
    }
    members
}

/// A number of some bytes, the lowest first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    Some(bytes.get(at..at + length)?.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// How a member begins. Its own header (APPNOTE 4.3.7) may not know its size yet: programs that write straight on put it
/// behind the member.
fn start(source: &mut (impl Read + Seek), member: &Member<'_>) -> Option<String> {
    let mut header = [0; 30];
    source.seek(SeekFrom::Start(member.at)).ok()?;
    source.read_exact(&mut header).ok()?;
    let beside = number(&header, 26, 2)? + number(&header, 28, 2)?;
    source.seek_relative(i64::try_from(beside).ok()?).ok()?;
    let packed = source.take(member.size);
    let mut start = Vec::new();
    match member.is_deflated {
        true => DeflateDecoder::new(packed).take(KIND_BYTES).read_to_end(&mut start).ok()?,
        false => packed.take(KIND_BYTES).read_to_end(&mut start).ok()?,
    };
    Some(String::from_utf8_lossy(&start).into_owned())
}

/// What a compound file is, by the names of its streams, which are UTF-16.
pub(super) fn of_compound(source: &mut impl Read) -> Result<Format> {
    let mut bytes = Vec::new();
    source.take(COMPOUND_BYTES).read_to_end(&mut bytes).map_err(Error::internal)?;
    let names =
        ["EncryptedPackage", "Workbook", "Book", "WordDocument", "PowerPoint Document", "__properties_version1.0"];
    let wide = names.map(|name| (name, name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()));
    // Streams' names, whose capitals do not count, begin where entries of the directory do; what is embedded comes later.
    let is = |entry: &[u8], wide: &[u8]| entry.get(..wide.len()).is_some_and(|name| name.eq_ignore_ascii_case(wide));
    let first = bytes.chunks(128).find_map(|entry| wide.iter().find(|(_, wide)| is(entry, wide)));
    match first.map(|(name, _)| *name) {
        Some("EncryptedPackage") => Err(protected()),
        Some("Workbook" | "Book") => Ok(Format::Workbook),
        Some("WordDocument") => Err(unknown("it is a document of Word before 2007; save it as DOCX")),
        Some("PowerPoint Document") => Err(unknown("it is a presentation of PowerPoint before 2007; save it as PPTX")),
        Some(_) => Err(unknown("it is a mail of Outlook; save it as EML")),
        None => Err(unknown("it is a compound file of a kind that is not known")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    fn told(members: &[(&str, &[u8])], method: CompressionMethod) -> (Format, Vec<u8>) {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            zip.write_all(bytes).unwrap();
        }
        let bytes = zip.finish().unwrap().into_inner();
        (of_zip(&mut Cursor::new(&bytes), &bytes), bytes)
    }

    #[test]
    fn a_zip_is_what_its_own_directory_says() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let text = [("content.xml", &b"<x/>"[..]), ("mimetype", b"application/vnd.oasis.opendocument.text")];
            assert_eq!(told(&text, method).0, Format::OpenDocument);
            let sheet =
                [("content.xml", &b"<x/>"[..]), ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet")];
            assert_eq!(told(&sheet, method).0, Format::Workbook);
        }
        let mut streamed = ZipWriter::new_stream(Vec::new());
        streamed.start_file("mimetype", SimpleFileOptions::default()).unwrap();
        streamed.write_all(b"application/epub+zip").unwrap();
        let streamed = streamed.finish().unwrap().into_inner();
        assert_eq!(of_zip(&mut Cursor::new(&streamed), &streamed), Format::Epub);
        let word = [("[Content_Types].xml", &b"<x/>"[..]), ("word/document.xml", b"<x/>")];
        let (format, word) = told(&word, CompressionMethod::Deflated);
        assert_eq!(format, Format::Docx);
        assert_eq!(told(&[("a.docx", &word)], CompressionMethod::Stored).0, Format::Zip);
    }

    #[test]
    fn a_pdf_begins_soon_and_holds_objects() {
        let told = |bytes: &[u8], ending: &str| of(bytes, ending).unwrap();
        assert_eq!(told(b"\xef\xbb\xbf%PDF-1.4", ""), Some(Format::Pdf));
        assert_eq!(told(b"HTTP/1.1 200\r\n\r\n%PDF-1.4\n1 0 obj\n<<>>", ""), Some(Format::Pdf));
        for object in ["1 0 obj <<>>", "1 0 obj [ ]", "1 0 obj\t<<>>", "1 0 obj/Name"] {
            assert_eq!(told(format!("junk\n%PDF-1.4\n{object}").as_bytes(), ""), Some(Format::Pdf), "{object}");
        }
        assert_eq!(told(b"The first bytes of such a file are %PDF-1.4.", "txt"), None);
        let mail =
            b"From: a@b.c\nSubject: x\nContent-Type: multipart/mixed; boundary=X\n\n--X\n\n%PDF-1.4\n1 0 obj\n<<>>";
        assert_eq!(told(mail, "eml"), None);
        assert_eq!(told(mail, ""), None);
    }
}
