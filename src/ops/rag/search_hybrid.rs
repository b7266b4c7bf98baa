//! `rag_search_hybrid`: chunks by words and meaning together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::filters::{self, Filters};
use super::hits::{self, GroupBy, Reply, Show};
use super::{Begin, Page, Stats, TOOL, checked, checked_k, ten};
use crate::engine::job::Job;
use crate::engine::search::retrieve::{Fusion, Meaning, REACH, Retrieval, Weights};
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Want;
use crate::model::error::{Error, Result};

/// Candidates of a leg and dataset, where the caller does not say.
const CANDIDATES: usize = 100;

/// Arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchHybrid {
    /// Words, or a question; "words in a row"; title:, heading: or file: before a word asks for it there.
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
    #[serde(default)]
    pub mode: Mode,
    /// For the mode fuse.
    #[serde(default)]
    pub fuse: Option<Fuse>,
    /// For the mode fts_then_vec.
    #[serde(default)]
    pub fts_then_vec: Option<Rerank>,
    #[serde(default, rename = "return")]
    pub show: Show,
}

/// How both legs are brought together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Both find candidates, which are ordered by both.
    #[default]
    Fuse,
    /// Words find candidates, which are ordered by meaning.
    FtsThenVec,
}

/// How the two orders become one.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fuse {
    /// Candidates by words and by meaning, of each dataset; 100 otherwise.
    #[schemars(range(min = 1, max = 500))]
    pub fts_k: Option<u32>,
    #[schemars(range(min = 1, max = 500))]
    pub vec_k: Option<u32>,
    /// Fuses by reciprocal ranks with this constant, such as 60; by scores otherwise.
    #[schemars(range(min = 0, max = 10000))]
    pub rrf_k0: Option<f64>,
    /// Weights of both; as tuned for the encoder otherwise.
    #[schemars(range(min = 0, max = 1000))]
    pub w_fts: Option<f64>,
    #[schemars(range(min = 0, max = 1000))]
    pub w_vec: Option<f64>,
}

/// How candidates are ordered anew.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rerank {
    /// Candidates by words, of each dataset; 200 otherwise.
    #[schemars(range(min = 1, max = 500))]
    pub candidates_k: Option<u32>,
    /// The most results of all pages; 50 otherwise.
    #[schemars(range(min = 1, max = 500))]
    pub rerank_k: Option<u32>,
    pub vec_metric: Option<Metric>,
}

/// How near two meanings are.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    Cosine,
}

impl Operation for SearchHybrid {
    const INFO: Info = Info {
        name: "rag_search_hybrid",
        title: "Search documents by words and meaning",
        description: "Finds chunks of documents by words and meaning together; the usual first choice. Ids and scores, no \
                      texts. Then call rag_get_chunks.",
        route: Route { method: "POST", path: "/rag/search_hybrid" },
        example: r#"{"query":"how long may goods be sent back","k":5,"fuse":{"w_fts":0.4,"w_vec":0.6}}"#,
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
        let asked = json!([query, self.filters, self.group_by, self.mode, self.fuse, self.fts_then_vec]);
        let page = Page::of(on, job, Self::INFO.name, &asked, begin)?;
        let (fusion, equal, near, most) = match (self.mode, &self.fuse, &self.fts_then_vec) {
            (Mode::Fuse, fuse, None) => fuse.clone().unwrap_or_default().read()?,
            (Mode::FtsThenVec, None, rerank) => rerank.clone().unwrap_or_default().read()?,
            (Mode::Fuse, _, Some(_)) => {
                return Err(Error::invalid("fts_then_vec", "fts_then_vec is for \"mode\": \"fts_then_vec\"."));
            }
            (Mode::FtsThenVec, Some(_), _) => return Err(Error::invalid("fuse", "fuse is for \"mode\": \"fuse\".")),
        };
        let ask = Retrieval {
            words: Some(query.clone()),
            meaning: Some(Meaning::Text(query)),
            fusion,
            equal,
            near,
            ..hits::retrieval(filter, min_score, self.group_by)
        };
        let left = most.saturating_sub(page.offset);
        let k = self.k.min(u32::try_from(left).unwrap_or(u32::MAX));
        let mut reply = hits::search(on, job, (ask, page, self.show), k).await?;
        if left <= reply.results.len() {
            reply.next_cursor = None;
        }
        let mode = match self.mode {
            Mode::Fuse => "fuse",
            Mode::FtsThenVec => "fts_then_vec",
        };
        reply.stats = Stats { mode: Some(mode), k_requested: Some(self.k), ..reply.stats };
        Ok(reply)
    }
}

/// How they are fused, candidates by words and by meaning, and the most results.
type Read = (Fusion, usize, usize, usize);

impl Fuse {
    fn read(self) -> Result<Read> {
        let words = candidates("fuse.fts_k", self.fts_k, CANDIDATES)?;
        let meaning = candidates("fuse.vec_k", self.vec_k, CANDIDATES)?;
        let (w_fts, w_vec) = (number("fuse.w_fts", self.w_fts, 1_000.0)?, number("fuse.w_vec", self.w_vec, 1_000.0)?);
        let weights = Weights { words: w_fts.unwrap_or(1.0), meaning: w_vec.unwrap_or(1.0) };
        if weights.words + weights.meaning <= 0.0 {
            return Err(Error::invalid("fuse.w_fts", "One of fuse.w_fts and fuse.w_vec is more than 0."));
        }
        let fusion = match number("fuse.rrf_k0", self.rrf_k0, 10_000.0)? {
            Some(k0) => Fusion::Ranks { k0, weights, words, meaning },
            None => Fusion::Scores((w_fts.is_some() || w_vec.is_some()).then_some(weights)),
        };
        Ok((fusion, words, meaning, REACH))
    }
}

impl Rerank {
    fn read(self) -> Result<Read> {
        // There is one metric.
        let Self { candidates_k, rerank_k, vec_metric: _ } = self;
        let words = candidates("fts_then_vec.candidates_k", candidates_k, CANDIDATES * 2)?;
        let most = candidates("fts_then_vec.rerank_k", rerank_k, CANDIDATES / 2)?;
        Ok((Fusion::Meaning, words, 0, most))
    }
}

fn candidates(field: &str, given: Option<u32>, otherwise: usize) -> Result<usize> {
    let number = given.map_or(otherwise, |given| given as usize);
    match (1..=REACH).contains(&number) {
        true => Ok(number),
        false => Err(Error::invalid(field, format!("{field} is a number from 1 to {REACH}."))),
    }
}

fn number(field: &str, given: Option<f64>, most: f64) -> Result<Option<f64>> {
    match given {
        Some(number) if !(0.0..=most).contains(&number) => {
            Err(Error::invalid(field, format!("{field} is a number from 0 to {most}.")))
        }
        given => Ok(given),
    }
}
