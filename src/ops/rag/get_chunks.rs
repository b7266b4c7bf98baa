//! `rag_get_chunks`: the texts of chunks that a search found.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Stats, TOOL, checked_ids, fitting, yes};
use crate::base::clock::{Millis, rfc3339};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::search::retrieve::Chunk;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::audit::clip;
use crate::model::chunk_id::ChunkId;
use crate::model::dataset::Dataset;
use crate::model::document::Document;
use crate::model::error::Result;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetChunks {
    /// Of results of a search.
    #[schemars(length(min = 1, max = 50))]
    pub chunk_ids: Vec<String>,
    #[serde(default, rename = "return")]
    pub show: Show,
}

/// What is told beside the texts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Show {
    #[serde(default = "yes")]
    pub include_title: bool,
    #[serde(default = "yes")]
    pub include_doc_metadata: bool,
    #[serde(default = "yes")]
    pub include_chunk_metadata: bool,
}

impl Default for Show {
    fn default() -> Self {
        Self { include_title: true, include_doc_metadata: true, include_chunk_metadata: true }
    }
}

/// One chunk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Body {
    pub chunk_id: String,
    pub doc_id: String,
    pub source_id: Id<Dataset>,
    pub source_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_metadata: Option<OfDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_metadata: Option<OfChunk>,
}

/// What is known of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfDocument {
    pub source_file: String,
    /// When it was written, or imported where it does not say. RFC 3339.
    pub created_at: String,
    /// What it says of itself.
    #[serde(flatten)]
    pub own: BTreeMap<String, Value>,
}

impl OfDocument {
    /// What a document says of itself under our names is not said twice.
    pub(super) fn of(source_file: &str, created: Millis, mut own: BTreeMap<String, Value>) -> Self {
        own.retain(|name, _| name != "source_file" && name != "created_at");
        Self { source_file: source_file.to_owned(), created_at: rfc3339(created), own }
    }
}

/// What is known of a chunk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfChunk {
    /// From 0; chunks of one document follow each other.
    pub chunk_index: u32,
    /// Headings above it, outermost first.
    pub heading: String,
    /// Page, slide or part of the source, from 1, where it has such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Where it begins and ends in the document's text, in bytes of UTF-8.
    pub start: usize,
    pub end: usize,
    /// Shows it in its document, for who is signed in.
    pub url: String,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// In the order in which they were asked for.
    pub chunks: Vec<Body>,
    /// Ids of nothing that you may see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_found: Vec<String>,
    /// Ids that a reply had no room for: ask for them next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Whether some were left out.
    pub truncated: bool,
    pub stats: Stats,
}

impl Operation for GetChunks {
    const INFO: Info = Info {
        name: "rag_get_chunks",
        title: "Read chunks",
        description: "Returns the texts of chunks by their ids, as rag_search_hybrid and the like found them. For whole \
                      documents call rag_get_docs.",
        route: Route { method: "POST", path: "/rag/get_chunks" },
        example: r#"{"chunk_ids":["01936f2e-7c1a-7000-8000-000000000002#0"]}"#,
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.chunk_ids.join(" ")
    }

    fn rows(reply: &Reply) -> usize {
        reply.chunks.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let began = Instant::now();
        let ids = checked_ids("chunk_ids", &self.chunk_ids)?;
        let asked: Vec<(&str, Option<ChunkId>)> = ids.into_iter().map(|id| (id, id.parse().ok())).collect();
        let documents: Vec<Id<Document>> =
            asked.iter().filter_map(|(_, chunk)| Some(chunk.as_ref()?.document)).collect();
        let datasets = on.engines.catalog.datasets_of(job, &documents).await?;
        let mut by_dataset: BTreeMap<Id<Dataset>, Vec<ChunkId>> = BTreeMap::new();
        for (_, chunk) in &asked {
            if let Some(chunk) = chunk
                && let Some(dataset) = datasets.get(&chunk.document)
            {
                by_dataset.entry(*dataset).or_default().push(*chunk);
            }
        }
        let mut found: HashMap<ChunkId, Chunk> = HashMap::new();
        for (dataset, wanted) in by_dataset {
            let chunks = on.engines.search.chunks(job, dataset, &wanted).await?;
            found.extend(chunks.into_iter().map(|chunk| (chunk.id, chunk)));
        }
        let (mut chunks, mut not_found) = (Vec::new(), Vec::new());
        for (id, chunk) in asked {
            match chunk.and_then(|chunk| found.remove(&chunk)) {
                Some(chunk) => chunks.push(body(on, job, chunk, &self.show)),
                None => not_found.push(clip(id)),
            }
        }
        let room = fitting(job, &chunks)?;
        let left_out: Vec<String> = chunks.drain(room..).map(|chunk| chunk.chunk_id).collect();
        Ok(Reply { truncated: !left_out.is_empty(), chunks, not_found, left_out, stats: Stats::since(began) })
    }
}

fn body(on: &Parts, job: &Job<'_>, chunk: Chunk, show: &Show) -> Body {
    let of_document = || OfDocument::of(&chunk.source_file, chunk.created, chunk.metadata.clone());
    let of_chunk = || OfChunk {
        chunk_index: chunk.id.index,
        heading: chunk.heading.clone(),
        page: chunk.spot.page,
        start: chunk.spot.start,
        end: chunk.spot.end,
        url: crate::ops::passage_url(on, job, chunk.id),
    };
    Body {
        chunk_id: chunk.id.to_string(),
        doc_id: chunk.id.document.to_string(),
        source_id: chunk.dataset,
        source_name: chunk.dataset_name.clone(),
        doc_metadata: show.include_doc_metadata.then(of_document),
        chunk_metadata: show.include_chunk_metadata.then(of_chunk),
        title: show.include_title.then_some(chunk.title),
        body: chunk.text,
    }
}
