//! Clients that are known by the address of a document about them (OAuth Client ID Metadata Document, draft -00): the
//! client id is an https URL, and what would be registered is read from there. They need no registration.
//!
//! 1. [`address`] judges the id as raw text; nothing is fetched for one that it refuses.
//! 2. A pinned document is used as it is: some publishers answer data centres with a challenge page. So are those that
//!    ChatGPT has for single apps, which all have one form.
//! 3. Any other is fetched through `base::outbound`, judged by [`read`], and remembered for as long as it says.
//!
//! To the outside every failure is the same: the client is unknown. The reason is logged.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use url::{Host, Url};

use crate::base::clock::{Clock, Millis};
use crate::base::outbound::{FetchLimits, Fetched, Refused};
use crate::identity::own_name;
use crate::identity::redirect::{self, Kind};
use crate::model::name;
use crate::store::clients::OAuthClient;

/// Bytes of the longest id. It travels in every access token; those of real clients have under 100.
const LONGEST: usize = 512;
/// The draft's recommendation for the size, and a time that a waiting browser bears.
pub(super) const LIMITS: FetchLimits = FetchLimits { max_bytes: 5 << 10, total: Duration::from_secs(5) };
/// How long a document is good: at least, when it does not say, at most.
const LEAST: Millis = 30_000;
const UNSAID: Millis = 300_000;
const MOST: Millis = 24 * 3_600_000;
/// How long a failure is remembered: long enough to break a flood, short enough for one who repairs the document.
const FAILURE: Millis = 10_000;
/// Documents kept at a time.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);
/// Fetches under way at a time.
const AT_ONCE: usize = 16;
/// Characters of a name that are kept.
const NAME: usize = 200;

