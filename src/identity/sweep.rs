//! Clean-up: what nobody can use any more goes, in batches, on one node at a time.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Identity;
use crate::base::clock::{Millis, millis};
use crate::base::id::Id;
use crate::model::error::Result;
use crate::store::sweep::{After, KINDS, batch};
use crate::store::{keys, leases};

/// Most rows that one statement deletes.
pub(super) const BATCH: i64 = 1000;
/// How often expired rows are looked for.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// A node that has not come back for its turn in this time is dead. Longer than clocks differ.
const TURN: Duration = Duration::from_secs(5 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The name under which nodes take turns.
const LEASE: &str = "clean-up";

/// What went: the kinds of rows and how many of each, without those of which there were none.
pub type Swept = Vec<(&'static str, u64)>;

impl Identity {
    /// Deletes what is past its time until none is left. `None`, with nothing done, while another node does it.
    ///
    /// # Errors
    /// The database fails; what has gone by then is gone, and the rest goes next time.
    pub async fn sweep(&self) -> Result<Option<Swept>> {
        struct Turn;
        let holder = Id::<Turn>::new(&self.0.clock).to_string();
        if !self.sweeping(&holder).await? {
            return Ok(None);
        }
        let swept = self.sweep_as(&holder).await;
        leases::release(&mut *self.0.db.writer().await?, LEASE, &holder).await?;
        swept.map(Some)
    }

    /// Takes the turn or keeps it.
    pub(super) async fn sweeping(&self, holder: &str) -> Result<bool> {
        let now = self.0.clock.now();
        Ok(leases::take(&mut *self.0.db.writer().await?, LEASE, holder, now, now + millis(TURN)).await?)
    }

    async fn sweep_as(&self, holder: &str) -> Result<Swept> {
        let now = self.0.clock.now();
        let mut swept = Swept::new();
        for kind in &KINDS {
            let before = now - millis(wait(kind.after));
            let mut count = 0;
            loop {
                // A transaction of its own: whoever waits to write comes in between.
                let mut tx = self.0.db.everyone().await?;
                let gone = batch(&mut *tx, kind, before, BATCH).await?;
                tx.commit().await?;
                count += gone;
                if gone < BATCH as u64 {
                    break;
                }
                if !self.sweeping(holder).await? {
                    return Ok(counted(swept, kind.name, count));
                }
            }
            swept = counted(swept, kind.name, count);
        }
        let ended: Millis = now - millis(self.key_retention() + DAY);
        let gone = keys::sweep(&mut *self.0.db.writer().await?, ended, BATCH).await?;
        swept = counted(swept, "signing_keys", gone);
        let gone = self.expire_audit(holder).await?;
        Ok(counted(swept, "audit", gone))
    }

    /// Sweeps now and every ten minutes, until `stop`.
    pub async fn keep_sweeping(self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                swept = self.sweep() => match swept {
                    Ok(Some(swept)) if !swept.is_empty() => tracing::info!(?swept, "expired rows are deleted"),
                    Ok(_) => {}
                    Err(problem) => tracing::warn!(%problem, "expired rows could not be deleted"),
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }
}

fn wait(after: After) -> Duration {
    match after {
        After::AtOnce => Duration::ZERO,
        After::Day => DAY,
        After::Month => 30 * DAY,
    }
}

/// Counts what went in the metrics, and for the one who asked.
fn counted(mut swept: Swept, kind: &'static str, count: u64) -> Swept {
    if count > 0 {
        metrics::counter!("dragoman_swept_rows_total", "kind" => kind).increment(count);
        swept.push((kind, count));
    }
    swept
}
