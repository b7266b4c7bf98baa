//! `/account/providers`: the person's sign-ins at other providers: to see, to link, to unlink.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::base::clock::{Millis, millis, rfc3339};
use crate::identity::upstream::{Errand, Unlinking, Waiting};
use crate::model::error::Result;
use crate::surface::browser::cookies;
use crate::surface::browser::return_to::{self, SignIn};
use crate::surface::browser::upstream::{self, cookie};
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::console::frame::{Frame, Place};
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

/// What the form token is for.
const PURPOSE: &str = "account.providers";
const HERE: &str = "/account/providers";

/// A linked sign-in.
struct Linked {
    provider: String,
    issuer: String,
    subject: String,
    email: String,
    since: String,
    last_used: String,
}

/// A provider that could be linked.
struct Open {
    id: &'static str,
    name: String,
    issuer: String,
}

#[derive(Template)]
#[template(path = "account_providers.html", config = "src/surface/askama.toml")]
struct ProvidersPage {
    frame: Frame,
    linked: Vec<Linked>,
    open: Vec<Open>,
    csrf: String,
    problem: &'static str,
}

#[derive(Template)]
#[template(path = "account_confirm.html", config = "src/surface/askama.toml")]
struct ConfirmPage {
    frame: Frame,
    provider: String,
    issuer: String,
    email: String,
    account: String,
    csrf: String,
}

/// `GET`.
pub async fn show(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    page(&web, &visit, StatusCode::OK, "").await.map_err(|error| html::failure(&error))
}

/// `POST`: off to a provider, to link it.
pub async fn link(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let headers = request.headers().clone();
    let (visit, params) = Visit::form(&web, &door.session, door.context, PURPOSE, request).await?;
    if let Some(response) = too_long_ago(&web, &visit, HERE) {
        return Err(response);
    }
    let errand = Errand::Link { user: visit.person.user.id, session_hash: visit.person.session_hash() };
    let provider = params.get("provider").unwrap_or("");
    match upstream::leave(&web, &headers, provider, errand).await {
        Ok(response) => Ok(response),
        Err(stop) => {
            let event = AuditEvent::new(&visit.context, "account.link", stop.outcome()).by(visit.person.principal());
            let recorded = web.record(event.target(upstream::known(&web, provider))).await;
            Err(recorded.map_or_else(|error| html::failure(&error), |()| stop.page()))
        }
    }
}

/// `POST …/unlink`.
pub async fn unlink(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, params) = Visit::form(&web, &door.session, door.context, PURPOSE, request).await?;
    if let Some(response) = too_long_ago(&web, &visit, HERE) {
        return Err(response);
    }
    let (issuer, subject) = (params.get("issuer").unwrap_or(""), params.get("subject").unwrap_or(""));
    unlinked(&web, &visit, issuer, subject).await.map_err(|error| html::failure(&error))
}

async fn unlinked(web: &Web, visit: &Visit, issuer: &str, subject: &str) -> Result<Response> {
    let done = web.identity.unlink(visit.person.user.id, issuer, subject).await?;
    let event = |outcome: &str| AuditEvent::new(&visit.context, "account.unlink", outcome).by(visit.person.principal());
    match done {
        Unlinking::Done => {
            web.record(event("ok").target(issuer)).await?;
            // Whoever else could sign in there goes with it.
            web.identity.end_other_browser_sessions(visit.person.user.id, &visit.person.session_hash()).await?;
            Ok(html::see_other(HERE))
        }
        Unlinking::LastWay => {
            web.record(event("last_way").target(issuer)).await?;
            let problem = "This is your only way to sign in. Set a password or add a passkey first.";
            page(web, visit, StatusCode::CONFLICT, problem).await
        }
        Unlinking::NotTheirs => {
            web.record(event("not_found")).await?;
            page(web, visit, StatusCode::NOT_FOUND, "That sign-in is not linked to your account.").await
        }
    }
}

