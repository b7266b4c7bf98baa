//! The OAuth 2.1 authorization server over HTTP: one file an endpoint, and `consent/` for the pages on which a person
//! approves. Rules of grants and tokens are in `identity`.

pub mod authorize;
mod client_auth;
pub mod consent;
pub mod device;
pub mod error;
pub mod introspect;
pub mod metadata;
mod refusal;
pub mod register;
mod request;
pub mod revoke;
pub mod token;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Any origin may call these from a browser; none of them looks at cookies (H05).
pub async fn open_to_scripts(request: Request, next: Next) -> Response {
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
