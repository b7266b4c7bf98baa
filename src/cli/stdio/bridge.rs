//! Messages of the client to the service, and of the service to the client: the client's side of Streamable HTTP, both
//! eras. The service answers as it does everywhere; nothing is decided here.
//!
//! A client on a pipe has one connection for its whole life. A session that the service gave up, or another process that
//! serves the folder, is therefore none of its concern: the session is opened anew as the client opened it, with what it
//! subscribed to.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::events::Messages;
use super::link::Link;
use super::message::{Lasting, Message, answers, failure};
use super::pipes::{LARGEST, Line, Output};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// JSON-RPC codes: what the service cannot say itself.
const LOST: i32 = -32603;
const REFUSED: i32 = -32001;
const TOO_LARGE: i32 = -32600;
/// How long answers may take that are on their way when the client has said its last.
const DRAIN: Duration = Duration::from_secs(10);
/// How long the end of a session may take.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long to wait before news are listened to again, after a stream that ended and after one that was refused.
const SOON: Duration = Duration::from_millis(500);
const LATER: Duration = Duration::from_secs(5);

/// What is remembered of the session.
#[derive(Clone, Default)]
struct Session {
    /// The `initialize` that opened it.
    opened: Option<Message>,
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Subscriptions and the like, by what replaces them.
    lasting: BTreeMap<String, Message>,
    /// Counts the sessions that there have been.
    number: u64,
}

/// See the module.
pub(super) struct Bridge {
    link: Link,
    token: HeaderValue,
    output: Output,
    session: Mutex<Session>,
    opening: tokio::sync::Mutex<()>,
}

/// Why there is no answer of the service's to pass on.
struct Failed {
    code: i32,
    message: String,
}

impl Failed {
    fn lost(message: impl Into<String>) -> Self {
        Self { code: LOST, message: message.into() }
    }
}

/// What is being answered.
#[derive(Default)]
struct Pending {
    tasks: JoinSet<()>,
    /// By the id of the request, as JSON.
    by_id: HashMap<String, AbortHandle>,
    /// Streams that end when the client says so, and never by themselves.
    open: Vec<AbortHandle>,
}

impl Bridge {
    pub(super) fn new(link: Link, token: HeaderValue, output: Output) -> Arc<Self> {
        let (session, opening) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Self { link, token, output, session, opening })
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes everything on until the client has said its last, and what it asked for is answered.
    pub(super) async fn run(self: &Arc<Self>, mut lines: mpsc::Receiver<Line>) {
        let mut pending = Pending::default();
        while let Some(line) = lines.recv().await {
            match line {
                Line::Message(bytes) => self.take(Message::read(bytes), &mut pending).await,
                Line::TooLarge => {
                    let message = format!("A message has at most {LARGEST} bytes.");
                    self.output.write(&failure(None, TOO_LARGE, &message)).await;
                }
            }
            while pending.tasks.try_join_next().is_some() {}
            pending.by_id.retain(|_, task| !task.is_finished());
        }
        pending.open.iter().for_each(AbortHandle::abort);
        let all = async { while pending.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, all).await.is_err() {
            tracing::warn!("some answers were still on their way after {} s", DRAIN.as_secs());
        }
    }

    /// Says farewell to the session, and ends the service where it is this process's.
    pub(super) async fn close(&self) {
        let session = self.session().clone();
        if session.id.is_some() {
            let request = self.request(Method::DELETE, &session).await;
            let _ended_either_way = tokio::time::timeout(FAREWELL, request.send()).await;
        }
        self.link.close().await;
    }

    /// Requests are answered side by side. What opens a session, and what waits for no answer, keeps its place in the
    /// order.
    async fn take(self: &Arc<Self>, message: Message, pending: &mut Pending) {
        if let Some(id) = message.cancels() {
            // Without sessions a request is given up by hanging up.
            if message.modern().is_none() && self.session().opened.is_some() {
                self.deliver(&message).await;
            }
            if let Some(task) = pending.by_id.remove(&id.to_string()) {
                task.abort();
            }
            return;
        }
        if message.opens() || !message.is_request() {
            self.deliver(&message).await;
            if message.method() == Some("notifications/initialized") && self.session().id.is_some() {
                let bridge = self.clone();
                pending.open.push(pending.tasks.spawn(async move { bridge.listen_in_session().await }));
            }
            return;
        }
        let (bridge, id) = (self.clone(), message.id().map(Value::to_string));
        let listens = message.listens();
        let task = pending.tasks.spawn(async move { bridge.deliver(&message).await });
        if listens {
            pending.open.push(task.clone());
        }
        if let Some(id) = id {
            pending.by_id.insert(id, task);
        }
    }

