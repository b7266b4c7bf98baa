//! `rag_get_docs`: whole documents, as they were imported, as much at a time as a reply holds.

use std::collections::BTreeMap;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::get_chunks::OfDocument;
use super::{Stats, TOOL, changed, checked_ids, room, yes};
use crate::base::id::Id;
use crate::base::json;
use crate::base::secret::sha256_hex;
use crate::engine::job::Job;
use crate::engine::search::about::About;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::audit::clip;
use crate::model::dataset::Dataset;
use crate::model::document::{Document, digest};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::{self, DocumentSync};
use crate::ops::document_syncs::sees;
use crate::ops::parts::cut;

/// The least room that a text is begun in.
const LEAST: usize = 1_000;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDocs {
    /// Of results of a search.
    #[schemars(length(min = 1, max = 50))]
    pub doc_ids: Vec<String>,
    /// next_cursor of the reply before, which goes on where that ended.
    #[serde(default)]
    pub cursor: Option<String>,
    #[serde(default, rename = "return")]
    pub show: Show,
}

/// What is told of each.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Show {
    #[serde(default = "yes")]
    pub include_body: bool,
    #[serde(default = "yes")]
    pub include_metadata: bool,
}

impl Default for Show {
    fn default() -> Self {
        Self { include_body: true, include_metadata: true }
    }
}

/// One document, or a part of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Doc {
    pub doc_id: Id<Document>,
    pub source_id: Id<Dataset>,
    pub source_name: String,
    pub title: String,
    /// Of a document that is kept from a table: the key of its row, by its column. rag_fetch_from_source takes this doc_id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pk_json: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Characters of the document before this part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_offset: Option<usize>,
    /// Whether the document goes on behind this part: next_cursor asks for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<OfDocument>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// In the order in which they were asked for.
    pub docs: Vec<Doc>,
    /// Ids of nothing that you may see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_found: Vec<String>,
    /// Whether there is more than this.
    pub truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    pub stats: Stats,
}

impl Operation for GetDocs {
    const INFO: Info = Info {
        name: "rag_get_docs",
        title: "Read documents",
        description: "Returns whole documents by their ids, part by part where they are long. For the passages alone call \
                      rag_get_chunks.",
        route: Route { method: "POST", path: "/rag/get_docs" },
        example: r#"{"doc_ids":["01936f2e-7c1a-7000-8000-000000000002"]}"#,
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.doc_ids.join(" ")
    }

    fn rows(reply: &Reply) -> usize {
        reply.docs.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let began = Instant::now();
        let ids = checked_ids("doc_ids", &self.doc_ids)?;
        let asked = sha256_hex(json!(ids).to_string().as_bytes());
        let scope = format!("{}:{}:{asked}", job.pass.org(), Self::INFO.name);
        let position = crate::ops::position(on, &scope, self.cursor.as_deref())?;
        let (mut at, mut from, begun) = position.as_deref().map_or(Ok((0, 0, "")), begin)?;
        let syncs = on.engines.syncs.list(job.pass.org()).await?;
        let (mut docs, mut not_found) = (Vec::new(), Vec::new());
        let mut left = room(job);
        let mut rest = None;
        for id in ids.iter().skip(at) {
            let document = match id.parse() {
                Ok(id) => on.engines.catalog.document(job, id).await,
                Err(_) => Err(Error::document_not_found()),
            };
            match document {
                Ok(document) => {
                    let text = mark(&document);
                    if from > 0 && text != begun {
                        return Err(changed());
                    }
                    let (doc, end) = part(job, &syncs, document, from, (left, &self.show))?;
                    let bytes = json::size(&doc).map_err(Error::internal)?;
                    // What has no room any more begins the next page; a page has one document at least.
                    if bytes > left && !docs.is_empty() {
                        rest = Some((at, from, text));
                        break;
                    }
                    left = left.saturating_sub(bytes);
                    docs.push(doc);
                    if let Some(end) = end {
                        rest = Some((at, end, text));
                        break;
                    }
                }
                Err(error) if error.code == Code::DocumentNotFound => not_found.push(clip(id)),
                Err(error) => return Err(error),
            }
            (at, from) = (at + 1, 0);
            if left < LEAST && at < ids.len() {
                rest = Some((at, 0, String::new()));
                break;
            }
        }
        let next_cursor = rest.map(|(at, from, text)| on.cursors.make(&scope, &format!("{at}.{from}.{text}")));
        Ok(Reply { docs, not_found, truncated: next_cursor.is_some(), next_cursor, stats: Stats::since(began) })
    }
}

/// The document that a page begins with, where in it, in characters, and the [`mark`] of the text that was begun.
fn begin(position: &str) -> Result<(usize, usize, &str)> {
    let (at, rest) = position.split_once('.').unwrap_or_default();
    // Cursors of before texts were marked have none.
    let (from, text) = rest.split_once('.').unwrap_or((rest, ""));
    Ok((at.parse().map_err(Error::internal)?, from.parse().map_err(Error::internal)?, text))
}

/// What a text is known by between two pages: parts of two texts are none.
fn mark(document: &Document) -> String {
    digest(&document.text, &document.facts).chars().take(16).collect()
}

/// As much of a document as fits, from a character on, and where it ends when that is not its end.
fn part(
    job: &Job<'_>,
    syncs: &[DocumentSync],
    document: Document,
    from: usize,
    (room, show): (usize, &Show),
) -> Result<(Doc, Option<usize>)> {
    let dataset = job.pass.dataset(document.dataset)?;
    let metadata = show.include_metadata.then(|| {
        let about = About::of(document.id, &document.text, &document.facts);
        OfDocument::of(&document.source_file, about.created, about.metadata)
    });
    let mut doc = Doc {
        doc_id: document.id,
        source_id: dataset.id,
        source_name: dataset.name.clone(),
        title: document.title,
        pk_json: sync::row_of(syncs, &dataset.name, &document.source_file)
            .filter(|(mapping, _)| sees(job, &mapping.table, &[mapping.key.as_str()]))
            .map(|(mapping, key)| BTreeMap::from([(mapping.key.clone(), key.to_owned())])),
        body: None,
        body_offset: None,
        body_truncated: None,
        metadata,
    };
    if !show.include_body {
        return Ok((doc, None));
    }
    let around = json::size(&doc).map_err(Error::internal)? + 80;
    let rest: String = document.text.chars().skip(from).collect();
    let (body, is_cut) = cut(rest, room.saturating_sub(around).max(LEAST / 2));
    let end = is_cut.then(|| from + body.chars().count());
    doc.body = Some(body);
    doc.body_offset = (from > 0).then_some(from);
    doc.body_truncated = is_cut.then_some(true);
    Ok((doc, end))
}
