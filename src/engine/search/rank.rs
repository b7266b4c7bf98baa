//! One order over the chunks of several datasets.
//!
//! The score is a convex combination of the two legs (Bruch, Gai, Ingber: "An Analysis of Fusion Functions for Hybrid
//! Retrieval", ACM TOIS 2023), each brought to 0..1 by a fixed function:
//!
//! - meaning: the cosine of query and chunk, negatives as 0;
//! - words: `b / (b + HALF)` of the chunk's BM25 score `b`.
//!
//! It depends on the query, the chunk and the chunk's shard only, not on what else was found. So it is comparable
//! across datasets, where ranks (as in reciprocal rank fusion) are not: the best of ten unrelated datasets would all
//! share the first place. It is not a probability, and not comparable across queries.
//!
//! Constants are from the Cranfield collection (`tests/bench/search`), on both halves of its questions: with weights of
//! 0.3 to 0.5 and halves of 5 to 20 the order is as good; reciprocal rank fusion is worse, and depends on the rest.

use std::cmp::Ordering;

use crate::engine::search::shard::Hit;

/// The BM25 score that counts half: four or five matching words of middling rarity.
const HALF: f64 = 20.0;

/// A chunk in the common order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    /// Position of the dataset among those that were asked.
    pub dataset: usize,
    /// The chunk's number in its shard.
    pub point: u64,
    /// 0 to 1; see above.
    pub score: f64,
}

/// Orders the hits of several datasets, best first; ties by dataset, then by the chunk's number. `weight` is that of
/// meaning, 0 to 1 ([`crate::engine::search::embed::Embed::weight`]); the rest is the words'.
pub(super) fn rank(hits: impl IntoIterator<Item = (usize, Vec<Hit>)>, weight: f64) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = hits
        .into_iter()
        .flat_map(|(dataset, hits)| {
            hits.into_iter().map(move |hit| Ranked { dataset, point: hit.point, score: score(hit, weight) })
        })
        .collect();
    ranked.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(a.dataset.cmp(&b.dataset)).then(a.point.cmp(&b.point)).then(Ordering::Equal)
    });
    ranked
}

/// The score of a chunk; when one leg did not run, the other's alone.
pub(super) fn score(hit: Hit, weight: f64) -> f64 {
    match (meaning(hit), words(hit)) {
        (Some(meaning), Some(words)) => weight * meaning + (1.0 - weight) * words,
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => 0.0,
    }
}

/// How near the meanings are, 0 to 1; `None` when that leg did not run.
pub(super) fn meaning(hit: Hit) -> Option<f64> {
    hit.dense.map(|cosine| f64::from(cosine).clamp(0.0, 1.0))
}

/// How well the words agree, 0 to 1; `None` when that leg did not run.
pub(super) fn words(hit: Hit) -> Option<f64> {
    hit.sparse.map(|bm25| f64::from(bm25).max(0.0)).map(|bm25| bm25 / (bm25 + HALF))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(point: u64, dense: f32, sparse: f32) -> Hit {
        Hit { point, dense: Some(dense), sparse: Some(sparse) }
    }

    #[test]
    fn more_of_either_leg_never_scores_less_and_all_scores_are_fractions() {
        for (worse, better) in [
            (hit(0, -1.0, 0.0), hit(0, 0.1, 0.0)),
            (hit(0, 0.4, 3.0), hit(0, 0.5, 3.0)),
            (hit(0, 0.4, 3.0), hit(0, 0.4, 4.0)),
            (hit(0, 1.0, 0.0), hit(0, 1.0, 1e30)),
        ] {
            assert!(score(worse, 0.5) < score(better, 0.5), "{worse:?} {better:?}");
            assert!((0.0..=1.0).contains(&score(worse, 0.5)) && (0.0..=1.0).contains(&score(better, 0.5)));
        }
    }

    #[test]
    fn an_unrelated_dataset_s_best_does_not_outrank_a_good_match_elsewhere() {
        let ranked = rank([(0, vec![hit(0, 0.1, 0.0)]), (1, vec![hit(5, 0.7, 9.0), hit(6, 0.6, 8.0)])], 0.5);
        let order: Vec<_> = ranked.iter().map(|r| (r.dataset, r.point)).collect();
        assert_eq!(order, [(1, 5), (1, 6), (0, 0)]);
    }

    #[test]
    fn ties_are_broken_by_dataset_and_then_by_chunk() {
        let same = |point| hit(point, 0.5, 2.0);
        let ranked = rank([(1, vec![same(3)]), (0, vec![same(9), same(2)])], 0.5);
        let order: Vec<_> = ranked.iter().map(|r| (r.dataset, r.point)).collect();
        assert_eq!(order, [(0, 2), (0, 9), (1, 3)]);
    }

    #[test]
    fn a_leg_that_did_not_run_does_not_count_as_zero() {
        assert_eq!(score(Hit { point: 0, dense: Some(0.75), sparse: None }, 0.5), 0.75);
        assert_eq!(score(Hit { point: 0, dense: None, sparse: Some(60.0) }, 0.5), 0.75);
    }
}
