//! A message of the client's, as far as the way to the service depends on it: what HTTP repeats in headers, and what is
//! remembered of a session.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::{Value, json};

/// Where a message names its revision.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The first revision without sessions.
const MODERN: &str = "2026-07-28";

/// One line of the client's. What cannot be read goes to the service as it is, which says what is wrong with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    pub bytes: Vec<u8>,
    value: Value,
}

impl Message {
    pub(super) fn read(bytes: Vec<u8>) -> Self {
        let mut value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        for place in ["/id", "/params/requestId"] {
            if let Some(id) = value.pointer_mut(place)
                && let Some(whole) = whole(id)
            {
                *id = whole.into();
            }
        }
        Self { bytes, value }
    }

    /// One of our own.
    pub(super) fn of(value: Value) -> Self {
        Self { bytes: value.to_string().into_bytes(), value }
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.value.get("method")?.as_str()
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.value.get("params")?.get(name)?.as_str()
    }

    /// As the service says it back.
    pub(super) fn id(&self) -> Option<&Value> {
        self.value.get("id")
    }

    /// Whether an answer is waited for. Of what is no message an answer says so.
    pub(super) fn is_request(&self) -> bool {
        !self.value.is_object() || (self.method().is_some() && self.id().is_some())
    }

    /// The revision without sessions that the message names; one of the era of sessions names none.
    pub(super) fn modern(&self) -> Option<&str> {
        let version = self.value.pointer("/params/_meta")?.get(VERSION)?.as_str()?;
        (version >= MODERN && self.method() != Some("initialize")).then_some(version)
    }

    pub(super) fn opens(&self) -> bool {
        self.method() == Some("initialize")
    }

    /// Whether the answer stays open for news.
    pub(super) fn listens(&self) -> bool {
        self.modern().is_some() && self.method() == Some("subscriptions/listen")
    }

    /// The id of the request that is no longer wanted.
    pub(super) fn cancels(&self) -> Option<&Value> {
        let is = self.method() == Some("notifications/cancelled");
        self.value.pointer("/params/requestId").filter(|_| is)
    }

    /// What the header `Mcp-Name` repeats (2026-07-28, transports).
    pub(super) fn named(&self) -> Option<HeaderValue> {
        let name = match self.method()? {
            "tools/call" | "prompts/get" => self.param("name"),
            "resources/read" => self.param("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => self.param("taskId"),
            _ => None,
        }?;
        header(name)
    }

    /// What lasts for as long as a session does, by what a later message replaces or ends; `None` for what does not.
    pub(super) fn lasting(&self) -> Option<Lasting> {
        let uri = || self.param("uri").map(str::to_owned);
        match self.method()? {
            "logging/setLevel" => Some(Lasting::Holds("level".into())),
            "resources/subscribe" => uri().map(Lasting::Holds),
            "resources/unsubscribe" => uri().map(Lasting::Ends),
            _ => None,
        }
    }
}

/// See [`Message::lasting`].
pub(super) enum Lasting {
    Holds(String),
    Ends(String),
}

/// The whole number that an id like `1.0` is to the service, as far as a float tells it from its neighbours.
fn whole(id: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = id.as_f64().filter(|_| id.is_f64())?;
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

/// A text as a header has it: as it is where it can be, else wrapped.
fn header(text: &str) -> Option<HeaderValue> {
    let plain = |byte: u8| (0x21..=0x7e).contains(&byte) || byte == b' ';
    let fits = text.bytes().all(plain) && text.trim() == text && !text.starts_with("=?base64?");
    let text = if fits { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&text).ok()
}

/// An error as the answer to a request.
pub(super) fn failure(id: Option<&Value>, code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

/// Whether a message of the service's is the answer to a request.
pub(super) fn answers(said: &str, id: Option<&Value>) -> bool {
    let said: Value = serde_json::from_str(said).unwrap_or_default();
    said.get("method").is_none() && said.get("id") == id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(value: &Value) -> Message {
        Message::read(value.to_string().into_bytes())
    }

    #[test]
    fn the_era_is_what_the_message_says() {
        let with = |method: &str, version: &str| {
            message(&json!({ "id": 1, "method": method, "params": { "_meta": { VERSION: version } } }))
        };
        assert_eq!(with("tools/list", "2026-07-28").modern(), Some("2026-07-28"));
        assert_eq!(with("tools/list", "2025-11-25").modern(), None);
        assert_eq!(with("initialize", "2026-07-28").modern(), None);
        assert!(with("subscriptions/listen", "2026-07-28").listens());
        assert!(message(&json!({ "id": 1, "method": "initialize" })).opens());
    }

    #[test]
    fn an_answer_is_waited_for_where_there_is_one() {
        assert!(message(&json!({ "id": 0, "method": "ping" })).is_request());
        assert!(Message::read(b"{".to_vec()).is_request() && Message::read(b"[]".to_vec()).is_request());
        assert!(!message(&json!({ "method": "notifications/initialized" })).is_request());
        assert!(!message(&json!({ "id": 3, "result": {} })).is_request());
        let cancelled = message(&json!({ "method": "notifications/cancelled", "params": { "requestId": "a" } }));
        assert_eq!(cancelled.cancels(), Some(&json!("a")));
    }

    #[test]
    fn names_that_do_not_fit_into_a_header_are_wrapped() {
        assert_eq!(header("dragoman_sql").unwrap(), "dragoman_sql");
        assert_eq!(header("dragoman://datasets/a b").unwrap(), "dragoman://datasets/a b");
        for odd in ["ä", " a", "a ", "a\nb", "=?base64?x?="] {
            let wrapped = header(odd).unwrap();
            let text = wrapped.to_str().unwrap().strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?="));
            assert_eq!(STANDARD.decode(text.unwrap()).unwrap(), odd.as_bytes());
        }
    }

    #[test]
    fn the_answer_is_told_from_requests_of_the_service() {
        let id = json!(1);
        assert!(answers(r#"{"id":1,"result":{}}"#, Some(&id)));
        assert!(!answers(r#"{"id":1,"method":"elicitation/create"}"#, Some(&id)));
        assert!(!answers(r#"{"method":"notifications/progress"}"#, Some(&id)));
        assert!(!answers(r#"{"id":"1","result":{}}"#, Some(&id)));
        let whole = Message::read(br#"{"id":1.0,"method":"ping"}"#.to_vec());
        assert!(answers(r#"{"id":1,"result":{}}"#, whole.id()), "a whole number comes back as one");
        let cancels = Message::read(br#"{"method":"notifications/cancelled","params":{"requestId":-2.0}}"#.to_vec());
        assert_eq!(cancels.cancels(), Some(&json!(-2)));
    }
}
