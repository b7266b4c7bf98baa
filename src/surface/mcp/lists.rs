//! The list of tools is the same for everybody with the same rights who asks in the same way, for as long as the program
//! runs, and is asked for before every conversation. What the protocol library once answered to a request of the era
//! without sessions is the answer to every later one that differs from it by its id alone: so the library decides of each
//! way to ask, and no byte differs. The record gets its row each time.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::response::Response;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use lru::LruCache;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::Peek;
use super::toolsets::Offered;
use crate::model::access::Rights;
use crate::model::caller::Caller;

/// Ways to ask that are remembered.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);
/// Bytes of a request, and of an answer, that are remembered.
const ASKED: usize = 4 << 10;
const ANSWERED: usize = 128 << 10;

/// Everything of a request that an answer may depend on, but its id.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    rights: Rights,
    offered: Offered,
    text: Vec<u8>,
}

/// What was answered, and what the client said of itself.
pub(super) struct Told {
    headers: HeaderMap,
    /// What follows the id.
    rest: Bytes,
    /// Name and version.
    client: Option<(String, String)>,
}

/// See the module.
pub(super) struct Lists(Mutex<LruCache<Asked, Arc<Told>>>);

impl Lists {
    pub(super) fn new() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }

    pub(super) fn told(&self, asked: &Asked) -> Option<Arc<Told>> {
        self.lock().get(asked).cloned()
    }

    /// Keeps an answer of the library's to a request, and hands it on.
    pub(super) async fn keep(&self, asked: Asked, id: &Value, body: &[u8], response: Response) -> Response {
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if response.status() != StatusCode::OK || !is_json {
            return response;
        }
        let (parts, answer) = response.into_parts();
        let Ok(answer) = to_bytes(answer, usize::MAX).await else {
            return Response::from_parts(parts, Body::empty());
        };
        let head = head(id);
        if let Some(client) = client(body)
            && answer.starts_with(&head)
            && answer.len() <= ANSWERED
        {
            let told = Told { headers: parts.headers.clone(), rest: answer.slice(head.len()..), client };
            self.lock().put(asked, Arc::new(told));
        }
        Response::from_parts(parts, Body::from(answer))
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Asked, Arc<Told>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// `None` for what is no such request.
    pub(super) fn of(parts: &Parts, peek: &Peek, body: &[u8], rights: Rights, offered: Offered) -> Option<Self> {
        if !peek.is_modern() || peek.method() != Some("tools/list") || !peek.is_request() || body.len() > ASKED {
            return None;
        }
        #[derive(Deserialize)]
        struct OfId<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
        }
        let id = serde_json::from_slice::<OfId<'_>>(body).ok()?.id.get();
        let start = (id.as_ptr() as usize).checked_sub(body.as_ptr() as usize)?;
        let mut text = Vec::with_capacity(body.len() + 512);
        text.extend_from_slice(body.get(..start)?);
        text.push(0);
        text.extend_from_slice(body.get(start + id.len()..)?);
        way(parts, &mut text);
        Some(Self { rights, offered, text })
    }
}

impl Told {
    /// Who asked, as the record names them.
    pub(super) fn caller(&self, caller: Caller) -> Caller {
        match &self.client {
            Some((name, version)) => caller.introduced(name.clone(), version.clone()),
            None => caller,
        }
    }

    /// The answer to a request with this id.
    pub(super) fn answer(&self, id: &Value) -> Response {
        let mut body = head(id);
        body.extend_from_slice(&self.rest);
        let mut response = Response::new(Body::from(body));
        *response.headers_mut() = self.headers.clone();
        response
    }
}

/// Adds what the library looks at of a request besides its body.
pub(super) fn way(parts: &Parts, text: &mut Vec<u8>) {
    for part in [parts.uri.authority().map(http::uri::Authority::as_str), Some(parts.uri.path())] {
        text.push(0);
        text.extend_from_slice(part.unwrap_or_default().as_bytes());
    }
    let counts = |name: &str| {
        [HOST, ORIGIN, ACCEPT, CONTENT_TYPE].iter().any(|known| known == name)
            || name.starts_with("mcp-")
            || name == "last-event-id"
    };
    for (name, value) in parts.headers.iter().filter(|(name, _)| counts(name.as_str())) {
        text.push(0);
        text.extend_from_slice(name.as_str().as_bytes());
        text.push(b':');
        text.extend_from_slice(value.as_bytes());
    }
}

/// As the library begins an answer.
fn head(id: &Value) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"#).into_bytes()
}

/// What a client says of itself in a message, if it says anything; `None` when it cannot be read.
fn client(body: &[u8]) -> Option<Option<(String, String)>> {
    let message: Value = serde_json::from_slice(body).ok()?;
    let meta = message.get("params").and_then(|params| params.get("_meta"));
    let said = meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientInfo"));
    let Some(said) = said.filter(|said| !said.is_null()) else { return Some(None) };
    let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Some((text("name")?, text("version")?)))
}
