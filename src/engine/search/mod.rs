//! Search over documents, by meaning and by words.
//!
//! ```text
//! index     documents → chunk → embed (dense) + terms (sparse) → draft, which is sealed, and then gets its place
//! search    query     → embed + terms → both legs of each dataset → rank → texts of the best
//! renew     vectors of another encoder made anew, from the texts of the index
//! retrieve  the same with every choice left to the caller: legs, filters, fusion, groups, pages; places, not texts
//! ```
//!
//! Chunks are kept behind [`backend::Index`]: in one sealed shard folder a dataset version, or on a Qdrant server
//! (`cluster.rs`), or, on the way from the one to the other, in both (`homes.rs`). What fails of a search without spoiling the rest (a leg, a dataset) is logged here and said in
//! [`Found::degraded`].

pub mod about;
mod analysis;
mod backend;
mod chunk;
mod cluster;
mod embed;
mod feedback;
pub mod filter;
mod fuse;
#[cfg(test)]
mod growth;
mod homes;
mod index;
mod legs;
mod manifest;
pub mod markdown;
pub mod moving;
mod open;
mod rank;
mod rebuild;
pub mod renew;
pub mod retrieve;
mod shard;
mod shards;
mod snippet;
mod tokens;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::config::{Embedding, Qdrant};
use crate::engine::files::Files;
use crate::engine::job::Job;
use crate::model::chunk_id::ChunkId;
use crate::model::cluster_index::ClusterIndex;
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::Spot;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::store::Db;

pub use backend::Sealed;
pub use cluster::reach;
pub use embed::model_in;
pub use index::Carried;

use backend::{Answer, Dense, Index as _, Key, Query};
use cluster::Cluster;
use embed::Encoders;
use homes::Homes;
use manifest::Owner;
use open::OpenShards;
use renew::Renewals;
use shard::{Hit, Stored};
use shards::Shards;

/// Characters of a query.
const QUERY_CHARS: usize = 1_000;
/// The most matches that can be asked for.
const TOP_K: usize = 50;
/// Candidates a leg and dataset.
const CANDIDATES: usize = 100;
/// Characters of a match's text.
const TEXT_CHARS: usize = 2_000;
/// Bytes of memory that open shards take together.
const OPEN_BYTES: u64 = 1 << 30;
/// Said where the encoder is down.
const WITHOUT_MEANING: &str = "Search by meaning is out of order; only exact words were matched.";

/// What is told of the stages of a search.
const READS: &str = "Reading the question";
const SEARCHES: &str = "Searching the documents";
const FETCHES: &str = "Fetching the passages";

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
    pub id: ChunkId,
    /// 0 to 1, rising with relevance, comparable within one answer: how near the meanings are and how well the words
    /// agree (`rank.rs` has the formula).
    pub score: f64,
    /// At most 2,000 characters.
    pub text: String,
    pub source_file: String,
    pub title: String,
    /// Headings above the text, `A > B`; empty when there are none.
    pub heading: String,
    pub dataset: Id<Dataset>,
    pub dataset_name: String,
    pub spot: Spot,
}

/// Builds and asks what is searched; clones share what is open.
#[derive(Clone)]
pub struct SearchEngine {
    encoders: Encoders,
    homes: Homes,
    renewals: Renewals,
}

impl SearchEngine {
    /// With the built-in encoder. Nothing is loaded before it is needed.
    pub fn new(files: Files) -> Self {
        Self::over(files, Arc::new(OpenShards::new(OPEN_BYTES)))
    }

    fn over(files: Files, open: Arc<OpenShards>) -> Self {
        let homes = Homes { shards: Shards::new(files, open), cluster: None };
        Self { encoders: Encoders::builtin(), homes, renewals: Renewals::default() }
    }

    /// With the encoder that the operator chose.
    #[must_use]
    pub fn with_embedding(self, chosen: &Embedding, db: &Db) -> Self {
        Self { encoders: Encoders::of(chosen, db), ..self }
    }

