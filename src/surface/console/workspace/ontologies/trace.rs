//! `/w/{slug}/questions/{id}`: how a question became its answer, step by step, and remembering it.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::questions::{ended, tone};
use super::{Head, PAGE, TRACE, standing};
use crate::base::id::Id;
use crate::model::access::Action;
use crate::model::error::{Code, Error, Result};
use crate::model::run::{Memory, Phase, Run, Trace};
use crate::ops::questions::{Asked, GetTrace, InspectTrace, Remember, Traced};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::console::workspace::{Console, Room, Slug, parsed};
use crate::surface::form::Params;
use crate::surface::html::{self, filters};

/// A phase as a bar: where it begins and how long it is, in percent of the whole.
struct Bar {
    phase: Phase,
    start: f64,
    width: f64,
}

#[derive(Template)]
#[template(path = "question.html", config = "src/surface/askama.toml")]
struct TracePage {
    frame: Frame,
    head: Head,
    here: String,
    csrf: String,
    asked: Asked,
    trace: Trace,
    bars: Vec<Bar>,
    /// As JSON, indented.
    plan: Option<String>,
    /// The conversation to go on with, when the person came from there.
    conversation: Option<String>,
    /// The same as the form carries it.
    carried: String,
    remembered: Option<Memory>,
    may_verify: bool,
    /// Something was chosen that could be remembered.
    chose: bool,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let query = request.uri().query().unwrap_or("").to_owned();
    let id = id(&path);
    let room = Room::enter(&console, door, path, TRACE, request).await?;
    let params = Params::parse(&query).unwrap_or_default();
    let page = async { page(&room, id?, &params, "").await };
    page.await.map_err(|error| room.refusal(&error))
}

/// `POST`: it is remembered.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let id = id(&path);
    let (room, params) = Room::submit(&console, door, path, TRACE, request).await?;
    let changed = async { remember(&room, id.clone()?, &params).await.map(Some) };
    let (memory, problem) = room.settle(changed).await?;
    if let Some(memory) = memory {
        let conversation = params.get("conversation").unwrap_or("");
        let said = [("remembered", memory.name()), ("conversation", conversation)];
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(said).finish();
        return Ok(html::see_other(&format!("{}?{query}", room.here())));
    }
    let page = async { page(&room, id?, &params, &problem).await };
    page.await.map_err(|error| room.refusal(&error))
}

fn id(path: &Slug) -> Result<Id<Run>> {
    path.get("id").and_then(|id| id.parse().ok()).ok_or_else(|| Error::not_found("question"))
}

async fn remember(room: &Room<'_>, trace_id: Id<Run>, params: &Params) -> Result<Memory> {
    if params.get("do") != Some("remember") {
        return Err(Error::invalid("do", "This form is not one of this page."));
    }
    if params.get("agreed") != Some("1") {
        let message = "What is remembered holds for everybody in this workspace. Tick the box to agree to that.";
        return Err(Error::invalid("agreed", message));
    }
    let memory: Memory = parsed(params, "memory")?;
    room.ask(Remember { trace_id, memory }).await?;
    Ok(memory)
}

async fn page(room: &Room<'_>, trace_id: Id<Run>, params: &Params, problem: &str) -> Result<Response> {
    let Traced { asked, ontology_id, trace } = match room.ask(GetTrace { trace_id }).await {
        // Somebody else's: for admins, and the record says so.
        Err(error) if error.code == Code::NotFound && room.caller.rights.allow(Action::Administer) => {
            room.ask(InspectTrace { trace_id }).await?
        }
        found => found?,
    };
    let standing = standing(room, ontology_id).await?;
    let plan = trace.reading.as_ref().map(|reading| serde_json::to_string_pretty(&reading.plan));
    let status = if problem.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = TracePage {
        frame: room.frame_below(PAGE).await?,
        head: Head::of(room, &standing),
        here: room.here(),
        csrf: room.csrf(),
        asked,
        bars: bars(&trace.phases),
        plan: plan.transpose().map_err(Error::internal)?,
        conversation: params.get("conversation").map(str::to_owned),
        remembered: params.get("remembered").and_then(Memory::parse),
        carried: params.get("conversation").unwrap_or("").to_owned(),
        chose: !trace.chosen.is_empty(),
        may_verify: trace.reading.is_some() && trace.sql.is_some() && !trace.follows && trace.chosen.is_empty(),
        trace,
        problem: problem.to_owned(),
    };
    Ok(html::page(status, &page))
}

fn bars(phases: &[Phase]) -> Vec<Bar> {
    let whole: f64 = phases.iter().map(|phase| phase.ms).sum();
    let share = |ms: f64| if whole > 0.0 { ms / whole * 100.0 } else { 0.0 };
    let mut start = 0.0;
    let bar = |phase: &Phase| {
        // Thin enough to be true, wide enough to be seen.
        let bar = Bar { phase: phase.clone(), start: share(start).min(99.0), width: share(phase.ms).max(1.0) };
        start += phase.ms;
        bar
    };
    phases.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_each_other_and_are_never_invisible() {
        let phase = |ms| Phase { name: "p".into(), ms, says: String::new() };
        let places = |phases: &[Phase]| bars(phases).iter().map(|bar| (bar.start, bar.width)).collect::<Vec<_>>();
        assert_eq!(places(&[phase(3.0), phase(1.0)]), [(0.0, 75.0), (75.0, 25.0)]);
        assert_eq!(places(&[phase(1000.0), phase(0.0)]), [(0.0, 100.0), (99.0, 1.0)]);
        assert_eq!(places(&[phase(0.0)]), [(0.0, 1.0)]);
    }
}
