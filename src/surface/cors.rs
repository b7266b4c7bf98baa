//! Clients that run in a browser on a page of another origin (the MCP Inspector's, for one). Those that the settings name may
//! call and read the answers, refusals and their challenge included; a preflight carries no credential and is answered
//! before the guard. No cookie is ever asked for.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use url::Url;

use crate::config::Config;

/// What pages of other origins may do at some addresses.
#[derive(Clone, Copy, Debug)]
pub struct Cors {
    /// How those addresses begin.
    below: &'static str,
    origins: fn(&Config) -> &[String],
    methods: &'static str,
    sent: &'static str,
    read: &'static str,
}

pub const MCP: Cors = Cors {
    below: "/",
    origins: |config| &config.allowed_origins,
    methods: "GET, POST, DELETE",
    sent: "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
    read: "mcp-session-id, www-authenticate, mcp-protocol-version, retry-after, x-request-id",
};

pub const PROGRAMS: Cors = Cors {
    below: "/api/v1/ext/",
    origins: |config| &config.ext_allowed_origins,
    methods: "GET, POST",
    sent: "authorization, content-type, accept",
    read: "www-authenticate, retry-after, x-request-id",
};

/// The middleware; the outermost of these addresses.
pub async fn cors(State((cors, config)): State<(Cors, Arc<Config>)>, request: Request, next: Next) -> Response {
    let is_here = request.uri().path().starts_with(cors.below);
    let Some(origin) = is_here.then(|| allowed((cors.origins)(&config), request.headers())).flatten() else {
        return next.run(request).await;
    };
    let preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if preflight {
        let headers = [
            (ACCESS_CONTROL_ALLOW_METHODS, cors.methods),
            (ACCESS_CONTROL_ALLOW_HEADERS, cors.sent),
            (ACCESS_CONTROL_MAX_AGE, "7200"),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(cors.read));
    headers.append(VARY, HeaderValue::from_static("origin"));
    response
}

/// The request's origin, if it is one of the settings'.
fn allowed(patterns: &[String], headers: &HeaderMap) -> Option<HeaderValue> {
    let mut values = headers.get_all(ORIGIN).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let origin = Url::parse(value.to_str().ok()?).ok()?;
    patterns.iter().any(|pattern| matches(pattern, &origin)).then(|| value.clone())
}

/// `https://app.example`, its port being the scheme's, or `http://localhost:*` for any.
fn matches(pattern: &str, origin: &Url) -> bool {
    let (base, any_port) = pattern.strip_suffix(":*").map_or((pattern, false), |base| (base, true));
    let Ok(base) = Url::parse(base) else { return false };
    base.scheme() == origin.scheme()
        && base.host_str() == origin.host_str()
        && (any_port || base.port_or_known_default() == origin.port_or_known_default())
}

/// An allowed origin as the protocol library wants it: without a port it would take any.
pub fn with_port(pattern: &str) -> String {
    match Url::parse(pattern) {
        Ok(url) if !pattern.ends_with(":*") => match (url.host_str(), url.port_or_known_default()) {
            (Some(host), Some(port)) => format!("{}://{host}:{port}", url.scheme()),
            _ => pattern.to_owned(),
        },
        _ => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_compared_whole() {
        let ok = |pattern: &str, origin: &str| matches(pattern, &Url::parse(origin).unwrap());
        assert!(ok("https://app.example", "https://app.example"));
        assert!(ok("https://app.example:443", "https://app.example"));
        assert!(ok("http://localhost:*", "http://localhost:6274"));
        for (pattern, origin) in [
            ("https://app.example", "https://app.example:8443"),
            ("https://app.example", "http://app.example"),
            ("https://app.example", "https://app.example.evil.com"),
            ("https://app.example", "https://x.app.example"),
            ("http://localhost:*", "http://localhost.evil.com:6274"),
            ("http://localhost:*", "https://localhost:6274"),
        ] {
            assert!(!ok(pattern, origin), "{pattern} {origin}");
        }
        assert_eq!(with_port("https://app.example"), "https://app.example:443");
        assert_eq!(with_port("http://localhost:*"), "http://localhost:*");
        assert_eq!(with_port("http://[::1]:6274"), "http://[::1]:6274");
    }
}
