//! Where in a file the records of a table are. In CSV a value in quotes may have several lines, so that the number of a
//! record does not say its line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use duckdb::Connection;

use super::instance::internal;
use super::source::Dialect;
use crate::model::error::Result;

/// What separates values where nothing else is said.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// What counts the places of a file.
pub(super) enum Places<'a> {
    /// Records, from 1.
    Records,
    /// Lines of a text, from 1. So many records of it became rows.
    Lines { path: &'a Path, dialect: &'a Dialect, rows: u64 },
}

impl<'a> Places<'a> {
    /// Lines of the file whose records are in `made.main.data`.
    pub(super) fn lines(connection: &Connection, path: &'a Path, dialect: &'a Dialect) -> duckdb::Result<Self> {
        let rows = connection.query_row("SELECT count(*) FROM made.main.data", [], |row| row.get(0))?;
        Ok(Self::Lines { path, dialect, rows })
    }

    /// The places of rows, which are counted from 0, and what these are: `line`, or `record` where the file's records are
    /// not those of the table, as with words above the names of its columns.
    pub(super) fn of(&self, rows: &[u64]) -> Result<(&'static str, Vec<u64>)> {
        let records = || ("record", rows.iter().map(|row| row + 1).collect());
        match self {
            Self::Records => Ok(records()),
            Self::Lines { path, dialect, rows: all } => {
                let lines = lines(path, dialect, *all, rows).map_err(|cause| internal(&cause))?;
                Ok(lines.map_or_else(records, |lines| ("line", lines)))
            }
        }
    }
}

/// Where the reader of a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Line,
    Field,
    Value,
    Quoted,
    /// After a quote within quotes, which ends them unless a second follows.
    Quote,
}

/// The lines in which rows begin; nothing where the file has other records than `all` rows and one with their names.
fn lines(path: &Path, dialect: &Dialect, all: u64, rows: &[u64]) -> std::io::Result<Option<Vec<u64>>> {
    let quote = dialect.quote as u8;
    // Of a sign of several bytes the last one.
    let unusual = dialect.separator.and_then(|sign| sign.to_string().bytes().last());
    let separates = |byte: u8| unusual.map_or(SEPARATORS.contains(&byte), |sign| sign == byte);
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.read_exact(&mut [0; 3])?;
    }
    let (mut line, mut records, mut at) = (1_u64, 0_u64, At::Line);
    // For each row the line of the record of its number, and of the one after it.
    let mut found = vec![[0_u64; 2]; rows.len()];
    loop {
        let block = reader.fill_buf()?;
        let read = block.len();
        if read == 0 {
            break;
        }
        for &byte in block {
            if at == At::Line && !matches!(byte, b'\n' | b'\r') {
                for (row, lines) in rows.iter().zip(&mut found) {
                    if let Some(place) = records.checked_sub(*row).and_then(|by| lines.get_mut(by as usize)) {
                        *place = line;
                    }
                }
                records += 1;
                at = At::Field;
            }
            at = match at {
                At::Quoted if byte == quote => At::Quote,
                At::Quoted => At::Quoted,
                At::Quote if byte == quote => At::Quoted,
                At::Field if byte == quote => At::Quoted,
                _ if byte == b'\n' => At::Line,
                At::Line => At::Line,
                _ if separates(byte) => At::Field,
                _ => At::Value,
            };
            line += u64::from(byte == b'\n');
        }
        reader.consume(read);
    }
    let of = |named: usize| found.iter().filter_map(|lines| lines.get(named).copied()).collect();
    Ok(records.checked_sub(all).filter(|named| *named < 2).map(|named| of(named as usize)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_begins_in_the_line_that_people_count() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = |text: &str, separator: Option<char>, all: u64| {
            std::fs::write(file.path(), text).unwrap();
            lines(file.path(), &Dialect { quote: '"', separator }, all, &[0, 2]).unwrap()
        };
        assert_eq!(found("a,b\n1,x\n2,y\n3,z\n", None, 3), Some(vec![2, 4]));
        assert_eq!(found("1,x\r\n2,y\r\n3,z", None, 3), Some(vec![1, 3]), "without names");
        assert_eq!(found("\u{feff}\"a\",b\n1,\"x\n\"\"y\"\"\n\"\n\n2,5\" wide\n3,z\n", None, 3), Some(vec![2, 7]));
        assert_eq!(found("a§b\n1§\"x\n\"\n2§y\n3§z\n", Some('§'), 3), Some(vec![2, 5]));
        assert_eq!(found("Sales\n2024\na,b\n1,x\n2,y\n3,z\n", None, 3), None, "words above the names");
    }
}
