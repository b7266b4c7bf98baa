//! Where chunks are kept, whatever it is: what search asks of it. It answers for versions of datasets, many at a time, so
//! that one that keeps them together can ask once. The tenant and the dataset are in every question.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use qdrant_edge::SparseVector;
use serde_json::Value;

use crate::engine::search::manifest::Owner;
use crate::engine::search::shard::{Hit, Place, Stored};
use crate::model::error::Result;

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
    /// The legs that failed, as a person would call them.
    pub failed: Vec<&'static str>,
}

/// The dense and the sparse vector of a chunk.
pub(super) type Pair = (Vec<f32>, SparseVector);

/// See the module. What goes wrong is logged where it happens, once, with the dataset.
pub(super) trait Index: Send + Sync {
    /// The candidates of each, in the order of the keys. One that fails does not spoil the others.
    fn find<'a>(&'a self, keys: &'a [Key], query: &'a Query) -> BoxFuture<'a, Vec<Result<Answer>>>;

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

    /// Lets go of a version, so that its data can be removed; waits for the queries that use it (milliseconds).
    fn forget(&self, key: &Key);
}
