//! What real clients send and a strict server refuses, put right before the protocol library sees it. Each rule names
//! the client that needs it. Nothing here changes what a request means; what else contradicts itself is refused, so that
//! nobody who believes the headers lets a message pass that is another one.
//!
//! In strict mode (`DRAGOMAN_MCP_STRICT`) nothing is put right: what the protocol forbids is refused, here or by the
//! library.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::message::{MODERN, NEWEST_WITH_SESSIONS, Peek};

/// The header that names the protocol revision.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// Those that repeat what a message says (2026-07-28, transports).
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// JSON-RPC's code for headers that say other than the message (2026-07-28, errors).
pub(super) const HEADER_MISMATCH: i32 = -32020;

/// Whether a request belongs to the revision without sessions.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Whether the headers are put right, or taken as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Lenient,
    Strict,
}

/// Puts the headers right. `session` is the revision that the request's session was opened with.
///
/// # Errors
/// What contradicts what.
pub(super) fn settle(
    headers: &mut HeaderMap,
    peek: &Peek,
    session: Option<&str>,
    mode: Mode,
) -> Result<(), &'static str> {
    let lenient = mode == Mode::Lenient;
    if lenient {
        accept_both(headers);
    }
    agree(headers, peek)?;
    let header = one_version(headers)?;
    if peek.is_modern() {
        // 2026-07-28 §transports: a session id is ignored in the revision without sessions.
        headers.remove(SESSION);
    }
    let right = match (header.as_deref(), peek.version(), session) {
        // Claude's relay sends header 2025-11-25 over a message of 2026-07-28.
        (Some(NEWEST_WITH_SESSIONS), Some(MODERN), _) if lenient => Some(MODERN),
        // Claude sends 2026-07-28 inside a session that was opened with an older revision.
        (Some(MODERN), None, Some(session)) if lenient && !peek.opens() => Some(session),
        (None, Some(_), _) => {
            return Err("The message names its revision, and the header MCP-Protocol-Version does not.");
        }
        (Some(header), Some(body), _) if header != body => {
            return Err("The header MCP-Protocol-Version names another revision than the message.");
        }
        (header, _, _) => header.filter(|_| lenient),
    };
    if let Some(Ok(right)) = right.map(HeaderValue::from_str) {
        headers.insert(VERSION, right);
    }
    Ok(())
}

/// What a gateway may have believed of a message is true of it, in the older era too, whose clients need not say it. That
/// it is there where it must be is the library's to see.
fn agree(headers: &HeaderMap, peek: &Peek) -> Result<(), &'static str> {
    let differs = |header: &str, said: Option<&str>| {
        said.is_some_and(|said| headers.get_all(header).iter().any(|value| decoded(value).as_deref() != Some(said)))
    };
    if differs(METHOD, peek.method()) {
        return Err("The header Mcp-Method names another method than the message.");
    }
    if differs(NAME, peek.named()) {
        return Err("The header Mcp-Name names something else than the message.");
    }
    Ok(())
}

