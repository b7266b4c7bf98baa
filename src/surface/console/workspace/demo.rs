//! `/w/{slug}/demo`: the demo's data, into a workspace that has none. A form waits for them; the script of the page is told
//! how far they are, a line of JSON each time.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::import::is_script;
use super::{Console, Room, Slug};
use crate::gateway::{OnProgress, Progress};
use crate::model::caller::Caller;
use crate::model::error::Result;
use crate::ops::demo;
use crate::surface::browser::visit::Door;
use crate::surface::html;

pub(super) const PAGE: &str = "/demo";

/// `POST`.
pub async fn submit(State(console): State<Console>, door: Door, path: Slug, request: Request) -> html::Result {
    let for_script = is_script(request.headers());
    let (room, _) = Room::submit(&console, door, path, PAGE, request).await?;
    if for_script {
        return Ok(told(console.clone(), room.caller));
    }
    let taken = take(&console, &room.caller, Arc::new(|_: Progress| ())).await;
    taken.map_err(|error| room.refusal(&error))?;
    Ok(html::see_other(&format!("/w/{}", room.membership.org.slug)))
}

/// Not published: what AI clients see is the next thing that is decided.
async fn take(console: &Console, caller: &Caller, tell: OnProgress) -> Result<()> {
    demo::take(&console.gateway, caller, "console.call", false, tell).await
}

/// Goes on to its end when nobody listens any more.
fn told(console: Console, caller: Caller) -> Response {
    let (lines, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let progress = lines.clone();
        let tell = Arc::new(move |Progress { fraction, message }: Progress| {
            // Nobody listens any more.
            let _left = progress.send(json!({ "fraction": fraction, "message": message }));
        });
        let last = match take(&console, &caller, tell).await {
            Ok(()) => json!({ "done": true }),
            Err(error) => json!({ "problem": error.message }),
        };
        let _left = lines.send(last);
    });
    let told = stream::unfold(told, |mut told: mpsc::UnboundedReceiver<Value>| async move {
        let line = told.recv().await?;
        Some((Ok::<_, Infallible>(format!("{line}\n")), told))
    });
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(told)).into_response()
}
