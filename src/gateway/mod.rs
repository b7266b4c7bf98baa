//! The one door. Every answer to a caller, from every surface, passes [`Gateway::write`]: limit, authorize, run under
//! a deadline, write, meter, audit (durable before the answer leaves; denials too). The engines are a private field: there
//! is no second way in.

pub mod audit;
mod begun;
mod call;
mod erase;
mod limit;
pub mod operation;
pub mod record;
mod repeats;
pub mod sight;
pub mod switch;
mod syncs;
pub mod tasks;

use std::time::{Duration, Instant};

use futures_util::Stream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::base::clock::{Clock, millis};
use crate::base::id::Id;
use crate::base::json;
use crate::base::shares::Share;
use crate::config::Budgets;
pub use crate::engine::datasets::workspace::Erased;
use crate::engine::job::Job;
pub use crate::engine::job::{OnProgress, Progress};
pub use crate::engine::search::moving::Moved;
pub use crate::engine::search::renew::Renewed;
use crate::engine::uploads::{Upload, Writer};
use crate::gateway::audit::AuditLog;
pub use crate::gateway::call::{Answered, Sent, Via, WithId};
pub use crate::gateway::limit::Knock;
use crate::gateway::limit::Limiter;
use crate::gateway::operation::{Operation, Parts, Surface};
use crate::gateway::sight::Sights;
use crate::gateway::switch::{Open, Switches};
use crate::model::access::{Action, Catalogue, Pass, Want, authorize, closed, denied};
use crate::model::audit::{Entry, clip};
use crate::model::caller::{Caller, Proof};
use crate::model::cluster_index::Home;
use crate::model::error::{Code, Error, Result};
use crate::model::org::Org;
use crate::store::freshness::{self, Fresh};
use crate::store::{self, Db};

/// Datasets of which is known what callers see of them, as [`Catalogue::size`] counts; each takes a few kilobytes.
const CATALOGUED: usize = 8_192;

/// A private folder for an upload, and the right to fill it.
pub struct Staging {
    folder: tempfile::TempDir,
    _place: Share,
}

impl Staging {
    pub fn path(&self) -> &std::path::Path {
        self.folder.path()
    }
}

/// An upload that is written to, and the right to fill it. The place is free before the next connection has its turn: a
/// line that broke without our knowing takes none from the one that goes on.
pub struct Filling {
    _place: Share,
    writer: Writer,
}

impl Filling {
    /// Bytes that are here.
    pub fn offset(&self) -> u64 {
        self.writer.offset
    }

    /// As [`Writer::fill`].
    ///
    /// # Errors
    /// As there.
    pub async fn fill<B: AsRef<[u8]>, E>(
        mut self,
        chunks: impl Stream<Item = Result<B, E>> + Unpin,
        broken: impl FnOnce(E) -> Error,
    ) -> Result<u64> {
        self.writer.fill(chunks, broken).await
    }
}

/// See the module.
pub struct Gateway {
    parts: Parts,
    db: Db,
    clock: Clock,
    limiter: Limiter,
    audit: AuditLog,
    sights: Sights,
    switches: Switches,
    catalogues: Fresh<Id<Org>, Catalogue>,
}

impl Gateway {
    pub fn new(parts: Parts, db: Db, clock: Clock, audit: AuditLog) -> Self {
        let limiter = Limiter::new(parts.config.limits.rates.clone(), &clock);
        let switches = Switches::new(db.clone());
        let catalogues = Fresh::new(&db, CATALOGUED, |catalogue: &Catalogue| 1 + catalogue.size());
        Self { parts, db, clock, limiter, audit, sights: Sights::default(), switches, catalogues }
    }

