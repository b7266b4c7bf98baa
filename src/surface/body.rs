//! Bodies of requests, read with patience that ends: a body that trickles holds a connection, and whatever its handler
//! has taken for it, for nothing. What is kept of a body takes memory while it comes: more than a little needs a place.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{Stream, StreamExt as _};
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use tokio::time::Sleep;

use crate::base::shares::Share;
use crate::model::error::{Error, Result};

/// How long we wait, in all, for each [`STEP`] bytes of a body. Only waiting counts: what we take to write the bytes
/// down is not the sender's.
const PATIENCE: Duration = Duration::from_secs(15);
/// About a kilobyte a second is the least that any line brings.
const STEP: usize = 16 << 10;
/// How long a body may take that is read whole, whatever its pace.
const WHOLE: Duration = Duration::from_secs(60);
/// Bytes of a body that are kept without a place: what one sender has of them is bounded by the requests of a minute.
pub const FREE: usize = 64 << 10;

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread<E = Infallible> {
    TooLarge,
    /// It came too slowly.
    Late,
    /// It ended early, or is no HTTP.
    Broken,
    /// It needs a place, and gets none.
    NoPlace(E),
}

/// The layer: a body fails with [`Late`] once we have waited too long for its next bytes.
pub async fn paced(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = if body.is_end_stream() { body } else { Body::from_stream(Paced::new(body, PATIENCE)) };
    next.run(Request::from_parts(parts, body)).await
}

/// A whole body of at most `most` bytes, which are few.
///
/// # Errors
/// [`Unread`].
pub async fn whole(body: Body, most: usize) -> Result<Bytes, Unread> {
    tokio::time::timeout(WHOLE, collect(body, 0, most, || Ok(()))).await.unwrap_or(Err(Unread::Late))
}

/// A whole body of at most `most` bytes, which may be many. Before more than [`FREE`] of them are kept, `place` says
/// whether its sender may send so much, and takes what is held while it comes. A body whose headers say that it is so
/// long is not asked for before.
///
/// # Errors
/// [`Unread`], with the error of `place`.
pub async fn large(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    place: impl FnOnce() -> Result<Share>,
) -> Result<Bytes, Unread<Error>> {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let reading = collect(body, length.unwrap_or(0), most, place);
    tokio::time::timeout(WHOLE, reading).await.unwrap_or(Err(Unread::Late))
}

async fn collect<P, E>(
    body: Body,
    length: usize,
    most: usize,
    place: impl FnOnce() -> Result<P, E>,
) -> Result<Bytes, Unread<E>> {
    let (mut parts, mut read) = (body.into_data_stream(), Vec::new());
    let (mut place, mut held) = (Some(place), None);
    if let Some(place) = place.take_if(|_| length > FREE) {
        held = Some(place().map_err(Unread::NoPlace)?);
    }
    while let Some(part) = parts.next().await {
        let part = match part {
            Ok(part) => part,
            Err(problem) if is_late(&problem) => return Err(Unread::Late),
            Err(_) => return Err(Unread::Broken),
        };
        let came = read.len() + part.len();
        if came > most {
            return Err(Unread::TooLarge);
        }
        if let Some(place) = place.take_if(|_| came > FREE) {
            held = Some(place().map_err(Unread::NoPlace)?);
        }
        read.extend_from_slice(&part);
    }
    drop(held);
    Ok(read.into())
}

/// Whether reading failed because the body came too slowly.
pub fn is_late(problem: &(dyn StdError + 'static)) -> bool {
    is_caused_by::<Late>(problem)
}

/// Whether an error, or what caused it, is of this type.
pub fn is_caused_by<E: StdError + 'static>(problem: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(problem);
    while let Some(problem) = cause {
        if problem.is::<E>() {
            return true;
        }
        cause = problem.source();
    }
    false
}

/// The body came too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body came too slowly")]
pub(super) struct Late;

/// Patience with whoever brings bytes, or takes them: so long, in all, for each step of them.
#[derive(Debug)]
pub(super) struct Patience {
    whole: Duration,
    /// Bytes after which patience is whole again.
    step: usize,
    waited: Duration,
    /// Bytes since `waited` was last set back.
    came: usize,
    /// Since when bytes are waited for, and when that has been too long.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Patience {
    pub(super) fn of(whole: Duration, step: usize) -> Self {
        Self { whole, step, waited: Duration::ZERO, came: 0, waiting: None }
    }

    /// Begins anew, as if nothing had been waited for.
    pub(super) fn renew(&mut self) {
        *self = Self::of(self.whole, self.step);
    }

    fn left(&self) -> Duration {
        self.whole.saturating_sub(self.waited)
    }

    /// So many bytes came after so long.
    fn came(&mut self, bytes: usize, waited: Duration) {
        self.waited += waited;
        self.came += bytes;
        if self.came >= self.step {
            self.renew();
        }
    }

