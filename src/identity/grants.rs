//! Grants: from a person's approval to codes, access tokens and rotating refresh tokens (RFC 6749, RFC 9700).
//! A grant is a family: everything issued under it ends with it. Each step is one transaction that first locks the
//! family's row, so that of two calls at once the second sees what the first did.

use super::Identity;
use super::token::read_scopes;
use crate::base::clock::{Millis, millis};
use crate::base::id::Id;
use crate::base::secret::{
    Secret, base64url, checked_token, checked_token_of, hmac_bytes, is_well_formed, same, sha256, sha256_hex,
};
use crate::base::throttle::Wait;
use crate::model::access::Scope;
use crate::model::acr::Acr;
use crate::model::error::{Error, Result};
use crate::model::grant::{parse_scopes, scope_text, within_role};
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::grants::{self, GrantRow, RefreshRow};
use crate::store::{Tx, client_blocks, members, sessions};

const CODE: &str = "dgac_";
const REFRESH: &str = "dgrt_";

/// A client that sends its code twice within this time lost an answer or pressed twice: the second is refused, and
/// the first stays good. Later it is a leaked code, and the family ends (RFC 9700 §4.5.3).
const DOUBLE_SEND: Millis = 10_000;

/// What a person approved on the consent page.
#[derive(Clone, Debug)]
pub struct Approval {
    pub client_id: String,
    pub user: Id<User>,
    pub org: Id<Org>,
    pub scopes: Vec<Scope>,
    /// Canonical; becomes the audience.
    pub resource: String,
    pub redirect_uri: String,
    /// S256 (RFC 7636 §4.2).
    pub code_challenge: String,
    /// When the person last proved themselves.
    pub auth_time: Millis,
    /// The browser session that they approved in ([`crate::store::sessions`]).
    pub session_hash: Option<String>,
    /// How well.
    pub acr: Acr,
}

/// What a client receives.
#[derive(Clone, Debug)]
pub struct TokenPair {
    pub access: Secret,
    pub refresh: Secret,
    /// Seconds that the access token lives.
    pub expires_in: u64,
    pub scopes: Vec<Scope>,
}

/// Why no tokens are issued (RFC 6749 §5.2, RFC 8707 §2).
#[derive(Clone, Debug, thiserror::Error)]
pub enum GrantError {
    #[error("{0}")]
    InvalidGrant(&'static str),
    #[error("the resource is not the one that was approved")]
    InvalidTarget,
    #[error("a scope is not one of those that were approved")]
    InvalidScope,
    #[error("the client is blocked")]
    Blocked,
    /// Of this grant; seconds to wait.
    #[error("the grant is refreshed too often")]
    TooOften(Wait),
    #[error("{}", .0.said)]
    Reused(Reuse),
    #[error(transparent)]
    Internal(#[from] Error),
}

/// A code or a refresh token that was used once more than it may be.
#[derive(Clone, Debug)]
pub struct Reuse {
    /// Whose grant it was: the workspace has it in its record.
    pub org: Id<Org>,
    pub user: Id<User>,
    pub client_id: String,
    /// What the client is told.
    pub said: &'static str,
}

impl From<sqlx::Error> for GrantError {
    fn from(cause: sqlx::Error) -> Self {
        GrantError::Internal(cause.into())
    }
}

/// An authorization code as a client presents it.
pub struct CodeUse<'a> {
    pub code: &'a str,
    pub client_id: &'a str,
    /// Compared when sent; OAuth 2.1 does not ask for it.
    pub redirect_uri: Option<&'a str>,
    pub verifier: &'a str,
    pub resource: Option<&'a str>,
}

/// A refresh token as a client presents it.
pub struct RefreshUse<'a> {
    pub token: &'a str,
    pub client_id: &'a str,
    /// Narrows this access token only.
    pub scope: Option<&'a str>,
    pub resource: Option<&'a str>,
}

