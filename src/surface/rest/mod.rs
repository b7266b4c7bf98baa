//! The REST tiers: `/api/v1/ext` for external models and programs, `/api/v1` for management. Routes come from
//! [`crate::ops::each`]; a path's `{dataset_id}`, the query and the JSON body together are the operation's arguments.

pub mod export;
pub mod openapi;
mod upload;

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on, post};
use axum::{Extension, Json, Router};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::gateway::operation::{Operation, Surface};
use crate::gateway::{Gateway, Via};
use crate::model::access::Action;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};
use crate::ops;
use crate::ops::audit_log::ExportAudit;
use crate::ops::import::Import;
use crate::surface::error::problem;
use crate::surface::{guard, schema};

/// Largest JSON body in bytes; in management, where ontologies are texts, more.
const BODY: usize = 64 << 10;
const TEXTS: usize = 3 << 20;

/// What the handlers share.
#[derive(Clone)]
pub struct Rest {
    pub gateway: Arc<Gateway>,
    pub config: Arc<Config>,
}

struct Routes(Router<Rest>);

impl ops::Visitor for Routes {
    fn visit<O: Operation>(&mut self) {
        let info = O::INFO;
        let base = openapi::base(info.surface);
        let path = format!("{base}{}", info.route.path);
        let method = match info.route.method {
            "GET" => MethodFilter::GET,
            "PATCH" => MethodFilter::PATCH,
            "PUT" => MethodFilter::PUT,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::POST,
        };
        // An import does not arrive as JSON, and an export does not leave as JSON.
        let route = match info.name {
            name if name == Import::INFO.name => post(upload::upload),
            name if name == ExportAudit::INFO.name => get(export::export),
            _ => on(method, answer::<O>),
        };
        let router = std::mem::take(&mut self.0);
        self.0 = router.route(&path, route);
    }
}

/// All operations' routes, still without the guard.
pub fn routes(rest: Rest) -> Router {
    let mut routes = Routes(Router::new());
    ops::each(&mut routes);
    routes.0.with_state(rest)
}

/// What needs no credential: the documents themselves.
pub fn open_routes() -> Router {
    Router::new()
        .route("/api/v1/ext/openapi.json", get(async || Json(openapi::document(Surface::Tool))))
        .route("/api/v1/openapi.json", get(async || Json(openapi::document(Surface::Manage))))
}

async fn answer<O: Operation>(
    State(rest): State<Rest>,
    Extension(caller): Extension<Caller>,
    path: std::result::Result<Path<HashMap<String, String>>, PathRejection>,
    request: Request,
) -> Response {
    let Ok(Path(path)) = path else {
        return refused::<O>(&rest, &caller, Error::invalid("path", "The address is not UTF-8.")).await;
    };
    match arguments::<O>(path, request).await.and_then(schema::parse::<O>) {
        Ok(op) => run(&rest, caller, op, ()).await,
        Err(error) => refused::<O>(&rest, &caller, error).await,
    }
}

/// Runs a call to its end, and so to its row in the record, even when the client hangs up: then it is told to stop,
/// but what it has changed is not forgotten. `kept` lives as long as the call.
async fn run<O: Operation>(rest: &Rest, caller: Caller, op: O, kept: impl Send + 'static) -> Response {
    let via = Via::new("rest.call");
    let _cancels = via.cancel.clone().drop_guard();
    let (gateway, by) = (rest.gateway.clone(), caller.clone());
    let call = tokio::spawn(async move {
        let reply = gateway.call(&by, op, via).await;
        drop(kept);
        reply
    });
    match call.await.unwrap_or_else(|panic| Err(Error::internal(panic))) {
        Ok(mut reply) => {
            // What is for blocks alone leaves the reply; pictures that were asked for stay.
            let images = O::blocks(&mut reply).map(|blocks| blocks.images).filter(|images| !images.is_empty());
            if let (Some(images), Some(object)) = (images, reply.as_object_mut()) {
                object.insert("images".into(), images.into());
            }
            success(reply)
        }
        Err(error) => failure(rest, &caller, O::INFO.action, &error),
    }
}

/// An error; for a scope that the client can ask for, with the challenge that says which (RFC 6750 §3.1), and for a
/// sign-in that is too old, with how old it may be (RFC 9470 §3).
fn failure(rest: &Rest, caller: &Caller, action: Action, error: &Error) -> Response {
    if error.code == Code::InsufficientUserAuthentication {
        return guard::insufficient_authentication(&rest.config, "/mcp", error.body(&caller.request_id));
    }
    let (scope, _, role) = action.needs();
    if error.code != Code::ScopeDenied || caller.role < role || caller.proof.is_connectivity_token() {
        return problem(error, &caller.request_id);
    }
    guard::insufficient_scope(&rest.config, "/mcp", &[scope], error.body(&caller.request_id))
}

/// A refusal before there was an operation: recorded, then answered.
async fn refused<O: Operation>(rest: &Rest, caller: &Caller, error: Error) -> Response {
    match rest.gateway.refused(caller, "rest.call", O::INFO.name, &error).await {
        Ok(()) => failure(rest, caller, O::INFO.action, &error),
        Err(unrecorded) => problem(&unrecorded, &caller.request_id),
    }
}

fn success(reply: Value) -> Response {
    let mut response = Json(reply).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Body first, then query, then path: what stands in the address cannot be overruled. Texts of the address become what
/// the operation's schema says they are.
async fn arguments<O: Operation>(path: HashMap<String, String>, request: Request) -> Result<Map<String, Value>> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let most = if O::INFO.surface == Surface::Manage { TEXTS } else { BODY };
    let has_body = openapi::has_body(request.method().as_str());
    let mut arguments = if has_body { body(request, most).await? } else { Map::new() };
    if !query.is_empty() {
        let schema = schema::of::<O>();
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let kind = schema.get("properties").and_then(|all| all.get(key.as_ref())).and_then(|one| one.get("type"));
            let value = typed(kind.and_then(Value::as_str), &value);
            arguments.insert(key.into_owned(), value);
        }
    }
    arguments.extend(path.into_iter().map(|(key, value)| (key, Value::from(value))));
    Ok(arguments)
}

/// A text of a query as a value of a schema's type; one that is none stays text, and is refused where it is read.
fn typed(kind: Option<&str>, text: &str) -> Value {
    let read = match kind {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    };
    read.unwrap_or_else(|| Value::from(text))
}

/// The body's arguments; none when there is no body.
async fn body(request: Request, most: usize) -> Result<Map<String, Value>> {
    let json = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
    });
    let bytes = axum::body::to_bytes(request.into_body(), most)
        .await
        .map_err(|_| Error::new(Code::FileTooLarge, format!("The body is larger than {most} bytes.")))?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if !json {
        return Err(Error::invalid("Content-Type", "Send the arguments as application/json."));
    }
    serde_json::from_slice(&bytes)
        .map_err(|problem| Error::invalid("body", format!("The body is not a JSON object: {problem}.")))
}
