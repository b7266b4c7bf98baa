//! Datasets of documents that are kept from something else: which there are, when each is due, and which node works on
//! it. The work itself is [`crate::engine::ingest::sync`].

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::base::clock::{Clock, Millis, millis};
use crate::base::id::Id;
use crate::base::secret::random_token;
use crate::engine::job::Job;
use crate::model::dataset::{Kind, NAMES, is_name};
use crate::model::error::{Error, Result};
use crate::model::org::Org;
use crate::model::sync::{Checked, DocumentSync, Run, State};
use crate::store::{self, Db};

/// How long a node holds a run without a word.
const LEASE: Duration = Duration::from_secs(60);
/// The longest that may lie between two runs: a month of minutes.
const EVERY: i64 = 43_200;

/// Names a run.
struct Wanted;

/// Keeps the definitions and their runs; clones share everything.
#[derive(Clone)]
pub struct Syncs {
    db: Db,
    clock: Clock,
    /// This process, to others.
    node: Arc<str>,
    wanted: Arc<Notify>,
}

impl Syncs {
    pub fn new(db: Db, clock: Clock) -> Self {
        Self { db, clock, node: random_token("").expose().into(), wanted: Arc::default() }
    }

    /// Those of a workspace, by name.
    ///
    /// # Errors
    /// The database fails.
    pub async fn list(&self, org: Id<Org>) -> Result<Vec<DocumentSync>> {
        store::syncs::list(&mut self.db.read_tenant(org).await?, org).await
    }

    /// Keeps a dataset of documents from an origin from now on, and wants its first run. A definition that was there under the
    /// name gives way; one of another table, site, folder or bucket leaves the documents of the one before where they are. The origin
    /// is one that [`crate::engine::ingest::Ingest::checked_origin`] gave. One that `begins` takes no other's place.
    ///
    /// # Errors
    /// `invalid_argument` in the name of what is wrong.
    pub async fn define(
        &self,
        job: &Job<'_>,
        name: &str,
        Checked { origin, sealed_secret }: Checked,
        every_minutes: Option<i64>,
        begins: bool,
    ) -> Result<DocumentSync> {
        if !is_name(name) {
            return Err(Error::invalid("name", NAMES));
        }
        if every_minutes.is_some_and(|minutes| !(1..=EVERY).contains(&minutes)) {
            return Err(Error::invalid("every_minutes", format!("every_minutes is a number from 1 to {EVERY}.")));
        }
        let (org, now) = (job.pass.org(), self.clock.now());
        let mut tx = self.db.tenant(org).await?;
        // Who begins another at the same moment waits, and sees this one.
        store::datasets::hold_names(&mut tx, org).await?;
        let there = store::datasets::by_name(&mut tx, org, name).await?;
        if there.is_some_and(|there| there.kind != Kind::Documents) {
            let message = format!("{name:?} exists and holds a table. Choose another name for the documents.");
            return Err(Error::invalid("name", message));
        }
        let before = store::syncs::find(&mut tx, org, name).await?;
        let same = before.as_ref().filter(|before| before.origin == origin);
        if let Some(other) = before.as_ref().filter(|before| !before.origin.is_of_same_place(&origin)) {
            if begins {
                let message = "Look at it; to follow another place, end that first, or choose another name.";
                return Err(Error::invalid("name", format!("{name} follows {} already. {message}", other.origin)));
            }
            store::sync_marks::clear(&mut tx, org, name).await?;
        }
        let sync = DocumentSync {
            org,
            name: name.to_owned(),
            cursor: same.and_then(|same| same.cursor.clone()),
            origin,
            sealed_secret,
            every_minutes,
            run: self.wanted_run(now),
            created_at: before.as_ref().map_or(now, |before| before.created_at),
            synced_at: before.as_ref().and_then(|before| before.synced_at),
        };
        store::syncs::put(&mut tx, &sync).await?;
        tx.commit().await?;
        self.wanted.notify_one();
        Ok(sync)
    }

