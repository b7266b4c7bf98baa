//! MCP over Streamable HTTP at `/mcp`, both eras on one endpoint: sessions for clients that `initialize`, none for
//! revision 2026-07-28. A request passes, in this order: the guard (401 before a body is read), [`enter`] (size,
//! shape, client quirks, session ownership, scope challenge), then the protocol library and [`handler::Handler`].

pub mod apps;
mod asking;
mod compat;
mod complete;
pub mod cors;
mod handler;
mod prompts;
mod resources;
mod sessions;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Method, StatusCode};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::compat::{Peek, SESSION};
use self::handler::{Handler, Shared};
use self::sessions::Sessions;
use self::tools::Tools;
use crate::base::clock::Clock;
use crate::config::Config;
use crate::gateway::Gateway;
use crate::model::access::{Action, Rights, denied};
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};
use crate::surface::guard::{self, Lease};

/// How often an open stream's credential is looked at again.
const WATCH: Duration = Duration::from_secs(5);
/// Largest request in bytes.
const BODY: usize = 1 << 20;

tokio::task_local! {
    /// The rights of the caller for whom the library makes a server instance: its factory sees no request.
    static CAPTURED: Rights;
}

/// The MCP endpoint.
pub struct Mcp {
    shared: Arc<Shared>,
    config: Arc<Config>,
    sessions: Sessions,
    manager: Arc<LocalSessionManager>,
    stop: CancellationToken,
}

impl Mcp {
    /// `stop` ends every open stream.
    pub fn new(gateway: Arc<Gateway>, config: Arc<Config>, clock: Clock, stop: CancellationToken) -> Arc<Self> {
        let lifetimes = &config.limits.lifetimes;
        let endpoint = format!("{}/mcp", config.public_url.as_str().trim_end_matches('/'));
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(lifetimes.mcp_session);
        // Priming events are empty: clients before 2025-11-25 try to parse them, and fail.
        manager.session_config.sse_retry = None;
        Arc::new(Self {
            shared: Arc::new(Shared { gateway, tools: Tools::collect(), endpoint }),
            sessions: Sessions::new(clock, lifetimes.mcp_session, lifetimes.mcp_sessions),
            manager: Arc::new(manager),
            config,
            stop,
        })
    }

    /// The routes of both endpoints, still without the guard.
    pub fn routes(self: Arc<Self>) -> Router {
        let shared = self.shared.clone();
        let factory = move || {
            let captured = CAPTURED.try_with(|rights| *rights).map_err(std::io::Error::other)?;
            Ok(Handler::new(shared.clone(), captured))
        };
        let service = StreamableHttpService::new(factory, self.manager.clone(), self.library());
        Router::new()
            .route_service("/mcp", service.clone())
            .route_service("/mcp/", service.clone())
            .route_service("/t/{workspace}/mcp", service)
            .layer(from_fn_with_state(self, enter))
    }

    fn library(&self) -> StreamableHttpServerConfig {
        let url = &self.config.public_url;
        let mut hosts: Vec<String> = url.host_str().map(|host| authority(host, url.port())).into_iter().collect();
        if self.config.listen.ip().is_loopback() {
            let port = Some(self.config.listen.port());
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|host| authority(host, port)));
        }
        let port = url.port_or_known_default().unwrap_or(443);
        let own = format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default());
        let origins = self.config.allowed_origins.iter().map(|origin| cors::with_port(origin)).chain([own]);
        StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_max_request_body_bytes(BODY)
            .with_legacy_session_mode(true)
            .with_cancellation_token(self.stop.clone())
    }

    /// Ends idle sessions; due every few minutes.
    pub async fn sweep(&self) {
        for id in self.sessions.sweep() {
            self.close(&id).await;
        }
        metrics::gauge!("dragoman_mcp_sessions").set(self.sessions.count() as f64);
    }

    async fn close(&self, id: &str) {
        if let Err(problem) = self.manager.close_session(&id.to_owned().into()).await {
            tracing::debug!(%problem, "a session was closed already");
        }
    }
}

