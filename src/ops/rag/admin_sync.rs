//! `rag_admin_sync`: datasets of documents are brought up to what they are kept from.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Stats, TOOL};
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::{Action, Want};
use crate::model::error::Result;
use crate::model::sync::{DocumentSync, State};
use crate::ops::document_syncs::is_seen;

/// Arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminSync {
    /// Datasets of documents that are kept from tables, web sites, folders or buckets; an empty list means all of them.
    #[schemars(length(max = 100))]
    pub source_names: Vec<String>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Asked {
    pub source_name: String,
    /// The same as before where a run was wanted or under way.
    pub job_id: String,
    pub state: State,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Whether there is anything to do.
    pub accepted: bool,
    /// Of the runs that this call began; absent when it began none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    pub sources: Vec<Asked>,
    pub stats: Stats,
}

impl Operation for AdminSync {
    const INFO: Info = Info {
        name: "rag_admin_sync",
        title: "Bring documents up to date",
        description: "Starts taking over what changed in the tables, web sites, folders and buckets that datasets of documents \
                      are kept from. Returns at once; rag_admin_stats tells how far it is and what it changed.",
        action: Action::WriteDatasets,
        read_only: false,
        route: Route { method: "POST", path: "/rag/admin_sync" },
        example: r#"{"source_names":["stack_posts"]}"#,
        ..TOOL
    };
    type Reply = Reply;
    const WANT: Want = Want::All;

    fn target(&self) -> String {
        self.source_names.join(" ")
    }

    fn rows(reply: &Reply) -> usize {
        reply.sources.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Reply> {
        let began = Instant::now();
        let seen = |sync: &DocumentSync| is_seen(job, sync);
        let (asked, job_id) = on.engines.syncs.request(job.pass.org(), &self.source_names, seen).await?;
        let is_new = asked.iter().any(|sync| sync.run.job_id == job_id);
        let sources = asked.into_iter().map(|sync| Asked {
            source_name: sync.name,
            job_id: sync.run.job_id,
            state: sync.run.state,
        });
        let sources: Vec<Asked> = sources.collect();
        Ok(Reply {
            accepted: !sources.is_empty(),
            job_id: is_new.then_some(job_id),
            sources,
            stats: Stats::since(began),
        })
    }
}
