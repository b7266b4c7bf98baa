//! Search over documents, by meaning and by words.
//!
//! ```text
//! index   documents → chunk → embed (dense) + terms (sparse) → shard, built in a staging folder, flushed and sealed
//! search  query     → embed + terms → both legs of each dataset's shard → rank → texts of the best
//! ```
//!
//! One sealed shard folder a dataset version; publishing it is the importer's. What fails of a search without
//! spoiling the rest (a leg, a dataset) is logged here and said in [`Found::degraded`].

mod chunk;
mod embed;
mod index;
mod manifest;
pub mod markdown;
mod open;
mod rank;
mod shard;
mod tokens;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use crate::base::id::Id;
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::{Document, Spot};
use crate::model::error::{Error, Result};
use crate::model::org::Org;

use embed::Encoder;
use manifest::{Fault, Owner};
use open::{Key, OpenShards};
use shard::{Hit, Shard, Stored, Terms};

/// Characters of a query.
const QUERY_CHARS: usize = 1_000;
/// The most matches that can be asked for.
const TOP_K: usize = 50;
/// Candidates a leg and dataset.
const CANDIDATES: usize = 100;
/// Characters of a match's text.
const TEXT_CHARS: usize = 2_000;
/// Shards that stay open.
const OPEN_SHARDS: NonZeroUsize = NonZeroUsize::new(64).unwrap();
/// Shards that one search asks at the same time.
const AT_ONCE: usize = 4;

/// What was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexed {
    pub chunks: i64,
    /// Bytes on disk.
    pub bytes: i64,
}

/// The answer to a search, best match first.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub matches: Vec<Match>,
    /// Whether there were more candidates than asked for, or a text was cut.
    pub truncated: bool,
    /// What did not work, in sentences; `None` when all did.
    pub degraded: Option<String>,
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// `<document id>:<chunk index>`.
    pub id: String,
    /// 0 to 1, rising with relevance, comparable within one answer: how near the meanings are and how well the words
    /// agree, half each (`rank.rs` has the formula).
    pub score: f64,
    /// At most 2,000 characters.
    pub text: String,
    pub document: Id<Document>,
    pub source_file: String,
    pub title: String,
    /// Headings above the text, `A > B`; empty when there are none.
    pub heading: String,
    pub dataset: Id<Dataset>,
    pub dataset_name: String,
    pub chunk_index: u32,
    pub spot: Spot,
}

/// Builds and asks the shards; clones share what is open.
#[derive(Clone)]
pub struct SearchEngine {
    files: Files,
    encoder: Encoder,
    open: Arc<OpenShards>,
}

/// A query in the forms that the legs understand.
#[derive(Clone)]
struct Query {
    dense: Option<Vec<f32>>,
    sparse: Option<qdrant_edge::SparseVector>,
    limit: usize,
}

/// What one dataset's shard answered.
struct Answer {
    hits: Vec<Hit>,
    /// The legs that failed, as a person would call them.
    failed: Vec<&'static str>,
}

impl SearchEngine {
    /// Nothing is loaded before it is needed.
    pub fn new(files: Files) -> Self {
        Self { files, encoder: Encoder::new(), open: Arc::new(OpenShards::new(OPEN_SHARDS)) }
    }

    /// The `top_k` best chunks of the documents datasets that the job's pass covers.
    ///
    /// # Errors
    /// `invalid_argument` for a query that is empty or over 1,000 characters and a `top_k` outside 1..=50;
    /// `query_timeout`. A dataset or leg that fails is no error: see [`Found::degraded`].
    pub async fn search(&self, job: &Job<'_>, query: &str, top_k: usize) -> Result<Found> {
        let query = query.trim();
        if !(1..=QUERY_CHARS).contains(&query.chars().count()) {
            return Err(Error::invalid("query", format!("query must have 1 to {QUERY_CHARS} characters.")));
        }
        if !(1..=TOP_K).contains(&top_k) {
            return Err(Error::invalid("top_k", format!("top_k must be 1 to {TOP_K}.")));
        }
        job.wait(self.answer(job, query, top_k)).await?
    }

    /// Closes an open shard, so that its folder can be removed; waits for the queries that use it (milliseconds).
    pub fn forget(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str) {
        self.open.close(&Key { owner: Owner { org, dataset }, version: version.to_owned() });
    }

