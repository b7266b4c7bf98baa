//! Signing in at another provider through OpenID Connect (Core 1.0, authorization code flow with PKCE).
//!
//! 1. [`Identity::depart`] makes state, nonce and PKCE verifier and the address to go to (`provider` knows the
//!    provider's endpoints and keys);
//! 2. the surface keeps them sealed in the browser as a [`Journey`]: nothing is stored for strangers;
//! 3. [`Identity::arrive`] exchanges the code and judges the ID token (`id_token`);
//! 4. [`Identity::admit`] decides which account the proven [`Foreigner`] is, by issuer and subject alone;
//! 5. [`Foreigner::proven_at`] says since when they are known, and whether they signed in anew where they had to.
//!
//! The only thing of ours that a provider ever gets is the code exchange: client id, client secret, code, verifier,
//! redirect address.

mod admission;
mod id_token;
mod journey;
mod provider;

use std::time::Duration;

use openidconnect::core::{CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod};
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, ErrorResponse, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope, TokenResponse as _,
};
use url::Url;

pub use self::admission::{Admission, Linking, Unlinking};
use self::id_token::OurClient;
pub use self::journey::{Errand, Journey, Waiting, tag};
pub use self::provider::Providers;
use self::provider::{Known, Upstream};
use super::Identity;
use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::random_token;
use crate::config::Provider;
use crate::model::user::User;

/// Asks for the time of the sign-in at the provider (Core §5.5); one that does not know how to ask for claims takes no
/// notice.
const AUTH_TIME: &str = r#"{"id_token":{"auth_time":{"essential":true}}}"#;

/// Why somebody cannot sign in through a provider. The texts are for logs.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("there is no such provider")]
    Unknown,
    /// Discovery, keys or token endpoint: nothing was proven or disproven.
    #[error("the provider cannot be used: {0}")]
    Unusable(String),
    /// The provider did not take the code: it is another provider's, was used, or is too old.
    #[error("the provider refused the code")]
    Code,
    #[error("the ID token is refused: {0}")]
    IdToken(String),
    #[error("the e-mail address is not verified")]
    Unverified,
}

/// Who somebody is at a provider, proven by an ID token.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Foreigner {
    /// The provider's id in our settings.
    pub provider: String,
    pub issuer: String,
    /// Never changes and is never given to another person (Core §2), other than the e-mail address.
    pub subject: String,
    /// In its stored form, only when the provider says that it is verified.
    pub email: Option<String>,
    pub name: Option<String>,
    /// Google's `hd`: the organisation that manages the account.
    pub hosted_domain: Option<String>,
    /// When they proved themselves to the provider, by its clock, where it says so (Core §2).
    pub auth_time: Option<Millis>,
}

/// Where to go, and what to keep until the return.
#[derive(Debug)]
pub struct Departure {
    pub url: Url,
    pub journey: Journey,
}

