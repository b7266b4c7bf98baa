//! Forms that came when their person had to sign in again first: nothing is done, and what was typed is there again
//! afterwards. The fields go aside, without what is secret, under a handle that the way back to the page carries; the page
//! that is drawn there has them in the same form, which the person looks at and sends. Who is shown them is who the form
//! was made for, whoever signs in at the browser in between.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tower_sessions::Session;

use crate::base::secret::Secret;
use crate::model::error::{Error, Result};
use crate::surface::body;
use crate::surface::browser::kept::{self, Kind};
use crate::surface::browser::refill::{Form, refilled};
use crate::surface::browser::return_to::{self, AGAIN, SignIn};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::{csrf, visit};
use crate::surface::form::{Params, Size, is_form};
use crate::surface::html;
use crate::surface::web::Web;

/// Bytes of the longest form that is kept: nobody gives it a place while it comes.
const LONGEST: usize = body::FREE;

/// The layer.
pub async fn given_back(State(web): State<Web>, session: Session, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    match method {
        Method::POST if is_short_form(request.headers()) => sent(&web, request, next).await,
        Method::GET => looked_at(&web, &session, request, next).await,
        _ => next.run(request).await,
    }
}

/// Whether it is a form that could be kept.
fn is_short_form(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    is_form(headers) && length.is_some_and(|length| length <= LONGEST)
}

/// Has a form answered, and keeps it where the answer is that the person has to sign in first.
async fn sent(web: &Web, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    // What cannot be read is no form, and refused as such.
    let bytes = body::whole(body, LONGEST).await.unwrap_or_default();
    let (path, headers) = (parts.uri.path().to_owned(), parts.headers.clone());
    let response = next.run(Request::from_parts(parts, Body::from(bytes.clone()))).await;
    let Some(way) = response.extensions().get::<SignIn>().cloned() else { return response };
    match keep(web, &headers, &path, &bytes).await {
        Ok(Some(handle)) => {
            let page = visit::form_page(web, &headers).map(|page| return_to::safe(Some(page)));
            let page = page.filter(|page| *page != "/").unwrap_or(&way.to);
            SignIn { to: return_to::saying(page, AGAIN, handle.expose()), ..way }.answer()
        }
        Ok(None) => response,
        // They sign in, and type it again.
        Err(problem) => {
            tracing::warn!(%problem, "a form could not be kept for its person");
            response
        }
    }
}

/// Keeps the fields of a form for whom its page was made for; `None` for one that is not from a page of ours, and for one
/// in which nothing is to be kept.
async fn keep(web: &Web, headers: &HeaderMap, path: &str, bytes: &[u8]) -> Result<Option<Secret>> {
    let params = Params::of_bytes(bytes, Size::LONG).unwrap_or_default();
    let owner = params.get("csrf").and_then(|token| csrf::owner_of(web, token));
    let Some(owner) = owner.filter(|_| csrf::from_our_pages(web, headers)) else { return Ok(None) };
    let Some(form) = Form::of(path, &params) else { return Ok(None) };
    if web.identity.active_user(owner).await?.is_none() {
        return Ok(None);
    }
    kept::keep(web, owner, Kind::Form, &form).await.map(Some)
}

/// Has a page drawn, and gives back the form that its address names.
async fn looked_at(web: &Web, session: &Session, request: Request, next: Next) -> Response {
    let here = request.uri().path_and_query().map_or("", |here| here.as_str());
    let handle = return_to::said(here, AGAIN).filter(|handle| *handle != return_to::NOTHING).map(str::to_owned);
    let response = next.run(request).await;
    let Some(handle) = handle.filter(|_| is_page(&response)) else { return response };
    match form_of(web, session, &handle).await {
        Ok(Some(form)) => filled(response, &form).await.unwrap_or_else(|error| html::failure(&error)),
        Ok(None) => response,
        Err(error) => html::failure(&error),
    }
}

fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    response.status() == StatusCode::OK && kind.is_some_and(|kind| kind.starts_with("text/html"))
}

async fn form_of(web: &Web, session: &Session, handle: &str) -> Result<Option<Form>> {
    let Some(person) = SignedIn::find(web, session).await? else { return Ok(None) };
    kept::take(web, person.user.id, Kind::Form, handle).await
}

async fn filled(response: Response, form: &Form) -> Result<Response> {
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
    let page = refilled(&String::from_utf8_lossy(&bytes), form)?;
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(page)))
}
