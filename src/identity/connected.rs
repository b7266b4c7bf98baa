//! Clients that people have connected to a workspace, as its admins see and end them.

use super::Identity;
use super::clients::verified_host;
use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::org::Org;
pub use crate::store::connected::ConnectedRow;
use crate::store::{clients, connected};

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

    /// What a client is called: as it registered, or the host of its document; empty for one that is not known.
    pub async fn client_label(&self, client_id: &str) -> Result<String> {
        let registered = clients::by_id(self.0.db.pool(), client_id).await?.map(|client| client.name);
        Ok(registered.or_else(|| verified_host(client_id)).unwrap_or_default())
    }
}
