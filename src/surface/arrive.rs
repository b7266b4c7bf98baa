//! The outermost layer that answers: what every request and every response has, whatever its path.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};

use crate::base::id::Id;
use crate::config::Config;
use crate::surface::context::{ClientIp, RequestId};
use crate::surface::web::Web;

/// Gives every request its id and its client's address, every response the headers that no page may lack, and every
/// answer one log line. Never logged: the query string (it may hold a code), headers, bodies.
pub async fn arrive(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    struct Arrived;
    let started = Instant::now();
    let id = Id::<Arrived>::new(web.identity.clock()).to_string();
    let ip = client_ip(peer.ip(), request.headers(), &web.config.trusted_proxies);
    request.extensions_mut().insert(RequestId(id.clone()));
    request.extensions_mut().insert(ClientIp(ip));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match names_one_host(&request) {
        true => next.run(request).await,
        false => StatusCode::BAD_REQUEST.into_response(),
    };
    let headers = response.headers_mut();
    secure(headers, web.config.is_https());
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    let path = loggable(&path);
    let (status, ms) = (response.status().as_u16(), started.elapsed().as_micros() as f64 / 1000.0);
    tracing::info!(target: "dragoman::http", request_id = %id, %method, path, status, ms, %ip, "answered");
    response
}

/// Names the published host in a request, whatever host it named.
pub async fn as_published(State(config): State<Arc<Config>>, mut request: Request, next: Next) -> Response {
    let url = &config.public_url;
    let (host, port) = (url.host_str().unwrap_or_default(), url.port());
    let host = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    if let Ok(host) = HeaderValue::from_str(&host) {
        request.headers_mut().insert(header::HOST, host);
    }
    next.run(request).await
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
