//! `search` and `fetch` as ChatGPT asks them of every server: two tools of fixed names, arguments and keys, over all that
//! the caller may see, datasets, ontologies and documents alike. What a credential may not list, neither of them knows.

pub mod fetch;
pub mod search;

use std::fmt;

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::Parts;
use crate::model::chunk_id::ChunkId;
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::StoredOntology;
use crate::ops::passage_url;

/// Something that is found and fetched. Its id says what it is: `dataset:…`, `ontology:…`, `document:…`; and of a document
/// a passage (`document:…#3`), or a part of its text (`document:…/2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thing {
    Dataset(Id<Dataset>),
    Ontology(Id<StoredOntology>),
    Document(Id<Document>),
    Passage(ChunkId),
    Part(Id<Document>, u32),
}

impl Thing {
    /// # Errors
    /// `invalid_argument` for what has not the form of an id of ours; `not_found` for what has, and can be nothing's.
    fn parse(id: &str) -> Result<Self> {
        let (kind, id) = id.trim().split_once(':').unwrap_or_default();
        let thing = match kind {
            "dataset" => id.parse().map(Thing::Dataset).ok(),
            "ontology" => id.parse().map(Thing::Ontology).ok(),
            "document" => document(id),
            _ => {
                let message = "id is one of a result of search, such as dataset:…, ontology:… or document:….";
                return Err(Error::invalid("id", message));
            }
        };
        thing.ok_or_else(nothing)
    }

    /// Its page in the console of the workspace.
    fn url(self, on: &Parts, job: &Job<'_>) -> String {
        let slug = job.pass.slug();
        on.config.url(&match self {
            Thing::Dataset(id) => format!("/w/{slug}/datasets/{id}"),
            Thing::Ontology(id) => format!("/w/{slug}/ontologies/{id}"),
            Thing::Document(id) => format!("/w/{slug}/documents/{id}"),
            Thing::Passage(chunk) => return passage_url(on, job, chunk),
            Thing::Part(id, part) => format!("/w/{slug}/documents/{id}?part={part}"),
        })
    }
}

fn document(id: &str) -> Option<Thing> {
    match id.split_once('/') {
        Some((id, part)) => Some(Thing::Part(id.parse().ok()?, part.parse().ok()?)),
        None => id.parse().map(Thing::Document).ok().or_else(|| id.parse().map(Thing::Passage).ok()),
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thing::Dataset(id) => write!(f, "dataset:{id}"),
            Thing::Ontology(id) => write!(f, "ontology:{id}"),
            Thing::Document(id) => write!(f, "document:{id}"),
            Thing::Passage(chunk) => write!(f, "document:{chunk}"),
            Thing::Part(id, part) => write!(f, "document:{id}/{part}"),
        }
    }
}

/// The same for what is not there and for what the caller may not see.
fn nothing() -> Error {
    Error::new(Code::NotFound, "No result of search has this id. Call search, and take the id of one.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_it_is_of_and_is_read_again() {
        let id = "01936f2e-7c1a-7000-8000-000000000001";
        for kind in ["dataset", "ontology", "document"] {
            let text = format!("{kind}:{id}");
            assert_eq!(Thing::parse(&text).unwrap().to_string(), text);
            assert_eq!(Thing::parse(&format!("{kind}:5")).unwrap_err().code, Code::NotFound, "an id that nothing has");
        }
        for of_document in [format!("document:{id}#7"), format!("document:{id}/2")] {
            assert_eq!(Thing::parse(&of_document).unwrap().to_string(), of_document);
        }
        for wrong in ["", id, "table:x", "https://data.example.com/w/acme/datasets/1"] {
            assert_eq!(Thing::parse(wrong).unwrap_err().code, Code::InvalidArgument, "{wrong}");
        }
    }
}
