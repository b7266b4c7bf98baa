//! A document's text, part by part where it is long, behind `dragoman://documents/{document_id}`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::engine::job::Job;
use crate::engine::search::markdown;
pub use crate::engine::search::markdown::Mark;
use crate::engine::search::retrieve::Chunk;
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface};
use crate::model::access::{Action, Want};
use crate::model::chunk_id::ChunkId;
use crate::model::dataset::Dataset;
use crate::model::document::{Document, Markup};
use crate::model::error::{Error, Result};
use crate::ops::parts::parts;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDocument {
    /// `document_id` of a match of dragoman_search.
    pub document_id: Id<Document>,
    /// Which part of a long text, from 1; the first otherwise.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub part: Option<u32>,
    /// `chunk_index` of a match: the part that it is in, and where. Instead of part.
    #[serde(default)]
    pub chunk: Option<u32>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    pub document_id: Id<Document>,
    pub title: String,
    pub source_file: String,
    pub dataset_name: String,
    /// For links.
    #[serde(skip)]
    pub dataset_id: Id<Dataset>,
    /// The part of the document's text that was asked for.
    pub text: String,
    /// Which part this is, from 1, and how many there are.
    pub part: u32,
    pub parts: u32,
    /// Where this part begins in the document's text, in bytes of UTF-8.
    pub start: usize,
    /// The page, slide or part of the source that this begins in, from 1, where it has such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The passage that was asked for, where there still is one of its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage: Option<Passage>,
    /// Whether the document goes on behind this part.
    pub truncated: bool,
    #[serde(skip)]
    pub markup: Option<Markup>,
}

/// Where a passage is in its document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Passage {
    /// Page, slide or part of the source, from 1, where it has such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Headings above it, outermost first.
    pub heading: String,
    /// In bytes of UTF-8 of the document's text.
    pub start: usize,
    pub end: usize,
}

impl GetDocument {
    /// The first part of it.
    pub fn of(document_id: Id<Document>) -> Self {
        Self { document_id, part: None, chunk: None }
    }

    /// The passage that is asked for. What the index cannot say is not said: the document is there all the same.
    async fn passage(&self, on: &Parts, job: &Job<'_>, document: &Document) -> Result<Option<Passage>> {
        let Some(index) = self.chunk else { return Ok(None) };
        let id = ChunkId { document: document.id, index };
        let found = on.engines.search.chunks(job, document.dataset, &[id]).await;
        job.check()?;
        let inside =
            |chunk: &Chunk| document.text.get(chunk.spot.start..chunk.spot.end).is_some_and(|text| !text.is_empty());
        let chunk = found.unwrap_or_default().into_iter().find(inside);
        Ok(chunk.map(|chunk| Passage {
            page: chunk.spot.page,
            heading: chunk.heading,
            start: chunk.spot.start,
            end: chunk.spot.end,
        }))
    }
}

impl Reply {
    /// The headings and the begins of pages of this part, with their bytes of its text.
    pub fn marks(&self) -> Vec<(Range<usize>, Mark)> {
        markdown::marks(&self.text, self.markup.unwrap_or(Markup::Plain), self.page)
    }
}

impl Operation for GetDocument {
    const INFO: Info = Info {
        name: "dragoman_get_document",
        title: "Get a document",
        description: "Returns the text of a document that dragoman_search found, part by part where it is long.",
        action: Action::Search,
        cost: Cost::Resource,
        surface: Surface::Resource,
        route: Route { method: "GET", path: "/documents/{document_id}" },
        example: r#"{"document_id":"01936f2e-7c1a-7000-8000-000000000002"}"#,
        ..Info::READ
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.document_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        if self.part.is_some() && self.chunk.is_some() {
            return Err(Error::invalid("part", "Give part or chunk, not both."));
        }
        let document = on.engines.catalog.document(job, self.document_id).await?;
        let passage = self.passage(on, job, &document).await?;
        let all = parts(&document.text, job.budget.reply_bytes * 3 / 4);
        let at = match (&passage, self.part) {
            (Some(passage), _) => all.partition_point(|part| part.end <= passage.start),
            (None, part) => part.map_or(Some(0), |part| (part as usize).checked_sub(1)).unwrap_or(usize::MAX),
        };
        let Some(range) = all.get(at).cloned() else {
            return Err(Error::invalid("part", format!("part is a number from 1 to {}.", all.len())));
        };
        let (before, text) = (document.text.get(..range.start), document.text.get(range.clone()));
        let page = markdown::has_pages(&document.text).then(|| markdown::page_after(before.unwrap_or_default()));
        Ok(Reply {
            document_id: document.id,
            title: document.title,
            source_file: document.source_file,
            dataset_name: job.pass.dataset(document.dataset)?.name.clone(),
            dataset_id: document.dataset,
            text: text.unwrap_or_default().to_owned(),
            part: u32::try_from(at + 1).map_err(Error::internal)?,
            parts: u32::try_from(all.len()).map_err(Error::internal)?,
            start: range.start,
            page,
            passage,
            truncated: at + 1 < all.len(),
            markup: Some(document.markup),
        })
    }
}
