//! Forms that only our own pages can send: a token bound to the browser (and for consent, to the transaction), and
//! the browser's own word on where the form came from.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::base::secret::{base64url, from_base64url, hmac_hex, random_bytes, same};
use crate::surface::web::Web;

/// The token for a form. `binding` is the session's id, or before there is a session the browser's form cookie.
pub fn token(web: &Web, binding: &str, purpose: &str) -> String {
    hmac_hex(&web.form_key, format!("{}:{binding}:{purpose}", binding.len()).as_bytes())
}

/// Whether a posted token is the one of the form.
pub fn is_token(web: &Web, binding: &str, purpose: &str, posted: Option<&str>) -> bool {
    posted.is_some_and(|posted| same(posted.as_bytes(), token(web, binding, purpose).as_bytes()))
}

/// Whether the browser says that a form came from our own pages. Browsers that say nothing are let through to the
/// token; one that says "elsewhere", or hides the origin, is not.
pub fn from_our_pages(web: &Web, headers: &HeaderMap) -> bool {
    let said = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    said(header::HeaderName::from_static("sec-fetch-site")).all(|site| site == "same-origin")
        && said(header::ORIGIN).all(|origin| origin == web.config.issuer())
}

fn cookie_name(web: &Web) -> &'static str {
    if web.config.is_https() { "__Host-dragoman-form" } else { "dragoman-form" }
}

/// The browser's form cookie, if it has one of ours. It identifies nobody; it only makes the log-in form's token
/// differ from browser to browser, without a row for every stranger.
pub fn form_cookie(web: &Web, headers: &HeaderMap) -> Option<String> {
    let value = cookie(headers, cookie_name(web))?;
    from_base64url(value).filter(|bytes| bytes.len() == 32).map(|_| value.to_owned())
}

/// The value of a cookie that the browser sent.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// A new form cookie: its value and its `Set-Cookie`.
pub fn new_form_cookie(web: &Web) -> (String, Option<HeaderValue>) {
    let value = base64url(&random_bytes::<32>());
    let secure = if web.config.is_https() { "; Secure" } else { "" };
    let line = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}", cookie_name(web));
    (value, HeaderValue::try_from(line).ok())
}
