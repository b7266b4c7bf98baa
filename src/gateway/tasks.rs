//! Tasks: calls that go on after their client was given a handle (MCP, Tasks extension). They are in the database, so that
//! every node can say how far one is, and what it came to outlives the process that worked on it.
//!
//! A task belongs to the credential that began it, the grant through every refresh of its tokens or the connectivity token;
//! to everybody else it is one that never was. What it came to is sealed for that credential. When it is withdrawn, nothing
//! opens the result any more: a new grant to the same person and client is another credential. It is kept with what the
//! call could read: when a dataset of that is withdrawn, or a column hidden, it is not shown any more, and when one is
//! deleted, nothing of it is left.
//!
//! The process that works on a task holds it by a lease, which it renews while it lives. A task whose lease has ended was
//! left by its process, and has failed, whoever looks first.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Gateway;
use crate::base::clock::millis;
use crate::base::secret::random_token;
use crate::model::access::{Action, Want};
use crate::model::audit::clip;
use crate::model::caller::Caller;
use crate::model::error::{Code, Error, Result};
use crate::model::task::{Status, Task};
use crate::store;
use crate::store::tasks::{self, Most};

/// How long a task is kept after it began, went on or ended. A client may sleep over lunch and still find its result; but
/// results are rows of somebody's data, and have no business here for longer than a session may be idle.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// What may be kept at once: at its largest a result is a few hundred kilobytes. Whoever has as many is not refused, but
/// answered as clients are that do not know tasks.
const MOST: Most = Most { of_credential: 20, of_workspace: 200 };
/// How long a process holds a task without a word: several looks may fail, and clocks may differ.
pub const LEASE: Duration = Duration::from_secs(30);
/// How often a process looks after the tasks that it works on, and so the longest that one goes on which was cancelled
/// through another, or whose credential was withdrawn.
pub const LOOK: Duration = Duration::from_secs(2);

/// Said of a task whose process is no more.
const LOST: &str = "The process that worked on this ended before it was done, and nothing of it was kept. Call the tool \
                        again.";
/// Said of a task whose data were deleted while it was worked on.
const ERASED: &str = "Data that this could read were deleted before it was done, and nothing of it was kept. Call the \
                         tool again.";
/// Said of a task that nobody wants any more.
pub const CANCELLED: &str = "Cancelled before it was done.";

/// What a look at a task found that this process works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Ours,
    /// It is to stop.
    Cancelled,
    /// It is not ours any more: its time is over, or the lease was not renewed in time.
    Lost,
}

/// What became of a task, for as long as nobody takes it up again.
pub struct Ending<'a, T> {
    pub status: Status,
    /// For people.
    pub message: &'a str,
    pub outcome: Option<&'a T>,
}

impl Gateway {
    /// Keeps a call of the caller's as a task that the process `node` works on; `None` when they or their workspace have as
    /// many as may be.
    ///
    /// # Errors
    /// The database fails.
    pub async fn begin_task(&self, caller: &Caller, tool: &str, message: &str, node: &str) -> Result<Option<Task>> {
        let now = self.clock.now();
        let task = Task {
            org: caller.org,
            id: random_token("").expose().to_owned(),
            credential: caller.credential(),
            tool: tool.to_owned(),
            status: Status::Working,
            message: clip(message),
            outcome: None,
            seen: vec![],
            node: node.to_owned(),
            leased_until: now + millis(LEASE),
            created_at: now,
            updated_at: now,
            expires_at: now + millis(KEPT),
        };
        let mut tx = self.db.tenant(caller.org).await?;
        let is_kept = tasks::insert(&mut tx, &task, MOST).await?;
        tx.commit().await?;
        Ok(is_kept.then_some(task))
    }

    /// A task of the caller's, as it is now.
    ///
    /// # Errors
    /// `not_found`, in the same words for one that never was, is past its time, or is another's.
    pub async fn task(&self, caller: &Caller, id: &str) -> Result<Task> {
        let now = self.clock.now();
        let is_id =
            |id: &&str| id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let Some(id) = Some(id).filter(is_id) else { return Err(not_found()) };
        let mut read = self.db.read_tenant(caller.org).await?;
        let found = tasks::find(&mut read, caller.org, &caller.credential(), id, now).await?;
        let mut task = found.ok_or_else(not_found)?;
        if task.status == Status::Working && !task.is_held(now) {
            (task.status, task.message) = (Status::Failed, LOST.to_owned());
        }
        Ok(task)
    }

    /// Whether the caller, who was let in just now, may do what a task does, and see all of what it came to: asked
    /// before anything of it is shown.
    ///
    /// # Errors
    /// `scope_denied` when they may not, `service_unavailable` while the workspace accepts no clients, `not_found` when
    /// a dataset or a column of what it was made of is open to them no more; the database fails.
    pub async fn may_read(&self, caller: &Caller, action: Action, task: &Task) -> Result<()> {
        let pass = self.authorize(caller, action, &Want::All).await?;
        match task.outcome.is_none() || task.seen.iter().all(|seen| seen.is_open(&pass)) {
            true => Ok(()),
            false => Err(closed()),
        }
    }