/// `GET …/confirm`: the person signed in to their account, coming from a provider that it is not linked to.
pub async fn ask(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    let Some(waiting) = waiting(&web, request.headers()) else { return Ok(html::see_other(HERE)) };
    question(&web, &visit, waiting).await.map_err(|error| html::failure(&error))
}

async fn question(web: &Web, visit: &Visit, waiting: Waiting) -> Result<Response> {
    let foreigner = waiting.foreigner;
    let page = ConfirmPage {
        frame: Frame::new(web, visit, Place::Account("/providers")).await?,
        provider: web.identity.provider(&foreigner.provider).map_or_else(String::new, |found| found.name.clone()),
        email: foreigner.email.unwrap_or_default(),
        issuer: foreigner.issuer,
        account: visit.person.user.email.clone(),
        csrf: visit.csrf(web, &purpose(&foreigner.subject)),
    };
    Ok(html::page(StatusCode::OK, &page))
}

/// `POST …/confirm`.
pub async fn confirm(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let waiting = waiting(&web, request.headers());
    let purpose = purpose(waiting.as_ref().map_or("", |waiting| &waiting.foreigner.subject));
    let (visit, params) = Visit::form(&web, &door.session, door.context, &purpose, request).await?;
    let Some(waiting) = waiting else { return Ok(html::see_other(HERE)) };
    if let Some(response) = too_long_ago(&web, &visit, "/account/providers/confirm") {
        return Err(response);
    }
    let mut response = html::see_other(return_to::safe(Some(&waiting.return_to)));
    if params.get("decision") == Some("link")
        && let Err(stop) = upstream::link(&web, &visit.context, &visit.person, &waiting.foreigner).await
    {
        let event = AuditEvent::new(&visit.context, "account.link", stop.outcome()).by(visit.person.principal());
        response = match web.record(event.target(upstream::known(&web, &waiting.foreigner.provider))).await {
            Ok(()) => stop.page(),
            Err(error) => html::failure(&error),
        };
    }
    cookie::remove(&web, &mut response, &cookie::waiting(&web));
    Ok(response)
}

/// The token is for linking this sign-in: another one that took its place meanwhile was not asked about.
fn purpose(subject: &str) -> String {
    format!("{PURPOSE}:{}", crate::base::secret::sha256_hex(subject.as_bytes()))
}

fn waiting(web: &Web, headers: &axum::http::HeaderMap) -> Option<Waiting> {
    web.identity.open_waiting(cookies::read(headers, &cookie::waiting(web))?)
}

/// Who changes how an account is signed in to has signed in lately; others are asked to, and come back.
fn too_long_ago(web: &Web, visit: &Visit, back: &str) -> Option<Response> {
    let fresh = millis(web.config.limits.lifetimes.step_up);
    let old = web.identity.clock().now() - visit.person.auth_time > fresh;
    old.then(|| SignIn { least: None, to: back.to_owned() }.answer())
}

async fn page(web: &Web, visit: &Visit, status: StatusCode, problem: &'static str) -> Result<Response> {
    let configured = &web.config.providers;
    let linked = web.identity.upstream_identities(visit.person.user.id).await?.into_iter().map(|identity| {
        let provider = configured.iter().find(|provider| provider.issuer == identity.issuer);
        let day = |at: Millis| rfc3339(at).chars().take(10).collect();
        Linked {
            provider: provider.map_or_else(|| identity.issuer.clone(), |provider| provider.name.clone()),
            email: identity.email,
            since: day(identity.created_at),
            last_used: day(identity.last_used_at),
            issuer: identity.issuer,
            subject: identity.subject,
        }
    });
    let page = ProvidersPage {
        frame: Frame::new(web, visit, Place::Account("/providers")).await?,
        linked: linked.collect(),
        open: configured
            .iter()
            .map(|provider| Open { id: provider.id, name: provider.name.clone(), issuer: provider.issuer.clone() })
            .collect(),
        csrf: visit.csrf(web, PURPOSE),
        problem,
    };
    Ok(html::page(status, &page))
}