    /// Follows its origin no more; the documents stay.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn remove(&self, org: Id<Org>, name: &str) -> Result<()> {
        let mut tx = self.db.tenant(org).await?;
        let was_there = store::syncs::remove(&mut tx, org, name).await?;
        tx.commit().await?;
        if was_there { Ok(()) } else { Err(Error::not_found("sync")) }
    }

    /// Wants runs of those that the caller sees, of all of these where none is named, under the id that is returned; what
    /// is wanted or under way stays as it is.
    ///
    /// # Errors
    /// `invalid_argument` for a name that is none of them.
    pub async fn request(
        &self,
        org: Id<Org>,
        names: &[String],
        is_seen: impl Fn(&DocumentSync) -> bool,
    ) -> Result<(Vec<DocumentSync>, String)> {
        let now = self.clock.now();
        let mut tx = self.db.tenant(org).await?;
        let mut known = store::syncs::list(&mut tx, org).await?;
        known.retain(&is_seen);
        if let Some(unknown) = names.iter().find(|name| !known.iter().any(|sync| sync.name == **name)) {
            return Err(no_such(unknown, &known));
        }
        let is_wanted = |sync: &DocumentSync| is_seen(sync) && (names.is_empty() || names.contains(&sync.name));
        let run = self.wanted_run(now);
        for sync in known.iter().filter(|sync| is_wanted(sync)) {
            store::syncs::request(&mut tx, org, &sync.name, &run.job_id, now).await?;
        }
        // As they are now: another request may have been the faster one.
        let mut asked = store::syncs::list(&mut tx, org).await?;
        asked.retain(is_wanted);
        tx.commit().await?;
        self.wanted.notify_one();
        Ok((asked, run.job_id))
    }

    /// Takes the run whose turn it is, for this node.
    ///
    /// # Errors
    /// The database fails.
    pub async fn take(&self) -> Result<Option<DocumentSync>> {
        let now = self.clock.now();
        let mut tx = self.db.everyone().await?;
        let taken =
            store::syncs::take(&mut tx, &self.node, &self.wanted_run(now).job_id, now, now + millis(LEASE)).await?;
        tx.commit().await?;
        Ok(taken)
    }

    /// Says how far a run of this node is; `false` when it holds it no more.
    ///
    /// # Errors
    /// The database fails; the next word may come through.
    pub async fn hold(&self, sync: &DocumentSync, run: &Run) -> Result<bool> {
        let mut tx = self.db.tenant(sync.org).await?;
        let is_held = store::syncs::hold(&mut tx, sync, &self.node, run, self.clock.now() + millis(LEASE)).await?;
        tx.commit().await?;
        Ok(is_held)
    }

    /// Keeps what became of a run of this node; of one that is to go on, here or on another node, that it waits. `false` when it holds
    /// it no more, and nothing is kept.
    ///
    /// # Errors
    /// The database fails.
    pub async fn settle(&self, mut sync: DocumentSync) -> Result<bool> {
        let now = self.clock.now();
        if !sync.run.state.is_ahead() {
            sync.run.ended_at = Some(now);
            if sync.run.state == State::Done {
                sync.synced_at = Some(now);
            }
        }
        let mut tx = self.db.tenant(sync.org).await?;
        let is_kept = store::syncs::settle(&mut tx, &sync, &self.node, now).await?;
        tx.commit().await?;
        Ok(is_kept)
    }

    /// Waits until this process hears that a run is wanted.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    fn wanted_run(&self, now: Millis) -> Run {
        Run::wanted(format!("sync-{}", Id::<Wanted>::new(&self.clock)), now)
    }
}

fn no_such(name: &str, known: &[DocumentSync]) -> Error {
    let name: String = name.chars().take(64).collect();
    let known: Vec<&str> = known.iter().map(|sync| sync.name.as_str()).collect();
    let which = match known.as_slice() {
        [] => "None is: set one with POST /document-syncs.".to_owned(),
        known => format!("These are: {}.", known.join(", ")),
    };
    Error::invalid("source_names", format!("{name:?} is kept from nothing. {which}"))
}
