//! Where a person goes after logging in: the home page, back to an authorization request of ours, or to a page of the
//! console. Nothing else, so that a link to our login page cannot send anybody anywhere (B29).

use axum::response::Response;

use crate::base::clock::Millis;
use crate::model::acr::Acr;
use crate::surface::form::Params;
use crate::surface::html;

/// The path of the authorization endpoint.
pub const AUTHORIZE: &str = "/api/oauth/authorize";
/// The path of the page where a signed-in person proves again who they are.
pub const CONFIRM: &str = "/login/confirm";
/// Pages that need a person: these, and everything below them.
const PAGES: [&str; 4] = ["/account", "/device", "/invitation", "/w"];
/// Added to an authorization request whose person did not show the second factor that it asks for.
pub const UNMET: &str = "acr_unmet";
/// The query of a page whose form was done: the page says so.
pub const DONE: &str = "done=1";
/// What the address of a page says of a form that waits for its person to prove who they are: the handle of its fields, or
/// [`NOTHING`] where none are kept.
pub const AGAIN: &str = "again";
pub const NOTHING: &str = "1";
/// What the address of a page that is shown once says: its handle.
pub const SHOWN: &str = "shown";
/// Added to the authorization request that a browser returns with after logging in: only a log-in since then (epoch
/// milliseconds, 0 for any) counts. It stands for `prompt=login` and `max_age`, which would ask for a log-in again and
/// again.
pub const RETURNED: &str = "login_after";
/// Bytes of the longest address to return to.
const LONGEST: usize = 12 << 10;

/// The address if it is one of ours, else the home page.
pub fn safe(text: Option<&str>) -> &str {
    let ours = |text: &&str| {
        text.len() <= LONGEST
            && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#".contains(&byte))
            && (text.strip_prefix(AUTHORIZE).is_some_and(|rest| rest.starts_with('?')) || is_page(text))
    };
    text.filter(ours).unwrap_or("/")
}

/// The address of one of our pages that goes on to `to`.
pub fn with(page: &str, to: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(to.as_bytes()).collect();
    format!("{page}?return_to={encoded}")
}

/// The address where a signed-in person proves themselves as well as `least` says, and goes on to `to`.
pub fn confirmed(to: &str, least: Acr) -> String {
    let page = with(CONFIRM, to);
    if least > Acr::Aal1 { format!("{page}&acr={}", least.name()) } else { page }
}

/// Where a person is sent to sign in; in the extensions of the answer that sends them.
#[derive(Clone, Debug)]
pub struct SignIn {
    /// They are signed in, and prove themselves as well as this; `None` where they sign in.
    pub least: Option<Acr>,
    /// Where they go on to.
    pub to: String,
}

impl SignIn {
    /// The answer that sends them there.
    pub fn answer(self) -> Response {
        let page = match self.least {
            Some(least) => confirmed(&self.to, least),
            None => with("/login", &self.to),
        };
        let mut response = html::see_other(&page);
        response.extensions_mut().insert(self);
        response
    }
}

/// The query of the authorization request that is returned to; `None` for a page.
pub fn authorization(text: &str) -> Option<&str> {
    text.strip_prefix(AUTHORIZE)?.strip_prefix('?')
}

/// The query of an address; empty where it has none.
pub fn query(text: &str) -> &str {
    text.split_once('?').map_or("", |(_, query)| query)
}

/// The address of a page, which says so of the form before it and nothing else.
pub fn saying(page: &str, name: &str, value: &str) -> String {
    let (path, query) = page.split_once('?').unwrap_or((page, ""));
    let is_of_page = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        !name.is_empty() && ![AGAIN, SHOWN].contains(&name) && *pair != DONE
    };
    let said = format!("{name}={value}");
    let pairs: Vec<&str> = query.split('&').filter(is_of_page).chain([said.as_str()]).collect();
    format!("{path}?{}", pairs.join("&"))
}

/// What an address says by this name.
pub fn said<'a>(address: &'a str, name: &str) -> Option<&'a str> {
    query(address).split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// What who signs in on the way to an address is told of the form that waits there; empty where none does.
pub fn waiting(address: &str) -> &'static str {
    match said(address, AGAIN) {
        None => "",
        Some(NOTHING) => "Nothing was changed yet: do it once more afterwards.",
        Some(_) => {
            "Nothing was changed yet. What you typed is kept, but for passwords: it is back in its form afterwards."
        }
    }
}

/// Whether what is returned to is an authorization request that does not take any log-in.
pub fn asks_for_fresh(text: &str) -> bool {
    let params = authorization(text).and_then(|query| Params::parse(query).ok()).unwrap_or_default();
    params.get(RETURNED).and_then(|after| after.parse::<Millis>().ok()).is_some_and(|after| after > 0)
}

/// Whether it is a plain path of a page, with or without a query: no `//`, no `..`, nothing that a browser would read in
/// another way.
fn is_page(text: &str) -> bool {
    let (path, _) = text.split_once('?').unwrap_or((text, ""));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte);
    let below = |page: &&str| path.strip_prefix(*page).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    path.bytes().all(plain) && !path.contains("//") && PAGES.iter().any(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b29_only_our_own_addresses_are_returned_to() {
        let good = "/api/oauth/authorize?client_id=x&state=%0d%0a";
        assert_eq!(safe(Some(good)), good);
        for page in ["/account", "/account/two-step", "/device?user_code=BCDF-GHJK", "/w/acme/members", "/invitation"] {
            assert_eq!(safe(Some(page)), page);
        }
        for bad in [
            "",
            "/accounts",
            "/account//evil.com",
            "/account/../api",
            "/w/%2e%2e/evil",
            "/w\\evil.com",
            "//evil.com",
            "/\\evil.com",
            "/%2f%2fevil.com",
            "https:evil.com",
            "https://evil.com/api/oauth/authorize?x",
            "/%09/evil.com",
            "/api/oauth/authorize",
            "/api/oauth/authorize/../../evil?x",
            "/api/oauth/authorized?x",
            "/api/oauth/authorize?x\r\nLocation: https://evil.com",
            "/api/oauth/authorize?x y",
            "@evil.com",
            "javascript:alert(1)",
        ] {
            assert_eq!(safe(Some(bad)), "/", "{bad:?}");
        }
        assert_eq!(safe(None), "/");
    }

    #[test]
    fn an_address_says_one_thing_of_a_form_and_keeps_what_its_page_is_about() {
        for (page, saying_so) in [
            ("/w/acme/members", "/w/acme/members?again=h"),
            ("/w/acme/members?cursor=x%3D&done=1", "/w/acme/members?cursor=x%3D&again=h"),
            ("/w/acme/check?again=1&uploads=a&shown=b", "/w/acme/check?uploads=a&again=h"),
        ] {
            assert_eq!(saying(page, AGAIN, "h"), saying_so);
            assert_eq!((safe(Some(saying_so)), said(saying_so, AGAIN)), (saying_so, Some("h")));
        }
        assert_eq!((said("/account", AGAIN), said("/account?againx=1", AGAIN)), (None, None));
    }

    #[test]
    fn only_a_request_that_says_since_when_asks_for_a_fresh_log_in() {
        assert!(asks_for_fresh("/api/oauth/authorize?client_id=x&login_after=1"));
        for any in ["/", "/account?login_after=1", "/api/oauth/authorize?x=1", "/api/oauth/authorize?login_after=0"] {
            assert!(!asks_for_fresh(any), "{any}");
        }
    }
}
