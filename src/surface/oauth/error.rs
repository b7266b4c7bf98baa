//! Errors of the endpoints that programs call: RFC 6749 §5.2 and RFC 7591 §3.2.2.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::base::counted::counted;
use crate::identity::grants::{GrantError, Reuse};
use crate::model::error::{Code, Error};
use crate::surface::form::FormError;

/// `{"error", "error_description"}` with its status.
#[derive(Clone, Debug)]
pub struct OAuthError {
    pub status: StatusCode,
    /// From the registry of the RFC.
    pub error: &'static str,
    pub description: String,
    /// Seconds, with 429 and 503.
    pub retry_after: Option<u64>,
    /// With 401: whether to challenge for HTTP Basic, as RFC 6749 §5.2 wants for a client that tried it.
    pub basic: bool,
    /// For the record of the workspace whose grant it was; the client is not told more than that it was used already.
    pub reuse: Option<Box<Reuse>>,
}

impl OAuthError {
    pub fn bad(error: &'static str, description: impl Into<String>) -> Self {
        let status = StatusCode::BAD_REQUEST;
        Self { status, error, description: description.into(), retry_after: None, basic: false, reuse: None }
    }

    /// A parameter that must be there.
    pub fn missing(name: &str) -> Self {
        Self::bad("invalid_request", format!("{name} is missing."))
    }

    /// 401: clients that were forgotten register again when they see it.
    pub fn invalid_client(description: &str) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, ..Self::bad("invalid_client", description) }
    }

    /// 400: it is known who the client is, and it may not (RFC 6749 §5.2). Registering again would not help.
    pub fn blocked() -> Self {
        Self::bad("unauthorized_client", "This client is blocked.")
    }

    /// 429 for an address.
    pub fn too_many(wait: u64) -> Self {
        Self::limited("from this address", wait)
    }

    /// 429 for whatever has a rate: `of this grant`.
    pub fn limited(whose: &str, wait: u64) -> Self {
        let description = format!("Too many requests {whose}; try again in {}.", counted(wait, "second"));
        let error = Self::bad("temporarily_unavailable", description);
        Self { status: StatusCode::TOO_MANY_REQUESTS, retry_after: Some(wait), ..error }
    }

    /// Whether it came to nothing by the client's doing: not of one that waits, for a person or for its turn.
    pub fn is_failure(&self) -> bool {
        self.status.is_client_error()
            && self.status != StatusCode::TOO_MANY_REQUESTS
            && self.error != "authorization_pending"
    }

    /// As the record calls it.
    pub fn outcome(&self) -> &'static str {
        match self.status {
            StatusCode::TOO_MANY_REQUESTS => Code::RateLimited.info().name,
            _ => self.error,
        }
    }
}

impl From<FormError> for OAuthError {
    fn from(problem: FormError) -> Self {
        let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::BAD_REQUEST);
        Self { status, ..Self::bad("invalid_request", problem.to_string()) }
    }
}

impl From<Error> for OAuthError {
    fn from(error: Error) -> Self {
        let busy = matches!(error.code, Code::ServiceUnavailable | Code::RateLimited);
        let (status, name) = match busy {
            true => (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable"),
            false => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
        };
        Self { status, retry_after: error.retry_after, ..Self::bad(name, error.message) }
    }
}

impl From<GrantError> for OAuthError {
    fn from(problem: GrantError) -> Self {
        match problem {
            GrantError::InvalidGrant(why) => Self::bad("invalid_grant", why),
            GrantError::InvalidTarget => {
                Self::bad("invalid_target", "The resource differs from the one that was authorized.")
            }
            GrantError::InvalidScope => Self::bad("invalid_scope", "The scope is wider than what was authorized."),
            GrantError::Blocked => Self::blocked(),
            GrantError::TooOften(wait) => Self::limited("of this grant", wait),
            GrantError::Reused(reuse) => {
                let told = Self::bad("invalid_grant", reuse.said);
                Self { reuse: Some(Box::new(reuse)), ..told }
            }
            GrantError::Internal(error) => error.into(),
        }
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let mut response = answer(self.status, json!({ "error": self.error, "error_description": self.description }));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.basic {
            let challenge = HeaderValue::from_static("Basic realm=\"dragoman\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// For answers that no cache keeps.
pub const UNCACHED: [(HeaderName, &str); 2] = [(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")];

/// JSON that no cache keeps (RFC 6749 §5.1).
pub fn answer(status: StatusCode, body: Value) -> Response {
    (status, UNCACHED, Json(body)).into_response()
}
