//! Chunks on a Qdrant server: one collection for each encoder, in it the points of all tenants, each with its tenant, its
//! dataset and its build as indexed payload. The metadata say which builds answer for a version: a point that they do not
//! know is never asked for. A version that goes on with another writes what is new alone (`over.rs`); points that several
//! versions have go when the last of these is gone (`clear.rs`).
//!
//! What is asked, how it is scored and how ties are broken is as in an embedded shard (`legs.rs`): the terms of a query
//! weigh what they are worth among the chunks of one index (the server's IDF with a corpus), and meaning is compared with
//! each chunk of an index that is not large.

mod clear;
mod draft;
mod over;
mod server;
mod wire;

use std::collections::HashSet;
use std::slice::from_ref;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use qdrant_client::qdrant::vector_input::Variant;
use qdrant_client::qdrant::{DenseVector, SparseVector as Terms, VectorInput};
use qdrant_edge::SparseVector;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::config::Qdrant;
use crate::engine::search::analysis;
use crate::engine::search::backend::{Answer, Draft, Index, Key, Over, Pair, Point, Query, Sealed, What};
use crate::engine::search::legs::{Legs, Scores, ask};
use crate::engine::search::manifest::{CUTTER, Fault, Owner};
use crate::engine::search::shard::{Among, Place, Stored};
use crate::engine::search::shards::elsewhere;
use crate::model::cluster_index::{Build, Chain, ClusterIndex, Home, Standing};
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store::{self, Backend, Db};
use draft::{Points, hold};
use server::{Scope, Server, Wanted};
use wire::{DENSE, SPARSE, number, payload, vectors};

/// Indexes that one search asks at the same time.
const AT_ONCE: usize = 8;
/// How long a search may still ask an index that another took the place of.
const GRACE: Millis = 60_000;
/// After this long without a batch nobody writes an index any more.
const ABANDONED: Millis = 600_000;

/// What callers hear of a server that does not answer, or not us.
const AWAY: &str = "The server that keeps the indexes of documents cannot be used for now. Try again in a moment.";

/// See the module; clones share the connection.
#[derive(Clone)]
pub(super) struct Cluster {
    server: Server,
    db: Db,
    clock: Clock,
}

/// Whether a server answers, and its release.
///
/// # Errors
/// It does not, in a sentence.
pub async fn reach(chosen: &Qdrant) -> std::result::Result<String, String> {
    let version = async { Server::new(chosen)?.version().await };
    version.await.map_err(|fault: Fault| fault.to_string())
}

impl Cluster {
    pub(super) fn new(chosen: &Qdrant, db: Db, clock: Clock) -> Result<Self, Fault> {
        Ok(Self { server: Server::new(chosen)?, db, clock })
    }

    /// The server's release.
    ///
    /// # Errors
    /// It does not answer, or is too old.
    pub(super) async fn version(&self) -> Result<String> {
        self.server.version().await.map_err(told)
    }

    /// Where the indexes of a workspace are written: here, unless somebody moved them away.
    pub(super) async fn home(&self, org: Id<Org>) -> Result<Home> {
        let said = store::cluster_indexes::home(&mut self.db.read_tenant(org).await?, org).await?;
        Ok(said.unwrap_or(Home::Cluster))
    }

    pub(super) async fn set_home(&self, org: Id<Org>, home: Home) -> Result<()> {
        let mut tx = self.db.tenant(org).await?;
        store::cluster_indexes::set_home(&mut tx, org, home).await?;
        Ok(tx.commit().await?)
    }

    /// Removes what was written, unless it was given its place.
    async fn undo(&self, written: &ClusterIndex) -> Result<()> {
        let ClusterIndex { org, build, .. } = *written;
        let mut tx = self.db.tenant(org).await?;
        store::cluster_indexes::end(&mut tx, org, build, self.clock.now()).await?;
        let now = store::cluster_indexes::by_build(&mut tx, org, build).await?;
        tx.commit().await?;
        match now.is_some_and(|now| now.standing == Standing::Placed) {
            true => Ok(()),
            false => self.clear(from_ref(written)).await.map(|_removed| ()),
        }
    }

    /// At the start of the process: whoever has this database for themselves is the only one who could be writing.
    pub(super) async fn begin_work(&self) -> Result<()> {
        match self.db.backend() {
            Backend::Sqlite => self.abandon(self.clock.now(), 0).await,
            Backend::Postgres => Ok(()),
        }
    }

