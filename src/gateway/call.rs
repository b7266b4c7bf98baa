//! What a call comes with, and what it gives.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::engine::job::OnProgress;
use crate::model::access::Pass;
use crate::model::error::{Error, Result};

/// How a call arrived.
pub struct Via {
    /// The audit log's word: `mcp.tool.call`, `mcp.resource.read`, `rest.call`, `admin.call`.
    pub action: &'static str,
    /// Cancelled when the caller leaves.
    pub cancel: CancellationToken,
    pub on_progress: Option<OnProgress>,
    /// Where it is said what the call may read, for who keeps its answer.
    pub pass: Option<Arc<OnceLock<Pass>>>,
    /// Whether a program reads the reply, rather than a model.
    pub to_program: bool,
}

impl Via {
    pub fn new(action: &'static str) -> Self {
        Self { action, cancel: CancellationToken::new(), on_progress: None, pass: None, to_program: false }
    }
}

/// What a call gave: the operation's own reply, or what an edge wrote of it.
#[derive(Debug, Serialize)]
pub struct Answered<R> {
    #[serde(flatten)]
    pub reply: R,
    /// Part of every reply that leaves as JSON.
    pub request_id: String,
    /// As recorded.
    #[serde(skip)]
    pub rows: usize,
    #[serde(skip)]
    pub bytes: usize,
}

/// What an edge wrote of a reply.
pub struct Sent<W> {
    pub reply: W,
    /// Bytes of the reply itself, which are measured against the limit.
    pub size: usize,
    /// Bytes of all that is sent of it, which are recorded: some protocols say the same twice.
    pub bytes: usize,
}

impl<W> Sent<W> {
    /// Of a reply that is sent as it is.
    pub fn once(reply: W, bytes: usize) -> Self {
        Self { reply, size: bytes, bytes }
    }
}

impl From<String> for Sent<String> {
    fn from(text: String) -> Self {
        let bytes = text.len();
        Self::once(text, bytes)
    }
}

/// A reply as JSON, with the request's id in it.
#[derive(Serialize)]
pub struct WithId<'a, R> {
    #[serde(flatten)]
    pub reply: &'a R,
    pub request_id: &'a str,
}

impl<R: Serialize> WithId<'_, R> {
    /// The text.
    ///
    /// # Errors
    /// The reply has no JSON form.
    pub fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(Error::internal)
    }
}
