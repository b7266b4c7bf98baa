//! `/w/{slug}/clients`: the programs that people have connected, those that are kept out, and connectivity tokens.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug, parsed};
use crate::identity::clients::verified_host;
use crate::model::access::ExtScope;
use crate::model::error::{Error, Result};
use crate::ops::Done;
use crate::ops::blocked_clients::{BlockClient, BlockedClient, ListBlockedClients, UnblockClient};
use crate::ops::grants::{Grants, ListGrants, RevokeGrant};
use crate::ops::tokens::{CreateToken, Created, ListTokens, RevokeToken, RotateToken, Token};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/clients";
/// Minutes that a token works on that is rotated here; the page says so.
const OVERLAP: u32 = 60;

/// The host of the document that describes it, or what the client called itself.
fn called(id: &str, name: &str) -> String {
    match verified_host(id) {
        Some(host) if name.is_empty() => host,
        _ => html::display_name(name),
    }
}

#[derive(Template)]
#[template(path = "clients.html", config = "src/surface/askama.toml")]
struct ClientsPage {
    frame: Frame,
    here: String,
    csrf: String,
    open: bool,
    grants: Grants,
    blocked: Vec<BlockedClient>,
    tokens: Vec<Token>,
    label: String,
    /// The scopes of a token, in words, and whether each is ticked.
    scopes: [(&'static str, &'static str, bool); 4],
    days: String,
    /// A token that has just been made, shown this once.
    made: Option<Created>,
    problem: String,
}

/// The scopes of a token, in words.
const SCOPES: [(ExtScope, &str); 4] = [
    (ExtScope::Datasets, "List published datasets"),
    (ExtScope::Schema, "See columns and first rows"),
    (ExtScope::Search, "Search and read documents"),
    (ExtScope::Sql, "Run read-only SQL"),
];

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let cursor = Params::parse(&query).unwrap_or_default().get("cursor").map(str::to_owned);
    page(&room, cursor, None, "", None).await.map_err(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let (made, problem) = room.settle(change(&room, &params)).await?;
    let sent = Some(&params).filter(|params| made.is_none() && params.get("do") == Some("create"));
    let page = page(&room, None, made, &problem, sent).await;
    page.map(|page| room.once(page)).map_err(|error| room.refusal(&error))
}

async fn change(room: &Room<'_>, params: &Params) -> Result<Option<Created>> {
    let done = |Done { .. }| None;
    let client_id = || params.get("client_id").unwrap_or("").to_owned();
    match params.get("do").unwrap_or("") {
        "disconnect" => room.ask(RevokeGrant { grant_id: parsed(params, "grant_id")? }).await.map(done),
        "block" => room.ask(BlockClient { client_id: client_id() }).await.map(done),
        "unblock" => room.ask(UnblockClient { client_id: client_id() }).await.map(done),
        "create" => {
            let days = params.get("expires_in_days").map(str::parse).transpose();
            let op = CreateToken {
                label: params.get("label").unwrap_or("").to_owned(),
                scopes: params.all("scope").map(str::to_owned).collect(),
                expires_in_days: days.map_err(|_| Error::invalid("expires_in_days", "Days are a whole number."))?,
            };
            room.ask(op).await.map(Some)
        }
        "rotate" => {
            let token_id = params.get("token_id").unwrap_or("").to_owned();
            room.ask(RotateToken { token_id, overlap_minutes: OVERLAP }).await.map(Some)
        }
        "revoke" => {
            let token_id = params.get("token_id").unwrap_or("").to_owned();
            room.ask(RevokeToken { token_id }).await.map(done)
        }
        _ => Err(Error::invalid("do", "This form is not one of this page.")),
    }
}

/// The page; of a token that was not made, what was `sent` stays in the form.
async fn page(
    room: &Room<'_>,
    cursor: Option<String>,
    made: Option<Created>,
    problem: &str,
    sent: Option<&Params>,
) -> Result<Response> {
    let typed = |name: &str| sent.and_then(|sent| sent.get(name)).unwrap_or_default().to_owned();
    let is_ticked = |name: &str| sent.is_some_and(|sent| sent.all("scope").any(|scope| scope == name));
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = ClientsPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        open: room.membership.org.connectivity_enabled,
        grants: room.ask(ListGrants { cursor }).await?,
        blocked: room.ask(ListBlockedClients {}).await?.blocked_clients,
        tokens: room.ask(ListTokens {}).await?.tokens,
        label: typed("label"),
        scopes: SCOPES.map(|(scope, meaning)| (scope.name(), meaning, is_ticked(scope.name()))),
        days: if sent.is_some() { typed("expires_in_days") } else { "90".to_owned() },
        made,
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}
