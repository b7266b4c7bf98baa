//! `/w/{slug}/datasets`: several datasets published, withdrawn or deleted with one form. They are ticked on the overview, or
//! are all that its search finds. The page names what would change; its form has each changed by an operation of its own,
//! with its own rights, its own refusal and its own row in the record, and says what came of each.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::base::id::Id;
use crate::gateway::operation::Operation as _;
use crate::model::access::denied;
use crate::model::dataset::Dataset;
use crate::model::error::{Error, Result};
use crate::model::ontology::StoredOntology;
use crate::ops::delete_dataset::DeleteDataset;
use crate::ops::document_syncs::ListSyncs;
use crate::ops::list_datasets::{ListDatasets, Listed, Only};
use crate::ops::ontology_texts::{ListAllOntologies, Standing};
use crate::ops::publish::Publish;
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::{FormError, Params};
use crate::surface::html;

const PAGE: &str = "/datasets";

/// Datasets at a time: as many as the page's address and its form hold, and fewer than the calls of a minute.
pub(super) const MOST: usize = 50;

/// What begins the name of a field for a dataset; its value is the name that the page showed.
const CHOSEN: &str = "dataset:";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Publish,
    Withdraw,
    Delete,
}

impl Change {
    /// What a form asks for, of somebody who may. A refusal is on the record, as that of the operation would be.
    async fn asked(room: &Room<'_>, params: &Params) -> Result<Self> {
        let (change, info) = match params.get("do") {
            Some("publish") => (Self::Publish, Publish::INFO),
            Some("withdraw") => (Self::Withdraw, Publish::INFO),
            Some("delete") => (Self::Delete, DeleteDataset::INFO),
            _ => return Err(Error::invalid("do", "This form is not one of this page.")),
        };
        if room.caller.rights.allow(info.action) {
            return Ok(change);
        }
        let error = denied(&room.caller, info.action);
        let action = info.recorded_as.unwrap_or("console.call");
        room.console.gateway.refused(&room.caller, action, info.name, &error).await?;
        Err(error)
    }

    /// Whether it needs no proof of who asks, or a fresh one is there.
    ///
    /// # Errors
    /// The answer to send instead of the page.
    async fn is_proven(self, room: &Room<'_>) -> Result<(), Response> {
        match self {
            Self::Publish | Self::Withdraw => Ok(()),
            Self::Delete => room.visit.fresh(&room.console.web).await,
        }
    }

    /// Whether those that it changes are published; `None` where that does not matter.
    fn before(self) -> Option<bool> {
        match self {
            Self::Publish => Some(false),
            Self::Withdraw => Some(true),
            Self::Delete => None,
        }
    }

    /// As it is sent.
    fn name(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Withdraw => "withdraw",
            Self::Delete => "delete",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Publish => "Publish",
            Self::Withdraw => "Withdraw",
            Self::Delete => "Delete",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Publish => "published",
            Self::Withdraw => "withdrawn",
            Self::Delete => "deleted",
        }
    }

    /// Does it to one dataset.
    async fn apply(self, room: &Room<'_>, dataset_id: Id<Dataset>, name: &str) -> Result<()> {
        match self {
            Self::Publish | Self::Withdraw => {
                let externally_queryable = self == Self::Publish;
                room.ask(Publish { dataset_id, externally_queryable }).await.map(drop)
            }
            Self::Delete => room.ask(DeleteDataset { dataset_id, name: name.to_owned() }).await.map(drop),
        }
    }
}

/// The datasets that would change.
struct Chosen {
    /// At most [`MOST`], by name.
    datasets: Vec<Listed>,
    /// There are more.
    more: bool,
    /// Of those that were ticked, how many would not change, or are not there.
    left: usize,
}

impl Chosen {
    /// Those that the form of the overview names.
    async fn asked(room: &Room<'_>, change: Change, params: &Params) -> Result<Self> {
        let published = change.before();
        if params.get("all").is_some() {
            let text = params.get("text").unwrap_or_default().trim().to_owned();
            return Self::find(room, Only { text, published, ..Only::default() }).await;
        }
        let ids = params.all("dataset_id").map(|id| id.parse().map_err(|_| Error::dataset_not_found()));
        let ids: BTreeSet<Id<Dataset>> = ids.collect::<Result<_>>()?;
        within(ids.len())?;
        Self::find(room, Only { published, ids, ..Only::default() }).await
    }

    async fn find(room: &Room<'_>, only: Only) -> Result<Self> {
        let (mut datasets, mut cursor) = (Vec::new(), None);
        let more = loop {
            let found = room.ask(ListDatasets { cursor, only: only.clone() }).await?;
            datasets.extend(found.datasets);
            cursor = found.next_cursor;
            if datasets.len() >= MOST || cursor.is_none() {
                break cursor.is_some() || datasets.len() > MOST;
            }
        };
        datasets.truncate(MOST);
        Ok(Self { more, left: only.ids.len().saturating_sub(datasets.len()), datasets })
    }
}

/// Whether a form names some datasets, and no more than can be changed at a time.
fn within(count: usize) -> Result<()> {
    match count {
        0 => Err(Error::invalid("dataset_id", "Go back and tick at least one dataset, or all of them.")),
        1..=MOST => Ok(()),
        _ => Err(too_many()),
    }
}

