//! Texts into unit vectors, by whichever encoder the operator chose: the built-in one, a model in a local folder, or a
//! server's. What is common to them is here: turns, batches, and the queries that were asked before.

mod bert;
mod builtin;
mod int8;
pub(super) mod local;
mod remote;

#[cfg(test)]
pub(super) use builtin::IDENTITY as BUILTIN;
pub use local::model_in;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::base::id::Id;
use crate::config::{Embedding, EmbeddingServer};
use crate::engine::search::chunk::Measure;
use crate::engine::search::embed::builtin::Builtin;
use crate::engine::search::embed::local::Local;
use crate::engine::search::embed::remote::Remote;
use crate::engine::turns::{Turn, Turns};
use crate::model::error::{Error, Result};
use crate::model::org::{Egress, Org};
use crate::store::{self, Db};

/// Queries whose vectors are kept: a few megabytes.
const KEPT: NonZeroUsize = NonZeroUsize::new(2_048).unwrap();

/// What a text is for: some models want to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Query,
    Passage,
}

/// An encoder. Everything of it blocks, and may take its time at first: models are loaded when they are needed.
pub(super) trait Embed: Send + Sync {
    /// Names model, weights, tokenizer and pooling. Vectors are comparable only when it is equal to the letter, so it
    /// is stored beside them.
    ///
    /// # Errors
    /// `internal_error` when the model cannot be loaded; `service_unavailable` when a server does not answer.
    fn identity(&self) -> Result<String>;

    /// The model's name, as people know it.
    fn name(&self) -> String;

    /// Coordinates of a vector. For a query a server that has to be asked is waited for no longer than for that.
    ///
    /// # Errors
    /// As [`Embed::identity`].
    fn dimension(&self, purpose: Purpose) -> Result<usize>;

    /// How much the nearness of meanings counts in the order of what was found, 0 to 1; words have the rest.
    fn weight(&self) -> f64;

    /// How far a question's meaning is drawn to what it finds ([`crate::engine::search::feedback`]): 0 where the model
    /// knows better what was meant than its first finds do.
    fn pull(&self) -> f32;

    /// How long texts are to it, where its word pieces are known.
    ///
    /// # Errors
    /// As [`Embed::identity`].
    fn measure(&self) -> Result<Measure> {
        Ok(Measure::default())
    }

    /// Texts that are best encoded together: some tenths of a second of work.
    fn batch(&self) -> usize;

    /// One vector a text, in order. What a text has beyond the model's reach is not read. When `gone` is cancelled, a
    /// server is not waited for any longer; for a query only a few seconds, and not at all after it has just let one wait.
    ///
    /// # Errors
    /// `internal_error` when the model fails, or a text is blank; `service_unavailable` when a server does not answer.
    fn encode(&self, texts: &[String], purpose: Purpose, gone: &CancellationToken) -> Result<Vec<Vec<f32>>>;
}

/// The encoders of this installation; clones share them, and their turns.
///
/// A query is a few milliseconds of work, an import minutes of it: each has turns of its own, so that no query waits
/// for a text of an import.
#[derive(Clone)]
pub(super) struct Encoders {
    builtin: Encoder,
    configured: Option<Configured>,
    /// As many as there are cores.
    queries: Arc<Semaphore>,
    /// One less, where there is more than one: it is left to the rest of the service. A workspace may have all of them;
    /// each is short.
    imports: Turns,
}

#[derive(Clone)]
enum Configured {
    Local(Encoder),
    Remote(Encoder, Arc<Remote>, Db),
}

/// One encoder, with the queries that it was asked; clones share both.
#[derive(Clone)]
pub(super) struct Encoder {
    model: Arc<dyn Embed>,
    asked: Arc<Mutex<LruCache<String, Vec<f32>>>>,
    queries: Arc<Semaphore>,
}

