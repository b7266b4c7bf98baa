//! Reads what is left of a request that is answered before its end, such as a form that is too large: a client that is
//! still sending would see a broken connection instead of the answer (RFC 9112 section 9.6).

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::{Stream, StreamExt as _};

/// No more is read, in bytes, nor for longer: what sends on and on is cut off.
const MOST: usize = 16 << 20;
const LONGEST: Duration = Duration::from_secs(5);

/// Lets a handler leave a body unread.
pub async fn linger(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = if body.is_end_stream() { body } else { Body::from_stream(Rest(Some(body.into_data_stream()))) };
    next.run(Request::from_parts(parts, body)).await
}

/// A body of which the rest is read when nobody wants it any more.
struct Rest(Option<BodyDataStream>);

impl Stream for Rest {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let polled = body.poll_next_unpin(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.0 = None;
        }
        polled
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        let (Some(mut body), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) else { return };
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
