//! What is looked at of a JSON-RPC message before the protocol library sees it, read as the library reads it. Ids, names
//! of methods and tokens of progress come back in answers, in logs and in the record: here they get their types and their
//! bounds, whoever writes them down.

mod any;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode};
use rmcp::model::{InitializeRequest, ProtocolVersion};
use serde::Deserialize;
use serde_json::{Value, json};

use self::any::{Any, is_plain};
use crate::base::json::{Twice, put};

/// The first revision without sessions.
pub(super) const MODERN: &str = "2026-07-28";
/// The last with them.
pub(super) const NEWEST_WITH_SESSIONS: &str = "2025-11-25";

/// Characters of a method's name.
const METHOD: usize = 128;
/// Bytes of an `initialize`: what it says of the client is kept for as long as the session lives.
const INITIALIZE: usize = 16 << 10;

/// The parts of a message that decide how it is treated. The body, never a header, decides about rights.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Peek {
    #[serde(default)]
    method: Any,
    #[serde(default)]
    id: Any,
    #[serde(default)]
    params: Any<Params>,
}

#[derive(Debug, Default, Deserialize)]
struct Params {
    #[serde(default)]
    name: Any,
    #[serde(default)]
    uri: Any,
    #[serde(default, rename = "taskId")]
    task_id: Any,
    #[serde(default)]
    cursor: Any,
    #[serde(default, rename = "requestId")]
    request_id: Any,
    #[serde(default, rename = "protocolVersion")]
    protocol_version: Any,
    #[serde(default, rename = "_meta")]
    meta: Any<Meta>,
}

#[derive(Debug, Default, Deserialize)]
struct Meta {
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Any,
    #[serde(default, rename = "progressToken")]
    progress_token: Any,
}

impl Params {
    /// The revision that the message itself names.
    fn version(&self) -> Option<&str> {
        match &self.meta {
            Any::Object(meta) => meta.protocol_version.text(),
            _ => None,
        }
    }
}

/// Reads a message.
///
/// # Errors
/// It is no message, or has an id, a method or parameters of a wrong type or size.
pub(super) fn read(bytes: &[u8]) -> Result<Peek, Refused> {
    let refuse = |code, message| Refused { status: StatusCode::BAD_REQUEST, id: Value::Null, code, message };
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(refuse(-32600, "Batches are not part of this protocol."));
    }
    let peek: Peek = serde_json::from_slice(bytes).map_err(|problem| match problem.is_data() {
        true => refuse(-32600, "The request is not a JSON-RPC message."),
        false => refuse(-32700, "The request is not JSON."),
    })?;
    let is_answer = matches!(peek.method, Any::Absent);
    // JSON-RPC 2.0 §5: an error may be about a message whose id nobody could read.
    let has_none = matches!(peek.id, Any::Absent) || is_answer && matches!(peek.id, Any::Null);
    if !has_none && !peek.id.is_id() {
        return Err(refuse(-32600, "An id is a whole number, or a text of at most 256 characters on one line."));
    }
    let refuse = |code, message| Refused { id: peek.id(), ..refuse(code, message) };
    if !is_answer && !peek.method().is_some_and(|method| is_plain(method, METHOD)) {
        return Err(refuse(-32600, "A method is a text of at most 128 characters on one line."));
    }
    match peek.wrong_params(bytes) {
        Some(message) => Err(refuse(-32602, message)),
        None => Ok(peek),
    }
}

impl Peek {
    /// `None` for an answer to a request of ours.
    pub(super) fn method(&self) -> Option<&str> {
        self.method.text()
    }

    /// As it is repeated in an answer.
    pub(super) fn id(&self) -> Value {
        match &self.id {
            Any::Text(id) => id.as_str().into(),
            Any::Whole(id) => (*id).into(),
            _ => Value::Null,
        }
    }

    /// Whether the message wants an answer.
    pub(super) fn is_request(&self) -> bool {
        self.method().is_some() && !matches!(self.id, Any::Absent)
    }

