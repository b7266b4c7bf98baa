//! Revocation at a client's wish (RFC 7009).

use super::Identity;
use super::grants::is_refresh_token;
use super::proven::Refusal;
use crate::base::secret::sha256_hex;
use crate::model::error::Result;
use crate::store::grants::{self, Ended};

/// What the family's row keeps as the reason.
const WHY: &str = "client";

impl Identity {
    /// Ends the family that a token belongs to. `None`, with nothing changed, for a token that is unknown, not this
    /// client's, a refresh token past its time, or of a family that has ended already: the outside must not learn
    /// which (RFC 7009 §2.2).
    ///
    /// An access token takes its family with it, as RFC 7009 §2.1 allows: there is no list of single revoked tokens,
    /// and the refresh token would only fetch the next one. One past its time still says whose family it was.
    pub async fn revoke(&self, token: &str, client_id: &str) -> Result<Option<Ended>> {
        let now = self.0.clock.now();
        let claims = match is_refresh_token(token) {
            true => None,
            false => match self.signed(token).await {
                Ok(claims) => Some(claims),
                Err(Refusal::Internal(problem)) => return Err(problem),
                Err(_) => return Ok(None),
            },
        };
        let mut tx = self.0.db.begin().await?;
        let ended = match &claims {
            Some(claims) => grants::revoke_by_access(&mut tx, claims.org, &claims.fam, client_id, WHY, now).await?,
            None => grants::revoke_by_refresh(&mut tx, &sha256_hex(token.as_bytes()), client_id, WHY, now).await?,
        };
        tx.commit().await?;
        Ok(ended)
    }
}
