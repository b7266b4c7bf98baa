//! `/w/{slug}/connect`: choose an AI client, follow its guide, see it arrive, and test the way that it goes.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::identity::connectivity::is_public_id;
use crate::model::access::{ExtScope, Role};
use crate::model::error::{Error, Result};
use crate::ops::connectivity::checkpoints::{Checkpoints, Seen, State as CheckpointState};
use crate::ops::connectivity::guide::{Class, Guide, Setup};
use crate::ops::connectivity::guides::GUIDES;
use crate::ops::connectivity::place::Place;
use crate::ops::connectivity::report::{Outcome, Report};
use crate::ops::connectivity::setup::GenerateSetup;
use crate::ops::connectivity::status::{ConnectivityStatus, Status};
use crate::ops::connectivity::switch::Enable;
use crate::ops::connectivity::test::TestConnectivity;
use crate::ops::prompt::{GetPrompt, Prompt};
use crate::ops::tokens::{CreateToken, Created};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const LIST: &str = "/connect";
const GUIDE: &str = "/connect/{id}";

/// Days that a token lives which is made beside a guide.
const TOKEN_DAYS: u32 = 90;

/// A client in the list.
struct Card {
    guide: &'static Guide,
    /// Whether its maker's cloud cannot reach this service.
    out_of_reach: bool,
}

#[derive(Template)]
#[template(path = "connect.html", config = "src/surface/askama.toml")]
struct ListPage {
    frame: Frame,
    here: String,
    csrf: String,
    open: bool,
    role: Role,
    cards: Vec<Card>,
    place: Place,
    /// For admins.
    status: Option<Status>,
}

/// What a form of a guide led to, shown this one time.
#[derive(Default)]
struct Once {
    made: Option<Created>,
    report: Option<Report>,
}

#[derive(Template)]
#[template(path = "connect_guide.html", config = "src/surface/askama.toml")]
struct GuidePage {
    frame: Frame,
    here: String,
    csrf: String,
    open: bool,
    role: Role,
    guide: &'static Guide,
    setup: Setup,
    seen: Seen,
    /// Where a client is told everything by one.
    prompt: Option<Prompt>,
    /// The token that is looked for; empty for the newest.
    token_id: String,
    once: Once,
    problem: String,
}

#[derive(Template)]
#[template(path = "connect_seen.html", config = "src/surface/askama.toml")]
struct SeenPart {
    seen: Seen,
}

/// `GET /w/{slug}/connect`.
pub async fn list(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let room = Room::enter(&console, door, path, LIST, request).await?;
    list_page(&room).await.map_err(|error| room.refusal(&error))
}

/// `POST /w/{slug}/connect`: the switch.
pub async fn switch(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, _) = Room::submit(&console, door, path, LIST, request).await?;
    room.ask(Enable {}).await.map_err(|error| room.refusal(&error))?;
    Ok(html::see_other(&room.here()))
}

async fn list_page(room: &Room<'_>) -> Result<Response> {
    let (org, role) = (&room.membership.org, room.membership.role);
    let place = Place::new(&room.console.web.config, Some(&org.slug), None);
    let card = |guide: &'static Guide| Card { guide, out_of_reach: guide.from_cloud && !place.is_public };
    let status = match role {
        Role::Admin => Some(room.ask(ConnectivityStatus {}).await?),
        Role::Viewer | Role::Contributor => None,
    };
    let page = ListPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        open: org.connectivity_enabled,
        role,
        cards: GUIDES.iter().map(card).collect(),
        place,
        status,
    };
    Ok(html::page(StatusCode::OK, &page))
}

/// The guide that a path names.
fn guide(path: &HashMap<String, String>) -> Option<&'static Guide> {
    path.get("id").and_then(|id| GUIDES.iter().find(|guide| guide.id == id))
}

fn no_guide() -> Response {
    html::problem(StatusCode::NOT_FOUND, "Not found", "There is no guide of this name.")
}

