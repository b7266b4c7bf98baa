//! Chunks in embedded shards, one folder a dataset version: each is asked off the async runtime, some at a time.

use std::collections::HashSet;
use std::fs::File;
use std::future::{Future, ready};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use qdrant_edge::SparseVector;
use serde_json::Value;
use tokio::sync::Notify;

use crate::base::id::Id;
use crate::engine::files::Files;
use crate::engine::search::analysis;
use crate::engine::search::backend::{Answer, Draft, Index, Key, Over, Point, Query, Sealed, What};
use crate::engine::search::legs::{Legs, Scores, ask};
use crate::engine::search::manifest::{self, Fault};
use crate::engine::search::open::OpenShards;
use crate::engine::search::shard::builder::Builder;
use crate::engine::search::shard::{Among, Place, Shard, Stored};
use crate::model::document::Document;
use crate::model::error::{Code, Error, Result};

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

    /// Ready when something of a shard could not be read.
    pub(super) async fn failed(&self) {
        self.failing.1.notified().await;
    }

    /// Whether something of it could not be read since this was asked.
    pub(super) fn has_failed(&self, key: &Key) -> bool {
        self.failing().remove(key)
    }

    /// The candidates of each, in the order of the keys. One that fails does not spoil the others.
    pub(super) fn find<'a>(&'a self, keys: &'a [Key], query: &'a Query) -> BoxFuture<'a, Vec<Result<Answer>>> {
        // First those that are open: each of the others may close one of them, which would be opened again for its turn, and
        // of one more than may be open none would be open when it is asked.
        let (open, closed): (Vec<_>, Vec<_>) = keys.iter().enumerate().partition(|(_, key)| self.open.is_open(key));
        let one = move |(at, key): (usize, &'a Key)| {
            let query = query.clone();
            self.on_shard(key, move |shard| asked(shard, &query)).map(move |answer| (at, answer))
        };
        let open = stream::iter(open.into_iter().map(one)).buffered(AT_ONCE);
        let closed = stream::iter(closed.into_iter().map(one)).buffered(AT_ONCE);
        let answers = open.chain(closed).collect::<Vec<(usize, Result<Answer>)>>();
        Box::pin(answers.map(|mut answers| {
            answers.sort_unstable_by_key(|(at, _)| *at);
            answers.into_iter().map(|(_, answer)| answer).collect::<Vec<_>>()
        }))
    }

    /// Lets go of a version, so that its data can be removed. Blocks, until nobody searches or copies it.
    pub(super) fn forget(&self, key: &Key) {
        self.open.close(key);
    }

    fn failing(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.failing.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a sealed shard in the place of a version's own, which goes to where the other was. At every moment, and
    /// after a crash too, one of them is there whole. Waits for the queries that use the old one (milliseconds); blocks.
    ///
    /// # Errors
    /// The version is not there any more, or the file system cannot exchange folders; the old one is there then.
    fn exchange(&self, key: &Key, folder: &Path) -> Result<()> {
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
    fn put_folder(&self, key: &Key, folder: &Path) -> Result<()> {
        let place = self.folder(key);
        match place.exists() {
            true => self.exchange(key, folder)?,
            false => self.files.publish(folder, &place).map_err(Error::internal)?,
        }
        // That was the other one.
        self.failing().remove(key);
        Ok(())
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

    fn numbers<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Vec<u64>>> {
        let all = |shard: &Shard| match usize::try_from(shard.chunks()) {
            Ok(0) => Ok(Vec::new()),
            Ok(chunks) => shard.numbers(&[], chunks),
            Err(problem) => Err(Fault::Damaged(problem.to_string())),
        };
        Box::pin(self.on_shard(key, all))
    }

    fn encoder<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<String>>> {
        let (folder, owner) = (self.folder(key), key.owner);
        let read = move || {
            let encoder = manifest::encoder(&folder)?;
            manifest::verify(&folder, owner, &encoder, analysis::IDENTITY)?;
            Ok::<_, Fault>(manifest::is_cut_so(&folder)?.then_some(encoder))
        };
        Box::pin(async { Ok(blocking(move || Ok(read().ok().flatten())).await.ok().flatten()) })
    }

    fn holds<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(ready(Ok(self.folder(key).exists())))
    }

    fn begin<'a>(&'a self, key: &'a Key, encoder: String, dimension: usize) -> BoxFuture<'a, Result<Box<dyn Draft>>> {
        let (files, owner) = (self.files.clone(), key.owner);
        let begin = move || {
            let staging = files.staging(owner.org).map_err(Error::internal)?;
            let path = staging.path().join("vectors");
            let builder = Builder::create(&path, owner, encoder, dimension).map_err(Error::internal)?;
            Ok(Box::new(Staged { builder, path, staging }) as Box<dyn Draft>)
        };
        Box::pin(blocking(begin))
    }

    fn begin_over<'a>(
        &'a self,
        key: &'a Key,
        earlier: &'a Key,
        stay: &'a HashSet<Id<Document>>,
    ) -> BoxFuture<'a, Result<Option<Over>>> {
        let (files, owner, sealed, stay) = (self.files.clone(), key.owner, self.folder(earlier), stay.clone());
        if !sealed.exists() {
            return Box::pin(ready(Ok(None)));
        }
        Box::pin(self.on_shard(earlier, move |shard| {
            let staging = files.staging(owner.org)?;
            let path = staging.path().join("vectors");
            let builder = Builder::over((shard, &sealed), &path, owner, &stay)?;
            Ok(builder.map(|builder| (Box::new(Staged { builder, path, staging }) as Box<dyn Draft>, Vec::new())))
        }))
    }

    fn written<'a>(&'a self, key: &'a Key, sealed: &'a Sealed, points: Vec<u64>) -> BoxFuture<'a, Result<Vec<Point>>> {
        let owner = key.owner;
        let folder = match &sealed.what {
            What::Folder { path, .. } => Some(path.clone()),
            What::Points { .. } => None,
        };
        let read = move || {
            let folder = folder.ok_or_else(elsewhere)?;
            let shard = Shard::open(&folder, owner).map_err(Error::internal)?;
            let stored = shard.read(&points).map_err(Error::internal)?;
            let pairs = shard.pairs(&points).map_err(Error::internal)?;
            let both = stored.into_iter().zip(pairs);
            Ok(both.map(|((_, stored), (dense, sparse))| (stored, dense, sparse)).collect())
        };
        Box::pin(blocking(read))
    }

    fn put<'a>(&'a self, key: &'a Key, sealed: Sealed) -> BoxFuture<'a, Result<()>> {
        let (this, key) = (self.clone(), key.clone());
        Box::pin(blocking(move || match sealed.what {
            What::Folder { path, _staging } => this.put_folder(&key, &path),
            What::Points { .. } => Err(elsewhere()),
        }))
    }

    fn remove<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<()>> {
        let (this, key) = (self.clone(), key.clone());
        Box::pin(blocking(move || {
            this.open.close(&key);
            this.files.remove(&this.folder(&key)).map_err(Error::internal)
        }))
    }
}

