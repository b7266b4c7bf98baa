//! The short way of a plain call of a tool in the era without sessions: no progress, no log, no task, nothing asked back.
//! The protocol library reads such a message twice, starts four tasks for it and hands the answer through channels; here
//! it is called at once. What the library checks besides the message itself, in headers and address, it has checked
//! before: only a way to ask that it once let in is short. What is odd in the least goes to the library, and the answers
//! are the same to the byte.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use lru::LruCache;
use rmcp::model::{JsonObject, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::introduction::signature;
use super::lists::way;
use super::message::{MODERN, Peek};
use super::tools::CALL;
use super::{Mcp, Shared};
use crate::gateway::Via;
use crate::gateway::operation::Operation as _;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::ops::ask_question::AskQuestion;

/// Ways to ask that are remembered.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

/// What a client says that it can do, as far as no answer depends on it.
const CAPABILITIES: [&str; 3] = ["elicitation", "roots", "sampling"];

/// The ways to ask that the library let in.
pub(super) struct Calls(Mutex<LruCache<Vec<u8>, ()>>);

impl Calls {
    pub(super) fn new() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }

    pub(super) fn knows(&self, call: &Short) -> bool {
        self.lock().get(&call.way).is_some()
    }

    /// The library has answered such a call.
    pub(super) fn learn(&self, call: Short, response: &Response) {
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        if response.status().is_success() && is_json && response.headers().len() == 1 {
            self.lock().put(call.way, ());
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Vec<u8>, ()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that may go the short way.
pub(super) struct Short {
    way: Vec<u8>,
    tool: String,
    id: RequestId,
    arguments: JsonObject,
    client: Option<Said>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    jsonrpc: &'a str,
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "method")]
    _method: IgnoredAny,
    params: Params<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'a> {
    #[serde(rename = "name")]
    _name: IgnoredAny,
    #[serde(default)]
    arguments: JsonObject,
    #[serde(borrow, rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'a str,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: JsonObject,
    #[serde(default, rename = "io.modelcontextprotocol/clientInfo")]
    client: Option<Said>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    name: String,
    version: String,
}

impl Short {
    /// `None` for what the library has to look at.
    pub(super) fn of(parts: &Parts, peek: &Peek, body: &[u8]) -> Option<Self> {
        let tool =
            peek.tool().filter(|tool| peek.is_request() && peek.is_modern() && *tool != AskQuestion::INFO.name)?;
        let Message { jsonrpc, params, .. } = serde_json::from_slice(body).ok()?;
        let Params { arguments, meta: Meta { version, capabilities, client }, .. } = params;
        let plain = capabilities.iter().all(|(name, what)| CAPABILITIES.contains(&name.as_str()) && what.is_object());
        if jsonrpc != "2.0" || version != MODERN || !plain {
            return None;
        }
        // Headers that repeat arguments are compared with these.
        if parts.headers.keys().any(|name| name.as_str().starts_with("mcp-param")) {
            return None;
        }
        let mut text = tool.as_bytes().to_vec();
        way(parts, &mut text);
        let id = serde_json::from_value(peek.id()).ok()?;
        Some(Self { way: text, tool: tool.to_owned(), id, arguments, client })
    }
}

impl Mcp {
    /// Calls a tool the short way. Who hangs up cancels the call; the record has its row all the same.
    pub(super) async fn call(&self, caller: Caller, call: Short) -> Response {
        let shared = self.shared.clone();
        let via = Via::new(CALL);
        let _cancels = via.cancel.clone().drop_guard();
        let answer = tokio::spawn(async move { answer(&shared, caller, call, via).await });
        answer.await.map_err(Error::internal).flatten().unwrap_or_else(|error| {
            tracing::error!(%error, "a call was not answered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        })
    }
}

async fn answer(shared: &Shared, caller: Caller, call: Short, via: Via) -> Result<Response, Error> {
    let Short { tool, id, arguments, client, .. } = call;
    let caller = match client {
        Some(Said { name, version }) => caller.introduced(name, version),
        None => caller,
    };
    let entry = shared.tools.get(&tool).ok_or_else(|| Error::internal("a call of a tool that there is not"))?;
    let mut written = entry.call(shared.gateway.clone(), caller, arguments, via).await;
    written.meta = Some(signature(written.meta.take()));
    Ok(([(CONTENT_TYPE, "application/json")], written.answer(&id)?).into_response())
}
