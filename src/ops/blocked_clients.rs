//! Clients that the workspace keeps out. A client's id may be an address, so it travels in the body or the query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::clients::verified_host;
use crate::model::error::{Error, Result};

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListBlockedClients {}

/// A client that is kept out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BlockedClient {
    pub client_id: String,
    /// As the client named itself, when it registered here.
    pub client_name: String,
    /// Since when; RFC 3339.
    pub created_at: String,
}

/// By client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BlockedClients {
    pub blocked_clients: Vec<BlockedClient>,
}

impl Operation for ListBlockedClients {
    const INFO: Info = Info {
        name: "list_blocked_clients",
        title: "List blocked clients",
        description: "Lists the clients that may not be connected to the workspace.",
        read_only: true,
        recorded_as: Some("admin.client.list"),
        route: Route { method: "GET", path: "/blocked-clients" },
        ..Info::MANAGE
    };
    type Reply = BlockedClients;

    fn rows(reply: &BlockedClients) -> usize {
        reply.blocked_clients.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<BlockedClients> {
        let mut blocked_clients = Vec::new();
        for block in on.identity.blocked_clients(Some(job.pass.org())).await? {
            blocked_clients.push(BlockedClient {
                client_name: block.name.or_else(|| verified_host(&block.client_id)).unwrap_or_default(),
                client_id: block.client_id,
                created_at: rfc3339(block.created_at),
            });
        }
        Ok(BlockedClients { blocked_clients })
    }
}

/// Arguments of a block.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockClient {
    /// 1 to 512 printable characters without spaces.
    #[schemars(length(min = 1, max = 512), regex(pattern = "^[!-~]+$"))]
    pub client_id: String,
}

impl Operation for BlockClient {
    const INFO: Info = Info {
        name: "block_client",
        title: "Block a client",
        description: "Keeps a client out of the workspace at once, with every connection that it has there.",
        recorded_as: Some("admin.client.block"),
        route: Route { method: "POST", path: "/blocked-clients" },
        example: r#"{"client_id":"dgc_example"}"#,
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.client_id.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.identity.block_client(Some(job.pass.org()), &self.client_id).await?;
        Ok(Done::OK)
    }
}

/// Arguments of letting one in again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnblockClient {
    pub client_id: String,
}

impl Operation for UnblockClient {
    const INFO: Info = Info {
        name: "unblock_client",
        title: "Let a client in again",
        description: "Lets a blocked client in again, with the connections that it had.",
        sensitive: true,
        recorded_as: Some("admin.client.unblock"),
        route: Route { method: "DELETE", path: "/blocked-clients" },
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.client_id.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        let found = on.identity.unblock_client(Some(job.pass.org()), &self.client_id).await?;
        if found { Ok(Done::OK) } else { Err(Error::not_found("blocked client")) }
    }
}
