//! One embedded Qdrant shard: the chunks of one dataset version, each with a dense vector (cosine) and a sparse one
//! (BM25 terms; the shard multiplies them by the terms' IDF). Built once, sealed, then only read.
//!
//! Search is exact: no approximate index is built, so that the order never depends on chance. All calls block.

pub(super) mod builder;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use qdrant_edge::{
    Condition, CountRequest, EdgeShard, FacetRequest, FacetValue, FacetValueHit, FieldCondition, Filter, Match,
    NamedQuery, PointId, QueryEnum, QueryRequest, Record, ScoringQuery, ScrollRequest, SparseVector, VectorInternal,
    VectorStructInternal, WithPayloadInterface, WithVector,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::id::Id;
use crate::base::json::put;
use crate::engine::files::room_for;
use crate::engine::search::about::About;
use crate::engine::search::analysis;
use crate::engine::search::chunk;
use crate::engine::search::filter::{path, understood};
use crate::engine::search::manifest::{self, Fault, Owner};
use crate::engine::search::words::said;
use crate::model::dataset::Dataset;
use crate::model::document::{Document, Spot};
use crate::model::org::Org;

const DENSE: &str = "dense";
const SPARSE: &str = "sparse";
/// The engine writes through mapped memory, where a disk without room ends the process instead of a call. So much is left
/// free: far more than a batch and what the engine keeps of it take.
const SPARE: u64 = 64 << 20;

/// A chunk as the shard stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub tenant: Id<Org>,
    pub dataset: Id<Dataset>,
    pub document: Id<Document>,
    pub chunk_index: u32,
    pub heading: String,
    pub text: String,
    pub source_file: String,
    pub title: String,
    pub about: About,
    /// Chunks of shards of before have none.
    #[serde(default)]
    pub spot: Spot,
}

impl Stored {
    /// What the two legs index and embed.
    pub(super) fn searchable(&self) -> String {
        chunk::beneath(&self.heading, &self.title, &self.text)
    }
}

/// Whether a chunk may be written: whose it is, and what its vectors are.
///
/// # Errors
/// It may not.
pub(super) fn is_sound(
    stored: &Stored,
    dense: &[f32],
    sparse: &SparseVector,
    owner: Owner,
    dimension: usize,
) -> Result<(), Fault> {
    if (Owner { org: stored.tenant, dataset: stored.dataset }) != owner {
        return Err(Fault::Foreign);
    }
    let finite = dense.iter().chain(&sparse.values).all(|x| x.is_finite());
    if dense.len() != dimension || !finite || sparse.indices.len() != sparse.values.len() {
        return Err(Fault::Damaged(format!("unsound vector of {} coordinates", dense.len())));
    }
    Ok(())
}

/// What is kept of a chunk, with what phrases are looked for in.
pub(super) fn payload_of(stored: &Stored) -> Result<Value, Fault> {
    let mut payload = serde_json::to_value(stored).map_err(refused)?;
    let said = [&stored.text, &stored.heading, &stored.title, &stored.source_file].map(|text| said(text));
    let [text, heading, title, file] = said;
    put(&mut payload, "said", json!({ "text": text, "heading": heading, "title": title, "file": file }));
    Ok(payload)
}

/// A chunk's place, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Place {
    pub document: Id<Document>,
    pub chunk_index: u32,
}

/// The engine's shard. It flushes when it is dropped, and panics when it cannot: when its folder was removed, or the
/// disk is full. What counts was flushed by [`builder::Builder::finish`] before, so that panic ends here.
#[derive(Debug)]
struct Engine(Option<EdgeShard>);

impl Engine {
    fn get(&self) -> Result<&EdgeShard, Fault> {
        self.0.as_ref().ok_or_else(|| Fault::Engine("the shard is closed".into()))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let shard = self.0.take();
        if catch_unwind(AssertUnwindSafe(|| drop(shard))).is_err() {
            tracing::warn!("a shard could not be flushed when it was closed");
        }
    }
}

/// What the two legs say of a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// The chunk's number in its shard.
    pub point: u64,
    /// Cosine of query and chunk, -1 to 1; `None` when that leg did not run.
    pub dense: Option<f32>,
    /// BM25 of query and chunk, 0 for no common term; `None` when that leg did not run.
    pub sparse: Option<f32>,
}

/// An open, sealed shard. All of its chunks are the owner's: that is looked at when it is opened, and nothing is written
/// to it afterwards, so that no query has to ask it of each chunk again.
#[derive(Debug)]
pub(super) struct Shard {
    /// What made its vectors; see `Embed::identity`.
    encoder: String,
    engine: Engine,
    chunks: u64,
}

