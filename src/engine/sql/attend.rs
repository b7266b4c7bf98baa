//! A task in a worker, from the order to its end: it is given to it, watched, lets short ones go before it, is interrupted
//! when its time is over, and killed when it does not heed or the caller has gone.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::process::{Answered, Process, too_slow};
use super::wire::Outcome;
use crate::engine::job::OnProgress;
use crate::model::error::{Code, Error, Result};

/// How long a worker that waited may take to begin its caller's next query, before a fresh one has it.
const STIR: Duration = Duration::from_secs(2);

/// How long an interrupted task may take to answer before its process is killed.
const GRACE: Duration = Duration::from_secs(1);

/// How often a running task is looked at: one that still runs then, beside others, lets the short ones go first.
const LOOK: Duration = Duration::from_millis(500);

/// Gives a query to a worker that waited; nothing when that died while it waited, or does not stir.
pub(super) async fn resume(
    process: &mut Process,
    running: &Running<'_>,
    frame: &[u8],
    time: Duration,
    cancel: &CancellationToken,
) -> Result<Option<Attended>> {
    let begun = AtomicBool::new(false);
    let given = tokio::select! {
        given = tokio::time::timeout(STIR.min(time), process.order(frame)) => given,
        () = cancel.cancelled() => return Err(cancelled()),
    };
    match given {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => {
            tracing::warn!(%problem, "a warm SQL worker died while it waited");
            return Ok(None);
        }
        Err(_) => return Ok(None),
    }
    let watched = watch(process, running, &begun, time, cancel, None).await?;
    match watched {
        Some((Err(problem), _)) if !begun.load(Ordering::Relaxed) => {
            tracing::warn!(%problem, "a warm SQL worker died while it waited");
            Ok(None)
        }
        Some(heard) => Attended::of(process, heard).await.map(Some),
        None => {
            tracing::warn!("a warm SQL worker does not stir; a fresh one takes its place");
            Ok(None)
        }
    }
}

/// Waits for a task's end, interrupts it when its time is over, and kills it when it does not heed, or when the
/// caller has gone.
pub(super) async fn attend(
    process: &mut Process,
    running: &Running<'_>,
    time: Duration,
    cancel: &CancellationToken,
    on_progress: Option<OnProgress>,
) -> Result<Attended> {
    let begun = AtomicBool::new(true);
    let heard = watch(process, running, &begun, time, cancel, on_progress).await?;
    let heard = heard.ok_or_else(|| Error::internal("a worker that has begun does not stir"))?;
    Attended::of(process, heard).await
}

/// What a worker answered, and whether its process is as it was.
type Heard = (io::Result<Answered>, bool);

/// Reads a worker's answer; interrupts the task when its time is over, and lets others go before it when it is long.
/// Nothing when the worker does not begin in time.
async fn watch(
    process: &mut Process,
    running: &Running<'_>,
    begun: &AtomicBool,
    time: Duration,
    cancel: &CancellationToken,
    on_progress: Option<OnProgress>,
) -> Result<Option<Heard>> {
    let began = Instant::now();
    let mut is_as_before = true;
    let mut looks = 1;
    let (mut controls, end) = process.ending(begun, on_progress.as_ref());
    let mut end = std::pin::pin!(end);
    loop {
        let next = (LOOK * looks).min(time);
        tokio::select! {
            biased;
            heard = &mut end => return Ok(Some((heard, is_as_before))),
            () = cancel.cancelled() => return Err(cancelled()),
            () = tokio::time::sleep_until(began + next), if next < time => {
                looks += 1;
                if next >= STIR && !begun.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                if is_as_before && running.has_company() {
                    controls.yield_to_others();
                    is_as_before = false;
                }
            }
            () = tokio::time::sleep_until(began + time) => {
                controls.stop().await.map_err(Error::internal)?;
                return match tokio::time::timeout(GRACE, &mut end).await {
                    Ok(heard) => Ok(Some((heard, false))),
                    Err(_) => Err(too_slow(time)),
                };
            }
        }
    }
}

/// How a task ended, and whether the process may serve on.
pub(super) struct Attended {
    pub serves_on: bool,
    pub outcome: Result<Outcome>,
    pub payload: Vec<u8>,
}

impl Attended {
    async fn of(process: &mut Process, (heard, is_as_before): Heard) -> Result<Self> {
        let (outcome, payload) = match heard {
            Ok((outcome, payload)) => (outcome.map_err(Error::from), payload),
            Err(problem) => return Err(process.died(&problem).await),
        };
        // An engine that failed by itself, or was stopped, may not be what it was.
        let is_sound =
            outcome.as_ref().err().is_none_or(|error| matches!(error.code, Code::InvalidArgument | Code::ForbiddenSql));
        Ok(Self { serves_on: is_as_before && is_sound, outcome, payload })
    }
}

/// A task that runs now.
pub(super) struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    pub(super) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }

    /// How many run, this one with them.
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn has_company(&self) -> bool {
        self.count() > 1
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The caller has gone.
pub(super) fn cancelled() -> Error {
    Error::new(Code::QueryTimeout, "The call was cancelled.")
}
