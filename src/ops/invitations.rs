//! Invitations into the workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Done;
use crate::base::clock::rfc3339;
use crate::base::id::Id;
use crate::engine::job::Job;
use crate::gateway::operation::{Info, Operation, Parts, Route};
use crate::identity::invitations::InvitationRow;
use crate::model::access::Role;
use crate::model::error::{Error, Result};

/// No arguments.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInvitations {}

/// An open invitation; its link is never shown again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Invitation {
    pub invitation_id: String,
    pub email: String,
    pub role: Role,
    /// The user id of the admin who sent it, or `local` for the operator.
    pub invited_by: String,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub expires_at: String,
}

impl From<InvitationRow> for Invitation {
    fn from(row: InvitationRow) -> Self {
        Self {
            invitation_id: row.id.to_string(),
            email: row.email,
            role: row.role,
            invited_by: row.invited_by,
            created_at: rfc3339(row.created_at),
            expires_at: rfc3339(row.expires_at),
        }
    }
}

/// Open invitations, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Invitations {
    pub invitations: Vec<Invitation>,
}

impl Operation for ListInvitations {
    const INFO: Info = Info {
        name: "list_invitations",
        title: "List open invitations",
        description: "Lists invitations that were not accepted yet, newest first.",
        read_only: true,
        recorded_as: Some("admin.invitation.list"),
        route: Route { method: "GET", path: "/invitations" },
        ..Info::MANAGE
    };
    type Reply = Invitations;

    fn rows(reply: &Invitations) -> usize {
        reply.invitations.len()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Invitations> {
        let rows = on.identity.invitations(job.pass.org()).await?;
        Ok(Invitations { invitations: rows.into_iter().map(Invitation::from).collect() })
    }
}

/// Arguments of an invitation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInvitation {
    /// Only a person with this address can accept it.
    #[schemars(email, length(min = 3, max = 254))]
    pub email: String,
    pub role: Role,
}

/// The invitation with its link.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Created {
    pub invitation: Invitation,
    /// Works once. Shown this once, so that it can be handed over when no mail leaves.
    pub link: String,
}

impl Operation for CreateInvitation {
    const INFO: Info = Info {
        name: "create_invitation",
        title: "Invite somebody",
        description: "Invites an e-mail address to the workspace; an open invitation of the same address is replaced.",
        sensitive: true,
        recorded_as: Some("admin.invitation.create"),
        route: Route { method: "POST", path: "/invitations" },
        example: r#"{"email":"ann@example.com","role":"contributor"}"#,
        ..Info::MANAGE
    };
    type Reply = Created;

    fn target(&self) -> String {
        format!("{} {}", self.email, self.role)
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Created> {
        let (row, link) = on.identity.invite(job.pass.org(), job.pass.user(), &self.email, self.role).await?;
        Ok(Created { invitation: row.into(), link: link.expose().to_owned() })
    }
}

/// Arguments of taking one back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeInvitation {
    pub invitation_id: Id<InvitationRow>,
}

impl Operation for RevokeInvitation {
    const INFO: Info = Info {
        name: "revoke_invitation",
        title: "Take an invitation back",
        description: "Ends an open invitation: its link is worth nothing any more.",
        recorded_as: Some("admin.invitation.revoke"),
        route: Route { method: "DELETE", path: "/invitations/{invitation_id}" },
        ..Info::MANAGE
    };
    type Reply = Done;

    fn target(&self) -> String {
        self.invitation_id.to_string()
    }

    async fn run(self, on: &Parts, job: &Job<'_>) -> Result<Done> {
        let found = on.identity.revoke_invitation(job.pass.org(), self.invitation_id).await?;
        if found { Ok(Done::OK) } else { Err(Error::not_found("open invitation")) }
    }
}
