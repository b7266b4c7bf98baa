//! Connectivity tokens of the workspace.

use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::{Millis, rfc3339};
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::connectivity::{MAX_OVERLAP, TokenInfo};
use crate::model::access::{ExtScope, Rights};
use crate::model::error::{Error, Result};

const DAY: Millis = 24 * 60 * 60 * 1000;
/// Tokens in a list; those in force come before older ones that have ended.
const MOST: usize = 200;
/// Days that a token with an end may last: a century, so that its end is a date that everybody can write.
const MOST_DAYS: u32 = 36_500;

/// Minutes that a rotated token may be good for: a week.
const MOST_MINUTES: u64 = MAX_OVERLAP.as_secs() / 60;

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {}

/// A token, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Token {
    /// The eight public characters.
    pub token_id: String,
    pub label: String,
    pub scopes: Vec<&'static str>,
    /// The last four characters of the secret.
    pub last_four: String,
    /// `active`, `expired` or `revoked`.
    pub state: &'static str,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339; absent for one that has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// RFC 3339; absent for one that was never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    pub use_count: i64,
    /// The token that was made in its place; absent for one that was not rotated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

pub(super) fn token(info: TokenInfo, now: Millis) -> Token {
    Token {
        state: match (info.revoked_at, info.expires_at) {
            (Some(_), _) => "revoked",
            (None, Some(at)) if at <= now => "expired",
            _ => "active",
        },
        token_id: info.id,
        label: info.label,
        scopes: info.scopes.into_iter().map(ExtScope::name).collect(),
        last_four: info.last_four,
        created_at: rfc3339(info.created_at),
        expires_at: info.expires_at.map(rfc3339),
        last_used_at: info.last_used_at.map(rfc3339),
        use_count: info.use_count,
        replaced_by: info.replaced_by,
    }
}

/// Tokens in force first, then ended ones; each newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tokens {
    pub tokens: Vec<Token>,
}

impl Operation for ListTokens {
    const INFO: Info = Info {
        name: "list_tokens",
        title: "List connectivity tokens",
        description: "Lists the workspace's connectivity tokens with their scopes and use; never their secrets.",
        read_only: true,
        recorded_as: Some("admin.token.list"),
        route: Route { method: "GET", path: "/tokens" },
        ..Info::MANAGE
    };
    type Reply = Tokens;

    fn rows(reply: &Tokens) -> usize {
        reply.tokens.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Tokens> {
        let now = on.identity.clock().now();
        let all = on.identity.tokens(job.pass.org()).await?.into_iter().map(|info| token(info, now));
        let (active, ended): (Vec<_>, Vec<_>) = all.partition(|token| token.state == "active");
        Ok(Tokens { tokens: active.into_iter().chain(ended).take(MOST).collect() })
    }
}

/// Arguments of a new token.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// What it is for; 1 to 80 characters.
    #[schemars(length(min = 1, max = 80))]
    pub label: String,
    /// `ext:datasets`, `ext:schema`, `ext:search`, `ext:sql`.
    #[schemars(schema_with = "scopes")]
    pub scopes: Vec<String>,
    /// Days until it ends; never when absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_DAYS))]
    pub expires_in_days: Option<u32>,
}

fn scopes(_: &mut SchemaGenerator) -> Schema {
    let names = ExtScope::ALL.map(ExtScope::name);
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": names } })
}

/// The token with its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Created {
    pub token: Token,
    /// Shown this once.
    pub secret: String,
}

impl Operation for CreateToken {
    const INFO: Info = Info {
        name: "connectivity_create_token",
        title: "Create a connectivity token",
        description: "Makes a long-lived token for a program without a browser. It reads data and never administers; \
                      its secret is in this answer only.",
        sensitive: true,
        recorded_as: Some("admin.token.create"),
        route: Route { method: "POST", path: "/tokens" },
        example: r#"{"label":"nightly report","scopes":["ext:datasets","ext:sql"],"expires_in_days":90}"#,
        ..Info::MANAGE
    };
    type Reply = Created;

    fn target(&self) -> String {
        format!("{} {}", self.label, self.scopes.join(","))
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Created> {
        let scopes = self.scopes.iter().map(|name| ExtScope::parse(name)).collect::<Option<Vec<_>>>();
        let scopes = scopes.ok_or_else(|| {
            let names: Vec<_> = ExtScope::ALL.into_iter().map(ExtScope::name).collect();
            Error::invalid("scopes", format!("Expected one or more of {}.", names.join(", ")))
        })?;
        if !job.pass.rights().covers(Rights::of_ext_scopes(&scopes)) {
            return Err(beyond_own_rights());
        }
        if self.expires_in_days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
            let message = format!("Give 1 to {MOST_DAYS} days, or none for a token without an end.");
            return Err(Error::invalid("expires_in_days", message));
        }
        let now = on.identity.clock().now();
        let expires_at = self.expires_in_days.map(|days| now.saturating_add(Millis::from(days) * DAY));
        let (info, secret) =
            on.identity.create_token_by(job.pass.org(), job.pass.user(), &self.label, &scopes, expires_at).await?;
        Ok(Created { token: token(info, now), secret: secret.expose().to_owned() })
    }
}

/// Arguments of a rotation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateToken {
    /// The eight public characters.
    pub token_id: String,
    /// Minutes that the old token is good for beside the new one; 0 ends it at once.
    #[schemars(range(max = MOST_MINUTES))]
    pub overlap_minutes: u32,
}

impl Operation for RotateToken {
    const INFO: Info = Info {
        name: "connectivity_rotate_token",
        title: "Rotate a connectivity token",
        description: "Makes a new token in the place of one in force, with its label, scopes and length of life. The old \
                      one is good for some minutes more, so that programs can change over; the new secret is in this \
                      answer only.",
        sensitive: true,
        recorded_as: Some("admin.token.rotate"),
        route: Route { method: "POST", path: "/tokens/{token_id}/rotate" },
        example: r#"{"overlap_minutes":60}"#,
        ..Info::MANAGE
    };
    type Reply = Created;

    fn target(&self) -> String {
        format!("{} {} min", self.token_id, self.overlap_minutes)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Created> {
        let org = job.pass.org();
        let old = on.identity.tokens(org).await?.into_iter().find(|info| info.id == self.token_id);
        let old = old.ok_or_else(|| Error::not_found("token in force"))?;
        if !job.pass.rights().covers(Rights::of_ext_scopes(&old.scopes)) {
            return Err(beyond_own_rights());
        }
        let overlap = Duration::from_secs(u64::from(self.overlap_minutes) * 60);
        let (info, secret) = on.identity.rotate_token(org, job.pass.user(), &self.token_id, overlap).await?;
        Ok(Created { token: token(info, on.identity.clock().now()), secret: secret.expose().to_owned() })
    }
}

/// Nobody makes a token that may do more than they.
fn beyond_own_rights() -> Error {
    let message = "This client was not given all the rights that the token would have. Approve them first.";
    Error::forbidden("token_beyond_own_rights", message)
}

/// Arguments of an end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// The eight public characters.
    pub token_id: String,
}

impl Operation for RevokeToken {
    const INFO: Info = Info {
        name: "connectivity_revoke_token",
        title: "Revoke a connectivity token",
        description: "Ends a token at once, everywhere.",
        recorded_as: Some("admin.token.revoke"),
        route: Route { method: "DELETE", path: "/tokens/{token_id}" },
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.token_id.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        let found = on.identity.revoke_token(job.pass.org(), &self.token_id).await?;
        if found { Ok(Done::OK) } else { Err(Error::not_found("token in force")) }
    }
}
