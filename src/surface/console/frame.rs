//! What surrounds every page of the console: the brand, the workspace switcher, the person, and the tabs of the place.

use crate::model::access::Role;
use crate::model::error::Result;
use crate::model::user::Membership;
use crate::surface::browser::csrf;
use crate::surface::browser::visit::Visit;
use crate::surface::web::Web;

/// Where a page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    Home,
    /// A path below `/account`.
    Account(&'a str),
    /// A workspace by its slug, and a path below it.
    Workspace(&'a str, &'a str),
}

/// A tab of the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    pub href: String,
    pub name: &'static str,
    pub current: bool,
}

/// What `console.html` needs; every page of the console has one as its field `frame`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub email: String,
    pub memberships: Vec<Membership>,
    /// The name of the workspace that the page is about.
    pub workspace: Option<String>,
    /// Its slug; empty elsewhere.
    pub slug: String,
    pub tabs: Vec<Tab>,
    /// What came of the form before this page; empty where there was none.
    pub notice: &'static str,
    /// For the sign-out form.
    pub log_out: String,
}

/// Pages of the person: path below `/account`, and name.
const ACCOUNT: [(&str, &str); 7] = [
    ("", "Profile and password"),
    ("/two-step", "Two-step sign-in"),
    ("/passkeys", "Passkeys"),
    ("/providers", "Other sign-ins"),
    ("/sessions", "Sessions"),
    ("/apps", "Connected apps"),
    ("/questions", "Your questions"),
];

/// Pages of a workspace: path below it, name, and the least role that sees them.
const WORKSPACE: [(&str, &str, Role); 9] = [
    ("", "Overview", Role::Viewer),
    ("/ask", "Ask your data", Role::Contributor),
    ("/connect", "Connect", Role::Viewer),
    ("/ontologies", "Ontologies", Role::Viewer),
    ("/members", "Members", Role::Admin),
    ("/clients", "Clients and tokens", Role::Admin),
    ("/sources", "Sources", Role::Admin),
    ("/audit", "Audit log", Role::Admin),
    ("/settings", "Settings", Role::Admin),
];

impl Frame {
    /// # Errors
    /// The database fails.
    pub async fn new(web: &Web, visit: &Visit, place: Place<'_>) -> Result<Self> {
        let memberships = web.identity.memberships(visit.person.user.id).await?;
        let tab = |base: &str, path: &str, name, here: &str| Tab {
            href: format!("{base}{path}"),
            name,
            current: path == here
                || !path.is_empty() && here.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')),
        };
        let slug = if let Place::Workspace(slug, _) = place { slug } else { "" }.to_owned();
        let (workspace, tabs) = match place {
            Place::Home => (None, Vec::new()),
            Place::Account(here) => {
                (None, ACCOUNT.iter().map(|(path, name)| tab("/account", path, name, here)).collect())
            }
            Place::Workspace(slug, here) => {
                let membership = memberships.iter().find(|membership| membership.org.slug == slug);
                let role = membership.map(|membership| membership.role);
                let seen = WORKSPACE.iter().filter(|(_, _, least)| role.is_some_and(|role| role >= *least));
                let base = format!("/w/{slug}");
                let tabs = seen.map(|(path, name, _)| tab(&base, path, name, here)).collect();
                (membership.map(|membership| membership.org.name.clone()), tabs)
            }
        };
        Ok(Self {
            email: visit.person.user.email.clone(),
            memberships,
            workspace,
            slug,
            tabs,
            notice: visit.notice(),
            log_out: visit.csrf(web, csrf::LOG_OUT),
        })
    }
}
