//! Clean-up: what nobody can use any more goes, in batches, on one node at a time. It goes by a time of its own, which
//! follows the clock and does not leap with it: what a wrong clock takes for long past is still there when the clock is
//! set right.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Identity;
use crate::base::clock::{Millis, millis};
use crate::base::id::Id;
use crate::model::error::Result;
use crate::store::sweep::{After, KINDS, Mark, batch, mark, set_mark};
use crate::store::{erasure, keys, leases};

/// Most rows that one statement deletes.
pub(super) const BATCH: i64 = 1000;
/// How often expired rows are looked for.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// A node that has not come back for its turn in this time is dead. Longer than clocks differ.
const TURN: Duration = Duration::from_secs(5 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A clock that is further than this from what was seen last has leapt, or nothing ran for so long.
const LEAP: Millis = 24 * 60 * 60 * 1000;
/// How many times as fast as the clock clean-up goes after that, until it has come up with it: a day in an hour.
const PACE: Millis = 24;
/// The name under which nodes take turns.
const LEASE: &str = "clean-up";

/// What went: the kinds of rows and how many of each, without those of which there were none.
pub type Swept = Vec<(&'static str, u64)>;

impl Identity {
    /// Deletes what is past its time until none is left; the service also what its settings keep no longer. `None`, with
    /// nothing done, while another node does it.
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
        let upto = self.upto().await?;
        let mut swept = Swept::new();
        for kind in &KINDS {
            let before = upto - millis(wait(kind.after));
            let mut count = 0;
            loop {
                // A transaction of its own: whoever waits to write comes in between.
                let mut tx = self.0.db.everyone().await?;
                let gone = batch(&mut tx, self.0.db.backend(), kind, before, BATCH).await?;
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
        let mut tx = self.0.db.everyone().await?;
        let gone = erasure::leavings(&mut tx).await?;
        tx.commit().await?;
        swept = counted(swept, "erased_workspaces", gone);
        if !self.0.config.trims {
            return Ok(swept);
        }
        let ended: Millis = upto - millis(self.key_retention() + DAY);
        let gone = keys::sweep(&mut *self.0.db.writer().await?, ended, BATCH).await?;
        swept = counted(swept, "signing_keys", gone);
        let gone = self.expire_audit(holder, upto).await?;
        Ok(counted(swept, "audit", gone))
    }

    /// What is past its time by this moment goes in this turn.
    async fn upto(&self) -> Result<Millis> {
        let now = self.0.clock.now();
        let last = mark(self.0.db.pool()).await?;
        if let Some(last) = last.filter(|last| now - last.seen > LEAP) {
            tracing::warn!(
                days = (now - last.seen) / LEAP,
                "the clock is so many days past the last clean-up: if nothing ran for so long, clean-up catches up by \
                 itself, a day in an hour; otherwise set the clock now"
            );
        }
        let next = following(last, now);
        set_mark(&mut *self.0.db.writer().await?, next).await?;
        Ok(next.upto.min(now))
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

/// How far clean-up comes by `now`. A leap takes it nowhere, neither forward nor back, and clocks that differ by more
/// stop it.
fn following(last: Option<Mark>, now: Millis) -> Mark {
    let Some(last) = last else { return Mark { upto: now, seen: now } };
    let passed = now - last.seen;
    let passed = if (0..=LEAP).contains(&passed) { passed } else { 0 };
    Mark { upto: last.upto.max(now.min(last.upto + PACE * passed)), seen: now }
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

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = 60 * 60 * 1000;
    const YEARS: Millis = 3 * 365 * LEAP;

    /// How far it is after looks at these times.
    fn upto(looks: impl IntoIterator<Item = Millis>) -> Millis {
        looks.into_iter().fold(None, |last, now| Some(following(last, now))).unwrap().upto
    }

    #[test]
    fn it_keeps_up_with_a_clock_that_goes_on() {
        assert_eq!(upto([YEARS]), YEARS);
        assert_eq!(upto([0, 1, HOUR, HOUR + LEAP]), HOUR + LEAP);
    }

    #[test]
    fn after_a_leap_it_comes_a_day_further_in_an_hour_and_no_further_than_the_clock() {
        assert_eq!(upto([0, YEARS]), 0);
        assert_eq!(upto([0, YEARS, YEARS, YEARS + HOUR / 2, YEARS + HOUR]), LEAP);
        let month = 30 * LEAP;
        assert_eq!(upto((0..=48).map(|hours| if hours == 0 { 0 } else { month + hours * HOUR })), month + 48 * HOUR);
    }

    #[test]
    fn it_does_not_go_back_with_the_clock() {
        assert_eq!(upto([YEARS, 0]), YEARS);
        assert_eq!(upto([YEARS, 0, YEARS + HOUR, YEARS + 2 * HOUR]), YEARS + 2 * HOUR);
    }

    #[test]
    fn nodes_whose_clocks_differ_by_more_than_a_day_bring_it_nowhere() {
        assert_eq!(upto((0..1000).map(|look| look * HOUR / 6 + if look % 2 == 0 { 0 } else { YEARS })), 0);
    }
}
