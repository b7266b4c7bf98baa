//! `/w/{slug}/ontologies…` and `/w/{slug}/questions/{id}`: what a workspace's data mean, written down, and questions in
//! plain words over it.

pub mod about;
pub mod ask;
pub mod edit;
pub mod filters;
pub mod history;
mod inquiry;
pub mod list;
mod narrative;
pub mod new;
pub mod questions;
pub mod remembered;
pub mod trace;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Room, Slug};
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::dataset::Kind;
use crate::model::error::{Error, Result};
use crate::model::ontology::{Status, StoredOntology};
use crate::ops::list_datasets::{ListDatasets, Listed};
use crate::ops::ontology_texts::{ListAllOntologies, Standing};
use crate::surface::console::frame::Tab;

/// Pages of datasets that are read for one list of them.
const MOST_PAGES: usize = 5;

const PAGE: &str = "/ontologies";
const ONE: &str = "/ontologies/{id}";
const NEW: &str = "/ontologies/new";
const EDIT: &str = "/ontologies/{id}/edit";
const HISTORY: &str = "/ontologies/{id}/history";
const EXPORT: &str = "/ontologies/{id}/export";
const ASK: &str = "/ontologies/{id}/ask";
const QUESTIONS: &str = "/ontologies/{id}/questions";
const REMEMBERED: &str = "/ontologies/{id}/remembered";
const TRACE: &str = "/questions/{id}";

/// The class of the tag that shows a status.
fn tone(status: Status) -> &'static str {
    match status {
        Status::Ready => "good",
        Status::Failed => "bad",
        Status::Draft => "",
    }
}

/// What stands above every page of one ontology.
struct Head {
    name: String,
    /// The address of its first page.
    at: String,
    tabs: Vec<Tab>,
    /// Empty for those to whom it says nothing.
    status: &'static str,
    /// The class of the status.
    tone: &'static str,
}

impl Head {
    fn new(room: &Room<'_>, id: Id<StoredOntology>, name: &str) -> Self {
        let at = format!("/w/{}/ontologies/{id}", room.membership.org.slug);
        let rights = room.caller.rights;
        let all = [
            ("", "About", ONE, Action::ReadOntologies),
            ("/ask", "Ask", ASK, Action::RunSql),
            ("/edit", "Edit", EDIT, Action::WriteDatasets),
            ("/history", "History", HISTORY, Action::WriteDatasets),
            ("/questions", "Questions", QUESTIONS, Action::WriteDatasets),
            ("/remembered", "Remembered", REMEMBERED, Action::WriteDatasets),
        ];
        let shown = if room.page == TRACE { QUESTIONS } else { room.page };
        let seen = all.into_iter().filter(|(.., action)| rights.allow(*action));
        let tabs = seen.map(|(path, name, page, _)| Tab { href: format!("{at}{path}"), name, current: page == shown });
        Self { name: name.to_owned(), tabs: tabs.collect(), status: "", tone: "", at }
    }

    fn of(room: &Room<'_>, standing: &Standing) -> Self {
        let head = Self::new(room, standing.ontology_id, &standing.name);
        Self { status: standing.status.name(), tone: tone(standing.status), ..head }
    }
}

/// The ontology that the address names; an id that is none is an ontology that is not there.
fn id(path: &Slug) -> Result<Id<StoredOntology>> {
    path.get("id").and_then(|id| id.parse().ok()).ok_or_else(Error::ontology_not_found)
}

/// One ontology, for those who may write it.
async fn standing(room: &Room<'_>, id: Id<StoredOntology>) -> Result<Standing> {
    let all = room.ask(ListAllOntologies {}).await?;
    all.ontologies.into_iter().find(|one| one.ontology_id == id).ok_or_else(Error::ontology_not_found)
}

/// A picture for `<img>`: there nothing in it can run, fetch, or reach the page.
pub(super) fn picture(svg: &str) -> String {
    format!("data:image/svg+xml;base64,{}", STANDARD.encode(svg))
}

/// The tables of the workspace, from as many pages as one list of them holds.
async fn tables(room: &Room<'_>) -> Result<Vec<Listed>> {
    let mut tables = Vec::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let found = room.ask(ListDatasets { cursor, ..ListDatasets::default() }).await?;
        tables.extend(found.datasets.into_iter().filter(|dataset| dataset.r#type == Kind::Table));
        cursor = found.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(tables)
}
