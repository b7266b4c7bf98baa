//! `/w/{slug}/datasets/{id}`: what a dataset holds, in figures, and its end.

use std::ops::ControlFlow;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Console, Room, Slug};
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::dataset::{Dataset, Kind};
use crate::model::error::{Code, Error, Result};
use crate::model::personal::Finding;
use crate::model::profile::{ColumnProfile, Figure};
use crate::ops::delete_dataset::DeleteDataset;
use crate::ops::get_schema::{self, GetSchema};
use crate::ops::profile_dataset::{self, ProfileDataset};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html;

const PAGE: &str = "/datasets";

#[derive(Template)]
#[template(path = "dataset.html", config = "src/surface/askama.toml")]
struct DatasetPage {
    frame: Frame,
    here: String,
    csrf: String,
    schema: get_schema::Schema,
    profile: Option<profile_dataset::Reply>,
    may_delete: bool,
    problem: String,
}

/// How much of a table's rows is NULL in a column: a share of 1.
fn null_share(rows: &i64, column: &ColumnProfile) -> f64 {
    if *rows == 0 { 0.0 } else { column.nulls as f64 / *rows as f64 }
}

/// A share as percents that never round something to nothing, nor nearly all to all.
fn percent(share: &f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if *share <= 0.0 => "0 %".to_owned(),
        _ if *share >= 1.0 => "100 %".to_owned(),
        small if small < 0.1 => "< 0.1 %".to_owned(),
        large if large > 99.9 => "> 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// A mark before a figure that is an estimate.
fn about(column: &ColumnProfile, figure: Figure) -> &'static str {
    if column.approximate.contains(&figure) { "≈ " } else { "" }
}

/// Whether a figure could not be computed.
fn is_missing(column: &ColumnProfile, figure: Figure) -> bool {
    column.not_computed.contains(&figure)
}

/// What a column seems to say of people, in words.
fn kind(finding: &Finding) -> String {
    serde_json::to_value(finding.kind).ok().and_then(|kind| Some(kind.as_str()?.replace('_', " "))).unwrap_or_default()
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = match Room::enter(&console, door, path, PAGE, request).await {
        Ok(room) => room,
        Err(response) => return response,
    };
    let cursor = Params::parse(&query).unwrap_or_default().get("cursor").map(str::to_owned);
    let page = async { page(&room, id?, cursor, "").await };
    page.await.unwrap_or_else(|error| room.refusal(&error))
}

/// `POST`: the deletion.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> Response {
    let id = id(&path);
    let (room, params) = match Room::submit(&console, door, path, PAGE, request).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let change = async {
        match params.get("do") {
            Some("delete") => {
                let name = params.get("name").unwrap_or("").to_owned();
                room.ask(DeleteDataset { dataset_id: id.clone()?, name }).await
            }
            _ => Err(Error::invalid("do", "This form is not one of this page.")),
        }
    };
    let problem = match room.settle(change.await.map(Some)) {
        ControlFlow::Continue((Some(_deleted), _)) => {
            return html::see_other(&format!("/w/{}", room.membership.org.slug));
        }
        ControlFlow::Continue((None, problem)) => problem,
        ControlFlow::Break(response) => return response,
    };
    let page = async { page(&room, id?, None, &problem).await };
    page.await.unwrap_or_else(|error| room.refusal(&error))
}

/// The dataset that the address names; an id that is none is a dataset that is not there.
fn id(path: &Slug) -> Result<Id<Dataset>> {
    path.get("id").and_then(|id| id.parse().ok()).ok_or_else(Error::dataset_not_found)
}

async fn page(room: &Room<'_>, dataset_id: Id<Dataset>, cursor: Option<String>, problem: &str) -> Result<Response> {
    let schema = room.ask(GetSchema::of(dataset_id)).await?.one()?;
    let mut problem = problem.to_owned();
    let profile = match schema.r#type {
        Kind::Documents => None,
        Kind::Table => match room.ask(ProfileDataset { dataset_id, cursor }).await {
            Ok(profile) => Some(profile),
            // The rest of the page is there without the figures.
            Err(error) if matches!(error.code, Code::InternalError | Code::DatasetNotFound) => return Err(error),
            Err(error) => {
                problem = error.message;
                None
            }
        },
    };
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = DatasetPage {
        frame: room.frame().await?,
        here: room.here(),
        csrf: room.csrf(),
        schema,
        profile,
        may_delete: room.caller.rights.allow(Action::DeleteDatasets),
        problem,
    };
    Ok(html::page(status, &page))
}

#[cfg(test)]
mod tests {
    #[test]
    fn percents_do_not_round_something_to_nothing() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.0004, "< 0.1 %"),
            (0.125, "12.5 %"),
            (0.9995, "> 99.9 %"),
            (1.0, "100 %"),
            (0.001, "0.1 %"),
        ] {
            assert_eq!(super::percent(&share), text);
        }
    }
}