impl Identity {
    /// Records an approval, and gives the code that stands for it once and briefly.
    ///
    /// # Errors
    /// `invalid_argument` when the person is not a member of the workspace, or the client is blocked there.
    pub async fn approve(&self, approval: Approval) -> Result<Secret> {
        let code = checked_token(CODE);
        if members::role(self.0.db.pool(), approval.org, approval.user).await?.is_none() {
            return Err(not_a_member());
        }
        if client_blocks::is_blocked(self.0.db.pool(), Some(approval.org), &approval.client_id).await? {
            return Err(client_blocked());
        }
        grants::insert(&mut *self.0.db.writer().await?, &self.granted(approval, &code)).await?;
        Ok(code)
    }

    /// The family of an approval, before anything is issued under it.
    pub(super) fn granted(&self, approval: Approval, code: &Secret) -> GrantRow {
        let (now, lifetimes) = (self.0.clock.now(), &self.0.config.limits.lifetimes);
        GrantRow {
            org: approval.org,
            id: Id::<GrantRow>::new(&self.0.clock).to_string(),
            user: approval.user,
            client_id: approval.client_id,
            scopes: scope_text(&approval.scopes),
            resource: approval.resource,
            redirect_uri: approval.redirect_uri,
            code_digest: sha256_hex(code.expose().as_bytes()),
            code_challenge: approval.code_challenge,
            code_expires_at: now + millis(lifetimes.code),
            auth_time: approval.auth_time,
            acr: approval.acr,
            created_at: now,
            redeemed_at: None,
            ends_at: now + millis(lifetimes.refresh_absolute),
            revoked_at: None,
            session_hash: approval.session_hash,
        }
    }

    /// Exchanges a code for the first tokens of its family. Whatever the client can still put right is checked before
    /// the code is used up.
    pub async fn redeem(&self, presented: CodeUse<'_>) -> Result<TokenPair, GrantError> {
        if !is_well_formed(CODE, presented.code) {
            return Err(GrantError::InvalidGrant("the code is not valid"));
        }
        let now = self.0.clock.now();
        let digest = sha256_hex(presented.code.as_bytes());
        let mut tx = self.0.db.begin().await?;
        let grant = grants::lock_by_code(&mut tx, &digest, presented.client_id, now).await?;
        let grant = grant.ok_or(GrantError::InvalidGrant("the code is not valid"))?;
        if let Some(redeemed_at) = grant.redeemed_at {
            if now - redeemed_at >= DOUBLE_SEND {
                kill(tx, &grant, "code_reuse", now).await?;
            }
            return Err(reused(&grant, "the code was used already"));
        }
        if grant.revoked_at.is_some() || now >= grant.code_expires_at {
            return Err(GrantError::InvalidGrant("the code is not valid any more"));
        }
        if presented.redirect_uri.is_some_and(|uri| uri != grant.redirect_uri) {
            return Err(GrantError::InvalidGrant("redirect_uri is not the one of the authorization request"));
        }
        if !proves(presented.verifier, &grant.code_challenge) {
            return Err(GrantError::InvalidGrant("code_verifier does not belong to the code_challenge"));
        }
        // The code went through the browser: who has signed out there must not leave it behind for the next one (C16).
        if let Some(session) = &grant.session_hash
            && !sessions::lives(&mut *tx, session, now).await?
        {
            return Err(GrantError::InvalidGrant("the person has signed out"));
        }
        self.first_tokens(tx, &grant, presented.resource).await
    }

    /// Issues the first tokens of a family whose row is locked.
    pub(super) async fn first_tokens(
        &self,
        mut tx: Tx,
        grant: &GrantRow,
        resource: Option<&str>,
    ) -> Result<TokenPair, GrantError> {
        let now = self.0.clock.now();
        same_resource(resource, grant)?;
        not_blocked(&mut tx, grant).await?;
        let scopes = scopes_now(&mut tx, grant, None).await?;
        if !grants::mark_redeemed(&mut tx, grant.org, &grant.id, now).await? {
            return Err(GrantError::InvalidGrant("the code was used already"));
        }
        let refresh = checked_token(REFRESH);
        self.store_refresh(&mut tx, grant, &refresh, 1, now).await?;
        self.answer(tx, grant, refresh, scopes).await
    }

