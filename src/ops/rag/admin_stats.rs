//! `rag_admin_stats`: what is searched, in numbers.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Stats, TOOL};
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::Result;
use crate::ops::document_syncs::{RunShown, is_told};

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminStats {}

/// A dataset of documents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Source {
    pub source_id: Id<Dataset>,
    pub source_name: String,
    pub docs: i64,
    pub chunks: i64,
    /// On disk.
    pub bytes: i64,
    /// When its documents were last imported, or brought up to what they are kept from. RFC 3339.
    pub last_sync: String,
    /// Of documents that are kept from something else: the last run, or the one that is wanted or under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<RunShown>,
    /// Present while its index is made anew, because its vectors are of another encoder, or it is damaged or cut otherwise.
    /// Until then the old one answers where it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reembedding: Option<Reembedding>,
}

/// How far a dataset's index is made anew.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reembedding {
    /// Chunks that are done.
    pub done: u64,
    /// All chunks; 0 until its turn comes.
    pub of: u64,
}

/// What makes the vectors.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Encoder {
    /// For `embedding` of rag_search_vector.
    pub model: String,
    pub dim: usize,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// By name.
    pub sources: Vec<Source>,
    pub encoder: Encoder,
    /// Whether there are more sources than a reply shows.
    pub truncated: bool,
    pub stats: Stats,
}

impl Operation for AdminStats {
    const INFO: Info = Info {
        name: "rag_admin_stats",
        title: "Count documents",
        description: "Tells how many documents and chunks each dataset of documents has, when they came, and which encoder \
                      their vectors are of.",
        action: Action::ListDatasets,
        route: Route { method: "GET", path: "/rag/admin_stats" },
        example: "{}",
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn rows(reply: &Reply) -> usize {
        reply.sources.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let began = Instant::now();
        let counts = on.engines.catalog.counts(job).await?;
        let documents = job.pass.datasets().iter().filter(|dataset| dataset.kind == Kind::Documents);
        let syncs = on.engines.syncs.list(job.pass.org()).await?;
        let may_mend = job.pass.rights().allow(Action::WriteDatasets);
        let sync_of = |dataset: &Dataset| {
            let sync = syncs.iter().find(|sync| sync.name == dataset.name)?;
            let mut run = sync.run.clone();
            if !(may_mend && is_told(job, sync)) {
                // It may name what the caller does not see.
                run.message.clear();
            }
            Some((sync.synced_at, RunShown::from(run)))
        };
        let source = |dataset: &Dataset| Source {
            source_id: dataset.id,
            source_name: dataset.name.clone(),
            docs: counts.get(&dataset.id).copied().unwrap_or(0),
            chunks: dataset.row_count,
            bytes: dataset.bytes,
            last_sync: rfc3339(sync_of(dataset).and_then(|(synced_at, _)| synced_at).unwrap_or(dataset.updated_at)),
            sync: sync_of(dataset).map(|(_, run)| run),
            reembedding: on
                .engines
                .search
                .renewal(dataset.id)
                .map(|renewal| Reembedding { done: renewal.done, of: renewal.of }),
        };
        let mut sources: Vec<Source> = documents.map(source).collect();
        let room = super::fitting(job, &sources)?;
        let truncated = room < sources.len();
        sources.truncate(room);
        // One that cannot be reached has no facts.
        let (model, dim) = on.engines.search.encoder(job.pass.org()).await.unwrap_or_default();
        Ok(Reply { sources, encoder: Encoder { model, dim }, truncated, stats: Stats::since(began) })
    }
}
