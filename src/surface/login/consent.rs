//! `/consent`: who asks, for what, for which workspace, and where the browser will be sent.
//!
//! 1. The authorization endpoint stores the checked request as a [`Pending`] and sends the browser here with its handle.
//! 2. `GET` shows it for one workspace; other workspaces are links that show it again.
//! 3. `POST` uses the handle up. Everything but the person's choices (workspace, fewer scopes, the switch for AI
//!    clients) comes from the stored request, and the choices are checked against the person's role now.

use askama::Template;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::base::secret::{Secret, random_token, sha256_hex};
use crate::identity::clients;
use crate::identity::grants::Approval;
use crate::identity::redirect::{self, Kind};
use crate::model::access::{Role, Scope};
use crate::model::error::{Error, Result};
use crate::model::grant::{parse_scopes, within_role};
use crate::model::org::Org;
use crate::model::user::Membership;
use crate::store::pending::{self, PendingKey};
use crate::surface::context::Context;
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::login::csrf;
use crate::surface::login::session::SignedIn;
use crate::surface::oauth::{answer_url, denial_url};
use crate::surface::web::{AuditEvent, Web};

/// A checked authorization request that waits for the person's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pending {
    pub client_id: String,
    /// As it was when the request was checked; the document of a client may change at any time.
    pub client_name: String,
    pub client_site: Option<String>,
    pub redirect_uri: String,
    pub state: Option<String>,
    /// Canonical; the audience of the tokens.
    pub resource: String,
    /// As a `scope` value.
    pub scope: String,
    pub code_challenge: String,
    /// The only workspace that may be chosen, when the resource names one.
    pub org: Option<Id<Org>>,
}

impl Pending {
    /// Stores the request for this person in this browser; returns the path of its page.
    pub async fn store(&self, web: &Web, person: &SignedIn) -> Result<String> {
        let handle = random_token("");
        let data = serde_json::to_string(self).map_err(Error::internal)?;
        let now = web.identity.clock().now();
        let life = Millis::try_from(web.config.limits.lifetimes.consent.as_millis()).unwrap_or(0);
        let pool = web.identity.db().pool();
        pending::sweep(pool, now).await?;
        pending::create(pool, &key(&handle, person), &data, now.saturating_add(life)).await?;
        Ok(format!("/consent?request={}", handle.expose()))
    }

    fn scopes(&self) -> Vec<Scope> {
        parse_scopes(&self.scope).unwrap_or_default()
    }
}

fn key(handle: &Secret, person: &SignedIn) -> PendingKey {
    let handle_hash = sha256_hex(handle.expose().as_bytes());
    PendingKey { handle_hash, session_hash: person.session_hash(), user: person.user.id }
}

/// Whether the person can approve for the shown workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Open,
    /// The switch for AI clients is off; the person may turn it on.
    AdminCanOpen,
    /// The switch is off, and only an admin may turn it on.
    Closed,
    /// Nothing that the client asks for is within the person's role.
    NoRights,
    /// The client may not be used in this workspace.
    Blocked,
    NoWorkspace,
}

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
    goes_to: String,
    kind: Kind,
    email: String,
    workspaces: Vec<Choice>,
    chosen: Option<Membership>,
    scopes: Vec<ScopeLine>,
    gate: Gate,
    handle: String,
    csrf: String,
    problem: &'static str,
}

