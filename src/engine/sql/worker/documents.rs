//! A file becomes documents, or tells its sheets. Once its bytes are here nothing is opened any more.

use std::io;
use std::path::Path;

use serde_json::json;

use super::instance::internal;
use crate::engine::extract::bucket::{self, Said};
use crate::engine::extract::sheets::{Sheet, Workbook};
use crate::engine::extract::sitemap::{self, Sitemap};
use crate::engine::extract::{self, Budget, Found};
use crate::model::error::{Code, Error, Result};

/// Bytes of one file: it is held in memory as a whole.
const FILE_BYTES: u64 = 256 << 20;

pub(super) fn read(source: &Path, name: &str, close: impl FnOnce() -> io::Result<()>) -> Result<Found> {
    let bytes = bytes(source)?;
    close().map_err(|cause| internal(&cause))?;
    extract::read(&bytes, name)
}

pub(super) fn sheets(source: &Path, close: impl FnOnce() -> io::Result<()>) -> Result<Vec<Sheet>> {
    let bytes = bytes(source)?;
    close().map_err(|cause| internal(&cause))?;
    let budget = Budget::new(bytes.len() as u64);
    let mut workbook = Workbook::open(bytes, &budget)?;
    let mut filled = Vec::new();
    for sheet in workbook.sheets() {
        filled.extend(workbook.table(&sheet)?.map(|_| sheet));
    }
    match filled.is_empty() {
        true => Err(Error::invalid("file", "its sheets are empty.")),
        false => Ok(filled),
    }
}

pub(super) fn sitemap(source: &Path, close: impl FnOnce() -> io::Result<()>) -> Result<Sitemap> {
    let bytes = bytes(source)?;
    close().map_err(|cause| internal(&cause))?;
    sitemap::read(&bytes)
}

pub(super) fn bucket(source: &Path, close: impl FnOnce() -> io::Result<()>) -> Result<Said> {
    let bytes = bytes(source)?;
    close().map_err(|cause| internal(&cause))?;
    bucket::read(&bytes)
}

/// All of a file, when it is not too large.
pub(super) fn bytes(source: &Path) -> Result<Vec<u8>> {
    let size = std::fs::metadata(source).map_err(|cause| internal(&cause))?.len();
    if size > FILE_BYTES {
        let message =
            format!("it has {} MB, and a document or workbook has at most {} MB.", size >> 20, FILE_BYTES >> 20);
        let details = json!({ "limit": "file_bytes", "max": FILE_BYTES });
        return Err(Error::new(Code::FileTooLarge, message).with(details));
    }
    std::fs::read(source).map_err(|cause| internal(&cause))
}