/// Documents that are known without fetching: id, name, redirect addresses.
const PINNED: [(&str, &str, &[&str]); 3] = [
    (
        "https://claude.ai/oauth/mcp-oauth-client-metadata",
        "Claude",
        &["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
    ),
    (
        "https://claude.ai/oauth/claude-code-client-metadata",
        "Claude Code",
        &["http://localhost/callback", "http://127.0.0.1/callback"],
    ),
    ("https://chatgpt.com/oauth/client.json", "ChatGPT", &["https://chatgpt.com/connector_platform_oauth_redirect"]),
];

/// Why a document is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("not a JSON object with client_id, client_name and redirect_uris")]
    Shape,
    #[error("its client_id is not its address")]
    Id,
    #[error("its client_name is empty")]
    Name,
    #[error("its client_name claims to be this service")]
    OwnName,
    #[error("it holds a secret")]
    Secret,
    #[error("the client cannot do without proving itself at the token endpoint")]
    Method,
    #[error("the client does not use the code grant")]
    Grant,
    #[error("{0}")]
    Redirect(#[from] redirect::Unfit),
}

/// What is read of a document. A repeated member is refused by serde.
#[derive(Debug, Deserialize)]
struct Document {
    client_id: String,
    client_name: String,
    redirect_uris: Vec<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    token_endpoint_auth_method: Option<String>,
    /// OpenID RP Metadata Choices: what the client can do besides what it prefers.
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    jwks: Option<Value>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// The address that a client id is, when it may be one (draft §3). Judged as raw text: what a URL parser would repair
/// is refused. Stricter than the draft in three things: no port, no query, and a host name with a dot.
pub(super) fn address(id: &str) -> Option<Url> {
    if id.len() > LONGEST || redirect::kind(id) != Ok(Kind::Https) {
        return None;
    }
    let url = Url::parse(id).ok().filter(|url| url.as_str() == id)?;
    let named = matches!(url.host(), Some(Host::Domain(host)) if host.contains('.') && !host.ends_with('.'));
    // Looked for in the text, for an empty query is one too.
    (named && url.port().is_none() && !id.contains('?') && url.path() != "/").then_some(url)
}

/// The host that vouches for a client, when it is known by its document.
pub(super) fn host(id: &str) -> Option<String> {
    address(id)?.host_str().map(str::to_owned)
}

/// Judges the document at `id`.
pub(super) fn read(id: &str, body: &[u8], now: Millis) -> Result<OAuthClient, Unfit> {
    let document: Document = serde_json::from_slice(body).map_err(|_| Unfit::Shape)?;
    if document.client_id != id {
        return Err(Unfit::Id);
    }
    let secrets = ["client_secret", "client_secret_expires_at"];
    if secrets.iter().any(|name| document.rest.contains_key(*name)) || document.jwks.as_ref().is_some_and(is_private) {
        return Err(Unfit::Secret);
    }
    let preferred = document.token_endpoint_auth_method.as_deref().unwrap_or("none");
    let can = document.token_endpoint_auth_methods_supported.unwrap_or_default();
    if preferred.starts_with("client_secret") || (preferred != "none" && !can.iter().any(|method| method == "none")) {
        return Err(Unfit::Method);
    }
    let lacks = |given: &Option<Vec<String>>, needed| {
        given.as_ref().is_some_and(|given| !given.is_empty() && !given.iter().any(|one| one == needed))
    };
    if lacks(&document.grant_types, "authorization_code") || lacks(&document.response_types, "code") {
        return Err(Unfit::Grant);
    }
    let name: String = name::shown(&document.client_name).chars().take(NAME).collect();
    if name.is_empty() {
        return Err(Unfit::Name);
    }
    if own_name::is_claimed(&name) {
        return Err(Unfit::OwnName);
    }
    redirect::judge(&document.redirect_uris)?;
    Ok(client(id, &name, document.redirect_uris, now))
}

/// Whether a key set has a part that only its owner may know, or a key that both sides share (RFC 7518 §6).
pub(super) fn is_private(jwks: &Value) -> bool {
    let keys = jwks.get("keys").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let parts = ["d", "p", "q", "dp", "dq", "qi", "k"];
    keys.iter().any(|key| key["kty"] == "oct" || parts.iter().any(|part| key.get(part).is_some()))
}

fn client(id: &str, name: &str, redirect_uris: Vec<String>, now: Millis) -> OAuthClient {
    let native = redirect_uris.iter().any(|uri| redirect::kind(uri) != Ok(Kind::Https));
    OAuthClient {
        id: id.to_owned(),
        name: name.to_owned(),
        redirect_uris,
        application_type: if native { "native" } else { "web" }.to_owned(),
        uri: None,
        secret_digest: None,
        may_introspect: false,
        created_at: now,
    }
}

fn pinned(id: &str, now: Millis) -> Option<OAuthClient> {
    if let Some(app) = app_of_chatgpt(id) {
        return Some(client(id, "ChatGPT", vec![format!("https://chatgpt.com/connector/oauth/{app}")], now));
    }
    let (id, name, uris) = PINNED.iter().find(|(known, ..)| *known == id)?;
    Some(client(id, name, uris.iter().map(|uri| (*uri).to_owned()).collect(), now))
}

/// The app that a document of ChatGPT's is about, where it has one for each: the redirect address has the same name in it.
fn app_of_chatgpt(id: &str) -> Option<&str> {
    let app = id.strip_prefix("https://chatgpt.com/oauth/")?.strip_suffix("/client.json")?;
    let is_name = |app: &&str| {
        (1..=128).contains(&app.len()) && app.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    Some(app).filter(is_name)
}

/// What came of the last fetch.
struct Remembered {
    client: Option<OAuthClient>,
    until: Millis,
}

/// One id's place. Its lock is held while its document is fetched: others who want the same wait for that fetch.
type Slot = Arc<tokio::sync::Mutex<Option<Remembered>>>;

/// The documents that this process knows.
pub(super) struct Documents {
    clock: Clock,
    /// Our own host: a document of ours would make us call ourselves.
    own: Option<String>,
    slots: Mutex<LruCache<String, Slot>>,
    fetches: Semaphore,
}

impl Documents {
    pub(super) fn new(clock: Clock, public_url: &Url) -> Self {
        let own = public_url.host_str().map(str::to_owned);
        Self { clock, own, slots: Mutex::new(LruCache::new(KEPT)), fetches: Semaphore::new(AT_ONCE) }
    }

    /// The address that an id is, unless it may not be one or is ours.
    pub(super) fn address(&self, id: &str) -> Option<Url> {
        address(id).filter(|url| url.host_str() != self.own.as_deref())
    }

    /// The client with this id; `fetch` is called only when nothing fresh is known of it.
    pub(super) async fn client<F, A>(&self, id: &str, fetch: F) -> Option<OAuthClient>
    where
        F: FnOnce(Url) -> A,
        A: Future<Output = Result<Fetched, Refused>>,
    {
        let url = self.address(id)?;
        if let Some(client) = pinned(id, self.clock.now()) {
            return Some(client);
        }
        let slot = self.slot(id);
        let mut slot = slot.lock().await;
        if let Some(known) = slot.as_ref().filter(|known| self.clock.now() < known.until) {
            return known.client.clone();
        }
        let found = self.fetch(id, fetch(url)).await;
        let now = self.clock.now();
        let (client, life) = match found {
            Ok((client, life)) => (Some(client), life),
            Err(reason) => {
                tracing::info!(client_id = id, reason, "a client metadata document cannot be used");
                (None, FAILURE)
            }
        };
        *slot = Some(Remembered { client: client.clone(), until: now.saturating_add(life) });
        client
    }

    /// The client that the answer describes and for how long; or why there is none.
    async fn fetch(
        &self,
        id: &str,
        answer: impl Future<Output = Result<Fetched, Refused>>,
    ) -> Result<(OAuthClient, Millis), String> {
        let Ok(Ok(_turn)) = tokio::time::timeout(LIMITS.total, self.fetches.acquire()).await else {
            return Err("too many documents are being fetched".into());
        };
        let fetched = answer.await.map_err(|refused| refused.to_string())?;
        let client = read(id, &fetched.body, self.clock.now()).map_err(|unfit| unfit.to_string())?;
        Ok((client, life(fetched.max_age)))
    }

    fn slot(&self, id: &str) -> Slot {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.get_or_insert(id.to_owned(), Slot::default).clone()
    }
}

fn life(max_age: Option<u64>) -> Millis {
    let said = max_age.map_or(UNSAID, |seconds| Millis::try_from(seconds).unwrap_or(MOST).saturating_mul(1000));
    said.clamp(LEAST, MOST)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