impl Shard {
    /// Opens a sealed shard; the engine lets one process have it open, once.
    ///
    /// # Errors
    /// Another owner's shard or chunk, one of other terms, a damaged one, or a disk that is nearly full.
    pub(super) fn open(folder: &Path, owner: Owner) -> Result<Self, Fault> {
        let encoder = manifest::encoder(folder)?;
        let points = manifest::verify(folder, owner, &encoder, analysis::IDENTITY)?;
        // To open it, the engine writes too.
        room_for(folder, SPARE)?;
        let shard = EdgeShard::load(folder, None).map_err(refused)?;
        let engine = Engine(Some(shard));
        let found = engine.get()?.info().points_count as u64;
        if found != points {
            return Err(Fault::Damaged(format!("{found} points instead of {points}")));
        }
        let owned = CountRequest { filter: Some(of_owner(owner)?), exact: true };
        if engine.get()?.count(owned).map_err(refused)? as u64 != points {
            return Err(Fault::Foreign);
        }
        Ok(Self { encoder, engine, chunks: points })
    }

    /// Whether vectors of this encoder can be compared with the shard's.
    pub(super) fn is_of(&self, encoder: &str) -> bool {
        self.encoder == encoder
    }

    /// How many chunks it holds.
    pub(super) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Its documents, each with how many chunks it has.
    fn documents(&self) -> Result<Vec<(Id<Document>, u64)>, Fault> {
        let all = FacetRequest { key: path("document")?, limit: usize::MAX, filter: None, exact: true };
        let counted = self.engine.get()?.facet(all).map_err(refused)?.hits;
        let document = |hit: FacetValueHit| match hit.value {
            FacetValue::Keyword(id) => Some((id.parse().ok()?, hit.count as u64)),
            _ => None,
        };
        let documents: Option<Vec<_>> = counted.into_iter().map(document).collect();
        documents.ok_or_else(|| Fault::Damaged("a chunk is of no document".into()))
    }

    /// Coordinates of its dense vectors.
    fn dimension(&self) -> Result<usize, Fault> {
        let dense = self.vectors(&[], 1)?.pop();
        dense.map(|vector| vector.len()).ok_or_else(|| Fault::Damaged("there are no vectors".into()))
    }

    /// The best `limit` chunks of the dense leg, with cosines.
    pub(super) fn nearest(&self, query: &[f32], among: Among<'_>, limit: usize) -> Result<Vec<(u64, f32)>, Fault> {
        self.query(DENSE, VectorInternal::from(query.to_vec()), among, limit)
    }

    /// The best `limit` chunks of the sparse leg, with BM25 scores; only chunks that share a term.
    pub(super) fn matching(
        &self,
        query: &SparseVector,
        among: Among<'_>,
        limit: usize,
    ) -> Result<Vec<(u64, f32)>, Fault> {
        self.query(SPARSE, VectorInternal::from(query.clone()), among, limit)
    }

