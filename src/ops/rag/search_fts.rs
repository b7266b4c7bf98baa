//! `rag_search_fts`: chunks by their words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::filters::{self, Filters};
use super::hits::{self, GroupBy, Reply, Show};
use super::{Begin, Page, checked, checked_k, ten};
use crate::engine::job::Job;
use crate::engine::search::retrieve::{Fusion, REACH, Retrieval};
use crate::gateway::operation::{Cost, Info, Operation, Parts, Route, Surface, Toolset};
use crate::model::access::{Action, Want};
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
        action: Action::Search,
        cost: Cost::Read,
        read_only: true,
        sensitive: false,
        recorded_as: None,
        surface: Surface::Tool,
        toolsets: &[Toolset::Rag],
        view: None,
        route: Route { method: "POST", path: "/rag/search_fts" },
        time: crate::ops::quick,
        example: r#"{"query":"title:returns \"thirty days\"","k":5,"filters":{"source_names":["handbook"]}}"#,
    };
    type Reply = Reply;

    fn want(&self) -> Want {
        Want::All
    }

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
            meaning: None,
            fusion: Fusion::Words,
            equal: REACH,
            near: 0,
            filter,
            min_score,
            of_a_document: self.group_by.map(|GroupBy::Document| 1),
            offset: 0,
            limit: 0,
            snippets: false,
        };
        hits::search(on, job, (ask, page, self.show), self.k).await
    }
}
