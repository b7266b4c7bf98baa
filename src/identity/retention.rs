//! How long the audit log is kept. Entries go in their order once their time is over, verified before they go; where a
//! chain then begins is authenticated, so that nobody who has only the database can cut off more.

use super::Identity;
use super::sweep::BATCH;
use crate::base::clock::{Millis, millis};
use crate::base::secret::{hmac_hex, same};
use crate::model::error::Result;
use crate::store::audit::Head;
use crate::store::audit::cuts::{self, Cut, Expired};

impl Identity {
    /// Deletes the entries that are past their time at `now`, for as long as `holder` has the turn; returns how many.
    pub(super) async fn expire_audit(&self, holder: &str, now: Millis) -> Result<u64> {
        let Some(kept) = self.0.config.limits.lifetimes.audit else { return Ok(0) };
        let before = now - millis(kept);
        let mut count = 0;
        for chain in cuts::expiring(&self.0.db, before).await? {
            loop {
                match cuts::expire(&self.0.db, &chain, before, BATCH, |head| self.mac(head)).await? {
                    Expired::Gone(gone) => {
                        count += gone;
                        if !self.sweeping(holder).await? {
                            return Ok(count);
                        }
                        if gone < BATCH as u64 {
                            break;
                        }
                    }
                    Expired::Broken(seq) => {
                        tracing::error!(
                            chain,
                            seq,
                            "an entry of the audit log is missing or was changed; it and later ones are kept"
                        );
                        break;
                    }
                }
            }
        }
        Ok(count)
    }

    /// Whether this service cut the chain there.
    pub(super) fn is_ours(&self, cut: &Cut) -> bool {
        same(self.mac(&cut.head).as_bytes(), cut.mac.as_bytes())
    }

    fn mac(&self, head: &Head) -> String {
        let message = format!("{}\n{}\n{}", head.chain, head.seq, head.hash);
        hmac_hex(&self.0.audit_key, message.as_bytes())
    }
}
