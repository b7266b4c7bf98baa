//! Comparing ontologies with the data: one comparison of an ontology at a time, which ends by itself, tells all who wait
//! for it, and writes what it came to when it is over. Nothing is written before: a comparison that is cut short, by
//! load, by its time or by the end of the process, leaves the ontology as it was.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Asked, Library, UNREADABLE, digest, is_whole, outdated, summed};
use crate::base::clock::{Millis, millis};
use crate::base::id::Id;
use crate::config::Budgets;
use crate::engine::job::Job;
use crate::engine::ontology::attest_run::attest;
use crate::engine::ontology::check;
use crate::model::error::{Code, Error, Result};
use crate::model::ontology::{Attestation, Finding, Problem, Status, StoredOntology};
use crate::model::org::Org;
use crate::store::ontologies::Attested;
use crate::store::{self, leases};

/// The longest that a comparison may take.
const TIME: Duration = Duration::from_secs(300);

/// How long the turn on an ontology outlasts that.
const MARGIN_MS: i64 = 10_000;

/// How long a question waits for the comparison with newer data before it is answered without.
const PATIENCE: Duration = Duration::from_secs(10);

/// Comparisons of a workspace at one time: others have to compare theirs too.
const AT_ONCE: usize = 2;

/// After a comparison that could not be made, questions do not ask for another before this has passed.
const PAUSE_MS: Millis = 60_000;

type Key = (Id<Org>, Id<StoredOntology>);

/// How a comparison ended; `None` while it runs.
type Landing = Option<Result<()>>;

/// The comparisons of this process.
#[derive(Clone, Default)]
pub(in crate::engine::ontology) struct Flights(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    running: HashMap<Key, watch::Receiver<Landing>>,
    /// When the last one could not be made.
    failed: HashMap<Key, Millis>,
}

impl Inner {
    /// Whether a workspace has as many under way as it may have.
    fn is_full(&self, org: Id<Org>) -> bool {
        self.running.keys().filter(|(of, _)| *of == org).count() >= AT_ONCE
    }

    /// Keeps when one failed, for as long as it matters.
    fn ended(&mut self, key: Key, is_made: bool, now: Millis) {
        self.failed.retain(|_, at| now - *at < PAUSE_MS);
        if is_made {
            self.failed.remove(&key);
        } else {
            self.failed.insert(key, now);
        }
    }
}

