//! What real clients send and a strict server refuses, put right before the protocol library sees it. Each rule names
//! the client that needs it. Nothing here changes what a request means.

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;

/// The header that names the protocol revision.
pub const VERSION: &str = "mcp-protocol-version";
/// The header that names a session.
pub const SESSION: &str = "mcp-session-id";
/// The first revision without sessions.
const MODERN: &str = "2026-07-28";
/// The last with them.
const NEWEST_WITH_SESSIONS: &str = "2025-11-25";

/// The parts of a JSON-RPC message that decide how it is treated. The body, never a header, decides about rights.
#[derive(Debug, Default, Deserialize)]
pub struct Peek {
    #[serde(default)]
    pub method: String,
    #[serde(default)]
    pub id: serde_json::Value,
    /// Some clients write `null` for none.
    params: Option<Params>,
}

#[derive(Debug, Default, Deserialize)]
struct Params {
    #[serde(default)]
    name: String,
    #[serde(default, rename = "protocolVersion")]
    protocol_version: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Debug, Default, Deserialize)]
struct Meta {
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Option<String>,
}

impl Peek {
    /// The tool of a `tools/call`.
    pub fn tool(&self) -> Option<&str> {
        self.params.as_ref().filter(|_| self.method == "tools/call").map(|params| params.name.as_str())
    }

    /// The revision that the session of an `initialize` has; a newer one than that of sessions is not had by asking.
    pub fn session_version(&self) -> &str {
        match self.params.as_ref().and_then(|params| params.protocol_version.as_deref()) {
            Some(asked) if asked < MODERN => asked,
            _ => NEWEST_WITH_SESSIONS,
        }
    }

    /// Whether the message belongs to the revision without sessions.
    pub fn is_modern(&self) -> bool {
        self.version().is_some_and(|version| version >= MODERN)
    }

    /// The revision that the message itself names.
    fn version(&self) -> Option<&str> {
        self.params.as_ref()?.meta.as_ref()?.protocol_version.as_deref()
    }
}

/// Puts the headers right. `session_version` is the revision that the request's session was opened with.
pub fn normalise(headers: &mut HeaderMap, peek: &Peek, session_version: Option<&str>) {
    accept_both(headers);
    one_version(headers);
    let body_version = peek.version();
    if peek.is_modern() {
        // 2026-07-28 §transports: a session id is ignored in the revision without sessions.
        headers.remove(SESSION);
    }
    let right = match (body_version, session_version) {
        // Claude's relay sends header 2025-11-25 with a 2026-07-28 body: the body speaks for the message.
        (Some(body), _) => Some(body),
        // Claude sends 2026-07-28 inside a session that was opened with an older revision.
        (None, Some(session)) if headers.contains_key(SESSION) => Some(session),
        (None, _) => None,
    };
    if let Some(right) = right
        && headers.contains_key(VERSION)
        && let Ok(value) = HeaderValue::from_str(right)
    {
        headers.insert(VERSION, value);
    }
}

/// Claude sends `Accept: */*`; the library wants both types by name.
fn accept_both(headers: &mut HeaderMap) {
    let wildcard = headers
        .get_all(ACCEPT)
        .iter()
        .any(|value| value.to_str().is_ok_and(|text| text.split(',').any(|part| part.trim().starts_with("*/*"))));
    if wildcard || !headers.contains_key(ACCEPT) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

/// Claude Code repeats the version: `2025-11-25, 2025-11-25`. Equal values are one; different ones stay, and fail.
fn one_version(headers: &mut HeaderMap) {
    let values: Vec<String> = headers
        .get_all(VERSION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(',').map(|part| part.trim().to_owned()))
        .collect();
    if let [first, rest @ ..] = values.as_slice()
        && !rest.is_empty()
        && rest.iter().all(|other| other == first)
        && let Ok(value) = HeaderValue::from_str(first)
    {
        headers.insert(VERSION, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn peek(json: &str) -> Peek {
        serde_json::from_str(json).unwrap()
    }

    const MODERN_CALL: &str = r#"{"method":"tools/call","params":{"name":"dragoman_sql",
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

    #[test]
    fn a_wildcard_accept_is_both_types_and_others_stay() {
        let mut any = headers(&[("accept", "*/*")]);
        normalise(&mut any, &Peek::default(), None);
        assert_eq!(any[ACCEPT], "application/json, text/event-stream");
        let mut html = headers(&[("accept", "text/html")]);
        normalise(&mut html, &Peek::default(), None);
        assert_eq!(html[ACCEPT], "text/html");
    }

    #[test]
    fn a_repeated_version_is_one_and_a_contradiction_stays() {
        let mut twice = headers(&[(VERSION, "2025-11-25, 2025-11-25")]);
        normalise(&mut twice, &Peek::default(), None);
        assert_eq!(twice[VERSION], "2025-11-25");
        let mut two = headers(&[(VERSION, "2025-11-25, 2025-06-18")]);
        normalise(&mut two, &Peek::default(), None);
        assert_eq!(two[VERSION], "2025-11-25, 2025-06-18");
    }

    #[test]
    fn the_body_speaks_for_its_revision_and_sessions_end_with_the_old_one() {
        let mut relay = headers(&[(VERSION, "2025-11-25"), (SESSION, "abc")]);
        normalise(&mut relay, &peek(MODERN_CALL), Some("2025-11-25"));
        assert_eq!(relay[VERSION], "2026-07-28");
        assert!(!relay.contains_key(SESSION));
    }

    #[test]
    fn inside_a_session_its_own_revision_holds() {
        let mut newer = headers(&[(VERSION, "2026-07-28"), (SESSION, "abc")]);
        normalise(&mut newer, &peek(r#"{"method":"tools/list"}"#), Some("2025-06-18"));
        assert_eq!(newer[VERSION], "2025-06-18");
    }

    #[test]
    fn an_initialize_never_opens_a_session_of_the_era_without_them() {
        let version = |asked: &str| {
            peek(&format!(r#"{{"method":"initialize","params":{{"protocolVersion":"{asked}"}}}}"#))
                .session_version()
                .to_owned()
        };
        assert_eq!(version("2025-06-18"), "2025-06-18");
        assert_eq!(version("2026-07-28"), "2025-11-25");
    }

    #[test]
    fn the_tool_is_read_from_the_body() {
        assert_eq!(peek(MODERN_CALL).tool(), Some("dragoman_sql"));
        assert_eq!(peek(r#"{"method":"ping","params":{"name":"x"}}"#).tool(), None);
    }
}