impl Encoders {
    /// The built-in encoder alone.
    pub(super) fn builtin() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let left = cores.saturating_sub(1);
        let queries = Arc::new(Semaphore::new(cores));
        let builtin = Encoder::new(Arc::new(Builtin), &queries);
        Self { builtin, configured: None, queries, imports: Turns::of_imports(left, left) }
    }

    /// What the operator chose, beside the built-in one.
    pub(super) fn of(chosen: &Embedding, db: &Db) -> Self {
        let mut encoders = Self::builtin();
        encoders.configured = match chosen {
            Embedding::Builtin => None,
            Embedding::Folder(folder) => Some(encoders.local(folder.clone())),
            Embedding::Server(server) => Some(Self::remote(server.clone(), db.clone())),
        };
        encoders
    }

    fn local(&self, folder: PathBuf) -> Configured {
        Configured::Local(Encoder::new(Arc::new(Local::new(folder)), &self.queries))
    }

    fn remote(server: EmbeddingServer, db: Db) -> Configured {
        let remote = Arc::new(Remote::new(server));
        // A query of a server costs this machine nothing.
        let at_once = Arc::new(Semaphore::new(remote::AT_ONCE));
        Configured::Remote(Encoder::new(remote.clone(), &at_once), remote, db)
    }

    /// The encoder of a workspace: the configured one; the built-in one where that lies outside of the operator's own
    /// network and the workspace's policy lets nothing leave.
    ///
    /// # Errors
    /// `internal_error` when the policy cannot be read; `service_unavailable` when the server's name does not resolve.
    pub(super) async fn of_workspace(&self, org: Id<Org>) -> Result<Encoder> {
        match &self.configured {
            None => Ok(self.builtin.clone()),
            Some(Configured::Local(encoder)) => Ok(encoder.clone()),
            Some(Configured::Remote(encoder, remote, db)) => {
                if remote.is_inside().await? {
                    return Ok(encoder.clone());
                }
                let policy = store::workspace_settings::language_models(db.pool(), org).await;
                let policy = policy.map_err(Error::internal)?.unwrap_or_default();
                Ok(if policy.egress == Egress::Allowed { encoder.clone() } else { self.builtin.clone() })
            }
        }
    }

    /// The built-in encoder, whose vectors an index may still have that are made anew by another.
    pub(super) fn of_before(&self) -> &Encoder {
        &self.builtin
    }

    /// The right to encode some texts of an import by [`Encoder::passages`], and to do what else of it takes a core.
    ///
    /// # Errors
    /// None while the process lives.
    pub(super) async fn import_turn(&self, org: Id<Org>) -> Result<Turn> {
        let workspace = org.to_string();
        self.imports.take(&workspace, &workspace).await
    }

    /// With a model of a folder.
    #[cfg(test)]
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        let mut encoders = Self::builtin();
        encoders.configured = Some(encoders.local(folder));
        encoders
    }

    /// Makes every further query fail, as a broken model does.
    #[cfg(test)]
    pub(crate) fn break_down(&self) {
        self.queries.close();
    }
}

impl Encoder {
    fn new(model: Arc<dyn Embed>, queries: &Arc<Semaphore>) -> Self {
        Self { model, asked: Arc::new(Mutex::new(LruCache::new(KEPT))), queries: queries.clone() }
    }

    /// As [`Embed::identity`], off the async runtime.
    ///
    /// # Errors
    /// As [`Embed::identity`].
    pub(super) async fn identity(&self) -> Result<String> {
        let model = self.model.clone();
        tokio::task::spawn_blocking(move || model.identity()).await.map_err(Error::internal)?
    }

    /// As [`Embed::dimension`], off the async runtime.
    ///
    /// # Errors
    /// As [`Embed::identity`].
    pub(super) async fn dimension(&self, purpose: Purpose) -> Result<usize> {
        let model = self.model.clone();
        tokio::task::spawn_blocking(move || model.dimension(purpose)).await.map_err(Error::internal)?
    }

    /// As [`Embed::name`].
    pub(super) fn name(&self) -> String {
        self.model.name()
    }

    /// As [`Embed::weight`].
    pub(super) fn weight(&self) -> f64 {
        self.model.weight()
    }

    /// As [`Embed::pull`].
    pub(super) fn pull(&self) -> f32 {
        self.model.pull()
    }

