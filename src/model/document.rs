//! A document of a documents dataset, and the chunks that search returns.

use serde::{Deserialize, Serialize};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::org::Org;

/// A document as stored: the whole text, and the file that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub id: Id<Document>,
    pub org: Id<Org>,
    pub dataset: Id<Dataset>,
    /// The dataset's version that the document belongs to.
    pub version: String,
    pub title: String,
    pub source_file: String,
    pub text: String,
    pub created_at: Millis,
}

/// A piece of a document, as cut for search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    pub document: Id<Document>,
    /// Position in the document, from 0.
    pub index: u32,
    /// Headings above it, outermost first.
    pub heading: String,
    pub text: String,
}
