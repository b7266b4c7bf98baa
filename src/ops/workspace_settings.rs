//! The workspace's settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::workspace_settings::{Change, Seen, Settings as Current};
use crate::model::error::{Error, Result};
use crate::model::org::{Egress, Org};

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSettings {}

/// The settings as they are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Settings {
    pub workspace_id: Id<Org>,
    /// In addresses; never changes.
    pub slug: String,
    pub name: String,
    /// Whether AI clients and connectivity tokens are let in at all.
    pub connectivity_enabled: bool,
    /// Domains that the e-mail addresses of those who join must have; none means any.
    pub email_domains: Vec<String>,
    /// Which language models may be asked: `off` none, `restricted` only those that the operator has listed as local,
    /// `allowed` the configured one wherever it is. What is sent then: the question itself, and the names, descriptions
    /// and types of an ontology.
    pub llm_egress: Egress,
    /// Whether stored values may be sent too: those that an ontology has other names for, those in earlier plans of the
    /// conversation, and those in an answer that is put into better words.
    pub llm_send_values: bool,
    /// RFC 3339.
    pub created_at: String,
}

impl From<Current> for Settings {
    fn from(now: Current) -> Self {
        Self {
            workspace_id: now.org.id,
            slug: now.org.slug,
            name: now.org.name,
            connectivity_enabled: now.org.connectivity_enabled,
            email_domains: now.email_domains,
            llm_egress: now.language_models.egress,
            llm_send_values: now.language_models.send_values,
            created_at: rfc3339(now.org.created_at),
        }
    }
}

impl Operation for GetSettings {
    const INFO: Info = Info {
        name: "get_settings",
        title: "Get the settings",
        description: "Returns the workspace's name, its switch for AI clients, who may join, and what may be sent to \
                      language models.",
        read_only: true,
        recorded_as: Some("admin.workspace.show"),
        route: Route { method: "GET", path: "/settings" },
        ..Info::MANAGE
    };
    type Reply = Settings;

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Settings> {
        Ok(on.identity.settings(job.pass.org()).await?.into())
    }
}

/// Arguments of a change; what is absent stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct UpdateSettings {
    /// 1 to 100 characters.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub name: Option<String>,
    /// `false` shuts every AI client and connectivity token out at once.
    #[serde(default)]
    pub connectivity_enabled: Option<bool>,
    /// Replaces all domains; an empty list lets any address join.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub email_domains: Option<Vec<String>>,
    /// Which language models may be asked. Questions themselves leave with `allowed`, and with `restricted` go to the
    /// operator's own network.
    #[serde(default)]
    pub llm_egress: Option<Egress>,
    /// Whether stored values may be sent too.
    #[serde(default)]
    pub llm_send_values: Option<bool>,
    /// For pages: what they showed. What another admin has changed since is not written over.
    #[serde(skip)]
    pub seen: Option<Seen>,
}

impl UpdateSettings {
    /// Whether nothing is to change.
    pub fn is_empty(&self) -> bool {
        let Self { name, connectivity_enabled, email_domains, llm_egress, llm_send_values, seen: _ } = self;
        name.is_none()
            && connectivity_enabled.is_none()
            && email_domains.is_none()
            && llm_egress.is_none()
            && llm_send_values.is_none()
    }
}

impl Operation for UpdateSettings {
    const INFO: Info = Info {
        name: "update_settings",
        title: "Change the settings",
        description: "Changes the workspace's name, its switch for AI clients, who may join, or what may be sent to \
                      language models. It holds at once.",
        sensitive: true,
        recorded_as: Some("admin.workspace.update"),
        route: Route { method: "PATCH", path: "/settings" },
        example: r#"{"connectivity_enabled":true}"#,
        ..Info::MANAGE
    };
    type Reply = Settings;

    fn target(&self) -> String {
        let switch = self.connectivity_enabled.map(|on| format!("connectivity {}", if on { "on" } else { "off" }));
        let name = self.name.as_ref().map(|name| format!("name {name}"));
        let domains = self.email_domains.as_ref().map(|domains| format!("domains {}", domains.join(",")));
        let egress = self.llm_egress.map(|egress| format!("language models {}", egress.name()));
        let values = self.llm_send_values.map(|on| format!("values {}", if on { "sent" } else { "kept" }));
        [switch, name, domains, egress, values].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Settings> {
        if self.is_empty() {
            return Err(Error::invalid(
                "arguments",
                "Name what to change: name, connectivity_enabled, email_domains, llm_egress or llm_send_values.",
            ));
        }
        let change = Change {
            name: self.name,
            connectivity_enabled: self.connectivity_enabled,
            email_domains: self.email_domains,
            llm_egress: self.llm_egress,
            llm_send_values: self.llm_send_values,
            seen: self.seen,
        };
        Ok(on.identity.change_settings(job.pass.org(), job.pass.user(), change).await?.into())
    }
}