    /// Whether the message opens a session, or opens one anew. The revision without sessions has no `initialize`: where a
    /// message names that revision and nothing of the handshake, it asks for a method that there is not.
    pub(super) fn opens(&self) -> bool {
        let only_modern = |params: &Params| params.protocol_version.is_none() && params.version() >= Some(MODERN);
        self.method() == Some("initialize") && !self.params().is_some_and(only_modern)
    }

    /// Whether the answer stays open for news (2026-07-28).
    pub(super) fn listens(&self) -> bool {
        self.is_modern() && self.method() == Some("subscriptions/listen")
    }

    /// Whether a message goes on although its workspace has turned its clients off: what the gateway refuses itself, under
    /// the name of what was asked, and what asks for nothing.
    pub(super) fn may_be_asked_of_a_closed_workspace(&self, method: &Method) -> bool {
        let gateway = ["tools/call", "resources/list", "resources/read", "tasks/get", "tasks/update", "tasks/cancel"];
        match *method {
            Method::DELETE => true,
            Method::POST => !self.is_request() || self.method().is_some_and(|method| gateway.contains(&method)),
            _ => false,
        }
    }

    /// The tool of a `tools/call`.
    pub(super) fn tool(&self) -> Option<&str> {
        self.named().filter(|_| self.method() == Some("tools/call"))
    }

    /// What `Mcp-Name` repeats of a message (2026-07-28, transports).
    pub(super) fn named(&self) -> Option<&str> {
        let params = self.params()?;
        match self.method()? {
            "tools/call" | "prompts/get" => params.name.text(),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => params.uri.text(),
            "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id.text(),
            _ => None,
        }
    }

    /// The revision that the session of an `initialize` has: what it asks for, where that is known and has sessions.
    pub(super) fn session_version(&self) -> &'static str {
        let asked = self.params().and_then(|params| params.protocol_version.text());
        let known = ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE);
        known.iter().map(ProtocolVersion::as_str).find(|known| asked == Some(*known)).unwrap_or(NEWEST_WITH_SESSIONS)
    }

    /// Whether the message belongs to the revision without sessions.
    pub(super) fn is_modern(&self) -> bool {
        self.version().is_some_and(|version| version >= MODERN)
    }

    /// The revision that the message itself names. An `initialize` is of the era of sessions, whatever it says here.
    pub(super) fn version(&self) -> Option<&str> {
        self.params()?.version().filter(|_| !self.opens() && self.method().is_some())
    }

    fn params(&self) -> Option<&Params> {
        match &self.params {
            Any::Object(params) => Some(params),
            _ => None,
        }
    }

    /// What is wrong with the parameters, as far as the library would not say it, or would keep or log them.
    fn wrong_params(&self, bytes: &[u8]) -> Option<&'static str> {
        let method = self.method()?;
        if self.opens() && bytes.len() > INITIALIZE {
            return Some("An initialize has at most 16 KiB.");
        }
        if self.opens() && serde_json::from_slice::<InitializeRequest>(bytes).is_err() {
            return Some(
                "An initialize has a protocolVersion, which is a text, and as objects its capabilities and its \
                 clientInfo, which has a name and a version.",
            );
        }
        let params = match &self.params {
            Any::Object(params) => params,
            Any::Absent | Any::Null => return None,
            _ => return Some("params is an object."),
        };
        let token = match &params.meta {
            Any::Object(meta) => Some(&meta.progress_token),
            Any::Absent | Any::Null => None,
            _ => return Some("params._meta is an object."),
        };
        if token.is_some_and(|token| !token.is_none() && !token.is_id()) {
            return Some("A progressToken is a whole number, or a text of at most 256 characters on one line.");
        }
        if let Ok(Twice(Some(_))) = serde_json::from_slice(bytes) {
            return Some("An object of the message has a name twice. Of two values none is guessed: give one.");
        }
        let request = &params.request_id;
        if method == "notifications/cancelled" && !request.is_none() && !request.is_id() {
            return Some("A requestId is a whole number, or a text of at most 256 characters on one line.");
        }
        // The library reads a cursor of another type as none, and would begin anew.
        let cursor = &params.cursor;
        if method.ends_with("/list") && !cursor.is_none() && cursor.text().is_none() {
            return Some("A cursor is a text.");
        }
        None
    }
}