/// `GET /consent?request=…[&workspace=slug]`.
pub async fn show(State(web): State<Web>, session: Session, RawQuery(query): RawQuery) -> Response {
    let params = Params::parse(&query.unwrap_or_default()).unwrap_or_default();
    let shown = async {
        let Some(person) = SignedIn::find(&web, &session).await? else { return Ok(gone()) };
        let handle = Secret::new(params.get("request").unwrap_or(""));
        let now = web.identity.clock().now();
        match pending::peek(web.identity.db().pool(), &key(&handle, &person), now).await? {
            Some(data) => page(&web, &person, &handle, &read(&data)?, params.get("workspace"), "").await,
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
    let (pool, now) = (web.identity.db().pool(), web.identity.clock().now());
    let key = key(&handle, &person);
    let Some(data) = pending::peek(pool, &key, now).await? else { return Ok(gone()) };
    let asked = read(&data)?;
    let event = |outcome: &str| {
        let target = redirect::shown(&asked.redirect_uri);
        AuditEvent::new(context, "oauth.consent", outcome)
            .by(person.principal())
            .client(&asked.client_id)
            .target(target)
    };
    if params.get("decision") != Some("approve") {
        if pending::take(pool, &key, now).await?.is_none() {
            return Ok(gone());
        }
        web.record(event("access_denied")).await?;
        let to = denial_url(&web.config, &asked, "The person did not approve.");
        return Ok(html::leave("Not connected", &html::display_name(&asked.client_name), &to));
    }
    let choice = match choose(web, &person, &asked, &params).await? {
        Ok(choice) => choice,
        // The handle is still good: the person may correct the choice.
        Err(problem) => {
            if problem == BLOCKED {
                web.record(event("client_blocked")).await?;
            }
            return page(web, &person, &handle, &asked, params.get("workspace"), problem).await;
        }
    };
    if pending::take(pool, &key, now).await?.is_none() {
        return Ok(gone());
    }
    let org = choice.membership.org;
    if choice.turn_on {
        web.identity.set_connectivity(org.id, true).await?;
        let event = AuditEvent::new(context, "admin.connectivity", "ok").by(person.principal());
        web.record(event.org(Some(org.id)).target("on")).await?;
    }
    let approval = Approval {
        client_id: asked.client_id.clone(),
        user: person.user.id,
        org: org.id,
        scopes: choice.scopes,
        resource: asked.resource.clone(),
        redirect_uri: asked.redirect_uri.clone(),
        code_challenge: asked.code_challenge.clone(),
        auth_time: person.auth_time,
    };
    let code = web.identity.approve(approval).await?;
    web.record(event("ok").org(Some(org.id))).await?;
    let to = answer_url(&web.config, &asked.redirect_uri, asked.state.as_deref(), &[("code", code.expose())]);
    Ok(html::leave("Connected", &html::display_name(&asked.client_name), &to))
}

const BLOCKED: &str = "This program is blocked in this workspace.";

/// What the person chose, checked against their role as it is now.
struct Chosen {
    membership: Membership,
    scopes: Vec<Scope>,
    turn_on: bool,
}

async fn choose(
    web: &Web,
    person: &SignedIn,
    asked: &Pending,
    params: &Params,
) -> Result<std::result::Result<Chosen, &'static str>> {
    let slug = params.get("workspace").unwrap_or("");
    let memberships = open_to(web, person, asked).await?;
    let Some(membership) = memberships.into_iter().find(|membership| membership.org.slug == slug) else {
        return Ok(Err("Choose one of your workspaces."));
    };
    let mut scopes = within_role(&asked.scopes(), membership.role);
    let turn_on = match gate(web, asked, Some(&membership), &scopes).await? {
        Gate::Open => false,
        Gate::AdminCanOpen if params.get("enable") == Some("1") => true,
        Gate::AdminCanOpen => return Ok(Err("Tick the box that lets AI clients connect to this workspace.")),
        Gate::Blocked => return Ok(Err(BLOCKED)),
        Gate::Closed | Gate::NoRights | Gate::NoWorkspace => return Ok(Err("This cannot be approved.")),
    };
    scopes.retain(|scope| params.all("scope").any(|kept| kept == scope.name()));
    if scopes.is_empty() {
        return Ok(Err("Leave at least one right ticked, or cancel."));
    }
    Ok(Ok(Chosen { membership, scopes, turn_on }))
}

/// The person's workspaces that the request may be approved for.
async fn open_to(web: &Web, person: &SignedIn, asked: &Pending) -> Result<Vec<Membership>> {
    let mut memberships = web.identity.memberships(person.user.id).await?;
    memberships.retain(|membership| asked.org.is_none_or(|org| org == membership.org.id));
    Ok(memberships)
}

async fn gate(web: &Web, asked: &Pending, membership: Option<&Membership>, allowed: &[Scope]) -> Result<Gate> {
    let org = membership.map(|membership| membership.org.id);
    let blocked = web.identity.is_blocked(&asked.client_id, org).await?;
    Ok(match membership {
        None => Gate::NoWorkspace,
        Some(_) if blocked => Gate::Blocked,
        Some(_) if allowed.is_empty() => Gate::NoRights,
        Some(membership) if membership.org.connectivity_enabled => Gate::Open,
        Some(membership) if membership.role == Role::Admin => Gate::AdminCanOpen,
        Some(_) => Gate::Closed,
    })
}

fn purpose(handle: &Secret) -> String {
    format!("consent:{}", sha256_hex(handle.expose().as_bytes()))
}

fn read(data: &str) -> Result<Pending> {
    serde_json::from_str(data).map_err(Error::internal)
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
        goes_to: redirect::shown(&asked.redirect_uri),
        kind: redirect::kind(&asked.redirect_uri).unwrap_or(Kind::UnknownApp),
        email: person.user.email.clone(),
        workspaces: workspaces.collect(),
        gate: gate(web, asked, chosen.as_ref(), &allowed).await?,
        chosen,
        scopes: scopes.iter().map(line).collect(),
        csrf: csrf::token(web, person.binding(), &purpose(handle)),
        handle: handle.expose().to_owned(),
        problem,
    };
    Ok(html::page(status, &page))
}
