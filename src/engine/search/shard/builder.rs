//! Writes a shard: from the beginning, or on from a copy of the one before. What is written becomes parts that are only
//! read, and these one in the end.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use qdrant_edge::{
    CreateIndex, Distance, EdgeConfig, EdgeOptimizersConfig, EdgeShard, EdgeSparseVectorParams, EdgeVectorParams,
    FieldIndexOperations, HnswIndexConfig, Modifier, PayloadFieldSchema, PayloadSchemaType, PointId,
    PointInsertOperations, PointOperations, PointStruct, SparseVector, UpdateOperation, Vector, Vectors, WalOptions,
};

use super::{Among, DENSE, Engine, SPARE, SPARSE, Shard, Stored, is_sound, payload_of, refused};
use crate::base::id::Id;
use crate::engine::files::room_for;
use crate::engine::search::analysis;
use crate::engine::search::filter::{any, path};
use crate::engine::search::manifest::{self, Counts, Fault, Owner};
use crate::model::document::Document;

const WAL: &str = "wal";
/// Chunks after which what is written becomes a part of its own that is only read. The engine enters a chunk into a list
/// of each of its terms by walking all of the list, and makes these lists anew whenever it opens what may be written.
pub(in crate::engine::search) const PART: u64 = 4_096;

/// What filters ask often, and how. An index of these is some bytes a chunk; any other member is read for each chunk that
/// is considered.
const INDEXED: [(&str, PayloadSchemaType); 5] = [
    ("tenant", PayloadSchemaType::Keyword),
    ("dataset", PayloadSchemaType::Keyword),
    ("document", PayloadSchemaType::Keyword),
    ("about.created", PayloadSchemaType::Integer),
    ("about.tags", PayloadSchemaType::Keyword),
];

/// A shard that is being built. Nothing of it counts before [`Builder::finish`].
#[derive(Debug)]
pub(in crate::engine::search) struct Builder {
    folder: PathBuf,
    owner: Owner,
    encoder: String,
    dimension: usize,
    engine: Engine,
    /// The number that the next chunk gets.
    next: u64,
    counts: Counts,
    /// Whether parts were made that are to become one, or chunks are gone: nothing is left of those when it is sealed.
    is_loose: bool,
}

