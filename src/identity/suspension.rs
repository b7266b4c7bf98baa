//! Locking out a person everywhere, or a workspace with everybody in it. It holds at once: whoever is verified, signed
//! in, redeemed or refreshed is looked up anew each time. Nothing is deleted but browser sessions, so that it can be
//! taken back; what somebody else left in an account ends with `connected.rs` (`disconnect_person`).

use std::collections::HashSet;

use super::Identity;
use super::members::{no_such_org, no_such_person};
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::{orgs, sessions, suspension};

impl Identity {
    /// Locks a person out of everything, and signs them out of every browser; or lets them in again.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such person.
    pub async fn suspend_person(&self, user: Id<User>, suspended: bool) -> Result<()> {
        let mut tx = self.0.db.begin().await?;
        if !suspension::set_person(&mut tx, user, suspended.then(|| self.0.clock.now())).await? {
            return Err(no_such_person());
        }
        if suspended {
            sessions::delete_of_user(&mut tx, user).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Locks a workspace: its tokens, its clients and its people in it; or opens it again.
    ///
    /// # Errors
    /// `invalid_argument` when there is no such workspace, or it is being erased.
    pub async fn suspend_org(&self, org: Id<Org>, suspended: bool) -> Result<()> {
        let at = suspended.then(|| self.0.clock.now());
        if suspension::set_org(&mut *self.0.db.writer().await?, org, at).await? {
            return Ok(());
        }
        match orgs::by_id(self.0.db.pool(), org).await? {
            Some(org) => Err(Self::being_erased(&org)),
            None => Err(no_such_org()),
        }
    }

    /// The refusal of a workspace whose erasure has begun and has not come to its end.
    pub fn being_erased(Org { slug, .. }: &Org) -> Error {
        let message = format!(
            "The workspace {slug} is being erased, and stays locked. To end it: dragoman admin workspace erase {slug} \
             --yes"
        );
        Error::invalid("workspace", message)
    }

    /// Ids of the workspaces whose erasure has begun and has not come to its end.
    pub async fn erasing(&self) -> Result<HashSet<String>> {
        Ok(suspension::erasing(self.0.db.pool()).await?)
    }

    /// Ids of the people and workspaces that are locked out.
    pub async fn suspended(&self) -> Result<HashSet<String>> {
        Ok(suspension::all(self.0.db.pool()).await?)
    }
}
