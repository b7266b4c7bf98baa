//! Where chunks are kept, whatever it is: what search asks of it, and how versions come into it and leave it. It answers
//! for versions of datasets, many at a time. The tenant and the dataset are in every question.
//!
//! A version is written as a [`Draft`], which nobody sees. Sealed, it is whole and survives a crash; [`Index::put`] gives it
//! its place, before the metadata name it. What a crash leaves between these steps is found by the next start.

use std::collections::HashSet;
use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use qdrant_edge::SparseVector;
use serde_json::Value;

use crate::base::id::Id;
use crate::engine::search::manifest::Owner;
use crate::engine::search::shard::{Hit, Place, Stored};
use crate::model::cluster_index::Build;
use crate::model::document::Document;
use crate::model::error::{Error, Result};

/// A dataset version of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub owner: Owner,
    pub version: String,
}

/// A query in the forms that the legs understand.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    pub dense: Option<Dense>,
    pub sparse: Option<SparseVector>,
    /// Candidates that the dense leg proposes of each dataset, and the sparse one: what one proposes the other scores
    /// too, wherever it runs.
    pub near: usize,
    pub equal: usize,
    /// What all of them must be ([`crate::engine::search::filter`]).
    pub conditions: Arc<[Value]>,
    /// Without terms, the sparse leg proposes whatever the conditions hold for, in the order of the chunks.
    pub lists: bool,
}

/// A meaning, as one encoder sees it.
#[derive(Clone, Debug)]
pub(super) struct Dense {
    pub vector: Vec<f32>,
    /// See [`crate::engine::search::embed::Embed::identity`].
    pub encoder: String,
    /// See [`crate::engine::search::embed::Embed::pull`].
    pub pull: f32,
}

/// What one dataset answered.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub hits: Vec<Hit>,
    /// Whether its vectors are of another encoder, so that meanings could not be compared.
    pub is_outdated: bool,
    /// Whether chunks of it are lost, so that the hits may not be the best.
    pub is_partial: bool,
    /// The legs that failed, as a person would call them.
    pub failed: Vec<&'static str>,
}

/// The dense and the sparse vector of a chunk.
pub(super) type Pair = (Vec<f32>, SparseVector);

/// A chunk with what the legs compare.
pub(super) type Point = (Stored, Vec<f32>, SparseVector);

/// A version that is being written. All calls block.
pub(super) trait Draft: Send {
    /// Adds chunks. They are numbered in the order of the calls, which later breaks ties.
    ///
    /// # Errors
    /// A vector of another length or with a coordinate that is not finite, a chunk of another owner, no room, or a server
    /// that does not answer. The draft is of no use then.
    fn add(&mut self, chunks: Vec<Point>) -> Result<()>;

    /// Ends it: what was added is there, counted, and survives a crash.
    ///
    /// # Errors
    /// As [`Draft::add`]; not all of it is there.
    fn seal(self: Box<Self>) -> Result<Sealed>;
}

/// A version that has what an earlier one has, and the numbers of chunks of that one that it does not have yet.
pub(super) type Over = (Box<dyn Draft>, Vec<u64>);

/// A version that is written and has no place yet. Dropped without one, it is removed, or by the next start.
pub struct Sealed {
    pub(super) chunks: u64,
    /// Bytes on disk, as far as they can be told.
    pub(super) bytes: u64,
    pub(super) what: What,
}

impl Sealed {
    /// How many chunks it has.
    ///
    /// # Errors
    /// More than can be counted.
    pub fn chunks(&self) -> Result<i64> {
        i64::try_from(self.chunks).map_err(Error::internal)
    }

    /// Bytes on disk, as far as they can be told.
    ///
    /// # Errors
    /// As [`Sealed::chunks`].
    pub fn bytes(&self) -> Result<i64> {
        i64::try_from(self.bytes).map_err(Error::internal)
    }
}

/// Where a sealed version waits.
pub(super) enum What {
    Folder {
        path: PathBuf,
        /// Removes the folder around it.
        _staging: tempfile::TempDir,
    },
    Points {
        build: Id<Build>,
        /// Removes the points, unless it is told that they stay.
        unless_placed: Undo,
    },
}

/// Runs something when it is dropped, unless it was taken back.
pub(super) struct Undo(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Undo {
    pub(super) fn new(undo: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(undo)))
    }

    pub(super) fn take_back(mut self) {
        self.0 = None;
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Some(undo) = self.0.take() {
            undo();
        }
    }
}

/// See the module. What goes wrong is logged where it happens, once, with the dataset.
pub(super) trait Index: Send + Sync {
    /// The chunks of these numbers.
    ///
    /// # Errors
    /// One of them is not there, or is not the owner's.
    fn read<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>>;

    /// Where the chunks of these numbers are from.
    ///
    /// # Errors
    /// As [`Index::read`].
    fn places<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Place)>>>;

    /// At most `limit` chunks of these conditions, in the order of their numbers.
    fn list<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>>;

    /// The dense vectors of at most `limit` chunks of these conditions.
    fn vectors<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<Vec<f32>>>>;

    /// The dense and the sparse vectors of the chunks of these numbers.
    ///
    /// # Errors
    /// One of them has not both.
    fn pairs<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Pair>>>;

    /// Whether the vectors of a version are of this encoder.
    fn is_of<'a>(&'a self, key: &'a Key, encoder: String) -> BoxFuture<'a, Result<bool>>;

    /// The numbers of all chunks of a version, in order.
    fn numbers<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Vec<u64>>>;

    /// What made the vectors of a version (see `Embed::identity`); `None` where it has to be made anew of its texts: it is
    /// damaged, not whole or of another format, or is cut otherwise than texts are cut now.
    ///
    /// # Errors
    /// It cannot be told now.
    fn encoder<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<String>>>;

    /// Whether a version is in place.
    fn holds<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>>;

    /// Begins to write a version, for vectors of an encoder with so many coordinates.
    fn begin<'a>(&'a self, key: &'a Key, encoder: String, dimension: usize) -> BoxFuture<'a, Result<Box<dyn Draft>>>;

    /// Begins to write a version that has what an earlier one of the same encoder has, without the documents that do not
    /// stay; with the numbers of chunks of the earlier one that are to be added still where their documents stay. Nothing
    /// where all that stays is to be added like all else.
    fn begin_over<'a>(
        &'a self,
        _key: &'a Key,
        _earlier: &'a Key,
        _stay: &'a HashSet<Id<Document>>,
    ) -> BoxFuture<'a, Result<Option<Over>>> {
        Box::pin(ready(Ok(None)))
    }

    /// The chunks of these numbers of a sealed version of this key, with their vectors.
    fn written<'a>(&'a self, key: &'a Key, sealed: &'a Sealed, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Point>>>;

    /// Gives a sealed version its place. What was there before goes, in one step: at every moment, and after a crash too,
    /// one of them is there whole.
    ///
    /// # Errors
    /// It has no place; what was there is there still.
    fn put<'a>(&'a self, key: &'a Key, sealed: Sealed) -> BoxFuture<'a, Result<()>>;

    /// Removes a version; absent is fine.
    fn remove<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>>;
}
