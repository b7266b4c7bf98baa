//! Who is calling: made from a verified credential (see the architecture page), carried unchanged through every layer.

use std::net::{IpAddr, Ipv4Addr};

use crate::base::id::Id;
use crate::model::org::Org;
use crate::model::rights::{Rights, Role};
use crate::model::user::User;

/// How the caller was proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// An OAuth access token; `family` is the grant that it belongs to.
    AccessToken { family: String, auth_time: i64 },
    /// A connectivity token, by its public id.
    ConnectivityToken { id: String },
    /// A person in a browser, who proved themselves then (epoch seconds).
    BrowserSession { auth_time: i64 },
    /// The operator at the command line.
    Local,
}

impl Proof {
    pub fn is_connectivity_token(&self) -> bool {
        matches!(self, Proof::ConnectivityToken { .. })
    }
}

/// A verified caller of one workspace.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The tenant; comes from the credential, never from a request.
    pub org: Id<Org>,
    /// The person behind the credential; connectivity tokens have none.
    pub user: Option<Id<User>>,
    pub role: Role,
    /// What the credential and the role allow together.
    pub rights: Rights,
    pub proof: Proof,
    pub client: Client,
    /// MCP session, when there is one.
    pub session: Option<String>,
    pub ip: IpAddr,
    pub request_id: String,
}

/// The program that calls, as far as it said; untrusted, for audit and quirks only (`id` is verified).
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// OAuth client id, or the connectivity token's label.
    pub id: String,
    pub name: String,
    pub version: String,
}

impl Caller {
    /// The operator of this machine, who may do everything in a workspace but is no member of it.
    pub fn operator(org: Id<Org>, request_id: String) -> Self {
        Self {
            org,
            user: None,
            role: Role::Admin,
            rights: Rights::of_role(Role::Admin),
            proof: Proof::Local,
            client: Client { id: "cli".into(), name: "dragoman".into(), version: env!("CARGO_PKG_VERSION").into() },
            session: None,
            ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            request_id,
        }
    }

    /// Whether data leaves to a program outside the console; such callers see published datasets only.
    pub fn is_external(&self) -> bool {
        matches!(self.proof, Proof::AccessToken { .. } | Proof::ConnectivityToken { .. })
    }

    /// The key of rate limits: one credential, whatever connection it comes through.
    pub fn credential(&self) -> String {
        match &self.proof {
            Proof::AccessToken { family, .. } => format!("{}:grant:{family}", self.org),
            Proof::ConnectivityToken { id } => format!("{}:token:{id}", self.org),
            Proof::BrowserSession { .. } | Proof::Local => {
                format!("{}:person:{}", self.org, self.user.map(|user| user.to_string()).unwrap_or_default())
            }
        }
    }

    /// The key of what somebody has once, however many clients they connect: the person, or the connectivity token.
    pub fn person(&self) -> String {
        match &self.proof {
            Proof::ConnectivityToken { id } => format!("{}:token:{id}", self.org),
            _ => format!("{}:user:{}", self.org, self.user.map(|user| user.to_string()).unwrap_or_default()),
        }
    }

    /// Who owns a session: person (or token) and client together.
    pub fn principal(&self) -> String {
        format!("{}:{}", self.person(), self.client.id)
    }

    /// The same caller, whose client says so of itself.
    #[must_use]
    pub fn introduced(mut self, name: String, version: String) -> Self {
        (self.client.name, self.client.version) = (name, version);
        self
    }

    /// The same caller with no more than `bound` allows.
    #[must_use]
    pub fn bounded(mut self, bound: Rights) -> Self {
        self.rights = self.rights.and(bound);
        self
    }
}