    async fn answer(&self, job: &Job<'_>, text: &str, top_k: usize) -> Result<Found> {
        let org = job.pass.org();
        let shards: Vec<(&Dataset, Key)> = (job.pass.datasets().iter())
            .filter(|dataset| dataset.kind == Kind::Documents)
            .filter_map(|dataset| {
                let owner = Owner { org, dataset: dataset.id };
                Some((dataset, Key { owner, version: dataset.version.clone()? }))
            })
            .collect();
        if shards.is_empty() {
            return Ok(Found { matches: vec![], truncated: false, degraded: None });
        }
        let mut degraded = Vec::new();
        let terms = Terms::new().map_err(Error::internal)?.of_query(text);
        let dense = match self.encoder.query(text).await {
            Ok(vector) => Some(vector),
            Err(_logged) => {
                degraded.push("Search by meaning is out of order; only exact words were matched.".to_owned());
                None
            }
        };
        job.check()?;
        let query = Query { dense, sparse: terms, limit: CANDIDATES.max(top_k) };
        let asked: Vec<_> = (shards.iter())
            .map(|(_, key)| {
                let query = query.clone();
                self.on_shard(key, move |shard| Ok(ask(shard, &query)))
            })
            .collect();
        let answers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        job.check()?;
        let mut hits = Vec::new();
        for (at, (answer, (dataset, _))) in answers.into_iter().zip(&shards).enumerate() {
            match answer {
                Ok(Answer { hits: found, failed }) => {
                    degraded.extend(failed.iter().map(|leg| format!("Search by {leg} failed in {}.", dataset.name)));
                    hits.push((at, found));
                }
                Err(_logged) => degraded.push(unsearched(dataset)),
            }
        }
        let ranked = rank::rank(hits);
        let mut truncated = ranked.len() > top_k;
        let best: Vec<rank::Ranked> = ranked.into_iter().take(top_k).collect();
        let mut matches = Vec::with_capacity(best.len());
        for (at, (dataset, key)) in shards.iter().enumerate() {
            let wanted: Vec<u64> = best.iter().filter(|r| r.dataset == at).map(|r| r.point).collect();
            if wanted.is_empty() {
                continue;
            }
            match self.on_shard(key, move |shard| shard.read(&wanted)).await {
                Ok(read) => matches.extend(read.into_iter().map(|(point, stored)| (at, point, *dataset, stored))),
                Err(_logged) => degraded.push(unsearched(dataset)),
            }
        }
        let matches = best
            .into_iter()
            .filter_map(|r| {
                let at = matches.iter().position(|(at, point, ..)| (*at, *point) == (r.dataset, r.point))?;
                let (_, _, dataset, stored) = matches.swap_remove(at);
                let (found, cut) = to_match(dataset, stored, r.score);
                truncated |= cut;
                Some(found)
            })
            .collect();
        Ok(Found { matches, truncated, degraded: (!degraded.is_empty()).then(|| degraded.join(" ")) })
    }

    /// Runs work on a shard, off the async runtime. What goes wrong is logged, once, with the dataset.
    async fn on_shard<T: Send + 'static>(
        &self,
        key: &Key,
        work: impl FnOnce(&Shard) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let folder: PathBuf = self.files.vectors(key.owner.org, key.owner.dataset, &key.version);
        let identity = Encoder::identity()?;
        let (open, mine) = (self.open.clone(), key.clone());
        let done = tokio::task::spawn_blocking(move || open.with(&mine, &folder, &identity, work)).await;
        // A panic of the engine over a damaged file arrives as a join error.
        let failed = match done {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(fault)) => fault.to_string(),
            Err(panic) => panic.to_string(),
        };
        Err(Error::internal(format!("dataset {} of workspace {}: {failed}", key.owner.dataset, key.owner.org)))
    }
}

fn unsearched(dataset: &Dataset) -> String {
    format!("{} could not be searched: its index is damaged or outdated. Import it again.", dataset.name)
}

/// Both legs, each chunk that either found scored by both.
fn ask(shard: &Shard, query: &Query) -> Answer {
    let mut failed = Vec::new();
    let mut run = |name, leg: Option<Result<Vec<(u64, f32)>, Fault>>| match leg? {
        Ok(points) => Some(points),
        Err(fault) => {
            tracing::error!(leg = name, %fault, "a leg of a search failed");
            failed.push(name);
            None
        }
    };
    let dense = |among: Option<&[u64]>, limit| query.dense.as_ref().map(|q| shard.nearest(q, among, limit));
    let sparse = |among: Option<&[u64]>, limit| query.sparse.as_ref().map(|q| shard.matching(q, among, limit));
    let near = run("meaning", dense(None, query.limit));
    let equal = run("words", sparse(None, query.limit));

    let mut points: Vec<u64> = near.iter().chain(&equal).flatten().map(|(point, _)| *point).collect();
    points.sort_unstable();
    points.dedup();
    // A chunk that only one leg proposed gets the other's score too: no score depends on where a list was cut.
    let near = near.and_then(|_| run("meaning", dense(Some(&points), points.len())));
    let equal = equal.and_then(|_| run("words", sparse(Some(&points), points.len())));
    let of = |leg: &Option<Vec<(u64, f32)>>, point| {
        let leg = leg.as_ref()?;
        Some(leg.iter().find(|(found, _)| *found == point).map_or(0.0, |(_, score)| *score))
    };
    let hits = points.iter().map(|&point| Hit { point, dense: of(&near, point), sparse: of(&equal, point) }).collect();
    Answer { hits, failed }
}

/// A match, and whether its text was cut.
fn to_match(dataset: &Dataset, stored: Stored, score: f64) -> (Match, bool) {
    let Stored { tenant: _, dataset: _, document, chunk_index, heading, text, source_file, title, spot } = stored;
    let end = text.char_indices().nth(TEXT_CHARS).map(|(at, _)| at);
    let found = Match {
        id: format!("{document}:{chunk_index}"),
        score,
        text: text[..end.unwrap_or(text.len())].to_owned(),
        document,
        source_file,
        title,
        heading,
        dataset: dataset.id,
        dataset_name: dataset.name.clone(),
        chunk_index,
        spot,
    };
    (found, end.is_some())
}

#[cfg(test)]
mod tests;
