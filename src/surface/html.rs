//! Pages: rendered on the server, with few scripts of our own and without anything from elsewhere.

use std::sync::LazyLock;

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::base::counted::counted;
use crate::base::secret::sha256_hex;
use crate::model::error::{Code, Error};
use crate::model::name;

const CSS: &str = include_str!("assets/dragoman.css");
/// What browsers offer for passkeys has no other way in.
const PASSKEY: &str = include_str!("assets/passkey.js");
/// Line numbers, jumps and files on the pages of ontologies, which work without.
const EDITOR: &str = include_str!("assets/editor.js");
/// Buttons that copy, and checkpoints that turn green by themselves, on the pages that connect clients.
const HUB: &str = include_str!("assets/hub.js");

/// Progress and questions on the forms that bring files, which work without.
const UPLOAD: &str = include_str!("assets/upload.js");
/// Names of tables and columns into a statement, on the page for questions, which works without.
const ASK: &str = include_str!("assets/ask.js");

/// A file of ours. Its address changes with its content, so that it may be cached for ever.
struct Asset {
    name: String,
    kind: &'static str,
    content: &'static str,
}

impl Asset {
    fn new(name: &str, suffix: &str, kind: &'static str, content: &'static str) -> Self {
        let hash = sha256_hex(content.as_bytes());
        Self { name: format!("{name}.{}.{suffix}", hash.get(..12).unwrap_or_default()), kind, content }
    }

    fn address(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
static STYLESHEET: LazyLock<Asset> = LazyLock::new(|| Asset::new("dragoman", "css", "text/css; charset=utf-8", CSS));
static PASSKEY_SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::new("passkey", "js", JAVASCRIPT, PASSKEY));
static EDITOR_SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::new("editor", "js", JAVASCRIPT, EDITOR));
static UPLOAD_SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::new("upload", "js", JAVASCRIPT, UPLOAD));
static ASK_SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::new("ask", "js", JAVASCRIPT, ASK));
static HUB_SCRIPT: LazyLock<Asset> = LazyLock::new(|| Asset::new("hub", "js", JAVASCRIPT, HUB));

/// `form-action` holds the answers of our forms to our own origin. Chromium applies it to redirects of a form's answer
/// too, which is why a person leaves for a client through [`leave`] and never through a redirect after a form.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// As [`POLICY`], for the pages with a script of ours.
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                                  form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// As [`POLICY_WITH_SCRIPT`], for the pages whose script asks us: to send files, or to look again at what they show.
const POLICY_WITH_REQUESTS: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                                  img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// For the `<script>` of pages with passkeys.
pub fn script() -> String {
    PASSKEY_SCRIPT.address()
}

/// For the `<script>` of the pages of ontologies.
pub fn editor_script() -> String {
    EDITOR_SCRIPT.address()
}

/// For the `<script>` of the pages that take files.
pub fn upload_script() -> String {
    UPLOAD_SCRIPT.address()
}

/// For the `<script>` of the page for questions.
pub fn ask_script() -> String {
    ASK_SCRIPT.address()
}

/// For the `<script>` of the pages that connect clients.
pub fn hub_script() -> String {
    HUB_SCRIPT.address()
}

/// For `<link>`.
pub fn stylesheet() -> String {
    STYLESHEET.address()
}

/// `GET /assets/{name}`.
pub async fn asset(Path(name): Path<String>) -> Response {
    let assets = [&*STYLESHEET, &*PASSKEY_SCRIPT, &*EDITOR_SCRIPT, &*UPLOAD_SCRIPT, &*ASK_SCRIPT, &*HUB_SCRIPT];
    let Some(asset) = assets.into_iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, asset.content).into_response()
}

/// What a handler of a page answers: the page, or what is sent instead of it.
pub type Result = std::result::Result<Response, Response>;

