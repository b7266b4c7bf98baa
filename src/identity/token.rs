//! Access tokens: EdDSA `at+jwt` (RFC 9068), and the one place that says who a bearer is.

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header, encode};
use serde::{Deserialize, Serialize};

use super::clients::verified_host;
use super::proven::{Proven, Refusal};
use super::{Identity, connectivity};
use crate::base::clock::millis;
use crate::base::id::Id;
use crate::base::secret::{Secret, random_token};
use crate::model::access::{Rights, Role, Scope};
use crate::model::acr::Acr;
use crate::model::caller::{Client, Proof};
use crate::model::error::Error;
use crate::model::grant::scope_text;
use crate::model::org::Org;
use crate::model::user::User;
use crate::store::grants::{self, FamilyState, GrantRow};

/// The header's `typ` (RFC 9068 §2.1).
const TYPE: &str = "at+jwt";
/// Longer bearers are not looked at.
const MAX_BYTES: usize = 8 * 1024;
/// By how much the clocks of two nodes may differ.
pub(super) const SKEW: Duration = Duration::from_secs(60);

/// The claims. Times are whole seconds (RFC 7519 §2); a claim of another type, twice, or missing is no token of ours.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Claims {
    iss: String,
    aud: String,
    pub(super) sub: Id<User>,
    pub(super) client_id: String,
    pub(super) scope: String,
    pub(super) exp: i64,
    iat: i64,
    nbf: i64,
    jti: String,
    auth_time: i64,
    acr: Acr,
    pub(super) org: Id<Org>,
    pub(super) fam: String,
}

impl Identity {
    /// Signs an access token under a grant, and says for how many seconds it lives.
    pub(super) fn sign(&self, grant: &GrantRow, scopes: &[Scope]) -> Result<(Secret, u64), Error> {
        let now = self.0.clock.now();
        let ring = self.0.keys.ring();
        let (kid, key) = ring.signer(now)?;
        let access = millis(self.0.config.limits.lifetimes.access);
        let ends = grant.ends_at.min(now + access);
        let claims = Claims {
            iss: self.0.config.issuer(),
            aud: grant.resource.clone(),
            sub: grant.user,
            client_id: grant.client_id.clone(),
            scope: scope_text(scopes),
            exp: ends / 1000,
            iat: now / 1000,
            nbf: now / 1000,
            jti: random_token("").expose().to_owned(),
            auth_time: grant.auth_time / 1000,
            acr: grant.acr,
            org: grant.org,
            fam: grant.id.clone(),
        };
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(TYPE.to_owned());
        header.kid = Some(kid.to_owned());
        let token = encode(&header, &claims, &key).map_err(Error::internal)?;
        Ok((Secret::new(token), u64::try_from(claims.exp - claims.iat).unwrap_or(0)))
    }

    /// Who the bearer is at `resource`, the canonical address of the endpoint that was called.
    ///
    /// # Errors
    /// [`Refusal`]. A forged, foreign or malformed token is always `Invalid`; `Expired` and `Revoked` are said only of
    /// tokens that we made.
    pub async fn verify(&self, bearer: &str, resource: &str) -> Result<Proven, Refusal> {
        if bearer.len() > MAX_BYTES {
            return Err(Refusal::Invalid);
        }
        if bearer.starts_with(connectivity::PREFIX) {
            return self.verify_connectivity(bearer).await;
        }
        let claims = self.claims(bearer, resource).await?;
        let scopes = read_scopes(&claims.scope).ok_or(Refusal::Invalid)?;
        let (state, role) = self.standing(claims.org, &claims.fam, claims.sub, &claims.client_id).await?;
        let client = state.client_name.clone().or_else(|| verified_host(&claims.client_id)).unwrap_or_default();
        Ok(Proven {
            org: state.org.clone(),
            user: Some(state.user.clone()),
            role,
            rights: Rights::of_scopes(&scopes).and(Rights::of_role(role)),
            proof: Proof::AccessToken { family: claims.fam, auth_time: claims.auth_time },
            client: Client { id: claims.client_id, name: client, ..Client::default() },
        })
    }

