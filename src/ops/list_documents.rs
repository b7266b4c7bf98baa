//! The documents of a dataset page by page, for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::Document;
use crate::model::error::{Error, Result};

/// Documents of a page, and how far pages go: databases count to a page from the first document.
const DOCUMENTS: usize = 100;
const PAGES: u32 = 20_000;

fn first() -> u32 {
    1
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDocuments {
    /// The id of a dataset of documents.
    pub dataset_id: Id<Dataset>,
    /// From 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1, max = 20_000))]
    pub page: u32,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    pub document_id: Id<Document>,
    pub title: String,
    pub source_file: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// By source_file.
    pub documents: Vec<Listed>,
    /// The number of the first of them, from 1.
    pub first: usize,
    /// Whether there is a page after this one.
    pub more: bool,
}

impl Operation for ListDocuments {
    const INFO: Info = Info {
        name: "list_documents",
        title: "List the documents of a dataset",
        description: "Returns a page of 100 documents of a dataset: titles, files and ids. For people.",
        action: Action::Search,
        cost: Cost::Read,
        read_only: true,
        route: Route { method: "GET", path: "/datasets/{dataset_id}/documents" },
        example: r#"{"dataset_id":"01936f2e-7c1a-7000-8000-000000000001","page":2}"#,
        ..Info::MANAGE
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        format!("{} page {}", self.dataset_id, self.page)
    }

    fn rows(reply: &Reply) -> usize {
        reply.documents.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        super::for_people(job)?;
        let dataset = job.pass.dataset(self.dataset_id)?;
        if dataset.kind != Kind::Documents {
            return Err(Error::invalid("dataset_id", "This dataset is a table; only documents have texts."));
        }
        if !(1..=PAGES).contains(&self.page) {
            return Err(Error::invalid("page", format!("Pages go from 1 to {PAGES}. Search for the document.")));
        }
        let skipped = (self.page as usize - 1) * DOCUMENTS;
        let mut found = on.engines.catalog.titles(job, dataset, skipped, DOCUMENTS + 1).await?;
        let more = found.len() > DOCUMENTS;
        found.truncate(DOCUMENTS);
        let listed =
            found.into_iter().map(|one| Listed { document_id: one.id, title: one.title, source_file: one.source_file });
        Ok(Reply { documents: listed.collect(), first: skipped + 1, more })
    }
}