    fn query(
        &self,
        leg: &str,
        query: VectorInternal,
        among: Among<'_>,
        limit: usize,
    ) -> Result<Vec<(u64, f32)>, Fault> {
        let request = QueryRequest {
            prefetches: vec![],
            query: Some(ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery::new(query, leg)))),
            filter: among.filter()?,
            score_threshold: None,
            limit,
            offset: 0,
            params: None,
            with_vector: WithVector::Bool(false),
            with_payload: WithPayloadInterface::Bool(false),
        };
        let points = self.engine.get()?.query(request).map_err(refused)?;
        points.into_iter().map(|point| Ok((number(point.id)?, point.score))).collect()
    }

    /// The chunks of these numbers, in the order of their numbers.
    ///
    /// # Errors
    /// One of them is not there, or is not the owner's.
    pub(super) fn read(&self, points: &[u64]) -> Result<Vec<(u64, Stored)>, Fault> {
        self.payloads(points, WithPayloadInterface::Bool(true))
    }

    /// Where the chunks of these numbers are from, in the order of their numbers.
    ///
    /// # Errors
    /// As [`Shard::read`].
    pub(super) fn places(&self, points: &[u64]) -> Result<Vec<(u64, Place)>, Fault> {
        self.payloads(points, WithPayloadInterface::Fields(vec![path("document")?, path("chunk_index")?]))
    }

    fn payloads<T: DeserializeOwned>(&self, points: &[u64], of: WithPayloadInterface) -> Result<Vec<(u64, T)>, Fault> {
        let records = self.scroll(Among::Points(points), points.len(), of, WithVector::Bool(false))?;
        if records.len() != points.len() {
            return Err(Fault::Damaged(format!("{} of {} chunks can be read", records.len(), points.len())));
        }
        records.into_iter().map(payload).collect()
    }

    /// At most `limit` chunks of these conditions, in the order of their numbers.
    pub(super) fn list(&self, conditions: &[Value], limit: usize) -> Result<Vec<(u64, Stored)>, Fault> {
        let of = WithPayloadInterface::Bool(true);
        let records = self.scroll(Among::Those(conditions), limit, of, WithVector::Bool(false))?;
        records.into_iter().map(payload).collect()
    }

    /// The numbers of at most `limit` chunks of these conditions, in order.
    pub(super) fn numbers(&self, conditions: &[Value], limit: usize) -> Result<Vec<u64>, Fault> {
        let of = WithPayloadInterface::Bool(false);
        let records = self.scroll(Among::Those(conditions), limit, of, WithVector::Bool(false))?;
        records.into_iter().map(|record| number(record.id)).collect()
    }

    /// The dense vectors of at most `limit` chunks of these conditions.
    pub(super) fn vectors(&self, conditions: &[Value], limit: usize) -> Result<Vec<Vec<f32>>, Fault> {
        let of = WithVector::Selector(vec![DENSE.into()]);
        let records = self.scroll(Among::Those(conditions), limit, WithPayloadInterface::Bool(false), of)?;
        let dense = |record: Record| match record.vector {
            Some(VectorStructInternal::Named(mut named)) => match named.remove(DENSE) {
                Some(VectorInternal::Dense(vector)) => Ok(vector),
                _ => Err(Fault::Damaged("a chunk has no vector".into())),
            },
            _ => Err(Fault::Damaged("a chunk has no vector".into())),
        };
        records.into_iter().map(dense).collect()
    }

    /// The dense and the sparse vectors of the chunks of these numbers, in the order of their numbers.
    ///
    /// # Errors
    /// One of them has not both.
    pub(super) fn pairs(&self, points: &[u64]) -> Result<Vec<(Vec<f32>, SparseVector)>, Fault> {
        let all = WithVector::Bool(true);
        let records = self.scroll(Among::Points(points), points.len(), WithPayloadInterface::Bool(false), all)?;
        let both = |record: Record| match record.vector {
            Some(VectorStructInternal::Named(mut named)) => match (named.remove(DENSE), named.remove(SPARSE)) {
                (Some(VectorInternal::Dense(dense)), Some(VectorInternal::Sparse(sparse))) => Some((dense, sparse)),
                _ => None,
            },
            _ => None,
        };
        let read = |record| both(record).ok_or_else(|| Fault::Damaged("a chunk lacks a vector".into()));
        records.into_iter().map(read).collect()
    }

    fn scroll(
        &self,
        among: Among<'_>,
        limit: usize,
        payload: WithPayloadInterface,
        with_vector: WithVector,
    ) -> Result<Vec<Record>, Fault> {
        let request = ScrollRequest {
            offset: None,
            limit: Some(limit),
            filter: among.filter()?,
            with_payload: Some(payload),
            with_vector,
            order_by: None,
        };
        Ok(self.engine.get()?.scroll(request).map_err(refused)?.0)
    }

    /// Takes the sparse vectors away, as a damaged index does.
    #[cfg(test)]
    pub(crate) fn drop_words(&self) {
        use qdrant_edge::{DeleteVectorName, UpdateOperation, VectorNameOperations};
        let delete = VectorNameOperations::DeleteVectorName(DeleteVectorName { vector_name: SPARSE.into() });
        self.engine.get().unwrap().update(UpdateOperation::VectorNameOperation(delete)).unwrap();
    }
}

/// Chunks of one tenant and dataset.
fn of_owner(owner: Owner) -> Result<Filter, Fault> {
    let is = |field, value: String| {
        path(field).map(|path| Condition::Field(FieldCondition::new_match(path, Match::from(value))))
    };
    let must = vec![is("tenant", owner.org.to_string())?, is("dataset", owner.dataset.to_string())?];
    Ok(Filter { must: Some(must), ..Filter::new() })
}

/// Which chunks a query is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Among<'a> {
    /// All that these conditions hold for.
    Those(&'a [Value]),
    Points(&'a [u64]),
}

impl Among<'_> {
    /// `None` where all chunks are meant: the engine has faster ways to those.
    fn filter(self) -> Result<Option<Filter>, Fault> {
        Ok(match self {
            Self::Those([]) => None,
            Self::Those(conditions) => Some(Filter { must: Some(understood(conditions)?), ..Filter::new() }),
            Self::Points(points) => {
                Some(Filter::new().with_point_ids(points.iter().map(|point| PointId::NumId(*point))))
            }
        })
    }
}

fn payload<T: DeserializeOwned>(record: Record) -> Result<(u64, T), Fault> {
    let payload = record.payload.ok_or_else(|| Fault::Damaged("a chunk has no payload".into()))?;
    let read = serde_json::from_value(Value::Object(payload.0));
    Ok((number(record.id)?, read.map_err(|problem| Fault::Damaged(problem.to_string()))?))
}

fn number(id: PointId) -> Result<u64, Fault> {
    match id {
        PointId::NumId(number) => Ok(number),
        PointId::Uuid(_) => Err(Fault::Damaged("a chunk has no number".into())),
    }
}

fn refused(problem: impl std::fmt::Display) -> Fault {
    Fault::Engine(problem.to_string())
}