    /// Gives up what was last touched before a moment and has no place, or one for a version that no dataset has: that
    /// one is gone since another moment.
    async fn abandon(&self, before: Millis, since: Millis) -> Result<()> {
        let mut tx = self.db.everyone().await?;
        store::cluster_indexes::abandon(&mut tx, before).await?;
        store::cluster_indexes::retire_unnamed(&mut tx, before, since).await?;
        Ok(tx.commit().await?)
    }

    /// Removes what is gone, and what was written and will get no place; how many indexes that were.
    pub(super) async fn tidy(&self) -> Result<usize> {
        let now = self.clock.now();
        self.abandon(now - ABANDONED, now).await?;
        let gone = store::cluster_indexes::gone(&mut self.db.read_everyone().await?, now - GRACE).await?;
        let (mut removed, mut known) = (0, HashSet::new());
        for index in gone.iter().filter(|index| known.insert(index.dataset)) {
            match self.clear(from_ref(index)).await {
                Ok(of_dataset) => removed += of_dataset,
                Err(problem) => {
                    tracing::warn!(build = %index.build, %problem, "an index of no version stays on the server");
                }
            }
        }
        Ok(removed)
    }

    /// The indexes in place of these versions of one tenant, in their order.
    pub(super) async fn of(&self, keys: &[Key]) -> Result<Vec<Option<ClusterIndex>>> {
        let Some(Owner { org, .. }) = keys.first().map(|key| key.owner) else { return Ok(Vec::new()) };
        let versions: Vec<_> = keys.iter().map(|key| (key.owner.dataset, key.version.as_str())).collect();
        let mut read = self.db.read_tenant(org).await?;
        let placed = store::cluster_indexes::of_versions(&mut read, org, &versions).await?;
        let find = |key: &Key| placed.iter().find(|index| is_of(index, key)).cloned();
        Ok(keys.iter().map(find).collect())
    }

    async fn at(&self, key: &Key) -> Result<Option<ClusterIndex>> {
        let Owner { org, dataset } = key.owner;
        let mut read = self.db.read_tenant(org).await?;
        store::cluster_indexes::of_version(&mut read, org, dataset, &key.version).await
    }

    async fn one(&self, key: &Key) -> Result<ClusterIndex> {
        let found = self.at(key).await?;
        found.ok_or_else(|| Error::internal(format!("the index of dataset {} is not there", key.owner.dataset)))
    }

    async fn scope(&self, key: &Key) -> Result<Scope> {
        Ok(Scope::of(&self.one(key).await?))
    }

    /// What was written of a build that has no place yet.
    async fn draft(&self, org: Id<Org>, build: Id<Build>) -> Result<ClusterIndex> {
        let found = store::cluster_indexes::by_build(&mut self.db.read_tenant(org).await?, org, build).await?;
        found.ok_or_else(given_up)
    }

    /// The candidates of each of these indexes, in their order.
    pub(super) async fn find(&self, indexes: Vec<ClusterIndex>, query: &Query) -> Vec<Result<Answer>> {
        let asked = indexes.into_iter().map(|index| self.ask(index, query));
        stream::iter(asked).buffered(AT_ONCE).collect().await
    }

    /// Whether something of a workspace could be removed now.
    ///
    /// # Errors
    /// `service_unavailable`.
    pub(super) async fn is_ready(&self, org: Id<Org>) -> Result<()> {
        let placed = store::cluster_indexes::placed(&mut self.db.read_tenant(org).await?, org).await?;
        if placed.is_empty() { Ok(()) } else { self.version().await.map(|_| ()) }
    }

    async fn ask(&self, index: ClusterIndex, query: &Query) -> Result<Answer> {
        if index.terms != analysis::IDENTITY {
            return Err(told(Fault::OtherModel(index.terms)));
        }
        let on = Remote { server: &self.server, scope: Scope::of(&index), encoder: index.encoder };
        // A server that has lost points, its disk or a node, answers from the others as if they were all.
        let (answer, found) = tokio::join!(ask(&on, query), self.server.count(&on.scope));
        Ok(Answer { is_partial: found.map_err(told)? < index.points, ..answer.map_err(told)? })
    }

    /// Fails where points are lost: what was looked for may be among them.
    async fn whole(&self, scope: &Scope) -> Result<()> {
        let found = self.server.count(scope).await.map_err(told)?;
        match found < scope.points {
            true => Err(told(Fault::Damaged(format!("{found} of {} chunks are there", scope.points)))),
            false => Ok(()),
        }
    }

