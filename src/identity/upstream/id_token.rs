//! Whether an ID token proves anything (Core §3.1.3.7). Signature, issuer, audience, expiry and nonce are checked by the
//! library against our clock; what it leaves to its user is checked here: which algorithms, `azp`, `iat`, the e-mail.

use std::time::{Duration, SystemTime};

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey, CoreJsonWebKeySet,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, ClaimsVerificationError, Client, ClientId, EmptyExtraTokenFields, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IdToken, IdTokenFields, IdTokenVerifier, IssuerUrl, Nonce, SignatureVerificationError,
    StandardErrorResponse, StandardTokenResponse,
};
use serde::{Deserialize, Serialize};

use super::{Foreigner, Millis};
use crate::config::Provider;
use crate::model::user::checked_email;

/// How far a provider's clock may be from ours.
pub(super) const SKEW: Millis = 60_000;
/// Asymmetric signatures only: neither `none`, nor HMAC, whose key could be taken for a public one.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];
/// Bytes of the longest subject (Core §2 says 255).
const LONGEST: usize = 255;

/// Claims that are not OpenID Connect's own.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct More {
    /// Google: the domain of the organisation that manages the account.
    hd: Option<String>,
}
impl AdditionalClaims for More {}

pub(super) type Token = IdToken<More, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;

type Fields = IdTokenFields<
    More,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

/// The library's client with our claims.
pub(super) type OurClient = Client<
    More,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Why a token proves nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("no key fits")]
    UnknownKey,
    #[error("{0}")]
    Claims(ClaimsVerificationError),
    #[error("it was issued to another client")]
    AuthorizedParty,
    #[error("the subject is empty or too long")]
    Subject,
    #[error("the e-mail address is not verified")]
    UnverifiedEmail,
    #[error("the issuer in the settings is not a URL")]
    Issuer,
}

/// Judges a token at `now`.
pub(super) fn judge(
    provider: &Provider,
    keys: &CoreJsonWebKeySet,
    token: &Token,
    nonce: &Nonce,
    now: Millis,
) -> Result<Foreigner, Refusal> {
    let issuer = IssuerUrl::new(provider.issuer.clone()).map_err(|_| Refusal::Issuer)?;
    // As if we were a public client, even with a secret: its only use here would be HMAC.
    let verifier = IdTokenVerifier::new_public_client(ClientId::new(provider.client_id.clone()), issuer, keys.clone())
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || (SystemTime::UNIX_EPOCH + Duration::from_millis(now.try_into().unwrap_or(0))).into())
        .set_issue_time_verifier_fn(move |issued| match issued.timestamp_millis() <= now.saturating_add(SKEW) {
            true => Ok(()),
            false => Err("issued in the future".into()),
        });
    let claims = token.claims(&verifier, nonce).map_err(|problem| match problem {
        ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey) => {
            Refusal::UnknownKey
        }
        other => Refusal::Claims(other),
    })?;
    if claims.authorized_party().is_some_and(|party| **party != provider.client_id) {
        return Err(Refusal::AuthorizedParty);
    }
    let subject = claims.subject().as_str();
    if subject.is_empty() || subject.len() > LONGEST {
        return Err(Refusal::Subject);
    }
    if claims.email_verified() == Some(false) {
        return Err(Refusal::UnverifiedEmail);
    }
    let verified = claims.email().filter(|_| claims.email_verified() == Some(true));
    Ok(Foreigner {
        provider: provider.id.to_owned(),
        issuer: provider.issuer.clone(),
        subject: subject.to_owned(),
        email: verified.and_then(|email| checked_email(email.as_str()).ok()),
        name: claims.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned()),
        hosted_domain: claims.additional_claims().hd.as_ref().map(|domain| domain.to_lowercase()),
        auth_time: claims.auth_time().map(|at| at.timestamp_millis()),
    })
}
