//! An index that is being written to the server, a batch at a time. Its row in the metadata is there before its first
//! point, so that points which lost their process are known to somebody.

use serde_json::Value;
use tokio::runtime::Handle;

use super::server::Scope;
use super::wire::{point, point_id};
use super::{Cluster, given_up, told};
use crate::base::json::put;
use crate::engine::search::backend::{Draft, Point, Sealed, Undo, What};
use crate::engine::search::manifest::{Fault, Owner};
use crate::engine::search::shard::{is_sound, payload_of};
use crate::model::cluster_index::ClusterIndex;
use crate::model::error::{Error, Result};
use crate::store;

/// Points of one request.
const AT_ONCE: usize = 64;

/// See the module.
pub(super) struct Points {
    cluster: Cluster,
    index: ClusterIndex,
    scope: Scope,
    dimension: usize,
    bytes: u64,
    /// What the blocking threads wait with.
    runtime: Handle,
    unless_placed: Undo,
}

impl Points {
    /// After its row is in the metadata, and the collection is there; `bytes` are those of the points that it has already.
    pub(super) fn new(cluster: Cluster, index: ClusterIndex, dimension: usize, bytes: u64) -> Self {
        let (undoing, gone, runtime) = (cluster.clone(), index.clone(), Handle::current());
        let within = runtime.clone();
        let unless_placed = Undo::new(move || {
            within.spawn(async move {
                if let Err(problem) = undoing.undo(&gone).await {
                    tracing::warn!(build = %gone.build, %problem, "points of an unfinished index stay for now");
                }
            });
        });
        let scope = Scope::of(&index);
        Self { cluster, index, scope, dimension, bytes, runtime, unless_placed }
    }

    /// A chunk as the server has it.
    fn point(&mut self, (stored, dense, sparse): Point) -> Result<qdrant_client::qdrant::PointStruct, Fault> {
        let owner = Owner { org: self.index.org, dataset: self.index.dataset };
        is_sound(&stored, &dense, &sparse, owner, self.dimension)?;
        let mut payload = payload_of(&stored)?;
        put(&mut payload, "version", self.index.version.clone());
        put(&mut payload, "build", self.index.build.to_string());
        // A coordinate, and a weight with its term.
        self.bytes += (payload.to_string().len() + dense.len() * 4 + sparse.indices.len() * 8) as u64;
        let Value::Object(members) = payload else {
            return Err(Fault::Damaged("a chunk is no object".into()));
        };
        let id = point_id(self.index.build, self.index.end())?;
        self.index.points += 1;
        Ok(point(id, members, dense, sparse))
    }

    async fn write(&mut self, chunks: Vec<Point>) -> Result<()> {
        hold(&self.cluster, &self.index).await?;
        let mut batch = Vec::with_capacity(AT_ONCE);
        for chunk in chunks {
            batch.push(self.point(chunk).map_err(told)?);
            if batch.len() == AT_ONCE {
                self.cluster.server.write(&self.scope, std::mem::take(&mut batch)).await.map_err(told)?;
            }
        }
        if !batch.is_empty() {
            self.cluster.server.write(&self.scope, batch).await.map_err(told)?;
        }
        Ok(())
    }
}

/// Says that an index is still written.
///
/// # Errors
/// Somebody has ended it.
pub(super) async fn hold(cluster: &Cluster, index: &ClusterIndex) -> Result<()> {
    let mut tx = cluster.db.tenant(index.org).await?;
    let is_ours = store::cluster_indexes::touch(&mut tx, index.org, index.build, cluster.clock.now()).await?;
    tx.commit().await?;
    if is_ours { Ok(()) } else { Err(given_up()) }
}

impl Draft for Points {
    fn add(&mut self, chunks: Vec<Point>) -> Result<()> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.write(chunks))
    }

    fn seal(self: Box<Self>) -> Result<Sealed> {
        let Self { cluster, index, scope, bytes, runtime, unless_placed, .. } = *self;
        let found = runtime.block_on(cluster.server.count(&scope)).map_err(told)?;
        runtime.block_on(hold(&cluster, &index))?;
        if found != index.points {
            return Err(Error::internal(format!("{found} points instead of {} are on the server", index.points)));
        }
        Ok(Sealed { chunks: index.points, bytes, what: What::Points { build: index.build, unless_placed } })
    }
}