fn authority(host: &str, port: Option<u16>) -> String {
    port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Everything between the guard and the protocol library.
async fn enter(State(mcp): State<Arc<Mcp>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
        tracing::error!("a request reached MCP without passing the guard");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let (peek, body) = match read(&parts.method, body).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let session = session.filter(|_| !peek.is_modern());
    let mut version = None;
    if let Some(id) = &session {
        version = mcp.sessions.touch(id, &caller.principal());
        if version.is_none() {
            return mcp.no_session(&caller, &peek).await;
        }
        parts.extensions.insert(Caller { session: session.clone(), ..caller.clone() });
    }
    compat::normalise(&mut parts.headers, &peek, version.as_deref());
    if let Some(challenge) = mcp.challenge(&caller, parts.uri.path(), &peek).await {
        return challenge;
    }
    let is_json =
        parts.headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let ends = parts.method == Method::DELETE;
    let lease = parts.extensions.get::<Lease>().cloned();
    let response = CAPTURED.scope(caller.rights, next.run(Request::from_parts(parts, body))).await;
    let opened = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let ended = session.filter(|_| ends && response.status().is_success());
    if let Err(refusal) = mcp.follow(&caller, &peek, opened, ended).await {
        return refusal;
    }
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::error!(request_id = %caller.request_id, "the MCP library failed");
        return rpc_error(response.status(), &peek.id, -32603, "The service failed to answer.", Value::Null);
    }
    if let Some(lease) = lease.filter(|_| is_stream(&response)) {
        return bounded(response, lease, mcp.config.limits.lifetimes.access);
    }
    if response.status().is_client_error() && !response.headers().contains_key(CONTENT_TYPE) {
        return worded(response, is_json, &peek.id).await;
    }
    response
}

fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    response.status().is_success() && media.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// A stream ends with what opened it (I18, J09): once that is revoked, suspended or past its time, nobody listens on for
/// longer than [`WATCH`]. It ends after `longest` in any case: whoever goes on proves themselves again.
fn bounded(response: Response, lease: Lease, longest: Duration) -> Response {
    let watch = async move {
        loop {
            tokio::time::sleep(WATCH).await;
            if !lease.holds().await {
                return;
            }
        }
    };
    let end = async move {
        let _either_way = tokio::time::timeout(longest, watch).await;
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(end))))
}

/// A refusal of the library's, which it writes as bare text, as an error of the protocol; of a message that it cannot
/// read it would tell its parser's words, and say that the media type was wrong.
async fn worded(response: Response, is_json: bool, id: &Value) -> Response {
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, 4096).await.unwrap_or_default();
    let unread = parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json;
    let (status, message) = match unread {
        true => (StatusCode::BAD_REQUEST, "The request is not a JSON-RPC message.".into()),
        false => (parts.status, String::from_utf8_lossy(&text)),
    };
    let mut worded = rpc_error(status, id, -32600, &message, Value::Null);
    if let Some(allow) = parts.headers.get(ALLOW) {
        worded.headers_mut().insert(ALLOW, allow.clone());
    }
    worded
}

/// The body of a POST, bounded and parsed as far as needed; the bytes go on as they came.
async fn read(method: &Method, body: Body) -> Result<(Peek, Body), Response> {
    if method != Method::POST {
        return Ok((Peek::default(), body));
    }
    let refuse = |status, code, message| rpc_error(status, &Value::Null, code, message, Value::Null);
    let bytes = to_bytes(body, BODY)
        .await
        .map_err(|_| refuse(StatusCode::PAYLOAD_TOO_LARGE, -32600, "The request is larger than 1 MiB."))?;
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(refuse(StatusCode::BAD_REQUEST, -32600, "Batches are not part of this protocol."));
    }
    match serde_json::from_slice::<Peek>(&bytes) {
        Ok(peek) => Ok((peek, bytes.into())),
        Err(problem) if problem.is_data() => {
            Err(refuse(StatusCode::BAD_REQUEST, -32600, "The request is not a JSON-RPC message."))
        }
        Err(_) => Err(refuse(StatusCode::BAD_REQUEST, -32700, "The request is not JSON.")),
    }
}

