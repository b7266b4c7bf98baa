//! `/login`: e-mail address and password.

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tower_sessions::Session;

use crate::base::secret::Secret;
use crate::model::error::{Code, Result};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::session::SignedIn;
use crate::surface::login::{csrf, return_to, upstream};
use crate::surface::web::{AuditEvent, Web};

/// What the form token is for.
pub(super) const PURPOSE: &str = "login";

#[derive(Template)]
#[template(path = "login.html", config = "src/surface/askama.toml")]
struct LoginPage<'a> {
    csrf: String,
    return_to: &'a str,
    email: &'a str,
    problem: &'a str,
    providers: Vec<upstream::Way>,
}

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
    let cookie = csrf::form_cookie(&web, &parts.headers);
    let token_fits = |cookie: &String| csrf::is_token(&web, cookie, PURPOSE, params.get("csrf"));
    if !csrf::from_our_pages(&web, &parts.headers) || !cookie.as_ref().is_some_and(token_fits) {
        return refuse_form(&web, &context, &parts.headers, &params).await;
    }
    let _trying = match web.throttle.try_login(context.ip) {
        Ok(trying) => trying,
        Err(wait) => return html::too_many(Code::IpBlocked, wait),
    };
    match log_in(&web, &context, &session, &params).await {
        Ok(true) => html::see_other(return_to::safe(params.get("return_to"))),
        Ok(false) => {
            let problem = "The e-mail address or the password is not right.";
            form(&web, &parts.headers, StatusCode::UNAUTHORIZED, &params, problem)
        }
        Err(error) => html::failure(&error),
    }
}

/// Whether the person proved who they are; the session is theirs then.
async fn log_in(web: &Web, context: &Context, session: &Session, params: &Params) -> Result<bool> {
    let (email, password) = (params.get("email").unwrap_or(""), Secret::new(params.get("password").unwrap_or("")));
    let found = match web.identity.log_in(email, &password).await {
        // A password that no account can have is a wrong password (B21: one answer for all of them).
        Err(error) if error.code == Code::InvalidArgument => None,
        found => found?,
    };
    let Some(user) = found else {
        web.throttle.record_failure(context.ip);
        web.record(AuditEvent::new(context, "login.password", "auth_invalid")).await?;
        return Ok(false);
    };
    web.record(AuditEvent::new(context, "login.password", "ok").by(format!("user:{}", user.id))).await?;
    SignedIn::start(web, session, &user).await?;
    Ok(true)
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

pub(super) fn form(web: &Web, headers: &HeaderMap, status: StatusCode, params: &Params, problem: &str) -> Response {
    // A cookie that is there is kept, so that two tabs do not spoil each other's form (B31).
    let (binding, fresh) = match csrf::form_cookie(web, headers) {
        Some(value) => (value, None),
        None => csrf::new_form_cookie(web),
    };
    let page = LoginPage {
        csrf: csrf::token(web, &binding, PURPOSE),
        return_to: return_to::safe(params.get("return_to")),
        email: params.get("email").unwrap_or(""),
        problem,
        providers: upstream::ways(web, params.get("return_to")),
    };
    let mut response = html::page(status, &page).into_response();
    if let Some(cookie) = fresh {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
