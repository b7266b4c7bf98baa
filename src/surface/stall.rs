//! Connections whose client reads: one that takes too little for a while, although there is something to be had, is
//! closed. Whoever opens a stream and never looks at it holds no place for good, nor does a large answer stay in memory
//! for somebody who takes it byte by byte.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::surface::body::Patience;

/// How long we wait, in all, for each [`STEP`] bytes to be taken, and for any. Only waiting counts: a stream that has
/// nothing to send waits for nobody.
const PATIENCE: Duration = Duration::from_secs(60);
/// About a kilobyte a second is the least that any line takes. A page of the usual size waits for no line: it fits into
/// what the system keeps of a connection.
const STEP: usize = 64 << 10;

/// See the module.
pub struct Stalling<S> {
    stream: S,
    patience: Patience,
}

impl<S> Stalling<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, patience: Patience::of(PATIENCE, STEP) }
    }

    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        taken: Poll<io::Result<T>>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Poll<io::Result<T>> {
        let bytes = |taken: &io::Result<T>| taken.as_ref().map_or(0, bytes);
        let judged = self.patience.judge(context, taken, bytes);
        judged.map(|judged| judged.unwrap_or_else(|_late| Err(io::ErrorKind::TimedOut.into())))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let taken = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, taken, |bytes| *bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let taken = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(context, taken, |bytes| *bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        let flushed = self.judge(context, flushed, |_| 0);
        // All that there was is taken. What comes later, as on a stream of events, has patience of its own.
        if flushed.is_ready() {
            self.patience.renew();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// With little patience, so that nobody waits for a test.
    fn stalling<S>(stream: S, patience: Duration, step: usize) -> Stalling<S> {
        Stalling { stream, patience: Patience::of(patience, step) }
    }

    /// Takes a byte after each pause, until there are no more.
    async fn sip(mut from: tokio::io::DuplexStream, pause: Duration) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(byte) = from.read_u8().await {
            all.push(byte);
            tokio::time::sleep(pause).await;
        }
        all
    }

    #[tokio::test]
    async fn who_takes_nothing_is_given_up_after_a_while() {
        let (near, _far) = tokio::io::duplex(4);
        let patience = Duration::from_millis(50);
        let started = Instant::now();
        let problem = stalling(near, patience, 1).write_all(b"more than fits").await.unwrap_err();
        assert_eq!(problem.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() >= patience, "not before");
    }

    #[tokio::test]
    async fn who_takes_a_little_now_and_then_gets_it_all() {
        let (near, far) = tokio::io::duplex(4);
        let patience = Duration::from_secs(1);
        let slow = tokio::spawn(sip(far, patience / 10));
        let (mut near, started) = (stalling(near, patience, 4), Instant::now());
        near.write_all(b"more than fits, and more than there is patience for").await.unwrap();
        drop(near);
        assert_eq!(slow.await.unwrap(), b"more than fits, and more than there is patience for");
        assert!(started.elapsed() > patience, "as long as each pause is short");
    }

    #[tokio::test]
    async fn who_takes_too_little_for_its_size_is_given_up_however_short_the_pauses() {
        let (near, far) = tokio::io::duplex(4);
        let patience = Duration::from_millis(200);
        let trickle = tokio::spawn(sip(far, patience / 20));
        let problem = stalling(near, patience, 1_000).write_all(&[0; 1_000]).await.unwrap_err();
        assert_eq!(problem.kind(), io::ErrorKind::TimedOut);
        assert!(trickle.await.unwrap().len() < 1_000);
    }

    #[tokio::test]
    async fn events_that_are_all_taken_one_after_another_use_up_no_patience() {
        let (near, far) = tokio::io::duplex(4);
        let patience = Duration::from_secs(1);
        let slow = tokio::spawn(sip(far, patience / 50));
        let (mut near, started) = (stalling(near, patience, 1_000), Instant::now());
        for _ in 0..15 {
            near.write_all(b"an event").await.unwrap();
            near.flush().await.unwrap();
        }
        drop(near);
        assert_eq!(slow.await.unwrap().len(), 15 * 8);
        assert!(started.elapsed() > patience);
    }
}