impl Identity {
    /// The configured provider with this id.
    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.0.config.providers.iter().find(|provider| provider.id == id)
    }

    /// The host that people are sent to for signing in at a provider.
    ///
    /// # Errors
    /// [`Fault::Unknown`], [`Fault::Unusable`].
    pub async fn upstream_host(&self, id: &str) -> Result<String, Fault> {
        let known = self.upstream(id)?.known(&self.0.clock).await?;
        Ok(known.metadata.authorization_endpoint().url().host_str().unwrap_or_default().to_owned())
    }

    /// Sends somebody away to sign in (Core §3.1.2.1).
    ///
    /// # Errors
    /// [`Fault::Unknown`], [`Fault::Unusable`].
    pub async fn depart(&self, id: &str, errand: Errand) -> Result<Departure, Fault> {
        let upstream = self.upstream(id)?;
        let known = upstream.known(&self.0.clock).await?;
        let journey = Journey {
            provider: id.to_owned(),
            state: random_token("").expose().to_owned(),
            nonce: random_token("").expose().to_owned(),
            verifier: random_token("").expose().to_owned(),
            errand,
        };
        let verifier = PkceCodeVerifier::new(journey.verifier.clone());
        let (state, nonce) = (journey.state.clone(), journey.nonce.clone());
        let client = self.client_at(upstream, &known)?;
        let request = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, || CsrfToken::new(state), || Nonce::new(nonce))
            .add_scope(Scope::new("email".into()))
            .add_scope(Scope::new("profile".into()))
            .add_extra_param("claims", AUTH_TIME)
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        let (url, ..) = match &journey.errand {
            Errand::SignIn { anew: Some(_), .. } => request.add_prompt(anew(id)).set_max_age(Duration::ZERO).url(),
            Errand::SignIn { .. } | Errand::Link { .. } => request.url(),
        };
        Ok(Departure { url, journey })
    }

    /// Whether the `iss` of an answer (RFC 9207) is the one that this provider's answers must have.
    ///
    /// # Errors
    /// [`Fault::Unknown`], [`Fault::Unusable`].
    pub async fn is_answer_of(&self, id: &str, iss: Option<&str>) -> Result<bool, Fault> {
        let upstream = self.upstream(id)?;
        Ok(match iss {
            Some(iss) => iss == upstream.provider.issuer,
            None => !upstream.known(&self.0.clock).await?.metadata.additional_metadata().says_who_answers,
        })
    }

    /// Exchanges the code of a journey's return and judges the ID token (Core §3.1.3).
    ///
    /// # Errors
    /// [`Fault`].
    pub async fn arrive(&self, journey: &Journey, code: &str) -> Result<Foreigner, Fault> {
        let upstream = self.upstream(&journey.provider)?;
        let known = upstream.known(&self.0.clock).await?;
        let send = upstream.door();
        let client = self.client_at(upstream, &known)?;
        let request = client
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|problem| Fault::Unusable(problem.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(journey.verifier.clone()));
        let answer = request.request_async(&send).await.map_err(|problem| fault(&problem))?;
        let token = answer.id_token().ok_or_else(|| Fault::IdToken("there is none".into()))?;
        let nonce = Nonce::new(journey.nonce.clone());
        let now = self.0.clock.now();
        let judged = match id_token::judge(&upstream.provider, known.metadata.jwks(), token, &nonce, now) {
            Err(id_token::Refusal::UnknownKey) => {
                // Keys may have been rotated since they were read.
                let known = upstream.with_new_keys(&self.0.clock).await?;
                id_token::judge(&upstream.provider, known.metadata.jwks(), token, &nonce, now)
            }
            judged => judged,
        };
        judged.map_err(|refusal| match refusal {
            id_token::Refusal::UnverifiedEmail => Fault::Unverified,
            refusal => Fault::IdToken(refusal.to_string()),
        })
    }

    fn upstream(&self, id: &str) -> Result<&Upstream, Fault> {
        self.0.providers.get(id).ok_or(Fault::Unknown)
    }

    /// The library's client for what is known of a provider.
    fn client_at(&self, upstream: &Upstream, known: &Known) -> Result<OurClient, Fault> {
        let provider = &upstream.provider;
        let back = self.0.config.url(&format!("/login/{}/callback", provider.id));
        let back = RedirectUrl::new(back).map_err(|problem| Fault::Unusable(problem.to_string()))?;
        let secret = provider.client_secret.as_ref().map(|secret| ClientSecret::new(secret.expose().to_owned()));
        let client_id = ClientId::new(provider.client_id.clone());
        let client = OurClient::from_provider_metadata(known.metadata.clone(), client_id, secret);
        // Basic is what a provider takes that says nothing (Discovery §3).
        let methods = known.metadata.token_endpoint_auth_methods_supported();
        let basic = methods.is_none_or(|all| {
            all.contains(&CoreClientAuthMethod::ClientSecretBasic)
                || !all.contains(&CoreClientAuthMethod::ClientSecretPost)
        });
        let how = if basic { AuthType::BasicAuth } else { AuthType::RequestBody };
        Ok(client.set_redirect_uri(back).set_auth_type(how))
    }
}

/// The prompt with which a provider has somebody sign in anew. Google knows no `login`; it lets people choose, and sign
/// in to, another account.
fn anew(provider: &str) -> CoreAuthPrompt {
    if provider == "google" { CoreAuthPrompt::SelectAccount } else { CoreAuthPrompt::Login }
}

/// What an exchange failed with. Nothing of the provider's answer is kept: it may hold tokens.
fn fault<E: std::error::Error, T: ErrorResponse>(problem: &RequestTokenError<E, T>) -> Fault {
    match problem {
        RequestTokenError::Request(cause) => Fault::Unusable(cause.to_string()),
        RequestTokenError::ServerResponse(_) => Fault::Code,
        RequestTokenError::Parse(..) => Fault::IdToken("the answer is not a token response".into()),
        RequestTokenError::Other(text) => Fault::Unusable(text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn google_is_asked_in_its_own_way_for_a_new_sign_in() {
        assert_eq!((anew("google"), anew("oidc")), (CoreAuthPrompt::SelectAccount, CoreAuthPrompt::Login));
    }
}
