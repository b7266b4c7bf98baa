//! Messages of the log (MCP, logging): what became of the client's own calls, beside their results. Clients that asked for
//! them get them on the stream of the very call, and none of anybody else's.

use std::time::Duration;

use axum::body::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use rmcp::RoleServer;
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::compat::is_modern;
use super::news::{Ear, frame};
use crate::base::clock::whole_millis;

/// By rising severity (RFC 5424 §6.2.1).
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const INFO: u8 = 2;
const WARNING: u8 = 4;
const ERROR: u8 = 5;

/// Who says it.
const LOGGER: &str = "dragoman";

/// Messages that a call may have waiting for its stream; those beyond are lost.
const ROOM: usize = 32;

/// The way of messages past the library to the stream of a call in a session: the library would send them on the stream
/// that is for what belongs to no call (2025-11-25, transports), and hold up the session where nobody reads that.
#[derive(Clone)]
pub(super) struct Aside(mpsc::Sender<Bytes>);

impl Aside {
    /// The way, and what comes out of it.
    pub(super) fn new() -> (Self, BoxStream<'static, Bytes>) {
        let (send, mut receive) = mpsc::channel(ROOM);
        (Self(send), futures_util::stream::poll_fn(move |context| receive.poll_recv(context)).boxed())
    }
}

/// A severity, counted from 1; `None` for a word that is none.
pub(super) fn severity(level: &str) -> Option<u8> {
    let at = LEVELS.iter().position(|known| *known == level)?;
    u8::try_from(at + 1).ok()
}

/// Tells what became of a call of a tool, as far as its client wants to know. `ear` is its session's.
#[expect(deprecated, reason = "revisions that clients use have it")]
pub(super) async fn tell(
    tool: &str,
    result: &CallToolResult,
    took: Duration,
    ear: Option<&Ear>,
    context: &RequestContext<RoleServer>,
) {
    use rmcp::model::LoggingMessageNotificationParam;
    let least = context.meta.log_level().filter(|_| is_modern(context));
    let least = least.and_then(|level| severity(serde_json::to_value(level).ok()?.as_str()?));
    for (level, data) in of(tool, result, took) {
        if is_modern(context) {
            let Some(_wanted) = least.filter(|least| level >= *least) else { continue };
            let Some(named) = name(level).and_then(|name| serde_json::from_value(name.into()).ok()) else { continue };
            let message = LoggingMessageNotificationParam::new(named, data).with_logger(LOGGER);
            // Who has left hears nothing.
            let _gone = context.peer.notify_logging_message(message).await;
        } else if ear.is_some_and(|ear| ear.wants(level)) {
            let params = json!({ "level": name(level), "logger": LOGGER, "data": data });
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
            let parts = context.extensions.get::<http::request::Parts>();
            if let Some(Aside(stream)) = parts.and_then(|parts| parts.extensions.get()) {
                let _lost = stream.try_send(Bytes::from(frame(&message)));
            }
        }
    }
}

fn name(severity: u8) -> Option<&'static str> {
    LEVELS.get(usize::from(severity).checked_sub(1)?).copied()
}

/// What there is to say of a call, with its severity: what its result says of itself, and nothing that it does not.
fn of(tool: &str, result: &CallToolResult, took: Duration) -> Vec<(u8, Value)> {
    if result.is_error == Some(true) {
        let text = result.content.iter().find_map(|block| block.as_text()).map_or("", |text| text.text.as_str());
        let body: Value = serde_json::from_str(text).unwrap_or_default();
        let error = body.get("error").unwrap_or(&Value::Null);
        let message = error.get("message").and_then(Value::as_str).unwrap_or("The call failed.");
        let (code, request) = (error.get("code"), body.get("request_id"));
        return vec![(ERROR, json!({ "tool": tool, "message": message, "code": code, "request_id": request }))];
    }
    let reply = result.structured_content.as_ref().unwrap_or(&Value::Null);
    let request = reply.get("request_id");
    let mut messages = Vec::new();
    if reply.get("truncated") == Some(&Value::Bool(true)) {
        let message = "The result was cut; there is more.";
        messages.push((WARNING, json!({ "tool": tool, "message": message, "request_id": request })));
    }
    if let Some(degraded) = reply.get("degraded").filter(|it| !it.is_null() && **it != false) {
        let message = "The result is not as good as it should be.";
        let data = json!({ "tool": tool, "message": message, "degraded": degraded, "request_id": request });
        messages.push((WARNING, data));
    }
    let took = whole_millis(took);
    let message = "The call was answered.";
    messages.push((INFO, json!({ "tool": tool, "message": message, "duration_ms": took, "request_id": request })));
    messages
}

#[cfg(test)]
mod tests {
    use rmcp::model::ContentBlock;

    use super::*;

    #[test]
    fn severities_rise_as_they_are_named() {
        assert_eq!(["debug", "info", "warning", "error", "emergency"].map(|it| severity(it).unwrap()), [1, 2, 4, 5, 8]);
        for (level, number) in [("info", INFO), ("warning", WARNING), ("error", ERROR)] {
            assert_eq!((severity(level), name(number)), (Some(number), Some(level)));
        }
        assert_eq!((severity("INFO"), severity(""), name(0), name(9)), (None, None, None, None));
    }

    #[test]
    fn a_call_says_of_itself_what_its_result_says() {
        let took = Duration::from_millis(7);
        let levels =
            |result: &CallToolResult| of("t", result, took).into_iter().map(|(level, _)| level).collect::<Vec<_>>();
        let whole = CallToolResult::structured(json!({ "truncated": false, "degraded": null, "request_id": "r" }));
        assert_eq!(levels(&whole), [INFO]);
        let cut = CallToolResult::structured(json!({ "truncated": true, "degraded": "vectors", "request_id": "r" }));
        assert_eq!(levels(&cut), [WARNING, WARNING, INFO]);
        assert!(of("t", &cut, took).iter().all(|(_, data)| data["request_id"] == "r" && data["tool"] == "t"));
        let text = json!({ "error": { "code": "forbidden_sql", "message": "No." }, "request_id": "r" }).to_string();
        let failed = of("t", &CallToolResult::error(vec![ContentBlock::text(text)]), took);
        let expected = json!({ "tool": "t", "message": "No.", "code": "forbidden_sql", "request_id": "r" });
        assert_eq!(failed, [(ERROR, expected)]);
    }

    #[test]
    fn nothing_is_told_to_who_did_not_ask() {
        let ear = Ear::default();
        assert!(!ear.wants(8));
        ear.level.store(WARNING, std::sync::atomic::Ordering::Relaxed);
        assert!(ear.wants(ERROR) && ear.wants(WARNING) && !ear.wants(INFO));
    }
}
