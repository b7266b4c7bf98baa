//! Who may do what: the table of actions, roles and scopes, and the one check that yields a [`Pass`].

mod catalogue;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

pub use self::catalogue::Catalogue;
use crate::base::id::Id;
use crate::model::caller::Caller;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::user::User;

/// A right in a workspace, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Viewer,
    Contributor,
    Admin,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Viewer, Role::Contributor, Role::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Contributor => "contributor",
            Role::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let role = Role::ALL.into_iter().find(|role| role.name() == text);
        role.ok_or_else(|| format!("unknown role {text:?}: expected viewer, contributor or admin"))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A scope of an OAuth access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    DataRead,
    DataWrite,
    OntologiesRead,
    DatasetsWrite,
    WorkspaceAdmin,
}

impl Scope {
    pub const ALL: [Scope; 5] =
        [Scope::DataRead, Scope::DataWrite, Scope::OntologiesRead, Scope::DatasetsWrite, Scope::WorkspaceAdmin];

    /// As it is written in `scope` parameters.
    pub fn name(self) -> &'static str {
        match self {
            Scope::DataRead => "data_agent:read",
            Scope::DataWrite => "data_agent:write",
            Scope::OntologiesRead => "ontologies:read",
            Scope::DatasetsWrite => "datasets:write",
            Scope::WorkspaceAdmin => "workspace:admin",
        }
    }

    /// What a person reads on the consent page.
    pub fn meaning(self) -> &'static str {
        match self {
            Scope::DataRead => "See published datasets, their columns and sample rows, and search documents",
            Scope::DataWrite => "Run read-only SQL and ask questions over published datasets",
            Scope::OntologiesRead => "See the business definitions of your data",
            Scope::DatasetsWrite => "Upload, change and delete datasets",
            Scope::WorkspaceAdmin => "Manage members, clients, tokens, settings and the audit log",
        }
    }

    /// The least role that may hold it.
    pub fn least_role(self) -> Role {
        match self {
            Scope::DataRead | Scope::OntologiesRead => Role::Viewer,
            Scope::DataWrite | Scope::DatasetsWrite => Role::Contributor,
            Scope::WorkspaceAdmin => Role::Admin,
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == text)
    }
}

/// A scope of a connectivity token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtScope {
    Datasets,
    Schema,
    Search,
    Sql,
}

impl ExtScope {
    pub const ALL: [ExtScope; 4] = [ExtScope::Datasets, ExtScope::Schema, ExtScope::Search, ExtScope::Sql];

    pub fn name(self) -> &'static str {
        match self {
            ExtScope::Datasets => "ext:datasets",
            ExtScope::Schema => "ext:schema",
            ExtScope::Search => "ext:search",
            ExtScope::Sql => "ext:sql",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == text)
    }
}

/// A thing that can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    ListDatasets,
    ReadSchema,
    Search,
    RunSql,
    ReadOntologies,
    WriteDatasets,
    DeleteDatasets,
    Administer,
}

impl Action {
    pub const ALL: [Action; 8] = [
        Action::ListDatasets,
        Action::ReadSchema,
        Action::Search,
        Action::RunSql,
        Action::ReadOntologies,
        Action::WriteDatasets,
        Action::DeleteDatasets,
        Action::Administer,
    ];

    /// The table: OAuth scope, connectivity scope (`None`: never by such a token), least role.
    pub fn needs(self) -> (Scope, Option<ExtScope>, Role) {
        match self {
            Action::ListDatasets => (Scope::DataRead, Some(ExtScope::Datasets), Role::Viewer),
            Action::ReadSchema => (Scope::DataRead, Some(ExtScope::Schema), Role::Viewer),
            Action::Search => (Scope::DataRead, Some(ExtScope::Search), Role::Viewer),
            Action::RunSql => (Scope::DataWrite, Some(ExtScope::Sql), Role::Contributor),
            Action::ReadOntologies => (Scope::OntologiesRead, Some(ExtScope::Schema), Role::Viewer),
            Action::WriteDatasets | Action::DeleteDatasets => (Scope::DatasetsWrite, None, Role::Contributor),
            Action::Administer => (Scope::WorkspaceAdmin, None, Role::Admin),
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u16)
    }
}

/// A set of actions: what a credential, a role or a session allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Rights(u16);

impl Rights {
    pub const NONE: Rights = Rights(0);

    fn of(allowed: impl Fn(Action) -> bool) -> Self {
        Self(Action::ALL.into_iter().filter(|action| allowed(*action)).fold(0, |bits, action| bits | action.bit()))
    }

    /// Everything that a role may do.
    pub fn of_role(role: Role) -> Self {
        Self::of(|action| role >= action.needs().2)
    }

    /// Everything that a set of OAuth scopes allows.
    pub fn of_scopes(scopes: &[Scope]) -> Self {
        Self::of(|action| scopes.contains(&action.needs().0))
    }

    /// Everything that a set of connectivity scopes allows.
    pub fn of_ext_scopes(scopes: &[ExtScope]) -> Self {
        Self::of(|action| action.needs().1.is_some_and(|needed| scopes.contains(&needed)))
    }

