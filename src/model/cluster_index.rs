//! An index of a dataset version on a Qdrant server, as the metadata know it: without them its points mean nothing.
//!
//! Points never change. An index that goes on with another has the points of that one, without the documents that do not
//! stay, and its own: a chain of builds. So points of a build may be needed when its own version is gone ([`dead`]).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::org::Org;

/// The most parts of a chain: each search asks all of them.
const PARTS: usize = 16;
/// The most documents that a chain takes away: each search names all of them.
const TAKEN: usize = 1_000;

/// Names what was written in one go.
#[derive(Debug)]
pub struct Build;

/// How far an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Somebody writes it, or died over it.
    Written,
    /// It answers for its version.
    Placed,
    /// Its points are to be removed, as far as no other index has them.
    Gone,
    /// Its version is gone; what is left of its points is in the chains of others.
    Held,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Written, Self::Placed, Self::Gone, Self::Held];

    /// As the metadata have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Placed => "placed",
            Self::Gone => "gone",
            Self::Held => "held",
        }
    }
}

/// The builds whose points an index has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// In the order of their numbers; the last is its own.
    pub parts: Vec<Part>,
    /// Chunks that it has of those before its own.
    pub kept: u64,
}

/// A build in a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub build: Id<Build>,
    /// The number of its first chunk.
    pub first: u64,
    /// Documents whose chunks in the parts before this one do not count.
    pub takes: BTreeSet<Id<Document>>,
}

impl Chain {
    /// That of an index whose points are all its own.
    pub fn whole(build: Id<Build>) -> Self {
        Self { parts: vec![Part { build, first: 0, takes: BTreeSet::new() }], kept: 0 }
    }

    /// The documents of a build that it does not have; `None` where it has nothing of that build.
    fn lacks(&self, build: Id<Build>) -> Option<BTreeSet<Id<Document>>> {
        let at = self.parts.iter().position(|part| part.build == build)?;
        Some(self.parts.iter().skip(at + 1).flat_map(|part| part.takes.iter().copied()).collect())
    }

    /// Names no more what it takes away where that is removed already: no index of the dataset has it. `all` are those of
    /// the dataset, this one not among them.
    #[must_use]
    pub fn shortened(mut self, all: &[ClusterIndex]) -> Self {
        // What is to be removed may be there still.
        if all.iter().any(|index| index.standing == Standing::Gone) {
            return self;
        }
        let mut removed: Option<BTreeSet<Id<Document>>> = None;
        for part in &mut self.parts {
            if let Some(removed) = &removed {
                part.takes.retain(|document| !removed.contains(document));
            }
            let users = all.iter().filter(|index| index.standing != Standing::Held);
            let of_part = dead(part.build, users).unwrap_or_default();
            removed = Some(removed.map_or_else(|| of_part.clone(), |removed| &removed & &of_part));
        }
        self
    }

    /// Whether it takes so few documents away that searches can name them.
    pub fn is_light(&self) -> bool {
        self.parts.iter().map(|part| part.takes.len()).sum::<usize>() <= TAKEN
    }
}

/// The documents of a build that none of these indexes has; `None` where none of them has anything of that build.
pub fn dead<'i>(build: Id<Build>, users: impl Iterator<Item = &'i ClusterIndex>) -> Option<BTreeSet<Id<Document>>> {
    users.filter_map(|index| index.chain.lacks(build)).reduce(|one, other| &one & &other)
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterIndex {
    pub org: Id<Org>,
    pub build: Id<Build>,
    pub dataset: Id<Dataset>,
    pub version: String,
    /// What made its vectors, the terms of its words, and the way that its texts are cut.
    pub encoder: String,
    pub terms: String,
    pub cutter: String,
    /// Chunks, of all its builds; in the metadata 0 until it has its place.
    pub points: u64,
    pub chain: Chain,
    pub standing: Standing,
    /// When it was last written to, or came to its standing.
    pub touched_at: Millis,
}

impl ClusterIndex {
    /// The number of the next chunk of its own.
    pub fn end(&self) -> u64 {
        let first = self.chain.parts.last().map_or(0, |part| part.first);
        first + self.points.saturating_sub(self.chain.kept)
    }

    /// How many of its parts an index that goes on with it takes over as they are: all, unless these are too many. Then it
    /// writes the last ones anew, as many as are no more than the one before them; or all, where that is 0.
    pub fn lasting(&self) -> usize {
        let parts = &self.chain.parts;
        if parts.len() < PARTS {
            return parts.len();
        }
        let is_small = |at: &usize| match (parts.get(at - 1), parts.get(*at)) {
            (Some(before), Some(part)) => self.end() - part.first <= part.first - before.first,
            _ => false,
        };
        (1..=PARTS / 2).rev().find(is_small).unwrap_or(0)
    }

    /// The chain of a build that goes on with it, has its first parts and takes these documents away from them.
    pub fn followed(&self, build: Id<Build>, lasting: usize, mut takes: BTreeSet<Id<Document>>) -> Chain {
        let mut parts = self.chain.parts.clone();
        let anew = parts.split_off(lasting.min(parts.len()));
        let first = anew.first().map_or(self.end(), |part| part.first);
        takes.extend(anew.into_iter().flat_map(|part| part.takes));
        parts.push(Part { build, first, takes });
        Chain { parts, kept: 0 }
    }
}

/// Where the indexes of a workspace are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Shards in the data folder.
    Folder,
    /// The Qdrant server.
    Cluster,
}