    async fn chunks<T: DeserializeOwned>(&self, scope: &Scope, points: &[u64], of: Wanted) -> Result<Vec<(u64, T)>> {
        let mut all = Vec::with_capacity(points.len());
        for point in self.server.read(scope, Among::Points(points), points.len(), of).await.map_err(told)? {
            all.push((number(point.id).map_err(told)?, payload(point.payload).map_err(told)?));
        }
        match all.len() == points.len() {
            true => Ok(all),
            false => Err(told(Fault::Damaged(format!("{} of {} chunks can be read", all.len(), points.len())))),
        }
    }

    async fn both(&self, scope: &Scope, points: &[u64]) -> Result<Vec<Pair>> {
        let wanted = Wanted::BothVectors;
        let found = self.server.read(scope, Among::Points(points), points.len(), wanted).await.map_err(told)?;
        let pairs: Option<Vec<Pair>> = found
            .into_iter()
            .map(|point| match vectors(point.vectors) {
                (Some(dense), Some(sparse)) => Some((dense, sparse)),
                _ => None,
            })
            .collect();
        let whole = pairs.filter(|pairs| pairs.len() == points.len());
        whole.ok_or_else(|| told(Fault::Damaged("a chunk lacks a vector".into())))
    }
}

fn is_of(index: &ClusterIndex, key: &Key) -> bool {
    (Owner { org: index.org, dataset: index.dataset }, &index.version) == (key.owner, &key.version)
}

/// Somebody has ended an index while it was written: its dataset is deleted, or it stood still for so long that it was
/// taken for abandoned.
fn given_up() -> Error {
    Error::unavailable(
        "The index was given up while it was written: its dataset was deleted meanwhile, or the writing stood still for too \
         long. Nothing of it is kept. Import again.",
    )
}

/// A fault as callers hear of it: what is set where is not theirs to know.
fn told(fault: Fault) -> Error {
    match fault {
        Fault::Away(_logged) => Error::unavailable(AWAY),
        fault => Error::internal(fault),
    }
}

/// The legs of an index on the server.
struct Remote<'a> {
    server: &'a Server,
    scope: Scope,
    encoder: String,
}

impl Legs for Remote<'_> {
    fn is_of(&self, encoder: &str) -> bool {
        self.encoder == encoder
    }

    async fn nearest(&self, query: &[f32], among: Among<'_>, limit: usize) -> Result<Scores, Fault> {
        let vector = Variant::Dense(DenseVector { data: query.to_vec() });
        self.server.best(&self.scope, (DENSE, VectorInput { variant: Some(vector) }), among, limit).await
    }

    async fn matching(&self, query: &SparseVector, among: Among<'_>, limit: usize) -> Result<Scores, Fault> {
        let terms = Terms { values: query.values.clone(), indices: query.indices.clone() };
        let vector = VectorInput { variant: Some(Variant::Sparse(terms)) };
        self.server.best(&self.scope, (SPARSE, vector), among, limit).await
    }

    async fn numbers(&self, conditions: &[Value], limit: usize) -> Result<Vec<u64>, Fault> {
        numbers(self.server, &self.scope, conditions, limit).await
    }
}

/// The numbers of at most `limit` chunks of these conditions, in order.
async fn numbers(server: &Server, scope: &Scope, conditions: &[Value], limit: usize) -> Result<Vec<u64>, Fault> {
    let found = server.read(scope, Among::Those(conditions), limit, Wanted::Nothing).await?;
    found.into_iter().map(|point| number(point.id)).collect()
}

impl Index for Cluster {
    fn read<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>> {
        Box::pin(async move { self.chunks(&self.scope(key).await?, &points, Wanted::Chunk).await })
    }