    /// What both allow.
    #[must_use]
    pub fn and(self, other: Rights) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether everything that `other` allows is allowed.
    pub fn covers(self, other: Rights) -> bool {
        other.0 & !self.0 == 0
    }

    pub fn allow(self, action: Action) -> bool {
        self.0 & action.bit() != 0
    }
}

/// Which datasets an operation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// None: it works without data.
    Nothing,
    /// One; absent or invisible is `dataset_not_found`.
    One(Id<Dataset>),
    /// All that the caller may see.
    All,
}

/// Proof that the check was made, with the datasets that it covers. Only [`authorize`] makes one: the fields are
/// private, and every engine function demands it.
#[derive(Clone, Debug)]
pub struct Pass {
    org: Id<Org>,
    slug: String,
    credential: String,
    user: Option<Id<User>>,
    rights: Rights,
    external: bool,
    action: Action,
    seen: Arc<[Dataset]>,
    covered: Range<usize>,
}

impl Pass {
    /// Whose turn it is where turns are taken.
    pub fn credential(&self) -> &str {
        &self.credential
    }

    /// The person; `None` for a connectivity token, and for the operator.
    pub fn user(&self) -> Option<Id<User>> {
        self.user
    }

    /// Everything that the credential may do: what it makes must not be able to do more.
    pub fn rights(&self) -> Rights {
        self.rights
    }

    /// Whether answers leave to a program outside the console: the datasets are the published ones alone.
    pub fn is_external(&self) -> bool {
        self.external
    }

    /// The tenant that the pass is for.
    pub fn org(&self) -> Id<Org> {
        self.org
    }

    /// The workspace's name in addresses.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    pub fn action(&self) -> Action {
        self.action
    }

    /// The covered datasets, sorted by name.
    pub fn datasets(&self) -> &[Dataset] {
        self.seen.get(self.covered.clone()).unwrap_or_default()
    }

    /// All that the caller sees, where the pass covers it: the same value for every call until something changes.
    pub fn whole(&self) -> Option<&Arc<[Dataset]>> {
        (self.covered == (0..self.seen.len())).then_some(&self.seen)
    }

    /// The dataset of a [`Want::One`] pass, or one of a [`Want::All`] pass.
    pub fn dataset(&self, id: Id<Dataset>) -> Result<&Dataset> {
        self.datasets().iter().find(|dataset| dataset.id == id).ok_or_else(Error::dataset_not_found)
    }
}

/// The one check. The catalogue is of the caller's workspace; a pass covers of it what the caller may see, which for
/// external clients are the published datasets without the columns that are hidden from them.
///
/// # Errors
/// `scope_denied` with the scopes that are needed and missing; `service_unavailable` when the workspace's switch for
/// external clients is off; `dataset_not_found` for a named dataset that is absent or invisible.
pub fn authorize(caller: &Caller, catalogue: &Catalogue, action: Action, want: &Want) -> Result<Pass> {
    if catalogue.org.id != caller.org {
        return Err(Error::internal("authorize was given another workspace than the caller's"));
    }
    if !caller.rights.allow(action) {
        return Err(denied(caller, action));
    }
    let external = caller.is_external();
    if external && !catalogue.org.connectivity_enabled {
        return Err(closed());
    }
    let seen = catalogue.seen(external);
    let covered = match want {
        Want::Nothing => 0..0,
        Want::All => 0..seen.len(),
        Want::One(id) => {
            let place = seen.iter().position(|dataset| dataset.id == *id).ok_or_else(Error::dataset_not_found)?;
            place..place + 1
        }
    };
    Ok(Pass {
        org: caller.org,
        slug: catalogue.org.slug.clone(),
        credential: caller.credential(),
        user: caller.user,
        rights: caller.rights,
        external,
        action,
        seen,
        covered,
    })
}

/// The refusal of a workspace whose switch for external clients is off.
pub fn closed() -> Error {
    let message = "This workspace does not accept AI clients at the moment. One of its admins can turn them on.";
    Error::new(Code::ServiceUnavailable, message).with(json!({ "connectivity_enabled": false }))
}

/// The refusal for an action that the caller's rights lack.
pub fn denied(caller: &Caller, action: Action) -> Error {
    let (scope, ext, role) = action.needs();
    let required = if caller.proof.is_connectivity_token() { ext.map_or("none", ExtScope::name) } else { scope.name() };
    let by_role = caller.role < role;
    let message = if caller.proof.is_connectivity_token() && ext.is_none() {
        "A connectivity token can never do this. Use a client that a person has approved.".to_owned()
    } else if by_role {
        format!("Your role in this workspace is {}; this needs {role}. Ask one of its admins.", caller.role)
    } else {
        format!("This needs the scope {required}, which the client was not given. Connect again and approve it.")
    };
    Error::new(Code::ScopeDenied, message).with(json!({
        "required": [required],
        "missing": if by_role { vec![] } else { vec![required] },
        "role": caller.role.name(),
        "required_role": role.name(),
    }))
}

#[cfg(test)]
mod tests;
