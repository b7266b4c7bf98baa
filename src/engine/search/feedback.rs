//! A query made wider by the best of what it found first (pseudo-relevance feedback): its meaning is drawn to theirs,
//! and words that several of them have count a little too. Rocchio: "Relevance Feedback in Information Retrieval", 1971;
//! for the words Abdul-Jaleel et al.: "UMass at TREC 2004" (RM3).
//!
//! What was typed keeps most of the weight, so that a code or a name is still found first.

use std::collections::HashMap;

use qdrant_edge::SparseVector;

/// Chunks that are looked at.
pub(super) const CHUNKS: usize = 5;
/// How many of them a word must be in.
const LEAST: u32 = 2;
/// The most words that are added.
const WORDS: usize = 32;
/// The weight of all added words together, for each word of the query.
const SHARE: f32 = 0.4;
/// The largest weight of an added word; one of the query has 1.
const MOST: f32 = 0.5;
/// Words of a query that count for that; a long one has said enough.
const LONG: usize = 12;

/// The meaning of a query, drawn to those of the best chunks; all are unit vectors, and so is this. `pull` is how far: 1
/// for as much of them as of the query.
pub(super) fn meaning(query: &[f32], best: &[Vec<f32>], pull: f32) -> Vec<f32> {
    let mut drawn = query.to_vec();
    for chunk in best {
        for (x, y) in drawn.iter_mut().zip(chunk) {
            *x += pull * y / best.len() as f32;
        }
    }
    let length = drawn.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > f32::EPSILON { drawn.iter().map(|x| x / length).collect() } else { query.to_vec() }
}

/// The terms of a query of so many words, with those that the best chunks have in common.
pub(super) fn terms(query: &SparseVector, words: usize, best: &[SparseVector]) -> SparseVector {
    let mut found: HashMap<u32, (u32, f32)> = HashMap::new();
    for chunk in best {
        for (term, weight) in chunk.indices.iter().zip(&chunk.values) {
            let (count, sum) = found.entry(*term).or_default();
            (*count, *sum) = (*count + 1, *sum + weight);
        }
    }
    let is_new = |term: &u32| query.indices.binary_search(term).is_err();
    let mut added: Vec<(u32, f32)> = (found.into_iter())
        .filter(|(term, (count, _))| *count >= LEAST && is_new(term))
        .map(|(term, (_, sum))| (term, sum))
        .collect();
    // The number of a term decides between equals: the order of a map is chance.
    added.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    added.truncate(WORDS);
    let sum: f32 = added.iter().map(|(_, weight)| weight).sum();
    let share = SHARE * words.min(LONG) as f32 / sum.max(f32::EPSILON);
    let asked = query.indices.iter().copied().zip(query.values.iter().copied());
    let mut terms: Vec<(u32, f32)> =
        asked.chain(added.into_iter().map(|(term, weight)| (term, (weight * share).min(MOST)))).collect();
    terms.sort_by_key(|(term, _)| *term);
    let (indices, values) = terms.into_iter().unzip();
    SparseVector { indices, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(terms: &[(u32, f32)]) -> SparseVector {
        let (indices, values) = terms.iter().copied().unzip();
        SparseVector { indices, values }
    }

    #[test]
    fn words_that_several_of_the_best_have_are_added_and_what_was_typed_keeps_its_weight() {
        let query = sparse(&[(5, 1.0), (9, 1.0)]);
        let best =
            [sparse(&[(2, 1.0), (5, 1.0), (7, 1.0)]), sparse(&[(2, 1.0), (8, 1.0)]), sparse(&[(2, 0.5), (8, 1.0)])];
        let wider = terms(&query, 2, &best);
        assert_eq!(wider.indices, [2, 5, 8, 9], "7 is in one only");
        let weight = |term| wider.values[wider.indices.iter().position(|it| *it == term).unwrap()];
        assert_eq!((weight(5), weight(9)), (1.0, 1.0));
        assert!(weight(2) > weight(8) && weight(2) <= MOST);
        assert!((weight(2) + weight(8) - 2.0 * SHARE).abs() < 1e-6);
    }

    #[test]
    fn nothing_in_common_adds_nothing() {
        let query = sparse(&[(5, 1.0)]);
        assert_eq!(terms(&query, 1, &[]), query);
        assert_eq!(terms(&query, 1, &[sparse(&[(1, 1.0)]), sparse(&[(2, 1.0)])]), query);
    }

    #[test]
    fn meaning_is_drawn_to_what_was_found_and_stays_a_unit_vector() {
        let drawn = meaning(&[1.0, 0.0], &[vec![0.0, 1.0], vec![0.6, 0.8]], 1.0);
        assert!((drawn.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(drawn[1] > 0.0 && drawn[0] > drawn[1], "the query stays the stronger");
        assert_eq!(meaning(&[1.0, 0.0], &[], 1.0), [1.0, 0.0]);
        assert_eq!(meaning(&[1.0, 0.0], &[vec![0.0, 1.0]], 0.0), [1.0, 0.0]);
    }
}
