//! `/w/{slug}/documents/{id}`: the text of a document, where an answer that rests on it leads.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::base::id::Id;
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::ops::get_document::{GetDocument, Reply};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::html;

const PAGE: &str = "/documents";

#[derive(Template)]
#[template(path = "document.html", config = "src/surface/askama.toml")]
struct DocumentPage {
    frame: Frame,
    title: String,
    document: Reply,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let id = path.get("id").and_then(|id| id.parse().ok()).ok_or_else(Error::document_not_found);
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let page = async { page(&room, id?).await };
    page.await.unwrap_or_else(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, document_id: Id<Document>) -> Result<Response> {
    let document = room.ask(GetDocument { document_id }).await?;
    let title = if document.title.is_empty() { &document.source_file } else { &document.title }.clone();
    Ok(html::page(StatusCode::OK, &DocumentPage { frame: room.frame().await?, title, document }))
}
