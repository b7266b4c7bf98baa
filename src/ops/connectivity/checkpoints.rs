//! `connectivity_checkpoints`: what was seen of a person's client on its way in. Everything comes from what is on record
//! anyway: approvals, tokens, and the audit log, of which a person is shown nothing but their own.
//!
//! | checkpoint | how it is seen |
//! |---|---|
//! | discovered | a request without a credential at the workspace's own address; for clients of a cloud, which use the common one, it follows from the next |
//! | registered | the person was sent here by a client of this name to approve it |
//! | approved | a grant of the person's for such a client, whose token was fetched |
//! | token made | a connectivity token in force: the named one, or the newest |
//! | listed tools, first call | rows of the person's (or of the token's) in the audit log, of the last day |

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::guide::{Checkpoint, Guide, Way};
use crate::base::clock::{Millis, rfc3339};
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::gateway::record::Wanted;
use crate::identity::connected::ConnectedRow;
use crate::model::access::Action;
use crate::model::audit::Entry;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::user::User;

const DAY: Millis = 24 * 60 * 60 * 1000;
/// Rows about no workspace that are looked at, the newest.
const STRANGERS: i64 = 300;
/// Rows of one kind that are looked at.
const ROWS: usize = 200;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoints {
    /// Which client: see `connectivity_generate_setup`.
    pub platform: String,
    /// The eight public characters of the token that it uses; the newest one in force when absent.
    #[serde(default)]
    pub token_id: Option<String>,
}

/// The reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Seen {
    pub platform: &'static str,
    /// In the order in which a client passes them.
    pub checkpoints: Vec<Passed>,
    /// Whether the last one was passed: the client works.
    pub complete: bool,
}

/// How a checkpoint stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was seen.
    Seen,
    /// A later one was seen, which no client passes without this one.
    Follows,
    Waiting,
}

/// A checkpoint.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Passed {
    pub id: Checkpoint,
    pub title: &'static str,
    pub state: State,
    /// RFC 3339; of the last time that it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What was seen there, as far as it called itself something.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// What to do when it does not come; only of the first that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<&'static str>,
}

/// When something was seen, and of whom.
type Sight = (Millis, String);

impl Operation for Checkpoints {
    const INFO: Info = Info {
        name: "connectivity_checkpoints",
        title: "What was seen of a client",
        description: "Says how far one of your clients has come: discovered, registered, approved, listed the tools, asked; \
                      and what to do when the next does not come.",
        action: Action::ListDatasets,
        read_only: true,
        recorded_as: Some("admin.connectivity.checkpoints"),
        route: Route { method: "GET", path: "/connectivity/checkpoints" },
        example: r#"{"platform":"cursor"}"#,
        ..Info::MANAGE
    };
    type Reply = Seen;

    fn target(&self) -> String {
        self.platform.clone()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Seen> {
        let person = super::person(job)?;
        let guide = super::named(&self.platform)?;
        let org = on.identity.org(job.pass.org()).await?;
        let org = org.ok_or_else(|| Error::internal("a workspace went while it was asked"))?;
        let look = Look { on, guide, org, since: on.identity.clock().now() - DAY };
        let sights = match guide.way {
            Way::Approval => look.approval(person).await?,
            Way::Token | Way::Rest => {
                look.token(self.token_id.as_deref(), job.pass.rights().allow(Action::Administer)).await?
            }
        };
        Ok(told(guide, sights))
    }
}

/// Who is looked for, and where.
struct Look<'a> {
    on: &'a Parts,
    guide: &'static Guide,
    org: Org,
    since: Millis,
}

