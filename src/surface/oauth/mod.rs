//! The OAuth 2.1 authorization server over HTTP: one file an endpoint. Rules of grants and tokens are in `identity`.

mod authorize;
mod client_auth;
mod device;
mod error;
mod introspect;
mod metadata;
mod refusal;
mod register;
pub mod resource;
mod revoke;
mod token;

pub use authorize::{asker, authorize};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};

use crate::config::Config;
use crate::surface::login::Back;
use crate::surface::web::Web;

/// The endpoints that programs call; the browser's one is among the pages, since it needs their session.
pub fn routes() -> Router<Web> {
    let routes: [(&str, MethodRouter<Web>); 9] = [
        ("/.well-known/jwks.json", get(metadata::jwks)),
        ("/.well-known/oauth-protected-resource", get(metadata::protected_resource)),
        ("/.well-known/oauth-protected-resource/mcp", get(metadata::protected_resource)),
        ("/.well-known/oauth-protected-resource/t/{workspace}/mcp", get(metadata::protected_workspace)),
        // A hosted client probes this spelling too.
        ("/mcp/.well-known/oauth-protected-resource", get(metadata::protected_resource)),
        (device::ENDPOINT, post(device::start)),
        ("/api/oauth/register", post(register::register)),
        ("/api/oauth/revoke", post(revoke::revoke)),
        ("/api/oauth/token", post(token::token)),
    ];
    let mut router = Router::new();
    for (path, route) in routes {
        router = router.route(path, route.layer(from_fn(open_to_scripts)));
    }
    // For servers alone: a secret has no business in a browser.
    router = router.route("/api/oauth/introspect", post(introspect::introspect));
    // Clients look below the MCP path as well, although the issuer has none.
    for name in ["oauth-authorization-server", "openid-configuration"] {
        for path in ["", "/mcp", "/t/{workspace}/mcp"] {
            let route = get(metadata::server).layer(from_fn(open_to_scripts));
            router = router.route(&format!("/.well-known/{name}{path}"), route);
        }
    }
    router
}

/// Any origin may call these from a browser; none of them looks at cookies (H05).
async fn open_to_scripts(request: Request, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, mcp-protocol-version"),
            (header::ACCESS_CONTROL_MAX_AGE, "86400"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        (StatusCode::NO_CONTENT, headers).into_response()
    } else {
        next.run(request).await
    };
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

/// An authorization response (RFC 6749 §4.1.2): the redirect address, its own query kept as it is, then the answer,
/// `state` exactly as it came, and `iss` (RFC 9207).
pub fn answer_url(config: &Config, redirect_uri: &str, state: Option<&str>, answer: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(answer);
    if let Some(state) = state {
        query.append_pair("state", state);
    }
    query.append_pair("iss", &config.issuer());
    let join = if redirect_uri.contains('?') { '&' } else { '?' };
    format!("{redirect_uri}{join}{}", query.finish())
}

/// The answer of a person who said no.
pub fn denial_url(config: &Config, back: &Back, description: &str) -> String {
    let answer = [("error", "access_denied"), ("error_description", description)];
    answer_url(config, &back.redirect_uri, back.state.as_deref(), &answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a23_state_is_encoded_and_an_existing_query_is_kept() {
        let config = Config::read(|_| None).unwrap();
        let url = answer_url(&config, "https://c.example/cb?a=%41", Some("x\r\n\"<é"), &[("code", "1")]);
        assert_eq!(
            url,
            "https://c.example/cb?a=%41&code=1&state=x%0D%0A%22%3C%C3%A9&iss=http%3A%2F%2F127.0.0.1%3A8787"
        );
    }
}
