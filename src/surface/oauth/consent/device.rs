//! `/device`: a person types the code that a device shows them (RFC 8628 §3.3). What is asked they see, and decide, on
//! the consent page; a link that brings the code fills in the form, and goes no further by itself.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::base::clock::Millis;
use crate::base::id::Id;
use crate::identity::device::Waiting;
use crate::model::error::{Code, Result};
use crate::model::org::Org;
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::form::Params;
use crate::surface::html;
use crate::surface::oauth::consent::pending::{Asker, Device, Pending};
use crate::surface::resource::Resource;
use crate::surface::web::{AuditEvent, Web};

/// The page's path.
pub const PAGE: &str = "/device";
/// What the form token is for.
const PURPOSE: &str = "device";
/// Characters of a typed code that are shown again.
const SHOWN: usize = 64;

#[derive(Template)]
#[template(path = "device.html", config = "src/surface/askama.toml")]
struct CodePage<'a> {
    email: &'a str,
    csrf: String,
    user_code: String,
    /// The code came with a link.
    brought: bool,
    problem: &'a str,
}

#[derive(Template)]
#[template(path = "answered.html", config = "src/surface/askama.toml")]
struct AnsweredPage<'a> {
    approved: bool,
    client: &'a str,
}

/// What a person must know of a device before they answer it.
pub struct Shown {
    pub ip: String,
    /// As `3 minutes ago`.
    pub ago: String,
}

impl Shown {
    pub fn new(device: &Device, now: Millis) -> Self {
        let ago = match (now - device.asked_at) / 60_000 {
            ..=0 => "less than a minute ago".to_owned(),
            1 => "a minute ago".to_owned(),
            minutes => format!("{minutes} minutes ago"),
        };
        Self { ip: device.ip.clone(), ago }
    }
}

/// `GET /device[?user_code=…]`.
pub async fn show(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let visit = Visit::of(&web, &door.session, door.context, &request).await?;
    let params = Params::parse(request.uri().query().unwrap_or("")).unwrap_or_default();
    let brought = params.get("user_code").is_some();
    Ok(page(&web, &visit, StatusCode::OK, &params, brought, ""))
}

/// `POST /device`.
pub async fn submit(State(web): State<Web>, door: Door, request: Request) -> html::Result {
    let (visit, params) = Visit::form(&web, &door.session, door.context, PURPOSE, request).await?;
    find(&web, &visit, &params).await.map_err(|error| html::failure(&error))
}

/// From the code to the consent page.
async fn find(web: &Web, visit: &Visit, params: &Params) -> Result<Response> {
    let (person, ip) = (&visit.person, visit.context.ip);
    let event = |outcome| AuditEvent::new(&visit.context, "oauth.device", outcome).by(person.principal());
    if let Err(wait) = web.throttle.try_code(&person.session_hash(), ip) {
        web.record(event("rate_limited")).await?;
        return Ok(html::too_many(Code::RateLimited, wait));
    }
    let Some(waiting) = web.identity.waiting_device(params.get("user_code").unwrap_or("")).await? else {
        web.record(event("unknown_code")).await?;
        let problem = "This code is not right, was used already, or is too old. Look at your device again.";
        return Ok(page(web, visit, StatusCode::UNPROCESSABLE_ENTITY, params, false, problem));
    };
    web.throttle.code_was_right(&person.session_hash(), ip);
    let client = waiting.client_id.clone();
    let Some(org) = workspace(web, visit, &waiting.resource).await? else {
        web.record(event("access_denied").client(client)).await?;
        let text = "The device asks for a workspace that is not open to you.";
        return Ok(html::problem(StatusCode::FORBIDDEN, "That did not work", text));
    };
    let path = pending(waiting, org).store(web, person).await?;
    web.record(event("ok").client(client).org(org)).await?;
    Ok(html::see_other(&path))
}

/// The only workspace that may be chosen, if the resource names one; `None` when it is not open to the person: the same
/// for a workspace that is another's and for one that does not exist (A17).
async fn workspace(web: &Web, visit: &Visit, resource: &str) -> Result<Option<Option<Id<Org>>>> {
    let slug = match Resource::parse(&web.config, resource) {
        Some(Resource::Any) => return Ok(Some(None)),
        Some(Resource::Workspace(slug)) => slug,
        None => return Ok(None),
    };
    let memberships = web.identity.memberships(visit.person.user.id).await?;
    let found = memberships.into_iter().find(|membership| membership.org.slug == slug);
    Ok(found.map(|membership| Some(membership.org.id)))
}

fn pending(waiting: Waiting, org: Option<Id<Org>>) -> Pending {
    let Waiting { digest, client_id, client_name, scope, resource, ip, asked_at } = waiting;
    let asker = Asker::Device(Device { digest, ip, asked_at });
    Pending { client_id, client_name, client_site: None, resource, scope, org, asker }
}

fn page(web: &Web, visit: &Visit, status: StatusCode, params: &Params, brought: bool, problem: &str) -> Response {
    let page = CodePage {
        email: &visit.person.user.email,
        csrf: visit.csrf(web, PURPOSE),
        user_code: params.get("user_code").unwrap_or("").chars().take(SHOWN).collect(),
        brought,
        problem,
    };
    html::page(status, &page)
}

/// The last page here: the device goes on by itself.
pub fn answered(approved: bool, client: &str) -> Response {
    html::page(StatusCode::OK, &AnsweredPage { approved, client })
}
