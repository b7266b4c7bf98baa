//! How the library comes to answer: what its answer carries besides, and what becomes of sessions by it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};

use super::compat::SESSION;
use super::logs::Aside;
use super::message::Peek;
use super::news::{self, Before, Listener};
use super::refusals::unrecorded;
use super::session_ends::TERMINATED;
use super::sessions::Why;
use super::toolsets::Offered;
use super::{CAPTURED, Mcp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::surface::guard::Lease;

impl Mcp {
    /// What is sent on the stream of an answer besides what the library sends: news in a session, and what the log says of
    /// a call. Looked for before the library answers: nothing is missed that changes after the client is told that
    /// somebody looks.
    pub(super) async fn beside(
        &self,
        caller: &Caller,
        lease: &Lease,
        parts: &mut Parts,
        session: Option<&str>,
        peek: &Peek,
    ) -> Option<BoxStream<'static, Bytes>> {
        let listener = |bound| Listener::new(self.shared.clone(), lease.clone(), caller.clone(), bound);
        if peek.listens() {
            parts.extensions.insert(Before::new(listener(None)).await?);
            return None;
        }
        let session = session?;
        if parts.method == Method::GET {
            // A stream that is taken up again belongs to a call.
            let last = parts.headers.get("last-event-id").map(HeaderValue::as_bytes);
            if last.is_some_and(|last| last.contains(&b'/')) {
                return None;
            }
            let heard = self.sessions.heard(session)?;
            return Some(news::frames(listener(Some(heard.captured)), heard.ear).await?.boxed());
        }
        peek.tool()?;
        let (aside, said) = Aside::new();
        parts.extensions.insert(aside);
        Some(said)
    }

    /// Lets the library answer, and keeps the table of sessions and the record true.
    pub(super) async fn answer(
        self: Arc<Self>,
        caller: Caller,
        peek: Peek,
        session: Option<String>,
        request: Request,
        next: Next,
    ) -> Response {
        let ends = request.method() == Method::DELETE;
        let offered = request.extensions().get::<Offered>().copied().unwrap_or_default();
        let response = CAPTURED.scope((caller.rights, offered), next.run(request)).await;
        let opened = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if let Some(lost) = session.as_deref().filter(|_| response.status() == StatusCode::NOT_FOUND)
            && let Some(lost) = self.sessions.close(lost)
            && let Err(error) = self.end(lost, Why::Lost).await
        {
            return unrecorded(&peek.id(), &error);
        }
        let ended = session.filter(|_| ends && response.status().is_success());
        let is_over = ended.is_some();
        match self.follow(&caller, &peek, opened, ended).await {
            // Python's SDK knows 200 and 204 for the end of a session; the library's 202 is a failure to it.
            Ok(()) if is_over => StatusCode::NO_CONTENT.into_response(),
            Ok(()) => response,
            Err(error) => unrecorded(&peek.id(), &error),
        }
    }

    async fn follow(
        &self,
        caller: &Caller,
        peek: &Peek,
        opened: Option<String>,
        ended: Option<String>,
    ) -> Result<(), Error> {
        let gateway = &self.shared.gateway;
        if let Some(id) = opened.filter(|_| peek.opens()) {
            let version = peek.session_version();
            if let Some(surplus) = self.sessions.open(&id, caller, version) {
                self.end(surplus, Why::Room).await?;
            }
            metrics::gauge!("dragoman_mcp_sessions").set(self.sessions.count() as f64);
            gateway.begin(&Caller { session: Some(id), ..caller.clone() }, "mcp.session.created", version).await
        } else if let Some(ended) = ended.and_then(|id| self.sessions.close(&id)) {
            let session = Some(ended.id.to_string());
            gateway.end(&Caller { session, ..caller.clone() }, TERMINATED, Why::Client.name()).await
        } else {
            Ok(())
        }
    }
}
