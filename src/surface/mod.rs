//! The protocols: every route and every layer of the service, on this page.
//!
//! From the outside in: [`arrive`] (request id, client address, security headers, log line), panics caught, then one of
//! - open: metadata, OAuth endpoints and pages (`web.rs`), probes, the OpenAPI documents;
//! - guarded: MCP and REST, where the guard answers 401 before a body is read.

mod body;
pub mod console;
pub mod context;
pub mod error;
mod form;
pub mod guard;
pub mod health;
mod html;
mod linger;
pub mod listen;
pub mod login;
pub mod mcp;
pub mod oauth;
pub mod rest;
mod schema;
pub mod web;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use self::console::workspace::Console;
use self::context::{ClientIp, RequestId};
use self::guard::{GuardState, Guards};
use self::mcp::Mcp;
use self::rest::Rest;
use self::web::{AuditEvent, AuditSink, Web};
use crate::base::clock::Clock;
use crate::base::id::Id;
use crate::base::throttle::Throttle;
use crate::config::Config;
use crate::gateway::Gateway;
use crate::gateway::audit::AuditLog;
use crate::identity::Identity;
use crate::model::audit::{Entry, clip};
use crate::store::Db;

/// How long a page or an OAuth endpoint may take.
const PAGE_TIME: Duration = Duration::from_secs(30);

/// How long a page may take that reads whole tables: a little more than the operations behind it.
const LONG_PAGE_TIME: Duration = Duration::from_secs(305);

/// What the surface is made of.
#[derive(Clone)]
pub struct Surface {
    pub config: Arc<Config>,
    pub clock: Clock,
    pub db: Db,
    pub identity: Identity,
    pub gateway: Arc<Gateway>,
    pub audit: AuditLog,
    /// Authenticates form tokens.
    pub form_key: Vec<u8>,
}

impl Surface {
    /// The whole service.
    pub fn router(&self, mcp: Arc<Mcp>) -> Router {
        let throttle = Arc::new(Throttle::new(self.config.limits.rates.by_address(), self.clock.clone()));
        let rest = Rest { gateway: self.gateway.clone(), config: self.config.clone() };
        let guarded_mcp = mcp
            .routes()
            .layer(from_fn(body::paced))
            .layer(from_fn(linger::linger))
            .layer(from_fn_with_state(self.guard(&throttle, Guards::Mcp), guard::guard))
            .layer(from_fn_with_state(self.config.clone(), mcp::cors::cors));
        // Bodies are bounded where they are read: JSON to kilobytes, uploads to their own limit.
        let guarded_rest = rest::routes(rest)
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn(body::paced))
            .layer(from_fn(linger::linger))
            .layer(from_fn_with_state(self.guard(&throttle, Guards::Rest), guard::guard));
        let web = self.web(throttle);
        let console = Console { web: web.clone(), gateway: self.gateway.clone() };
        let workspaces = |routes| login::with_session(&web, routes).with_state(console.clone());
        let long_pages = workspaces(console::workspace::long_routes());
        let pages = web::routes(web.clone()).merge(workspaces(console::workspace::routes()));
        let within = |pages: Router, time| {
            let limit = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time);
            let whole = from_fn(|request, next: Next| to_its_end(next.run(request)));
            pages.layer(whole).layer(limit).layer(from_fn(linger::linger))
        };
        let pages = within(pages, PAGE_TIME).merge(within(long_pages, LONG_PAGE_TIME));
        let routes: Router = Router::new()
            .merge(pages)
            .merge(guarded_mcp)
            .merge(guarded_rest)
            .merge(rest::open_routes())
            .merge(health::routes(self.db.clone()))
            .fallback(error::not_found);
        // A router says at its outer edge which methods an address has, outside of all layers of its own.
        Router::new()
            .fallback_service(routes)
            .layer(from_fn(error::wrong_method))
            .layer(CatchPanicLayer::custom(error::panicked))
            .layer(from_fn_with_state(self.clone(), arrive))
    }

    fn web(&self, throttle: Arc<Throttle>) -> Web {
        Web {
            identity: self.identity.clone(),
            config: self.config.clone(),
            throttle,
            audit: self.audit_sink(),
            form_key: self.form_key.clone().into(),
        }
    }

    fn guard(&self, throttle: &Arc<Throttle>, guards: Guards) -> GuardState {
        GuardState {
            identity: self.identity.clone(),
            config: self.config.clone(),
            throttle: throttle.clone(),
            guards,
            audit: self.audit_sink(),
        }
    }

    /// Refusals of strangers share rows when they repeat.
    fn audit_sink(&self) -> AuditSink {
        let surface = self.clone();
        Arc::new(move |event| {
            let entry = surface.entry(event);
            let audit = surface.audit.clone();
            Box::pin(async move {
                match entry.principal.is_empty() && entry.outcome != "ok" {
                    true => audit.refused(entry).await,
                    false => audit.record(entry).await,
                }
            })
        })
    }

    /// An event of the pages, the OAuth endpoints or the guard, as the audit log keeps it.
    fn entry(&self, event: AuditEvent) -> Entry {
        Entry {
            at: self.clock.now(),
            org: event.org,
            principal: event.principal,
            client: clip(&event.client),
            client_version: String::new(),
            session: String::new(),
            ip: event.ip.to_string(),
            request_id: event.request_id,
            action: event.action.into(),
            target: clip(&event.target),
            outcome: event.outcome,
            duration_ms: 0,
            rows: 0,
            bytes: 0,
            count: 1,
        }
    }
}

