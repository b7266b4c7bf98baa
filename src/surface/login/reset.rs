//! `/login/reset?token=…`: where the link of a mail leads. Looking at it uses nothing up, because programs look at mails
//! before people do (B30); sending the form does.

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::base::secret::{Secret, sha256_hex};
use crate::model::error::{Code, Result};
use crate::surface::browser::{csrf, password};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

#[derive(Template)]
#[template(path = "reset.html", config = "src/surface/askama.toml")]
struct ResetPage<'a> {
    csrf: String,
    token: &'a str,
    problem: &'a str,
    done: bool,
}

/// `GET /login/reset`.
pub async fn show(State(web): State<Web>, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let token = Secret::new(params.get("token").unwrap_or(""));
    match web.identity.reset_link_works(&token).await {
        Ok(true) => form(&web, &headers, StatusCode::OK, &token, ""),
        Ok(false) => over(),
        Err(error) => html::failure(&error),
    }
}

/// `POST /login/reset`.
pub async fn submit(State(web): State<Web>, context: Context, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    set(&web, &context, &parts.headers, &params).await.unwrap_or_else(|error| html::failure(&error))
}

async fn set(web: &Web, context: &Context, headers: &HeaderMap, params: &Params) -> Result<Response> {
    let token = Secret::new(params.get("token").unwrap_or(""));
    let event = |outcome: &str| AuditEvent::new(context, "login.reset", outcome);
    if csrf::guest(web, headers, &purpose(&token), params.get("csrf")).is_none() {
        web.record(event("form_refused")).await?;
        let problem = "This form was not sent from our page, or the page was old. Please try again.";
        return Ok(form(web, headers, StatusCode::FORBIDDEN, &token, problem));
    }
    let password = params.get("password").unwrap_or("");
    if params.get("again").unwrap_or("") != password {
        let problem = "The two passwords are not the same.";
        return Ok(form(web, headers, StatusCode::UNPROCESSABLE_ENTITY, &token, problem));
    }
    match web.identity.reset_password(&token, &Secret::new(password)).await {
        Ok(Some(user)) => {
            web.record(event("ok").by(format!("user:{}", user.id))).await?;
            let page = ResetPage { csrf: String::new(), token: "", problem: "", done: true };
            let remembered = password::remember(web, headers, &user).await?;
            Ok(html::with_cookie(html::page(StatusCode::OK, &page), remembered))
        }
        Ok(None) => {
            web.record(event(Code::AuthInvalid.info().name)).await?;
            Ok(over())
        }
        Err(error) if error.code == Code::InvalidArgument => {
            web.record(event(error.code.info().name)).await?;
            Ok(form(web, headers, StatusCode::UNPROCESSABLE_ENTITY, &token, &error.message))
        }
        Err(error) => Err(error),
    }
}

fn purpose(token: &Secret) -> String {
    format!("reset:{}", sha256_hex(token.expose().as_bytes()))
}

/// One answer for a link that was used, has expired, or never was.
fn over() -> Response {
    let text = "This link was used already, is too old, or is not complete. Ask for a new one on the sign-in page.";
    html::problem(StatusCode::BAD_REQUEST, "This link no longer works", text)
}

fn form(web: &Web, headers: &HeaderMap, status: StatusCode, token: &Secret, problem: &str) -> Response {
    let (csrf, cookie) = csrf::guest_token(web, headers, &purpose(token));
    let page = ResetPage { csrf, token: token.expose(), problem, done: false };
    html::with_cookie(html::page(status, &page), cookie)
}