impl Flights {
    fn all(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a comparison off the list, however it ends.
struct Listed {
    flights: Flights,
    key: Key,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.flights.all().running.remove(&self.key);
    }
}

/// The holder of a turn.
struct Turn;

impl Library {
    /// Compares an ontology with the data, and says whether it can be asked from now on. It goes on when the caller
    /// leaves.
    ///
    /// # Errors
    /// `ontology_not_found`; `ontology_not_ready` while another node compares it; `invalid_argument` when a newer version
    /// was saved meanwhile; whatever the SQL engine refuses for time and load, and then nothing has changed.
    pub async fn attest(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<(StoredOntology, Attestation)> {
        // One that had begun before may be about data that are no longer the newest; the next is not.
        for _ in 0..2 {
            self.owned(job, id).await?;
            let mut landing = self.flight(job, id);
            let landed = landing.wait_for(Option::is_some).await;
            landed.map_err(|_| Error::internal("a comparison ended without a word"))?.clone().transpose()?;
            if self.asked(job.pass.org(), id).await? == Asked::Newest {
                break;
            }
        }
        let stored = self.owned(job, id).await?;
        let found = self.attestation(job, id).await?;
        let found = found.ok_or_else(|| outdated(stored.version))?;
        Ok((stored, found))
    }

    /// Lets an ontology be compared with newer data, and waits a moment for it. When this returns it may have been
    /// compared, or failed to be, or still be under way.
    pub(super) async fn caught_up(&self, job: &Job<'_>, id: Id<StoredOntology>) {
        let failed = self.flights.all().failed.get(&(job.pass.org(), id)).copied();
        if failed.is_some_and(|at| self.clock.now() - at < PAUSE_MS) {
            return;
        }
        job.says(0.01, "Comparing the ontology with the newest data");
        let mut landing = self.flight(&job.part(0.01..0.1), id);
        let patience = PATIENCE.min(job.time_left() / 2);
        match tokio::time::timeout(patience, landing.wait_for(Option::is_some)).await {
            Ok(Ok(landed)) => {
                if let Some(Err(error)) = &*landed {
                    tracing::info!(ontology = %id, code = error.code.info().name, "not compared with newer data");
                }
            }
            Ok(Err(_)) => tracing::error!(ontology = %id, "a comparison ended without a word"),
            Err(_) => {
                tracing::info!(ontology = %id, "a question does not wait longer for the comparison with newer data");
            }
        }
    }

    /// The comparison of an ontology that runs, or a new one, with the data of this job's pass.
    fn flight(&self, job: &Job<'_>, id: Id<StoredOntology>) -> watch::Receiver<Landing> {
        let key = (job.pass.org(), id);
        let mut flights = self.flights.all();
        if let Some(running) = flights.running.get(&key) {
            return running.clone();
        }
        if flights.is_full(key.0) {
            let message = format!("{AT_ONCE} ontologies are being compared with the data. Try again in a moment.");
            let full = Error::new(Code::OntologyNotReady, message).retry_after(10);
            return watch::channel(Some(Err(full))).1;
        }
        let (land, landing) = watch::channel(None);
        flights.running.insert(key, landing.clone());
        drop(flights);
        let listed = Listed { flights: self.flights.clone(), key };
        let (this, pass) = (self.clone(), job.pass.clone());
        // Its statements read whole tables, as those of questions do.
        let budget = Budgets { sql_time: job.budget.ask_sql_time, ..job.budget.clone() };
        let on_progress = job.on_progress();
        // What the pass names must stay until it was read.
        let reading = self.readers.enter();
        tokio::spawn(async move {
            let job = Job::new(&pass, &budget, TIME, CancellationToken::new(), on_progress);
            let landed = this.in_turn(&job, id).await;
            this.flights.all().ended(key, landed.is_ok(), this.clock.now());
            drop((reading, listed));
            land.send_replace(Some(landed));
        });
        landing
    }

    /// Compares while no other node does.
    async fn in_turn(&self, job: &Job<'_>, id: Id<StoredOntology>) -> Result<()> {
        let name = format!("ontology {} {id}", job.pass.org());
        let holder = Id::<Turn>::new(&self.clock).to_string();
        let now = self.clock.now();
        let until = now + millis(TIME) + MARGIN_MS;
        if !leases::take(&mut *self.db.writer().await?, &name, &holder, now, until).await? {
            let message = "This ontology is being compared with the data. Try again in a moment.";
            return Err(Error::new(Code::OntologyNotReady, message).retry_after(10));
        }
        let compared = self.compared(job, id, (&name, &holder)).await;
        leases::release(&mut *self.db.writer().await?, &name, &holder).await?;
        compared
    }

    async fn compared(&self, job: &Job<'_>, id: Id<StoredOntology>, (turn, holder): (&str, &str)) -> Result<()> {
        let mut stored = self.stored(job.pass.org(), id).await?;
        let before = {
            let mut read = self.db.read_tenant(stored.org).await?;
            store::ontologies::attested_data(&mut read, stored.org, id).await?.ok_or_else(Error::ontology_not_found)?
        };
        let ontology = self.parsed(&stored).await?.ok_or_else(|| Error::invalid("text", UNREADABLE))?;
        // What was withdrawn from a client since it asked is not missing.
        if job.pass.is_external() && !is_whole(job, &ontology) {
            return Err(Error::ontology_not_found());
        }
        let (document, pass) = (ontology.clone(), job.pass.clone());
        let check = move || check::check(&document, pass.datasets());
        let broken: Vec<Problem> = tokio::task::spawn_blocking(check).await.map_err(Error::internal)?;
        let errors: Vec<&Problem> = broken.iter().filter(|it| it.is_error()).collect();
        // The data are asked about what can be asked at all.
        let found = match errors.is_empty() {
            true => attest(&self.sql, job, &ontology, self.clock.now()).await?,
            false => Attestation {
                passed: false,
                checked_at: self.clock.now(),
                findings: broken.iter().map(finding).collect(),
            },
        };
        let failed = |finding: &&Finding| !finding.passed && finding.is_error();
        (stored.status, stored.problem) = match (errors.first(), found.findings.iter().find(failed)) {
            (Some(first), _) => (Status::Failed, summed(first, errors.len())),
            (None, Some(failure)) => (Status::Failed, format!("{}: {}", failure.what, failure.says)),
            (None, None) => (Status::Ready, String::new()),
        };
        let attested = Attested {
            found: Some(serde_json::to_string(&found).map_err(Error::internal)?),
            data: digest(&ontology, job.pass.datasets()),
        };
        let mut tx = self.db.tenant(stored.org).await?;
        let now = self.clock.now();
        // Whoever lost the turn has no say any more.
        let is_ours = leases::take(&mut tx, turn, holder, now, now + MARGIN_MS).await?;
        if !is_ours {
            let message =
                "The comparison with the data took too long, and another may have begun. Try again in a moment.";
            return Err(Error::new(Code::OntologyNotReady, message).retry_after(10));
        }
        if !store::ontologies::judged(&mut tx, &stored, &attested, &before).await? {
            return Err(outdated(stored.version + 1));
        }
        Ok(tx.commit().await?)
    }
}

/// A problem of the document as a finding.
fn finding(of: &Problem) -> Finding {
    let says = if of.hint.is_empty() { of.message.clone() } else { format!("{} {}", of.message, of.hint) };
    Finding { what: of.path.clone(), passed: false, severity: of.severity, says, figures: serde_json::Map::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;

    #[test]
    fn a_workspace_compares_two_at_once_and_failures_are_forgotten() {
        let clock = Clock::manual(1_790_000_000_000);
        let (ours, theirs) = (Id::<Org>::new(&clock), Id::<Org>::new(&clock));
        let (_land, landing) = watch::channel(None);
        let mut inner = Inner::default();
        for _ in 0..AT_ONCE {
            assert!(!inner.is_full(ours));
            inner.running.insert((ours, Id::new(&clock)), landing.clone());
        }
        assert!(inner.is_full(ours) && !inner.is_full(theirs));

        let (first, second) = ((ours, Id::new(&clock)), (ours, Id::new(&clock)));
        inner.ended(first, false, 1_000);
        inner.ended(second, false, 2_000);
        assert_eq!(inner.failed.len(), 2);
        inner.ended(second, true, 3_000);
        assert_eq!(inner.failed.keys().collect::<Vec<_>>(), [&first]);
        inner.ended(second, false, 1_000 + PAUSE_MS);
        assert_eq!(inner.failed.keys().collect::<Vec<_>>(), [&second], "the first no longer matters");
    }
}