impl Look<'_> {
    /// Of a client that a person approves.
    async fn approval(&self, person: Id<User>) -> Result<Vec<Option<Sight>>> {
        let nobodys = self.on.record.of_nobody(STRANGERS).await?;
        let grants = self.grants(person).await?;
        let principal = format!("user:{person}");
        let approved = grants.iter().map(|grant| (grant.created_at, named(grant))).max();
        let is_theirs = |entry: &Entry| {
            self.guide.is_called(&entry.client)
                || grants.iter().any(|grant| entry.client == grant.client_id || entry.client == named(grant))
        };
        let (listed, called) = (
            self.last("mcp.tools.list", &principal, is_theirs).await?,
            self.last("mcp.tool.call", &principal, is_theirs).await?,
        );
        let registered = self.registered(&principal, &nobodys).await?;
        Ok(vec![self.discovered(&nobodys), registered, approved, listed, called])
    }

    /// The person's grants in the workspace for such a client.
    async fn grants(&self, person: Id<User>) -> Result<Vec<ConnectedRow>> {
        let mut grants = self.on.identity.connections(person).await?;
        grants.retain(|grant| {
            let says = [named(grant), grant.client_id.clone(), grant.redirect_uri.clone()];
            grant.org == self.org.id && says.iter().any(|said| self.guide.is_called(said))
        });
        Ok(grants)
    }

    /// Who asked at the workspace's own address without a credential. Nobody has said who it was: it may be another
    /// client, and is taken for this one only as long as nothing better is known.
    fn discovered(&self, nobodys: &[Entry]) -> Option<Sight> {
        let address = format!("/t/{}/mcp", self.org.slug);
        let knocked = |entry: &&Entry| {
            entry.action == "auth.refused"
                && entry.outcome == "auth_missing"
                && entry.target.trim_end_matches('/') == address
                && entry.at >= self.since
        };
        nobodys.iter().find(knocked).filter(|_| !self.guide.from_cloud).map(|entry| (entry.at, String::new()))
    }

    /// Who brought the person here to be approved.
    async fn registered(&self, principal: &str, nobodys: &[Entry]) -> Result<Option<Sight>> {
        let action = "oauth.authorize";
        let wanted =
            Wanted { since: Some(self.since), principal: principal.into(), action: action.into(), ..Wanted::default() };
        let here = self.on.record.find(self.org.id, &wanted, None, ROWS).await?;
        let theirs = |entry: &&Entry| entry.principal == principal && entry.action == action && entry.at >= self.since;
        let asked = here.entries.iter().map(|(_, entry)| entry).chain(nobodys.iter().filter(theirs));
        let mut seen = HashSet::new();
        for entry in asked.filter(|entry| entry.outcome == "ok") {
            if !seen.insert((&entry.client, &entry.target)) {
                continue;
            }
            let client = self.on.identity.client(&entry.client).await?;
            let name = client.as_ref().map(|client| client.name.clone()).unwrap_or_default();
            let addresses = client.map(|client| client.redirect_uris).unwrap_or_default();
            let says = [&name, &entry.client, &entry.target];
            if says.into_iter().chain(&addresses).any(|said| self.guide.is_called(said)) {
                return Ok(Some((entry.at, name)));
            }
        }
        Ok(None)
    }

    /// Of a client with a token. What it asked is the admins' to see; others see that it was used.
    async fn token(&self, id: Option<&str>, is_admin: bool) -> Result<Vec<Option<Sight>>> {
        let now = self.on.identity.clock().now();
        let tokens = self.on.identity.tokens(self.org.id).await?.into_iter();
        let mut in_force = tokens
            .filter(|token| token.revoked_at.is_none() && token.expires_at.is_none_or(|at| at > now))
            .filter(|token| id.is_none_or(|id| id == token.id));
        let Some(token) = in_force.next() else {
            return Ok(self.guide.way.checkpoints().iter().map(|_| None).collect());
        };
        let label = |text: String| if is_admin { text } else { String::new() };
        let made = Some((token.created_at, label(token.label.clone())));
        let used = token.last_used_at.map(|at| (at, String::new()));
        let principal = format!("token:{}", token.id);
        let seen = match (self.guide.way, is_admin) {
            (Way::Rest, true) => vec![self.last("rest.call", &principal, |_| true).await?],
            (Way::Rest, false) => vec![used],
            (_, true) => vec![
                self.last("mcp.tools.list", &principal, |_| true).await?,
                self.last("mcp.tool.call", &principal, |_| true).await?,
            ],
            (_, false) => vec![used, None],
        };
        Ok([made].into_iter().chain(seen).collect())
    }

    /// The last answer of a kind to somebody.
    async fn last(&self, action: &str, principal: &str, is_theirs: impl Fn(&Entry) -> bool) -> Result<Option<Sight>> {
        let wanted = Wanted {
            since: Some(self.since),
            principal: principal.into(),
            action: action.into(),
            outcome: "ok".into(),
            ..Wanted::default()
        };
        let found = self.on.record.find(self.org.id, &wanted, None, ROWS).await?;
        let entry = found.entries.into_iter().map(|(_, entry)| entry).find(|entry| is_theirs(entry));
        Ok(entry.map(|entry| (entry.at, entry.client)))
    }
}

/// What a client called itself, or the address of the document that describes it.
fn named(grant: &ConnectedRow) -> String {
    grant.client_name.clone().unwrap_or_else(|| grant.client_id.clone())
}

/// What was seen, and what follows from it.
fn told(guide: &'static Guide, sights: Vec<Option<Sight>>) -> Seen {
    let last = sights.iter().rposition(Option::is_some);
    let waited = last.map_or(0, |last| last + 1);
    let passed = |(at, (id, sight)): (usize, (&Checkpoint, Option<Sight>))| Passed {
        id: *id,
        title: id.title(),
        state: match (&sight, last) {
            (Some(_), _) => State::Seen,
            (None, Some(last)) if at < last => State::Follows,
            _ => State::Waiting,
        },
        mend: (at == waited).then(|| guide.mend(*id)),
        at: sight.as_ref().map(|(at, _)| rfc3339(*at)),
        client: sight.map(|(_, client)| client).unwrap_or_default(),
    };
    let checkpoints: Vec<Passed> = guide.way.checkpoints().iter().zip(sights).enumerate().map(passed).collect();
    Seen { platform: guide.id, complete: waited >= checkpoints.len(), checkpoints }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(seen: &Seen) -> Vec<State> {
        seen.checkpoints.iter().map(|it| it.state).collect()
    }

    #[test]
    fn what_was_not_seen_itself_follows_from_what_came_after_it() {
        let guide = super::super::named("claude").unwrap();
        let sight = || Some((0, "Claude".to_owned()));
        let seen = told(guide, vec![None, None, sight(), None, None]);
        use State::{Follows, Seen as S, Waiting};
        assert_eq!(states(&seen), [Follows, Follows, S, Waiting, Waiting]);
        let mends: Vec<bool> = seen.checkpoints.iter().map(|it| it.mend.is_some()).collect();
        assert_eq!(mends, [false, false, false, true, false], "only what is waited for next is mended");
        assert!(!seen.complete);
        assert!(told(guide, vec![None, None, None, None, sight()]).complete);
        let nothing = told(guide, vec![None, None, None, None, None]);
        assert_eq!(states(&nothing), [Waiting; 5]);
        assert!(nothing.checkpoints[0].mend.is_some());
    }
}
