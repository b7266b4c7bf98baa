//! MCP over Streamable HTTP at `/mcp`, both eras on one endpoint: sessions for clients that `initialize`, none for
//! revision 2026-07-28. A request passes, in this order: the guard (401 before a body is read), [`enter`] (rate, size,
//! shape, toolsets, client quirks, session ownership, scope challenge, places), then the protocol library and
//! [`handler::Handler`].

mod admit;
mod answer;
pub mod apps;
mod asking;
mod calls;
mod compat;
mod complete;
mod handler;
mod introduction;
mod lists;
mod logs;
mod message;
mod news;
mod params;
mod progress;
mod prompts;
mod refusals;
mod resources;
mod session_ends;
mod sessions;
mod streams;
mod tasks;
mod tools;
mod toolsets;
mod written;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::calls::{Calls, Short};
use self::compat::{HEADER_MISMATCH, Mode, SESSION};
use self::handler::{Handler, LIST};
use self::lists::{Asked, Lists};
use self::message::rpc_error;
use self::refusals::{is_bare, unrecorded, worded};
use self::sessions::Sessions;
use self::tasks::Tasks;
use self::tools::Tools;
use self::toolsets::Offered;
use crate::base::clock::Clock;
use crate::base::shares::Shares;
use crate::config::Config;
use crate::gateway::Gateway;
use crate::model::access::{Rights, closed};
use crate::model::caller::Caller;
use crate::ops::connectivity::place::Place;
use crate::surface::cors::with_port;
use crate::surface::finish::to_its_end;
use crate::surface::guard::Lease;

/// Largest request in bytes.
const BODY: usize = 1 << 20;

tokio::task_local! {
    /// The rights of the caller for whom the library makes a server instance, and what they are offered: its factory sees
    /// no request.
    static CAPTURED: (Rights, Offered);
}

/// The protocol library around a server, with sessions of the older era.
pub type Library<H> = StreamableHttpService<H, LocalSessionManager>;

/// What all server instances share.
struct Shared {
    gateway: Arc<Gateway>,
    tools: Tools,
    /// Where clients find the service.
    place: Place,
    sessions: Arc<Sessions>,
    tasks: Tasks,
}

/// The MCP endpoint.
pub struct Mcp {
    shared: Arc<Shared>,
    config: Arc<Config>,
    sessions: Arc<Sessions>,
    lists: Lists,
    calls: Calls,
    manager: Arc<LocalSessionManager>,
    /// The requests in sessions that are being answered.
    answering: Arc<Shares>,
    stop: CancellationToken,
}

impl Mcp {
    /// `stop` ends every open stream.
    pub fn new(gateway: Arc<Gateway>, config: Arc<Config>, clock: Clock, stop: CancellationToken) -> Arc<Self> {
        let lifetimes = &config.limits.lifetimes;
        let place = Place::new(&config, None, None);
        let mut manager = LocalSessionManager::default();
        // Idle sessions are ours to end, and to record.
        manager.session_config.keep_alive = None;
        // Priming events are empty: clients before 2025-11-25 try to parse them, and fail.
        manager.session_config.sse_retry = None;
        let (most, instance) = (lifetimes.mcp_sessions, lifetimes.mcp_sessions_instance);
        let sessions = Arc::new(Sessions::new(clock, lifetimes.mcp_session, most, instance));
        Arc::new(Self {
            shared: Arc::new(Shared {
                gateway,
                tools: Tools::collect(),
                place,
                sessions: sessions.clone(),
                tasks: Tasks::new(),
            }),
            sessions,
            lists: Lists::new(),
            calls: Calls::new(),
            manager: Arc::new(manager),
            answering: Shares::new("answers", usize::MAX),
            config,
            stop,
        })
    }

    /// The protocol library, which answers what [`enter`] lets through, around the product's own server.
    pub fn service(&self) -> Library<Handler> {
        let shared = self.shared.clone();
        self.around(move || {
            let (captured, offered) = CAPTURED.try_with(|captured| *captured).map_err(std::io::Error::other)?;
            Ok(Handler::new(shared.clone(), captured, offered))
        })
    }

    /// The library around any server, set up as it is around the product's own: what the protocol's tests of conformance
    /// ask of a server that exists for them says how this one's guards, sessions and settings do.
    pub fn around<H: ServerHandler>(
        &self,
        make: impl Fn() -> std::io::Result<H> + Send + Sync + 'static,
    ) -> Library<H> {
        StreamableHttpService::new(make, self.manager.clone(), self.settings())
    }