    /// Exchanges a refresh token for the next one. A client that lost the answer may repeat within the retry window
    /// and gets the same successor; any other use of a replaced token is theft, and the family ends (RFC 9700 §4.14.2).
    pub async fn refresh(&self, presented: RefreshUse<'_>) -> Result<TokenPair, GrantError> {
        if !is_well_formed(REFRESH, presented.token) {
            return Err(GrantError::InvalidGrant("the refresh token is not valid"));
        }
        let now = self.0.clock.now();
        let digest = sha256_hex(presented.token.as_bytes());
        let mut tx = self.0.db.begin().await?;
        let grant = grants::lock_by_refresh(&mut tx, &digest, presented.client_id, now).await?;
        let grant = grant.ok_or(GrantError::InvalidGrant("the refresh token is not valid"))?;
        if grant.revoked_at.is_some() || now >= grant.ends_at {
            return Err(GrantError::InvalidGrant("the grant has ended; connect again"));
        }
        let token = grants::refresh(&mut tx, &grant.id, &digest).await?;
        let token = token.ok_or(GrantError::InvalidGrant("the refresh token is not valid"))?;
        let successor = self.successor(presented.token);
        if let Some(superseded_at) = token.superseded_at {
            let retry = millis(self.0.config.limits.lifetimes.refresh_retry);
            let next = grants::refresh(&mut tx, &grant.id, &sha256_hex(successor.expose().as_bytes())).await?;
            let unused = next.is_some_and(|next| next.superseded_at.is_none());
            if !unused || now - superseded_at >= retry {
                kill(tx, &grant, "refresh_reuse", now).await?;
                return Err(reused(&grant, "the refresh token was used already; connect again"));
            }
        } else if now >= token.expires_at {
            return Err(GrantError::InvalidGrant("the refresh token has expired; connect again"));
        }
        self.0.refreshes.check(&grant.id).map_err(GrantError::TooOften)?;
        same_resource(presented.resource, &grant)?;
        not_blocked(&mut tx, &grant).await?;
        let scopes = scopes_now(&mut tx, &grant, presented.scope).await?;
        if token.superseded_at.is_none() {
            grants::supersede(&mut tx, &digest, now).await?;
            self.store_refresh(&mut tx, &grant, &successor, token.generation + 1, now).await?;
        }
        self.answer(tx, &grant, successor, scopes).await
    }

    /// The one token that can follow `token`: derived, so that it can be sent again without being stored.
    fn successor(&self, token: &str) -> Secret {
        checked_token_of(REFRESH, &hmac_bytes(&self.0.refresh_key, token.as_bytes()))
    }

    async fn store_refresh(
        &self,
        tx: &mut Tx,
        grant: &GrantRow,
        token: &Secret,
        generation: i64,
        now: Millis,
    ) -> Result<(), GrantError> {
        let idle = millis(self.0.config.limits.lifetimes.refresh);
        let row = RefreshRow {
            digest: sha256_hex(token.expose().as_bytes()),
            grant_id: grant.id.clone(),
            generation,
            issued_at: now,
            expires_at: grant.ends_at.min(now + idle),
            superseded_at: None,
        };
        Ok(grants::insert_refresh(tx, &row).await?)
    }

    /// Signs inside the transaction: either all of it happened or nothing.
    async fn answer(
        &self,
        tx: Tx,
        grant: &GrantRow,
        refresh: Secret,
        scopes: Vec<Scope>,
    ) -> Result<TokenPair, GrantError> {
        let (access, expires_in) = self.sign(grant, &scopes)?;
        tx.commit().await?;
        Ok(TokenPair { access, refresh, expires_in, scopes })
    }
}

/// The refusal for one who may not approve.
pub(super) fn not_a_member() -> Error {
    Error::invalid("workspace", "You are not a member of this workspace.")
}

/// The refusal of an approval for a client that may not be used in the workspace.
pub(super) fn client_blocked() -> Error {
    Error::invalid("client", "This program is blocked in this workspace.")
}

/// Ends the family, durably, before its caller is refused.
async fn kill(mut tx: Tx, grant: &GrantRow, why: &'static str, now: Millis) -> Result<(), GrantError> {
    grants::revoke(&mut tx, &grant.id, why, now).await?;
    tx.commit().await?;
    tracing::warn!(family = grant.id, client = grant.client_id, workspace = %grant.org, why, "a grant was revoked");
    Ok(())
}