fn too_many() -> Error {
    Error::invalid("dataset_id", format!("At most {MOST} datasets are changed at a time. Go back and tick fewer."))
}

/// A dataset that would change.
struct Item {
    dataset: Listed,
    /// Ontologies that speak of it.
    ontologies: Vec<(Id<StoredOntology>, String)>,
    /// Documents that are kept from its rows.
    followers: Vec<String>,
    /// The place outside that it follows.
    follows: Option<String>,
}

impl Item {
    fn of(dataset: Listed) -> Self {
        Self { dataset, ontologies: vec![], followers: vec![], follows: None }
    }

    /// As they are, and what rests on each.
    async fn with_dependents(room: &Room<'_>, datasets: Vec<Listed>) -> Result<Vec<Self>> {
        let all = room.ask(ListAllOntologies {}).await?;
        let syncs = room.ask(ListSyncs {}).await?.syncs;
        let item = |dataset: Listed| {
            let name = &dataset.name;
            let uses = |one: &&Standing| all.tables.get(&one.ontology_id).is_some_and(|tables| tables.contains(name));
            let ontologies =
                all.ontologies.iter().filter(uses).map(|one| (one.ontology_id, one.name.clone())).collect();
            let kept = syncs.iter().filter(|sync| sync.origin.table().is_some_and(|mapping| mapping.table == *name));
            let followers = kept.map(|sync| sync.name.clone()).collect();
            let own = syncs.iter().find(|sync| sync.name == *name);
            let follows = own.map(|sync| sync.origin.to_string());
            Self { ontologies, followers, follows, dataset }
        };
        Ok(datasets.into_iter().map(item).collect())
    }
}

#[derive(Template)]
#[template(path = "datasets_change.html", config = "src/surface/askama.toml")]
struct ChangePage {
    frame: Frame,
    here: String,
    csrf: String,
    change: Change,
    items: Vec<Item>,
    more: bool,
    left: usize,
    problem: String,
}

/// What came of one dataset.
struct Outcome {
    id: Id<Dataset>,
    name: String,
    /// Why it was refused; empty when it was done.
    why: String,
}

#[derive(Template)]
#[template(path = "datasets_changed.html", config = "src/surface/askama.toml")]
struct ChangedPage {
    frame: Frame,
    change: Change,
    done: Vec<Outcome>,
    refused: Vec<Outcome>,
}

/// `GET`: what would change.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let params = match Params::parse(request.uri().query().unwrap_or("")) {
        Err(FormError::TooLarge) => Err(too_many()),
        params => Ok(params.unwrap_or_default()),
    };
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let params = params.map_err(|error| room.refusal(&error))?;
    // What an address alone, as after a form, would change is not known: they choose again.
    if params.get("do").is_none() {
        return Ok(html::see_other(&format!("/w/{}", room.membership.org.slug)));
    }
    let change = Change::asked(&room, &params).await.map_err(|error| room.refusal(&error))?;
    change.is_proven(&room).await?;
    let page = async { page(&room, change, Chosen::asked(&room, change, &params).await?, String::new()).await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: changes them, and says what came of each.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let change = Change::asked(&room, &params).await.map_err(|error| room.refusal(&error))?;
    change.is_proven(&room).await?;
    changed(&room, change, &params).await.map_err(|error| room.refusal(&error))
}

/// The datasets of a form, by the names that its page showed.
fn sent(params: &Params) -> Result<Vec<(Id<Dataset>, String)>> {
    let fields = params.pairs().filter_map(|(field, name)| Some((field.strip_prefix(CHOSEN)?, name)));
    let one = |(id, name): (&str, &str)| Ok((id.parse().map_err(|_| Error::dataset_not_found())?, name.to_owned()));
    let sent = fields.map(one).collect::<Result<Vec<_>>>()?;
    within(sent.len()).map(|()| sent)
}

async fn changed(room: &Room<'_>, change: Change, params: &Params) -> Result<Response> {
    let sent = sent(params)?;
    let count = sent.len().to_string();
    if change == Change::Delete && params.get("count") != Some(count.as_str()) {
        let problem = format!("Nothing was deleted. Write {count}, the number of datasets, to confirm.");
        let ids = sent.into_iter().map(|(id, _)| id).collect();
        let chosen = Chosen::find(room, Only { ids, ..Only::default() }).await?;
        return page(room, change, chosen, problem).await;
    }
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for (id, name) in sent {
        match change.apply(room, id, &name).await {
            Ok(()) => done.push(Outcome { id, name, why: String::new() }),
            Err(error) => refused.push(Outcome { id, name, why: error.message }),
        }
    }
    let status = if refused.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let frame = room.frame_below("").await?;
    Ok(html::page(status, &ChangedPage { frame, change, done, refused }))
}

async fn page(room: &Room<'_>, change: Change, chosen: Chosen, problem: String) -> Result<Response> {
    let Chosen { datasets, more, left } = chosen;
    let items = match change {
        Change::Publish | Change::Withdraw => datasets.into_iter().map(Item::of).collect(),
        Change::Delete => Item::with_dependents(room, datasets).await?,
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let (frame, here, csrf) = (room.frame_below("").await?, room.here(), room.csrf());
    Ok(html::page(status, &ChangePage { frame, here, csrf, change, items, more, left, problem }))
}
