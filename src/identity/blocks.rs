//! Blocked clients. A block holds at once and wherever a client could get or use a right: at the authorization
//! endpoint, on the consent page, at the token endpoint, and for every access token that it holds already. It ends
//! nothing: what was granted before works again when the block is taken away. Without a workspace it is everywhere.

use super::Identity;
use crate::base::id::Id;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::store::client_blocks;
pub use crate::store::client_blocks::Block;

/// Bytes of the longest client id that may be blocked: as long as the address of a document may be.
const LONGEST: usize = 512;
/// Blocks of one workspace.
const MOST: usize = 100;

impl Identity {
    /// Blocks a client; `false` when it already is. The client need not be registered: it may be known by its document,
    /// or be expected.
    ///
    /// # Errors
    /// `invalid_argument` for a text that no client id can be; `limit_exceeded` with [`MOST`] blocks in a workspace.
    pub async fn block_client(&self, org: Option<Id<Org>>, client_id: &str) -> Result<bool> {
        if client_id.is_empty() || client_id.len() > LONGEST || !client_id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid("client_id", "A client id has 1 to 512 printable characters and no spaces."));
        }
        if org.is_some() && client_blocks::list(self.0.db.pool(), org).await?.len() >= MOST {
            let message = format!("A workspace blocks at most {MOST} clients. Let one in again first.");
            return Err(Error::new(Code::LimitExceeded, message));
        }
        Ok(client_blocks::insert(&mut *self.0.db.writer().await?, org, client_id, self.0.clock.now()).await?)
    }

    /// Takes a block away from the place where it was put; `false` when there is none.
    pub async fn unblock_client(&self, org: Option<Id<Org>>, client_id: &str) -> Result<bool> {
        Ok(client_blocks::remove(&mut *self.0.db.writer().await?, org, client_id).await?)
    }

    /// The blocks of a workspace, or those of the whole installation; by client.
    pub async fn blocked_clients(&self, org: Option<Id<Org>>) -> Result<Vec<Block>> {
        Ok(client_blocks::list(self.0.db.pool(), org).await?)
    }

    /// Whether a client may not be used: anywhere or, when one is named, in this workspace.
    pub async fn is_blocked(&self, client_id: &str, org: Option<Id<Org>>) -> Result<bool> {
        Ok(client_blocks::is_blocked(self.0.db.pool(), org, client_id).await?)
    }
}
