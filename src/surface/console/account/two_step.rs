//! `/account/two-step`: one-time passwords from an app, and recovery codes.
//!
//! Turning on: a key is made and shown; the first right code of it turns two-step sign-in on, and recovery codes are
//! shown once. All changes need a fresh proof, and from a person with a second factor the second factor.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use qrcode::QrCode;
use qrcode::render::svg;
use tower_sessions::Session;

use crate::base::secret::Secret;
use crate::identity::factors::Factors;
use crate::identity::totp::{Confirmed, TotpKey};
use crate::model::acr::Acr;
use crate::model::error::{Code, Error, Result};
use crate::surface::browser::return_to;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

const PATH: &str = "/account/two-step";
const PURPOSE: &str = "two-step settings";

#[derive(Template)]
#[template(path = "account_two_step.html", config = "src/surface/askama.toml")]
struct TwoStepPage {
    frame: Frame,
    factors: Factors,
    /// Where to prove oneself, when a change needs that first.
    first: Option<String>,
    csrf: String,
    problem: String,
}

#[derive(Template)]
#[template(path = "account_totp_key.html", config = "src/surface/askama.toml")]
struct KeyPage {
    frame: Frame,
    csrf: String,
    picture: String,
    key: String,
    problem: &'static str,
}

#[derive(Template)]
#[template(path = "account_recovery_codes.html", config = "src/surface/askama.toml")]
struct CodesPage {
    codes: Vec<Secret>,
    done: &'static str,
    back: &'static str,
}

/// Whether the visitor may change their factors now: a fresh proof, and not one that is weaker than what they change.
pub(super) async fn may_change(web: &Web, visit: &Visit) -> Result<(), Response> {
    let factors = web.identity.factors(visit.person.user.id).await.map_err(|error| html::failure(&error))?;
    visit.fresh_as(web, least(factors)).await
}

fn least(factors: Factors) -> Acr {
    if factors.any() { Acr::Aal2 } else { Acr::Aal1 }
}

/// Where to prove oneself before a change, if that is needed.
pub(super) fn first(web: &Web, visit: &Visit, factors: Factors, page: &str) -> Option<String> {
    let least = least(factors);
    let ready = visit.is_fresh(web) && visit.person.acr >= least;
    (!ready).then(|| return_to::confirmed(page, least))
}

/// The recovery codes, once. Without the frame: the session may just have got a new id, and its forms would be of the
/// old one.
fn codes_page(visit: &Visit, codes: Vec<Secret>, done: &'static str, back: &'static str) -> Response {
    visit.once(html::page(StatusCode::OK, &CodesPage { codes, done, back }), back)
}

pub async fn show(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    page(&web, &visit, StatusCode::OK, "").await.map_err(|error| html::failure(&error))
}

async fn page(web: &Web, visit: &Visit, status: StatusCode, problem: &str) -> Result<Response> {
    let factors = web.identity.factors(visit.person.user.id).await?;
    let page = TwoStepPage {
        frame: Frame::new(web, visit, Place::Account("/two-step")).await?,
        factors,
        first: first(web, visit, factors, PATH),
        csrf: visit.csrf(web, PURPOSE),
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}

/// The visitor of a form that may change factors.
async fn changing(web: &Web, door: Door, request: Request) -> Result<(Visit, Session, Params), Response> {
    let session = door.session.clone();
    let (visit, params) = Visit::form(web, &door.session, door.context, PURPOSE, request).await?;
    may_change(web, &visit).await?;
    Ok((visit, session, params))
}

pub async fn start(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, ..) = changing(&web, door, request).await?;
    let started = async {
        match web.identity.begin_totp(&visit.person.user).await {
            Ok(key) => {
                record(&web, &visit, "account.totp", "ok", "started").await?;
                Ok(visit.once(key_page(&web, &visit, &key, StatusCode::OK, "").await?, PATH))
            }
            Err(error) if error.code == Code::InvalidArgument => {
                record(&web, &visit, "account.totp", "invalid_argument", "started").await?;
                page(&web, &visit, StatusCode::BAD_REQUEST, &error.message).await
            }
            Err(error) => Err(error),
        }
    };
    started.await.map_err(|error| html::failure(&error))
}

