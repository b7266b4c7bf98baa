//! What a look at a bearer comes to: who it is, or why it is nobody.

use crate::model::access::{Rights, Role};
use crate::model::caller::{Client, Proof};
use crate::model::error::Error;
use crate::model::org::Org;
use crate::model::user::User;

/// A proven bearer, with what holds for them now.
#[derive(Clone, Debug)]
pub struct Proven {
    pub org: Org,
    /// `None` for a connectivity token.
    pub user: Option<User>,
    pub role: Role,
    /// What the credential and the role allow together.
    pub rights: Rights,
    pub proof: Proof,
    pub client: Client,
}

/// Why a bearer is not proven. The outside must not learn more than these words.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the token is not valid here")]
    Invalid,
    #[error("the token is past its time")]
    Expired,
    #[error("the token was revoked")]
    Revoked,
    #[error(transparent)]
    Internal(#[from] Error),
}

impl From<sqlx::Error> for Refusal {
    fn from(cause: sqlx::Error) -> Self {
        Refusal::Internal(cause.into())
    }
}