    /// With the Qdrant server that the operator chose, if there is one; nothing is asked of it yet.
    ///
    /// # Errors
    /// Its address cannot be used.
    pub fn with_cluster(self, chosen: Option<&Qdrant>, db: &Db, clock: &Clock) -> std::io::Result<Self> {
        let Some(chosen) = chosen else { return Ok(self) };
        let cluster = Cluster::new(chosen, db.clone(), clock.clone()).map_err(std::io::Error::other)?;
        let homes = Homes { cluster: Some(cluster), ..self.homes };
        Ok(Self { homes, ..self })
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

    /// Lets go of a version, so that its data can be removed. Blocks, until nobody searches or copies it.
    pub fn forget(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str) {
        self.homes.shards.forget(&key(org, dataset, version));
    }

    /// Gives what was built its place, before the metadata name it.
    ///
    /// # Errors
    /// It has none; nothing of it is left.
    pub async fn put(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str, sealed: Sealed) -> Result<()> {
        self.homes.put(&key(org, dataset, version), sealed).await
    }

    /// Whether the index of a version is in place.
    ///
    /// # Errors
    /// It cannot be told.
    pub async fn holds(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<bool> {
        let key = key(org, dataset, version);
        self.homes.of(&key).await?.holds(&key).await
    }

    /// Whether indexes of a workspace could be removed now.
    ///
    /// # Errors
    /// `service_unavailable`.
    pub async fn is_ready(&self, org: Id<Org>) -> Result<()> {
        match &self.homes.cluster {
            Some(cluster) => cluster.is_ready(org).await,
            None => Ok(()),
        }
    }

    /// Removes what the data folder has of the index of a version; absent is fine.
    ///
    /// # Errors
    /// It could not be removed.
    pub async fn remove(&self, org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Result<()> {
        self.homes.shards.remove(&key(org, dataset, version)).await
    }

    /// Removes from a server what it has of indexes that the metadata say are gone. While none is set it stays there: what
    /// the metadata say of it stays too, until a service that has the server has removed it.
    ///
    /// # Errors
    /// `service_unavailable`; it is removed when the server answers.
    pub async fn clear(&self, gone: &[ClusterIndex]) -> Result<()> {
        match (&self.homes.cluster, gone.first()) {
            (Some(cluster), _) => cluster.clear(gone).await.map(|_removed| ()),
            (None, None) => Ok(()),
            (None, Some(index)) => {
                let dataset = index.dataset;
                tracing::warn!(%dataset, "its texts stay on the Qdrant server: they are removed when QDRANT_URL is set again");
                Ok(())
            }
        }
    }

    /// Removes from a server what it has of indexes that are gone, and of those that were written for no version. Gives
    /// how many those were.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub async fn tidy(&self) -> Result<usize> {
        match &self.homes.cluster {
            Some(cluster) => cluster.tidy().await,
            None => Ok(0),
        }
    }

    /// At the start of the process: says of a server whether it answers, and in the metadata what is written no more. One
    /// that does not answer keeps nothing from starting.
    pub async fn begin_work(&self) {
        let Some(cluster) = &self.homes.cluster else { return };
        match cluster.version().await {
            Ok(version) => tracing::info!(version, "the Qdrant server at QDRANT_URL answers"),
            Err(_logged) => tracing::warn!("documents whose indexes are on the Qdrant server are not found for now"),
        }
        if let Err(problem) = cluster.begin_work().await {
            tracing::warn!(%problem, "what was written for no version stays for now");
        }
    }

    async fn answer(&self, job: &Job<'_>, text: &str, top_k: usize) -> Result<Found> {
        let (datasets, keys) = keys(job, |_| true);
        if keys.is_empty() {
            return Ok(Found { matches: vec![], truncated: false, degraded: None });
        }
        let mut degraded = Vec::new();
        job.says(0.0, READS);
        let (dense, weight) = match self.encoded(job.pass.org(), text).await {
            Ok((dense, weight)) => (Some(dense), weight),
            Err(_logged) => {
                degraded.push(WITHOUT_MEANING.to_owned());
                (None, 0.0)
            }
        };
        job.check()?;
        job.says(0.2, SEARCHES);
        let limit = CANDIDATES.max(top_k);
        let query = Query { dense, sparse: analysis::of_query(text), near: limit, equal: limit, ..Query::default() };
        let answers = self.find(&keys, &query, Some(text)).await;
        job.check()?;
        let hits = collected(answers, &datasets, &mut degraded)?;
        let mut ranked = rank::rank(hits, weight);
        let best: Vec<(usize, u64)> = ranked.iter().map(|ranked| (ranked.dataset, ranked.point)).collect();
        if let Some(hits) = self.wider(&keys, &query, text, &best).await {
            ranked = rank::rank(hits, weight);
        }
        job.check()?;
        job.says(0.8, FETCHES);
        let mut truncated = ranked.len() > top_k;
        let best: Vec<rank::Ranked> = ranked.into_iter().take(top_k).collect();
        let places: Vec<(usize, u64)> = best.iter().map(|ranked| (ranked.dataset, ranked.point)).collect();
        let mut read = self.read(&datasets, &keys, &places, &mut degraded).await;
        let matches = best
            .into_iter()
            .filter_map(|ranked| {
                let stored = read.remove(&(ranked.dataset, ranked.point))?;
                let (found, cut) = to_match(datasets.get(ranked.dataset)?, stored, ranked.score);
                truncated |= cut;
                Some(found)
            })
            .collect();
        Ok(Found { matches, truncated, degraded: said(degraded) })
    }

    /// What the datasets answer. One whose vectors are still of the built-in encoder is asked by what that makes of the
    /// text.
    async fn find(&self, keys: &[Key], query: &Query, text: Option<&str>) -> Vec<Result<Answer>> {
        let mut answers = self.homes.find(keys, query).await;
        let is_outdated = |answer: &Result<Answer>| answer.as_ref().is_ok_and(|answer| answer.is_outdated);
        if !answers.iter().any(is_outdated) {
            return answers;
        }
        let Some(dense) = self.of_before(query, text).await else { return answers };
        let query = Query { dense: Some(dense), ..query.clone() };
        for (answer, key) in answers.iter_mut().zip(keys).filter(|(answer, _)| is_outdated(answer)) {
            let again = self.homes.find(std::slice::from_ref(key), &query).await;
            if let Some(again) = again.into_iter().next().filter(Result::is_ok) {
                *answer = again;
            }
        }
        answers
    }

    async fn of_before(&self, query: &Query, text: Option<&str>) -> Option<Dense> {
        let encoder = self.encoders.of_before();
        let identity = encoder.identity().await.ok()?;
        let is_another = query.dense.as_ref().is_some_and(|dense| dense.encoder != identity);
        let vector = encoder.query(text.filter(|_| is_another)?).await.ok()?;
        Some(Dense { vector, encoder: identity, pull: 0.0 })
    }

    /// A text's meaning, and how much that counts beside the words.
    async fn encoded(&self, org: Id<Org>, text: &str) -> Result<(Dense, f64)> {
        let encoder = self.encoders.of_workspace(org).await?;
        let (vector, identity) = (encoder.query(text).await?, encoder.identity().await?);
        Ok((Dense { vector, encoder: identity, pull: encoder.pull() }, encoder.weight()))
    }

    /// What is found with the query made wider by the best of what it found ([`feedback`]). `None` where it has but one
    /// leg, or found next to nothing, and where something fails: what was found first stands then.
    async fn wider(
        &self,
        keys: &[Key],
        query: &Query,
        text: &str,
        best: &[(usize, u64)],
    ) -> Option<Vec<(usize, Vec<Hit>)>> {
        let (Some(dense), Some(sparse)) = (&query.dense, &query.sparse) else { return None };
        let best = best.get(..feedback::CHUNKS.min(best.len())).filter(|best| best.len() > 1)?;
        let (mut meanings, mut terms) = (Vec::new(), Vec::new());
        for (at, key) in keys.iter().enumerate() {
            let points: Vec<u64> = best.iter().filter(|(of, _)| *of == at).map(|(_, point)| *point).collect();
            if points.is_empty() {
                continue;
            }
            for (meaning, words) in self.homes.of(key).await.ok()?.pairs(key, points).await.ok()? {
                meanings.push(meaning);
                terms.push(words);
            }
        }
        let vector = feedback::meaning(&dense.vector, &meanings, dense.pull);
        let words = text.split_whitespace().count();
        let query = Query {
            dense: Some(Dense { vector, ..dense.clone() }),
            sparse: Some(feedback::terms(sparse, words, &terms)),
            ..query.clone()
        };
        let answers = self.homes.find(keys, &query).await;
        let whole =
            |answer: Result<Answer>| answer.ok().filter(|it| it.failed.is_empty() && !it.is_outdated && !it.is_partial);
        let hits: Option<Vec<Vec<Hit>>> = answers.into_iter().map(|answer| Some(whole(answer)?.hits)).collect();
        Some(hits?.into_iter().enumerate().collect())
    }

    /// The chunks at these places: the dataset among those that were asked, and the chunk's number in it.
    async fn read(
        &self,
        datasets: &[&Dataset],
        keys: &[Key],
        places: &[(usize, u64)],
        degraded: &mut Vec<String>,
    ) -> HashMap<(usize, u64), Stored> {
        let mut all = HashMap::new();
        for (at, (dataset, key)) in datasets.iter().zip(keys).enumerate() {
            let wanted: Vec<u64> = places.iter().filter(|(of, _)| *of == at).map(|(_, point)| *point).collect();
            if wanted.is_empty() {
                continue;
            }
            let read = async { self.homes.of(key).await?.read(key, wanted).await };
            match read.await {
                Ok(read) => all.extend(read.into_iter().map(|(point, stored)| ((at, point), stored))),
                Err(error) => degraded.push(unsearched(dataset, &error)),
            }
        }
        all
    }
}

fn key(org: Id<Org>, dataset: Id<Dataset>, version: &str) -> Key {
    Key { owner: Owner { org, dataset }, version: version.to_owned() }
}

/// The documents datasets of the pass, but for those that are not wanted, and where their chunks are.
fn keys<'p>(job: &Job<'p>, wanted: impl Fn(&Dataset) -> bool) -> (Vec<&'p Dataset>, Vec<Key>) {
    let org = job.pass.org();
    let documents = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Documents && wanted(dataset));
    let key = |dataset: &'p Dataset| {
        let owner = Owner { org, dataset: dataset.id };
        Some((dataset, Key { owner, version: dataset.version.clone()? }))
    };
    documents.filter_map(key).unzip()
}

