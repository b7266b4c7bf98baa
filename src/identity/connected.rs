//! Clients that people have connected, as they and the admins of the workspace see and end them.

use super::Identity;
use super::clients::verified_host;
use crate::base::clock::millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::user::User;
pub use crate::store::connected::{ConnectedRow, Ended};
use crate::store::{Tx, connected, consents};

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
        let ended = connected::end(&mut tx, org, id, "admin", self.0.clock.now()).await?;
        Ok(self.forgotten(tx, ended).await?.is_some())
    }

    /// As [`Identity::disconnect`], for one of a person's own grants; says which it was.
    pub async fn disconnect_own(&self, user: Id<User>, id: &str) -> Result<Option<Ended>> {
        let mut tx = self.0.db.begin().await?;
        let ended = connected::end_own(&mut tx, user, id, "owner", self.0.clock.now()).await?;
        self.forgotten(tx, ended).await
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