    /// Answers one call of this process: a page, a command, a test. The reply counts as many bytes as its JSON has.
    ///
    /// # Errors
    /// Any [`Error`]; whatever it is, it was recorded first, but for the one that the service ends.
    pub async fn call<O: Operation>(&self, caller: &Caller, op: O, via: Via) -> Result<Answered<O::Reply>> {
        let sized = |reply, request_id: &str| {
            let bytes = json::size(&WithId { reply: &reply, request_id }).map_err(Error::internal)?;
            Ok(Sent::once(reply, bytes))
        };
        self.write(caller, op, via, sized).await
    }

    /// Answers one call of a wire. `write` makes of the reply, and of the request's id, what is sent.
    ///
    /// # Errors
    /// As [`Gateway::call`].
    pub async fn write<O: Operation, W>(
        &self,
        caller: &Caller,
        op: O,
        via: Via,
        write: impl FnOnce(O::Reply, &str) -> Result<Sent<W>>,
    ) -> Result<Answered<W>> {
        // Until its row is durable: the end of the service waits for that.
        let _call = self.audit.begin()?;
        let started = Instant::now();
        let target = op.target();
        let mut answering = std::pin::pin!(self.answer(caller, op, &via, write));
        let mut answer = tokio::select! {
            biased;
            answer = &mut answering => answer,
            () = self.audit.ending() => {
                via.cancel.cancel();
                answering.await
            }
        };
        // Its files and its rows may have gone while they were used.
        if let Err(error) = &mut answer
            && error.code == Code::InternalError
            && matches!(store::orgs::active(self.db.pool(), caller.org).await, Ok(None))
        {
            *error = Error::new(Code::NotFound, "The workspace was locked or erased while this was under way.");
        }
        if !O::INFO.read_only {
            // Also what failed half way may have changed something.
            self.sights.changed(caller.org);
        }
        let elapsed = started.elapsed();
        let outcome = match &answer {
            Ok(_) => "ok",
            Err(error) => error.code.info().name,
        };
        metrics::histogram!("dragoman_call_seconds", "operation" => O::INFO.name, "outcome" => outcome)
            .record(elapsed.as_secs_f64());
        let (rows, bytes) = answer.as_ref().map_or((0, 0), |answered| (answered.rows, answered.bytes));
        let entry = Entry {
            target: clip(format!("{} {target}", O::INFO.name).trim_end()),
            outcome: outcome.into(),
            duration_ms: millis(elapsed),
            rows: i64::try_from(rows).unwrap_or(i64::MAX),
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            ..self.entry(caller, O::INFO.recorded_as.unwrap_or(via.action))
        };
        match &answer {
            Err(error) if is_refusal::<O>(error) => self.audit.refused(entry).await?,
            _ => self.audit.record(entry).await?,
        }
        answer
    }

    /// How many calls and pages have no row yet, for tests that wait for one to begin.
    #[doc(hidden)]
    pub fn calls_under_way(&self) -> usize {
        self.audit.under_way()
    }

    /// Counts a request against what its sender may send.
    ///
    /// # Errors
    /// `rate_limited`; the surface records it with [`Gateway::refused`].
    pub fn knock(&self, caller: &Caller, knock: Knock) -> Result<()> {
        self.limiter.knock(caller, knock)
    }

    /// A place for a request of more than a few kilobytes, kept while it comes; `action` is what it asks for, where
    /// that is known before it is read.
    ///
    /// # Errors
    /// `scope_denied` for an action that the caller may not do; `rate_limited`, `service_unavailable`.
    pub fn body(&self, caller: &Caller, action: Option<Action>) -> Result<Share> {
        action.map_or(Ok(()), |action| may(caller, action))?;
        self.limiter.body(caller)
    }

    /// A place for an answer that stays open, kept for as long as it does.
    ///
    /// # Errors
    /// `rate_limited`, `service_unavailable`.
    pub fn stream(&self, caller: &Caller) -> Result<Share> {
        self.limiter.stream(caller)
    }

    /// For an answer to an external caller that stays open: says when their workspace's switch is turned off.
    pub fn while_open(&self, caller: &Caller) -> Open {
        self.switches.open(caller.org)
    }