/// A page with the headers of every page. Pages are never stored and never framed. The referrer stays within our
/// origin; with `no-referrer` browsers would send `Origin: null` with our own forms, which we refuse.
pub fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => {
            let mut response = rendered(html, HeaderValue::from_static(POLICY));
            *response.status_mut() = status;
            response
        }
        Err(cause) => {
            Error::internal(cause);
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// As [`page`], of the text of one and its content policy.
pub fn rendered(html: String, policy: HeaderValue) -> Response {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    (headers, html).into_response()
}

/// The response with a cookie to set, if there is one.
pub fn with_cookie(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// As [`page`], with leave to load scripts of ours.
pub fn page_with_script(status: StatusCode, template: &impl Template) -> Response {
    under(POLICY_WITH_SCRIPT, page(status, template))
}

/// As [`page_with_script`], for a script that asks us.
pub fn page_with_requests(status: StatusCode, template: &impl Template) -> Response {
    under(POLICY_WITH_REQUESTS, page(status, template))
}

fn under(policy: &'static str, mut response: Response) -> Response {
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

#[derive(Template)]
#[template(path = "problem.html", config = "src/surface/askama.toml")]
struct ProblemPage<'a> {
    title: &'a str,
    text: &'a str,
}

/// A page that says what went wrong and goes nowhere.
pub fn problem(status: StatusCode, title: &str, text: &str) -> Response {
    page(status, &ProblemPage { title, text })
}

/// A message as people read it, without the name of the tool that does for models what it says.
pub fn plainly(message: &str) -> String {
    let Some((before, rest)) = message.split_once(" (dragoman_") else { return message.to_owned() };
    format!("{before}{}", rest.split_once(')').map_or("", |(_, after)| after))
}

/// The page of an error from below.
pub fn failure(error: &Error) -> Response {
    let status = StatusCode::from_u16(error.code.info().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let title = match error.code {
        Code::RateLimited | Code::IpBlocked => "Please wait",
        Code::InternalError | Code::ServiceUnavailable => "Something went wrong",
        _ => "That did not work",
    };
    let mut response = problem(status, title, &plainly(&error.message));
    // For the record.
    response.extensions_mut().insert(error.code);
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// "Too many attempts".
pub fn too_many(code: Code, wait: u64) -> Response {
    let text = format!("There were too many attempts from your network. Try again in {}.", counted(wait, "second"));
    failure(&Error::new(code, text).retry_after(wait))
}

#[derive(Template)]
#[template(path = "leave.html", config = "src/surface/askama.toml")]
struct LeavePage<'a> {
    title: &'a str,
    client: &'a str,
    to: &'a str,
}

/// Sends the browser to a client after a form: a page of our own that ends the form's navigation, then a refresh
/// (and a link, for browsers that ask before they open an installed program).
pub fn leave(title: &str, client: &str, to: &str) -> Response {
    let mut response = page(StatusCode::OK, &LeavePage { title, client, to });
    let headers = response.headers_mut();
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    match HeaderValue::try_from(format!("0; url={to}")) {
        Ok(refresh) => headers.insert(header::REFRESH, refresh),
        Err(cause) => {
            Error::internal(cause);
            None
        }
    };
    response
}

/// A redirect after which the method is GET (RFC 9700 §4.12 forbids 307 after a password).
pub fn see_other(to: &str) -> Response {
    match HeaderValue::try_from(to) {
        Ok(location) => {
            let headers = [
                (header::LOCATION, location),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
                (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            ];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        Err(cause) => failure(&Error::internal(cause)),
    }
}

/// Characters of a program's name that are shown.
const LONGEST_NAME: usize = 60;

/// A name that a program gave itself, fit to be shown (B12): as [`name::shown`], and cut.
pub fn display_name(text: &str) -> String {
    let line = name::shown(text);
    match line.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None if line.is_empty() => "A program without a name".to_owned(),
        None => line,
    }
}

/// Filters of the templates.
pub mod filters {
    use crate::base::clock::{Millis, rfc3339};

    /// A time that is a text (RFC 3339) to the minute: `2026-11-21 22:07`.
    #[askama::filter_fn]
    pub fn short(at: &str, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(at.chars().take(16).collect::<String>().replace('T', " "))
    }

    /// Bytes as people read them: `1.5 MB`.
    #[askama::filter_fn]
    pub fn size(bytes: &i64, _: &dyn askama::Values) -> askama::Result<String> {
        let bytes = *bytes as f64;
        let unit = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)].into_iter().find(|(_, of)| bytes >= *of);
        Ok(unit.map_or_else(|| format!("{bytes} bytes"), |(name, of)| format!("{:.1} {name}", bytes / of)))
    }

    /// A day: `2026-11-21`.
    #[askama::filter_fn]
    pub fn day(at: &Millis, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(rfc3339(*at).chars().take(10).collect())
    }

    /// A minute: `2026-11-21 22:07 UTC`.
    #[askama::filter_fn]
    pub fn minute(at: &Millis, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(format!("{} UTC", rfc3339(*at).chars().take(16).collect::<String>().replace('T', " ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b12_names_are_shown_plainly() {
        assert_eq!(display_name("Claude Code (dragoman)"), "Claude Code (dragoman)");
        assert_eq!(display_name("Goo\u{200b}gle\u{202e}\u{2066} \n x\u{0}"), "Google x");
        assert_eq!(display_name(" \u{200f}\u{feff} "), "A program without a name");
        assert_eq!(display_name(&"é".repeat(10_000)).chars().count(), 61);
        assert_eq!(display_name("Анна 日本"), "Анна 日本");
    }

    #[test]
    fn people_are_not_told_which_tool_to_call() {
        for (message, shown) in [
            ("List the datasets (dragoman_list_datasets) to see them.", "List the datasets to see them."),
            ("Values (of days) stay.", "Values (of days) stay."),
        ] {
            assert_eq!(plainly(message), shown);
        }
    }

    #[test]
    fn b10_b11_every_page_forbids_frames_scripts_and_storing() {
        let response = problem(StatusCode::BAD_REQUEST, "<b>", "<script>");
        let header = |name| response.headers()[name].to_str().unwrap();
        assert!(header("content-security-policy").starts_with("default-src 'none'"));
        assert!(header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("cache-control"), "no-store");
    }
}
