//! Results of a search, in one shape for every way of searching.

use std::collections::BTreeMap;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Page, Stats, fitting, note, yes};
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::search::filter::Filter;
use crate::engine::search::retrieve::{Fusion, Passage, REACH, Retrieval, Snippet};
use crate::gateway::operation::Parts;
use crate::model::dataset::Dataset;
use crate::model::error::Result;

/// What is told of each result.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Show {
    #[serde(default = "yes")]
    pub include_title: bool,
    #[serde(default = "yes")]
    pub include_metadata: bool,
    pub include_snippets: bool,
    /// Ranks within each leg.
    pub include_debug: bool,
}

impl Default for Show {
    fn default() -> Self {
        Self { include_title: true, include_metadata: true, include_snippets: false, include_debug: false }
    }
}

/// What results are gathered by.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupBy {
    /// The best chunk of each document alone.
    Document,
}

/// One chunk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// For rag_get_chunks.
    pub chunk_id: String,
    /// For rag_get_docs.
    pub doc_id: String,
    /// The dataset.
    pub source_id: Id<Dataset>,
    pub source_name: String,
    /// 0 to 1, rising with relevance; what results are ordered by.
    pub score: f64,
    /// By words, 0 to 1, and as computed (BM25, rising).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_fts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_fts_raw: Option<f32>,
    /// By meaning, 0 to 1, and as computed (cosine, rising).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_vec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_vec_raw: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug: Option<Ranks>,
}

/// Where a chunk is from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Metadata {
    pub source_file: String,
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
    /// When the document was written, or imported where it does not say. RFC 3339.
    pub created_at: String,
    /// What the document says of itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub document: BTreeMap<String, Value>,
}

/// A part of a text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Part {
    pub text: String,
    /// From and to of each word that was looked for, in characters of text.
    pub highlights: Vec<(usize, usize)>,
}

/// Positions among all candidates, from 1; absent where a leg did not find it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ranks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_fts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_vec: Option<usize>,
}

/// The reply of every search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Best first.
    pub results: Vec<Hit>,
    /// Whether more matched than these.
    pub truncated: bool,
    /// Asks for the page after this one, with the same other arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Present when a part of the search failed: which, and what it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// Why there can be no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    pub stats: Stats,
}

/// What to look for among chunks of the filter; the legs are still to be said, and the page is [`search`]'s.
pub(super) fn retrieval(filter: Filter, min_score: f64, group_by: Option<GroupBy>) -> Retrieval {
    Retrieval {
        words: None,
        meaning: None,
        fusion: Fusion::Words,
        equal: 0,
        near: 0,
        filter,
        min_score,
        of_a_document: group_by.map(|GroupBy::Document| 1),
        offset: 0,
        limit: 0,
        snippets: false,
    }
}

/// Searches, and tells a page of what was found.
pub(super) async fn search(
    on: &Parts,
    job: &Job<'_>,
    (mut ask, page, show): (Retrieval, Page, Show),
    k: u32,
) -> Result<Reply> {
    let began = Instant::now();
    ask.offset = page.offset;
    ask.limit = (k as usize).min(REACH - page.offset.min(REACH));
    ask.snippets = show.include_snippets;
    let found = on.engines.search.retrieve(job, &ask).await?;
    let mut results: Vec<Hit> = found.hits.into_iter().map(|passage| hit(on, job, passage, &show)).collect();
    let room = fitting(job, &results)?;
    let truncated = found.more || room < results.len();
    results.truncate(room);
    let next_cursor = if truncated { page.next(on, results.len()) } else { None };
    let stats = Stats { k_requested: Some(k), k_returned: Some(results.len()), ..Stats::since(began) };
    Ok(Reply { truncated, next_cursor, degraded: found.degraded, note: note(job), stats, results })
}

fn hit(on: &Parts, job: &Job<'_>, passage: Passage, show: &Show) -> Hit {
    let Passage { chunk, score, words, bm25, meaning, cosine, words_rank, meaning_rank, snippet } = passage;
    let metadata = Metadata {
        source_file: chunk.source_file.clone(),
        heading: chunk.heading.clone(),
        page: chunk.spot.page,
        start: chunk.spot.start,
        end: chunk.spot.end,
        url: crate::ops::passage_url(on, job, chunk.id),
        created_at: rfc3339(chunk.created),
        document: chunk.metadata.clone(),
    };
    Hit {
        chunk_id: chunk.id.to_string(),
        doc_id: chunk.id.document.to_string(),
        source_id: chunk.dataset,
        source_name: chunk.dataset_name,
        score,
        score_fts: words,
        score_fts_raw: bm25,
        score_vec: meaning,
        score_vec_raw: cosine,
        title: show.include_title.then_some(chunk.title),
        metadata: show.include_metadata.then_some(metadata),
        snippet: snippet.map(|Snippet { text, highlights }| Part { text, highlights }),
        debug: show.include_debug.then_some(Ranks { rank_fts: words_rank, rank_vec: meaning_rank }),
    }
}
