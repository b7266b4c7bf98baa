//! What a file is, by its name.

use crate::engine::sql::TableFormat;
use crate::model::error::{Error, Result};

/// How a file will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Table(TableFormat),
    Text,
}

/// Names that are understood, for messages.
const UNDERSTOOD: &str = ".csv, .tsv, .json, .jsonl, .ndjson, .parquet, .txt, .md, .markdown";

/// Decides by the extension.
///
/// # Errors
/// `invalid_argument` with the extensions that are understood.
pub fn kind_of(file_name: &str) -> Result<FileKind> {
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("csv" | "tsv") => Ok(FileKind::Table(TableFormat::Csv)),
        Some("json" | "jsonl" | "ndjson") => Ok(FileKind::Table(TableFormat::Json)),
        Some("parquet") => Ok(FileKind::Table(TableFormat::Parquet)),
        Some("txt" | "md" | "markdown") => Ok(FileKind::Text),
        _ => Err(Error::invalid(
            "file",
            format!("{file_name:?} cannot be imported: the name should end in one of {UNDERSTOOD}."),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        assert_eq!(kind_of("a/Sales.CSV").unwrap(), FileKind::Table(TableFormat::Csv));
        assert_eq!(kind_of("x.ndjson").unwrap(), FileKind::Table(TableFormat::Json));
        assert_eq!(kind_of("flights.parquet").unwrap(), FileKind::Table(TableFormat::Parquet));
        assert_eq!(kind_of("guide.md").unwrap(), FileKind::Text);
        for bad in ["evil.duckdb", "noextension", "a.exe", ""] {
            assert!(kind_of(bad).unwrap_err().message.contains(".parquet"), "{bad}");
        }
    }
}
