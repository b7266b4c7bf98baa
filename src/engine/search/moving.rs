//! The indexes of a workspace from the data folder to the Qdrant server, or back: a version at a time is copied, counted,
//! compared with what it was copied from, and only then answers from its new place. What was not reached when something
//! fails stays where it is and answers there; asked for again, the rest is moved. A version that is erased meanwhile is no
//! failure.

use crate::base::id::Id;
use crate::engine::search::SearchEngine;
use crate::engine::search::backend::{Index, Key, Point, Sealed};
use crate::engine::search::cluster::Cluster;
use crate::engine::search::manifest::Owner;
use crate::engine::search::renew::is_named;
use crate::engine::search::shards::blocking;
use crate::model::cluster_index::Home;
use crate::model::dataset::Kind;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::store::{self, Db};

/// Chunks that are copied at a time.
const AT_ONCE: usize = 1_024;
/// How far a coordinate of a vector of length one may be from what it was: both engines make the length one again.
const APART: f32 = 1e-5;

/// What became of the indexes of a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Those that were moved, and their chunks.
    pub moved: usize,
    pub chunks: u64,
    /// Those that were there already.
    pub there: usize,
    /// Those that were no good where they were, and were made anew of their texts in the new place.
    pub rebuilt: usize,
    /// Those whose versions were erased before they were in the new place.
    pub erased: usize,
}

impl SearchEngine {
    /// Moves all indexes of a workspace, of the current versions and of those that are kept; new ones are written there from
    /// now on. `tell` hears of each that is in its new place.
    ///
    /// # Errors
    /// `invalid_argument` without a Qdrant server; `service_unavailable` where it does not answer; `internal_error` where a
    /// copy is not what it was copied from. What was moved by then answers from its new place.
    pub async fn move_indexes(&self, db: &Db, org: Id<Org>, to: Home, tell: impl Fn(&str)) -> Result<Moved> {
        let Some(cluster) = &self.homes.cluster else {
            return Err(Error::invalid("to", "There is no Qdrant server: set QDRANT_URL."));
        };
        cluster.version().await?;
        cluster.set_home(org, to).await?;
        let mut done = Moved::default();
        for (name, key) in versions(db, org).await? {
            match self.move_one(db, cluster, &key, to, &mut done).await {
                Ok(()) => tell(&name),
                Err(problem) if is_named(db, &key).await? => return Err(problem),
                Err(problem) => {
                    let dataset = key.owner.dataset;
                    tracing::warn!(%dataset, %problem, "a version was erased while its index was moved");
                    done.erased += 1;
                }
            }
        }
        Ok(done)
    }

    async fn move_one(&self, db: &Db, cluster: &Cluster, key: &Key, to: Home, done: &mut Moved) -> Result<()> {
        let (from, into): (&dyn Index, &dyn Index) = match to {
            Home::Cluster => (&self.homes.shards, cluster),
            Home::Folder => (cluster, &self.homes.shards),
        };
        // Where both have it, the server answers: its copy was whole before it was said to.
        let is_on_server = cluster.holds(key).await?;
        let is_there = match to {
            Home::Cluster => is_on_server,
            Home::Folder => !is_on_server && self.homes.shards.holds(key).await?,
        };
        if is_there {
            from.remove(key).await?;
            done.there += 1;
            return Ok(());
        }
        let encoder = if from.holds(key).await? { from.encoder(key).await? } else { None };
        let numbers = if encoder.is_some() { from.numbers(key).await? } else { Vec::new() };
        let (Some(encoder), Some(first)) = (encoder, numbers.first()) else {
            let encoder = self.encoders.of_workspace(key.owner.org).await?;
            self.rebuild(db, key, encoder).await?;
            self.take_back_erased(db, key).await?;
            done.rebuilt += 1;
            return Ok(());
        };
        let dimension = from.pairs(key, vec![*first]).await?.first().map_or(0, |(dense, _)| dense.len());
        let mut draft = into.begin(key, encoder, dimension).await?;
        for some in numbers.chunks(AT_ONCE) {
            let points = copied(from, key, some).await?;
            draft = blocking(move || {
                draft.add(points)?;
                Ok(draft)
            })
            .await?;
        }
        let sealed = blocking(move || draft.seal()).await?;
        compare(from, into, key, &numbers, &sealed).await?;
        let alone = self.renewals.alone().await;
        self.homes.put(key, sealed).await?;
        drop(alone);
        self.take_back_erased(db, key).await?;
        done.moved += 1;
        done.chunks += numbers.len() as u64;
        Ok(())
    }
}

/// All versions of documents that a workspace keeps, each with the name of its dataset.
async fn versions(db: &Db, org: Id<Org>) -> Result<Vec<(String, Key)>> {
    let mut read = db.read_tenant(org).await?;
    let datasets = store::datasets::outlines(&mut read, org).await?;
    let kept = store::dataset_versions::all(&mut read, org).await?;
    let mut all = Vec::new();
    for dataset in datasets.into_iter().filter(|dataset| dataset.kind == Kind::Documents) {
        let owner = Owner { org, dataset: dataset.id };
        let others = kept.iter().filter(|version| version.dataset == dataset.id).map(|version| version.version.clone());
        let others = others.filter(|version| Some(version) != dataset.version.as_ref());
        let versions = dataset.version.clone().into_iter().chain(others);
        all.extend(versions.map(|version| (dataset.name.clone(), Key { owner, version })));
    }
    Ok(all)
}

async fn copied(from: &dyn Index, key: &Key, numbers: &[u64]) -> Result<Vec<Point>> {
    let stored = from.read(key, numbers.to_vec()).await?;
    let both = stored.into_iter().zip(from.pairs(key, numbers.to_vec()).await?);
    Ok(both.map(|((_, stored), (dense, sparse))| (stored, dense, sparse)).collect())
}

/// Fails where what was written is not what it was copied from.
async fn compare(from: &dyn Index, into: &dyn Index, key: &Key, numbers: &[u64], sealed: &Sealed) -> Result<()> {
    if sealed.chunks != numbers.len() as u64 {
        return Err(Error::internal(format!("{} of {} chunks were copied", sealed.chunks, numbers.len())));
    }
    let mut at = 0;
    for some in numbers.chunks(AT_ONCE) {
        // They are numbered in the order in which they were added.
        let theirs = into.written(key, sealed, (at..at + some.len() as u64).collect()).await?;
        let ours = copied(from, key, some).await?;
        at += some.len() as u64;
        if ours.len() != theirs.len() || !ours.iter().zip(&theirs).all(|(one, other)| is_same(one, other)) {
            return Err(Error::internal("what was copied is not what it was copied from"));
        }
    }
    Ok(())
}

fn is_same((one, dense, sparse): &Point, (other, their_dense, their_sparse): &Point) -> bool {
    let near = dense.iter().zip(their_dense).all(|(a, b)| (a - b).abs() < APART);
    let terms = |of: &qdrant_edge::SparseVector| {
        let mut all: Vec<(u32, u32)> = of.indices.iter().zip(&of.values).map(|(at, by)| (*at, by.to_bits())).collect();
        all.sort_unstable();
        all
    };
    one == other && near && dense.len() == their_dense.len() && terms(sparse) == terms(their_sparse)
}
