//! The rules of an approval: for which workspace, with which scopes, and who may turn AI clients on.

use crate::model::access::{Role, Scope};
use crate::model::error::Result;
use crate::model::grant::within_role;
use crate::model::user::Membership;
use crate::surface::browser::session::SignedIn;
use crate::surface::form::Params;
use crate::surface::oauth::consent::pending::Pending;
use crate::surface::web::Web;

/// Whether the person can approve for a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// The switch for AI clients is off; the person may turn it on.
    AdminCanOpen,
    /// The switch is off, and only an admin may turn it on.
    Closed,
    /// Nothing that the client asks for is within the person's role.
    NoRights,
    /// The client may not be used in this workspace.
    Blocked,
    NoWorkspace,
}

/// What is said to a person who approves a client that is blocked in the workspace.
pub const BLOCKED: &str = "This program is blocked in this workspace.";

impl Gate {
    /// `allowed` are the scopes that were asked for and are within the person's role.
    pub fn of(membership: Option<&Membership>, allowed: &[Scope], blocked: bool) -> Self {
        match membership {
            None => Gate::NoWorkspace,
            Some(_) if blocked => Gate::Blocked,
            Some(_) if allowed.is_empty() => Gate::NoRights,
            Some(membership) if membership.org.connectivity_enabled => Gate::Open,
            Some(membership) if membership.role == Role::Admin => Gate::AdminCanOpen,
            Some(_) => Gate::Closed,
        }
    }
}

/// What the person chose, checked against their role as it is now.
pub struct Chosen {
    pub membership: Membership,
    pub scopes: Vec<Scope>,
    pub turn_on: bool,
}

/// Reads the person's choices; a sentence for them when these cannot be.
pub async fn choose(
    web: &Web,
    person: &SignedIn,
    asked: &Pending,
    params: &Params,
) -> Result<std::result::Result<Chosen, &'static str>> {
    let slug = params.get("workspace").unwrap_or("");
    let memberships = open_to(web, person, asked).await?;
    let Some(membership) = memberships.into_iter().find(|membership| membership.org.slug == slug) else {
        return Ok(Err("Choose one of your workspaces."));
    };
    let mut scopes = within_role(&asked.scopes(), membership.role);
    let blocked = web.identity.is_blocked(&asked.client_id, Some(membership.org.id)).await?;
    let turn_on = match Gate::of(Some(&membership), &scopes, blocked) {
        Gate::Open => false,
        Gate::AdminCanOpen if params.get("enable") == Some("1") => true,
        Gate::AdminCanOpen => return Ok(Err("Tick the box that lets AI clients connect to this workspace.")),
        Gate::Blocked => return Ok(Err(BLOCKED)),
        Gate::Closed | Gate::NoRights | Gate::NoWorkspace => return Ok(Err("This cannot be approved.")),
    };
    scopes.retain(|scope| params.all("scope").any(|kept| kept == scope.name()));
    if scopes.is_empty() {
        return Ok(Err("Leave at least one right ticked, or cancel."));
    }
    Ok(Ok(Chosen { membership, scopes, turn_on }))
}

/// The person's workspaces that the request may be approved for.
pub async fn open_to(web: &Web, person: &SignedIn, asked: &Pending) -> Result<Vec<Membership>> {
    let mut memberships = web.identity.memberships(person.user.id).await?;
    memberships.retain(|membership| asked.org.is_none_or(|org| org == membership.org.id));
    Ok(memberships)
}
