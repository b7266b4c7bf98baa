//! `/consent`: who asks, for what, for which workspace, and where the browser will be sent.
//!
//! 1. The authorization endpoint, or the page where a device's code is typed, stores the checked request as a
//!    [`Pending`] and sends the browser here with its handle.
//! 2. `GET` shows it for one workspace; other workspaces are links that show it again.
//! 3. `POST` uses the handle up. Everything but the person's choices (workspace, fewer scopes, the switch for AI
//!    clients) comes from the stored request, and the choices are checked against the person's role now.

pub mod choice;
pub mod device;
pub mod pending;
pub mod remembered;

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tower_sessions::Session;

use self::choice::{BLOCKED, Chosen, Gate, choose, open_to};
use self::pending::{Asker, Pending};
use crate::base::clock::millis;
use crate::base::secret::{Secret, sha256_hex};
use crate::identity::clients;
use crate::identity::redirect::{self, Kind};
use crate::identity::workspace_settings::Change;
use crate::model::access::{Role, Scope};
use crate::model::error::{Error, Result};
use crate::model::grant::within_role;
use crate::model::user::Membership;
use crate::surface::browser::csrf;
use crate::surface::browser::destination::answer_url;
use crate::surface::browser::session::SignedIn;
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::web::{AuditEvent, Web};

struct Choice {
    name: String,
    role: Role,
    slug: String,
    chosen: bool,
}

struct ScopeLine {
    name: &'static str,
    meaning: &'static str,
    allowed: bool,
}

#[derive(Template)]
#[template(path = "consent.html", config = "src/surface/askama.toml")]
struct ConsentPage {
    client: String,
    /// Who vouches for the client's name.
    verified_host: Option<String>,
    /// The operator of this service does.
    registered_here: bool,
    client_site: Option<String>,
    /// Where the browser will be sent, and what is there.
    goes_to: Option<(String, Kind)>,
    /// The device that waits instead.
    device: Option<device::Shown>,
    email: String,
    workspaces: Vec<Choice>,
    chosen: Option<Membership>,
    scopes: Vec<ScopeLine>,
    gate: Gate,
    handle: String,
    csrf: String,
    problem: &'static str,
}

impl ConsentPage {
    /// Whether a web address, whose owner is known, will get the answer.
    fn is_web(&self) -> bool {
        matches!(self.goes_to, Some((_, Kind::Https)))
    }
}

/// `GET /consent?request=…[&workspace=slug]`.
pub async fn show(State(web): State<Web>, session: Session, RawQuery(query): RawQuery) -> Response {
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let shown = async {
        let Some(person) = SignedIn::find(&web, &session).await? else { return Ok(gone()) };
        let handle = Secret::new(params.get("request").unwrap_or(""));
        match Pending::peek(&web, &handle, &person).await? {
            Some(asked) => page(&web, &person, &handle, &asked, params.get("workspace"), "").await,
            None => Ok(gone()),
        }
    };
    shown.await.unwrap_or_else(|error: Error| html::failure(&error))
}

/// `POST /consent`.
pub async fn submit(State(web): State<Web>, context: Context, session: Session, request: Request) -> Response {
    answer(&web, &context, &session, request).await.unwrap_or_else(|error| html::failure(&error))
}

async fn answer(web: &Web, context: &Context, session: &Session, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let Some(person) = SignedIn::find(web, session).await? else { return Ok(gone()) };
    let params = Params::of_body(&parts.headers, body).await.unwrap_or_default();
    let handle = Secret::new(params.get("request").unwrap_or(""));
    if !csrf::from_our_pages(web, &parts.headers)
        || !csrf::is_token(web, person.binding(), &purpose(&handle), params.get("csrf"))
    {
        let event = AuditEvent::new(context, "oauth.consent", "form_refused").by(person.principal());
        web.record(event).await?;
        let text = "This form was not sent from our page. Start again from your AI client.";
        return Ok(html::problem(StatusCode::FORBIDDEN, "That did not work", text));
    }
    let Some(asked) = Pending::peek(web, &handle, &person).await? else { return Ok(gone()) };
    let event = |outcome: &str| {
        let target = match &asked.asker {
            Asker::Browser(back) => redirect::shown(&back.redirect_uri),
            Asker::Device(_) => "device".to_owned(),
        };
        AuditEvent::new(context, "oauth.consent", outcome)
            .by(person.principal())
            .client(&asked.client_id)
            .target(target)
    };
    if params.get("decision") != Some("approve") {
        if !Pending::take(web, &handle, &person).await? {
            return Ok(gone());
        }
        web.record(event("access_denied")).await?;
        return deny(web, &asked).await;
    }
    let chosen = match choose(web, &person, &asked, &params).await? {
        Ok(chosen) => chosen,
        // The handle is still good: the person may correct the choice.
        Err(problem) => {
            if problem == BLOCKED {
                web.record(event("client_blocked")).await?;
            }
            return page(web, &person, &handle, &asked, params.get("workspace"), problem).await;
        }
    };
    let org = chosen.membership.org.id;
    if chosen.turn_on && !is_recent(web, &person) {
        web.record(event("step_up_required").org(Some(org))).await?;
        return page(web, &person, &handle, &asked, params.get("workspace"), TOO_OLD).await;
    }
    if !Pending::take(web, &handle, &person).await? {
        return Ok(gone());
    }
    if chosen.turn_on {
        let on = Change { connectivity_enabled: Some(true), ..Change::default() };
        web.identity.change_settings(org, Some(person.user.id), on).await?;
        let event = AuditEvent::new(context, "admin.connectivity", "ok").by(person.principal());
        web.record(event.org(Some(org)).target("on")).await?;
    }
    match approve(web, &person, &asked, chosen).await? {
        Some(response) => web.record(event("ok").org(Some(org))).await.map(|()| response),
        None => web.record(event("gone").org(Some(org))).await.map(|()| gone()),
    }
}

