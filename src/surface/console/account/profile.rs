//! `/account`: how the person is called, and their password.

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::base::secret::Secret;
use crate::model::error::{Code, Error, Result};
use crate::surface::browser::password::{self, Compared};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

const RENAME: &str = "account.profile";
const PASSWORD: &str = "account.password";

#[derive(Template)]
#[template(path = "profile.html", config = "src/surface/askama.toml")]
struct ProfilePage<'a> {
    frame: Frame,
    name: &'a str,
    has_password: bool,
    mails: bool,
    rename: String,
    password: String,
    said: &'a Said,
}

/// What the page says besides the forms: of each form what was wrong, or above them what was done.
#[derive(Debug, Default)]
struct Said {
    done: &'static str,
    name_problem: String,
    password_problem: String,
    /// As it was typed, when it was wrong.
    name: Option<String>,
}

/// `GET /account`.
pub async fn show(State(web): State<Web>, door: Door, RawQuery(query): RawQuery, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let done = match params.get("saved") {
        Some("name") => "Your name is changed.",
        Some("password") => "Your password is changed, and your other browsers are signed out.",
        _ => "",
    };
    page(&web, &visit, StatusCode::OK, &Said { done, ..Said::default() }).await
}

/// `POST /account/profile`.
pub async fn rename(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, params) = Visit::form(&web, &door.session, door.context, RENAME, request).await?;
    let name = params.get("name").unwrap_or("");
    let renamed = async {
        web.identity.set_name(visit.person.user.id, name).await?;
        web.record(AuditEvent::new(&visit.context, RENAME, "ok").by(visit.person.principal())).await
    };
    match renamed.await {
        Ok(()) => Ok(html::see_other("/account?saved=name")),
        Err(error) if error.code == Code::InvalidArgument => {
            let said = Said { name_problem: error.message, name: Some(name.to_owned()), ..Said::default() };
            page(&web, &visit, StatusCode::UNPROCESSABLE_ENTITY, &said).await
        }
        Err(error) => Err(html::failure(&error)),
    }
}

/// `POST /account/password`. Asks for the current one, because a browser left open is not its owner.
pub async fn change_password(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let headers = request.headers().clone();
    let (visit, params) = Visit::form(&web, &door.session, door.context, PASSWORD, request).await?;
    let user = &visit.person.user;
    let wrong = async |problem: &str| {
        let said = Said { password_problem: problem.to_owned(), ..Said::default() };
        page(&web, &visit, StatusCode::UNPROCESSABLE_ENTITY, &said).await
    };
    let new = params.get("password").unwrap_or("");
    if params.get("again").unwrap_or("") != new {
        return wrong("The two new passwords are not the same.").await;
    }
    let current = Secret::new(params.get("current").unwrap_or(""));
    let right = match password::compare(&web, &visit.context, &headers, PASSWORD, (&user.email, &current)).await {
        Ok(Compared::Right(right)) => right,
        Ok(Compared::Wrong) => return wrong("The current password is not right.").await,
        Ok(Compared::Later(response)) => return Err(response),
        Err(error) => return Err(html::failure(&error)),
    };
    let event = |outcome: &str| AuditEvent::new(&visit.context, PASSWORD, outcome).by(visit.person.principal());
    let changed = async {
        let Some(stamp) = web.identity.change_password(user, &right.stamp, &Secret::new(new)).await? else {
            return Err(Error::invalid("current", "The current password is not right."));
        };
        SignedIn::cycle(&door.session, &stamp).await?;
        web.record(event("changed")).await?;
        password::remember(&web, &headers, user).await
    };
    match changed.await {
        Ok(remembered) => Ok(html::with_cookie(html::see_other("/account?saved=password"), remembered)),
        Err(error) if error.code == Code::InvalidArgument => {
            let recorded = web.record(event(error.code.info().name)).await;
            recorded.map_err(|error| html::failure(&error))?;
            wrong(&error.message).await
        }
        Err(error) => Err(html::failure(&error)),
    }
}

async fn page(web: &Web, visit: &Visit, status: StatusCode, said: &Said) -> html::Result {
    let shown = async {
        let user = &visit.person.user;
        let page = ProfilePage {
            frame: Frame::new(web, visit, Place::Account("")).await?,
            name: said.name.as_deref().unwrap_or(&user.name),
            has_password: web.identity.has_password(user.id).await?,
            mails: web.identity.mailer().is_on(),
            rename: visit.csrf(web, RENAME),
            password: visit.csrf(web, PASSWORD),
            said,
        };
        Ok(html::page(status, &page))
    };
    let shown: Result<Response, Error> = shown.await;
    shown.map_err(|error| html::failure(&error))
}