/// `GET /w/{slug}/connect/{id}`.
pub async fn show(State(console): State<Console>, door: Door, Path(path): Slug, request: Request) -> html::Result {
    let Some(guide) = guide(&path) else { return Err(no_guide()) };
    let token_id = token_id(&request);
    let room = Room::enter(&console, door, Path(path), GUIDE, request).await?;
    let page = guide_page(&room, guide, token_id, Once::default(), "");
    page.await.map_err(|error| room.refusal(&error))
}

/// `GET /w/{slug}/connect/{id}/seen`: the checkpoints alone, for the page's script.
pub async fn seen(State(console): State<Console>, door: Door, Path(path): Slug, request: Request) -> html::Result {
    let Some(guide) = guide(&path) else { return Err(no_guide()) };
    let token_id = token_id(&request);
    let room = Room::enter(&console, door, Path(path), GUIDE, request).await?;
    let seen = room.ask(Checkpoints { platform: guide.id.to_owned(), token_id }).await;
    let seen = seen.map_err(|error| room.refusal(&error))?;
    Ok(html::page(StatusCode::OK, &SeenPart { seen }))
}

/// `POST /w/{slug}/connect/{id}`.
pub async fn submit(State(console): State<Console>, door: Door, Path(path): Slug, request: Request) -> html::Result {
    let Some(guide) = guide(&path) else { return Err(no_guide()) };
    let (room, params) = Room::submit(&console, door, Path(path), GUIDE, request).await?;
    let (once, problem) = room.settle(change(&room, guide, &params)).await?;
    let once = once.unwrap_or_default();
    let made = once.made.as_ref().map(|made| made.token.token_id.clone());
    let token_id = made.or_else(|| params.get("token_id").filter(|id| is_public_id(id)).map(str::to_owned));
    let page = guide_page(&room, guide, token_id, once, &problem).await;
    page.map(|page| room.once(page)).map_err(|error| room.refusal(&error))
}

/// The token that the page is about, as its address says.
fn token_id(request: &Request) -> Option<String> {
    let params = Params::parse(request.uri().query().unwrap_or("")).unwrap_or_default();
    params.get("token").filter(|id| is_public_id(id)).map(str::to_owned)
}

async fn change(room: &Room<'_>, guide: &'static Guide, params: &Params) -> Result<Option<Once>> {
    match params.get("do").unwrap_or("") {
        "enable" => room.ask(Enable {}).await.map(|_| None),
        "token" => {
            let op = CreateToken {
                label: guide.name.to_owned(),
                scopes: ExtScope::ALL.map(|scope| scope.name().to_owned()).to_vec(),
                expires_in_days: Some(TOKEN_DAYS),
            };
            Ok(Some(Once { made: Some(room.ask(op).await?), report: None }))
        }
        "test" => {
            let token_id = params.get("token_id").filter(|id| is_public_id(id)).map(str::to_owned);
            let op = TestConnectivity { platform: guide.id.to_owned(), token_id };
            Ok(Some(Once { made: None, report: Some(room.ask(op).await?) }))
        }
        _ => Err(Error::invalid("do", "This form is not one of this page.")),
    }
}

async fn guide_page(
    room: &Room<'_>,
    guide: &'static Guide,
    token_id: Option<String>,
    once: Once,
    problem: &str,
) -> Result<Response> {
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let platform = || guide.id.to_owned();
    let prompt = match guide.id {
        "prompt" | "custom-gpt" => Some(room.ask(GetPrompt {}).await?),
        _ => None,
    };
    let page = GuidePage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        open: room.membership.org.connectivity_enabled,
        role: room.membership.role,
        guide,
        setup: room.ask(GenerateSetup { platform: platform(), token_id: token_id.clone() }).await?,
        seen: room.ask(Checkpoints { platform: platform(), token_id: token_id.clone() }).await?,
        prompt,
        token_id: token_id.unwrap_or_default(),
        once,
        problem: problem.to_owned(),
    };
    Ok(html::page_with_requests(status, &page))
}
