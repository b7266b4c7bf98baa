//! One embedded Qdrant shard: the chunks of one dataset version, each with a dense vector (cosine) and a sparse one
//! (BM25 terms; the shard multiplies them by the terms' IDF). Built once, sealed, then only read.
//!
//! Search is exact: no approximate index is built, so that the order never depends on chance. All calls block.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use qdrant_edge::bm25_embed::{EdgeBm25, EdgeBm25Config};
use qdrant_edge::external::ordered_float::NotNan;
use qdrant_edge::{
    Condition, CreateIndex, Distance, EdgeConfig, EdgeShard, EdgeSparseVectorParams, EdgeVectorParams, FieldCondition,
    FieldIndexOperations, Filter, JsonPath, Match, Modifier, NamedQuery, PayloadFieldSchema, PayloadSchemaType,
    PointId, PointInsertOperations, PointOperations, PointStruct, QueryEnum, QueryRequest, ScoringQuery, ScrollRequest,
    SparseVector, UpdateOperation, Vector, VectorInternal, Vectors, WalOptions, WithPayloadInterface, WithVector,
};
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::search::embed::DIMENSION;
use crate::engine::search::manifest::{self, Fault, Owner};
use crate::model::dataset::Dataset;
use crate::model::document::{Document, Spot};
use crate::model::org::Org;

const DENSE: &str = "dense";
const SPARSE: &str = "sparse";
const WAL: &str = "wal";

/// A chunk as the shard stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub tenant: Id<Org>,
    pub dataset: Id<Dataset>,
    pub document: Id<Document>,
    pub chunk_index: u32,
    pub heading: String,
    pub text: String,
    pub source_file: String,
    pub title: String,
    /// Chunks of shards of before have none.
    #[serde(default)]
    pub spot: Spot,
}

/// Texts into weighted terms: English stems without stop words, accents folded, BM25's saturation of counts.
#[derive(Debug)]
pub(super) struct Terms(EdgeBm25);

impl Terms {
    /// Changes whenever the same text would yield other terms.
    pub(super) const IDENTITY: &str = "bm25 k1=1.2 b=0.75 length=60 english folded v1";

    /// # Errors
    /// The engine refuses the settings.
    pub(super) fn new() -> Result<Self, Fault> {
        // Terms of a full chunk, stop words not counted.
        let avg_len = NotNan::new(60.0).map_err(refused)?;
        let config = EdgeBm25Config { avg_len, ascii_folding: Some(true), ..EdgeBm25Config::default() };
        EdgeBm25::new(config).map(Self).map_err(refused)
    }

    pub(super) fn of_chunk(&self, text: &str) -> SparseVector {
        self.0.embed_document(text)
    }

    /// `None` for a query of stop words only.
    pub(super) fn of_query(&self, text: &str) -> Option<SparseVector> {
        Some(self.0.embed_query(text)).filter(|terms| !terms.indices.is_empty())
    }
}

/// The engine's shard. It flushes when it is dropped, and panics when it cannot: when its folder was removed, or the
/// disk is full. What counts was flushed by [`Builder::finish`] before, so that panic ends here.
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

/// A shard that is being built. Nothing of it counts before [`Builder::finish`].
#[derive(Debug)]
pub(super) struct Builder {
    folder: PathBuf,
    owner: Owner,
    encoder: String,
    engine: Engine,
    points: u64,
}

