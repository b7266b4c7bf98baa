//! `connectivity_status`: how the connection of the workspace to AI clients stands.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::{Millis, rfc3339};
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::gateway::record::Wanted;
use crate::model::audit::Entry;
use crate::model::error::{Error, Result};
use crate::ops::tokens::{Token, token};

const DAY: Millis = 24 * 60 * 60 * 1000;
/// Calls that are counted, the newest.
const COUNTED: usize = 5_000;
/// Calls that are named.
const RECENT: usize = 5;
/// Connected clients that are counted.
const CLIENTS: usize = 1_000;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectivityStatus {}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status {
    /// Whether AI clients and tokens are let in.
    pub connectivity_enabled: bool,
    /// The service's public address.
    pub address: String,
    /// Where MCP clients connect.
    pub mcp_address: String,
    /// Where programs ask over REST.
    pub rest_address: String,
    pub version: &'static str,
    /// Tokens in force, without their secrets.
    pub tokens: Vec<Token>,
    /// Clients that people have approved and that still stand, at most 1,000.
    pub connected_clients: usize,
    pub last_24_hours: Usage,
    /// The last five calls from outside: what was asked, not with which words, and no rows.
    pub recent: Vec<Recent>,
}

/// Calls from outside, over MCP and REST.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Usage {
    pub calls: usize,
    /// Of these, refused or failed.
    pub errors: usize,
    /// Whether there were more than are counted here.
    pub more: bool,
    pub median_duration_ms: i64,
    pub by_operation: BTreeMap<String, usize>,
    /// By the code of the error.
    pub by_error: BTreeMap<String, usize>,
}

/// One call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recent {
    /// RFC 3339.
    pub at: String,
    pub operation: String,
    pub client: String,
    /// `ok`, or an error's code.
    pub outcome: String,
    pub duration_ms: i64,
}

impl Operation for ConnectivityStatus {
    const INFO: Info = Info {
        name: "connectivity_status",
        title: "How AI clients stand",
        description: "Says whether AI clients are let in, where they connect, which tokens and clients there are, how much \
                      they asked in the last 24 hours with which errors, and the last five calls.",
        read_only: true,
        recorded_as: Some("admin.connectivity.status"),
        route: Route { method: "GET", path: "/connectivity" },
        ..Info::MANAGE
    };
    type Reply = Status;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Status> {
        let org = on.identity.org(job.pass.org()).await?;
        let org = org.ok_or_else(|| Error::internal("a workspace went while it was asked"))?;
        let now = on.identity.clock().now();
        let tokens = on.identity.tokens(org.id).await?.into_iter().map(|info| token(info, now));
        let wanted = Wanted { since: Some(now - DAY), ..Wanted::default() };
        let found = on.record.find(org.id, &wanted, None, COUNTED).await?;
        let calls: Vec<Entry> = found.entries.into_iter().map(|(_, entry)| entry).filter(is_from_outside).collect();
        Ok(Status {
            connectivity_enabled: org.connectivity_enabled,
            address: on.config.issuer(),
            mcp_address: on.config.url(&format!("/t/{}/mcp", org.slug)),
            rest_address: on.config.url("/api/v1/ext"),
            version: env!("CARGO_PKG_VERSION"),
            tokens: tokens.filter(|token| token.state == "active").collect(),
            connected_clients: on.identity.connected(org.id, 0, CLIENTS).await?.len(),
            last_24_hours: usage(&calls, found.next.is_some()),
            recent: calls.iter().take(RECENT).map(recent).collect(),
        })
    }
}

/// A call of a program's; what people do in the console is none.
fn is_from_outside(entry: &Entry) -> bool {
    ["mcp.tool.call", "mcp.resource.read", "mcp.prompt.get", "rest.call"].contains(&entry.action.as_str())
}

/// What was asked: the first word of the target; what follows may be a query.
fn operation(entry: &Entry) -> &str {
    entry.target.split(' ').next().unwrap_or_default()
}

fn usage(calls: &[Entry], more: bool) -> Usage {
    let mut usage = Usage { calls: calls.len(), more, ..Usage::default() };
    for call in calls {
        *usage.by_operation.entry(operation(call).to_owned()).or_default() += 1;
        if call.outcome != "ok" {
            usage.errors += 1;
            *usage.by_error.entry(call.outcome.clone()).or_default() += 1;
        }
    }
    let mut durations: Vec<i64> = calls.iter().map(|call| call.duration_ms).collect();
    durations.sort_unstable();
    usage.median_duration_ms = durations.get(durations.len() / 2).copied().unwrap_or(0);
    usage
}

fn recent(call: &Entry) -> Recent {
    Recent {
        at: rfc3339(call.at),
        operation: operation(call).to_owned(),
        client: call.client.clone(),
        outcome: call.outcome.clone(),
        duration_ms: call.duration_ms,
    }
}
