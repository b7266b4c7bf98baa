//! `/invitation/{token}`: who invites to what and as what, and joining. A person with an account signs in first; one
//! without makes it here, for the link came to the address and proves it (K08: nobody else can use it).

use askama::Template;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower_sessions::Session;

use crate::base::secret::{Secret, sha256_hex};
use crate::identity::invitations::Offer;
use crate::model::access::Role;
use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::surface::browser::csrf;
use crate::surface::browser::session::SignedIn;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

/// How the visitor can join.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// Signed in with the invited address.
    Accept,
    /// Signed in with another one; the token of the sign-out form.
    Other { email: String, log_out: String },
    /// The link was not mailed: it does not show that its bearer has this address, nor is said whether anybody has.
    Mail,
    /// The address has an account.
    SignIn,
    /// It has none yet.
    Register,
}

#[derive(Template)]
#[template(path = "invitation.html", config = "src/surface/askama.toml")]
struct InvitationPage<'a> {
    offer: &'a Offer,
    role: &'static str,
    way: Way,
    token: &'a str,
    csrf: String,
    name: &'a str,
    problem: &'a str,
}

/// `GET /invitation/{token}`.
pub async fn show(State(web): State<Web>, session: Session, headers: HeaderMap, Path(token): Path<String>) -> Response {
    let shown = async {
        match web.identity.offer(&token).await? {
            Some(offer) => {
                let person = SignedIn::find(&web, &session).await?;
                Ok(page(&web, &headers, person.as_ref(), &token, &offer, &Params::default(), ""))
            }
            None => Ok(over()),
        }
    };
    shown.await.unwrap_or_else(|error: Error| html::failure(&error))
}

/// `POST /invitation/{token}`.
pub async fn submit(
    State(web): State<Web>,
    context: Context,
    session: Session,
    Path(token): Path<String>,
    request: Request,
) -> Response {
    join(&web, &context, &session, &token, request).await.unwrap_or_else(|error| html::failure(&error))
}

async fn join(web: &Web, context: &Context, session: &Session, token: &str, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    let Some(offer) = web.identity.offer(token).await? else { return Ok(over()) };
    let person = SignedIn::find(web, session).await?;
    let binding = match &person {
        Some(person) => Some(person.binding().to_owned()),
        None => csrf::form_cookie(web, &parts.headers),
    };
    let event = |outcome: &str, principal: String| {
        let event = AuditEvent::new(context, "admin.invitation.accept", outcome).by(principal);
        event.org(Some(offer.org.id)).target(offer.role.name())
    };
    let fits = |binding: String| csrf::is_token(web, &binding, &purpose(token), params.get("csrf"));
    if !csrf::from_our_pages(web, &parts.headers) || !binding.is_some_and(fits) {
        web.record(event("form_refused", person.as_ref().map(SignedIn::principal).unwrap_or_default())).await?;
        let text = "This form was not sent from our page, or the page was old. Please open the link again.";
        return Ok(html::problem(StatusCode::FORBIDDEN, "That did not work", text));
    }
    let joined = match &person {
        Some(person) => web.identity.accept_invitation(token, &person.user).await?.map(|_| person.user.clone()),
        None => {
            let password = Secret::new(params.get("password").unwrap_or(""));
            match web.identity.join_with_invitation(token, params.get("name").unwrap_or(""), &password).await {
                // The invitation is still good: the person may correct the form.
                Err(error) if error.code == Code::InvalidArgument => {
                    return Ok(page(web, &parts.headers, None, token, &offer, &params, &error.message));
                }
                joined => joined?,
            }
        }
    };
    let Some(user) = joined else {
        web.record(event("invalid_argument", person.as_ref().map(SignedIn::principal).unwrap_or_default())).await?;
        return Ok(over());
    };
    web.record(event("ok", format!("user:{}", user.id))).await?;
    if person.is_none() {
        // The account is a moment old: there is no second factor yet.
        SignedIn::start(web, session, &user, Acr::Aal1).await?;
    }
    Ok(html::see_other("/"))
}

/// One answer for a link that was used, was taken back, is too old, is for somebody else, or never was.
fn over() -> Response {
    let text = "This invitation was already used or taken back, is too old, or is for another address. \
                Ask the person who sent it for a new one.";
    html::problem(StatusCode::NOT_FOUND, "This invitation is over", text)
}

fn purpose(token: &str) -> String {
    format!("invitation:{}", sha256_hex(token.as_bytes()))
}

fn page(
    web: &Web,
    headers: &HeaderMap,
    person: Option<&SignedIn>,
    token: &str,
    offer: &Offer,
    params: &Params,
    problem: &str,
) -> Response {
    let (binding, fresh) = match person {
        Some(person) => (person.binding().to_owned(), None),
        None => match csrf::form_cookie(web, headers) {
            Some(value) => (value, None),
            None => csrf::new_form_cookie(web),
        },
    };
    let way = match person {
        Some(person) if person.user.email == offer.email => Way::Accept,
        Some(person) => {
            Way::Other { email: person.user.email.clone(), log_out: csrf::token(web, person.binding(), csrf::LOG_OUT) }
        }
        None if !offer.proven => Way::Mail,
        None if offer.has_account => Way::SignIn,
        None => Way::Register,
    };
    let page = InvitationPage {
        offer,
        role: match offer.role {
            Role::Viewer => "a viewer: see and search its data",
            Role::Contributor => "a contributor: see, query and upload data",
            Role::Admin => "an admin: everything, including members and settings",
        },
        way,
        token,
        csrf: csrf::token(web, &binding, &purpose(token)),
        name: params.get("name").unwrap_or(""),
        problem,
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let mut response = html::page(status, &page).into_response();
    if let Some(cookie) = fresh {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
