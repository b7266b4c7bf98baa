//! `/login/passkey`: signing in with a passkey alone. It verified its user, so it is as good as two factors.

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use tower_sessions::Session;

use crate::identity::passkeys::ProofError;
use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::{csrf, return_to};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::proof::{self, PASSKEY_REFUSED, Ways};
use crate::surface::web::{AuditEvent, Web};

pub const PATH: &str = "/login/passkey";
const PURPOSE: &str = "passkey";

#[derive(Template)]
#[template(path = "login_passkey.html", config = "src/surface/askama.toml")]
struct PasskeyPage {
    ways: Ways,
    password_page: String,
    problem: &'static str,
}

/// `GET /login/passkey?return_to=…`.
pub async fn show(State(web): State<Web>, context: Context, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let shown = page(&web, &headers, &params, StatusCode::OK, "").await;
    shown.unwrap_or_else(|error: Error| html::failure(&error))
}

/// `POST /login/passkey`.
pub async fn submit(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    answer(&web, &context, &session, request).await.unwrap_or_else(|error| html::failure(&error))
}

async fn answer(web: &Web, context: &Context, session: &Session, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    let cookie = csrf::form_cookie(web, &parts.headers);
    let ours = |cookie: &String| {
        csrf::from_our_pages(web, &parts.headers) && csrf::is_token(web, cookie, PURPOSE, params.get("csrf"))
    };
    let Some(browser) = cookie.filter(ours) else {
        web.record(AuditEvent::new(context, "login.passkey", "form_refused")).await?;
        let problem = "This form was not sent from our page, or the page was old. Please try again.";
        return page(web, &parts.headers, &params, StatusCode::FORBIDDEN, problem).await;
    };
    let _trying = match web.throttle.try_login(context.ip) {
        Ok(trying) => trying,
        Err(wait) => return Ok(html::too_many(Code::IpBlocked, wait)),
    };
    match proof::passkey(web, None, &browser, &params).await {
        Ok(user) => {
            web.record(AuditEvent::new(context, "login.passkey", "ok").by(format!("user:{}", user.id))).await?;
            SignedIn::start(web, session, &user, Acr::Aal2).await?;
            Ok(html::see_other(return_to::safe(params.get("return_to"))))
        }
        Err(ProofError::Refused(why)) => {
            web.throttle.record_failure(context.ip);
            web.record(AuditEvent::new(context, "login.passkey", why)).await?;
            page(web, &parts.headers, &params, StatusCode::BAD_REQUEST, PASSKEY_REFUSED).await
        }
        Err(ProofError::Internal(error)) => Err(error),
    }
}

async fn page(
    web: &Web,
    headers: &HeaderMap,
    params: &Params,
    status: StatusCode,
    problem: &'static str,
) -> Result<Response> {
    let (browser, fresh) = match csrf::form_cookie(web, headers) {
        Some(value) => (value, None),
        None => csrf::new_form_cookie(web),
    };
    let passkey = match web.identity.has_passkeys() {
        true => Some(web.identity.begin_passkey_proof(None, &browser).await?),
        false => None,
    };
    let to = return_to::safe(params.get("return_to"));
    let ways = Ways {
        action: PATH,
        csrf: csrf::token(web, &browser, PURPOSE),
        return_to: to.to_owned(),
        acr: "",
        email: String::new(),
        passkey,
        totp: false,
        password: false,
        recovery: false,
    };
    let page = PasskeyPage { ways, password_page: return_to::with("/login", to), problem };
    let mut response = html::page_with_script(status, &page);
    if let Some(cookie) = fresh {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
