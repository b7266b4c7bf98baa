//! `/login`: e-mail address and password.

use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tower_sessions::Session;

use crate::base::secret::Secret;
use crate::model::error::{Code, Result};
use crate::surface::browser::csrf;
use crate::surface::browser::password::{self, Compared, Right};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::form::{PURPOSE, form};
use crate::surface::login::two_step::{self, First};
use crate::surface::web::{AuditEvent, Web};

/// `GET /login`. Shown to whoever asks, so that a client can have a person log in anew.
pub async fn show(State(web): State<Web>, context: Context, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    form(&web, &headers, StatusCode::OK, &params, "")
}

/// `POST /login`.
pub async fn submit(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    let (parts, body) = request.into_parts();
    let params = match Params::of_body(&parts.headers, body).await {
        Ok(params) => params,
        Err(problem) => {
            let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::BAD_REQUEST);
            return html::problem(status, "That did not work", &problem.to_string());
        }
    };
    let Some(browser) = csrf::guest(&web, &parts.headers, PURPOSE, params.get("csrf")) else {
        return refuse_form(&web, &context, &parts.headers, &params).await;
    };
    let (email, password) = (params.get("email").unwrap_or(""), Secret::new(params.get("password").unwrap_or("")));
    match password::compare(&web, &context, &parts.headers, "login.password", (email, &password)).await {
        Ok(Compared::Right(right)) => {
            go_on(&web, &session, &browser, &right, &params).await.unwrap_or_else(|error| html::failure(&error))
        }
        Ok(Compared::Wrong) => {
            let problem = "The e-mail address or the password is not right.";
            form(&web, &parts.headers, StatusCode::UNAUTHORIZED, &params, problem)
        }
        Ok(Compared::Later(page)) => page,
        Err(error) => html::failure(&error),
    }
}

/// What follows a right password: the second factor, where the person has one, or their session.
async fn go_on(web: &Web, session: &Session, browser: &str, right: &Right, params: &Params) -> Result<Response> {
    let first = First::Password(&right.stamp);
    let response = two_step::begin(web, session, browser, &right.user, first, params.get("return_to")).await?;
    Ok(right.remembered(response))
}

/// A form that did not come from our page, or from one of another browser or another day: nothing is tried, the
/// person may send it again.
async fn refuse_form(web: &Web, context: &Context, headers: &HeaderMap, params: &Params) -> Response {
    if let Err(error) = web.record(AuditEvent::new(context, "login.password", "form_refused")).await {
        return html::failure(&error);
    }
    let problem = "This form was not sent from our page, or the page was old. Please try again.";
    form(web, headers, StatusCode::FORBIDDEN, params, problem)
}