impl Home {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Folder, Self::Cluster];

    /// As the metadata and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Cluster => "qdrant",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    fn ids<T, const N: usize>() -> [Id<T>; N] {
        std::array::from_fn(|_| Id::new(&Clock::manual(1)))
    }

    fn index(chain: Chain, points: u64, standing: Standing) -> ClusterIndex {
        let clock = Clock::manual(1);
        ClusterIndex {
            org: Id::new(&clock),
            build: chain.parts.last().unwrap().build,
            dataset: Id::new(&clock),
            version: "v".into(),
            encoder: String::new(),
            terms: String::new(),
            cutter: String::new(),
            points,
            chain,
            standing,
            touched_at: 0,
        }
    }

    /// Chunks of one more build, each part of so many.
    fn grown(sizes: &[u64]) -> ClusterIndex {
        let mut sizes = sizes.iter();
        let mut last = index(Chain::whole(Id::new(&Clock::manual(1))), *sizes.next().unwrap(), Standing::Placed);
        for size in sizes {
            let chain = last.followed(Id::new(&Clock::manual(1)), last.chain.parts.len(), BTreeSet::new());
            let kept = last.points;
            last = index(Chain { kept, ..chain }, kept + size, Standing::Placed);
        }
        last
    }

    #[test]
    fn numbers_go_on_and_the_last_parts_are_written_anew_when_there_are_too_many() {
        let few = grown(&[5, 2, 0, 3]);
        assert_eq!(few.chain.parts.iter().map(|part| part.first).collect::<Vec<_>>(), [0, 5, 7, 7]);
        assert_eq!((few.end(), few.lasting()), (10, 4));

        let mut sizes = vec![1; PARTS];
        assert_eq!(grown(&sizes).lasting(), 0, "none is larger than all after it");
        sizes[0] = 100;
        let many = grown(&sizes);
        assert_eq!(many.lasting(), 1);
        let next = many.followed(Id::new(&Clock::manual(1)), 1, BTreeSet::new());
        assert_eq!(next.parts.iter().map(|part| part.first).collect::<Vec<_>>(), [0, 100], "numbers are given again");
        sizes[3] = 50;
        assert_eq!(grown(&sizes).lasting(), 4, "as few are written anew as can be");
    }

    #[test]
    fn what_parts_that_are_written_anew_took_away_stays_away() {
        let ([x, y], [one, two, three]) = (ids(), ids());
        let first = index(Chain::whole(one), 9, Standing::Placed);
        let second = index(first.followed(two, 1, BTreeSet::from([x])), 9, Standing::Placed);
        let third = second.followed(three, 1, BTreeSet::from([y]));
        assert_eq!(third.lacks(one), Some(BTreeSet::from([x, y])));
        assert_eq!((third.lacks(two), third.lacks(three)), (None, Some(BTreeSet::new())));
    }

    #[test]
    fn a_document_is_dead_when_no_index_has_it_and_is_named_no_more_when_it_is_removed() {
        let ([x, y], [one, two, three, four]) = (ids(), ids());
        let first = |standing| index(Chain::whole(one), 9, standing);
        let second = index(first(Standing::Placed).followed(two, 1, BTreeSet::from([x])), 9, Standing::Placed);
        let third = index(second.followed(three, 2, BTreeSet::from([y])), 9, Standing::Placed);
        let all = |standing| vec![first(standing), second.clone(), third.clone()];
        assert_eq!(dead(one, all(Standing::Placed).iter()), Some(BTreeSet::new()), "the first has it all");
        assert_eq!(dead(one, [&second, &third].into_iter()), Some(BTreeSet::from([x])));
        assert_eq!(dead(two, [&third].into_iter()), Some(BTreeSet::from([y])));
        assert_eq!(dead(four, all(Standing::Placed).iter()), None);

        let next = third.followed(four, 3, BTreeSet::new());
        let takes = |standing| next.clone().shortened(&all(standing)).parts.into_iter().map(|part| part.takes);
        let named = [BTreeSet::new(), BTreeSet::from([x]), BTreeSet::from([y]), BTreeSet::new()];
        assert!(takes(Standing::Placed).eq(named.clone()), "an index has it");
        assert!(takes(Standing::Gone).eq(named), "it is not removed yet");
        let named = [BTreeSet::new(), BTreeSet::new(), BTreeSet::from([y]), BTreeSet::new()];
        assert!(takes(Standing::Held).eq(named));
    }
}
