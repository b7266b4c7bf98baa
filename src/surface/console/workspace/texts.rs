//! `/w/{slug}/datasets/{id}/texts`: the documents of a dataset, page by page, and what a search finds in them.

use std::ops::Range;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::dataset::{Head, id};
use super::{Console, Room, Slug};
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::Result;
use crate::ops::get_schema::GetSchema;
use crate::ops::list_documents::{self, ListDocuments};
use crate::ops::rag::hits::{Hit, Part, Show};
use crate::ops::rag::search_hybrid::{Mode, SearchHybrid};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html;

const PAGE: &str = "/datasets/{id}/texts";
/// Passages that are shown.
const PASSAGES: u32 = 20;

#[derive(Template)]
#[template(path = "dataset_texts.html", config = "src/surface/askama.toml")]
struct TextsPage {
    frame: Frame,
    head: Head,
    here: String,
    /// What is looked for; empty for the list.
    words: String,
    found: Vec<Passage>,
    /// What a search could not do.
    degraded: String,
    listed: Option<list_documents::Reply>,
    page: u32,
    problem: String,
}

/// A passage that was found.
struct Passage {
    /// Where it stands in its document.
    href: String,
    title: String,
    heading: String,
    /// Page, slide or part of the source, where it has such.
    page: Option<u32>,
    /// Its text, and of each stretch whether it was looked for.
    stretches: Vec<(String, bool)>,
}

impl Passage {
    fn of(slug: &str, hit: Hit) -> Self {
        let index = hit.chunk_id.split_once('#').map_or("", |(_, index)| index);
        let href = format!("/w/{slug}/documents/{}?chunk={index}#passage", hit.doc_id);
        let (file, heading, page) =
            hit.metadata.map(|from| (from.source_file, from.heading, from.page)).unwrap_or_default();
        Self {
            href,
            title: hit.title.filter(|title| !title.is_empty()).unwrap_or(file),
            heading,
            page,
            stretches: hit.snippet.as_ref().map(stretches).unwrap_or_default(),
        }
    }
}

/// The text of a part, and of each stretch whether it was looked for.
fn stretches(part: &Part) -> Vec<(String, bool)> {
    let chars: Vec<char> = part.text.chars().collect();
    let text = |range: Range<usize>| chars.get(range).unwrap_or_default().iter().collect::<String>();
    let mut stretches = Vec::new();
    let mut at = 0;
    for (from, to) in part.highlights.iter().copied() {
        stretches.extend([(text(at..from), false), (text(from..to), true)]);
        at = to;
    }
    stretches.push((text(at..chars.len()), false));
    stretches
}

fn search(dataset_id: Id<Dataset>, words: &str) -> SearchHybrid {
    SearchHybrid {
        query: words.to_owned(),
        k: PASSAGES,
        offset: None,
        cursor: None,
        filters: json!({ "source_ids": [dataset_id] }).as_object().cloned(),
        group_by: None,
        mode: Mode::Fuse,
        fuse: None,
        fts_then_vec: None,
        show: Show { include_snippets: true, ..Show::default() },
    }
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let params = Params::parse(request.uri().query().unwrap_or("")).unwrap_or_default();
    let id = id(&path);
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let page = async { page(&room, id?, &params).await };
    page.await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, dataset_id: Id<Dataset>, params: &Params) -> Result<Response> {
    let schema = room.ask(GetSchema::of(dataset_id)).await?.one()?;
    let mut page = TextsPage {
        frame: room.frame_below("").await?,
        head: Head::of(room, &schema),
        here: room.here(),
        words: params.get("text").unwrap_or("").to_owned(),
        found: Vec::new(),
        degraded: String::new(),
        listed: None,
        page: params.get("page").and_then(|page| page.parse().ok()).unwrap_or(1),
        problem: String::new(),
    };
    match fill(room, dataset_id, &mut page).await {
        Err(error) if Room::is_correctable(&error) => page.problem = error.message,
        filled => filled?,
    }
    let status = if page.problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(html::page(status, &page))
}

/// Brings what is asked for: the list, or what a search finds.
async fn fill(room: &Room<'_>, dataset_id: Id<Dataset>, page: &mut TextsPage) -> Result<()> {
    if page.words.is_empty() {
        page.listed = Some(room.ask(ListDocuments { dataset_id, page: page.page }).await?);
        return Ok(());
    }
    let found = room.ask(search(dataset_id, &page.words)).await?;
    page.found = found.results.into_iter().map(|hit| Passage::of(&room.membership.org.slug, hit)).collect();
    page.degraded = found.degraded.unwrap_or_default();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_were_looked_for_are_told_apart() {
        let part = Part { text: "é late ferry".into(), highlights: vec![(2, 6), (7, 12)] };
        let told: Vec<(String, bool)> = stretches(&part);
        let told: Vec<(&str, bool)> = told.iter().map(|(text, found)| (text.as_str(), *found)).collect();
        assert_eq!(told, [("é ", false), ("late", true), (" ", false), ("ferry", true), ("", false)]);
    }
}
