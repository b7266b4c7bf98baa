//! Who belongs to the workspace, and as what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::model::access::Role;
use crate::model::error::Result;
use crate::model::user::User;

/// Members on one page.
const PAGE: usize = 100;

/// Arguments of the list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMembers {
    /// `next_cursor` of the page before; absent for the first page.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A member.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Member {
    pub user_id: Id<User>,
    pub email: String,
    pub name: String,
    pub role: Role,
    /// RFC 3339.
    pub joined_at: String,
    /// The operator has locked this person out.
    pub suspended: bool,
}

/// Members by e-mail address.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Members {
    pub members: Vec<Member>,
    /// Present when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for ListMembers {
    const INFO: Info = Info {
        name: "list_members",
        title: "List members",
        description: "Lists the people of the workspace with their roles, by e-mail address.",
        read_only: true,
        recorded_as: Some("admin.member.list"),
        route: Route { method: "GET", path: "/members" },
        ..Info::MANAGE
    };
    type Reply = Members;

    fn rows(reply: &Members) -> usize {
        reply.members.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Members> {
        let org = job.pass.org();
        let scope = format!("{org}:members");
        let after = super::position(on, &scope, self.cursor.as_deref())?.unwrap_or_default();
        let mut rows = on.identity.member_page(org, &after, PAGE + 1).await?;
        let more = rows.len() > PAGE;
        rows.truncate(PAGE);
        let next_cursor = rows.last().filter(|_| more).map(|last| on.cursors.make(&scope, &last.user.email));
        let members = rows.into_iter().map(|row| Member {
            user_id: row.user.id,
            email: row.user.email,
            name: row.user.name,
            role: row.role,
            joined_at: rfc3339(row.joined_at),
            suspended: row.suspended,
        });
        Ok(Members { members: members.collect(), next_cursor })
    }
}

/// Arguments of a change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetMemberRole {
    pub user_id: Id<User>,
    pub role: Role,
}

impl Operation for SetMemberRole {
    const INFO: Info = Info {
        name: "set_member_role",
        title: "Change a member's role",
        description: "Changes what a member may do. It holds at once, for every session and token. The last admin stays one.",
        sensitive: true,
        recorded_as: Some("admin.role.set"),
        route: Route { method: "PATCH", path: "/members/{user_id}" },
        example: r#"{"role":"contributor"}"#,
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        format!("{} {}", self.user_id, self.role)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.identity.change_role(job.pass.org(), job.pass.user(), self.user_id, self.role).await?;
        Ok(Done::OK)
    }
}

/// Arguments of a removal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveMember {
    pub user_id: Id<User>,
}

impl Operation for RemoveMember {
    const INFO: Info = Info {
        name: "remove_member",
        title: "Remove a member",
        description: "Ends a membership, and with it every connected client of this person and every invitation that \
                      they sent. The last admin cannot be removed.",
        sensitive: true,
        recorded_as: Some("admin.role.remove"),
        route: Route { method: "DELETE", path: "/members/{user_id}" },
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.user_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        on.identity.expel(job.pass.org(), job.pass.user(), self.user_id).await?;
        Ok(Done::OK)
    }
}
