//! The work that nobody waits for: datasets of documents are brought up to what they are kept from, each workspace's one
//! after another. A run that takes long does it in turns, and others go first in between.
//! Each turn is done in the name of the workspace's operator, and stands in the record like a call, unless a stop cut it off.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::Gateway;
use crate::base::clock::millis;
use crate::engine::ingest::sync::Synced;
use crate::engine::job::{Job, OnProgress, Progress};
use crate::model::access::{Action, Want};
use crate::model::audit::{Entry, clip};
use crate::model::caller::Caller;
use crate::model::document::Changes;
use crate::model::error::{Error, Result};
use crate::model::sync::{DocumentSync, Run, State};

/// How often it is looked for what is due, and how far a run is said.
const LOOK: Duration = Duration::from_secs(5);
/// The longest that a turn may take; what it had published by then stays, and the next run goes on from there.
const TIME: Duration = Duration::from_secs(6 * 60 * 60);
/// Runs at the same time. Each reads a table or a place, and waits for its turns at the encoder with imports.
const LANES: usize = 2;

impl Gateway {
    /// Until it is told to stop: does what is due.
    pub async fn keep_syncing(&self, stop: CancellationToken) {
        let lane = || self.keep_lane(&stop);
        let lanes: [_; LANES] = std::array::from_fn(|_| lane());
        futures_util::future::join_all(lanes).await;
    }

    async fn keep_lane(&self, stop: &CancellationToken) {
        let syncs = &self.parts.engines.syncs;
        while !stop.is_cancelled() {
            match self.sync_next(stop).await {
                Ok(true) => {}
                Ok(false) => {
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = syncs.wanted() => {}
                        () = tokio::time::sleep(LOOK) => {}
                    }
                }
                // It was logged where it happened.
                Err(_) => tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(LOOK) => {}
                },
            }
        }
    }

    /// Does one turn of a run; `false` when none is due.
    async fn sync_next(&self, stop: &CancellationToken) -> Result<bool> {
        let syncs = &self.parts.engines.syncs;
        let Some(mut sync) = syncs.take().await? else { return Ok(false) };
        let caller = Caller::operator(sync.org, sync.run.job_id.clone());
        let (started, cancel) = (Instant::now(), stop.child_token());
        let said = Arc::new(Mutex::new(sync.run.clone()));
        let mut changes = Changes::default();
        let done = {
            let work = self.sync(&caller, &sync, cancel.clone(), saying(said.clone()), &mut changes);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    done = &mut work => break done,
                    () = tokio::time::sleep(LOOK) => {
                        let run = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
                        // A word that does not come through is said again.
                        if !syncs.hold(&sync, &run).await.unwrap_or(true) {
                            cancel.cancel();
                        }
                    }
                }
            }
        };
        // What was published before an error stays.
        if done.is_ok() || changes != Changes::default() {
            sync.run.changes = Some(sync.run.changes.unwrap_or_default().and(changes));
        }
        if done.is_err() && stop.is_cancelled() {
            sync.run = Run { state: State::Waiting, ..sync.run };
            syncs.settle(sync).await?;
            return Ok(true);
        }
        let outcome = done.as_ref().map_or_else(|error| error.code.info().name, |_| "ok");
        let changed = changes.added + changes.replaced + changes.removed;
        let entry = Entry {
            target: clip(&format!("{} from {}", sync.name, sync.origin.name())),
            outcome: outcome.into(),
            duration_ms: millis(started.elapsed()),
            rows: i64::try_from(changed).unwrap_or(i64::MAX),
            ..self.entry(&caller, "admin.document.sync")
        };
        self.sights.changed(sync.org);
        settle(&mut sync, done);
        // Who asks how it went has the record before the answer.
        self.audit.record(entry).await?;
        syncs.settle(sync).await?;
        Ok(true)
    }

    async fn sync(
        &self,
        caller: &Caller,
        sync: &DocumentSync,
        cancel: CancellationToken,
        on_progress: OnProgress,
        changes: &mut Changes,
    ) -> Result<Synced> {
        let pass = self.authorize(caller, Action::WriteDatasets, &Want::All).await?;
        let job = Job::new(&pass, &self.parts.config.limits.budgets, TIME, cancel, Some(on_progress));
        self.parts.engines.ingest.sync(&job, sync, changes).await
    }
}

/// What became of a run, or of a turn of it.
fn settle(sync: &mut DocumentSync, done: Result<Synced, Error>) {
    match done {
        Ok(synced) => {
            sync.cursor = synced.cursor;
            sync.run.state = if synced.left_at.is_some() { State::Waiting } else { State::Done };
            sync.run.progress = synced.left_at.unwrap_or(1.0);
            sync.run.message = clip(&synced.message);
        }
        Err(error) => {
            sync.run.state = State::Failed;
            sync.run.message = clip(&error.message);
        }
    }
}

fn saying(to: Arc<Mutex<Run>>) -> OnProgress {
    Arc::new(move |Progress { fraction, message }| {
        let mut run = to.lock().unwrap_or_else(PoisonError::into_inner);
        // A turn begins at nothing, and its run where the turn before had come.
        run.progress = fraction.unwrap_or_default().max(run.progress);
        run.message = clip(&message);
    })
}