fn reused(grant: &GrantRow, said: &'static str) -> GrantError {
    GrantError::Reused(Reuse { org: grant.org, user: grant.user, client_id: grant.client_id.clone(), said })
}

/// Whether a text has the form of a refresh token of ours.
pub(super) fn is_refresh_token(text: &str) -> bool {
    is_well_formed(REFRESH, text)
}

/// PKCE with S256 (RFC 7636 §4.6).
fn proves(verifier: &str, challenge: &str) -> bool {
    let formed = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~'));
    formed && same(base64url(&sha256(verifier.as_bytes())).as_bytes(), challenge.as_bytes())
}

/// A resource may be left out or repeated, not changed (RFC 8707 §2.2). Another spelling of scheme, host or default
/// port is the same resource.
fn same_resource(said: Option<&str>, grant: &GrantRow) -> Result<(), GrantError> {
    let Some(said) = said else { return Ok(()) };
    let same = said == grant.resource || url::Url::parse(said).is_ok_and(|url| url.as_str() == grant.resource);
    if same { Ok(()) } else { Err(GrantError::InvalidTarget) }
}

/// A block leaves the code and the refresh token as they are: they work when it is taken away.
async fn not_blocked(tx: &mut Tx, grant: &GrantRow) -> Result<(), GrantError> {
    match client_blocks::is_blocked(&mut **tx, Some(grant.org), &grant.client_id).await? {
        true => Err(GrantError::Blocked),
        false => Ok(()),
    }
}

/// What of the approved scopes, or of those among them that the client says, the person's role covers now.
async fn scopes_now(tx: &mut Tx, grant: &GrantRow, said: Option<&str>) -> Result<Vec<Scope>, GrantError> {
    let role = members::role(&mut **tx, grant.org, grant.user).await?;
    let role = role.ok_or(GrantError::InvalidGrant("the person is no longer a member of the workspace"))?;
    let approved = read_scopes(&grant.scopes).ok_or_else(|| Error::internal("a grant's scopes cannot be read"))?;
    let scopes = within_role(&narrowed(said, approved)?, role);
    if scopes.is_empty() {
        return Err(GrantError::InvalidGrant("the person's role covers none of the approved scopes"));
    }
    Ok(scopes)
}

/// The scopes that a client asks for now; all when it names none.
fn narrowed(said: Option<&str>, granted: Vec<Scope>) -> Result<Vec<Scope>, GrantError> {
    let names_any = |text: &&str| text.split(' ').any(|word| !word.is_empty() && word != "offline_access");
    let Some(said) = said.filter(names_any) else { return Ok(granted) };
    let wanted = parse_scopes(said).map_err(|_| GrantError::InvalidScope)?;
    if wanted.iter().all(|scope| granted.contains(scope)) { Ok(wanted) } else { Err(GrantError::InvalidScope) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pkce_matches_the_example_of_rfc_7636() {
        // RFC 7636 appendix B.
        let (verifier, challenge) =
            ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert!(proves(verifier, challenge));
        assert!(!proves(challenge, challenge), "plain");
        assert!(!proves("", challenge));
        assert!(!proves(&verifier[..42], challenge));
        assert!(!proves(&"a".repeat(129), &base64url(&sha256("a".repeat(129).as_bytes()))));
        assert!(!proves(&"é".repeat(30), &base64url(&sha256("é".repeat(30).as_bytes()))));
    }

    #[test]
    fn a_refresh_may_narrow_and_never_widen() {
        let granted = vec![Scope::DataRead, Scope::DataWrite];
        let read = vec![Scope::DataRead];
        assert_eq!(narrowed(None, granted.clone()).unwrap(), granted);
        assert_eq!(narrowed(Some(""), granted.clone()).unwrap(), granted);
        assert_eq!(narrowed(Some("offline_access"), granted.clone()).unwrap(), granted);
        assert_eq!(narrowed(Some("data_agent:read offline_access"), granted.clone()).unwrap(), read);
        for wide in ["datasets:write", "data_agent:read workspace:admin", "nonsense"] {
            assert!(matches!(narrowed(Some(wide), granted.clone()), Err(GrantError::InvalidScope)), "{wide}");
        }
    }
}
