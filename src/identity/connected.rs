//! Clients that people have connected to a workspace, as its admins see them, end them and keep them out.

use super::Identity;
use super::clients::verified_host;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
pub use crate::store::connected::ConnectedRow;
use crate::store::{blocks, connected};

/// Bytes of the longest client id.
const MAX_CLIENT_ID: usize = 2048;

/// A client that a workspace keeps out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    pub client_id: String,
    /// As it registered, or the host of its document.
    pub name: Option<String>,
    pub created_at: Millis,
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

    /// Ends one grant; `false` when the workspace has no such grant in force.
    pub async fn disconnect(&self, org: Id<Org>, id: &str) -> Result<bool> {
        Ok(connected::revoke(self.0.db.pool(), org, id, "admin", self.0.clock.now()).await?)
    }

    /// Keeps a client out of a workspace, and ends every grant that it has there; `false` when it was out already.
    ///
    /// # Errors
    /// `invalid_argument` for an id that no client can have.
    pub async fn block_client_in(&self, org: Id<Org>, client_id: &str) -> Result<bool> {
        let formed = !client_id.is_empty()
            && client_id.len() <= MAX_CLIENT_ID
            && client_id.bytes().all(|byte| byte.is_ascii_graphic());
        if !formed {
            return Err(Error::invalid("client_id", "This cannot be the id of a client."));
        }
        let now = self.0.clock.now();
        let mut tx = self.0.db.begin().await?;
        super::roles::lock(&mut tx, org).await?;
        let new = blocks::insert(&mut *tx, org, client_id, now).await?;
        connected::revoke_of_client(&mut *tx, org, client_id, "client_blocked", now).await?;
        tx.commit().await?;
        Ok(new)
    }

    /// Lets a client in again; what it had before stays ended. `false` when it was not kept out.
    pub async fn unblock_client_in(&self, org: Id<Org>, client_id: &str) -> Result<bool> {
        Ok(blocks::remove(self.0.db.pool(), org, client_id).await?)
    }

    /// The clients that a workspace keeps out, newest first.
    pub async fn blocked_in(&self, org: Id<Org>) -> Result<Vec<Blocked>> {
        let rows = blocks::list(self.0.db.pool(), org).await?;
        let blocked = |(client_id, name, created_at): (String, Option<String>, Millis)| Blocked {
            name: name.or_else(|| verified_host(&client_id)),
            client_id,
            created_at,
        };
        Ok(rows.into_iter().map(blocked).collect())
    }
}