    /// Ready when the switch of an external caller's workspace is turned off while their call runs. Management goes on: it
    /// may be what turns it off.
    async fn shut<O: Operation>(&self, caller: &Caller) {
        if caller.is_external() && O::INFO.surface != Surface::Manage {
            self.switches.open(caller.org).closed().await;
        } else {
            std::future::pending::<()>().await;
        }
    }

    /// Records a refusal that a surface made before an operation could be formed (unknown tool, wrong arguments, too
    /// many requests). Those that repeat share rows.
    ///
    /// # Errors
    /// The row could not be written.
    pub async fn refused(&self, caller: &Caller, action: &'static str, target: &str, error: &Error) -> Result<()> {
        let outcome = error.code.info().name.to_owned();
        self.audit.refused(Entry { target: clip(target), outcome, ..self.entry(caller, action) }).await
    }

    /// Whether what a caller was let in by is still in force.
    pub async fn stands(&self, caller: &Caller) -> bool {
        self.parts.identity.stands(caller).await
    }

    /// Seals what a client is to hand back: unreadable, unchangeable, and for `life` of use to this caller for this purpose.
    ///
    /// # Errors
    /// The value cannot be written.
    pub fn seal(&self, caller: &Caller, purpose: &str, what: &impl Serialize, life: Duration) -> Result<String> {
        self.parts.identity.seal(&handed_to(caller, purpose), what, life)
    }

    /// What was sealed; `None` when it is too old, was changed, or was another's or for something else.
    pub fn unseal<T: for<'de> Deserialize<'de>>(&self, caller: &Caller, purpose: &str, sealed: &str) -> Option<T> {
        self.parts.identity.unseal(&handed_to(caller, purpose), sealed).map(|(what, _)| what)
    }

    /// Records an event that is not a call (`mcp.tools.list`).
    ///
    /// # Errors
    /// The row could not be written.
    pub async fn record(&self, caller: &Caller, action: &'static str, target: &str) -> Result<()> {
        let entry = Entry { target: clip(target), outcome: "ok".into(), ..self.entry(caller, action) };
        self.audit.record(entry).await
    }

    /// Room for files on their way into the caller's workspace; removed when dropped.
    ///
    /// # Errors
    /// The caller may not write datasets, or has as many uploads on their way as may be; `service_unavailable` when the
    /// disk has no room for new data.
    pub fn staging(&self, caller: &Caller) -> Result<Staging> {
        may(caller, Action::WriteDatasets)?;
        let place = self.limiter.upload(caller)?;
        Ok(Staging { folder: self.parts.engines.ingest.staging(caller.org)?, _place: place })
    }

    /// Whether there is room for so many bytes more of files on their way in.
    ///
    /// # Errors
    /// `service_unavailable`: there is none.
    pub fn admit(&self, bytes: u64) -> Result<()> {
        self.parts.engines.ingest.admit(bytes)
    }

    /// An upload of the caller's, and how many bytes of it are here.
    ///
    /// # Errors
    /// The caller may not write datasets; `not_found`.
    pub fn upload(&self, caller: &Caller, id: Id<Upload>) -> Result<(Upload, u64)> {
        may(caller, Action::WriteDatasets)?;
        self.parts.engines.uploads.find(caller.org, &caller.credential(), id)
    }

    /// Goes on with an upload of the caller's.
    ///
    /// # Errors
    /// As [`Gateway::upload`]; the caller has as many uploads on their way as may be.
    pub async fn fill_upload(&self, caller: &Caller, id: Id<Upload>) -> Result<Filling> {
        may(caller, Action::WriteDatasets)?;
        let writer = self.parts.engines.uploads.open(caller.org, &caller.credential(), id).await?;
        Ok(Filling { _place: self.limiter.upload(caller)?, writer })
    }