impl Builder {
    /// Starts in a folder that is empty or absent.
    pub(super) fn create(folder: &Path, owner: Owner, encoder: String) -> Result<Self, Fault> {
        fs::create_dir_all(folder)?;
        if fs::read_dir(folder)?.next().is_some() {
            return Err(Fault::Damaged("the folder for a new shard is not empty".into()));
        }
        let shard = EdgeShard::new(folder, config()).map_err(refused)?;
        for field in ["tenant", "dataset"] {
            let index = CreateIndex {
                field_name: path(field)?,
                field_schema: Some(PayloadFieldSchema::FieldType(PayloadSchemaType::Keyword)),
            };
            let operation = UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(index));
            shard.update(operation).map_err(refused)?;
        }
        Ok(Self { folder: folder.to_owned(), owner, encoder, engine: Engine(Some(shard)), points: 0 })
    }

    /// Adds chunks. They are numbered in the order of the calls, which later breaks ties.
    ///
    /// # Errors
    /// A vector of another length or with a coordinate that is not finite (the engine would take it), a chunk of
    /// another owner, or the engine's refusal.
    pub(super) fn add(&mut self, chunks: Vec<(Stored, Vec<f32>, SparseVector)>) -> Result<(), Fault> {
        let mut points = Vec::with_capacity(chunks.len());
        for (stored, dense, sparse) in chunks {
            if (Owner { org: stored.tenant, dataset: stored.dataset }) != self.owner {
                return Err(Fault::Foreign);
            }
            let finite = dense.iter().chain(&sparse.values).all(|x| x.is_finite());
            if dense.len() != DIMENSION || !finite || sparse.indices.len() != sparse.values.len() {
                return Err(Fault::Damaged(format!("unsound vector of {} coordinates", dense.len())));
            }
            let payload = serde_json::to_value(&stored).map_err(refused)?;
            let vectors = Vectors::new_named([(DENSE, Vector::from(dense)), (SPARSE, Vector::from(sparse))]);
            points.push(PointStruct::new(PointId::NumId(self.points), vectors, payload).into());
            self.points += 1;
        }
        let points = PointInsertOperations::PointsList(points);
        let operation = UpdateOperation::PointOperation(PointOperations::UpsertPoints(points));
        self.engine.get()?.update(operation).map_err(refused)
    }

    /// Flushes, closes and seals: after it the shard survives a crash. Returns points and bytes on disk.
    pub(super) fn finish(self) -> Result<(u64, u64), Fault> {
        let Self { folder, owner, encoder, engine, points } = self;
        // Panics when it fails, which the caller's task reports; the drop only repeats it.
        engine.get()?.flush();
        drop(engine);
        // This version of the engine never replays its log, and the shard is not written again.
        fs::remove_dir_all(folder.join(WAL))?;
        let bytes = manifest::seal(&folder, owner, &encoder, Terms::IDENTITY, points)?;
        Ok((points, bytes))
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

/// An open, sealed shard.
#[derive(Debug)]
pub(super) struct Shard {
    owner: Owner,
    engine: Engine,
}

impl Shard {
    /// Opens a sealed shard; the engine lets one process have it open, once.
    ///
    /// # Errors
    /// Another owner's or another encoder's shard, or a damaged one.
    pub(super) fn open(folder: &Path, owner: Owner, encoder: &str) -> Result<Self, Fault> {
        let points = manifest::verify(folder, owner, encoder, Terms::IDENTITY)?;
        let shard = EdgeShard::load(folder, Some(config())).map_err(refused)?;
        let engine = Engine(Some(shard));
        let found = engine.get()?.info().points_count as u64;
        if found != points {
            return Err(Fault::Damaged(format!("{found} points instead of {points}")));
        }
        Ok(Self { owner, engine })
    }

    /// The best `limit` chunks of the dense leg, with cosines.
    pub(super) fn nearest(&self, query: &[f32], among: Option<&[u64]>, limit: usize) -> Result<Vec<(u64, f32)>, Fault> {
        self.query(DENSE, VectorInternal::from(query.to_vec()), among, limit)
    }

    /// The best `limit` chunks of the sparse leg, with BM25 scores; only chunks that share a term.
    pub(super) fn matching(
        &self,
        query: &SparseVector,
        among: Option<&[u64]>,
        limit: usize,
    ) -> Result<Vec<(u64, f32)>, Fault> {
        self.query(SPARSE, VectorInternal::from(query.clone()), among, limit)
    }

    fn query(
        &self,
        leg: &str,
        query: VectorInternal,
        among: Option<&[u64]>,
        limit: usize,
    ) -> Result<Vec<(u64, f32)>, Fault> {
        let request = QueryRequest {
            prefetches: vec![],
            query: Some(ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery::new(query, leg)))),
            filter: Some(self.filter(among)?),
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
        let request = ScrollRequest {
            offset: None,
            limit: Some(points.len()),
            filter: Some(self.filter(Some(points))?),
            with_payload: Some(WithPayloadInterface::Bool(true)),
            with_vector: WithVector::Bool(false),
            order_by: None,
        };
        let (records, _) = self.engine.get()?.scroll(request).map_err(refused)?;
        if records.len() != points.len() {
            return Err(Fault::Damaged(format!("{} of {} chunks can be read", records.len(), points.len())));
        }
        let read = records.into_iter().map(|record| {
            let payload = record.payload.ok_or_else(|| Fault::Damaged("a chunk has no payload".into()))?;
            let stored = serde_json::from_value(serde_json::Value::Object(payload.0));
            Ok((number(record.id)?, stored.map_err(|problem| Fault::Damaged(problem.to_string()))?))
        });
        read.collect()
    }

    /// Takes the sparse vectors away, as a damaged index does.
    #[cfg(test)]
    pub(crate) fn drop_words(&self) {
        use qdrant_edge::{DeleteVectorName, VectorNameOperations};
        let delete = VectorNameOperations::DeleteVectorName(DeleteVectorName { vector_name: SPARSE.into() });
        self.engine.get().unwrap().update(UpdateOperation::VectorNameOperation(delete)).unwrap();
    }

    /// Tenant and dataset, on every query: a shard holds one dataset anyway, and this does not rely on it.
    fn filter(&self, among: Option<&[u64]>) -> Result<Filter, Fault> {
        let is = |field, value: String| {
            path(field).map(|path| Condition::Field(FieldCondition::new_match(path, Match::from(value))))
        };
        let owner = [is("tenant", self.owner.org.to_string())?, is("dataset", self.owner.dataset.to_string())?];
        let owned = Filter { must: Some(owner.into()), ..Filter::new() };
        Ok(match among {
            Some(points) => owned.with_point_ids(points.iter().map(|point| PointId::NumId(*point))),
            None => owned,
        })
    }
}

fn path(field: &str) -> Result<JsonPath, Fault> {
    field.parse().map_err(|()| Fault::Engine(format!("{field} is not a payload path")))
}

fn config() -> EdgeConfig {
    let wal = WalOptions { segment_capacity: 1 << 20, ..WalOptions::default() };
    EdgeConfig::builder()
        .vector(DENSE, EdgeVectorParams::builder(DIMENSION, Distance::Cosine).on_disk(true).build())
        .sparse_vector(SPARSE, EdgeSparseVectorParams::builder().modifier(Modifier::Idf).build())
        .on_disk_payload(true)
        .wal_options(wal)
        .build()
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
