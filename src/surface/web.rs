//! What the guard, the OAuth endpoints and the pages share: their state, and the one way into the record for what is no
//! call of an operation.

use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::base::clock::{Clock, Millis};
use crate::base::id::Id;
use crate::base::throttle::Throttle;
use crate::config::Config;
use crate::gateway::audit::AuditLog;
use crate::identity::Identity;
use crate::model::audit::{Entry, clip};
use crate::model::error::Result;
use crate::model::org::Org;
use crate::surface::context::Context;

/// The action of a refusal that nothing else has recorded.
pub const REFUSED: &str = "web.refused";

tokio::task_local! {
    /// Whether an event was recorded for the request that is being answered.
    static HAS_ROW: Cell<bool>;
}

/// Runs what answers a request, and says whether it recorded an event.
pub async fn watched<T>(answer: impl Future<Output = T>) -> (T, bool) {
    let told = async { (answer.await, HAS_ROW.with(Cell::get)) };
    HAS_ROW.scope(Cell::new(false), told).await
}

/// Writes an event to the record; an answer waits for it, and is withheld when it fails.
pub type AuditSink = Arc<dyn Fn(AuditEvent) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// A grant, a refusal, a log-in: what the record keeps of it. Nothing secret.
#[derive(Clone, Debug)]
pub struct AuditEvent {
    /// What was tried, after where it was: `login.password`, `account.passkey`, `oauth.token`, `auth.refused`.
    pub action: &'static str,
    pub org: Option<Id<Org>>,
    /// `user:<id>`, or empty when nobody was proven.
    pub principal: String,
    /// OAuth client id, as far as it is known to be one of ours.
    pub client: String,
    pub target: String,
    /// `ok`, or the code of the refusal.
    pub outcome: String,
    pub ip: IpAddr,
    pub request_id: String,
}

impl AuditEvent {
    pub fn new(context: &Context, action: &'static str, outcome: impl Into<String>) -> Self {
        Self {
            action,
            org: None,
            principal: String::new(),
            client: String::new(),
            target: String::new(),
            outcome: outcome.into(),
            ip: context.ip,
            request_id: context.request_id.clone(),
        }
    }

    #[must_use]
    pub fn by(mut self, principal: impl Into<String>) -> Self {
        self.principal = principal.into();
        self
    }

    #[must_use]
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = client.into();
        self
    }

    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    #[must_use]
    pub fn org(mut self, org: Option<Id<Org>>) -> Self {
        self.org = org;
        self
    }

    /// As the audit log keeps it.
    fn entry(self, at: Millis) -> Entry {
        Entry {
            at,
            org: self.org,
            principal: self.principal,
            client: clip(&self.client),
            client_version: String::new(),
            session: String::new(),
            ip: self.ip.to_string(),
            request_id: self.request_id,
            action: self.action.into(),
            target: clip(&self.target),
            outcome: self.outcome,
            duration_ms: 0,
            rows: 0,
            bytes: 0,
            count: 1,
        }
    }
}

/// The principal of the session that a refused request came with; in the answer's extensions, for the record.
#[derive(Clone, Debug)]
pub struct Sender(pub String);

/// See the module.
#[derive(Clone)]
pub struct Web {
    pub identity: Identity,
    pub config: Arc<Config>,
    pub throttle: Arc<Throttle>,
    pub audit: AuditSink,
    /// Authenticates form tokens; derived from the master key for this purpose alone.
    pub form_key: Arc<[u8]>,
}

impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Web")
    }
}

impl Web {
    pub fn new(identity: Identity, config: Arc<Config>, audit: AuditLog, form_key: Vec<u8>) -> Self {
        let clock = identity.clock().clone();
        let throttle = Arc::new(Throttle::new(config.limits.rates.by_address(), clock.clone()));
        Self { identity, config, throttle, audit: recorder(audit, clock), form_key: form_key.into() }
    }

    /// Writes an event to the record.
    pub async fn record(&self, event: AuditEvent) -> Result<()> {
        (self.audit)(event).await?;
        let _unwatched = HAS_ROW.try_with(|has_row| has_row.set(true));
        Ok(())
    }
}

/// Into the audit log. Refusals of strangers share rows when they repeat, and so do those that cost a person nothing.
fn recorder(audit: AuditLog, clock: Clock) -> AuditSink {
    Arc::new(move |event| {
        let (entry, audit) = (event.entry(clock.now()), audit.clone());
        Box::pin(async move {
            let is_cheap = entry.principal.is_empty() || entry.action == REFUSED;
            match is_cheap && entry.outcome != "ok" {
                true => audit.refused(entry).await,
                false => audit.record(entry).await,
            }
        })
    })
}
