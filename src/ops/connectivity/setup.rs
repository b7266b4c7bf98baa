//! `connectivity_generate_setup`: the guide of one client, for one workspace.

use schemars::JsonSchema;
use serde::Deserialize;

use super::guide::Setup;
use super::guides::GUIDES;
use super::place::Place;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::connectivity::is_public_id;
use crate::model::access::Action;
use crate::model::error::{Error, Result};

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerateSetup {
    /// Which client: `claude`, `cursor`, `vscode`, `prompt`, …
    #[schemars(schema_with = "platforms")]
    pub platform: String,
    /// The eight public characters of the token that the client is to use; they stand in the placeholder then. The secret
    /// is in no guide.
    #[serde(default)]
    pub token_id: Option<String>,
}

fn platforms(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names: Vec<&str> = GUIDES.iter().flat_map(|guide| guide.also.iter().copied().chain([guide.id])).collect();
    schemars::json_schema!({ "type": "string", "examples": names })
}

impl Operation for GenerateSetup {
    const INFO: Info = Info {
        name: "connectivity_generate_setup",
        title: "How to connect a client",
        description: "Says step by step how one AI client is connected to this workspace: what to click, which \
                      configuration to paste where, what is seen at each step, and what mends what goes wrong. A token is \
                      only ever a placeholder in it.",
        action: Action::ListDatasets,
        read_only: true,
        recorded_as: Some("admin.connectivity.setup"),
        route: Route { method: "GET", path: "/connectivity/setup" },
        example: r#"{"platform":"cursor"}"#,
        ..Info::MANAGE
    };
    type Reply = Setup;

    fn target(&self) -> String {
        self.platform.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Setup> {
        super::person(job)?;
        let guide = super::named(&self.platform)?;
        if self.token_id.as_deref().is_some_and(|id| !is_public_id(id)) {
            let message = "token_id is the eight letters and digits after dgmcp_, never the secret.";
            return Err(Error::invalid("token_id", message));
        }
        let org = on.identity.org(job.pass.org()).await?;
        let org = org.ok_or_else(|| Error::internal("a workspace went while it was asked"))?;
        Ok(guide.filled(&Place::new(&on.config, Some(&org.slug), self.token_id.as_deref())))
    }
}
