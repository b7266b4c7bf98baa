//! Clients that people have connected to the workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::connected::ConnectedRow;
use crate::model::error::{Error, Result};
use crate::model::user::User;

/// Grants on one page.
const PAGE: usize = 100;

/// Arguments of the list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListGrants {
    /// `next_cursor` of the page before; absent for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// One approval by one person for one client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Grant {
    pub grant_id: Id<ConnectedRow>,
    pub client_id: String,
    /// As the client named itself; unverified unless `client_id` is an https address of the same host.
    pub client_name: String,
    pub user_id: Id<User>,
    pub email: String,
    pub scopes: Vec<String>,
    /// RFC 3339.
    pub created_at: String,
    /// When the client last fetched tokens; RFC 3339.
    pub last_used_at: String,
    /// RFC 3339.
    pub ends_at: String,
}

/// Grants in force, the last used first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Grants {
    pub grants: Vec<Grant>,
    /// Present when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for ListGrants {
    const INFO: Info = Info {
        name: "list_grants",
        title: "List connected clients",
        description: "Lists the clients that people of the workspace have approved, with their scopes and last use.",
        read_only: true,
        recorded_as: Some("admin.grant.list"),
        route: Route { method: "GET", path: "/grants" },
        ..Info::MANAGE
    };
    type Reply = Grants;

    fn rows(reply: &Grants) -> usize {
        reply.grants.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Grants> {
        let org = job.pass.org();
        let scope = format!("{org}:grants");
        let skip = super::position(on, &scope, self.cursor.as_deref())?;
        let skip = skip.and_then(|skip| skip.parse::<usize>().ok()).unwrap_or(0);
        let mut rows = on.identity.connected(org, skip, PAGE + 1).await?;
        let more = rows.len() > PAGE;
        rows.truncate(PAGE);
        let next_cursor = more.then(|| on.cursors.make(&scope, &(skip + PAGE).to_string()));
        Ok(Grants { grants: rows.into_iter().map(grant).collect::<Result<_>>()?, next_cursor })
    }
}

fn grant(row: ConnectedRow) -> Result<Grant> {
    Ok(Grant {
        grant_id: row.id.parse().map_err(Error::internal)?,
        client_id: row.client_id,
        client_name: row.client_name.unwrap_or_default(),
        user_id: row.user,
        email: row.email,
        scopes: row.scopes.split(' ').map(str::to_owned).collect(),
        created_at: rfc3339(row.created_at),
        last_used_at: rfc3339(row.last_used_at),
        ends_at: rfc3339(row.ends_at),
    })
}

/// Arguments of an end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeGrant {
    pub grant_id: Id<ConnectedRow>,
}

impl Operation for RevokeGrant {
    const INFO: Info = Info {
        name: "revoke_grant",
        title: "Disconnect a client",
        description: "Ends one person's connection of one client at once, with every token issued under it.",
        recorded_as: Some("admin.grant.revoke"),
        route: Route { method: "DELETE", path: "/grants/{grant_id}" },
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.grant_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        let found = on.identity.disconnect(job.pass.org(), &self.grant_id.to_string()).await?;
        if found { Ok(Done::OK) } else { Err(Error::not_found("connected client")) }
    }
}