/// Runs an answer to its end, and so to its row in the record, even when the client hangs up: what it has changed is not
/// forgotten.
async fn to_its_end(answer: impl Future<Output = Response> + Send + 'static) -> Response {
    match tokio::spawn(answer).await {
        Ok(response) => response,
        Err(gone) if gone.is_panic() => std::panic::resume_unwind(gone.into_panic()),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Gives every request its id and its client's address, every response the headers that no page may lack, and every
/// answer one log line. Never logged: the query string (it may hold a code), headers, bodies.
async fn arrive(
    State(surface): State<Surface>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    struct Arrived;
    let started = Instant::now();
    let id = Id::<Arrived>::new(&surface.clock).to_string();
    let ip = client_ip(peer.ip(), request.headers(), &surface.config.trusted_proxies);
    request.extensions_mut().insert(RequestId(id.clone()));
    request.extensions_mut().insert(ClientIp(ip));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match names_one_host(&request) {
        true => next.run(request).await,
        false => StatusCode::BAD_REQUEST.into_response(),
    };
    let headers = response.headers_mut();
    secure(headers, surface.config.is_https());
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    let path = loggable(&path);
    let (status, ms) = (response.status().as_u16(), started.elapsed().as_micros() as f64 / 1000.0);
    tracing::info!(target: "dragoman::http", request_id = %id, %method, path, status, ms, %ip, "answered");
    response
}

/// A path as the log keeps it: what follows `/invitation/` is a secret (L09).
fn loggable(path: &str) -> &str {
    if path.starts_with("/invitation/") { "/invitation/…" } else { path }
}

/// RFC 9112 §3.2: a request without a host, or with two, is one that a proxy may have read for another (H09).
fn names_one_host(request: &Request) -> bool {
    request.version() != Version::HTTP_11 || request.headers().get_all(header::HOST).iter().count() == 1
}

/// The address that a chain of trusted proxies vouches for: from the right, the first that is not one of them. What a
/// stranger writes further left is never believed (H08).
fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    if !trusted.contains(&peer) {
        return peer;
    }
    let forwarded: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .collect();
    let mut nearest = peer;
    for text in forwarded.iter().rev() {
        match text.trim().parse::<IpAddr>() {
            Ok(ip) if trusted.contains(&ip) => nearest = ip,
            Ok(ip) => return ip,
            Err(_) => return nearest,
        }
    }
    nearest
}

/// Headers for every response; pages add their own content policy, which is kept.
fn secure(headers: &mut HeaderMap, https: bool) {
    let always = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        // What does not say that it may be kept is somebody's own (J08).
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ];
    for (name, value) in always {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if https {
        let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.entry(header::STRICT_TRANSPORT_SECURITY).or_insert(year);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let trusted: Vec<IpAddr> = trusted.iter().map(|ip| ip.parse().unwrap()).collect();
        client_ip(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn l09_the_secret_of_an_invitation_is_not_logged() {
        assert_eq!(loggable("/invitation/dgin_secret"), "/invitation/…");
        assert_eq!(loggable("/api/v1/invitations"), "/api/v1/invitations");
    }

    #[test]
    fn h08_only_trusted_hops_count_and_the_leftmost_is_never_believed() {
        assert_eq!(from("9.9.9.9", &["1.1.1.1"], &[]), "9.9.9.9");
        assert_eq!(from("9.9.9.9", &["1.1.1.1"], &["10.0.0.1"]), "9.9.9.9");
        assert_eq!(from("10.0.0.1", &["1.1.1.1, 2.2.2.2"], &["10.0.0.1"]), "2.2.2.2");
        assert_eq!(from("10.0.0.1", &["1.1.1.1, 2.2.2.2, 10.0.0.2"], &["10.0.0.1", "10.0.0.2"]), "2.2.2.2");
        assert_eq!(from("10.0.0.1", &["1.1.1.1", "2.2.2.2"], &["10.0.0.1"]), "2.2.2.2");
        assert_eq!(from("10.0.0.1", &["nonsense"], &["10.0.0.1"]), "10.0.0.1");
        assert_eq!(from("10.0.0.1", &[], &["10.0.0.1"]), "10.0.0.1");
    }
}
