//! `/w/{slug}/follow`: documents that are kept from elsewhere, and the forms that begin new ones.

use std::future::ready;

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::kept::{self, Followed, Kept};
use super::places::{Sent, wrong_field};
use super::{Console, Room, Slug};
use crate::model::error::Result;
use crate::model::sync::{Origin, State as Run};
use crate::surface::browser::visit::Door;
use crate::surface::console::frame::Frame;
use crate::surface::html::{self, filters};

const PAGE: &str = "/follow";

/// Several that wait for their turn.
#[derive(Debug, PartialEq, Eq)]
struct Queue {
    count: usize,
    /// The one that waits longest, and since when.
    first: String,
    since: String,
}

impl Queue {
    /// `None` where no more than one waits.
    fn of(followed: &[Followed]) -> Option<Self> {
        let waiting = followed.iter().map(|one| &one.sync).filter(|sync| sync.run.state == Run::Waiting);
        let count = waiting.clone().count();
        let first =
            waiting.min_by(|one, other| one.run.requested_at.cmp(&other.run.requested_at)).filter(|_| count > 1)?;
        Some(Self { count, first: first.name.clone(), since: first.run.requested_at.clone() })
    }
}

#[derive(Template)]
#[template(path = "follow.html", config = "src/surface/askama.toml")]
struct FollowPage {
    frame: Frame,
    here: String,
    csrf: String,
    kept: Kept,
    queue: Option<Queue>,
    /// Each of them is seen from its documents.
    is_table: bool,
    problem: String,
}

/// `GET`.
pub async fn show(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let room = Room::enter(&console, door, path, PAGE, request).await?;
    page(&room, None).await.map_err(|error| room.refusal(&error))
}

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let (room, params) = Room::submit(&console, door, path, PAGE, request).await?;
    let changed = kept::change(&room, None, &params).await;
    let field = wrong_field(&changed);
    let (_, problem) = room.settle(ready(changed.map(|()| None::<()>))).await?;
    let sent = Sent { params: &params, problem: &problem, field: &field };
    page(&room, Some(&sent)).await.map_err(|error| room.refusal(&error))
}

async fn page(room: &Room<'_>, sent: Option<&Sent<'_>>) -> Result<Response> {
    let status = if sent.is_none() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let kept = Kept::all(room, sent).await?;
    let page = FollowPage {
        frame: room.frame_below("").await?,
        here: room.here(),
        csrf: room.csrf(),
        queue: Queue::of(&kept.followed),
        kept,
        is_table: false,
        problem: sent.map(|sent| sent.problem.to_owned()).unwrap_or_default(),
    };
    Ok(html::page(status, &page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::document_syncs::{RunShown, Shown};

    fn followed(name: &str, state: Run, requested_at: &str) -> Followed {
        let run = RunShown {
            job_id: String::new(),
            state,
            message: String::new(),
            progress: 0.0,
            changes: None,
            requested_at: requested_at.into(),
            ended_at: None,
        };
        let origin = Origin::Folder("papers".into());
        let sync = Shown { name: name.into(), origin, every_minutes: None, run, last_sync: None };
        Followed { sync, own: None, other: None }
    }

    #[test]
    fn those_that_wait_are_counted_and_the_one_that_waits_longest_is_named() {
        let (early, late) = ("2026-11-21T22:07:48.123Z", "2026-11-21T22:07:49.000Z");
        let one = [followed("a", Run::Waiting, late), followed("b", Run::Running, early)];
        assert_eq!(Queue::of(&one), None);
        let [a, b] = one;
        let several = [a, b, followed("c", Run::Waiting, early), followed("d", Run::Done, early)];
        let queue = Queue { count: 2, first: "c".into(), since: early.into() };
        assert_eq!(Queue::of(&several), Some(queue));
    }
}