    /// What a try gave, in which there are so many `bytes`; a failure when it is still without a result and there is no
    /// patience left.
    pub(super) fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        tried: Poll<T>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Poll<Result<T, Late>> {
        if let Poll::Ready(done) = tried {
            let waited = self.waiting.take().map_or(Duration::ZERO, |(since, _)| since.elapsed());
            self.came(bytes(&done), waited);
            return Poll::Ready(Ok(done));
        }
        let left = self.left();
        let (_, alarm) = self.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(left))));
        alarm.as_mut().poll(context).map(|()| Err(Late))
    }
}

struct Paced {
    body: BodyDataStream,
    patience: Patience,
}

impl Paced {
    fn new(body: Body, patience: Duration) -> Self {
        Self { body: body.into_data_stream(), patience: Patience::of(patience, STEP) }
    }
}

impl Stream for Paced {
    type Item = Result<Bytes, axum::BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { body, patience } = &mut *self;
        let part = body.poll_next_unpin(context);
        let judged = patience.judge(context, part, |part| match part {
            Some(Ok(bytes)) => bytes.len(),
            Some(Err(_)) | None => 0,
        });
        judged.map(|judged| match judged {
            Ok(part) => part.map(|part| part.map_err(Into::into)),
            Err(late) => Some(Err(late.into())),
        })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::base::shares::Shares;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_trickle_uses_patience_up_and_a_slow_line_does_not() {
        let mut trickle = Patience::of(15 * SECOND, STEP);
        for _ in 0..14 {
            trickle.came(4, SECOND);
        }
        assert_eq!(trickle.left(), SECOND);
        trickle.came(4, 5 * SECOND);
        assert_eq!(trickle.left(), Duration::ZERO);
        let mut slow = Patience::of(15 * SECOND, STEP);
        for _ in 0..1_000 {
            slow.came(2 << 10, SECOND);
            assert!(slow.left() >= 8 * SECOND, "{slow:?}");
        }
    }

    #[test]
    fn what_was_brought_before_buys_no_longer_silence() {
        let mut patience = Patience::of(15 * SECOND, STEP);
        patience.came(100 << 20, SECOND);
        assert_eq!(patience.left(), 15 * SECOND);
    }

    /// A body of parts that are there at once, and then silence.
    fn silent_after(parts: &[&'static str]) -> Body {
        let parts: Vec<_> =
            parts.iter().map(|part| Ok::<_, std::io::Error>(Bytes::from_static(part.as_bytes()))).collect();
        Body::from_stream(futures_util::stream::iter(parts).chain(futures_util::stream::pending()))
    }

    #[tokio::test]
    async fn a_body_that_falls_silent_fails_and_says_that_it_was_late() {
        let body = Body::from_stream(Paced::new(silent_after(&["ab", "cd"]), Duration::from_millis(20)));
        assert_eq!(whole(body, 100).await, Err(Unread::Late));
    }

    #[tokio::test]
    async fn patience_is_not_used_up_by_a_slow_reader() {
        let body = Body::from_stream(futures_util::stream::iter((0..5).map(|_| Ok::<_, std::io::Error>("x"))));
        let mut parts = Box::pin(Paced::new(body, Duration::from_nanos(1)));
        let mut read = 0;
        while let Some(part) = parts.next().await {
            read += part.unwrap().len();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(read, 5);
    }

    #[tokio::test]
    async fn more_than_a_little_needs_a_place_and_is_not_asked_for_before_it_has_one() {
        let places = Shares::new("bodies", 1);
        let place = || places.enter(&[]).map_err(|_| Error::unavailable("All places are taken."));
        let read = async |body: Body| large(&HeaderMap::new(), body, 1 << 20, place).await;
        let long = || Body::from(vec![b'x'; FREE + 1]);
        assert_eq!(read(long()).await.unwrap().len(), FREE + 1);
        let taken = place().unwrap();
        assert_eq!(read(Body::from(vec![b'x'; FREE])).await.unwrap().len(), FREE, "a little needs none");
        assert!(matches!(read(long()).await, Err(Unread::NoPlace(_))));
        let untouched = futures_util::stream::poll_fn(|_| -> Poll<Option<std::io::Result<Bytes>>> { panic!("read") });
        let headers = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from(FREE + 1))]);
        let refused = large(&headers, Body::from_stream(untouched), 1 << 20, place).await;
        assert!(matches!(refused, Err(Unread::NoPlace(_))));
        drop(taken);
        assert_eq!(read(long()).await.unwrap().len(), FREE + 1, "it was given back");
    }

    #[tokio::test]
    async fn too_large_and_broken_are_told_apart() {
        assert_eq!(whole(Body::from("12345"), 4).await, Err(Unread::TooLarge));
        let gone = futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]);
        assert_eq!(whole(Body::from_stream(gone), 4).await, Err(Unread::Broken));
        assert_eq!(whole(Body::from("1234"), 4).await.as_deref(), Ok(b"1234".as_slice()));
    }
}