    /// The model itself, for who may block.
    pub(super) fn model(&self) -> &dyn Embed {
        self.model.as_ref()
    }

    /// The vector of a query; one that was asked of late costs nothing.
    ///
    /// # Errors
    /// As [`Embed::encode`].
    pub(super) async fn query(&self, text: &str) -> Result<Vec<f32>> {
        if let Some(known) = self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(known.clone());
        }
        let turn = self.queries.clone().acquire_owned().await.map_err(Error::internal)?;
        let (model, texts) = (self.model.clone(), [text.to_owned()]);
        // Whoever drops the search lets go of the server, and of the turn.
        let gone = CancellationToken::new();
        let _dropped = gone.clone().drop_guard();
        let work = move || {
            let _turn = turn;
            vectors(model.as_ref(), &texts, Purpose::Query, &gone)
        };
        let made = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
        let vector = made.into_iter().next().ok_or_else(|| Error::internal("the encoder made no vector"))?;
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).put(text.to_owned(), vector.clone());
        Ok(vector)
    }

    /// One unit vector a text, in order. Blocks, some tenths of a second for [`Embed::batch`] texts.
    ///
    /// # Errors
    /// As [`Embed::encode`].
    pub(super) fn passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        vectors(self.model.as_ref(), texts, Purpose::Passage, &CancellationToken::new())
    }
}

/// What the model makes of the texts, if all of it is sound; of length one.
fn vectors(model: &dyn Embed, texts: &[String], purpose: Purpose, gone: &CancellationToken) -> Result<Vec<Vec<f32>>> {
    if texts.iter().any(|text| text.trim().is_empty()) {
        return Err(Error::internal("a blank text has no vector"));
    }
    let dimension = model.dimension(purpose)?;
    let made = model.encode(texts, purpose, gone)?;
    if made.len() != texts.len() {
        return Err(Error::internal(format!("{} vectors for {} texts", made.len(), texts.len())));
    }
    made.into_iter().map(|vector| unit(vector, dimension)).collect()
}

fn unit(mut vector: Vec<f32>, dimension: usize) -> Result<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    if vector.len() != dimension || !length.is_finite() || length <= 0.0 {
        return Err(Error::internal(format!("the encoder made an unsound vector of {} coordinates", vector.len())));
    }
    for x in &mut vector {
        *x = (f64::from(*x) / length) as f32;
    }
    Ok(vector)
}

/// Runs work over texts on all cores, the longest first, so that none is left for the end; results in the texts' order.
/// Each call gets texts of about one length: as many as `room` has place for, counted as if all were as long as the
/// longest, or one.
fn side_by_side<T: Send + Sync>(
    texts: &[T],
    length: impl Fn(&T) -> usize + Sync,
    room: usize,
    work: impl Fn(&[&T]) -> Result<Vec<Vec<f32>>> + Sync,
) -> Result<Vec<Vec<f32>>> {
    let mut order: Vec<(usize, &T)> = texts.iter().enumerate().collect();
    order.sort_by_key(|(at, text)| (std::cmp::Reverse(length(text)), *at));
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let share = texts.len().div_ceil(cores).max(1);
    let rest = Mutex::new(order.as_slice());
    let next = || {
        let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = rest.first().map(|(_, text)| length(text).max(1))?;
        let (group, after) = rest.split_at((room / longest).clamp(1, share).min(rest.len()));
        *rest = after;
        Some(group)
    };
    let one = || -> Result<Vec<(usize, Vec<f32>)>> {
        let mut done = Vec::new();
        while let Some(group) = next() {
            let texts: Vec<&T> = group.iter().map(|(_, text)| *text).collect();
            done.extend(group.iter().map(|(at, _)| *at).zip(work(&texts)?));
        }
        Ok(done)
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(texts.len())).map(|_| scope.spawn(one)).collect();
        let mut done = one()?;
        for other in others {
            done.extend(other.join().map_err(|_| Error::internal("the encoder panicked"))??);
        }
        Ok::<_, Error>(done)
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, vector)| vector).collect())
}

#[cfg(test)]
mod tests;
