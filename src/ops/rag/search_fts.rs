//! `rag_search_fts`: chunks by their words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::filters::{self, Filters};
use super::hits::{self, GroupBy, Reply, Show};
use super::{Begin, Page, TOOL, checked, checked_k, ten};
use crate::engine::job::Job;
use crate::engine::search::retrieve::{Fusion, REACH, Retrieval};
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::error::Result;

/// Arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchFts {
    /// Words; "words in a row"; title:, heading: or file: before a word or a row of words asks for it there.
    #[schemars(length(min = 1, max = 8192))]
    pub query: String,
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
    #[serde(default, rename = "return")]
    pub show: Show,
}

impl Operation for SearchFts {
    const INFO: Info = Info {
        name: "rag_search_fts",
        title: "Search documents by words",
        description: "Finds chunks of documents by their words (BM25): ids and scores, no texts. Then call rag_get_chunks.",
        route: Route { method: "POST", path: "/rag/search_fts" },
        example: r#"{"query":"title:returns \"thirty days\"","k":5,"filters":{"source_names":["handbook"]}}"#,
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.query.clone()
    }

    fn rows(reply: &Reply) -> usize {
        reply.results.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let query = checked("query", &self.query)?;
        let begin = Begin { cursor: self.cursor.as_deref(), offset: self.offset };
        checked_k(self.k, &begin)?;
        let (filter, min_score) = filters::read(job.pass, self.filters.as_ref())?;
        let asked = json!([query, self.filters, self.group_by]);
        let page = Page::of(on, job, Self::INFO.name, &asked, begin)?;
        let ask = Retrieval {
            words: Some(query),
            fusion: Fusion::Words,
            equal: REACH,
            ..hits::retrieval(filter, min_score, self.group_by)
        };
        hits::search(on, job, (ask, page, self.show), self.k).await
    }
}
