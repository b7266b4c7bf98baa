//! `/w/{slug}/datasets/{id}`: what a dataset is, what was found in it, who sees it, what people write of it, and its end.

use std::collections::HashMap;
use std::ops::ControlFlow;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::kept::{self, Kept};
use super::places::{Sent, wrong_field};
use super::table::Shown;
use super::{Console, Room, Slug, check, import};
use crate::base::id::Id;
use crate::model::access::{Action, Role};
use crate::model::dataset::{COLUMN_DESCRIPTION, DESCRIPTION, Dataset, Kind, TITLE};
use crate::model::error::{Code, Error, Result};
use crate::model::sync::{Origin, State as Run};
use crate::model::version::{How, Version};
use crate::ops::dataset_versions::{DeleteVersion, ListVersions, RestoreVersion, Versions};
use crate::ops::delete_dataset::DeleteDataset;
use crate::ops::get_schema::{GetSchema, Schema};
use crate::ops::preview_rows::PreviewRows;
use crate::ops::publish::Publish;
use crate::ops::update_dataset::UpdateDataset;
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::{Frame, Tab};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

const PAGE: &str = "/datasets/{id}";

/// Rows that are shown here.
const ROWS: u32 = 10;
/// What begins the name of a field for a column's description.
const COLUMN: &str = "column:";
/// What begins the names of the fields that say whether clients see a column, and of the one that says that it is asked.
const HIDDEN: &str = "hidden:";
const BOX: &str = "box:";

/// What stands above every page of one dataset.
pub(super) struct Head {
    pub(super) name: String,
    /// What people call it.
    pub(super) title: String,
    pub(super) published: bool,
    pub(super) tabs: Vec<Tab>,
}

impl Head {
    pub(super) fn of(room: &Room<'_>, schema: &Schema) -> Self {
        let at = format!("/w/{}/datasets/{}", room.membership.org.slug, schema.dataset_id);
        let may_query = room.caller.rights.allow(Action::RunSql);
        let is_table = schema.r#type == Kind::Table;
        let all = [
            ("", "About", true),
            ("/rows", "Rows", is_table && may_query),
            // Figures are of what the service holds itself.
            ("/profile", "Figures", is_table && schema.source.is_none()),
        ];
        let here = room.here();
        let tab = |(path, name, _)| {
            let href = format!("{at}{path}");
            Tab { current: href == here, href, name }
        };
        Self {
            name: schema.table_name.clone(),
            title: if schema.title.is_empty() { &schema.table_name } else { &schema.title }.clone(),
            published: schema.published,
            tabs: all.into_iter().filter(|(.., is_there)| *is_there).map(tab).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "dataset.html", config = "src/surface/askama.toml")]
struct DatasetPage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    schema: Schema,
    /// The first rows of a table, where they can be read.
    rows: Option<Shown>,
    /// AI clients are on in this workspace.
    open: bool,
    role: Role,
    may_write: bool,
    may_delete: bool,
    upload_csrf: String,
    check_csrf: String,
    /// Bytes of an upload.
    upload_most: u64,
    /// The name under which a file brings new rows; `None` where the rows are elsewhere.
    replaced: Option<String>,
    /// Whether one file makes it, and not any number.
    is_table: bool,
    /// The documents that are kept from it, or the table that they are kept from, for who may say so.
    kept: Option<Kept>,
    /// What is kept of it, for who may restore; `None` where the rows are elsewhere.
    versions: Option<Versions>,
    /// Members' addresses by their ids.
    people: HashMap<String, String>,
    saved: bool,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let saved = Params::parse(&query).unwrap_or_default().get("saved").is_some();
    let page = async { page(&room, id?, saved, "", None).await };
    page.await.unwrap_or_else(|error| room.refusal(&error))
}

/// `POST`: publication, descriptions, and the deletion.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let id = id(&path);
    let (room, params) = match Room::submit_document(&console, door, path, PAGE, request).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let changed = async { change(&room, id.clone()?, &params).await }.await;
    let field = wrong_field(&changed);
    let problem = match room.settle(changed.map(Some)) {
        ControlFlow::Continue((Some(to), _)) => return html::see_other(&to),
        ControlFlow::Continue((None, problem)) => problem,
        ControlFlow::Break(response) => return response,
    };
    let sent = Sent { params: &params, problem: &problem, field: &field };
    let page = async { page(&room, id?, false, &problem, Some(&sent)).await };
    page.await.unwrap_or_else(|error| room.refusal(&error))
}

