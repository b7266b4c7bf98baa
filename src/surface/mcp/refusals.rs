//! What is said of requests that come to nothing: as errors of the protocol, and on the record before they are answered.

use axum::body::to_bytes;
use axum::response::Response;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use super::Mcp;
use super::message::{Peek, rpc_error};
use crate::model::caller::Caller;
use crate::model::error::{Code, Error};

impl Mcp {
    /// A refusal of the service's own, on the record first.
    pub(super) async fn refuse(&self, caller: &Caller, target: &str, id: &Value, error: &Error) -> Response {
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
    pub(super) async fn unfit(&self, caller: &Caller, target: &str, id: &Value, refusal: Response) -> Response {
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
    pub(super) async fn no_session(&self, caller: &Caller, peek: &Peek) -> Response {
        let refused = Error::new(Code::AuthInvalid, "Session not found");
        let target = peek.method().unwrap_or_default();
        match self.shared.gateway.refused(caller, "mcp.session.refused", target, &refused).await {
            Ok(()) => rpc_error(StatusCode::NOT_FOUND, &peek.id(), -32001, &refused.message, Value::Null),
            Err(error) => unrecorded(&peek.id(), &error),
        }
    }
}

/// What could not be recorded is not answered.
pub(super) fn unrecorded(id: &Value, error: &Error) -> Response {
    rpc_error(StatusCode::SERVICE_UNAVAILABLE, id, -32603, &error.message, Value::Null)
}

/// Whether the library writes a refusal as bare text, not as an error of the protocol.
pub(super) fn is_bare(refusal: &Response) -> bool {
    let media = refusal.headers().get(CONTENT_TYPE);
    media.is_none_or(|media| media.as_bytes().starts_with(b"text/plain"))
}

/// A bare refusal as an error of the protocol; of a message that it cannot read the library would tell its parser's
/// words, and say that the media type was wrong.
pub(super) async fn worded(response: Response, is_json: bool, id: &Value) -> Response {
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