    fn places<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Place)>>> {
        Box::pin(async move { self.chunks(&self.scope(key).await?, &points, Wanted::Place).await })
    }

    fn list<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>> {
        Box::pin(async move {
            let scope = self.scope(key).await?;
            let found = self.server.read(&scope, Among::Those(&of), limit, Wanted::Chunk).await.map_err(told)?;
            if found.len() < limit {
                self.whole(&scope).await?;
            }
            let chunk = |point: qdrant_client::qdrant::RetrievedPoint| {
                Ok((number(point.id).map_err(told)?, payload(point.payload).map_err(told)?))
            };
            found.into_iter().map(chunk).collect()
        })
    }

    fn vectors<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<Vec<f32>>>> {
        Box::pin(async move {
            let scope = self.scope(key).await?;
            let found = self.server.read(&scope, Among::Those(&of), limit, Wanted::Dense).await.map_err(told)?;
            if found.len() < limit {
                self.whole(&scope).await?;
            }
            let dense = found.into_iter().map(|point| vectors(point.vectors).0);
            let all: Option<Vec<Vec<f32>>> = dense.collect();
            all.ok_or_else(|| told(Fault::Damaged("a chunk has no vector".into())))
        })
    }

    fn pairs<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Pair>>> {
        Box::pin(async move { self.both(&self.scope(key).await?, &points).await })
    }

    fn is_of<'a>(&'a self, key: &'a Key, encoder: String) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { Ok(self.one(key).await?.encoder == encoder) })
    }

    fn numbers<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Vec<u64>>> {
        Box::pin(async move {
            let index = self.one(key).await?;
            if index.chain.parts.len() == 1 {
                return Ok((0..index.points).collect());
            }
            let scope = Scope::of(&index);
            self.whole(&scope).await?;
            numbers(&self.server, &scope, &[], usize::MAX).await.map_err(told)
        })
    }

    fn encoder<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<String>>> {
        Box::pin(async move {
            let index = self.one(key).await?;
            let found = self.server.count(&Scope::of(&index)).await.map_err(told)?;
            let is_whole = found == index.points && index.terms == analysis::IDENTITY && index.cutter == CUTTER;
            Ok(is_whole.then_some(index.encoder))
        })
    }

    fn holds<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { Ok(self.at(key).await?.is_some()) })
    }

    fn begin<'a>(&'a self, key: &'a Key, encoder: String, dimension: usize) -> BoxFuture<'a, Result<Box<dyn Draft>>> {
        Box::pin(async move {
            let build = Id::new(&self.clock);
            let index = ClusterIndex {
                org: key.owner.org,
                build,
                dataset: key.owner.dataset,
                version: key.version.clone(),
                encoder,
                terms: analysis::IDENTITY.into(),
                cutter: CUTTER.into(),
                points: 0,
                chain: Chain::whole(build),
                standing: Standing::Written,
                touched_at: self.clock.now(),
            };
            self.server.prepare(&Scope::of(&index), dimension).await.map_err(told)?;
            let mut tx = self.db.tenant(index.org).await?;
            store::cluster_indexes::insert(&mut tx, &index).await?;
            tx.commit().await?;
            Ok(Box::new(Points::new(self.clone(), index, dimension, 0)) as Box<dyn Draft>)
        })
    }

    fn begin_over<'a>(
        &'a self,
        key: &'a Key,
        earlier: &'a Key,
        stay: &'a HashSet<Id<Document>>,
    ) -> BoxFuture<'a, Result<Option<Over>>> {
        Box::pin(self.over(key, earlier, stay))
    }

    fn written<'a>(&'a self, key: &'a Key, sealed: &'a Sealed, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Point>>> {
        Box::pin(async move {
            let What::Points { build, .. } = &sealed.what else { return Err(elsewhere()) };
            let index = self.draft(key.owner.org, *build).await?;
            // Whoever looks at it needs it still: it is not taken for abandoned meanwhile.
            hold(self, &index).await?;
            let scope = Scope::of(&index);
            let stored: Vec<(u64, Stored)> = self.chunks(&scope, &points, Wanted::Chunk).await?;
            let both = stored.into_iter().zip(self.both(&scope, &points).await?);
            Ok(both.map(|((_, stored), (dense, sparse))| (stored, dense, sparse)).collect())
        })
    }

    fn put<'a>(&'a self, key: &'a Key, sealed: Sealed) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let What::Points { build, unless_placed } = sealed.what else { return Err(elsewhere()) };
            let index = ClusterIndex { points: sealed.chunks, ..self.draft(key.owner.org, build).await? };
            if !is_of(&index, key) {
                return Err(elsewhere());
            }
            let mut tx = self.db.tenant(index.org).await?;
            if !store::cluster_indexes::place(&mut tx, &index, self.clock.now()).await? {
                return Err(given_up());
            }
            tx.commit().await?;
            unless_placed.take_back();
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Owner { org, dataset } = key.owner;
            let mut tx = self.db.tenant(org).await?;
            let now = self.clock.now();
            let gone = store::cluster_indexes::retire(&mut tx, org, dataset, Some(&key.version), now).await?;
            tx.commit().await?;
            self.clear(&gone).await.map(|_removed| ())
        })
    }
}