    /// Brings a message to the service, and what it says to the client. A request always has an answer.
    async fn deliver(&self, message: &Message) {
        let mut first = true;
        let failed = loop {
            match self.exchange(message, first).await {
                Ok(true) => return,
                // The service bounds how long a stream stays open, and whoever goes on proves themselves again.
                Ok(false) if message.listens() => {
                    first = false;
                    tokio::time::sleep(SOON).await;
                }
                Ok(false) if !message.is_request() => return,
                Ok(false) => break Failed::lost("The connection to the service ended before the answer came."),
                Err(failed) => break failed,
            }
        };
        if message.is_request() {
            self.output.write(&failure(message.id(), failed.code, &failed.message)).await;
        } else {
            tracing::warn!("{} was not delivered: {}", message.method().unwrap_or("an answer"), failed.message);
        }
    }

    /// Whether the answer came. Only the `first` acknowledgment of a subscription is passed on.
    async fn exchange(&self, message: &Message, first: bool) -> Result<bool, Failed> {
        let mut again = true;
        loop {
            let session = self.session().clone();
            let way = self.link.way().await;
            let request = self.request(Method::POST, &session).await;
            let sent = request.headers(repeated(message)).body(message.bytes.clone()).send().await;
            let in_session = message.modern().is_none() && !message.opens() && session.id.is_some();
            match sent {
                Ok(response) if response.status() == StatusCode::NOT_FOUND && in_session && again => {
                    self.reopen(session.number).await?;
                }
                Ok(response) => return self.relay(message, response, first).await,
                Err(problem) if problem.is_connect() && again && self.renew(way.number).await? => {
                    if in_session {
                        self.reopen(session.number).await?;
                    }
                }
                Err(problem) => return Err(unreached(problem)),
            }
            again = false;
        }
    }

    async fn renew(&self, number: u64) -> Result<bool, Failed> {
        self.link.renew(number).await.map_err(|problem| Failed::lost(format!("The service is gone: {problem:#}.")))
    }

    /// Opens the session anew as the client opened it, unless somebody has since the one with this number.
    async fn reopen(&self, number: u64) -> Result<(), Failed> {
        let _one_at_a_time = self.opening.lock().await;
        let before = self.session().clone();
        let Some(opening) = before.opened.filter(|_| before.number == number) else { return Ok(()) };
        let request = self.request(Method::POST, &Session::default()).await;
        let response = request.headers(repeated(&opening)).body(opening.bytes.clone()).send().await;
        let response = response.map_err(unreached)?;
        if !response.status().is_success() {
            return Err(refused(response).await);
        }
        let headers = response.headers().clone();
        let mut messages = Messages::of(response).await.map_err(unreached)?;
        while let Some(said) = messages.next().await {
            opened(&mut self.session(), &opening, &headers, &said);
        }
        self.session().number += 1;
        let session = self.session().clone();
        let initialized = Message::of(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        for message in std::iter::once(&initialized).chain(session.lasting.values()) {
            let request = self.request(Method::POST, &session).await.headers(repeated(message));
            request.body(message.bytes.clone()).send().await.map_err(unreached)?;
        }
        tracing::info!("the session was opened anew");
        Ok(())
    }

    /// A request to the service, as the session has them.
    async fn request(&self, method: Method, session: &Session) -> RequestBuilder {
        let way = self.link.way().await;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.token.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.extend(session.id.clone().map(|id| (http::HeaderName::from_static(SESSION), id)));
        headers.extend(session.version.clone().map(|version| (http::HeaderName::from_static(VERSION), version)));
        way.client.request(method, way.url).headers(headers)
    }

    /// Passes an answer on; whether it was one.
    async fn relay(&self, message: &Message, response: Response, first: bool) -> Result<bool, Failed> {
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            let error = refused(response).await;
            return self.relay_error(message, error).await;
        }
        let mut answered = !message.is_request();
        let mut messages = Messages::of(response).await.map_err(unreached)?;
        while let Some(said) = messages.next().await {
            let answer = answers(&said, message.id());
            answered |= answer || message.id().is_none();
            if answer && message.opens() {
                opened(&mut self.session(), message, &headers, &said);
            }
            if first || !said.contains("notifications/subscriptions/acknowledged") {
                self.output.write(&said).await;
            }
        }
        match message.lasting().filter(|_| answered) {
            Some(Lasting::Holds(what)) => {
                self.session().lasting.insert(what, message.clone());
            }
            Some(Lasting::Ends(what)) => {
                self.session().lasting.remove(&what);
            }
            None => {}
        }
        Ok(answered)
    }

