//! What callers may choose of the order in which the two legs' candidates are told: the scores of one leg, those of both
//! in weights of their own, the ranks of both, or the words' candidates in the order of their meaning.

use crate::engine::search::rank;
use crate::engine::search::shard::Hit;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fusion {
    /// By words alone, or by meaning alone.
    Words,
    Meaning,
    /// Both legs' scores, each 0 to 1, in these weights; without weights as `rank` has them.
    Scores(Option<Weights>),
    /// Reciprocal ranks: the sum of `weight / (k0 + rank)` (Cormack, Clarke, Büttcher, SIGIR 2009), as a fraction of
    /// what the first of both legs would have. Only ranks up to the legs' own limits count.
    Ranks {
        k0: f64,
        weights: Weights,
        words: usize,
        meaning: usize,
    },
}

/// How much each leg counts; at least one of them is more than 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    pub words: f64,
    pub meaning: f64,
}

/// A chunk in the common order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fused {
    /// Position of the dataset among those that were asked.
    pub dataset: usize,
    pub hit: Hit,
    /// 0 to 1.
    pub score: f64,
    /// From 1, of all candidates; `None` where the leg did not run, or found no common word.
    pub words_rank: Option<usize>,
    pub meaning_rank: Option<usize>,
}

/// Orders the hits of several datasets, best first; ties by dataset, then by the chunk's number. `weight` is that of
/// meaning where the caller chose none.
pub(super) fn fuse(hits: Vec<(usize, Vec<Hit>)>, fusion: Fusion, weight: f64) -> Vec<Fused> {
    let all = hits.into_iter().flat_map(|(dataset, hits)| hits.into_iter().map(move |hit| (dataset, hit)));
    let unscored = |(dataset, hit)| Fused { dataset, hit, score: 0.0, words_rank: None, meaning_rank: None };
    let mut all: Vec<Fused> = all.map(unscored).collect();
    let found_words = |hit: Hit| hit.sparse.filter(|score| *score > 0.0);
    order(&mut all, |one| found_words(one.hit).map_or(-1.0, f64::from));
    for (at, one) in all.iter_mut().enumerate() {
        one.words_rank = found_words(one.hit).map(|_| at + 1);
    }
    order(&mut all, |one| one.hit.dense.map_or(-2.0, f64::from));
    for (at, one) in all.iter_mut().enumerate() {
        one.meaning_rank = one.hit.dense.map(|_| at + 1);
    }
    for one in &mut all {
        one.score = score(one, fusion, weight);
    }
    // Of equal fractions the raw score decides, where there is one: a fraction has an end, and it has none.
    match fusion {
        Fusion::Words => order(&mut all, |one| one.hit.sparse.map_or(-1.0, f64::from)),
        Fusion::Meaning => order(&mut all, |one| one.hit.dense.map_or(-2.0, f64::from)),
        Fusion::Scores(_) | Fusion::Ranks { .. } => order(&mut all, |one| one.score),
    }
    all
}

fn order(all: &mut [Fused], by: impl Fn(&Fused) -> f64) {
    all.sort_by(|a, b| by(b).total_cmp(&by(a)).then(a.dataset.cmp(&b.dataset)).then(a.hit.point.cmp(&b.hit.point)));
}

