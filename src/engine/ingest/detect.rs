//! What a file will become, by what is in it ([`extract::detect`]).

use std::fs::File;
use std::path::Path;

use crate::engine::extract::{self, Format};
use crate::engine::sql::TableFormat;
use crate::model::error::{Error, Result};

/// How a file will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Table(TableFormat),
    /// Each sheet is a table.
    Workbook,
    /// A document that is text already.
    Text,
    /// One or more documents, for their reader.
    Documents,
}

impl FileKind {
    /// Whether several such files make one dataset.
    pub fn is_document(self) -> bool {
        matches!(self, FileKind::Text | FileKind::Documents)
    }
}

/// Looks into a file, which people call `name`. Blocks, for as long as some kilobytes take.
///
/// # Errors
/// `invalid_argument` that says what it is instead, and which kinds are understood.
pub fn kind_of(path: &Path, name: &str) -> Result<FileKind> {
    let unread = |cause| Error::invalid("file", format!("{name} cannot be read: {cause}."));
    let mut file = File::open(path).map_err(unread)?;
    let format = extract::detect::format(&mut file, name).map_err(|error| {
        let message = format!("{name} cannot be imported: {}", error.message);
        Error { message, ..error }
    })?;
    Ok(match format {
        Format::Csv => FileKind::Table(TableFormat::Csv),
        Format::Json => FileKind::Table(TableFormat::Json),
        Format::Parquet => FileKind::Table(TableFormat::Parquet),
        Format::Workbook => FileKind::Workbook,
        Format::Text | Format::Markdown => FileKind::Text,
        Format::Pdf
        | Format::Docx
        | Format::Pptx
        | Format::OpenDocument
        | Format::Html
        | Format::Mail
        | Format::Mailbox
        | Format::Epub
        | Format::Rtf
        | Format::Zip => FileKind::Documents,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_it_decides_and_a_refusal_says_which_file() {
        let folder = tempfile::tempdir().unwrap();
        let told = |name: &str, bytes: &[u8]| {
            let path = folder.path().join("upload");
            std::fs::write(&path, bytes).unwrap();
            kind_of(&path, name)
        };
        assert_eq!(told("a/Sales.CSV", b"a,b\n1,2\n").unwrap(), FileKind::Table(TableFormat::Csv));
        assert_eq!(told("x.ndjson", b"{\"a\":1}\n").unwrap(), FileKind::Table(TableFormat::Json));
        assert_eq!(told("guide.md", b"# A\n").unwrap(), FileKind::Text);
        assert_eq!(told("guide.md", b"%PDF-1.7").unwrap(), FileKind::Documents);
        for (bad, bytes) in [("evil.duckdb", &b"\0\0\0\0\0\0\0\0DUCK"[..]), ("a.exe", b"MZ\0\0"), ("x", b"")] {
            let message = told(bad, bytes).unwrap_err().message;
            assert!(message.starts_with(&format!("{bad} cannot be imported")), "{message}");
        }
    }
}
