//! The table of actions, roles and scopes, and what each of them allows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