impl Builder {
    /// Starts in a folder that is empty or absent, for vectors of an encoder with so many coordinates.
    pub(in crate::engine::search) fn create(
        folder: &Path,
        owner: Owner,
        encoder: String,
        dimension: usize,
    ) -> Result<Self, Fault> {
        fs::create_dir_all(folder)?;
        room_for(folder, SPARE)?;
        if fs::read_dir(folder)?.next().is_some() {
            return Err(Fault::Damaged("the folder for a new shard is not empty".into()));
        }
        let shard = EdgeShard::new(folder, config(dimension)).map_err(refused)?;
        for (field, schema) in INDEXED {
            let schema = PayloadFieldSchema::FieldType(schema);
            let index = CreateIndex { field_name: path(field)?, field_schema: Some(schema) };
            let operation = UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(index));
            shard.update(operation).map_err(refused)?;
        }
        let (folder, engine) = (folder.to_owned(), Engine(Some(shard)));
        let counts = Counts { points: 0, parted: 0, operations: INDEXED.len() as u64 };
        Ok(Self { folder, owner, encoder, dimension, engine, next: 0, counts, is_loose: false })
    }

    /// Goes on from a copy, in a folder that is absent, of a sealed shard which is open and so at rest, without the chunks
    /// of documents that do not stay. Chunks keep their numbers. Nothing where adding what stays anew costs less: where it
    /// is not much, or would be less than what of the shard is of no use any more.
    pub(in crate::engine::search) fn over(
        (shard, sealed): (&Shard, &Path),
        folder: &Path,
        owner: Owner,
        stay: &HashSet<Id<Document>>,
    ) -> Result<Option<Self>, Fault> {
        let (mut gone, mut points) = (Vec::new(), 0);
        for (document, chunks) in shard.documents()? {
            match stay.contains(&document) {
                true => points += chunks,
                false => gone.push(document),
            }
        }
        let next = shard.numbers(&[], shard.chunks as usize)?.last().map_or(0, |last| last + 1);
        let before = manifest::counts(sealed)?;
        if points < PART || points < next / 2 || before.operations == 0 {
            return Ok(None);
        }
        room_for(folder.parent().unwrap_or(folder), manifest::bytes(sealed)? + SPARE)?;
        manifest::copy(sealed, folder)?;
        let engine = Engine(Some(EdgeShard::load(folder, None).map_err(refused)?));
        let copy = engine.get()?;
        copy.set_optimizers_config(into_parts(usize::MAX)).map_err(refused)?;
        let delete = |operation| copy.update(UpdateOperation::PointOperation(operation)).map_err(refused);
        // The engine counts what is written from 0 again, and leaves what was written under a later number as it is.
        for _ in 0..=before.operations {
            delete(PointOperations::DeletePoints { ids: vec![] })?;
        }
        if !gone.is_empty() {
            let of_gone = Among::Those(&[any("document", &gone)]).filter()?.unwrap_or_default();
            delete(PointOperations::DeletePointsByFilter(of_gone))?;
        }
        let counts = Counts { points, parted: before.parted.min(points), operations: before.operations + 2 };
        let (folder, encoder, dimension) = (folder.to_owned(), shard.encoder.clone(), shard.dimension()?);
        let is_loose = !gone.is_empty();
        Ok(Some(Self { folder, owner, encoder, dimension, engine, next, counts, is_loose }))
    }

    /// Adds chunks. They are numbered in the order of the calls, which later breaks ties.
    ///
    /// # Errors
    /// A vector of another length or with a coordinate that is not finite (the engine would take it), a chunk of
    /// another owner, a disk that is nearly full, or the engine's refusal.
    pub(in crate::engine::search) fn add(
        &mut self,
        chunks: Vec<(Stored, Vec<f32>, SparseVector)>,
    ) -> Result<(), Fault> {
        let mut points = Vec::with_capacity(chunks.len());
        for (stored, dense, sparse) in chunks {
            is_sound(&stored, &dense, &sparse, self.owner, self.dimension)?;
            let payload = payload_of(&stored)?;
            let vectors = Vectors::new_named([(DENSE, Vector::from(dense)), (SPARSE, Vector::from(sparse))]);
            points.push(PointStruct::new(PointId::NumId(self.next), vectors, payload).into());
            self.next += 1;
            self.counts.points += 1;
        }
        room_for(&self.folder, SPARE)?;
        let points = PointInsertOperations::PointsList(points);
        let operation = UpdateOperation::PointOperation(PointOperations::UpsertPoints(points));
        let shard = self.engine.get()?;
        shard.update(operation).map_err(refused)?;
        self.counts.operations += 1;
        if self.counts.points - self.counts.parted >= PART {
            shard.optimize().map_err(refused)?;
            self.counts.parted = self.counts.points;
            self.is_loose = true;
        }
        Ok(())
    }

    /// Flushes, closes and seals: after it the shard survives a crash. Returns points and bytes on disk.
    pub(in crate::engine::search) fn finish(self) -> Result<(u64, u64), Fault> {
        let Self { folder, owner, encoder, engine, mut counts, is_loose, .. } = self;
        let shard = engine.get()?;
        if is_loose {
            counts.parted = counts.points;
            shard.set_optimizers_config(into_parts(1)).map_err(refused)?;
            shard.optimize().map_err(refused)?;
        }
        // Panics when it fails, which the caller's task reports; the drop only repeats it.
        shard.flush();
        drop(engine);
        // This version of the engine never replays its log, and the shard is not written again.
        fs::remove_dir_all(folder.join(WAL))?;
        let bytes = manifest::seal(&folder, owner, &encoder, analysis::IDENTITY, counts)?;
        Ok((counts.points, bytes))
    }
}

fn config(dimension: usize) -> EdgeConfig {
    let wal = WalOptions { segment_capacity: 1 << 20, ..WalOptions::default() };
    EdgeConfig::builder()
        .vector(DENSE, EdgeVectorParams::builder(dimension, Distance::Cosine).on_disk(true).build())
        .sparse_vector(SPARSE, EdgeSparseVectorParams::builder().modifier(Modifier::Idf).on_disk(true).build())
        .on_disk_payload(true)
        .hnsw_config(HnswIndexConfig { m: 0, max_indexing_threads: 1, ..HnswIndexConfig::default() })
        .optimizers(into_parts(usize::MAX))
        .wal_options(wal)
        .build()
}

/// That whatever is written becomes a part that is only read, that there are at most so many of them, and that one of which
/// chunks are gone is written anew: until then the engine keeps their texts and vectors. Without edges (`m`) a part has no
/// graph.
fn into_parts(most: usize) -> EdgeOptimizersConfig {
    EdgeOptimizersConfig {
        default_segment_number: Some(most),
        max_segment_size: Some(usize::MAX),
        indexing_threshold: Some(1),
        deleted_threshold: Some(0.0),
        vacuum_min_vector_number: Some(1),
        ..EdgeOptimizersConfig::default()
    }
}
