//! Where a browser goes with the refusal of an authorization request whose client and redirect address are proven.
//!
//! Proven says only that the client registered the address, and anybody may register: who were sent on at once by a link
//! to us would be sent anywhere under our good name (RFC 9700 §4.11.2). So the browser is sent on where that cannot be,
//! and elsewhere a page of ours says who wants it to go where, and the person decides.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tower_sessions::Session;

use crate::identity::clients;
use crate::identity::redirect::{self, Kind};
use crate::model::error::Result;
use crate::surface::browser::destination::Destination;
use crate::surface::browser::session::SignedIn;
use crate::surface::html;
use crate::surface::web::Web;

#[derive(Template)]
#[template(path = "refused.html", config = "src/surface/askama.toml")]
struct RefusedPage<'a> {
    what: &'a str,
    client: String,
    /// Who vouches for the client's name.
    verified_host: Option<String>,
    /// Where the link leads, and what is there.
    goes_to: String,
    kind: Kind,
    to: &'a str,
}

/// Whether the browser says that a page of ours led it here. No link or form of another site can make it say so, and
/// one that says nothing is taken to come from elsewhere.
pub(super) fn is_from_our_pages(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all("sec-fetch-site").iter();
    said.next().is_some_and(|site| site == "same-origin") && said.next().is_none()
}

/// Whether the browser may be sent to the client at once: to a program on the person's own computer, where no site can
/// wait for them; to a client that the operator registered; and when somebody is signed in, to one that they have
/// connected at this address, or when our log-in led here for this very request.
///
/// # Errors
/// The database fails.
pub(super) async fn may_be_sent_on(web: &Web, session: &Session, to: &Destination, from_log_in: bool) -> Result<bool> {
    if redirect::kind(&to.redirect_uri) == Ok(Kind::Loopback) || to.client.is_confidential() {
        return Ok(true);
    }
    let Some(person) = SignedIn::find(web, session).await? else { return Ok(false) };
    if from_log_in {
        return Ok(true);
    }
    let connected = web.identity.connections(person.user.id).await?;
    Ok(connected.iter().any(|one| one.client_id == to.client.id && one.redirect_uri == to.redirect_uri))
}

/// The page. Its link is the whole answer to the client, so that nothing is lost for who takes it.
pub(super) fn page(to: &Destination, what: &str, url: &str) -> Response {
    let page = RefusedPage {
        what,
        client: html::display_name(&to.client.name),
        verified_host: clients::verified_host(&to.client.id),
        goes_to: redirect::shown(&to.redirect_uri),
        kind: redirect::kind(&to.redirect_uri).unwrap_or(Kind::UnknownApp),
        to: url,
    };
    html::page(StatusCode::BAD_REQUEST, &page)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_browser_that_says_so_comes_from_our_pages() {
        let said = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("sec-fetch-site", HeaderValue::from_static(value));
            }
            is_from_our_pages(&headers)
        };
        assert!(said(&["same-origin"]));
        let elsewhere: [&[&str]; 6] =
            [&[], &["none"], &["same-site"], &["cross-site"], &["Same-Origin"], &["same-origin", "cross-site"]];
        for elsewhere in elsewhere {
            assert!(!said(elsewhere), "{elsewhere:?}");
        }
    }
}
