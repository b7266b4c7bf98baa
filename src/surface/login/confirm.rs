//! `/login/confirm`: the signed-in person proves again who they are, before something sensitive or because a client asks
//! for a second factor; then they go on where they were. The session goes on under a new id (B02).

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tower_sessions::Session;

use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::{csrf, return_to};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::proof::{self, Outcome, Ways};
use crate::surface::web::{AuditEvent, Web};

const PURPOSE: &str = "confirm";

#[derive(Template)]
#[template(path = "confirm.html", config = "src/surface/askama.toml")]
struct ConfirmPage {
    ways: Ways,
    /// A password is not enough.
    step_up: bool,
    /// Back to a client with nothing.
    cancel: Option<String>,
    /// What is said of a form that waits for it; empty where none does.
    waits: &'static str,
    again: String,
    problem: &'static str,
}

/// `GET /login/confirm?return_to=…[&acr=aal2]`.
pub async fn show(State(web): State<Web>, session: Session, RawQuery(query): RawQuery) -> Response {
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let shown = async {
        match SignedIn::find(&web, &session).await? {
            Some(person) => page(&web, &person, &params, StatusCode::OK, "").await,
            None => Ok(sign_in(&params)),
        }
    };
    shown.await.unwrap_or_else(|error: Error| html::failure(&error))
}

/// `POST /login/confirm`.
pub async fn submit(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    answer(&web, &context, &session, request).await.unwrap_or_else(|error| html::failure(&error))
}

async fn answer(web: &Web, context: &Context, session: &Session, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    let Some(person) = SignedIn::find(web, session).await? else { return Ok(sign_in(&params)) };
    if !csrf::from_our_pages(web, &parts.headers) || !csrf::is_token(web, person.binding(), PURPOSE, params.get("csrf"))
    {
        web.record(AuditEvent::new(context, "login.confirm", "form_refused").by(person.principal())).await?;
        let problem = "This form was not sent from our page, or the page was old. Please try again.";
        return page(web, &person, &params, StatusCode::FORBIDDEN, problem).await;
    }
    if params.get("way") == Some("password") && required(web, &person, &params).await? > Acr::Aal1 {
        return page(web, &person, &params, StatusCode::BAD_REQUEST, "A second step is needed.").await;
    }
    match proof::check(web, context, &parts.headers, &person.user, person.binding(), &params, "confirm").await? {
        Outcome::Proven(acr) => {
            person.renew(web, session, acr).await?;
            Ok(html::see_other(return_to::safe(params.get("return_to"))))
        }
        Outcome::Refused(status, problem) => page(web, &person, &params, status, problem).await,
        Outcome::Wait(page) => Ok(page),
    }
}

async fn page(
    web: &Web,
    person: &SignedIn,
    params: &Params,
    status: StatusCode,
    problem: &'static str,
) -> Result<Response> {
    let to = return_to::safe(params.get("return_to"));
    let step_up = required(web, person, params).await? > Acr::Aal1;
    let mut ways = Ways::of(web, &person.user, person.binding(), return_to::CONFIRM, PURPOSE, to).await?;
    ways.password = !step_up;
    ways.acr = if step_up { Acr::Aal2.name() } else { "" };
    let asked_by_client = step_up && to.starts_with(return_to::AUTHORIZE);
    let cancel = asked_by_client.then(|| format!("{to}&{}=1", return_to::UNMET));
    let page = ConfirmPage {
        ways,
        step_up,
        cancel,
        waits: return_to::waiting(to),
        again: return_to::with("/login", to),
        problem,
    };
    Ok(html::page_with_script(status, &page))
}

/// Who has a second factor shows it here too: the password alone must not make an old second proof look fresh.
async fn required(web: &Web, person: &SignedIn, params: &Params) -> Result<Acr> {
    let own = if web.identity.factors(person.user.id).await?.any() { Acr::Aal2 } else { Acr::Aal1 };
    Ok(own.max(least(params)))
}

fn least(params: &Params) -> Acr {
    params.get("acr").and_then(Acr::parse).unwrap_or(Acr::Aal1)
}

fn sign_in(params: &Params) -> Response {
    html::see_other(&return_to::with("/login", return_to::safe(params.get("return_to"))))
}