async fn key_page(
    web: &Web,
    visit: &Visit,
    key: &TotpKey,
    status: StatusCode,
    problem: &'static str,
) -> Result<Response> {
    let page = KeyPage {
        frame: Frame::new(web, visit, Place::Account("/two-step")).await?,
        csrf: visit.csrf(web, PURPOSE),
        picture: picture(key.address.expose())?,
        key: in_fours(key.text.expose()),
        problem,
    };
    Ok(html::page(status, &page))
}

pub async fn confirm_code(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, session, params) = changing(&web, door, request).await?;
    let confirmed = async {
        let person = &visit.person;
        let code = Secret::new(params.get("code").unwrap_or(""));
        match web.identity.confirm_totp(person.user.id, &code).await {
            Ok(Confirmed::On(codes)) => {
                record(&web, &visit, "account.totp", "ok", "on").await?;
                // The session has shown both factors now.
                person.renew(&web, &session, Acr::Aal2).await?;
                Ok(finished(&visit, codes, "Two-step sign-in is on.", PATH))
            }
            Ok(Confirmed::Wrong) => {
                record(&web, &visit, "account.totp", "auth_invalid", "on").await?;
                match web.identity.unconfirmed_totp(&person.user).await? {
                    Some(key) => {
                        let problem = "The code is not right. Check the clock of your device, and try the next code.";
                        key_page(&web, &visit, &key, StatusCode::UNPROCESSABLE_ENTITY, problem).await
                    }
                    None => page(&web, &visit, StatusCode::BAD_REQUEST, "Start again.").await,
                }
            }
            Err(error) => {
                record(&web, &visit, "account.totp", error.code.info().name, "on").await?;
                Err(error)
            }
        }
    };
    confirmed.await.map_err(|error| html::failure(&error))
}

/// After a first factor: its recovery codes, where there are new ones.
pub(super) fn finished(visit: &Visit, codes: Vec<Secret>, done: &'static str, page: &'static str) -> Response {
    if codes.is_empty() { html::see_other(page) } else { codes_page(visit, codes, done, page) }
}

pub async fn turn_off(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, ..) = changing(&web, door, request).await?;
    let ended = async {
        let was_on = web.identity.end_totp(visit.person.user.id).await?;
        record(&web, &visit, "account.totp", if was_on { "ok" } else { "not_found" }, "off").await?;
        Ok(html::see_other(PATH))
    };
    ended.await.map_err(|error: Error| html::failure(&error))
}

pub async fn new_codes(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, ..) = changing(&web, door, request).await?;
    let made = async {
        match web.identity.new_recovery_codes(visit.person.user.id).await {
            Ok(codes) => {
                record(&web, &visit, "account.recovery_codes", "ok", "replaced").await?;
                Ok(codes_page(&visit, codes, "Your earlier recovery codes work no more.", PATH))
            }
            Err(error) => {
                record(&web, &visit, "account.recovery_codes", error.code.info().name, "replaced").await?;
                Err(error)
            }
        }
    };
    made.await.map_err(|error| html::failure(&error))
}

pub(super) async fn record(
    web: &Web,
    visit: &Visit,
    action: &'static str,
    outcome: &'static str,
    target: &str,
) -> Result<()> {
    web.record(AuditEvent::new(&visit.context, action, outcome).by(visit.person.principal()).target(target)).await
}

/// The code as a picture within the page: nothing is fetched.
fn picture(address: &str) -> Result<String> {
    let code = QrCode::new(address).map_err(Error::internal)?;
    let svg = code.render::<svg::Color<'_>>().min_dimensions(220, 220).build();
    Ok(format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg)))
}

/// `ABCD EFGH …`: how people copy it.
fn in_fours(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}