    /// Removes the uploads that are over.
    ///
    /// # Errors
    /// The data folder cannot be read.
    pub async fn sweep_uploads(&self) -> Result<()> {
        let uploads = self.parts.engines.uploads.clone();
        tokio::task::spawn_blocking(move || uploads.sweep()).await.map_err(Error::internal)?
    }

    /// Removes what no dataset has any more, and makes indexes anew that are no good, once.
    ///
    /// # Errors
    /// The data folder or the metadata cannot be read.
    pub async fn renew_once(&self) -> Result<Renewed> {
        let engines = &self.parts.engines;
        let removed = engines.datasets.tidy().await?;
        let renewed = engines.search.renew_once(&self.db).await?;
        Ok(Renewed { removed, ..renewed })
    }

    /// Moves the indexes of a workspace's documents; `tell` hears of each that is in its new place.
    ///
    /// # Errors
    /// As [`crate::engine::search::SearchEngine::move_indexes`].
    pub async fn move_indexes(&self, org: Id<Org>, to: Home, tell: impl Fn(&str)) -> Result<Moved> {
        self.parts.engines.search.move_indexes(&self.db, org, to, tell).await
    }

    /// Until it is told to stop: makes indexes anew that are no good, and vectors that are of another encoder than their
    /// workspace's; and, whatever that takes, removes what no dataset has any more.
    pub async fn keep_renewing(&self, stop: CancellationToken) {
        let engines = &self.parts.engines;
        tokio::join!(engines.search.keep_renewing(&self.db, &stop), engines.datasets.keep_tidying(&stop));
    }

    async fn answer<O: Operation, W>(
        &self,
        caller: &Caller,
        op: O,
        via: &Via,
        write: impl FnOnce(O::Reply, &str) -> Result<Sent<W>>,
    ) -> Result<Answered<W>> {
        // Held until the reply is written: that costs memory too.
        let _place = self.limiter.take(caller, O::INFO.cost)?;
        // From before the look at the metadata to the end: what it names must stay.
        let _reading = O::INFO.read_only.then(|| self.parts.engines.readers.enter());
        let limits = &self.parts.config.limits;
        let time = (O::INFO.time)(&limits.budgets);
        let late = || Error::new(O::LATE, format!("The call took longer than {} s.", time.as_secs()));
        // Engines keep the deadline themselves; this is the backstop, a little later so that theirs speaks first.
        let grace = Duration::from_secs(2);
        let want = op.want();
        let allowed = tokio::time::timeout(time + grace, self.authorize(caller, O::INFO.action, &want));
        let pass = allowed.await.unwrap_or_else(|_| Err(late()))?;
        if let Some(told) = &via.pass {
            let _only_call = told.set(pass.clone());
        }
        if O::INFO.sensitive {
            self.recently_proven(caller)?;
        }
        let most = O::INFO.reply_bytes(limits.budgets.reply_bytes, via.to_program);
        let budget = match O::INFO.surface {
            Surface::Manage => limits.budgets.clone(),
            Surface::Tool | Surface::Resource => Budgets { reply_bytes: most, ..limits.budgets.clone() },
        };
        let job = Job::new(&pass, &budget, time, via.cancel.clone(), via.on_progress.clone());
        let run = tokio::time::timeout(time + grace, op.run(&self.parts, &job));
        let reply = tokio::select! {
            biased;
            reply = run => reply.unwrap_or_else(|_| Err(late()))?,
            () = self.shut::<O>(caller) => return Err(closed()),
        };
        Self::written::<O, W>(reply, most, &caller.request_id, write)
    }

    /// What is sent of a reply, when it is no more than a reply may be.
    fn written<O: Operation, W>(
        reply: O::Reply,
        most: usize,
        request_id: &str,
        write: impl FnOnce(O::Reply, &str) -> Result<Sent<W>>,
    ) -> Result<Answered<W>> {
        let rows = O::rows(&reply);
        let Sent { reply, size, bytes } = write(reply, request_id)?;
        if size > most {
            let message = format!("The reply has {size} bytes, more than {most}. Ask for fewer rows or columns.");
            let details = serde_json::json!({ "limit": "reply_bytes", "max": most, "was": size });
            return Err(Error::new(Code::LimitExceeded, message).with(details));
        }
        Ok(Answered { reply, request_id: request_id.to_owned(), rows, bytes })
    }

