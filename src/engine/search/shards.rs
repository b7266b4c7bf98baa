//! Chunks in embedded shards, one folder a dataset version: each is asked off the async runtime, some at a time.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use qdrant_edge::SparseVector;
use serde_json::Value;

use crate::engine::files::Files;
use crate::engine::search::backend::{Answer, Index, Key, Query};
use crate::engine::search::manifest::Fault;
use crate::engine::search::open::OpenShards;
use crate::engine::search::shard::{Among, Hit, Place, Shard, Stored};
use crate::model::error::{Error, Result};

/// Shards that one search asks at the same time.
const AT_ONCE: usize = 4;

/// See the module; clones share what is open.
#[derive(Clone)]
pub(super) struct Shards {
    files: Files,
    open: Arc<OpenShards>,
}

impl Shards {
    pub(super) fn new(files: Files, open: Arc<OpenShards>) -> Self {
        Self { files, open }
    }

    /// Runs work on a shard, off the async runtime. What goes wrong is logged, once, with the dataset.
    async fn on_shard<T: Send + 'static>(
        &self,
        key: &Key,
        work: impl FnOnce(&Shard) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let folder: PathBuf = self.files.vectors(key.owner.org, key.owner.dataset, &key.version);
        let (open, mine) = (self.open.clone(), key.clone());
        let done = tokio::task::spawn_blocking(move || open.with(&mine, &folder, work)).await;
        // A panic of the engine over a damaged file arrives as a join error.
        let failed = match done {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(fault)) => fault.to_string(),
            Err(panic) => panic.to_string(),
        };
        Err(Error::internal(format!("dataset {} of workspace {}: {failed}", key.owner.dataset, key.owner.org)))
    }
}

impl Index for Shards {
    fn find<'a>(&'a self, keys: &'a [Key], query: &'a Query) -> BoxFuture<'a, Vec<Result<Answer>>> {
        let asked = keys.iter().map(|key| {
            let query = query.clone();
            self.on_shard(key, move |shard| Ok(ask(shard, &query)))
        });
        Box::pin(stream::iter(asked).buffered(AT_ONCE).collect())
    }

    fn read<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>> {
        Box::pin(self.on_shard(key, move |shard| shard.read(&points)))
    }

    fn places<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(u64, Place)>>> {
        Box::pin(self.on_shard(key, move |shard| shard.places(&points)))
    }

    fn list<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<(u64, Stored)>>> {
        Box::pin(self.on_shard(key, move |shard| shard.list(&of, limit)))
    }

    fn vectors<'a>(&'a self, key: &'a Key, of: Vec<Value>, limit: usize) -> BoxFuture<'a, Result<Vec<Vec<f32>>>> {
        Box::pin(self.on_shard(key, move |shard| shard.vectors(&of, limit)))
    }

    fn pairs<'a>(&'a self, key: &'a Key, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<(Vec<f32>, SparseVector)>>> {
        Box::pin(self.on_shard(key, move |shard| shard.pairs(&points)))
    }

    fn is_of<'a>(&'a self, key: &'a Key, encoder: String) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.on_shard(key, move |shard| Ok(shard.is_of(&encoder))))
    }

    fn forget(&self, key: &Key) {
        self.open.close(key);
    }
}

/// Both legs, each chunk that either found scored by both.
pub(super) fn ask(shard: &Shard, query: &Query) -> Answer {
    let mut failed = Vec::new();
    let mut run = |name, leg: Option<Result<Vec<(u64, f32)>, Fault>>| match leg? {
        Ok(points) => Some(points),
        Err(fault) => {
            tracing::error!(leg = name, %fault, "a leg of a search failed");
            failed.push(name);
            None
        }
    };
    let those = Among::Those(&query.conditions);
    let comparable = query.dense.as_ref().filter(|dense| shard.is_of(&dense.encoder));
    let dense = |among: Among<'_>, limit| comparable.map(|dense| shard.nearest(&dense.vector, among, limit));
    let sparse = |among: Among<'_>, limit| query.sparse.as_ref().map(|q| shard.matching(q, among, limit));
    let listed = || {
        let numbers = shard.numbers(&query.conditions, query.equal);
        numbers.map(|numbers| numbers.into_iter().map(|number| (number, 0.0)).collect())
    };
    let near = if query.near == 0 { None } else { run("meaning", dense(those, query.near)) };
    let equal = match (query.equal, query.lists && query.sparse.is_none()) {
        (0, _) => None,
        (_, true) => run("words", Some(listed())),
        (limit, false) => run("words", sparse(those, limit)),
    };

    let mut points: Vec<u64> = near.iter().chain(&equal).flatten().map(|(point, _)| *point).collect();
    points.sort_unstable();
    points.dedup();
    // A chunk that only one leg proposed gets the other's score too: no score depends on where a list was cut. A leg
    // that failed is not asked again.
    let scored = Among::Points(&points);
    let asked_near = query.near == 0 || near.is_some();
    let near = if asked_near { run("meaning", dense(scored, points.len())) } else { None };
    let equal = match query.sparse.is_some() {
        true if query.equal == 0 || equal.is_some() => run("words", sparse(scored, points.len())),
        true => None,
        false => equal,
    };
    let of = |leg: &Option<Vec<(u64, f32)>>, point| {
        let leg = leg.as_ref()?;
        Some(leg.iter().find(|(found, _)| *found == point).map_or(0.0, |(_, score)| *score))
    };
    let hits = points.iter().map(|&point| Hit { point, dense: of(&near, point), sparse: of(&equal, point) }).collect();
    Answer { hits, is_outdated: query.dense.is_some() && comparable.is_none(), failed }
}
