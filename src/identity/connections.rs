//! The programs that a person has connected, and how they end one.

use super::Identity;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::model::error::Result;
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::connections;
pub use crate::store::connections::Connection;

impl Identity {
    /// A person's living grants in all their workspaces, last used first.
    pub async fn connections(&self, user: Id<User>) -> Result<Vec<Connection>> {
        let now = self.0.clock.now();
        let since = now - self.0.config.limits.lifetimes.refresh.as_millis() as Millis;
        Ok(connections::of_user(self.0.db.pool(), user, now, since).await?)
    }

    /// Ends one of a person's own grants; its tokens are refused from then on. Returns its workspace and client, or
    /// `None` when there is no such grant of theirs.
    pub async fn disconnect_own(&self, user: Id<User>, grant: &str) -> Result<Option<(Id<Org>, String)>> {
        Ok(connections::end_own(self.0.db.pool(), user, grant, "owner", self.0.clock.now()).await?)
    }
}