impl Mcp {
    /// The same answer for a session that ended, never was, or is another's; a guess is on the record.
    async fn no_session(&self, caller: &Caller, peek: &Peek) -> Response {
        let refused = Error::new(Code::AuthInvalid, "Session not found");
        match self.shared.gateway.refused(caller, "mcp.session.refused", &peek.method, &refused).await {
            Ok(()) => rpc_error(StatusCode::NOT_FOUND, &peek.id, -32001, &refused.message, Value::Null),
            Err(error) => rpc_error(StatusCode::SERVICE_UNAVAILABLE, &peek.id, -32603, &error.message, Value::Null),
        }
    }

    /// What a message wants to do, and its name for the record; `None` where no scope is needed, or nothing is known of.
    fn wanted<'a>(&'a self, peek: &'a Peek) -> Option<(Action, &'a str, &'static str)> {
        if let Some(tool) = peek.tool() {
            let entry = self.shared.tools.get(tool)?;
            return Some((entry.action, &entry.tool.name, "mcp.tool.call"));
        }
        let action = resources::action(&peek.method)?;
        Some((action, &peek.method, "mcp.resource.read"))
    }

    /// A call of a tool, or a look at resources, whose scope the token lacks is answered with the challenge that lets
    /// the client ask for it
    /// (RFC 6750 §3.1, MCP authorization: step-up). A role that may not hold the scope is the tool's own refusal.
    async fn challenge(&self, caller: &Caller, path: &str, peek: &Peek) -> Option<Response> {
        let (action, name, recorded_as) = self.wanted(peek)?;
        let (scope, _, role) = action.needs();
        if caller.rights.allow(action) || caller.role < role || caller.proof.is_connectivity_token() {
            return None;
        }
        let error = denied(caller, action);
        if let Err(error) = self.shared.gateway.refused(caller, recorded_as, name, &error).await {
            return Some(rpc_error(StatusCode::SERVICE_UNAVAILABLE, &peek.id, -32603, &error.message, Value::Null));
        }
        let body = json!({
            "jsonrpc": "2.0",
            "id": peek.id,
            "error": { "code": error.code.info().json_rpc, "message": error.message, "data": error.body(&caller.request_id) },
        });
        Some(guard::insufficient_scope(&self.config, path, &[scope], body))
    }

    /// Keeps the table of sessions true, and the record of their beginnings and ends.
    async fn follow(
        &self,
        caller: &Caller,
        peek: &Peek,
        opened: Option<String>,
        ended: Option<String>,
    ) -> Result<(), Response> {
        let gateway = &self.shared.gateway;
        let recorded = if let Some(id) = opened.filter(|_| peek.method == "initialize") {
            let version = peek.session_version();
            for surplus in self.sessions.open(&id, &caller.principal(), version) {
                self.close(&surplus).await;
            }
            metrics::gauge!("dragoman_mcp_sessions").set(self.sessions.count() as f64);
            gateway.record(&Caller { session: Some(id), ..caller.clone() }, "mcp.session.created", version).await
        } else if let Some(id) = ended {
            self.sessions.close(&id);
            gateway.record(&Caller { session: Some(id), ..caller.clone() }, "mcp.session.terminated", "").await
        } else {
            Ok(())
        };
        recorded
            .map_err(|error| rpc_error(StatusCode::SERVICE_UNAVAILABLE, &peek.id, -32603, &error.message, Value::Null))
    }
}

/// A JSON-RPC error as a whole response.
fn rpc_error(status: StatusCode, id: &Value, code: i32, message: &str, data: Value) -> Response {
    let mut error = json!({ "code": code, "message": message });
    if !data.is_null() {
        error["data"] = data;
    }
    (status, axum::Json(json!({ "jsonrpc": "2.0", "id": id, "error": error }))).into_response()
}
