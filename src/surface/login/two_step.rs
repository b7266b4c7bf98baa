//! `/login/two-step`: what follows a right first factor of a person who has a second.
//!
//! Between the two, the browser carries a sealed stage: the person, for ten minutes, for this browser. It is no session,
//! and good for nothing but this page.

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use tower_sessions::Session;

use crate::base::clock::Millis;
use crate::base::secret::same;
use crate::identity::factors::Stage;
use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::model::user::User;
use crate::surface::browser::session::SignedIn;
use crate::surface::browser::{cookies, csrf, return_to};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::proof::{self, Outcome, Ways};
use crate::surface::web::{AuditEvent, Web};

const PATH: &str = "/login/two-step";
const PURPOSE: &str = "two-step";

#[derive(Template)]
#[template(path = "two_step.html", config = "src/surface/askama.toml")]
struct TwoStepPage {
    ways: Ways,
    problem: &'static str,
}

/// A right first factor.
#[derive(Clone, Copy, Debug)]
pub enum First<'a> {
    /// The password with this stamp.
    Password(&'a str),
    /// A sign-in at another provider, at this time.
    Elsewhere(Millis),
}

/// What follows a right first factor: the second, where the person has one, else their session. Every way of signing in
/// with one factor ends here. `browser` is the form cookie.
///
/// # Errors
/// The database fails.
pub async fn begin(
    web: &Web,
    session: &Session,
    browser: &str,
    user: &User,
    first: First<'_>,
    to: Option<&str>,
) -> Result<Response> {
    let to = return_to::safe(to);
    let stamp = match first {
        First::Password(stamp) => Some(stamp),
        First::Elsewhere(_) => None,
    };
    if !web.identity.factors(user.id).await?.any() {
        start(web, session, user, Acr::Aal1, stamp).await?;
        if let First::Elsewhere(auth_time) = first {
            SignedIn::proved_elsewhere(session, auth_time).await?;
        }
        return Ok(html::see_other(to));
    }
    let stage = Stage { user: user.id, stamp: stamp.map(str::to_owned) };
    let stage = web.identity.stage(&stage, browser)?;
    let mut response = html::see_other(&return_to::with(PATH, to));
    set_stage(web, &mut response, &stage)?;
    Ok(response)
}

/// `GET /login/two-step?return_to=…`.
pub async fn show(State(web): State<Web>, context: Context, headers: HeaderMap, RawQuery(query): RawQuery) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let shown = async {
        match staged(&web, &headers).await? {
            Some((browser, user, _)) => page(&web, &browser, &user, &params, StatusCode::OK, "").await,
            None => Ok(start_again(&params)),
        }
    };
    shown.await.unwrap_or_else(|error: Error| html::failure(&error))
}

/// `POST /login/two-step`.
pub async fn submit(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    if let Err(wait) = web.throttle.check_login(context.ip) {
        return html::too_many(Code::IpBlocked, wait);
    }
    answer(&web, &context, &session, request).await.unwrap_or_else(|error| html::failure(&error))
}

async fn answer(web: &Web, context: &Context, session: &Session, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    let Some((browser, user, stamp)) = staged(web, &parts.headers).await? else { return Ok(start_again(&params)) };
    if !csrf::from_our_pages(web, &parts.headers) || !csrf::is_token(web, &browser, PURPOSE, params.get("csrf")) {
        web.record(AuditEvent::new(context, "login.two_step", "form_refused")).await?;
        let problem = "This form was not sent from our page, or the page was old. Please try again.";
        return page(web, &browser, &user, &params, StatusCode::FORBIDDEN, problem).await;
    }
    if params.get("way") == Some("password") {
        return page(web, &browser, &user, &params, StatusCode::BAD_REQUEST, "A second step is needed.").await;
    }
    match proof::check(web, context, &parts.headers, &user, &browser, &params, "log-in").await? {
        Outcome::Proven(acr) => {
            start(web, session, &user, acr, stamp.as_deref()).await?;
            let mut response = html::see_other(return_to::safe(params.get("return_to")));
            set_stage(web, &mut response, "")?;
            Ok(response)
        }
        Outcome::Refused(status, problem) => page(web, &browser, &user, &params, status, problem).await,
        Outcome::Wait(page) => Ok(page),
    }
}

async fn page(
    web: &Web,
    browser: &str,
    user: &User,
    params: &Params,
    status: StatusCode,
    problem: &'static str,
) -> Result<Response> {
    let to = return_to::safe(params.get("return_to"));
    let ways = Ways::of(web, user, browser, PATH, PURPOSE, to).await?;
    Ok(html::page_with_script(status, &TwoStepPage { ways, problem }))
}

/// The browser's secret, the person whose first factor was right, and the stamp of a password. A new password, or a
/// suspension, ends what was begun before.
async fn staged(web: &Web, headers: &HeaderMap) -> Result<Option<(String, User, Option<String>)>> {
    let Some(browser) = csrf::form_cookie(web, headers) else { return Ok(None) };
    let stage = cookies::read(headers, &cookies::name(&web.config, STAGE))
        .and_then(|stage| web.identity.staged(stage, &browser));
    let Some(Stage { user, stamp }) = stage else { return Ok(None) };
    let Some((user, now)) = web.identity.active_user(user).await? else { return Ok(None) };
    let holds = stamp.as_ref().is_none_or(|stamp| same(stamp.as_bytes(), now.as_bytes()));
    Ok(holds.then_some((browser, user, stamp)))
}

/// A session, which a new password ends when one opened it.
async fn start(web: &Web, session: &Session, user: &User, acr: Acr, stamp: Option<&str>) -> Result<()> {
    SignedIn::start(web, session, user, acr).await?;
    match stamp {
        Some(stamp) => SignedIn::bind_to_password(session, stamp).await,
        None => Ok(()),
    }
}

fn start_again(params: &Params) -> Response {
    html::see_other(&return_to::with("/login", return_to::safe(params.get("return_to"))))
}

const STAGE: &str = "dragoman-step";

/// Keeps the stage in the browser, or with an empty one takes it away.
fn set_stage(web: &Web, response: &mut Response, stage: &str) -> Result<()> {
    let age = stage.is_empty().then_some(Duration::ZERO);
    let line = cookies::line(&web.config, STAGE, stage, age);
    let value = line.ok_or_else(|| Error::internal("a stage is not fit for a cookie"))?;
    response.headers_mut().append(header::SET_COOKIE, value);
    Ok(())
}
