//! The readings that lost, for people who ask why a question was read as it was.

use crate::model::reading::Candidate;

use super::*;

/// Most readings that are shown.
const MOST: usize = 3;

impl Resolver<'_> {
    /// The best readings of single nouns that were not taken, best first, and why.
    pub(in super::super) fn others(&self, anchor: usize, all: &[Option<Found>]) -> Vec<Candidate> {
        let first = self.first();
        let mut losers: Vec<(f32, String)> = Vec::new();
        for (at, taken) in all.iter().enumerate() {
            let Some(taken) = taken else { continue };
            let inside = self.sketch.nouns[at].inside.and_then(|thing| all.get(thing)?.as_ref());
            let from = inside.and_then(|found| self.dataset_of(&found.target)).unwrap_or(anchor);
            let from = (first != Some(at)).then_some(from);
            let kept = self.candidates(at, from);
            for other in self.weighed(at, from) {
                if other.same == taken.same || self.words(&other) == self.words(taken) {
                    continue;
                }
                let text = &self.sketch.nouns[at].text;
                let why = match kept.contains(&other) {
                    true => self.why_not(&other, taken, from),
                    false if taken.whole && !other.whole => "the words are only a part of its name",
                    false => "another kind of thing is meant there",
                };
                losers.push((other.score - taken.score, format!("“{text}” as {}: {why}", self.words(&other))));
            }
        }
        losers.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        losers.dedup_by(|a, b| a.1 == b.1);
        let candidate = |(score, reading): (f32, String)| Candidate { reading, score: f64::from(score) };
        losers.into_iter().take(MOST).map(candidate).collect()
    }

    /// The most telling difference.
    fn why_not(&self, other: &Found, taken: &Found, from: Option<usize>) -> &'static str {
        let steps = |found: &Found| {
            let (from, to) = (from?, self.dataset_of(&found.target)?);
            self.graph.way(from, to, &found.via, Steps::Any).ok().map(|way| way.len())
        };
        match (steps(other), steps(taken)) {
            (Some(other), Some(taken)) if other > taken => "it is further from what is asked for",
            _ if other.score > taken.score => "then the rest of the question fits less well",
            _ => "it fits less well beside the other words",
        }
    }
}