/// The hits of each dataset, by its position; what failed is told in sentences.
///
/// # Errors
/// The service can open no index for now, and none was searched.
fn collected(
    answers: Vec<Result<Answer>>,
    datasets: &[&Dataset],
    degraded: &mut Vec<String>,
) -> Result<Vec<(usize, Vec<Hit>)>> {
    let (mut hits, mut unavailable) = (Vec::new(), None);
    for (at, (answer, dataset)) in answers.into_iter().zip(datasets).enumerate() {
        match answer {
            Ok(Answer { hits: found, failed, is_outdated, is_partial }) => {
                if is_partial {
                    degraded.push(format!(
                        "{} could be searched in part only: passages are missing in its index, which is made anew of its \
                         texts.",
                        dataset.name
                    ));
                }
                if is_outdated {
                    degraded.push(format!(
                        "{} could not be searched by meaning: its vectors are of another encoder. They are made anew.",
                        dataset.name
                    ));
                }
                degraded.extend(failed.iter().map(|leg| format!("Search by {leg} failed in {}.", dataset.name)));
                hits.push((at, found));
            }
            Err(error) => {
                degraded.push(unsearched(dataset, &error));
                unavailable = Some(error).filter(|error| error.code == Code::ServiceUnavailable).or(unavailable);
            }
        }
    }
    match unavailable {
        Some(error) if hits.is_empty() => Err(error),
        _ => Ok(hits),
    }
}

fn said(degraded: Vec<String>) -> Option<String> {
    (!degraded.is_empty()).then(|| degraded.join(" "))
}

fn unsearched(dataset: &Dataset, error: &Error) -> String {
    let why = match error.code {
        Code::ServiceUnavailable => error.message.as_str(),
        _ => "its index is damaged or outdated, and is made anew of its texts.",
    };
    format!("{} could not be searched: {why}", dataset.name)
}

/// A match, and whether its text was cut.
fn to_match(dataset: &Dataset, stored: Stored, score: f64) -> (Match, bool) {
    let Stored { tenant: _, dataset: _, document, chunk_index, heading, text, source_file, title, about: _, spot } =
        stored;
    let end = text.char_indices().nth(TEXT_CHARS).map(|(at, _)| at);
    let found = Match {
        id: ChunkId { document, index: chunk_index },
        score,
        text: text[..end.unwrap_or(text.len())].to_owned(),
        source_file,
        title,
        heading,
        dataset: dataset.id,
        dataset_name: dataset.name.clone(),
        spot,
    };
    (found, end.is_some())
}

#[cfg(test)]
mod tests;
