//! Forms that only our own pages can send: a token bound to the browser (and for consent, to the transaction), and
//! the browser's own word on where the form came from.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::{base64url, from_base64url, hmac_hex, random_bytes, same};
use crate::model::user::User;
use crate::surface::browser::cookies;
use crate::surface::web::Web;

/// What the token of the form is for that signs a person out: several pages show it.
pub const LOG_OUT: &str = "logout";

/// The token for a form. `binding` is the session's id, or before there is a session the browser's form cookie.
pub fn token(web: &Web, binding: &str, purpose: &str) -> String {
    hmac_hex(&web.form_key, format!("{}:{binding}:{purpose}", binding.len()).as_bytes())
}

/// Whether a posted token is the one of the form. Whose page the form was on may stand behind it.
pub fn is_token(web: &Web, binding: &str, purpose: &str, posted: Option<&str>) -> bool {
    let own = |posted: &str| same(posted.as_bytes(), token(web, binding, purpose).as_bytes());
    posted.is_some_and(|posted| own(posted.split_once('.').map_or(posted, |(own, _)| own)))
}

/// For so long at least, and at most for twice as long, a page can say whose it is: longer than any session.
const OWNED: Millis = 8 * 24 * 3_600_000;

/// A form's token with whose page it is on. That is worth nothing in itself: it says to whom the input of a form belongs
/// whose session is over, so that nobody else is shown it.
pub fn owned(web: &Web, token: &str, user: Id<User>) -> String {
    format!("{token}.{}", owner(web, user, span(web)))
}

/// Whose page a posted token comes from, whether or not their session lives.
pub fn owner_of(web: &Web, posted: &str) -> Option<Id<User>> {
    let (_, said) = posted.split_once('.')?;
    let user: Id<User> = said.split_once('.')?.0.parse().ok()?;
    let now = span(web);
    let is_own = |span| same(said.as_bytes(), owner(web, user, span).as_bytes());
    (is_own(now) || is_own(now - 1)).then_some(user)
}

fn owner(web: &Web, user: Id<User>, span: i64) -> String {
    // No message of `token` begins with a letter.
    format!("{user}.{}", hmac_hex(&web.form_key, format!("owner:{user}:{span}").as_bytes()))
}

/// Spans of [`OWNED`] since the epoch.
fn span(web: &Web) -> i64 {
    web.identity.clock().now() / OWNED
}

/// Whether the browser says that a form came from our own pages. Browsers that say nothing are let through to the
/// token; one that says "elsewhere", or hides the origin, is not.
pub fn from_our_pages(web: &Web, headers: &HeaderMap) -> bool {
    let said = |name| headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("?"));
    said(header::HeaderName::from_static("sec-fetch-site")).all(|site| site == "same-origin")
        && said(header::ORIGIN).all(|origin| origin == web.config.issuer())
}

const FORM: &str = "dragoman-form";

/// The browser's form cookie, if it has one of ours. It identifies nobody; it only makes the token of forms that need no
/// session differ from browser to browser, without a row for every stranger.
pub fn form_cookie(web: &Web, headers: &HeaderMap) -> Option<String> {
    let value = cookies::read(headers, &cookies::name(&web.config, FORM))?;
    from_base64url(value).filter(|bytes| bytes.len() == 32).map(|_| value.to_owned())
}

/// A new form cookie: its value and its `Set-Cookie`.
pub fn new_form_cookie(web: &Web) -> (String, Option<HeaderValue>) {
    let value = base64url(&random_bytes::<32>());
    let line = cookies::line(&web.config, FORM, &value, None);
    (value, line)
}

/// The token for a form of somebody without a session, and a form cookie to set for a browser that has none. A cookie
/// that is there is kept, so that two tabs do not spoil each other's form (B31).
pub fn guest_token(web: &Web, headers: &HeaderMap, purpose: &str) -> (String, Option<HeaderValue>) {
    let (value, line) = match form_cookie(web, headers) {
        Some(value) => (value, None),
        None => new_form_cookie(web),
    };
    (token(web, &value, purpose), line)
}

/// The browser's form cookie, if a form of somebody without a session came from our page in this browser (B06).
pub fn guest(web: &Web, headers: &HeaderMap, purpose: &str, posted: Option<&str>) -> Option<String> {
    let cookie = form_cookie(web, headers).filter(|_| from_our_pages(web, headers))?;
    is_token(web, &cookie, purpose, posted).then_some(cookie)
}
