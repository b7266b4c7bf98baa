//! `connectivity_enable` and `connectivity_disable`: the switch of the workspace, as two things to ask for. The settings
//! show and change the same switch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::workspace_settings::Change;
use crate::model::error::{Error, Result};

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enable {}

/// How it stands now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Switched {
    pub connectivity_enabled: bool,
    /// The address for MCP clients.
    pub mcp_address: String,
    /// What to do next.
    pub next: &'static str,
}

async fn switch(on: &Parts, job: &Job<'_>, enabled: bool) -> Result<Switched> {
    let change = Change { connectivity_enabled: Some(enabled), ..Change::default() };
    let now = on.identity.change_settings(job.pass.org(), job.pass.user(), change).await?;
    Ok(Switched {
        connectivity_enabled: now.org.connectivity_enabled,
        mcp_address: on.config.url(&format!("/t/{}/mcp", now.org.slug)),
        next: match enabled {
            true => "Publish the datasets that clients may see, then ask connectivity_generate_setup for one client.",
            false => {
                "Every AI client and connectivity token is shut out. Tokens are kept: connectivity_enable lets them in \
                 again."
            }
        },
    })
}

impl Operation for Enable {
    const INFO: Info = Info {
        name: "connectivity_enable",
        title: "Turn AI clients on",
        description: "Lets AI clients and connectivity tokens into the workspace. They see published datasets alone.",
        sensitive: true,
        recorded_as: Some("admin.connectivity"),
        route: Route { method: "POST", path: "/connectivity/enable" },
        ..Info::MANAGE
    };
    type Reply = Switched;

    fn target(&self) -> String {
        "on".to_owned()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Switched> {
        switch(on, job, true).await
    }
}

/// Arguments of the end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disable {
    /// The workspace's name or short name, to be sure that it is the one that is meant: another one is refused.
    #[schemars(length(max = 100))]
    pub name: String,
}

impl Operation for Disable {
    const INFO: Info = Info {
        name: "connectivity_disable",
        title: "Turn AI clients off",
        description: "Shuts every AI client and connectivity token out of the workspace at once. Tokens and approvals are \
                      kept for when it is turned on again.",
        sensitive: true,
        recorded_as: Some("admin.connectivity"),
        route: Route { method: "POST", path: "/connectivity/disable" },
        example: r#"{"name":"Acme Ltd"}"#,
        ..Info::MANAGE
    };
    type Reply = Switched;

    fn target(&self) -> String {
        "off".to_owned()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Switched> {
        let now = on.identity.settings(job.pass.org()).await?.org;
        if self.name != now.name && self.name != now.slug {
            let message = "The name is not that of the workspace that you are in: give its name, or its short name.";
            return Err(Error::invalid("name", message));
        }
        switch(on, job, false).await
    }
}