/// The same switch in the settings asks for as much (RFC 9470).
fn is_recent(web: &Web, person: &SignedIn) -> bool {
    let age = web.identity.clock().now() - person.auth_time;
    (0..=millis(web.config.limits.lifetimes.step_up)).contains(&age)
}

const TOO_OLD: &str = "Turning AI clients on needs a sign-in that is more recent. Sign out and in again, or turn them on in \
                       the settings of the workspace; then connect again.";

async fn deny(web: &Web, asked: &Pending) -> Result<Response> {
    let client = html::display_name(&asked.client_name);
    match &asked.asker {
        Asker::Browser(back) => {
            let said = [("error", "access_denied"), ("error_description", "The person did not approve.")];
            let to = answer_url(&web.config, &back.redirect_uri, back.state.as_deref(), &said);
            Ok(html::leave("Not connected", &client, &to))
        }
        Asker::Device(waiting) => {
            web.identity.deny_device(&waiting.digest).await?;
            Ok(device::answered(false, &client))
        }
    }
}

/// The answer to an approval; `None` when the device does not wait any more. A device gets its tokens elsewhere, and not
/// without a record of its own.
async fn approve(web: &Web, person: &SignedIn, asked: &Pending, chosen: Chosen) -> Result<Option<Response>> {
    let client = html::display_name(&asked.client_name);
    let (org, scopes) = (chosen.membership.org.id, chosen.scopes);
    match &asked.asker {
        Asker::Browser(back) => {
            let to = remembered::go_back(web, person, asked, back, org, scopes.clone()).await?;
            remembered::remember(web, person, asked, back, org, &scopes).await?;
            Ok(Some(html::leave("Connected", &client, &to)))
        }
        Asker::Device(waiting) => {
            let approval = asked.approval(person, org, scopes);
            let approved = web.identity.approve_device(&waiting.digest, approval).await?;
            Ok(approved.then(|| device::answered(true, &client)))
        }
    }
}

fn purpose(handle: &Secret) -> String {
    format!("consent:{}", sha256_hex(handle.expose().as_bytes()))
}

/// One answer for a handle that was used, has expired, or is somebody else's (B08).
fn gone() -> Response {
    let text = "This request was already answered, is too old, or belongs to another sign-in. \
                Start again from your AI client.";
    html::problem(StatusCode::BAD_REQUEST, "This request is over", text)
}

async fn page(
    web: &Web,
    person: &SignedIn,
    handle: &Secret,
    asked: &Pending,
    wanted: Option<&str>,
    problem: &'static str,
) -> Result<Response> {
    let memberships = open_to(web, person, asked).await?;
    let chosen = memberships
        .iter()
        .find(|membership| Some(membership.org.slug.as_str()) == wanted)
        .or_else(|| memberships.iter().find(|membership| membership.org.connectivity_enabled))
        .or(memberships.first())
        .cloned();
    let blocked = web.identity.is_blocked(&asked.client_id, chosen.as_ref().map(|chosen| chosen.org.id)).await?;
    let scopes = asked.scopes();
    let allowed = chosen.as_ref().map(|membership| within_role(&scopes, membership.role)).unwrap_or_default();
    let chosen_org = chosen.as_ref().map(|membership| membership.org.id);
    let workspaces = memberships.into_iter().map(|membership| Choice {
        chosen: Some(membership.org.id) == chosen_org,
        name: membership.org.name,
        role: membership.role,
        slug: membership.org.slug,
    });
    let line =
        |scope: &Scope| ScopeLine { name: scope.name(), meaning: scope.meaning(), allowed: allowed.contains(scope) };
    let (goes_to, device) = match &asked.asker {
        Asker::Browser(back) => {
            let kind = redirect::kind(&back.redirect_uri).unwrap_or(Kind::UnknownApp);
            (Some((redirect::shown(&back.redirect_uri), kind)), None)
        }
        Asker::Device(waiting) => (None, Some(device::Shown::new(waiting, web.identity.clock().now()))),
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = ConsentPage {
        client: html::display_name(&asked.client_name),
        verified_host: clients::verified_host(&asked.client_id),
        registered_here: web.identity.is_confidential(&asked.client_id).await?,
        client_site: asked
            .client_site
            .as_deref()
            .filter(|uri| redirect::kind(uri) == Ok(Kind::Https))
            .map(redirect::shown),
        goes_to,
        device,
        email: person.user.email.clone(),
        workspaces: workspaces.collect(),
        gate: Gate::of(chosen.as_ref(), &allowed, blocked),
        chosen,
        scopes: scopes.iter().map(line).collect(),
        csrf: csrf::token(web, person.binding(), &purpose(handle)),
        handle: handle.expose().to_owned(),
        problem,
    };
    Ok(html::page(status, &page))
}
