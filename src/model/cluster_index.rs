//! An index of a dataset version on a Qdrant server, as the metadata know it: without them its points mean nothing.

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::org::Org;

/// Names what was written in one go: the points of one index.
#[derive(Debug)]
pub struct Build;

/// How far an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Somebody writes it, or died over it.
    Written,
    /// It answers for its version.
    Placed,
    /// Its points are to be removed.
    Gone,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Written, Self::Placed, Self::Gone];

    /// As the metadata have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Placed => "placed",
            Self::Gone => "gone",
        }
    }
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
    /// Chunks; they are numbered from 0.
    pub points: u64,
    pub standing: Standing,
    /// When it was last written to, or came to its standing.
    pub touched_at: Millis,
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
