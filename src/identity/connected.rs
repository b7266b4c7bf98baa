//! Clients that people have connected, as they and the admins of the workspace see and end them.

use super::Identity;
use super::clients::verified_host;
use super::roles::lock;
use crate::base::clock::millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::user::User;
pub use crate::store::connected::{ConnectedRow, Ended};
use crate::store::{Tx, connected, consents, grants, sessions, upstream};

/// What a person was disconnected from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnected {
    /// Grants that ended, those that waited for their first token among them.
    pub grants: u64,
    /// Sign-ins at other providers that were unlinked.
    pub sign_ins: u64,
}

impl Identity {
    /// A workspace's grants in force, the last used first: at most `limit`, from the `skip`th on.
    pub async fn connected(&self, org: Id<Org>, skip: usize, limit: usize) -> Result<Vec<ConnectedRow>> {
        let number = |number: usize| i64::try_from(number).map_err(Error::internal);
        let (skip, limit) = (number(skip)?, number(limit)?);
        let rows = connected::list(self.0.db.pool(), org, self.0.clock.now(), skip, limit).await?;
        let named = |row: ConnectedRow| ConnectedRow {
            client_name: row.client_name.clone().or_else(|| verified_host(&row.client_id)),
            ..row
        };
        Ok(rows.into_iter().map(named).collect())
    }

    /// A person's grants in force in all their workspaces, the last used first.
    pub async fn connections(&self, user: Id<User>) -> Result<Vec<ConnectedRow>> {
        let now = self.0.clock.now();
        let since = now - millis(self.0.config.limits.lifetimes.refresh);
        Ok(connected::of_user(self.0.db.pool(), user, now, since).await?)
    }

    /// Ends one grant, and forgets that its person approved the client; `false` when the workspace has no such grant in
    /// force.
    pub async fn disconnect(&self, org: Id<Org>, id: &str) -> Result<bool> {
        let mut tx = self.0.db.begin().await?;
        lock(&mut tx, org).await?;
        let ended = connected::end(&mut tx, org, id, "admin", self.0.clock.now()).await?;
        Ok(self.forgotten(tx, ended).await?.is_some())
    }

    /// As [`Identity::disconnect`], for one of a person's own grants; says which it was.
    pub async fn disconnect_own(&self, user: Id<User>, id: &str) -> Result<Option<Ended>> {
        let mut tx = self.0.db.begin().await?;
        let Some(org) = connected::org_of_own(&mut *tx, user, id).await? else { return Ok(None) };
        lock(&mut tx, org).await?;
        let ended = connected::end_own(&mut tx, user, id, "owner", self.0.clock.now()).await?;
        self.forgotten(tx, ended).await
    }

    /// For a person whose account was in other hands: every grant that they gave ends in every workspace, codes and
    /// approved devices among them, what they approved is forgotten, their sign-ins at other providers are unlinked,
    /// and every browser is signed out.
    ///
    /// # Errors
    /// The database fails.
    pub async fn disconnect_person(&self, user: Id<User>) -> Result<Disconnected> {
        let now = self.0.clock.now();
        let mut tx = self.0.db.begin().await?;
        upstream::lock(&mut tx, user).await?;
        let mut ended = Disconnected { grants: 0, sign_ins: upstream::delete_of_user(&mut tx, user).await? };
        for org in grants::orgs_of_user(&mut *tx, user).await? {
            lock(&mut tx, org).await?;
            ended.grants += grants::revoke_of_member(&mut tx, org, user, "disconnected", now).await?;
            consents::forget_of_member(&mut tx, org, user).await?;
        }
        sessions::delete_of_user(&mut tx, user).await?;
        tx.commit().await?;
        Ok(ended)
    }

    /// Otherwise the client would only ask again, and be approved without a word.
    async fn forgotten(&self, mut tx: Tx, ended: Option<Ended>) -> Result<Option<Ended>> {
        if let Some(ended) = &ended {
            consents::forget(&mut tx, ended.org, ended.user, &ended.client_id).await?;
            tx.commit().await?;
        }
        Ok(ended)
    }
}
