//! Pages that answer a form and show something once: the secret of a token that was made, recovery codes, the link of an
//! invitation. The browser is sent on to them, so that loading the page again looks again and makes nothing again. What
//! was shown is gone then: the page at that address is the one that it is without a form.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use crate::base::id::Id;
use crate::model::error::{Error, Result};
use crate::model::user::User;
use crate::surface::browser::kept::{self, Kind};
use crate::surface::browser::return_to::{self, SHOWN};
use crate::surface::browser::session::SignedIn;
use crate::surface::html;
use crate::surface::web::Web;

/// Bytes of the longest page that is kept.
const LONGEST: usize = 2 << 20;

/// In the extensions of an answer to a form: who looks at it, and the page whose address it gets.
#[derive(Clone, Debug)]
struct Once {
    user: Id<User>,
    at: String,
}

/// A page, between the form and the look.
#[derive(Serialize, Deserialize)]
struct Page {
    html: String,
    policy: String,
}

/// An answer to a form, to be shown once at the address `at`; one that says what was wrong is shown as it is.
pub(super) fn once(mut response: Response, user: Id<User>, at: &str) -> Response {
    if response.status() == StatusCode::OK {
        response.extensions_mut().insert(Once { user, at: at.to_owned() });
    }
    response
}

/// The layer.
pub async fn shown_once(State(web): State<Web>, session: Session, request: Request, next: Next) -> Response {
    let here = request.uri().path_and_query().map_or("", |here| here.as_str());
    let handle = return_to::said(here, SHOWN).filter(|_| request.method() == Method::GET).map(str::to_owned);
    if let Some(handle) = handle {
        match shown(&web, &session, &handle).await {
            Ok(Some(page)) => return page,
            Ok(None) => {}
            Err(error) => return html::failure(&error),
        }
    }
    let response = next.run(request).await;
    let once = response.extensions().get::<Once>().cloned();
    match once {
        Some(once) => moved(&web, once, response).await,
        None => response,
    }
}

async fn shown(web: &Web, session: &Session, handle: &str) -> Result<Option<Response>> {
    let Some(person) = SignedIn::find(web, session).await? else { return Ok(None) };
    let Some(page) = kept::take::<Page>(web, person.user.id, Kind::Page, handle).await? else { return Ok(None) };
    let policy = HeaderValue::try_from(page.policy).map_err(Error::internal)?;
    Ok(Some(html::rendered(page.html, policy)))
}

/// The way to the page. One that cannot be kept is the answer itself: what it shows exists already.
async fn moved(web: &Web, once: Once, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let bytes = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(cause) => return html::failure(&Error::internal(cause)),
    };
    let policy = parts.headers.get(header::CONTENT_SECURITY_POLICY).and_then(|policy| policy.to_str().ok());
    let page =
        Page { html: String::from_utf8_lossy(&bytes).into_owned(), policy: policy.unwrap_or_default().to_owned() };
    if page.html.len() <= LONGEST
        && let Ok(handle) = kept::keep(web, once.user, Kind::Page, &page).await
    {
        return html::see_other(&return_to::saying(&once.at, SHOWN, handle.expose()));
    }
    Response::from_parts(parts, Body::from(page.html))
}
