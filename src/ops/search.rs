//! `dragoman_search`: passages of documents, by meaning and by words together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::search::Match;
use crate::gateway::operation::{Info, Operation, Parts, Route, Toolset};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::document::Document;
use crate::model::error::{Error, Result};

fn five() -> u32 {
    5
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What to look for, in plain words.
    #[schemars(length(min = 1, max = 1000))]
    pub query: String,
    /// Only this dataset is searched.
    #[serde(default)]
    pub dataset_id: Option<Id<Dataset>>,
    /// Passages to return.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 20))]
    pub top_k: u32,
}

/// Where a passage comes from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Metadata {
    pub source_file: String,
    pub title: String,
    /// Headings above the passage, outermost first.
    pub heading: String,
    pub dataset_id: Id<Dataset>,
    pub dataset_name: String,
    /// dragoman://documents/{document_id} holds the whole text.
    pub document_id: Id<Document>,
    /// Shows the passage in its document, for who is signed in.
    pub url: String,
    /// Page, slide or part of the source, from 1, where it has such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Where the passage begins and ends in the document's text, in bytes of UTF-8.
    pub start: usize,
    pub end: usize,
    pub chunk_index: u32,
}

/// One passage.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Passage {
    /// For rag_get_chunks.
    pub id: String,
    /// 0 to 1, rising with relevance.
    pub score: f64,
    pub text: String,
    pub metadata: Metadata,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Best first.
    pub matches: Vec<Passage>,
    pub count: usize,
    /// Whether more passages matched than were asked for.
    pub truncated: bool,
    /// Present when a part of the search failed: which, and what it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// Why there can be no matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// Said where there is nothing to search.
const NO_DOCUMENTS: &str = "There are no documents here. Tables are listed by dragoman_list_datasets, and asked with \
                            dragoman_query or dragoman_sql.";

impl Operation for Search {
    const INFO: Info = Info {
        name: "dragoman_search",
        title: "Search documents",
        description: "Finds passages in the documents of dragoman_list_datasets, by meaning and by words together. \
                      Ask in plain words; each match names its document. For numbers over tables use dragoman_sql.",
        action: Action::Search,
        toolsets: &[Toolset::Data, Toolset::Rag],
        route: Route { method: "POST", path: "/search" },
        example: r#"{"query":"what does a negative delay mean","top_k":3}"#,
        ..Info::READ
    };
    type Reply = Reply;

    fn want(&self) -> Want {
        self.dataset_id.map_or(Want::All, Want::One)
    }

    fn target(&self) -> String {
        self.query.clone()
    }

    fn rows(reply: &Reply) -> usize {
        reply.count
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        if !(1..=20).contains(&self.top_k) {
            return Err(Error::invalid("top_k", "top_k is a number from 1 to 20."));
        }
        if let Some(id) = self.dataset_id
            && job.pass.dataset(id)?.kind != Kind::Documents
        {
            return Err(Error::invalid("dataset_id", "This dataset is a table. Ask it with dragoman_sql."));
        }
        let found = on.engines.search.search(job, &self.query, self.top_k as usize).await?;
        let matches: Vec<Passage> = found.matches.into_iter().map(|found| passage(on, job, found)).collect();
        let has_documents = job.pass.datasets().iter().any(|dataset| dataset.kind == Kind::Documents);
        let note = (!has_documents).then_some(NO_DOCUMENTS);
        Ok(Reply { count: matches.len(), matches, truncated: found.truncated, degraded: found.degraded, note })
    }
}

fn passage(on: &Parts, job: &Job<'_>, found: Match) -> Passage {
    Passage {
        id: found.id.to_string(),
        score: found.score,
        text: found.text,
        metadata: Metadata {
            source_file: found.source_file,
            title: found.title,
            heading: found.heading,
            dataset_id: found.dataset,
            dataset_name: found.dataset_name,
            document_id: found.id.document,
            url: super::passage_url(on, job, found.id),
            page: found.spot.page,
            start: found.spot.start,
            end: found.spot.end,
            chunk_index: found.id.index,
        },
    }
}
