//! The product's errors as HTTP answers: status from the one table, the published body, `Retry-After`.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, RETRY_AFTER};
use http::{HeaderValue, StatusCode};

use crate::model::error::{Code, Error};

/// `{"error":{code, message, details}, "request_id"}` with the code's status.
pub fn problem(error: &Error, request_id: &str) -> Response {
    let status = StatusCode::from_u16(error.code.info().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(error.body(request_id))).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Any path that is not ours: JSON, never HTML, for clients that probe well-known places.
pub async fn not_found() -> Response {
    let body = serde_json::json!({ "error": { "code": "not_found", "message": "There is nothing at this address." } });
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

/// A handler that panicked: logged by the layer, and an answer that says nothing of it.
pub fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    problem(&Error::new(Code::InternalError, "The service failed to answer. Try again later."), "")
}
