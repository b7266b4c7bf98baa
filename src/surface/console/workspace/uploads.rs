//! `/w/{slug}/uploads`: the bytes of a page's files, by tus. A script sends them, with the token of the page in a header.

use axum::extract::{Request, State};
use http::{HeaderMap, Method, StatusCode};

use super::{Console, Room, Slug, check, purpose};
use crate::surface::browser::visit::{Door, Visit};
use crate::surface::html;
use crate::surface::tus::{self, Desk};

/// Where the script puts the token of its page.
const TOKEN: &str = "x-csrf-token";

/// `POST`, and below it `HEAD`, `PATCH` and `DELETE`.
pub async fn answer(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let visit = Visit::of(&console.web, &door.session, door.context, &request).await?;
    let room = Room::find(&console, visit, &path, check::PAGE).await?;
    let (parts, body) = request.into_parts();
    let purpose = purpose(&room.membership.org.slug, check::PAGE);
    if !room.visit.has_sent(&console.web, &parts.headers, &purpose, token(&parts.headers)) {
        return Err(room.visit.has_not_sent(&console.web, &purpose).await);
    }
    let desk = Desk { gateway: &console.gateway, caller: &room.caller, recorded_as: "console.call" };
    let id = path.get("id").map_or("", String::as_str);
    Ok(match parts.method {
        Method::POST => {
            let base = format!("/w/{}/uploads", room.membership.org.slug);
            tus::create(desk, &base, &parts.headers).await
        }
        Method::HEAD => tus::head(desk, id, &parts.headers).await,
        Method::PATCH => tus::patch(desk, id, &parts.headers, body).await,
        Method::DELETE => tus::remove(desk, id, &parts.headers).await,
        _ => html::problem(StatusCode::METHOD_NOT_ALLOWED, "Not found", "This address is for uploads."),
    })
}

fn token(headers: &HeaderMap) -> Option<&str> {
    headers.get(TOKEN)?.to_str().ok()
}
