//! `rag_search_vector`: chunks by their meaning, of a text, of a vector, or of a chunk or document that is known.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::filters::{self, Filters};
use super::hits::{self, GroupBy, Reply, Show};
use super::{Begin, Page, TOOL, checked, checked_k, ten};
use crate::engine::job::Job;
use crate::engine::search::retrieve::{Fusion, Meaning, REACH, Retrieval};
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::audit::clip;
use crate::model::chunk_id::ChunkId;
use crate::model::error::{Error, Result};

/// Arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchVector {
    /// What it is about, in plain words. Give this, query_embedding or like.
    #[serde(default)]
    #[schemars(length(max = 8192))]
    pub query_text: Option<String>,
    #[serde(default)]
    pub query_embedding: Option<Embedding>,
    /// A chunk_id or doc_id: what is like it, without itself.
    #[serde(default)]
    pub like: Option<String>,
    /// Results of a page.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    pub k: u32,
    /// Results to leave out; or use the cursor.
    #[serde(default)]
    #[schemars(range(max = 499))]
    pub offset: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    #[serde(default)]
    #[schemars(with = "Option<Filters>")]
    pub filters: Option<Map<String, Value>>,
    #[serde(default)]
    pub group_by: Option<GroupBy>,
    #[serde(default)]
    pub embedding: Option<Model>,
    #[serde(default, rename = "return")]
    pub show: Show,
}

/// A vector that the encoder of the index made.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Embedding {
    pub dim: u32,
    /// 32-bit floats, little-endian, in Base64.
    pub values_b64: String,
}

/// The encoder that is expected.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The search is refused where the index is of another one.
    pub model: String,
}

impl Operation for SearchVector {
    const INFO: Info = Info {
        name: "rag_search_vector",
        title: "Search documents by meaning",
        description: "Finds chunks of documents by meaning: of a text, of a vector, or more like a chunk or document that \
                      is known. Ids and scores, no texts. Then call rag_get_chunks.",
        route: Route { method: "POST", path: "/rag/search_vector" },
        example: r#"{"query_text":"can goods be sent back","k":5}"#,
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.query_text.clone().or_else(|| self.like.clone()).unwrap_or_else(|| "a vector".into())
    }

    fn rows(reply: &Reply) -> usize {
        reply.results.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let begin = Begin { cursor: self.cursor.as_deref(), offset: self.offset };
        checked_k(self.k, &begin)?;
        let (filter, min_score) = filters::read(job.pass, self.filters.as_ref())?;
        let (encoder, dimension) = on.engines.search.encoder(job.pass.org()).await?;
        if let Some(Model { model }) = &self.embedding
            && *model != encoder
        {
            let message = format!("The documents are indexed with {encoder}, not with {}.", clip(model));
            return Err(Error::invalid("embedding", message).with(json!({ "field": "embedding", "nearest": encoder })));
        }
        let asked = json!([self.query_text, self.query_embedding, self.like, self.filters, self.group_by]);
        let page = Page::of(on, job, Self::INFO.name, &asked, begin)?;
        let meaning = match (&self.query_text, &self.query_embedding, &self.like) {
            (Some(text), None, None) => Meaning::Text(checked("query_text", text)?),
            (None, Some(vector), None) => Meaning::Vector(vector.read(dimension)?),
            (None, None, Some(like)) => neighbour(on, job, like).await?,
            _ => {
                let message = "Give exactly one of query_text, query_embedding and like.";
                return Err(Error::invalid("query_text", message));
            }
        };
        let ask = Retrieval {
            meaning: Some(meaning),
            fusion: Fusion::Meaning,
            near: REACH,
            ..hits::retrieval(filter, min_score, self.group_by)
        };
        hits::search(on, job, (ask, page, self.show), self.k).await
    }
}

impl Embedding {
    fn read(&self, dimension: usize) -> Result<Vec<f32>> {
        let bytes = STANDARD.decode(&self.values_b64).unwrap_or_default();
        let values: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        if self.dim as usize != dimension || values.len() != dimension || bytes.len() != dimension * 4 {
            let message = format!(
                "query_embedding has dim {dimension} and, in values_b64, {dimension} 32-bit floats in Base64; this has \
                 dim {} and {} bytes.",
                self.dim,
                bytes.len()
            );
            return Err(Error::invalid("query_embedding", message));
        }
        Ok(values)
    }
}

/// A chunk or a document, by its id, of a dataset that the caller may see.
async fn neighbour(on: &Parts, job: &Job<'_>, id: &str) -> Result<Meaning> {
    let wrong = || Error::invalid("like", "like is a chunk_id or a doc_id of a result.");
    let (document, chunk) = match id.trim().parse() {
        Ok(document) => (document, None),
        Err(_) => id.parse().map(|ChunkId { document, index }| (document, Some(index))).map_err(|()| wrong())?,
    };
    let places = on.engines.catalog.datasets_of(job, &[document]).await?;
    let dataset = *places.get(&document).ok_or_else(Error::document_not_found)?;
    Ok(Meaning::Like { dataset, document, chunk })
}
