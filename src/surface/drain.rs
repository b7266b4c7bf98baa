//! Reads what is left of a request that is answered before its end, such as a form that is too large, or one without a
//! credential: a client that is still sending would see a broken connection instead of the answer (RFC 9112 §9.6). What
//! the end of the service waits for is said in `app.rs`.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{Stream, StreamExt as _};
use http::header::EXPECT;

/// No more is read, in bytes, nor for longer: what sends on and on is cut off.
const MOST: usize = 16 << 20;
const LONGEST: Duration = Duration::from_secs(5);

/// The layer: whatever lies within it may leave a body unread.
pub async fn drain(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = match body.is_end_stream() {
        true => body,
        // Who waits to be asked for a body has not sent it yet, and to read is to ask (RFC 9110 §10.1.1).
        false => Body::from_stream(Drained::new(body, !parts.headers.contains_key(EXPECT))),
    };
    next.run(Request::from_parts(parts, body)).await
}

/// A body of which the rest is read when nobody wants it any more.
struct Drained {
    body: Option<BodyDataStream>,
    /// It is on its way.
    is_sent: bool,
}

impl Drained {
    fn new(body: Body, is_sent: bool) -> Self {
        Self { body: Some(body.into_data_stream()), is_sent }
    }
}

impl Stream for Drained {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.is_sent = true;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = body.poll_next_unpin(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let Some(mut body) = self.body.take().filter(|_| self.is_sent) else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(tokio::time::timeout(LONGEST, async move {
            let mut read = 0;
            while let Some(Ok(part)) = body.next().await {
                read += part.len();
                if read > MOST {
                    break;
                }
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    /// A body of three parts that says which of them were read.
    fn told() -> (Body, mpsc::UnboundedReceiver<usize>) {
        let (tell, read) = mpsc::unbounded_channel();
        let parts = futures_util::stream::iter(0..3).map(move |at| {
            tell.send(at).unwrap();
            Ok::<_, std::io::Error>("x")
        });
        (Body::from_stream(parts), read)
    }

    async fn all(mut read: mpsc::UnboundedReceiver<usize>) -> Vec<usize> {
        let mut parts = Vec::new();
        while let Some(part) = read.recv().await {
            parts.push(part);
        }
        parts
    }

    #[tokio::test]
    async fn what_nobody_wants_is_read_to_its_end() {
        let (body, read) = told();
        drop(Drained::new(body, true));
        assert_eq!(all(read).await, [0, 1, 2]);
    }

    #[tokio::test]
    async fn a_body_that_its_sender_was_not_asked_for_is_not_asked_for() {
        let (body, read) = told();
        drop(Drained::new(body, false));
        assert_eq!(all(read).await, [0; 0]);
        let (body, read) = told();
        let mut begun = Drained::new(body, false);
        begun.next().await.unwrap().unwrap();
        drop(begun);
        assert_eq!(all(read).await, [0, 1, 2]);
    }
}
