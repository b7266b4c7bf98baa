//! `/w/{slug}/members`: who belongs to the workspace, and who is invited.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug, parsed};
use crate::base::id::Id;
use crate::model::access::Role;
use crate::model::error::{Error, Result};
use crate::model::user::User;
use crate::ops::Done;
use crate::ops::invitations::{CreateInvitation, Created, Invitation, ListInvitations, RevokeInvitation};
use crate::ops::members::{ListMembers, Members, RemoveMember, SetMemberRole};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/members";

#[derive(Template)]
#[template(path = "members.html", config = "src/surface/askama.toml")]
struct MembersPage {
    frame: Frame,
    here: String,
    csrf: String,
    me: Id<User>,
    members: Members,
    invitations: Vec<Invitation>,
    /// A link that has just been made, shown this once.
    invited: Option<Created>,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let cursor = Params::parse(&query).unwrap_or_default().get("cursor").map(str::to_owned);
    page(&room, cursor, None, "").await.map_err(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let (invited, problem) = room.settle(change(&room, &params)).await?;
    let page = page(&room, None, invited, &problem).await;
    page.map(|page| room.once(page)).map_err(|error| room.refusal(&error))
}

async fn change(room: &Room<'_>, params: &Params) -> Result<Option<Created>> {
    let done = |Done { .. }| None;
    match params.get("do").unwrap_or("") {
        "role" => {
            let op = SetMemberRole { user_id: parsed(params, "user_id")?, role: parsed(params, "role")? };
            room.ask(op).await.map(done)
        }
        "remove" => room.ask(RemoveMember { user_id: parsed(params, "user_id")? }).await.map(done),
        "invite" => {
            let email = params.get("email").unwrap_or("").to_owned();
            room.ask(CreateInvitation { email, role: parsed(params, "role")? }).await.map(Some)
        }
        "revoke" => room.ask(RevokeInvitation { invitation_id: parsed(params, "invitation_id")? }).await.map(done),
        _ => Err(Error::invalid("do", "This form is not one of this page.")),
    }
}

async fn page(room: &Room<'_>, cursor: Option<String>, invited: Option<Created>, problem: &str) -> Result<Response> {
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = MembersPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        me: room.visit.person.user.id,
        members: room.ask(ListMembers { cursor }).await?,
        invitations: room.ask(ListInvitations {}).await?.invitations,
        invited,
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}
