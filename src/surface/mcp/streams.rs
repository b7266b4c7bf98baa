//! Answers that stay open: what they hold, and when they end at the latest.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, PollNext};
use http::header::CONTENT_TYPE;

use crate::base::shares::Share;
use crate::gateway::switch::Open;
use crate::surface::guard::Lease;

/// How often an open stream's credential is looked at again.
const WATCH: Duration = Duration::from_secs(5);

pub(super) fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    response.status().is_success() && media.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// A stream with other parts in it, which come first where there are any: its last part may be among those that wait, and
/// ends it. Each part is a whole event.
pub(super) fn joined(response: Response, others: BoxStream<'static, Bytes>) -> Response {
    response.map(|body| {
        let own = body.into_data_stream().map(Some).chain(futures_util::stream::once(async { None }));
        let others = others.map(|part| Some(Ok(part)));
        let parts = futures_util::stream::select_with_strategy(others, own, |(): &mut ()| PollNext::Left);
        let parts = parts.take_while(|part| std::future::ready(part.is_some()));
        Body::from_stream(parts.filter_map(std::future::ready))
    })
}

/// A stream ends with what opened it (I18, J09): once that is revoked, suspended or past its time, nobody listens on for
/// longer than [`WATCH`], and `gone` is done. When the workspace turns its clients off it ends with all others, and the
/// session stays. It ends after `longest` in any case: whoever goes on proves themselves again. Its `place` is free when it
/// has ended, whoever ended it.
pub(super) fn bounded(
    response: Response,
    lease: Lease,
    longest: Duration,
    (place, open): (Option<Share>, Open),
    gone: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let watch = async move {
        loop {
            tokio::time::sleep(WATCH).await;
            if !lease.holds().await {
                tokio::spawn(gone);
                return;
            }
        }
    };
    let end = async move {
        tokio::select! {
            _either_way = tokio::time::timeout(longest, watch) => {}
            () = open.closed() => {}
        }
    };
    response.map(|body| {
        let parts = body.into_data_stream().take_until(Box::pin(end));
        Body::from_stream(parts.map(move |part| {
            let _kept_as_long_as_the_stream = &place;
            part
        }))
    })
}
