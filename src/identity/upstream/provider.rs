//! What is known of each configured provider: its discovery document (Discovery 1.0 §4) and its keys, read when first
//! needed and kept for a while.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{
    AdditionalProviderMetadata, DiscoveryError, HttpRequest, HttpResponse, IssuerUrl, ProviderMetadata,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use super::Fault;
use crate::base::clock::{Clock, Millis};
use crate::base::outbound::{self, FetchLimits, Refused, Trusted};
use crate::config::{Config, Provider};

/// Real discovery documents and key sets have a few kilobytes, and a person is waiting.
const LIMITS: FetchLimits = FetchLimits { max_bytes: 256 << 10, total: std::time::Duration::from_secs(5) };
/// How long a discovery document is good.
const GOOD: Millis = 3_600_000;
/// How long a failure is remembered, so that strangers cannot make us ask again and again.
const FAILURE: Millis = 10_000;
/// Keys are read anew for an unknown key at most this often.
const KEYS: Millis = 30_000;

/// Members of the discovery document that the library does not know.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct More {
    /// Whether its answers always have `iss` (RFC 9207 §3).
    #[serde(rename = "authorization_response_iss_parameter_supported", default)]
    pub says_who_answers: bool,
}
impl AdditionalProviderMetadata for More {}

pub(super) type Metadata = ProviderMetadata<
    More,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// What was read, and when.
#[derive(Debug)]
pub(super) struct Known {
    /// With the keys in it.
    pub metadata: Metadata,
    read_at: Millis,
    keys_at: Millis,
}

#[derive(Debug, Default)]
enum Memory {
    #[default]
    Nothing,
    Known(Arc<Known>),
    Failed {
        at: Millis,
        why: String,
    },
}

/// A configured provider.
#[derive(Debug)]
pub(super) struct Upstream {
    pub provider: Provider,
    trusted: Trusted,
    issuer: IssuerUrl,
    /// Held while the provider is asked: others who need the same wait for that answer.
    memory: Mutex<Memory>,
}

/// Every configured provider, and the key that seals journeys.
#[derive(Debug)]
pub struct Providers {
    all: Vec<Upstream>,
}

impl Providers {
    /// The settings have been checked: an issuer that is no URL was a problem there.
    pub fn new(config: &Config) -> Self {
        let upstream = |provider: &Provider| {
            let trusted = Url::parse(&provider.issuer).ok().and_then(|url| Trusted::of(&url))?;
            let issuer = IssuerUrl::new(provider.issuer.clone()).ok()?;
            Some(Upstream { provider: provider.clone(), trusted, issuer, memory: Mutex::default() })
        };
        Self { all: config.providers.iter().filter_map(upstream).collect() }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Upstream> {
        self.all.iter().find(|upstream| upstream.provider.id == id)
    }
}

impl Upstream {
    /// Endpoints and keys.
    pub(super) async fn known(&self, clock: &Clock) -> Result<Arc<Known>, Fault> {
        let mut memory = self.memory.lock().await;
        let now = clock.now();
        match &*memory {
            Memory::Known(known) if now < known.read_at + GOOD => return Ok(known.clone()),
            Memory::Failed { at, why } if now < at + FAILURE => return Err(Fault::Unusable(why.clone())),
            _ => {}
        }
        match self.discover().await {
            Ok(metadata) => {
                let known = Arc::new(Known { metadata, read_at: now, keys_at: now });
                *memory = Memory::Known(known.clone());
                Ok(known)
            }
            Err(why) => {
                tracing::warn!(provider = self.provider.id, why, "a sign-in provider cannot be used");
                *memory = Memory::Failed { at: now, why: why.clone() };
                Err(Fault::Unusable(why))
            }
        }
    }

    /// As [`Upstream::known`], with keys that were read within the last [`KEYS`] milliseconds.
    pub(super) async fn with_new_keys(&self, clock: &Clock) -> Result<Arc<Known>, Fault> {
        let known = self.known(clock).await?;
        let mut memory = self.memory.lock().await;
        let now = clock.now();
        if let Memory::Known(newer) = &*memory
            && now < newer.keys_at + KEYS
        {
            return Ok(newer.clone());
        }
        let send = self.door();
        let keys = CoreJsonWebKeySet::fetch_async(known.metadata.jwks_uri(), &send).await;
        // A failure counts as a reading too: it is not repeated for each token with an unknown key.
        let (metadata, failed) = match keys {
            Ok(keys) => (known.metadata.clone().set_jwks(keys), None),
            Err(problem) => (known.metadata.clone(), Some(told(&problem))),
        };
        let known = Arc::new(Known { metadata, read_at: known.read_at, keys_at: now });
        *memory = Memory::Known(known.clone());
        failed.map_or(Ok(known), |why| Err(Fault::Unusable(why)))
    }

    /// Our HTTP door, as the library wants it.
    pub(super) fn door(
        &self,
    ) -> impl Fn(HttpRequest) -> BoxFuture<'static, Result<HttpResponse, Refused>> + Send + Sync + use<> {
        let trusted = self.trusted.clone();
        move |request| {
            let trusted = trusted.clone();
            Box::pin(async move {
                let answer = outbound::send(request, &trusted, LIMITS).await?;
                // What a provider answers with (RFC 6749 §5.2); anything else, a redirect among it, is none of its answers.
                match answer.status().as_u16() {
                    200 | 400 | 401 => Ok(answer),
                    other => Err(Refused::Status(other)),
                }
            })
        }
    }

    async fn discover(&self) -> Result<Metadata, String> {
        let send = self.door();
        let metadata = Metadata::discover_async(self.issuer.clone(), &send).await.map_err(|problem| told(&problem))?;
        // As text: URLs that differ in spelling only are different issuers (Discovery §4.3).
        if metadata.issuer().as_str() != self.provider.issuer {
            return Err("the issuer is not the configured one".into());
        }
        let token = metadata.token_endpoint().ok_or("there is no token endpoint")?.url();
        let ends = [token, metadata.authorization_endpoint().url(), metadata.jwks_uri().url()];
        if !ends.iter().all(|url| self.trusted.admits(url)) {
            return Err("an endpoint is neither https nor at the configured issuer".into());
        }
        Ok(metadata)
    }
}

/// A library's error with what is behind it, without the provider's answer.
fn told(problem: &DiscoveryError<Refused>) -> String {
    match problem {
        DiscoveryError::Request(refused) => refused.to_string(),
        DiscoveryError::Parse(problem) => format!("not the expected document: {problem}"),
        DiscoveryError::Response(status, ..) => format!("unexpected answer with status {status}"),
        other => other.to_string(),
    }
}
