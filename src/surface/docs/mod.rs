//! `/docs`: the documentation, as pages without scripts for people and as Markdown for programs, with this service's own
//! address in what is to be copied. Nobody signs in to read it: who cannot sign in may need it most.
//!
//! The texts are the files of `docs/`, which are part of the program; those of clients are made of the guides that the
//! console shows ([`crate::ops::connectivity::guides`]).

mod guides;
mod library;
mod markdown;

use std::fmt::Write as _;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

pub use self::guides::text as guide_text;
pub use self::library::{FILES, PAGES};
use self::library::{READERS, Reader, folder, title};
pub use self::markdown::anchor;
use self::markdown::{Part, render};
use crate::config::Config;
use crate::ops::connectivity::guides::GUIDES;
use crate::surface::html;
use crate::surface::made::Made;

/// Where a page stands among the others.
struct Entry {
    href: String,
    title: String,
    is_current: bool,
    /// Whether it is one of those that the page before it lists.
    is_below: bool,
}

/// The pages for one kind of reader.
struct Shelf {
    reader: Reader,
    entries: Vec<Entry>,
}

#[derive(Template)]
#[template(path = "docs.html", config = "src/surface/askama.toml")]
struct DocsPage {
    title: String,
    content: String,
    parts: Vec<Part>,
    shelves: Vec<Shelf>,
    /// The same as Markdown.
    source: String,
}

/// `GET /docs`.
pub async fn index(State(made): State<Made>) -> Response {
    answer(&made, "README").await
}

/// `GET /docs/{page}`, `GET /docs/{page}.md`.
pub async fn page(State(made): State<Made>, Path(name): Path<String>) -> Response {
    answer(&made, &name).await
}

/// `GET /docs/connect/{guide}`, `GET /docs/connect/{guide}.md`.
pub async fn guide(State(made): State<Made>, Path(name): Path<String>) -> Response {
    answer(&made, &format!("connect/{name}")).await
}

/// `GET /docs/files/{name}`: what the pages show and give away.
pub async fn file(Path(name): Path<String>) -> Response {
    let Some(file) = FILES.iter().find(|file| file.name == name) else { return nothing() };
    let headers = [(header::CONTENT_TYPE, file.kind), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, file.content).into_response()
}

/// `GET /llms.txt`: what there is to read, for programs that look for it there (llmstxt.org).
pub async fn for_models(State(made): State<Made>) -> Response {
    made.document("llms.txt", |config| plain("text/plain; charset=utf-8", listed(config))).await
}

/// All that there is to read.
fn listed(config: &Config) -> String {
    let about = |name: &str| library::text(config, name).map(|text| render(&text, |_| None).about).unwrap_or_default();
    let mut out = format!("# Dragoman\n\n> {}\n", about("README"));
    for reader in READERS {
        let _ = write!(out, "\n## {}\n\n", reader.name());
        for page in PAGES.iter().filter(|page| page.reader == reader) {
            let address = config.url(&format!("/docs/{}.md", page.name));
            let _ = writeln!(out, "- [{}]({address}): {}", title(page.text), about(page.name));
        }
    }
    out.push_str("\n## Clients, step by step\n\n");
    for guide in GUIDES {
        let address = config.url(&format!("/docs/connect/{}.md", guide.id));
        let _ = writeln!(out, "- [{}]({address}): {}", guide.name, guide.about);
    }
    out.push_str("\n## For programs\n\n");
    for (name, path) in [
        ("OpenAPI: asking", "/api/v1/ext/openapi.json"),
        ("OpenAPI: management", "/api/v1/openapi.json"),
        ("OpenAPI for GPT Actions", "/api/v1/ext/openapi.actions.json"),
        ("Function definitions for OpenAI", "/api/v1/ext/functions/openai.json"),
        ("Tool definitions for Anthropic", "/api/v1/ext/functions/anthropic.json"),
    ] {
        let _ = writeln!(out, "- [{name}]({})", config.url(path));
    }
    out
}

async fn answer(made: &Made, name: &str) -> Response {
    let make = |config: &Config| match name.strip_suffix(".md") {
        Some(name) => {
            library::text(config, name).map_or_else(nothing, |text| plain("text/markdown; charset=utf-8", text))
        }
        None => show(config, name),
    };
    made.document(&format!("docs/{name}"), make).await
}

fn show(config: &Config, name: &str) -> Response {
    let Some(text) = library::text(config, name) else { return nothing() };
    let page = render(&text, |to| library::address(folder(name), to));
    let page = DocsPage {
        title: page.title,
        content: page.html,
        parts: page.parts,
        shelves: shelves(name),
        source: format!("/docs/{name}.md"),
    };
    html::page(StatusCode::OK, &page)
}

/// All pages by reader, and the clients below their list where that is being read.
fn shelves(current: &str) -> Vec<Shelf> {
    let entry = |name: &str, title: &str, is_below| Entry {
        href: library::path(name),
        title: title.to_owned(),
        is_current: name == current,
        is_below,
    };
    let shelf = |reader| {
        let mut entries = Vec::new();
        for page in PAGES.iter().filter(|page| page.reader == reader) {
            entries.push(entry(page.name, title(page.text), false));
            if page.name == "connect" && current.starts_with("connect") {
                let guides = GUIDES.iter().map(|guide| entry(&format!("connect/{}", guide.id), guide.name, true));
                entries.extend(guides);
            }
        }
        Shelf { reader, entries }
    };
    READERS.map(shelf).into()
}

fn plain(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")], text).into_response()
}

fn nothing() -> Response {
    let text = "There is no page of this name. The documentation begins at /docs.";
    html::problem(StatusCode::NOT_FOUND, "Not found", text)
}
