//! `/w/{slug}/datasets/{id}/profile`: what the columns of a table hold, in figures.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::dataset::{Head, id};
use super::{Console, Room, Slug};
use crate::base::id::Id;
use crate::model::dataset::Dataset;
use crate::model::error::{Code, Result};
use crate::model::personal::Finding;
use crate::model::profile::{ColumnProfile, Figure};
use crate::ops::get_schema::GetSchema;
use crate::ops::plot_columns::{Plot, PlotColumns};
use crate::ops::profile_dataset::{self, ProfileDataset};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::form::Params;
use crate::surface::html;

const PAGE: &str = "/datasets/{id}/profile";

#[derive(Template)]
#[template(path = "dataset_profile.html", config = "src/surface/askama.toml")]
struct ProfilePage {
    frame: Frame,
    head: Head,
    here: String,
    profile: Option<profile_dataset::Reply>,
    plots: Vec<Bars>,
    problem: String,
}

/// The values of a column in ranges, as a small picture.
struct Bars {
    column: String,
    /// For those who do not see it.
    says: String,
    /// How high each is: 0 to 40.
    heights: Vec<f64>,
}

impl Bars {
    fn of(plot: Plot) -> Self {
        let most = plot.counts.iter().max().copied().unwrap_or_default().max(1);
        let ranges = plot.counts.iter().zip(plot.edges.iter().zip(plot.edges.iter().skip(1)));
        let filled = ranges.filter(|(count, _)| **count > 0);
        let says: Vec<String> = filled.map(|(count, (from, to))| format!("{from} to {to}: {count}")).collect();
        // The rarest value is still seen.
        let height = |count: &i64| if *count == 0 { 0.0 } else { (*count as f64 / most as f64 * 40.0).max(1.5) };
        Self { says: says.join(", "), heights: plot.counts.iter().map(height).collect(), column: plot.column }
    }
}

/// The picture of a column.
fn bars<'b>(plots: &'b [Bars], column: &str) -> Option<&'b Bars> {
    plots.iter().find(|bars| bars.column == column)
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

/// A mean or median to four places, or as many digits of what is below 1, without zeros at its end.
fn figure(number: &f64) -> String {
    let places = if *number == 0.0 { 0.0 } else { 3.0 - number.abs().log10().floor() };
    let places = places.clamp(4.0, 15.0) as usize;
    let text = format!("{number:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A median, which may be a time.
fn median(text: &str) -> String {
    match text.parse() {
        Ok(number) if text.contains('.') => figure(&number),
        _ => text.to_owned(),
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
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    let cursor = Params::parse(&query).unwrap_or_default().get("cursor").map(str::to_owned);
    let page = async { page(&room, id?, cursor).await };
    page.await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, dataset_id: Id<Dataset>, cursor: Option<String>) -> Result<Response> {
    let schema = room.ask(GetSchema::of(dataset_id)).await?.one()?;
    let plotted = PlotColumns { dataset_id, cursor: cursor.clone() };
    let (profile, problem) = match room.ask(ProfileDataset { dataset_id, cursor }).await {
        Ok(profile) => (Some(profile), String::new()),
        Err(error) if matches!(error.code, Code::InternalError | Code::DatasetNotFound) => return Err(error),
        Err(error) => (None, error.message),
    };
    // The figures stand without pictures too, where there is no time for them.
    let plots = match &profile {
        Some(_) => room.ask(plotted).await.map(|found| found.plots).unwrap_or_default(),
        None => Vec::new(),
    };
    let plots = plots.into_iter().map(Bars::of).collect();
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let (frame, head) = (room.frame_below("").await?, Head::of(room, &schema));
    Ok(html::page(status, &ProfilePage { frame, head, here: room.here(), profile, plots, problem }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn means_and_medians_end_where_they_say_nothing_more() {
        for (number, text) in [(100.5, "100.5"), (100.0, "100"), (0.0, "0"), (20.183_999_999_999_997, "20.184")] {
            assert_eq!(super::figure(&number), text);
            assert_eq!(super::median(&format!("{number:?}")), text);
        }
        assert_eq!(super::figure(&-0.000_012_344_9), "-0.00001234");
        assert_eq!(super::figure(&(1.0 / 3.0)), "0.3333");
        for same in ["2013", "9007199254740993", "2013-07-01 12:00:00.5"] {
            assert_eq!(super::median(same), same);
        }
    }

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
