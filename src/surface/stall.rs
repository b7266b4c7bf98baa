//! Connections whose client reads: one that takes nothing for a while, although there is something to be had, is closed.
//! Whoever opens a stream and never looks at it holds no place for good.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// How long nothing may be taken. Any byte begins it anew, so that a slow line is no stall.
const PATIENCE: Duration = Duration::from_secs(60);

/// See the module.
pub struct Stalling<S> {
    stream: S,
    patience: Duration,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl<S> Stalling<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, patience: PATIENCE, alarm: None }
    }

    fn judge<T>(&mut self, context: &mut Context<'_>, taken: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if taken.is_ready() {
            self.alarm = None;
            return taken;
        }
        let patience = self.patience;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        alarm.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
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
        self.judge(context, taken)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let taken = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(context, taken)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, flushed)
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
    fn stalling<S>(stream: S, patience: Duration) -> Stalling<S> {
        Stalling { patience, ..Stalling::new(stream) }
    }

    #[tokio::test]
    async fn who_takes_nothing_is_given_up_after_a_while() {
        let (near, _far) = tokio::io::duplex(4);
        let patience = Duration::from_millis(50);
        let started = Instant::now();
        let problem = stalling(near, patience).write_all(b"more than fits").await.unwrap_err();
        assert_eq!(problem.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() >= patience, "not before");
    }

    #[tokio::test]
    async fn who_takes_a_little_now_and_then_gets_it_all() {
        let (near, mut far) = tokio::io::duplex(4);
        let patience = Duration::from_secs(1);
        let slow = tokio::spawn(async move {
            let mut all = Vec::new();
            let mut byte = [0; 1];
            while far.read(&mut byte).await.unwrap() > 0 {
                all.extend(byte);
                tokio::time::sleep(patience / 10).await;
            }
            all
        });
        let (mut near, started) = (stalling(near, patience), Instant::now());
        near.write_all(b"more than fits, and more than there is patience for").await.unwrap();
        drop(near);
        assert_eq!(slow.await.unwrap(), b"more than fits, and more than there is patience for");
        assert!(started.elapsed() > patience, "as long as each pause is short");
    }
}
