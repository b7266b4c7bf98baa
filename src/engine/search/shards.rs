//! Chunks in embedded shards, one folder a dataset version: each is asked off the async runtime, some at a time.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use qdrant_edge::SparseVector;
use serde_json::Value;
use tokio::sync::Notify;

use crate::base::id::Id;
use crate::engine::files::Files;
use crate::engine::search::analysis;
use crate::engine::search::backend::{Answer, Index, Key, Query};
use crate::engine::search::manifest::{self, Fault};
use crate::engine::search::open::OpenShards;
use crate::engine::search::shard::{Among, Hit, Place, Shard, Stored};
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;

/// Shards that one search asks at the same time.
const AT_ONCE: usize = 4;

/// See the module; clones share what is open.
#[derive(Clone)]
pub(super) struct Shards {
    files: Files,
    open: Arc<OpenShards>,
    /// Those of which something could not be read; somebody waits for the next.
    failing: Arc<(Mutex<HashSet<Key>>, Notify)>,
}

impl Shards {
    pub(super) fn new(files: Files, open: Arc<OpenShards>) -> Self {
        Self { files, open, failing: Arc::default() }
    }

    /// What made the vectors of a version (see `Embed::identity`); `None` where it has to be made anew of its texts: it is
    /// damaged or of another format, or is cut otherwise than texts are cut now.
    pub(super) async fn encoder(&self, key: &Key) -> Option<String> {
        let (folder, owner) = (self.folder(key), key.owner);
        let read = move || {
            let encoder = manifest::encoder(&folder)?;
            manifest::verify(&folder, owner, &encoder, analysis::IDENTITY)?;
            Ok::<_, Fault>(manifest::is_cut_so(&folder)?.then_some(encoder))
        };
        tokio::task::spawn_blocking(read).await.ok()?.ok()?
    }

    /// Ready when something of a shard could not be read.
    pub(super) async fn failed(&self) {
        self.failing.1.notified().await;
    }

    /// Whether something of it could not be read since this was asked.
    pub(super) fn has_failed(&self, key: &Key) -> bool {
        self.failing().remove(key)
    }

    fn failing(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.failing.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The numbers of all chunks of a version, in order.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) async fn numbers(&self, key: &Key) -> Result<Vec<u64>> {
        let all = |shard: &Shard| match usize::try_from(shard.chunks()) {
            Ok(0) => Ok(Vec::new()),
            Ok(chunks) => shard.numbers(&[], chunks),
            Err(problem) => Err(Fault::Damaged(problem.to_string())),
        };
        self.on_shard(key, all).await
    }

    /// A folder for work on a workspace's shards; removed when it is dropped, or at the next start.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn staging(&self, org: Id<Org>) -> Result<tempfile::TempDir> {
        self.files.staging(org).map_err(Error::internal)
    }

    /// Puts a sealed shard in the place of a version's own, which goes to where the other was. At every moment, and
    /// after a crash too, one of them is there whole. Waits for the queries that use the old one (milliseconds); blocks.
    ///
    /// # Errors
    /// The version is not there any more, or the file system cannot exchange folders; the old one is there then.
    pub(super) fn exchange(&self, key: &Key, folder: &Path) -> Result<()> {
        let place = self.folder(key);
        let exchanged = self.open.replace(key, || {
            renameat2(AT_FDCWD, folder, AT_FDCWD, &place, RenameFlags::RENAME_EXCHANGE)?;
            place.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
        });
        exchanged.map_err(Error::internal)
    }

    /// The same for a version that may have lost its own.
    ///
    /// # Errors
    /// As [`Shards::exchange`].
    pub(super) fn put(&self, key: &Key, folder: &Path) -> Result<()> {
        let place = self.folder(key);
        match place.exists() {
            true => self.exchange(key, folder),
            false => self.files.publish(folder, &place).map_err(Error::internal),
        }
    }

    fn folder(&self, key: &Key) -> PathBuf {
        self.files.vectors(key.owner.org, key.owner.dataset, &key.version)
    }

    /// Runs work on a shard, off the async runtime. What goes wrong is logged, once, with the dataset.
    async fn on_shard<T: Send + 'static>(
        &self,
        key: &Key,
        work: impl FnOnce(&Shard) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let folder = self.folder(key);
        let (open, mine) = (self.open.clone(), key.clone());
        let done = tokio::task::spawn_blocking(move || open.with(&mine, &folder, work)).await;
        // A panic of the engine over a damaged file arrives as a join error.
        let failed = match done {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(fault)) => fault.to_string(),
            Err(panic) => panic.to_string(),
        };
        let error = Error::internal(format!("dataset {} of workspace {}: {failed}", key.owner.dataset, key.owner.org));
        // A full disk has damaged nothing, and leaves no room to make anything anew.
        if error.code == Code::InternalError {
            self.failing().insert(key.clone());
            self.failing.1.notify_one();
        }
        Err(error)
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

/// The legs, as a person would call them.
const MEANING: &str = "meaning";
const WORDS: &str = "words";

/// Asks a leg for so many chunks; `None` where there is nothing to ask by.
type Leg<'a> = dyn Fn(Among<'_>, usize) -> Option<Result<Vec<(u64, f32)>, Fault>> + 'a;

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
    let near = if query.near == 0 { None } else { run(MEANING, dense(those, query.near)) };
    let equal = match (query.equal, query.lists && query.sparse.is_none()) {
        (0, _) => None,
        (_, true) => run(WORDS, Some(listed())),
        (limit, false) => run(WORDS, sparse(those, limit)),
    };

    let mut points: Vec<u64> = near.iter().chain(&equal).flatten().map(|(point, _)| *point).collect();
    points.sort_unstable();
    points.dedup();
    // A chunk that only one leg proposed gets the other's score too: no score depends on where a list was cut. A leg
    // that failed is not asked again.
    let mut scored = |name, proposed: Option<Vec<(u64, f32)>>, most: usize, leg: &Leg<'_>| {
        let mut scores: HashMap<u64, f32> = match (proposed, most) {
            (Some(proposed), _) => proposed.into_iter().collect(),
            (None, 0) => HashMap::new(),
            (None, _) => return None,
        };
        let others: Vec<u64> = points.iter().copied().filter(|point| !scores.contains_key(point)).collect();
        // A list of words that is not full has all that share a term.
        if others.is_empty() || (scores.len() < most && name == WORDS) {
            return Some(scores);
        }
        scores.extend(run(name, leg(Among::Points(&others), others.len()))?);
        Some(scores)
    };
    let near = scored(MEANING, near, query.near, &dense);
    let equal = match query.sparse.is_some() {
        true => scored(WORDS, equal, query.equal, &sparse),
        false => equal.map(|listed| listed.into_iter().collect()),
    };
    let of = |leg: &Option<HashMap<u64, f32>>, point| Some(leg.as_ref()?.get(&point).copied().unwrap_or(0.0));
    let hits = points.iter().map(|&point| Hit { point, dense: of(&near, point), sparse: of(&equal, point) }).collect();
    Answer { hits, is_outdated: query.dense.is_some() && comparable.is_none(), failed }
}