    /// A refusal in the protocol's own words goes on as it is, with the id that its request has.
    async fn relay_error(&self, message: &Message, error: Failed) -> Result<bool, Failed> {
        let Ok(mut said) = serde_json::from_str::<Value>(&error.message) else { return Err(error) };
        if said.get("jsonrpc").is_none() || !message.is_request() {
            return Err(error);
        }
        if let Some(members) = said.as_object_mut() {
            members.insert("id".into(), message.id().cloned().unwrap_or_default());
        }
        self.output.write(&said.to_string()).await;
        Ok(true)
    }

    /// News of the era of sessions, on a stream that stays open.
    async fn listen_in_session(&self) {
        loop {
            let session = self.session().clone();
            let response = self.request(Method::GET, &session).await.send().await;
            let pause = match response {
                Ok(response) if response.status().is_success() => {
                    if let Ok(mut messages) = Messages::of(response).await {
                        while let Some(said) = messages.next().await {
                            self.output.write(&said).await;
                        }
                    }
                    SOON
                }
                Ok(response) if response.status() == StatusCode::NOT_FOUND => {
                    if self.reopen(session.number).await.is_ok() { SOON } else { LATER }
                }
                Ok(response) if response.status() == StatusCode::TOO_MANY_REQUESTS => LATER,
                // No streams here, or none for this token: that stays so.
                Ok(response) if response.status().is_client_error() => return,
                _ => LATER,
            };
            tokio::time::sleep(pause).await;
        }
    }
}

/// Remembers the session that an `initialize` opened.
fn opened(session: &mut Session, opening: &Message, headers: &HeaderMap, said: &str) {
    let said: Value = serde_json::from_str(said).unwrap_or_default();
    let version = said.pointer("/result/protocolVersion").and_then(Value::as_str);
    let Some(version) = version.and_then(|version| HeaderValue::from_str(version).ok()) else { return };
    session.opened = Some(opening.clone());
    session.id = headers.get(SESSION).cloned();
    session.version = Some(version);
}

/// The headers that repeat what a message says.
fn repeated(message: &Message) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let Some(version) = message.modern() else { return headers };
    let method = message.method().and_then(|method| HeaderValue::from_str(method).ok());
    headers.extend(HeaderValue::from_str(version).ok().map(|it| (http::HeaderName::from_static(VERSION), it)));
    headers.extend(method.map(|it| (http::HeaderName::from_static("mcp-method"), it)));
    headers.extend(message.named().map(|it| (http::HeaderName::from_static("mcp-name"), it)));
    headers
}

fn unreached(problem: reqwest::Error) -> Failed {
    let problem = problem.without_url();
    let mut causes = problem.to_string();
    let mut cause = std::error::Error::source(&problem);
    while let Some(next) = cause {
        causes = next.to_string();
        cause = next.source();
    }
    Failed::lost(format!("The service cannot be reached ({causes}). Is it running, and is its address right?"))
}

/// What a refusal says: in the protocol's words as it is, otherwise in ours.
async fn refused(response: Response) -> Failed {
    let status = response.status();
    let text = response.text().await.unwrap_or_default();
    if status == StatusCode::UNAUTHORIZED {
        let message = "The service does not accept this token: it is mistyped, revoked, past its time, or another \
                       workspace's. Set DRAGOMAN_TOKEN, or the file of --token-file, to one that \
                       `dragoman admin token create` or the console has made.";
        return Failed { code: REFUSED, message: message.into() };
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(said) if said.get("jsonrpc").is_some() => Failed { code: REFUSED, message: text },
        _ => {
            Failed::lost(format!("The service answered with status {}. Is this the address of /mcp?", status.as_u16()))
        }
    }
}
