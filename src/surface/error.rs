//! The product's errors as HTTP answers: status from the one table, the published body, `Retry-After`.

use axum::Json;
use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, StatusCode};
use serde_json::json;

use crate::model::error::{Code, Error};
use crate::surface::context::RequestId;
use crate::surface::html;

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

/// Below these are pages, where a person may have mistyped an address.
const PAGES: [&str; 3] = ["/account/", "/docs/", "/w/"];

/// Any path that is not ours: JSON, for clients that probe well-known places; a page for a browser among pages, and the
/// page itself where there is but a slash behind its address.
pub async fn not_found(request: Request) -> Response {
    let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path = request.uri().path();
    if accepts.contains("text/html") && PAGES.iter().any(|pages| path.starts_with(pages)) {
        return match path.strip_suffix('/') {
            Some(page) if page != "/w" => html::see_other(page),
            _ => html::problem(StatusCode::NOT_FOUND, "Not found", "There is nothing at this address."),
        };
    }
    problem(&Error::new(Code::NotFound, "There is nothing at this address."), &id_of(&request))
}

/// The layer around all routes: an address of ours that was asked by a method which it has not. A router gives such an
/// answer its status and `Allow` (RFC 9110 §15.5.6), and nothing to read.
pub async fn wrong_method(request: Request, next: Next) -> Response {
    let (id, method) = (id_of(&request), request.method().clone());
    let response = next.run(request).await;
    let is_empty = response.status() == StatusCode::METHOD_NOT_ALLOWED && response.body().is_end_stream();
    if !is_empty || method == Method::HEAD {
        return response;
    }
    let (mut head, _) = response.into_parts();
    let allowed = head.headers.get(ALLOW).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let allowed: Vec<&str> = allowed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let message = format!("This address does not answer {method}. It answers: {}.", allowed.join(", "));
    let error = Error::invalid("method", message).with(json!({ "field": "method", "allowed": allowed }));
    // The length was that of no body.
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(head, Body::from(error.body(&id).to_string()))
}

/// The request's id, as the layers around all routes gave it.
pub fn id_of(request: &Request) -> String {
    request.extensions().get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default()
}

/// A handler that panicked: logged by the layer, and an answer that says nothing of it.
pub fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    problem(&Error::new(Code::InternalError, "The service failed to answer. Try again later."), "")
}
