//! `/w/{slug}/datasets/{id}`: what a dataset is, what was found in it, who sees it, what people write of it, and its end.

use std::collections::HashMap;
use std::future::ready;

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
use crate::ops::get_schema::{DescribedColumn, GetSchema, Schema};
use crate::ops::preview_rows::PreviewRows;
use crate::ops::publish::Publish;
use crate::ops::update_dataset::{UpdateDataset, Words};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::{Frame, Tab};
use crate::surface::console::was::{self, changed};
use crate::surface::form::{Params, Size};
use crate::surface::html::{self, filters};

const PAGE: &str = "/datasets/{id}";

/// Rows that are shown here.
const ROWS: u32 = 10;
/// What begins the name of a field for a column's description.
const COLUMN: &str = "column:";
/// What begins the name of the box that hides a column from clients.
const HIDDEN: &str = "hidden:";

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
            ("/texts", "Texts", !is_table),
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

/// A column, and what its fields say.
struct Column {
    described: DescribedColumn,
    description: String,
    hide: bool,
}

#[derive(Template)]
#[template(path = "dataset.html", config = "src/surface/askama.toml")]
struct DatasetPage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    /// What the form was made from.
    was: String,
    /// As they stand in the form.
    title: String,
    description: String,
    columns: Vec<Column>,
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
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let saved = Params::parse(&query).unwrap_or_default().get("saved").is_some();
    let page = async { page(&room, id?, saved, "", None).await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: publication, descriptions, and the deletion.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let sent = Room::submit_long::<UpdateDataset>(&console, door, path, PAGE, request, Size::LONG);
    let (room, params) = sent.await?;
    let changed = async { change(&room, id.clone()?, &params).await }.await;
    let field = wrong_field(&changed);
    let (to, problem) = room.settle(ready(changed.map(Some))).await?;
    if let Some(to) = to {
        return Ok(html::see_other(&to));
    }
    let sent = Sent { params: &params, problem: &problem, field: &field };
    let page = async { page(&room, id?, false, &problem, Some(&sent)).await };
    page.await.map_err(|error| room.refusal(&error))
}

/// What the form for words says of a dataset as it is.
fn shown(schema: &Schema) -> Words {
    let of = |described: &DescribedColumn| (described.column.name.clone(), described.column.description.clone());
    let hidden = |described: &DescribedColumn| (described.column.name.clone(), described.hidden);
    Words {
        title: Some(schema.title.clone()),
        description: Some(schema.description.clone()),
        columns: schema.columns.iter().map(of).collect(),
        hidden: schema.columns.iter().map(hidden).collect(),
    }
}

/// What the page of a form showed, and what the form changes of it; `None` for a form without words.
fn said(params: &Params) -> Result<Option<(Words, Words)>> {
    if !params.pairs().any(|(name, _)| name == "title") {
        return Ok(None);
    }
    let was: Words = was::of(params)?;
    // As fields give back what they showed: with breaks of lines of their own, or without any.
    let lines = |text: Option<&str>| text.unwrap_or("").replace("\r\n", "\n");
    let line = |text: Option<&str>| text.unwrap_or("").replace(['\r', '\n'], "");
    // An empty field takes back what was written.
    let column = |(name, text): (&str, &str)| {
        let name = name.strip_prefix(COLUMN)?;
        let text = line(Some(text));
        let is_new = was.columns.get(name).is_none_or(|was| line(Some(was.as_str())) != text);
        is_new.then(|| (name.to_owned(), text))
    };
    // A box that is not ticked is not sent.
    let boxed = |(name, was): (&String, &bool)| {
        let hide = changed(params.get(&format!("{HIDDEN}{name}")).is_some(), was)?;
        Some((name.clone(), hide))
    };
    let new = Words {
        title: changed(line(params.get("title")), &line(was.title.as_deref())),
        description: changed(lines(params.get("description")), &lines(was.description.as_deref())),
        columns: params.pairs().filter_map(column).collect(),
        hidden: was.hidden.iter().filter_map(boxed).collect(),
    };
    Ok(Some((was, new)))
}

/// Keeps what a form says the data are, and which columns are hidden.
async fn describe(room: &Room<'_>, dataset_id: Id<Dataset>, params: &Params) -> Result<()> {
    match said(params)? {
        Some((seen, new)) if new != Words::default() => {
            let Words { title, description, columns, hidden } = new;
            room.ask(UpdateDataset { dataset_id, title, description, columns, hidden, seen }).await.map(drop)
        }
        _ => Ok(()),
    }
}

/// Does what a form says; gives the page that follows.
async fn change(room: &Room<'_>, dataset_id: Id<Dataset>, params: &Params) -> Result<String> {
    match params.get("do") {
        Some("publish") => {
            let externally_queryable = params.get("published") == Some("1");
            // What was typed on the page and not saved yet comes along.
            describe(room, dataset_id, params).await?;
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
    let mut schema = room.ask(GetSchema::of(dataset_id)).await?.one()?;
    let was = was::shown(&shown(&schema))?;
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
    // What was typed and refused stays in the form.
    let typed = sent.and_then(|sent| said(sent.params).ok().flatten()).map(|(_, new)| new).unwrap_or_default();
    let column = |described: DescribedColumn| {
        let name = &described.column.name;
        let description = typed.columns.get(name).unwrap_or(&described.column.description).clone();
        let hide = typed.hidden.get(name).copied().unwrap_or(described.hidden);
        Column { described, description, hide }
    };
    let page = DatasetPage {
        frame: room.frame_below("").await?,
        head: Head::of(room, &schema),
        here: room.here(),
        csrf: room.csrf(),
        was,
        columns: std::mem::take(&mut schema.columns).into_iter().map(column).collect(),
        title: typed.title.unwrap_or_else(|| schema.title.clone()),
        description: typed.description.unwrap_or_else(|| schema.description.clone()),
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
