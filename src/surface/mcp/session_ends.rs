//! The ends of sessions, each on the record, whatever it was that ended them; and of tasks that their processes left.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;
use rmcp::transport::streamable_http_server::session::SessionManager as _;

use super::Mcp;
use super::sessions::{Ended, Why};
use crate::model::caller::Caller;
use crate::model::error::Error;

/// The record's word for the end of a session.
pub(super) const TERMINATED: &str = "mcp.session.terminated";
/// Sessions that end at once: their rows share transactions.
const AT_ONCE: usize = 256;

impl Mcp {
    /// Ends the sessions, on the record, that a process left which was killed; due before any begins.
    pub async fn take_over(&self) {
        match self.shared.gateway.end_left(TERMINATED, Why::Killed.name()).await {
            Ok(0) => {}
            Ok(left) => tracing::info!(left, "sessions ended that a process left which was killed"),
            Err(problem) => tracing::error!(%problem, "the ends of sessions that a process left are not on the record"),
        }
    }

    /// Ends idle sessions, those whose owner's credential is no more, and tasks that nobody works on any more; due from time
    /// to time.
    pub async fn sweep(&self) {
        if let Err(problem) = self.shared.gateway.end_lost_tasks().await {
            tracing::warn!(%problem, "tasks that their processes left could not be ended");
        }
        self.end_all(self.sessions.sweep(), Why::Idle).await;
        let mut fallen = BTreeSet::new();
        for (credential, owner) in self.sessions.owners() {
            if !self.shared.gateway.stands(&owner).await {
                fallen.insert(credential);
            }
        }
        self.end_all(self.sessions.disown(&fallen), Why::Revoked).await;
        metrics::gauge!("dragoman_mcp_sessions").set(self.sessions.count() as f64);
    }

    /// Ends the caller's sessions if their credential is no more, and not only the token that they showed.
    pub(super) async fn forsaken(&self, caller: &Caller) {
        if !self.shared.gateway.stands(caller).await {
            self.end_all(self.sessions.disown(&[caller.credential()].into()), Why::Revoked).await;
        }
    }

    /// Ends all sessions and tasks, for the end of the service.
    pub async fn finish(&self) {
        self.shared.tasks.finish().await;
        self.end_all(self.sessions.clear(), Why::Stop).await;
    }

    async fn end_all(&self, ended: Vec<Ended>, why: Why) {
        let ending = futures_util::stream::iter(ended).for_each_concurrent(AT_ONCE, |ended| async move {
            if let Err(problem) = self.end(ended, why).await {
                tracing::error!(%problem, "the end of a session is not on the record");
            }
        });
        ending.await;
    }

    /// Ends a session that is forgotten already; on the record.
    pub(super) async fn end(&self, ended: Ended, why: Why) -> Result<(), Error> {
        self.close(&ended.id).await;
        self.shared.gateway.end(&ended.owner, TERMINATED, why.name()).await
    }

    async fn close(&self, id: &str) {
        if let Err(problem) = self.manager.close_session(&id.to_owned().into()).await {
            tracing::debug!(%problem, "a session was closed already");
        }
    }
}
