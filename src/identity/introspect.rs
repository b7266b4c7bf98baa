//! What a token says and whether it lives (RFC 7662), for the confidential clients that may know.

use serde_json::{Value, json};

use super::Identity;
use super::confidential::KnownClient;
use super::grants::is_refresh_token;
use super::proven::Refusal;
use super::token::read_scopes;
use crate::base::id::Id;
use crate::base::secret::sha256_hex;
use crate::model::access::{Role, Scope};
use crate::model::error::{Error, Result};
use crate::model::grant::{scope_text, within_role};
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::grants;

/// A living token.
#[derive(Clone, Debug, PartialEq)]
pub struct Living {
    pub org: Id<Org>,
    pub user: Id<User>,
    /// `access_token` or `refresh_token`.
    pub kind: &'static str,
    /// The members of RFC 7662 §2.2; an object.
    pub claims: Value,
}

impl Identity {
    /// What a token says, when it lives and is the client's to ask about: its own, or any access token if it may
    /// introspect. `None` for everything else alike (RFC 7662 §2.2: the outside must not learn why). Nothing is used up
    /// or counted. A token of a workspace that is closed to clients is worth nothing and so does not live.
    pub async fn introspect(&self, token: &str, by: &KnownClient) -> Result<Option<Living>> {
        let found = match is_refresh_token(token) {
            true => self.living_refresh(token, by).await,
            false => self.living_access(token, by).await,
        };
        match found {
            // A workspace that does not let the client in tells it nothing.
            Ok(living) => Ok((!self.is_blocked(&by.id, Some(living.org)).await?).then_some(living)),
            Err(Refusal::Internal(error)) => Err(error),
            Err(Refusal::Invalid | Refusal::Expired | Refusal::Revoked) => Ok(None),
        }
    }

    async fn living_access(&self, token: &str, by: &KnownClient) -> Result<Living, Refusal> {
        let mut claims = self.signed(token).await?;
        if claims.client_id != by.id && !by.may_introspect {
            return Err(Refusal::Invalid);
        }
        self.in_time(&claims)?;
        // We ourselves forgive a minute, for our clocks; a token that is said to live here is not past its time.
        if claims.exp <= self.0.clock.now() / 1000 {
            return Err(Refusal::Expired);
        }
        let role = self.open_standing(claims.org, &claims.fam, claims.sub, &claims.client_id).await?;
        // What holds now: who trusts this answer gives no more than we would.
        claims.scope = scope_now(&claims.scope, role)?;
        let (org, user) = (claims.org, claims.sub);
        let mut body = serde_json::to_value(claims).map_err(Error::internal)?;
        if let Some(members) = body.as_object_mut() {
            members.remove("fam");
            members.insert("active".into(), true.into());
            members.insert("token_type".into(), "Bearer".into());
        }
        Ok(Living { org, user, kind: "access_token", claims: body })
    }

    async fn living_refresh(&self, token: &str, by: &KnownClient) -> Result<Living, Refusal> {
        let digest = sha256_hex(token.as_bytes());
        let found = grants::peek_refresh(self.0.db.pool(), &digest, &by.id).await?;
        let (grant, refresh) = found.ok_or(Refusal::Invalid)?;
        if refresh.superseded_at.is_some() || refresh.expires_at <= self.0.clock.now() {
            return Err(Refusal::Expired);
        }
        let role = self.open_standing(grant.org, &grant.id, grant.user, &grant.client_id).await?;
        let claims = json!({
            "active": true,
            "scope": scope_now(&grant.scopes, role)?,
            "client_id": grant.client_id,
            "sub": grant.user,
            "aud": grant.resource,
            "iss": self.0.config.issuer(),
            "exp": refresh.expires_at / 1000,
            "iat": refresh.issued_at / 1000,
            "auth_time": grant.auth_time / 1000,
            "org": grant.org,
        });
        Ok(Living { org: grant.org, user: grant.user, kind: "refresh_token", claims })
    }

    async fn open_standing(
        &self,
        org: Id<Org>,
        family: &str,
        user: Id<User>,
        client_id: &str,
    ) -> Result<Role, Refusal> {
        let (state, role) = self.standing(org, family, user, client_id).await?;
        if state.org.connectivity_enabled { Ok(role) } else { Err(Refusal::Revoked) }
    }
}

/// Those of the scopes that the role covers; a token with none of them opens nothing.
fn scope_now(text: &str, role: Role) -> Result<String, Refusal> {
    let scopes: Vec<Scope> = within_role(&read_scopes(text).ok_or(Refusal::Invalid)?, role);
    if scopes.is_empty() { Err(Refusal::Revoked) } else { Ok(scope_text(&scopes)) }
}