    /// A family as it is now, and what its person is; refused when it has ended, or its client may not be used.
    pub(super) async fn standing(
        &self,
        org: Id<Org>,
        family: &str,
        user: Id<User>,
        client_id: &str,
    ) -> Result<(Arc<FamilyState>, Role), Refusal> {
        let (known, key) = (&self.0.known.families, (org, family.to_owned(), user, client_id.to_owned()));
        let state = match known.known(&key).await {
            Some(state) => state,
            None => {
                let found = grants::state(self.0.db.pool(), org, family, user, client_id).await?;
                let (stamp, state) = found.ok_or(Refusal::Invalid)?;
                known.keep(key, stamp, state)
            }
        };
        let ended = state.revoked_at.is_some() || state.client_blocked;
        let role = state.role.filter(|_| !ended).ok_or(Refusal::Revoked)?;
        Ok((state, role))
    }

    /// The claims of a token of ours that is good for this resource now (RFC 9068 §4).
    async fn claims(&self, bearer: &str, resource: &str) -> Result<Claims, Refusal> {
        let claims = self.signed(bearer).await?;
        if claims.aud != resource {
            return Err(Refusal::Invalid);
        }
        self.in_time(&claims)?;
        Ok(claims)
    }

    /// Whether a token's time has come and not gone.
    pub(super) fn in_time(&self, claims: &Claims) -> Result<(), Refusal> {
        let (now, skew) = (self.0.clock.now() / 1000, SKEW.as_secs() as i64);
        if claims.nbf > now + skew || claims.iat > now + skew {
            return Err(Refusal::Invalid);
        }
        if claims.exp.saturating_add(skew) <= now {
            return Err(Refusal::Expired);
        }
        Ok(())
    }

    /// The claims of a token that we signed, whatever it is for and however old it is (RFC 8725 §3). The algorithm, the
    /// key and the type are what our record says, never what the token says.
    pub(super) async fn signed(&self, bearer: &str) -> Result<Claims, Refusal> {
        if bearer.len() > MAX_BYTES {
            return Err(Refusal::Invalid);
        }
        if let Some(signed) = self.0.known.signed(bearer)
            && self.0.keys.ring().verifier(&signed.0, self.0.clock.now(), self.key_retention()).is_some()
        {
            return Ok(signed.1.clone());
        }
        let header = decode_header(bearer).map_err(|_| Refusal::Invalid)?;
        let typed = header.typ.is_some_and(|typ| typ.eq_ignore_ascii_case(TYPE));
        if !typed || header.alg != Algorithm::EdDSA || header.crit.is_some() {
            return Err(Refusal::Invalid);
        }
        let kid = header.kid.ok_or(Refusal::Invalid)?;
        let mut ring = self.0.keys.ring();
        if !ring.has(&kid) {
            self.0.keys.look_for(&kid, &self.0.db).await?;
            ring = self.0.keys.ring();
        }
        let key = ring.verifier(&kid, self.0.clock.now(), self.key_retention()).ok_or(Refusal::Invalid)?;
        let issuer = self.0.config.issuer();
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_required_spec_claims(&["exp", "nbf", "iss", "aud", "sub"]);
        validation.set_issuer(&[&issuer]);
        // The library would accept any member of a set: ours is a single text, which the caller compares whole.
        validation.validate_aud = false;
        // The caller compares times, with our clock instead of the library's.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let claims = decode::<Claims>(bearer, key, &validation).map_err(|_| Refusal::Invalid)?.claims;
        if claims.iss != issuer {
            return Err(Refusal::Invalid);
        }
        Ok(self.0.known.keep_signed(bearer, kid, claims).1.clone())
    }
}

/// The scopes of a claim or a stored grant: unlike in a request, nothing is assumed when there are none, and an
/// unknown one makes the whole unreadable.
pub(super) fn read_scopes(text: &str) -> Option<Vec<Scope>> {
    text.split(' ').filter(|word| !word.is_empty()).map(Scope::parse).collect()
}