/// What a header says; what does not fit into one is wrapped: `=?base64?…?=`.
fn decoded(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?;
    match text.strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?=")) {
        Some(wrapped) => String::from_utf8(STANDARD.decode(wrapped).ok()?).ok(),
        None => Some(text.to_owned()),
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

/// Claude Code repeats the version: `2025-11-25, 2025-11-25`. Equal values are one; of different ones the library would
/// see the first, and somebody else the last.
fn one_version(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let mut values: Vec<String> = Vec::new();
    for value in headers.get_all(VERSION) {
        let text = value.to_str().map_err(|_| "The header MCP-Protocol-Version is not readable.")?;
        values.extend(text.split(',').map(|part| part.trim().to_owned()));
    }
    values.dedup();
    match values.len() {
        0 | 1 => Ok(values.pop()),
        _ => Err("The header MCP-Protocol-Version has several values."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::read;
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    /// A message with the given revision in it.
    fn call(version: Option<&str>) -> Peek {
        let meta = version
            .map_or("{}".to_owned(), |version| format!(r#"{{"io.modelcontextprotocol/protocolVersion":"{version}"}}"#));
        let json = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"dragoman_sql","_meta":{meta}}}}}"#
        );
        read(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_wildcard_accept_is_both_types_and_others_stay() {
        let mut any = headers(&[("accept", "*/*")]);
        settle(&mut any, &Peek::default(), None, Mode::Lenient).unwrap();
        assert_eq!(any[ACCEPT], "application/json, text/event-stream");
        let mut html = headers(&[("accept", "text/html")]);
        settle(&mut html, &Peek::default(), None, Mode::Lenient).unwrap();
        assert_eq!(html[ACCEPT], "text/html");
    }

    #[test]
    fn a_repeated_version_is_one_and_two_are_none() {
        for twice in [&[(VERSION, "2025-11-25, 2025-11-25")][..], &[(VERSION, "2025-11-25"), (VERSION, "2025-11-25")]] {
            let mut twice = headers(twice);
            settle(&mut twice, &Peek::default(), None, Mode::Lenient).unwrap();
            assert_eq!(twice.get_all(VERSION).iter().collect::<Vec<_>>(), ["2025-11-25"]);
        }
        for two in [
            &[(VERSION, "2025-11-25, 2025-06-18")][..],
            &[(VERSION, "2025-11-25"), (VERSION, "2025-06-18")],
            &[(VERSION, "2026-07-28"), (VERSION, "2025-06-18"), (VERSION, "2026-07-28")],
        ] {
            for peek in [Peek::default(), call(None), call(Some("2026-07-28"))] {
                for mode in [Mode::Lenient, Mode::Strict] {
                    assert!(settle(&mut headers(two), &peek, Some("2025-11-25"), mode).is_err(), "{two:?}");
                }
            }
        }
    }

    /// The header that goes on, and whether the session does; `None` for a contradiction.
    fn settled(header: Option<&str>, body: Option<&str>, session: Option<&str>) -> Option<(String, bool)> {
        let mut headers = headers(&[(SESSION, "abc")]);
        if let Some(header) = header {
            headers.append(VERSION, header.parse().unwrap());
        }
        settle(&mut headers, &call(body), session, Mode::Lenient).ok()?;
        let version = headers.get(VERSION).map_or("", |value| value.to_str().unwrap());
        Some((version.to_owned(), headers.contains_key(SESSION)))
    }

    #[test]
    fn two_quirks_of_the_version_are_put_right_and_every_other_contradiction_is_seen() {
        let (modern, newest, older) = ("2026-07-28", "2025-11-25", "2025-06-18");
        for (header, body, session, expected) in [
            // Claude's relay.
            (Some(newest), Some(modern), None, Some((modern, false))),
            // Claude, inside an older session.
            (Some(modern), None, Some(newest), Some((newest, true))),
            (Some(modern), None, Some(older), Some((older, true))),
            // What agrees, and what says nothing.
            (Some(modern), Some(modern), None, Some((modern, false))),
            (Some(older), Some(older), Some(newest), Some((older, true))),
            (Some(older), None, Some(newest), Some((older, true))),
            (None, None, Some(newest), Some(("", true))),
            (Some(modern), None, None, Some((modern, true))),
            // What contradicts itself.
            (Some(modern), Some(newest), None, None),
            (Some(modern), Some(newest), Some(newest), None),
            (Some(modern), Some("v999.0.0"), None, None),
            (Some(older), Some(modern), None, None),
            (Some(newest), Some(older), Some(newest), None),
            (Some(newest), Some("2026-07-29"), None, None),
            (None, Some(modern), None, None),
            (None, Some(newest), Some(newest), None),
        ] {
            let expected = expected.map(|(version, session)| (version.to_owned(), session));
            assert_eq!(settled(header, body, session), expected, "{header:?} {body:?} {session:?}");
        }
    }

    #[test]
    fn the_names_in_headers_are_those_of_the_message_in_every_era() {
        let wrapped = format!("=?base64?{}?=", STANDARD.encode("dragoman_sql"));
        for version in [None, Some("2026-07-28")] {
            let says = |pairs: &[(&'static str, &str)]| {
                let mut headers = headers(pairs);
                if let Some(version) = version {
                    headers.append(VERSION, version.parse().unwrap());
                }
                settle(&mut headers, &call(version), None, Mode::Lenient).is_ok()
            };
            assert!(says(&[]) && says(&[(METHOD, "tools/call"), (NAME, "dragoman_sql")]));
            assert!(says(&[(NAME, &wrapped)]));
            for wrong in [
                &[(METHOD, "tools/list")][..],
                &[(METHOD, "TOOLS/CALL")],
                &[(METHOD, "tools/call"), (METHOD, "tools/list")],
                &[(NAME, "dragoman_list_datasets")],
                &[(NAME, "dragoman_sql"), (NAME, "x")],
                &[(NAME, "=?base64?!?=")],
            ] {
                assert!(!says(wrong), "{wrong:?}");
            }
        }
    }

    #[test]
    fn in_strict_mode_nothing_is_put_right() {
        let (modern, newest) = ("2026-07-28", "2025-11-25");
        let mut sloppy = headers(&[("accept", "*/*"), (VERSION, "2025-11-25, 2025-11-25")]);
        let before = sloppy.clone();
        settle(&mut sloppy, &call(None), Some(newest), Mode::Strict).unwrap();
        assert_eq!(sloppy, before, "the library sees it as it came, and refuses it");
        let mut newer = headers(&[(VERSION, modern)]);
        settle(&mut newer, &call(None), Some(newest), Mode::Strict).unwrap();
        assert_eq!(newer[VERSION], modern);
        let relayed = settle(&mut headers(&[(VERSION, newest)]), &call(Some(modern)), None, Mode::Strict);
        assert!(relayed.is_err(), "another revision in the header than in the message");
        let mut good = headers(&[(VERSION, modern), (SESSION, "left-over")]);
        settle(&mut good, &call(Some(modern)), None, Mode::Strict).unwrap();
        assert!(!good.contains_key(SESSION), "ignored, as the protocol says");
    }
}
