//! `connectivity_test`: goes the way of a client, from here, through the service's own public address and no other. What
//! does not work says what mends it. For the parts behind the door a token is made that lives for a minute and is
//! forgotten when the test ends.
//!
//! It cannot see what only the outside sees: a firewall that lets this machine in and others not, or a network in which
//! the service cannot reach its own public address although everybody else does. The checkpoints can.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::guide::Guide;
use super::place::Place;
use super::probe::Probe;
use super::report::Report;
use crate::base::clock::Millis;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::connectivity::TokenInfo;
use crate::model::access::{ExtScope, Rights};
use crate::model::error::{Error, Result};
use crate::model::org::Org;

/// How long the token of the test lives.
const MINUTE: Millis = 60_000;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestConnectivity {
    /// As which client to go (see `connectivity_generate_setup`): one that asks from its maker's cloud needs more of the
    /// address.
    pub platform: String,
    /// The eight public characters of a token, which is looked at; what it may, the test may.
    #[serde(default)]
    pub token_id: Option<String>,
}

impl Operation for TestConnectivity {
    const INFO: Info = Info {
        name: "connectivity_test",
        title: "Test the connection",
        description: "Goes the way of a client through the service's public address: name and certificate, discovery, \
                      sign-in, registration, token, tools, a sample query; says of each whether it works, how long it took \
                      and what mends it. Reads no rows.",
        recorded_as: Some("admin.connectivity.test"),
        route: Route { method: "POST", path: "/connectivity/test" },
        time: |_| Duration::from_secs(45),
        example: r#"{"platform":"claude"}"#,
        ..Info::MANAGE
    };
    type Reply = Report;

    fn target(&self) -> String {
        [Some(&self.platform), self.token_id.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Report> {
        let guide = super::named(&self.platform)?;
        let org = on.identity.org(job.pass.org()).await?;
        let org = org.ok_or_else(|| Error::internal("a workspace went while it was asked"))?;
        let place = Place::new(&on.config, Some(&org.slug), None);
        let mut probe = Probe::new(&on.config, place, guide.from_cloud, user_agent(guide));
        if !probe.address().await {
            return Ok(probe.report());
        }
        probe.discovery().await;
        probe.sign_in().await;
        let scopes = probe.token(self.token_id.as_deref(), token(on, &org, self.token_id.as_deref()).await?);
        if !probe.switch(org.connectivity_enabled) {
            return Ok(probe.report());
        }
        // Nobody makes what may do more than they may.
        let scopes: Vec<ExtScope> =
            scopes.into_iter().filter(|scope| job.pass.rights().covers(Rights::of_ext_scopes(&[*scope]))).collect();
        let ends = on.identity.clock().now() + MINUTE;
        let made = on.identity.create_token_by(org.id, job.pass.user(), "Connection test", &scopes, Some(ends)).await;
        match made {
            Ok((made, secret)) => {
                probe.behind_the_door(&secret, &scopes).await;
                on.identity.forget_token(org.id, &made.id).await?;
            }
            Err(error) => probe.no_token(&error),
        }
        Ok(probe.report())
    }
}

/// The token that was named, with whether it is in force.
async fn token(on: &Parts, org: &Org, id: Option<&str>) -> Result<Option<(TokenInfo, bool)>> {
    let Some(id) = id else { return Ok(None) };
    let now = on.identity.clock().now();
    let found = on.identity.tokens(org.id).await?.into_iter().find(|token| token.id == id);
    Ok(found.map(|token| {
        let in_force = token.revoked_at.is_none() && token.expires_at.is_none_or(|at| at > now);
        (token, in_force)
    }))
}

/// What the clouds say they are: some services before a server turn them away by that.
fn user_agent(guide: &Guide) -> &'static str {
    match guide.id {
        "claude" => "Claude-User",
        "chatgpt" => "openai-mcp/1.0.0",
        "custom-gpt" => "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0",
        _ => "dragoman-connection-test",
    }
}
