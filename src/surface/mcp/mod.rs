//! MCP over Streamable HTTP at `/mcp`, both eras on one endpoint: sessions for clients that `initialize`, none for
//! revision 2026-07-28. A request passes, in this order: the guard (401 before a body is read), [`enter`] (rate, size,
//! shape, toolsets, client quirks, session ownership, scope challenge, places), then the protocol library and
//! [`handler::Handler`].

pub mod apps;
mod asking;
mod calls;
mod compat;
mod complete;
mod handler;
mod lists;
mod logs;
mod message;
mod news;
mod params;
mod progress;
mod prompts;
mod resources;
mod session_ends;
mod sessions;
mod streams;
mod tasks;
mod tools;
mod toolsets;
mod written;

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::calls::{Calls, Short};
use self::compat::{HEADER_MISMATCH, Mode, SESSION};
use self::handler::{Handler, LIST};
use self::lists::{Asked, Lists};
use self::logs::Aside;
use self::message::{Peek, Refused, error_body, rpc_error};
use self::news::{Before, Listener};
use self::session_ends::TERMINATED;
use self::sessions::{Sessions, Why};
use self::tasks::Tasks;
use self::tools::{CALL, Tools};
use self::toolsets::Offered;
use crate::base::clock::Clock;
use crate::base::shares::{Key, Share, Shares};
use crate::config::Config;
use crate::gateway::{Gateway, Knock};
use crate::model::access::{Action, Rights, closed, denied};
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};
use crate::ops::connectivity::place::Place;
use crate::surface::body::{self, Unread};
use crate::surface::cors::with_port;
use crate::surface::finish::to_its_end;
use crate::surface::guard::{self, Lease};

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
    if is_bare(&response) {
        let refusal = worded(response, is_json, &id).await;
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

/// Whether an answer is a refusal of the library's, which it writes as bare text.
fn is_bare(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    response.status().is_client_error() && media.is_none_or(|media| media.as_bytes().starts_with(b"text/plain"))
}

/// A bare refusal as an error of the protocol; of a message that it cannot read the library would tell its parser's
/// words, and say that the media type was wrong.
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

impl Mcp {
    /// Counts a request of any kind, whether it can be read or not, and then reads it: the body of a POST, bounded and
    /// read as far as needed, whose bytes go on as they came. Nothing else has a body.
    async fn read(&self, caller: &Caller, parts: &Parts, body: Body) -> Result<(Peek, Bytes), Response> {
        let (gateway, method) = (&self.shared.gateway, &parts.method);
        if let Err(error) = gateway.knock(caller, Knock::Request) {
            return Err(self.refuse(caller, method.as_str(), &Value::Null, &error).await);
        }
        if *method != Method::POST {
            return Ok((Peek::default(), Bytes::new()));
        }
        let refuse = |status, message| Err(Refused { status, id: Value::Null, code: -32600, message });
        let read = match body::large(&parts.headers, body, BODY, || gateway.body(caller, None)).await {
            Ok(bytes) => message::read(&bytes).map(|peek| (peek, bytes)),
            Err(Unread::NoPlace(error)) => {
                return Err(self.refuse(caller, method.as_str(), &Value::Null, &error).await);
            }
            Err(Unread::TooLarge) => refuse(StatusCode::PAYLOAD_TOO_LARGE, "The request is larger than 1 MiB."),
            Err(Unread::Late) => refuse(StatusCode::REQUEST_TIMEOUT, "The request did not arrive in time."),
            Err(Unread::Broken) => refuse(StatusCode::BAD_REQUEST, "The request did not arrive whole."),
        };
        let (peek, bytes) = match read {
            Ok(read) => read,
            Err(refused) => {
                return Err(self.unfit(caller, method.as_str(), &refused.id.clone(), refused.into_response()).await);
            }
        };
        if peek.opens()
            && let Err(error) = gateway.knock(caller, Knock::Session)
        {
            let target = peek.method().unwrap_or_default();
            return Err(self.refuse(caller, target, &peek.id(), &error).await);
        }
        Ok((peek, bytes))
    }

    /// What an answer that stays open holds. Streams that listen are few for each credential, and workspaces share the
    /// instance's. Of requests in a session no two at once have one id: the library sends both answers to the later, and the earlier never ends.
    async fn place(
        &self,
        caller: &Caller,
        method: &Method,
        session: Option<&str>,
        peek: &Peek,
    ) -> Result<Option<Share>, Response> {
        let id = peek.id();
        if method == Method::GET || peek.listens() {
            return match self.shared.gateway.stream(caller) {
                Ok(place) => Ok(Some(place)),
                Err(error) => Err(self.refuse(caller, "stream", &id, &error).await),
            };
        }
        let Some(session) = session.filter(|_| peek.is_request()) else { return Ok(None) };
        let key = Key::at_most(format!("{session} {id}"), 1);
        if let Ok(place) = self.answering.enter(&[key]) {
            return Ok(Some(place));
        }
        let message = "A request with this id is being answered. Each request has an id of its own.";
        let refusal = rpc_error(StatusCode::BAD_REQUEST, &id, -32600, message, Value::Null);
        Err(self.unfit(caller, peek.method().unwrap_or_default(), &id, refusal).await)
    }

    /// What is sent on the stream of an answer besides what the library sends: news in a session, and what the log says of
    /// a call. Looked for before the library answers: nothing is missed that changes after the client is told that
    /// somebody looks.
    async fn beside(
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

    /// A refusal of the service's own, on the record first.
    async fn refuse(&self, caller: &Caller, target: &str, id: &Value, error: &Error) -> Response {
        if let Err(error) = self.shared.gateway.refused(caller, "mcp.request", target, error).await {
            return unrecorded(id, &error);
        }
        let info = error.code.info();
        let status = StatusCode::from_u16(info.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = rpc_error(status, id, info.json_rpc, &error.message, error.body(&caller.request_id));
        if let Some(seconds) = error.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    /// The refusal of a message that is not as the protocol has it, on the record first. What is not there is no
    /// refusal.
    async fn unfit(&self, caller: &Caller, target: &str, id: &Value, refusal: Response) -> Response {
        let code = match refusal.status() {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => return refusal,
            StatusCode::FORBIDDEN => Code::Forbidden,
            _ => Code::InvalidArgument,
        };
        let error = Error::new(code, "It is not as the protocol has it.");
        let recorded = self.shared.gateway.refused(caller, "mcp.request", target, &error).await;
        recorded.map_or_else(|error| unrecorded(id, &error), |()| refusal)
    }

    /// The same answer for a session that ended, never was, or is another's; a guess is on the record.
    async fn no_session(&self, caller: &Caller, peek: &Peek) -> Response {
        let refused = Error::new(Code::AuthInvalid, "Session not found");
        let target = peek.method().unwrap_or_default();
        match self.shared.gateway.refused(caller, "mcp.session.refused", target, &refused).await {
            Ok(()) => rpc_error(StatusCode::NOT_FOUND, &peek.id(), -32001, &refused.message, Value::Null),
            Err(error) => unrecorded(&peek.id(), &error),
        }
    }

    /// What a message wants to do, and its name for the record; `None` where no scope is needed, or nothing is known of.
    fn wanted<'a>(&'a self, peek: &'a Peek, offered: Offered) -> Option<(Action, &'a str, &'static str)> {
        if let Some(tool) = peek.tool() {
            let entry = self.shared.tools.get(tool).filter(|entry| offered.any(entry.toolsets))?;
            return Some((entry.action, &entry.tool.name, CALL));
        }
        let method = peek.method()?;
        Some((resources::action(method)?, method, "mcp.resource.read"))
    }

    /// A call of a tool, or a look at resources, whose scope the token lacks is answered with the challenge that lets
    /// the client ask for it (RFC 6750 §3.1, MCP authorization: step-up). A role that may not hold the scope is the
    /// tool's own refusal.
    async fn challenge(&self, caller: &Caller, path: &str, peek: &Peek, offered: Offered) -> Option<Response> {
        let (action, name, recorded_as) = self.wanted(peek, offered)?;
        let (scope, _, role) = action.needs();
        if caller.rights.allow(action) || caller.role < role || caller.proof.is_connectivity_token() {
            return None;
        }
        let error = denied(caller, action);
        if let Err(error) = self.shared.gateway.refused(caller, recorded_as, name, &error).await {
            return Some(unrecorded(&peek.id(), &error));
        }
        let code = error.code.info().json_rpc;
        let body = error_body(&peek.id(), code, &error.message, error.body(&caller.request_id));
        Some(guard::insufficient_scope(&self.config, path, &[scope], body))
    }

    /// Lets the library answer, and keeps the table of sessions and the record true.
    async fn answer(
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

/// What could not be recorded is not answered.
fn unrecorded(id: &Value, error: &Error) -> Response {
    rpc_error(StatusCode::SERVICE_UNAVAILABLE, id, -32603, &error.message, Value::Null)
}