    /// A stolen session or token must not be enough for what changes who may do what (RFC 9470). The operator at the
    /// machine is not asked; a connectivity token has nobody behind it who could prove anything.
    fn recently_proven(&self, caller: &Caller) -> Result<()> {
        let auth_time = match caller.proof {
            Proof::AccessToken { auth_time, .. } | Proof::BrowserSession { auth_time } => auth_time,
            Proof::Local => return Ok(()),
            Proof::ConnectivityToken { .. } => 0,
        };
        let max_age = self.parts.config.limits.lifetimes.step_up.as_secs();
        let age = u64::try_from(self.clock.now() / 1000 - auth_time).unwrap_or(0);
        if age <= max_age {
            return Ok(());
        }
        let message = "This needs a sign-in that is more recent. Sign in again, then repeat it.";
        let error = Error::new(Code::InsufficientUserAuthentication, message);
        Err(error.with(serde_json::json!({ "max_age": max_age })))
    }

    async fn authorize(&self, caller: &Caller, action: Action, want: &Want) -> Result<Pass> {
        if let Some(catalogue) = self.catalogues.known(&caller.org).await {
            return authorize(caller, &catalogue, action, want);
        }
        let mut read = self.db.read_tenant(caller.org).await?;
        // Before everything that it stands for.
        let stamp = freshness::stamp(&mut read, caller.org).await?;
        let Some(org) = store::orgs::active(&mut *read, caller.org).await? else {
            return Err(Error::new(Code::AuthRevoked, "This workspace is no longer there."));
        };
        let (stamp, datasets) = match want {
            Want::Nothing => (None, Vec::new()),
            Want::One(id) => (None, store::datasets::by_id(&mut read, caller.org, *id).await?.into_iter().collect()),
            Want::All | Want::Published => (stamp, store::datasets::list(&mut read, caller.org).await?),
        };
        let catalogue = self.catalogues.keep(caller.org, stamp, Catalogue::new(org, datasets));
        authorize(caller, &catalogue, action, want)
    }

    fn entry(&self, caller: &Caller, action: &str) -> Entry {
        Entry {
            at: self.clock.now(),
            org: Some(caller.org),
            principal: match &caller.proof {
                Proof::ConnectivityToken { id } => format!("token:{id}"),
                Proof::Local => "local".into(),
                Proof::AccessToken { .. } | Proof::BrowserSession { .. } => {
                    caller.user.map(|user| format!("user:{user}")).unwrap_or_default()
                }
            },
            client: clip(if caller.client.name.is_empty() { &caller.client.id } else { &caller.client.name }),
            client_version: clip(&caller.client.version),
            session: caller.session.clone().unwrap_or_default(),
            ip: caller.ip.to_string(),
            request_id: caller.request_id.clone(),
            action: action.into(),
            target: String::new(),
            outcome: String::new(),
            duration_ms: 0,
            rows: 0,
            bytes: 0,
            count: 1,
        }
    }
}

/// What is refused before anything of it is read.
fn may(caller: &Caller, action: Action) -> Result<()> {
    if caller.rights.allow(action) { Ok(()) } else { Err(denied(caller, action)) }
}

/// Whether nothing was done, so that repeats may share a row.
fn is_refusal<O: Operation>(error: &Error) -> bool {
    match error.code {
        Code::RateLimited => true,
        Code::ServiceUnavailable => O::INFO.read_only,
        _ => false,
    }
}

/// The label of what a client carries: whose it is and what it is for, so that neither can be taken for the other.
fn handed_to(caller: &Caller, purpose: &str) -> String {
    serde_json::json!(["handed to a client", caller.principal(), purpose]).to_string()
}