/// A message that the library does not get to see, and what is said of it.
#[derive(Debug, PartialEq)]
pub(super) struct Refused {
    pub status: StatusCode,
    pub id: Value,
    pub code: i32,
    pub message: &'static str,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        rpc_error(self.status, &self.id, self.code, self.message, Value::Null)
    }
}

/// A JSON-RPC error as a whole response.
pub(super) fn rpc_error(status: StatusCode, id: &Value, code: i32, message: &str, data: Value) -> Response {
    (status, Json(error_body(id, code, message, data))).into_response()
}

/// A JSON-RPC error.
pub(super) fn error_body(id: &Value, code: i32, message: &str, data: Value) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if !data.is_null() {
        put(&mut error, "data", data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peek(json: &str) -> Peek {
        read(json.as_bytes()).unwrap()
    }

    /// Code and id of a refusal.
    fn refused(json: &str) -> (i32, Value) {
        let refused = read(json.as_bytes()).unwrap_err();
        assert_eq!(refused.status, 400, "{json}");
        (refused.code, refused.id)
    }

    #[test]
    fn an_id_is_a_short_text_or_a_whole_number() {
        let long = "x".repeat(257);
        let id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        for (good, read) in [
            ("1", json!(1)),
            ("-1", json!(-1)),
            ("1.0", json!(1)),
            ("\"\"", json!("")),
            ("\"ä-1\"", json!("ä-1")),
            (&format!("\"{}\"", &long[1..]), json!(long[1..])),
        ] {
            assert_eq!(peek(&id(good)).id(), read, "{good}");
        }
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for bad in [
            "null",
            "true",
            "1.5",
            "1e300",
            "9223372036854775808",
            "{}",
            "[1]",
            "\"a\\nb\"",
            "\"\\u001b[2J\"",
            "\"\\u2028\"",
            &format!("\"{long}\""),
            &deep,
        ] {
            assert_eq!(refused(&id(bad)), (-32600, Value::Null), "{bad}");
        }
    }

    #[test]
    fn answers_of_clients_have_the_ids_of_our_requests_or_none() {
        for good in [
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
        ] {
            let peek = peek(good);
            assert!(peek.method().is_none() && !peek.is_request(), "{good}");
        }
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":"a\nb","result":{}}"#), (-32600, Value::Null));
    }

    #[test]
    fn a_method_is_a_short_text_and_its_parameters_are_an_object() {
        let with = |method: &str, params: &str| format!(r#"{{"id":7,"method":{method},"params":{params}}}"#);
        for method in ["null", "5", "[]", "\"a\\u0000b\"", &format!("\"{}\"", "x".repeat(129))] {
            assert_eq!(refused(&with(method, "{}")), (-32600, json!(7)), "{method}");
        }
        for params in ["[]", "\"x\"", "5", r#"{"_meta":[]}"#, r#"{"_meta":"x"}"#] {
            assert_eq!(refused(&with("\"tools/call\"", params)), (-32602, json!(7)), "{params}");
        }
        for params in ["null", "{}", r#"{"_meta":null}"#, r#"{"_meta":{"progressToken":"p"}}"#] {
            assert_eq!(peek(&with("\"tools/call\"", params)).id(), json!(7), "{params}");
        }
        for token in ["{}", "[]", "true", "1.5", "\"a\\nb\"", &format!("\"{}\"", "x".repeat(257))] {
            let params = format!(r#"{{"_meta":{{"progressToken":{token}}}}}"#);
            assert_eq!(refused(&with("\"tools/call\"", &params)), (-32602, json!(7)), "{token}");
        }
        assert_eq!(refused(&with("\"tools/list\"", r#"{"cursor":5}"#)), (-32602, json!(7)));
        let cancelled = r#"{"method":"notifications/cancelled","params":{"requestId":"a\nb"}}"#;
        assert_eq!(refused(cancelled), (-32602, Value::Null));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_no_message() {
        for twice in [
            r#"{"id":1,"id":2,"method":"ping"}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"_meta":{},"_meta":{}}}"#,
            r#"{"id":1,"method":"resources/read","params":{"uri":"a","uri":"b"}}"#,
        ] {
            assert_eq!(refused(twice), (-32600, Value::Null), "{twice}");
        }
        for within in ["arguments", "inputResponses"] {
            let params = format!(r#"{{"{within}":{{"a":[{{"b":1,"b":2}}]}}}}"#);
            let twice = format!(r#"{{"id":7,"method":"tools/call","params":{params}}}"#);
            assert_eq!(refused(&twice), (-32602, json!(7)), "{within}");
        }
        let beside = read(br#"{"id":7,"method":"ping","x":1,"x":2,"params":{}}"#).unwrap_err();
        assert!(beside.message.contains("twice") && !beside.message.contains("params"), "{beside:?}");
        assert_eq!(refused("[]").0, -32600);
        assert_eq!(refused("3").0, -32600);
        assert_eq!(refused("{").0, -32700);
    }

    #[test]
    fn an_initialize_is_whole_and_small() {
        let initialize = |name: &str| {
            format!(
                r#"{{"id":7,"method":"initialize","params":{{"protocolVersion":"2025-06-18","capabilities":{{}},
                "clientInfo":{{"name":"{name}","version":"1"}}}}}}"#
            )
        };
        assert!(peek(&initialize("x")).opens());
        let large = read(initialize(&"x".repeat(16 << 10)).as_bytes()).unwrap_err();
        assert!(large.code == -32602 && large.message.contains("16 KiB"), "{large:?}");
        for params in ["{}", r#"{"protocolVersion":5,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}"#] {
            let json = format!(r#"{{"id":7,"method":"initialize","params":{params}}}"#);
            assert_eq!(refused(&json), (-32602, json!(7)), "{params}");
        }
    }

    #[test]
    fn an_initialize_never_opens_a_session_of_the_era_without_them() {
        let version = |asked: &str| {
            peek(&format!(
                r#"{{"method":"initialize","params":{{"protocolVersion":"{asked}","capabilities":{{}},
                "clientInfo":{{"name":"x","version":"1"}},
                "_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
            ))
        };
        assert_eq!(version("2025-06-18").session_version(), "2025-06-18");
        for other in ["2026-07-28", "1999-01-01", "", "2025-11-25\\n"] {
            assert_eq!(version(other).session_version(), "2025-11-25", "{other}");
        }
        assert!(!version("2025-06-18").is_modern());
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let foreign = peek(&format!(r#"{{"id":1,"method":"initialize","params":{{{meta}}}}}"#));
        assert!(!foreign.opens() && foreign.is_modern(), "a method that its revision has not");
        assert_eq!(refused(r#"{"id":1,"method":"initialize","params":{"_meta":{}}}"#), (-32602, json!(1)));
        assert_eq!(NEWEST_WITH_SESSIONS, ProtocolVersion::LATEST_WITH_INITIALIZE.as_str());
        assert_eq!(MODERN, ProtocolVersion::NO_INITIALIZE.as_str());
    }

    #[test]
    fn the_tool_and_the_name_are_read_from_the_body() {
        let call = peek(r#"{"method":"tools/call","params":{"name":"dragoman_sql","uri":"x"}}"#);
        assert_eq!((call.tool(), call.named()), (Some("dragoman_sql"), Some("dragoman_sql")));
        let read = peek(r#"{"method":"resources/read","params":{"name":"x","uri":"dragoman://datasets"}}"#);
        assert_eq!((read.tool(), read.named()), (None, Some("dragoman://datasets")));
        assert_eq!(peek(r#"{"method":"ping","params":{"name":"x"}}"#).named(), None);
        assert_eq!(peek(r#"{"method":"tools/call","params":{"name":5}}"#).tool(), None);
    }
}
