//! Sealed cookies of ten minutes: one for each journey to a provider, so that two tabs do not disturb each other (B31),
//! and one for somebody who has to sign in to their account before it is linked.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::identity::upstream::tag;
use crate::surface::browser::cookies;
use crate::surface::web::Web;

/// Browsers keep at least this many bytes of name, value and attributes (RFC 6265 §6.1).
const LONGEST: usize = 4096;
/// Journeys that one browser may have under way.
const JOURNEYS: usize = 4;

/// The cookie of the journey with this state.
pub fn journey(web: &Web, state: &str) -> String {
    name(web, &format!("journey-{}", tag(state)))
}

/// The cookie of somebody who has to sign in to their account first.
pub fn waiting(web: &Web) -> String {
    name(web, "waiting")
}

fn name(web: &Web, what: &str) -> String {
    cookies::name(&web.config, &format!("dragoman-{what}"))
}

/// Gives the browser a cookie; `false` when it is too long to be kept.
#[must_use]
pub fn set(web: &Web, response: &mut Response, name: &str, value: &str) -> bool {
    append(web, response, name, value, 600)
}

/// Ends the browser's oldest journeys, so that abandoned ones never fill a proxy's buffer for headers.
pub fn make_room(web: &Web, headers: &HeaderMap, response: &mut Response) {
    let start = name(web, "journey-");
    // Browsers send the oldest first (RFC 6265 §5.4).
    let mut journeys: Vec<(&str, &str)> =
        cookies::pairs(headers).filter(|(name, _)| name.starts_with(&start)).collect();
    journeys.reverse();
    let mut bytes = 0;
    for (at, (name, value)) in journeys.into_iter().enumerate() {
        bytes += value.len();
        if at + 1 >= JOURNEYS || bytes > LONGEST {
            remove(web, response, name);
        }
    }
}

/// Takes a cookie from the browser.
pub fn remove(web: &Web, response: &mut Response, name: &str) {
    let _short_enough = append(web, response, name, "", 0);
}

fn append(web: &Web, response: &mut Response, name: &str, value: &str, seconds: u32) -> bool {
    let secure = if web.config.is_https() { "; Secure" } else { "" };
    // Lax: the person comes back from the provider's site.
    let line = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    match HeaderValue::try_from(&line) {
        Ok(value) if line.len() <= LONGEST => {
            response.headers_mut().append(header::SET_COOKIE, value);
            true
        }
        _ => false,
    }
}