/// A shard that is being built in a staging folder.
struct Staged {
    builder: Builder,
    path: PathBuf,
    staging: tempfile::TempDir,
}

impl Draft for Staged {
    fn add(&mut self, chunks: Vec<Point>) -> Result<()> {
        self.builder.add(chunks).map_err(Error::internal)
    }

    fn seal(self: Box<Self>) -> Result<Sealed> {
        let Self { builder, path, staging } = *self;
        let (chunks, bytes) = builder.finish().map_err(Error::internal)?;
        Ok(Sealed { chunks, bytes, what: What::Folder { path, _staging: staging } })
    }
}

impl Legs for Shard {
    fn is_of(&self, encoder: &str) -> bool {
        Self::is_of(self, encoder)
    }

    fn nearest(
        &self,
        query: &[f32],
        among: Among<'_>,
        limit: usize,
    ) -> impl Future<Output = Result<Scores, Fault>> + Send {
        ready(Self::nearest(self, query, among, limit))
    }

    fn matching(
        &self,
        query: &SparseVector,
        among: Among<'_>,
        limit: usize,
    ) -> impl Future<Output = Result<Scores, Fault>> + Send {
        ready(Self::matching(self, query, among, limit))
    }

    fn numbers(&self, conditions: &[Value], limit: usize) -> impl Future<Output = Result<Vec<u64>, Fault>> + Send {
        ready(Self::numbers(self, conditions, limit))
    }
}

/// Both legs of a shard, which never wait. Blocks.
pub(super) fn asked(shard: &Shard, query: &Query) -> Result<Answer, Fault> {
    let answer = ask(shard, query).now_or_never();
    answer.unwrap_or_else(|| Err(Fault::Engine("a shard waited".into())))
}

/// What no caller does: each index gives places to what it wrote.
pub(super) fn elsewhere() -> Error {
    Error::internal("an index was asked for what another has written")
}

/// Work that blocks, where nobody else waits for the thread. What it holds is dropped there when it fails.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}
