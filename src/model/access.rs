//! Who may do what: the one check, by the table of [`super::rights`], that yields a [`Pass`]; and the words of its
//! refusals.

mod catalogue;

use std::ops::Range;
use std::sync::Arc;

use serde_json::json;

pub use self::catalogue::Catalogue;
pub use super::rights::{Action, ExtScope, Rights, Role, Scope};
use crate::base::id::Id;
use crate::model::caller::Caller;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::model::user::User;

/// Which datasets an operation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// None: it works without data.
    Nothing,
    /// One; absent or invisible is `dataset_not_found`.
    One(Id<Dataset>),
    /// All that the caller may see.
    All,
    /// All that external clients see, whoever asks: what is made of it is handed to one.
    Published,
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
/// external clients, and for what is handed to them, are the published datasets without the columns that are hidden.
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
    let external = external || *want == Want::Published;
    let seen = catalogue.seen(external);
    let covered = match want {
        Want::Nothing => 0..0,
        Want::All | Want::Published => 0..seen.len(),
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
