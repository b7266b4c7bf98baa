//! The outermost layer that answers: what every request and every response has, whatever its path.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Once};
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};

use crate::base::id::Id;
use crate::base::network::Network;
use crate::config::Config;
use crate::surface::context::{ClientIp, RequestId};
use crate::surface::web::Web;

/// Where proxies write whom they speak for.
const FORWARDED: &str = "x-forwarded-for";

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
/// stranger writes further left is never believed (H08). A socket that takes both protocols has IPv4 peers in IPv6
/// clothes: all addresses are compared and told without.
fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_trusted = |ip: IpAddr| trusted.iter().any(|network| network.covers(ip));
    let mut nearest = peer.to_canonical();
    if !is_trusted(nearest) {
        if headers.contains_key(FORWARDED) {
            say_not_believed(nearest);
        }
        return nearest;
    }
    let forwarded: Vec<&str> = headers
        .get_all(FORWARDED)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .collect();
    for text in forwarded.iter().rev() {
        match address(text.trim()) {
            Some(ip) if is_trusted(ip) => nearest = ip,
            Some(ip) => return ip,
            None => return nearest,
        }
    }
    nearest
}

/// An address as proxies write it: bare, in brackets, or with its port (`203.0.113.9:4711`, `[2001:db8::1]:443`).
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    Some(bare.parse::<IpAddr>().ok().or_else(with_port)?.to_canonical())
}

/// Once, for whoever forgot to name a proxy: everybody behind it counts as one address.
fn say_not_believed(peer: IpAddr) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        tracing::warn!(%peer, "X-Forwarded-For of this peer is not believed; name proxies in DRAGOMAN_TRUSTED_PROXIES");
    });
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
        let trusted: Vec<Network> = trusted.iter().map(|network| network.parse().unwrap()).collect();
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

    #[test]
    fn h08_a_proxy_is_known_however_its_address_and_those_it_speaks_for_are_written() {
        let own = "203.0.113.9";
        for trusted in ["10.0.0.5", "::ffff:10.0.0.5", "10.0.0.0/8"] {
            assert_eq!(from("::ffff:10.0.0.5", &[own], &[trusted]), own, "{trusted}");
        }
        assert_eq!(from("::ffff:10.0.0.5", &[own], &[]), "10.0.0.5");
        for written in
            ["203.0.113.9:4711", "::ffff:203.0.113.9", "[::ffff:203.0.113.9]:443", "1.1.1.1, 203.0.113.9:1,10.0.0.6:2"]
        {
            assert_eq!(from("10.0.0.5", &[written], &["10.0.0.0/8"]), own, "{written}");
        }
        for written in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(from("10.0.0.5", &[written], &["10.0.0.5"]), "2001:db8::1", "{written}");
        }
        for written in ["203.0.113.9:", "203.0.113.9:x", "[203.0.113.9", "unknown", ""] {
            assert_eq!(from("10.0.0.5", &[written], &["10.0.0.5"]), "10.0.0.5", "{written}");
        }
    }
}
