//! What the browser pages and the OAuth endpoints share, and their one list of routes.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;

use crate::base::id::Id;
use crate::base::throttle::Throttle;
use crate::config::Config;
use crate::identity::Identity;
use crate::model::error::Result;
use crate::model::org::Org;
use crate::surface::context::Context;
use crate::surface::{login, oauth};

/// Writes an event to the record; an answer waits for it, and is withheld when it fails.
pub type AuditSink = Arc<dyn Fn(AuditEvent) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// A grant, a refusal, a log-in: what the record keeps of it. Nothing secret.
#[derive(Clone, Debug)]
pub struct AuditEvent {
    /// `login.password`, `login.logout`, `oauth.register`, `oauth.authorize`, `oauth.consent`, `oauth.token`,
    /// `oauth.revoke`, `oauth.introspect`, `oauth.device_authorization`, `oauth.device`, `admin.connectivity`.
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
}

/// The state of every handler here.
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
    /// Writes an event to the record.
    pub async fn record(&self, event: AuditEvent) -> Result<()> {
        (self.audit)(event).await
    }
}

/// Metadata, OAuth endpoints, pages and their stylesheet. Every request needs [`Context`]'s extensions.
pub fn routes(web: Web) -> Router {
    Router::new().merge(oauth::routes()).merge(login::routes(&web)).with_state(web)
}
