//! `/login/forgot`: asks for a link by e-mail. The answer is the same, and takes the same time, whoever is asked for
//! (B22): the person is looked for after it has left.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::model::error::Code;
use crate::surface::browser::csrf;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

const PURPOSE: &str = "forgot";

#[derive(Template)]
#[template(path = "forgot.html", config = "src/surface/askama.toml")]
struct ForgotPage<'a> {
    csrf: String,
    mails: bool,
    /// Whom a mail was asked for.
    asked: Option<&'a str>,
    minutes: u64,
    problem: &'a str,
}

/// `GET /login/forgot`.
pub async fn show(State(web): State<Web>, headers: HeaderMap) -> Response {
    form(&web, &headers, StatusCode::OK, None, "")
}

/// `POST /login/forgot`.
pub async fn submit(State(web): State<Web>, context: Context, request: Request) -> Response {
    if let Err(wait) = web.throttle.check_forgot(context.ip) {
        return html::too_many(Code::RateLimited, wait);
    }
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    if csrf::guest(&web, &parts.headers, PURPOSE, params.get("csrf")).is_none() {
        if let Err(error) = web.record(AuditEvent::new(&context, "login.reset", "form_refused")).await {
            return html::failure(&error);
        }
        let problem = "This form was not sent from our page, or the page was old. Please try again.";
        return form(&web, &parts.headers, StatusCode::FORBIDDEN, None, problem);
    }
    let Some(email) = params.get("email").filter(|_| web.identity.mailer().is_on()) else {
        return form(&web, &parts.headers, StatusCode::OK, None, "");
    };
    if let Err(error) = web.record(AuditEvent::new(&context, "login.reset", "asked")).await {
        return html::failure(&error);
    }
    let (later, asked) = (web.clone(), email.to_owned());
    web.identity.mailer().background(async move {
        // Failures are in the log; the record has it when a link was sent, and to whom.
        if let Ok(Some(user)) = later.identity.send_reset_link(&asked).await {
            let sent = AuditEvent::new(&context, "login.reset", "link_sent").target(format!("user:{}", user.id));
            drop(later.record(sent).await);
        }
    });
    form(&web, &parts.headers, StatusCode::OK, Some(email), "")
}

fn form(web: &Web, headers: &HeaderMap, status: StatusCode, asked: Option<&str>, problem: &str) -> Response {
    let (csrf, cookie) = csrf::guest_token(web, headers, PURPOSE);
    let minutes = web.config.limits.lifetimes.link.as_secs().div_ceil(60);
    let page = ForgotPage { csrf, mails: web.identity.mailer().is_on(), asked, minutes, problem };
    html::with_cookie(html::page(status, &page), cookie)
}
