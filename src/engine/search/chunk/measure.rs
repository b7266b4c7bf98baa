//! How long a text is to an encoder, in its own word pieces: what a chunk has beyond an encoder's reach it does not read.

use std::sync::Arc;

use tokenizers::{Encoding, Tokenizer};

use crate::engine::search::tokens;

/// Word pieces of a chunk with its headings: the built-in encoder reads 128, of which two are marks of its own. Those that
/// read more get no longer chunks: they find no better by them, and whoever reads what was found reads more.
pub(super) const MOST: usize = 126;
/// A chunk keeps at least this much room, however long its headings are, and however little an encoder reads.
pub(super) const LEAST: usize = 56;

/// See the module; clones share the tokenizer.
#[derive(Clone)]
pub(in crate::engine::search) struct Measure {
    /// Word pieces that a chunk may have with its headings.
    pub(super) room: usize,
    tokenizer: Option<Arc<Tokenizer>>,
}

impl Default for Measure {
    /// Of the built-in encoder, and of those whose word pieces nobody knows.
    fn default() -> Self {
        Self { room: MOST, tokenizer: None }
    }
}

impl Measure {
    /// Of an encoder that reads so many word pieces of a text, beside its marks and what is put before.
    pub(in crate::engine::search) fn of(tokenizer: Arc<Tokenizer>, reads: usize) -> Self {
        Self { room: reads.clamp(LEAST, MOST), tokenizer: Some(tokenizer) }
    }

    /// The pieces of a text, or more than there is room for. What encoders skip or call unknown as a whole counts by its
    /// length, so that no text is long and counts little.
    pub(super) fn count(&self, text: &str) -> usize {
        let Some(tokenizer) = &self.tokenizer else { return tokens::count(text) };
        let least = text.chars().count() / tokens::DENSE;
        // Too long already: nobody asks how much.
        if least > self.room {
            return least;
        }
        // What is cut off at the encoder's reach is kept apart.
        let whole = |read: Encoding| read.len() + read.get_overflowing().iter().map(Encoding::len).sum::<usize>();
        tokenizer.encode_fast(text, false).map_or_else(|_unread| tokens::count(text), whole).max(least)
    }
}