    fn settings(&self) -> StreamableHttpServerConfig {
        let url = &self.config.public_url;
        let mut hosts: Vec<String> = url.host_str().map(|host| authority(host, url.port())).into_iter().collect();
        if self.config.listen.ip().is_loopback() {
            let port = Some(self.config.listen.port());
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|host| authority(host, port)));
        }
        let port = url.port_or_known_default().unwrap_or(443);
        let own = format!("{}://{}:{port}", url.scheme(), url.host_str().unwrap_or_default());
        let origins = self.config.allowed_origins.iter().map(|origin| with_port(origin)).chain([own]);
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

    fn mode(&self) -> Mode {
        if self.config.mcp_strict { Mode::Strict } else { Mode::Lenient }
    }
}

fn authority(host: &str, port: Option<u16>) -> String {
    port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Everything between the guard and the protocol library.
pub async fn enter(State(mcp): State<Arc<Mcp>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let proven = (parts.extensions.get::<Caller>().cloned(), parts.extensions.get::<Lease>().cloned());
    let (Some(caller), Some(lease)) = proven else {
        tracing::error!("a request reached MCP without passing the guard");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let (peek, body) = match mcp.read(&caller, &parts, body).await {
        Ok(read) => read,
        Err(refusal) => return refusal,
    };
    let id = peek.id();
    if !lease.is_open() && !peek.may_be_asked_of_a_closed_workspace(&parts.method) {
        let target = peek.method().unwrap_or(parts.method.as_str());
        return mcp.refuse(&caller, target, &id, &closed()).await;
    }
    let offered = match Offered::to(&caller, parts.uri.query()) {
        Ok(offered) => offered,
        Err(error) => return mcp.refuse(&caller, "toolsets", &id, &error).await,
    };
    parts.extensions.insert(offered);
    let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let session = session.filter(|_| !peek.is_modern());
    let mut version = None;
    if let Some(id) = &session {
        version = mcp.sessions.touch(id, &caller);
        if version.is_none() {
            return mcp.no_session(&caller, &peek).await;
        }
        parts.extensions.insert(Caller { session: session.clone(), ..caller.clone() });
    }
    if let Err(contradiction) = compat::settle(&mut parts.headers, &peek, version, mcp.mode()) {
        let refusal = rpc_error(StatusCode::BAD_REQUEST, &id, HEADER_MISMATCH, contradiction, Value::Null);
        return mcp.unfit(&caller, peek.method().unwrap_or_default(), &id, refusal).await;
    }
    if let Some(challenge) = mcp.challenge(&caller, parts.uri.path(), &peek, offered).await {
        return challenge;
    }
    let open = mcp.shared.gateway.while_open(&caller);
    let place = match mcp.place(&caller, &parts.method, session.as_deref(), &peek).await {
        Ok(place) => place,
        Err(refusal) => return refusal,
    };
    let beside = mcp.beside(&caller, &lease, &mut parts, session.as_deref(), &peek).await;
    let is_json =
        parts.headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"application/json"));
    let changes = peek.opens() || parts.method == Method::DELETE;
    let (request_id, target) = (caller.request_id.clone(), peek.method().unwrap_or(parts.method.as_str()).to_owned());
    let asked = Asked::of(&parts, &peek, &body, caller.rights, offered);
    if let Some(told) = asked.as_ref().and_then(|asked| mcp.lists.told(asked)) {
        return match mcp.shared.gateway.record(&told.caller(caller), LIST, "").await {
            Ok(()) => told.answer(&id),
            Err(error) => unrecorded(&id, &error),
        };
    }
    let mut short = Short::of(&parts, &peek, &body).filter(|_| mcp.wanted(&peek, offered).is_some());
    let response = match short.take_if(|call| mcp.calls.knows(call)) {
        Some(call) => mcp.call(caller.clone(), call).await,
        None => {
            let request = Request::from_parts(parts, Body::from(body.clone()));
            let answer = mcp.clone().answer(caller.clone(), peek, session, request, next);
            // A session that the library has made and nobody was told of would be beside every limit.
            if changes { to_its_end(answer).await } else { answer.await }
        }
    };
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR {
        tracing::error!(%request_id, "the MCP library failed");
        return rpc_error(response.status(), &id, -32603, "The service failed to answer.", Value::Null);
    }
    if response.status().is_client_error() {
        let refusal = if is_bare(&response) { worded(response, is_json, &id).await } else { response };
        return mcp.unfit(&caller, &target, &id, refusal).await;
    }
    if let Some(call) = short {
        mcp.calls.learn(call, &response);
    }
    if let Some(asked) = asked {
        return mcp.lists.keep(asked, &id, &body, response).await;
    }
    if streams::is_stream(&response) {
        let response = match beside {
            Some(beside) => streams::joined(response, beside),
            None => response,
        };
        let longest = mcp.config.limits.lifetimes.access;
        let gone = async move { mcp.forsaken(&caller).await };
        return streams::bounded(response, lease, longest, (place, open), gone);
    }
    response
}
