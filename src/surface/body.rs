//! Bodies of requests, read with patience that ends: a body that trickles holds a connection, and whatever its handler
//! has taken for it, for nothing.

use std::error::Error as StdError;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{Stream, StreamExt as _};
use tokio::time::Sleep;

/// How long we wait, in all, for each [`STEP`] bytes of a body. Only waiting counts: what we take to write the bytes
/// down is not the sender's.
const PATIENCE: Duration = Duration::from_secs(15);
/// About a kilobyte a second is the least that any line brings.
const STEP: usize = 16 << 10;
/// How long a body may take that is read whole, whatever its pace.
const WHOLE: Duration = Duration::from_secs(60);

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    TooLarge,
    /// It came too slowly.
    Late,
    /// It ended early, or is no HTTP.
    Broken,
}

/// The layer: a body fails with [`Late`] once we have waited too long for its next bytes.
pub async fn paced(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = if body.is_end_stream() { body } else { Body::from_stream(Paced::new(body, PATIENCE)) };
    next.run(Request::from_parts(parts, body)).await
}

/// A whole body of at most `most` bytes.
///
/// # Errors
/// [`Unread`].
pub async fn whole(body: Body, most: usize) -> Result<Bytes, Unread> {
    tokio::time::timeout(WHOLE, collect(body, most)).await.unwrap_or(Err(Unread::Late))
}

async fn collect(body: Body, most: usize) -> Result<Bytes, Unread> {
    let (mut parts, mut read) = (body.into_data_stream(), Vec::new());
    while let Some(part) = parts.next().await {
        let part = part.map_err(|problem| if is_late(&problem) { Unread::Late } else { Unread::Broken })?;
        if read.len() + part.len() > most {
            return Err(Unread::TooLarge);
        }
        read.extend_from_slice(&part);
    }
    Ok(read.into())
}

/// Whether reading failed because the body came too slowly.
pub fn is_late(problem: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(problem);
    while let Some(problem) = cause {
        if problem.is::<Late>() {
            return true;
        }
        cause = problem.source();
    }
    false
}

/// The body came too slowly.
#[derive(Debug, thiserror::Error)]
#[error("the body came too slowly")]
struct Late;

/// What is left of our patience.
#[derive(Debug)]
struct Patience {
    whole: Duration,
    waited: Duration,
    /// Bytes since `waited` was last set back.
    came: usize,
}

impl Patience {
    fn of(whole: Duration) -> Self {
        Self { whole, waited: Duration::ZERO, came: 0 }
    }

    fn left(&self) -> Duration {
        self.whole.saturating_sub(self.waited)
    }

    /// So many bytes came after so long.
    fn came(&mut self, bytes: usize, waited: Duration) {
        self.waited += waited;
        self.came += bytes;
        if self.came >= STEP {
            *self = Self::of(self.whole);
        }
    }
}

struct Paced {
    body: BodyDataStream,
    patience: Patience,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Paced {
    fn new(body: Body, patience: Duration) -> Self {
        Self { body: body.into_data_stream(), patience: Patience::of(patience), waiting: None }
    }
}

impl Stream for Paced {
    type Item = Result<Bytes, axum::BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { body, patience, waiting } = &mut *self;
        if let Poll::Ready(part) = body.poll_next_unpin(context) {
            let waited = waiting.take().map_or(Duration::ZERO, |(since, _)| since.elapsed());
            if let Some(Ok(bytes)) = &part {
                patience.came(bytes.len(), waited);
            }
            return Poll::Ready(part.map(|part| part.map_err(Into::into)));
        }
        let start = || (Instant::now(), Box::pin(tokio::time::sleep(patience.left())));
        let (_, alarm) = waiting.get_or_insert_with(start);
        alarm.as_mut().poll(context).map(|()| Some(Err(Late.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_trickle_uses_patience_up_and_a_slow_line_does_not() {
        let mut trickle = Patience::of(15 * SECOND);
        for _ in 0..14 {
            trickle.came(4, SECOND);
        }
        assert_eq!(trickle.left(), SECOND);
        trickle.came(4, 5 * SECOND);
        assert_eq!(trickle.left(), Duration::ZERO);
        let mut slow = Patience::of(15 * SECOND);
        for _ in 0..1_000 {
            slow.came(2 << 10, SECOND);
            assert!(slow.left() >= 8 * SECOND, "{slow:?}");
        }
    }

    #[test]
    fn what_was_brought_before_buys_no_longer_silence() {
        let mut patience = Patience::of(15 * SECOND);
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
    async fn too_large_and_broken_are_told_apart() {
        assert_eq!(whole(Body::from("12345"), 4).await, Err(Unread::TooLarge));
        let gone = futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]);
        assert_eq!(whole(Body::from_stream(gone), 4).await, Err(Unread::Broken));
        assert_eq!(whole(Body::from("1234"), 4).await.as_deref(), Ok(b"1234".as_slice()));
    }
}
