//! The two legs of a search, whatever keeps the chunks: each chunk that either finds is scored by both.

use std::collections::HashMap;

use qdrant_edge::SparseVector;
use serde_json::Value;

use crate::engine::search::backend::{Answer, Query};
use crate::engine::search::manifest::Fault;
use crate::engine::search::shard::{Among, Hit};

/// The legs, as a person would call them.
const MEANING: &str = "meaning";
const WORDS: &str = "words";

/// Chunks by their numbers, with what a leg says of them.
pub(super) type Scores = Vec<(u64, f32)>;

/// What can be asked of the chunks of one version.
pub(super) trait Legs: Sync {
    /// Whether vectors of this encoder can be compared with those of the chunks.
    fn is_of(&self, encoder: &str) -> bool;

    /// The best `limit` chunks of the dense leg, with cosines.
    fn nearest(
        &self,
        query: &[f32],
        among: Among<'_>,
        limit: usize,
    ) -> impl Future<Output = Result<Scores, Fault>> + Send;

    /// The best `limit` chunks of the sparse leg, with BM25 scores; only chunks that share a term.
    fn matching(
        &self,
        query: &SparseVector,
        among: Among<'_>,
        limit: usize,
    ) -> impl Future<Output = Result<Scores, Fault>> + Send;

    /// The numbers of at most `limit` chunks of these conditions, in order.
    fn numbers(&self, conditions: &[Value], limit: usize) -> impl Future<Output = Result<Vec<u64>, Fault>> + Send;
}

/// Asks both legs.
///
/// # Errors
/// Whoever keeps the chunks does not answer at all. A leg that fails by itself is told in the answer.
pub(super) async fn ask(on: &impl Legs, query: &Query) -> Result<Answer, Fault> {
    let mut failed = Vec::new();
    let comparable = query.dense.as_ref().filter(|dense| on.is_of(&dense.encoder));
    let those = Among::Those(&query.conditions);
    let near = match comparable.filter(|_| query.near > 0) {
        Some(dense) => heard(MEANING, on.nearest(&dense.vector, those, query.near).await, &mut failed)?,
        None => None,
    };
    let equal = match (query.equal, &query.sparse) {
        (0, _) => None,
        (limit, Some(sparse)) => heard(WORDS, on.matching(sparse, those, limit).await, &mut failed)?,
        (limit, None) if query.lists => {
            let listed = on.numbers(&query.conditions, limit).await;
            let listed = listed.map(|numbers| numbers.into_iter().map(|number| (number, 0.0)).collect());
            heard(WORDS, listed, &mut failed)?
        }
        (_, None) => None,
    };

    let mut points: Vec<u64> = near.iter().chain(&equal).flatten().map(|(point, _)| *point).collect();
    points.sort_unstable();
    points.dedup();
    // A chunk that only one leg proposed gets the other's score too: no score depends on where a list was cut. A leg
    // that failed is not asked again.
    let mut near = scored(near, comparable.is_some() && query.near == 0);
    let others = lacking(near.as_ref(), &points);
    if let (Some(scores), Some(dense), false) = (&mut near, comparable, others.is_empty()) {
        let asked = on.nearest(&dense.vector, Among::Points(&others), others.len()).await;
        match heard(MEANING, asked, &mut failed)? {
            Some(more) => scores.extend(more),
            None => near = None,
        }
    }
    let mut equal = scored(equal, query.sparse.is_some() && query.equal == 0);
    let others = lacking(equal.as_ref(), &points);
    // A list of words that is not full has all that share a term.
    let is_full = equal.as_ref().is_some_and(|scores| scores.len() >= query.equal);
    if let (Some(scores), Some(sparse), true) = (&mut equal, &query.sparse, is_full && !others.is_empty()) {
        let asked = on.matching(sparse, Among::Points(&others), others.len()).await;
        match heard(WORDS, asked, &mut failed)? {
            Some(more) => scores.extend(more),
            None => equal = None,
        }
    }
    let of = |leg: &Option<HashMap<u64, f32>>, point| Some(leg.as_ref()?.get(&point).copied().unwrap_or(0.0));
    let hits = points.iter().map(|&point| Hit { point, dense: of(&near, point), sparse: of(&equal, point) }).collect();
    Ok(Answer { hits, is_outdated: query.dense.is_some() && comparable.is_none(), is_partial: false, failed })
}

/// What a leg says, unless it failed by itself.
fn heard(
    leg: &'static str,
    said: Result<Scores, Fault>,
    failed: &mut Vec<&'static str>,
) -> Result<Option<Scores>, Fault> {
    match said {
        Ok(scores) => Ok(Some(scores)),
        Err(fault @ Fault::Away(_)) => Err(fault),
        Err(fault) => {
            tracing::error!(leg, %fault, "a leg of a search failed");
            failed.push(leg);
            Ok(None)
        }
    }
}

/// What a leg proposed; nothing where it was to propose nothing and scores what the other proposes.
fn scored(proposed: Option<Scores>, only_scores: bool) -> Option<HashMap<u64, f32>> {
    match proposed {
        Some(proposed) => Some(proposed.into_iter().collect()),
        None => only_scores.then(HashMap::new),
    }
}

/// Those that a leg has not scored.
fn lacking(scores: Option<&HashMap<u64, f32>>, points: &[u64]) -> Vec<u64> {
    let is_missing = |point: &u64| scores.is_some_and(|scores| !scores.contains_key(point));
    points.iter().copied().filter(is_missing).collect()
}