fn score(one: &Fused, fusion: Fusion, weight: f64) -> f64 {
    let (words, meaning) = (rank::words(one.hit), rank::meaning(one.hit));
    match fusion {
        Fusion::Words => words.unwrap_or(0.0),
        Fusion::Meaning => meaning.unwrap_or(0.0),
        Fusion::Scores(None) => rank::score(one.hit, weight),
        Fusion::Scores(Some(weights)) => {
            // A leg that did not run does not count as zero.
            let legs = [(words, weights.words), (meaning, weights.meaning)];
            let ran = || legs.iter().filter_map(|(score, weight)| Some(((*score)?, *weight)));
            let whole: f64 = ran().map(|(_, weight)| weight).sum();
            let sum: f64 = ran().map(|(score, weight)| score * weight).sum();
            if whole > 0.0 { sum / whole } else { 0.0 }
        }
        Fusion::Ranks { k0, weights, words: most_words, meaning: most_meaning } => {
            let part = |rank: Option<usize>, most: usize, weight: f64| {
                let rank = rank.filter(|rank| *rank <= most)?;
                Some(weight * (k0 + 1.0) / (k0 + rank as f64))
            };
            let words = part(one.words_rank, most_words, weights.words).unwrap_or(0.0);
            let meaning = part(one.meaning_rank, most_meaning, weights.meaning).unwrap_or(0.0);
            (words + meaning) / (weights.words + weights.meaning)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fuse(hits: Vec<(usize, Vec<Hit>)>, fusion: Fusion) -> Vec<Fused> {
        super::fuse(hits, fusion, 0.5)
    }

    fn hit(point: u64, dense: f32, sparse: f32) -> Hit {
        Hit { point, dense: Some(dense), sparse: Some(sparse) }
    }

    fn order_of(fused: &[Fused]) -> Vec<(usize, u64)> {
        fused.iter().map(|one| (one.dataset, one.hit.point)).collect()
    }

    fn all() -> Vec<(usize, Vec<Hit>)> {
        vec![(0, vec![hit(1, 0.9, 0.0), hit(2, 0.5, 12.0)]), (1, vec![hit(1, 0.7, 4.0), hit(2, -0.2, 9.0)])]
    }

    #[test]
    fn each_way_has_its_own_order_and_every_score_is_a_fraction_that_falls() {
        let weights = |words, meaning| Weights { words, meaning };
        for (fusion, expected) in [
            (Fusion::Words, [(0, 2), (1, 2), (1, 1), (0, 1)]),
            (Fusion::Meaning, [(0, 1), (1, 1), (0, 2), (1, 2)]),
            (Fusion::Scores(Some(weights(0.0, 1.0))), [(0, 1), (1, 1), (0, 2), (1, 2)]),
            // 0.41, 0.33, 0.27 and 0.22, with BM25 of 20 as half.
            (Fusion::Scores(Some(weights(0.7, 0.3))), [(0, 2), (1, 1), (0, 1), (1, 2)]),
            (
                Fusion::Ranks { k0: 60.0, weights: weights(0.5, 1.5), words: 100, meaning: 100 },
                [(1, 1), (0, 2), (1, 2), (0, 1)],
            ),
        ] {
            let fused = fuse(all(), fusion);
            assert_eq!(order_of(&fused), expected, "{fusion:?}");
            assert!(fused.windows(2).all(|pair| pair[0].score >= pair[1].score), "{fusion:?}: {fused:?}");
            assert!(fused.iter().all(|one| (0.0..=1.0).contains(&one.score)), "{fusion:?}: {fused:?}");
        }
    }

    #[test]
    fn ranks_are_of_all_datasets_together_and_a_chunk_without_a_common_word_has_none() {
        let fused = fuse(all(), Fusion::Meaning);
        let ranks: Vec<_> = fused.iter().map(|one| (one.words_rank, one.meaning_rank)).collect();
        assert_eq!(ranks, [(None, Some(1)), (Some(3), Some(2)), (Some(1), Some(3)), (Some(2), Some(4))]);
        let weights = Weights { words: 1.0, meaning: 1.0 };
        let first = fuse(vec![(0, vec![hit(1, 0.9, 9.0)])], Fusion::Ranks { k0: 60.0, weights, words: 1, meaning: 1 });
        assert_eq!(first[0].score, 1.0);
    }

    #[test]
    fn a_leg_that_did_not_run_leaves_the_other_s_order() {
        let words_only = |point, sparse| Hit { point, dense: None, sparse: Some(sparse) };
        let hits = || vec![(0, vec![words_only(1, 2.0), words_only(2, 8.0)])];
        let weights = Weights { words: 0.2, meaning: 0.8 };
        for fusion in [Fusion::Scores(None), Fusion::Scores(Some(weights))] {
            let fused = fuse(hits(), fusion);
            assert_eq!(order_of(&fused), [(0, 2), (0, 1)]);
            assert_eq!(fused[0].score, rank::words(words_only(2, 8.0)).unwrap());
        }
        let ranks = Fusion::Ranks { k0: 60.0, weights, words: 10, meaning: 10 };
        assert_eq!(order_of(&fuse(hits(), ranks)), [(0, 2), (0, 1)]);
    }

    #[test]
    fn ties_are_broken_by_dataset_and_then_by_chunk() {
        let hits = vec![(1, vec![hit(3, 0.5, 2.0)]), (0, vec![hit(9, 0.5, 2.0), hit(2, 0.5, 2.0)])];
        for fusion in [Fusion::Words, Fusion::Meaning, Fusion::Scores(None)] {
            assert_eq!(order_of(&fuse(hits.clone(), fusion)), [(0, 2), (0, 9), (1, 3)]);
        }
    }
}
