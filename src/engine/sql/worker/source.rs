//! A file of text as the engine's readers want it: in UTF-8, with the signs that it separates and quotes values by.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::instance::internal;
use crate::engine::extract::decode;
use crate::engine::sql::TableFormat;
use crate::model::error::Result;

/// Bytes of a file in another encoding: it is held in memory while it is written anew.
const RECODED: u64 = 512 << 20;
/// Bytes that are looked at for separators and quotes, and lines of them.
const LOOK: usize = 256 << 10;
const LINES: usize = 200;
/// Separators that the engine finds by itself, and those that it does not.
const USUAL: [char; 4] = [',', ';', '\t', '|'];
const UNUSUAL: [char; 7] = ['~', '^', '\u{1f}', '\u{1}', '§', '¦', '¬'];

/// How values are told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) quote: char,
    /// One that the engine would not find.
    pub(super) separator: Option<char>,
}

/// What the engine reads.
pub(super) struct Readable {
    pub(super) path: PathBuf,
    pub(super) dialect: Dialect,
}

/// The file itself where it is UTF-8, otherwise one beside `destination` that says the same. A file that is no text stays
/// as it is: the engine says where it is wrong.
pub(super) fn readable(source: &Path, format: TableFormat, destination: &Path) -> Result<Readable> {
    let plain = Dialect { quote: '"', separator: None };
    if !matches!(format, TableFormat::Csv | TableFormat::Json) {
        return Ok(Readable { path: source.to_owned(), dialect: plain });
    }
    let mut path = source.to_owned();
    let size = std::fs::metadata(source).map_err(|cause| internal(&cause))?.len();
    if size <= RECODED && !is_utf8(source)? {
        let bytes = std::fs::read(source).map_err(|cause| internal(&cause))?;
        if let Ok((text, _)) = decode::text(&bytes) {
            path = destination.with_extension("text");
            std::fs::write(&path, text.as_bytes()).map_err(|cause| internal(&cause))?;
        }
    }
    if format == TableFormat::Json {
        return Ok(Readable { path, dialect: plain });
    }
    let mut head = Vec::new();
    let file = File::open(&path).map_err(|cause| internal(&cause))?;
    file.take(LOOK as u64).read_to_end(&mut head).map_err(|cause| internal(&cause))?;
    Ok(Readable { path, dialect: dialect(&String::from_utf8_lossy(&head)) })
}

/// Whether all of a file is UTF-8 without a mark of another encoding, and without NUL.
fn is_utf8(source: &Path) -> Result<bool> {
    let mut reader = BufReader::new(File::open(source).map_err(|cause| internal(&cause))?);
    let mut block = vec![0; 1 << 20];
    let mut kept = 0;
    let mut is_first = true;
    loop {
        let room = block.get_mut(kept..).unwrap_or_default();
        let read = reader.read(room).map_err(|cause| internal(&cause))?;
        let bytes = block.get(..kept + read).unwrap_or_default();
        if std::mem::take(&mut is_first) && (bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")) {
            return Ok(false);
        }
        if bytes.contains(&0) {
            return Ok(false);
        }
        let rest = match std::str::from_utf8(bytes) {
            Ok(_) => 0,
            // A letter that the block cuts.
            Err(problem) if problem.error_len().is_none() && read > 0 => bytes.len() - problem.valid_up_to(),
            Err(_) => return Ok(false),
        };
        if read == 0 {
            return Ok(true);
        }
        let end = kept + read;
        block.copy_within(end - rest..end, 0);
        kept = rest;
    }
}

/// The signs of a table whose beginning this is: the usual ones unless others hold for every line.
fn dialect(head: &str) -> Dialect {
    let mut lines: Vec<&str> = head.lines().take(LINES).collect();
    // The last may be cut.
    if lines.len() > 2 {
        lines.pop();
    }
    lines.retain(|line| !line.trim().is_empty());
    let separator = if USUAL.iter().any(|sign| counts(&lines, *sign).is_some()) {
        None
    } else {
        UNUSUAL.into_iter().find(|sign| counts(&lines, *sign).is_some())
    };
    let signs: &[char] = separator.as_ref().map_or(&USUAL, std::slice::from_ref);
    let fields = || lines.iter().flat_map(|line| line.split(signs)).map(str::trim);
    let quoted = fields().filter(|field| field.len() > 1 && field.starts_with('\'') && field.ends_with('\'')).count();
    let is_single = !head.contains('"') && quoted > 1 && quoted * 4 >= fields().count();
    Dialect { quote: if is_single { '\'' } else { '"' }, separator }
}

/// How often a sign stands in every line outside of quotes, when it does and equally often.
fn counts(lines: &[&str], sign: char) -> Option<usize> {
    let count = |line: &str| {
        let mut is_quoted = false;
        let signs = line.chars().filter(|c| {
            is_quoted ^= *c == '"';
            *c == sign && !is_quoted
        });
        signs.count()
    };
    let first = lines.first().map(|line| count(line)).filter(|first| *first > 0 && lines.len() > 1)?;
    lines.iter().all(|line| count(line) == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_signs_are_found_and_usual_ones_left_to_the_engine() {
        let told = |head: &str| dialect(head);
        let plain = Dialect { quote: '"', separator: None };
        assert_eq!(told("a,b\n1,2\n"), plain);
        assert_eq!(told("a;b\n\"1~2\";2\n"), plain);
        assert_eq!(told("a\n1\n"), plain);
        assert_eq!(told("it's\nthat's\n"), plain);
        assert_eq!(told("a~b\n1~2\n"), Dialect { quote: '"', separator: Some('~') });
        assert_eq!(told("a\u{1f}b\n1\u{1f}2\n"), Dialect { quote: '"', separator: Some('\u{1f}') });
        assert_eq!(told("'a','b'\n'1, 2','x'\n"), Dialect { quote: '\'', separator: None });
        assert_eq!(told("'a'^'b'\n'1'^'x'\n"), Dialect { quote: '\'', separator: Some('^') });
    }

    #[test]
    fn a_letter_across_two_blocks_is_no_fault() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for (bytes, expected) in [
            ([vec![b'a'; (1 << 20) - 1], "é".repeat(10).into_bytes()].concat(), true),
            ([vec![b'a'; (1 << 20) - 1], vec![0xc3]].concat(), false),
            (b"a\xffb".to_vec(), false),
            (b"a\0b".to_vec(), false),
            (b"\xff\xfea\0".to_vec(), false),
        ] {
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(is_utf8(&path).unwrap(), expected);
        }
    }
}
