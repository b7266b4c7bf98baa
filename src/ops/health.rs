//! `GET /api/v1/ext/health`: whether this credential can use the external tier now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route, Surface};
use crate::model::access::Action;
use crate::model::error::Result;

/// The version of this interface.
pub const VERSION: &str = "1.0";

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Health {}

/// The reply; nothing about data or the installation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reply {
    /// Always `ok`.
    pub status: &'static str,
    /// Without a credential, whether any workspace lets clients in. With one always true: a workspace that is closed to
    /// clients answers `service_unavailable` with this flag in its details.
    pub connectivity_enabled: bool,
    /// The version of this interface.
    pub version: &'static str,
}

impl Operation for Health {
    const INFO: Info = Info {
        name: "dragoman_health",
        title: "Check the connection",
        description: "Says whether the service answers and lets clients into any workspace; with a credential, whether it \
                      can use the external tier now.",
        action: Action::ListDatasets,
        surface: Surface::Resource,
        route: Route { method: "GET", path: "/health" },
        ..Info::READ
    };
    type Reply = Reply;

    async fn run(self, _on: &Parts, _job: &Job<'_>) -> Result<Reply> {
        Ok(Reply { status: "ok", connectivity_enabled: true, version: VERSION })
    }
}
