//! `/w/{slug}/datasets/{id}/rows`: the rows of a table, page by page, sorted, and those alone that say something.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use url::form_urlencoded::Serializer;

use super::dataset::{Head, id};
use super::table::Shown;
use super::{CSV, Console, Room, Slug};
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Result};
use crate::ops::browse_rows::BrowseRows;
use crate::ops::get_schema::GetSchema;
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html;

const PAGE: &str = "/datasets/{id}/rows";

/// What is asked for, as the address says it.
struct Wish {
    sort: String,
    descending: bool,
    column: String,
    contains: String,
    page: u32,
}

impl Wish {
    fn of(params: &Params) -> Self {
        let text = |name: &str| params.get(name).unwrap_or("").to_owned();
        Self {
            sort: text("sort"),
            descending: params.get("order") == Some("desc"),
            column: text("column"),
            contains: text("text"),
            page: params.get("page").and_then(|page| page.parse().ok()).unwrap_or(1),
        }
    }

    fn operation(&self, dataset_id: Id<Dataset>) -> BrowseRows {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let contains = some(&self.contains);
        BrowseRows {
            dataset_id,
            sort: some(&self.sort),
            descending: self.descending,
            column: some(&self.column).filter(|_| contains.is_some()),
            contains,
            page: self.page,
        }
    }

    /// The address of another page, or another order, of the same rows.
    fn link(&self, here: &str, sort: &str, descending: bool, page: u32) -> String {
        let mut query = Serializer::new(String::new());
        let order = if descending { "desc" } else { "" };
        let page = if page > 1 { page.to_string() } else { String::new() };
        let pairs =
            [("sort", sort), ("order", order), ("column", &self.column), ("text", &self.contains), ("page", &page)];
        query.extend_pairs(pairs.into_iter().filter(|(_, value)| !value.is_empty()));
        format!("{here}?{}", query.finish())
    }
}

/// A column's heading, which sorts.
struct Heading {
    name: String,
    r#type: String,
    href: String,
    /// For `aria-sort`; empty where the rows are not sorted by it.
    sorted: &'static str,
}

#[derive(Template)]
#[template(path = "dataset_rows.html", config = "src/surface/askama.toml")]
struct RowsPage {
    frame: Frame,
    head: Head,
    here: String,
    headings: Vec<Heading>,
    rows: Option<Shown>,
    wish: Wish,
    first: usize,
    before: Option<String>,
    after: Option<String>,
    /// The statement for all of the rows, for a file.
    sql: String,
    csv_csrf: String,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let wish = Wish::of(&Params::parse(&query).unwrap_or_default());
    let page = async { page(&room, id?, wish).await };
    page.await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, dataset_id: Id<Dataset>, wish: Wish) -> Result<Response> {
    let schema = room.ask(GetSchema::of(dataset_id)).await?.one()?;
    let here = room.here();
    let heading = |name: &str, r#type: &str| {
        let is_sorted = wish.sort == name;
        Heading {
            // A second click turns the order round.
            href: wish.link(&here, name, is_sorted && !wish.descending, 1),
            sorted: match (is_sorted, wish.descending) {
                (false, _) => "",
                (true, false) => "ascending",
                (true, true) => "descending",
            },
            name: name.to_owned(),
            r#type: r#type.to_owned(),
        }
    };
    let columns = schema.columns.iter().map(|described| &described.column);
    let headings = columns.map(|column| heading(&column.name, &column.r#type)).collect();
    let mut page = RowsPage {
        frame: room.frame_below("").await?,
        head: Head::of(room, &schema),
        headings,
        rows: None,
        first: 1,
        before: None,
        after: None,
        sql: String::new(),
        csv_csrf: room.csrf_at(CSV),
        problem: String::new(),
        here: here.clone(),
        wish,
    };
    let mut status = StatusCode::OK;
    match room.ask(page.wish.operation(dataset_id)).await {
        Ok(found) => {
            let wish = &page.wish;
            let link = |number| wish.link(&here, &wish.sort, wish.descending, number);
            page.before = (wish.page > 1).then(|| link(wish.page - 1));
            page.after = found.more.then(|| link(wish.page + 1));
            page.first = found.first;
            page.sql = found.sql;
            page.rows = Some(Shown::of(found.columns, &found.rows)?);
        }
        Err(error) if matches!(error.code, Code::InternalError | Code::DatasetNotFound | Code::ScopeDenied) => {
            return Err(error);
        }
        Err(error) => {
            status = StatusCode::UNPROCESSABLE_ENTITY;
            page.problem = error.message;
        }
    }
    Ok(html::page(status, &page))
}