    /// Whether a caller who was let in some time ago may still do what a task does: asked for as long as the work goes
    /// on. A failure to find out takes nothing away.
    ///
    /// # Errors
    /// `scope_denied` when they may not, `service_unavailable` while the workspace accepts no clients, `auth_revoked`
    /// when what they were let in by is withdrawn.
    pub async fn may_still(&self, caller: &Caller, action: Action) -> Result<()> {
        let Some(rights) = self.parts.identity.rights_left(caller).await else {
            return Err(Error::new(Code::AuthRevoked, "What this was begun with was withdrawn."));
        };
        match self.authorize(&caller.clone().bounded(rights), action, &Want::Nothing).await {
            Err(refused) if refused.code != Code::InternalError => Err(refused),
            _ => Ok(()),
        }
    }

    /// Holds on to a task that this process works on, and says what it is doing. Due every [`LOOK`].
    ///
    /// # Errors
    /// The database fails; the next look may succeed.
    pub async fn hold_task(&self, task: &mut Task, message: &str) -> Result<Hold> {
        let (now, message) = (self.clock.now(), clip(message));
        let has_time = task.leased_until - now > millis(LEASE) / 2;
        let cancelled = if has_time && message == task.message {
            tasks::held(&mut self.db.read_tenant(task.org).await?, task, now).await?
        } else {
            let until = now + millis(LEASE);
            let mut tx = self.db.tenant(task.org).await?;
            let cancelled = tasks::renew(&mut tx, task, &message, now, until).await?;
            tx.commit().await?;
            (task.leased_until, task.message) = (until, message);
            cancelled
        };
        Ok(match cancelled {
            None => Hold::Lost,
            Some(true) => Hold::Cancelled,
            Some(false) => Hold::Ours,
        })
    }

    /// Keeps what became of a task that this process works on; `false` when it is not ours any more, and nothing is kept.
    /// Of data that were deleted meanwhile nothing is kept either, and the task has failed.
    ///
    /// # Errors
    /// The database fails.
    pub async fn end_task<T: Serialize>(&self, caller: &Caller, task: &Task, ending: Ending<'_, T>) -> Result<bool> {
        let now = self.clock.now();
        let seal = |outcome: &T| self.parts.identity.seal(&label(caller, task), outcome, KEPT);
        let mut ended = Task {
            status: ending.status,
            message: clip(ending.message),
            outcome: ending.outcome.map(seal).transpose()?,
            updated_at: now,
            expires_at: now + millis(KEPT),
            ..task.clone()
        };
        let datasets: Vec<_> = ended.seen.iter().map(|seen| seen.dataset).collect();
        let mut tx = self.db.tenant(task.org).await?;
        let is_there = store::datasets::hold(&mut tx, self.db.backend(), task.org, &datasets).await?;
        if ended.outcome.is_some() && !is_there {
            (ended.status, ended.message, ended.outcome) = (Status::Failed, ERASED.to_owned(), None);
        }
        let is_kept = tasks::settle(&mut tx, &ended).await?;
        tx.commit().await?;
        Ok(is_kept)
    }

    /// What was kept of a task of the caller's; `None` where nothing is, or it cannot be opened.
    pub fn outcome_of<T: for<'de> Deserialize<'de>>(&self, caller: &Caller, task: &Task) -> Option<T> {
        let opened = self.parts.identity.unseal(&label(caller, task), task.outcome.as_deref()?);
        opened.map(|(outcome, _)| outcome)
    }

    /// Has a task of the caller's that waits for an answer go on, with the process `node` at work; `None` when it does not
    /// wait any more: of two answers the first counts.
    ///
    /// # Errors
    /// The database fails.
    pub async fn resume_task(&self, task: &Task, node: &str) -> Result<Option<Task>> {
        let now = self.clock.now();
        let task = Task {
            status: Status::Working,
            message: "Going on with the answer.".into(),
            outcome: None,
            node: node.to_owned(),
            leased_until: now + millis(LEASE),
            updated_at: now,
            expires_at: now + millis(KEPT),
            ..task.clone()
        };
        let mut tx = self.db.tenant(task.org).await?;
        let is_ours = tasks::take_up(&mut tx, &task).await?;
        tx.commit().await?;
        Ok(is_ours.then_some(task))
    }

    /// Has a task be stopped, wherever it is worked on. One that is over stays as it is.
    ///
    /// # Errors
    /// The database fails.
    pub async fn cancel_task(&self, task: &Task) -> Result<()> {
        let mut tx = self.db.tenant(task.org).await?;
        tasks::cancel(&mut tx, task, CANCELLED, self.clock.now()).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Ends the tasks of all workspaces that their processes have left; due from time to time.
    ///
    /// # Errors
    /// The database fails.
    pub async fn end_lost_tasks(&self) -> Result<u64> {
        let mut tx = self.db.everyone().await?;
        let ended = tasks::end_lost(&mut tx, LOST, self.clock.now()).await?;
        tx.commit().await?;
        Ok(ended)
    }
}

/// The seal of what is kept: whose it is, and of which task.
fn label(caller: &Caller, task: &Task) -> String {
    serde_json::json!(["outcome of a task", caller.credential(), task.id]).to_string()
}

fn not_found() -> Error {
    let message =
        "There is no such task. One is kept for an hour after its last change, for the credential that began it.";
    Error::new(Code::NotFound, message)
}

/// The refusal of what was made of data that the caller may not see any more.
fn closed() -> Error {
    let message = "Something that this task read is not open to you any more, so what it came to is not shown. Call \
                   the tool again.";
    Error::new(Code::NotFound, message)
}
