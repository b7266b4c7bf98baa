//! The REST tiers: `/api/v1/ext` for external models and programs, `/api/v1` for management. A path's `{dataset_id}` and
//! the JSON body, or the query where there is none, are an operation's arguments.

pub mod actions;
pub mod functions;
pub mod health;
pub mod openapi;
pub mod operations;
mod upload;
mod uploads;

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::json::Twice;
use crate::config::Config;
use crate::gateway::operation::{Operation, Surface};
use crate::gateway::{Gateway, Sent, Via, WithId};
use crate::model::access::Action;
use crate::model::audit::clip;
use crate::model::caller::{Caller, Proof};
use crate::model::error::{Code, Error, Result};
use crate::surface::body::{Unread, large};
use crate::surface::error::problem;
use crate::surface::{guard, schema};

/// Largest JSON body in bytes beside its texts; in management more.
const BODY: usize = 64 << 10;
const MANAGED: usize = 1 << 20;

/// What the handlers share.
#[derive(Clone)]
pub struct Rest {
    pub gateway: Arc<Gateway>,
    pub config: Arc<Config>,
}

/// Runs a call to its end, and so to its row in the record, even when the client hangs up: then it is told to stop,
/// but what it has changed is not forgotten. `kept` lives as long as the call.
async fn run<O: Operation>(rest: &Rest, caller: Caller, op: O, kept: impl Send + 'static) -> Response {
    let via = Via { to_program: true, ..Via::new(recorded_as(&caller)) };
    let _cancels = via.cancel.clone().drop_guard();
    let (gateway, by) = (rest.gateway.clone(), caller.clone());
    let call = tokio::spawn(async move {
        let answer = gateway.write(&by, op, via, written::<O>).await;
        drop(kept);
        answer
    });
    match call.await.unwrap_or_else(|panic| Err(Error::internal(panic))) {
        Ok(answered) => success(answered.reply),
        Err(error) => failure(rest, &caller, O::INFO.action, &error),
    }
}

/// The path's parameters, where it is text.
type Named = std::result::Result<Path<HashMap<String, String>>, PathRejection>;

/// A request whose arguments are its path, and its JSON body or its query.
async fn answer<O: Operation>(rest: &Rest, caller: Caller, path: Named, request: Request) -> Response {
    let Ok(Path(path)) = path else {
        return refused::<O>(rest, &caller, Error::invalid("path", "The address is not UTF-8.")).await;
    };
    match arguments::<O>(rest, &caller, path, request).await.and_then(schema::parse::<O>) {
        Ok(op) => run(rest, caller, op, ()).await,
        Err(error) => refused::<O>(rest, &caller, error).await,
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

/// The operator comes this way too, from the command line.
fn recorded_as(caller: &Caller) -> &'static str {
    if caller.proof == Proof::Local { "admin.call" } else { "rest.call" }
}

/// A refusal before there was an operation: recorded, then answered.
async fn refused<O: Operation>(rest: &Rest, caller: &Caller, error: Error) -> Response {
    match rest.gateway.refused(caller, recorded_as(caller), O::INFO.name, &error).await {
        Ok(()) => failure(rest, caller, O::INFO.action, &error),
        Err(unrecorded) => problem(&unrecorded, &caller.request_id),
    }
}

/// A reply with the pictures that were asked for.
#[derive(Serialize)]
struct Body<'a, R> {
    #[serde(flatten)]
    reply: &'a R,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    images: &'a [String],
}

/// The body of an answer.
fn written<O: Operation>(reply: O::Reply, request_id: &str) -> Result<Sent<String>> {
    let body = Body { reply: &reply, images: O::images(&reply) };
    WithId { reply: &body, request_id }.text().map(Sent::from)
}

fn success(body: String) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Each argument has one place: the path, and for the others the body or, where there is none, the query. Texts of the
/// query become what the operation's schema says they are.
async fn arguments<O: Operation>(
    rest: &Rest,
    caller: &Caller,
    path: HashMap<String, String>,
    request: Request,
) -> Result<Map<String, Value>> {
    let query = url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
    let query: Vec<(String, String)> = query.into_owned().collect();
    let mut arguments = Map::new();
    if openapi::has_body(request.method().as_str()) {
        if let Some((key, _)) = query.first() {
            let message = format!("Give {} in the body: the query of a {} is not read.", clip(key), request.method());
            return Err(Error::invalid(&clip(key), message));
        }
        arguments = body::<O>(rest, caller, request).await?;
    } else if !query.is_empty() {
        let schema = schema::kept::<O>();
        for (key, value) in query {
            let kind = schema.get("properties").and_then(|all| all.get(&key)).and_then(|one| one.get("type"));
            let value = typed(kind.and_then(Value::as_str), &value);
            put(&mut arguments, key, value)?;
        }
    }
    for (key, value) in path {
        put(&mut arguments, key, value.into())?;
    }
    Ok(arguments)
}

/// Of two values none is guessed: a proxy that decides by one of them may have read the other.
fn put(arguments: &mut Map<String, Value>, key: String, value: Value) -> Result<()> {
    if arguments.contains_key(&key) {
        let key = clip(&key);
        let message = format!("{key} is given more than once. What the path names is given only there.");
        return Err(Error::invalid(&key, message));
    }
    arguments.insert(key, value);
    Ok(())
}

/// A text of a query as a value of a schema's type; one that is none stays text, and is refused where it is read.
fn typed(kind: Option<&str>, text: &str) -> Value {
    let read = match kind {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        Some("array") => Some(text.split(',').collect()),
        _ => None,
    };
    read.unwrap_or_else(|| Value::from(text))
}

/// The body's arguments; none when there is no body. One of more than a few kilobytes is read of those alone who may do
/// what it asks for.
async fn body<O: Operation>(rest: &Rest, caller: &Caller, request: Request) -> Result<Map<String, Value>> {
    let json = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
    });
    let beside = if O::INFO.surface == Surface::Manage { MANAGED } else { BODY };
    // Written in escapes, a text that is not English is three times as long.
    let schema = schema::kept::<O>();
    let most = beside + schema::texts(&schema) * 3;
    let (parts, body) = request.into_parts();
    let place = || rest.gateway.body(caller, Some(O::INFO.action));
    let bytes = large(&parts.headers, body, most, place).await.map_err(|unread| match unread {
        Unread::TooLarge => Error::new(Code::FileTooLarge, format!("The body is larger than {most} bytes.")),
        Unread::Late => Error::new(Code::QueryTimeout, "The body did not arrive in time."),
        Unread::Broken => Error::invalid("body", "The body is damaged or ended early."),
        Unread::NoPlace(error) => error,
    })?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if !json {
        return Err(Error::invalid("Content-Type", "Send the arguments as application/json."));
    }
    let mut arguments: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|problem| {
        Error::invalid("body", format!("The body is not a JSON object: {}.", clip(&problem.to_string())))
    })?;
    if let Ok(Twice(Some(name))) = serde_json::from_slice(&bytes) {
        let name = clip(&name);
        let message = format!("The body gives {name} twice. Of two values none is guessed: give one.");
        return Err(Error::invalid(&name, message));
    }
    // Many clients write null for what they do not give.
    if arguments.values().any(Value::is_null) {
        arguments.retain(|name, value| !(value.is_null() && schema::is_optional(&schema, name)));
    }
    Ok(arguments)
}
