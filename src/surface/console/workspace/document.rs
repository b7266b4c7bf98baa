//! `/w/{slug}/documents/{id}`: the text of a document, where an answer that rests on it leads. With `?chunk=` it opens where
//! that passage is, which is marked; a long text is read part by part (`?part=`). Who may, removes it there.

use std::ops::Range;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug, parsed};
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::document::Document;
use crate::model::error::{Error, Result};
use crate::ops::delete_document::DeleteDocument;
use crate::ops::get_document::{GetDocument, Mark, Passage, Reply};
use crate::surface::browser::return_to;
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html;

const PAGE: &str = "/documents";

#[derive(Template)]
#[template(path = "document.html", config = "src/surface/askama.toml")]
struct DocumentPage {
    frame: Frame,
    title: String,
    here: String,
    csrf: String,
    may_delete: bool,
    document: Reply,
    pieces: Vec<Piece>,
    has_headings: bool,
}

/// What is shown, one below the other.
enum Piece {
    Page(u32),
    /// Its place in the document is its name in addresses.
    Heading {
        at: usize,
        level: usize,
        title: String,
        is_passage: bool,
    },
    /// A stretch of text, with the passage in its midst.
    Text {
        before: String,
        passage: String,
        after: String,
    },
}

/// The document that the address names; an id that is none is a document that is not there.
fn id(path: &Slug) -> Result<Id<Document>> {
    path.get("id").and_then(|id| id.parse().ok()).ok_or_else(Error::document_not_found)
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let params = Params::parse(request.uri().query().unwrap_or("")).unwrap_or_default();
    let number = |name: &str| params.get(name).and_then(|number| number.parse().ok());
    let wanted = id(&path).map(|id| {
        let chunk = number("chunk");
        GetDocument { chunk, part: number("part").filter(|_| chunk.is_none()), ..GetDocument::of(id) }
    });
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let page = async { page(&room, wanted?).await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: its removal.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let removed = async { remove(&room, id?, &params).await };
    removed.await.map_err(|error| room.refusal(&error))
}

async fn remove(room: &Room<'_>, document_id: Id<Document>, params: &Params) -> Result<Response> {
    let dataset_id = parsed(params, "dataset_id")?;
    room.ask(DeleteDocument { dataset_id, document_id }).await?;
    let texts = format!("/w/{}/datasets/{dataset_id}/texts", room.membership.org.slug);
    Ok(html::see_other(&format!("{texts}?{}", return_to::DONE)))
}

async fn page(room: &Room<'_>, wanted: GetDocument) -> Result<Response> {
    let document = room.ask(wanted).await?;
    let title = if document.title.is_empty() { &document.source_file } else { &document.title }.clone();
    let pieces = pieces(&document);
    let has_headings = pieces.iter().any(|piece| matches!(piece, Piece::Heading { .. }));
    let page = DocumentPage {
        frame: room.frame_below("").await?,
        title,
        here: room.here(),
        csrf: room.csrf(),
        may_delete: room.caller.rights.allow(Action::DeleteDatasets),
        document,
        pieces,
        has_headings,
    };
    Ok(html::page(StatusCode::OK, &page))
}

/// The part's text between its headings and pages.
fn pieces(document: &Reply) -> Vec<Piece> {
    let passage = document.passage.as_ref().map(|Passage { start, end, .. }| {
        start.saturating_sub(document.start)..end.saturating_sub(document.start).min(document.text.len())
    });
    let mut pieces = Vec::new();
    let mut at = 0;
    for (range, mark) in document.marks() {
        pieces.extend(text(&document.text, at..range.start, passage.as_ref()));
        at = range.end;
        pieces.push(match mark {
            Mark::Page(number) => Piece::Page(number),
            Mark::Heading(level, title) => {
                let is_passage = passage.as_ref().is_some_and(|passage| range.contains(&passage.start));
                Piece::Heading { at: document.start + range.start, level: (level + 1).min(6), title, is_passage }
            }
        });
    }
    pieces.extend(text(&document.text, at..document.text.len(), passage.as_ref()));
    // Pages end in their mark, the last one too.
    let _empty = pieces.pop_if(|last| matches!(last, Piece::Page(_)));
    pieces
}

fn text(text: &str, range: Range<usize>, passage: Option<&Range<usize>>) -> Option<Piece> {
    let get = |range: Range<usize>| text.get(range).unwrap_or_default();
    let whole = get(range.clone());
    let inside = passage.map(|passage| passage.start.max(range.start)..passage.end.min(range.end));
    let (before, passage, after) = match inside.filter(|inside| !inside.is_empty()) {
        Some(inside) => (get(range.start..inside.start), get(inside.clone()), get(inside.end..range.end)),
        None => (whole, "", ""),
    };
    let (before, after) = (before.trim_start_matches('\n'), after.trim_end_matches('\n'));
    let before = if passage.is_empty() { before.trim_end_matches('\n') } else { before };
    (!whole.trim().is_empty()).then(|| Piece::Text {
        before: before.to_owned(),
        passage: passage.to_owned(),
        after: after.to_owned(),
    })
}
