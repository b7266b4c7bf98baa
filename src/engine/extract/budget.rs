//! What one file may cost: a small one can hold very much.

use std::cell::Cell;

use serde_json::json;

use crate::model::error::{Code, Error, Result};

/// Bytes of text that are taken of one file.
const TEXT: u64 = 40 << 20;
/// Members of all archives within one file.
const MEMBERS: u64 = 20_000;
/// Archives within archives.
const DEPTH: u64 = 4;
/// How many times its size a file may unpack to; a small one to [`UNPACKED_LEAST`] all the same.
const UNPACKED_TIMES: u64 = 200;
const UNPACKED_LEAST: u64 = 64 << 20;
const UNPACKED_MOST: u64 = 1 << 30;

/// What is left of what a file may cost, with all that is within it.
pub struct Budget {
    text: Cell<u64>,
    members: Cell<u64>,
    depth: Cell<u64>,
    unpacked: Cell<u64>,
    allowed: u64,
}

impl Budget {
    /// For a file of so many bytes.
    pub fn new(size: u64) -> Self {
        let allowed = size.saturating_mul(UNPACKED_TIMES).clamp(UNPACKED_LEAST, UNPACKED_MOST);
        Self {
            text: Cell::new(TEXT),
            members: Cell::new(MEMBERS),
            depth: Cell::new(DEPTH),
            unpacked: Cell::new(allowed),
            allowed,
        }
    }

    /// # Errors
    /// `limit_exceeded` when it has more text than is taken.
    pub(super) fn text(&self, bytes: usize) -> Result<()> {
        let message = format!("it has more text than is taken of one file ({} MB). Split it.", TEXT >> 20);
        take(&self.text, bytes as u64, "text_bytes", TEXT, message)
    }

    /// # Errors
    /// `limit_exceeded` when there are too many members.
    pub(super) fn members(&self, count: usize) -> Result<()> {
        let message = format!("it has more than {MEMBERS} members.");
        take(&self.members, count as u64, "members", MEMBERS, message)
    }

    /// Goes one archive deeper, until the guard is dropped.
    ///
    /// # Errors
    /// `limit_exceeded` when archives are nested too deep.
    pub(super) fn deeper(&self) -> Result<Deeper<'_>> {
        take(&self.depth, 1, "depth", DEPTH, format!("more than {DEPTH} files are nested in each other."))?;
        Ok(Deeper(self))
    }

    /// How many bytes may still be unpacked.
    pub(super) fn unpackable(&self) -> u64 {
        self.unpacked.get()
    }

    /// # Errors
    /// `limit_exceeded` when it unpacks to too much.
    pub(super) fn unpacked(&self, bytes: u64) -> Result<()> {
        let message = format!("it unpacks to more than {} MB, which is far more than its size.", self.allowed >> 20);
        take(&self.unpacked, bytes, "unpacked_bytes", self.allowed, message)
    }
}

/// One archive deeper.
pub(super) struct Deeper<'b>(&'b Budget);

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get() + 1);
    }
}

fn take(from: &Cell<u64>, amount: u64, limit: &str, most: u64, message: String) -> Result<()> {
    match from.get().checked_sub(amount) {
        Some(left) => {
            from.set(left);
            Ok(())
        }
        None => Err(Error::new(Code::LimitExceeded, message).with(json!({ "limit": limit, "max": most }))),
    }
}