/// Keeps what a form says the data are, and which columns are hidden.
async fn describe(room: &Room<'_>, dataset_id: Id<Dataset>, params: &Params) -> Result<()> {
    let text = |name: &str| Some(params.get(name).unwrap_or("").replace("\r\n", "\n"));
    // An empty field takes back what was written.
    let column = |(name, text): (&str, &str)| Some((name.strip_prefix(COLUMN)?.to_owned(), text.to_owned()));
    let columns = params.pairs().filter_map(column).collect();
    // A box that is not ticked is not sent: the form says which columns it has boxes for.
    let boxed = params.pairs().filter_map(|(name, _)| name.strip_prefix(BOX));
    let hidden = boxed.map(|name| (name.to_owned(), params.get(&format!("{HIDDEN}{name}")).is_some())).collect();
    let (title, description) = (text("title"), text("description"));
    let op = UpdateDataset { dataset_id, title, description, columns, hidden };
    room.ask(op).await?;
    Ok(())
}

/// Does what a form says; gives the page that follows.
async fn change(room: &Room<'_>, dataset_id: Id<Dataset>, params: &Params) -> Result<String> {
    match params.get("do") {
        Some("publish") => {
            let externally_queryable = params.get("published") == Some("1");
            // What was typed on the page and not saved yet comes along.
            if params.pairs().any(|(name, _)| name == "title") {
                describe(room, dataset_id, params).await?;
            }
            room.ask(Publish { dataset_id, externally_queryable }).await?;
            Ok(room.here())
        }
        Some("describe") => {
            describe(room, dataset_id, params).await?;
            Ok(format!("{}?saved=1", room.here()))
        }
        Some("restore") => {
            let version = version(params)?;
            room.ask(RestoreVersion { dataset_id, version }).await?;
            Ok(format!("{}#versions", room.here()))
        }
        Some("delete-version") => {
            let version = version(params)?;
            room.ask(DeleteVersion { dataset_id, version }).await?;
            Ok(format!("{}#versions", room.here()))
        }
        Some("delete") => {
            let name = params.get("name").unwrap_or("").to_owned();
            room.ask(DeleteDataset { dataset_id, name }).await?;
            Ok(format!("/w/{}", room.membership.org.slug))
        }
        _ => {
            kept::change(room, Some(dataset_id), params).await?;
            Ok(format!("{}#kept", room.here()))
        }
    }
}

/// The version that a form is about; an id that is none is a version that is not there.
fn version(params: &Params) -> Result<Id<Version>> {
    let version = params.get("version").and_then(|version| version.parse().ok());
    version.ok_or_else(|| Error::not_found("version"))
}

/// The dataset that the address names; an id that is none is a dataset that is not there.
pub(super) fn id(path: &Slug) -> Result<Id<Dataset>> {
    path.get("id").and_then(|id| id.parse().ok()).ok_or_else(Error::dataset_not_found)
}

async fn page(
    room: &Room<'_>,
    dataset_id: Id<Dataset>,
    saved: bool,
    problem: &str,
    sent: Option<&Sent<'_>>,
) -> Result<Response> {
    let schema = room.ask(GetSchema::of(dataset_id)).await?.one()?;
    let mut problem = problem.to_owned();
    let rows = match schema.r#type {
        Kind::Documents => None,
        Kind::Table => match room.ask(PreviewRows { dataset_id, limit: ROWS }).await {
            Ok(found) => Some(Shown::of(found.columns, &found.rows)?),
            // The rest of the page is there without the rows.
            Err(error) if matches!(error.code, Code::InternalError | Code::DatasetNotFound) => return Err(error),
            Err(error) => {
                problem = error.message;
                None
            }
        },
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let may_write = room.caller.rights.allow(Action::WriteDatasets);
    let versions = match may_write && schema.source.is_none() {
        true => Some(room.ask(ListVersions { dataset_id }).await?),
        false => None,
    };
    let kept = if may_write { Some(Kept::of(room, &schema, sent).await?) } else { None };
    let members = match versions {
        Some(_) => room.console.web.identity.members(room.caller.org).await?,
        None => Vec::new(),
    };
    let page = DatasetPage {
        frame: room.frame_below("").await?,
        head: Head::of(room, &schema),
        here: room.here(),
        csrf: room.csrf(),
        rows,
        open: room.membership.org.connectivity_enabled,
        role: room.membership.role,
        may_write,
        may_delete: room.caller.rights.allow(Action::DeleteDatasets),
        upload_csrf: room.csrf_at(import::PAGE),
        check_csrf: room.csrf_at(check::PAGE),
        upload_most: room.console.web.config.limits.budgets.upload_bytes,
        replaced: schema.source.is_none().then(|| schema.table_name.clone()),
        is_table: schema.r#type == Kind::Table,
        kept,
        versions,
        people: members.into_iter().map(|(user, _)| (user.id.to_string(), user.email)).collect(),
        schema,
        saved,
        problem,
    };
    Ok(if may_write { html::page_with_requests(status, &page) } else { html::page(status, &page) })
}
